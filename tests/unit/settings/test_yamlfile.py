"""Reading YAML: 1.2 rules, bounds, and a line for every fault."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import ConfigError, Problem
from lockgate.settings.findings import Findings
from lockgate.settings.nodes import Node, Table, data_of
from lockgate.settings.yamlfile import decode, parse
from lockgate.textfile import MAX_BYTES, read_file

FILE = Path("lockgate.yaml")


def fault(text: str) -> Problem:
    """The first finding about a text, be it syntax or a thing refused."""
    findings = Findings()
    try:
        parse(text, FILE, findings)
    except ConfigError as error:
        return error.problems[0]
    return findings.problems[0]


def clean(text: str) -> Node | None:
    """The root of a text without findings."""
    findings = Findings()
    node = parse(text, FILE, findings)
    assert not findings
    return node


def test_yaml_1_2_words_are_text() -> None:
    """`off`, `yes` and a date are text; true, null and numbers are what they look like."""
    node = clean("a: off\nb: yes\nc: 2027-01-01\nd: true\ne: ~\nf: 0x1F\ng: 1.5\nh: '12'\n")
    assert data_of(node) == {
        **{"a": ("text", "off"), "b": ("text", "yes"), "c": ("text", "2027-01-01")},
        **{"d": ("boolean", "true"), "e": None, "f": ("number", "0x1F")},
        **{"g": ("number", "1.5"), "h": ("text", "12")},
    }


def test_every_node_knows_its_place() -> None:
    """Keys and values carry 1-based lines and columns, in block and flow style."""
    node = clean("a:\n  - b: {c: d}\n")
    assert isinstance(node, Table)
    (key, value), *_ = node
    assert (key.place.line, key.place.column) == (1, 1)
    assert (value.place.line, value.place.column) == (2, 3)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "null\n", "~"])
def test_an_empty_document_is_none(text: str) -> None:
    """Nothing, a comment or null alone is an empty document."""
    assert clean(text) is None


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("a:\n\tb: 1\n", 2, "tab"),
        ("a:\tb\n", 1, "tab"),
        ("a: 1\nb: 2\na: 3\n", 3, "twice"),
        ("a: {b: 1, b: 2}\n", 1, "twice"),
        ("a: &x 1\n", 1, "anchor"),
        ("a: *x\n", 1, "alias"),
        ("a: !tag 1\n", 1, "tag"),
        ("a: 1\n<<: {b: 1}\n", 2, "merge key"),
        ("? [a]\n: b\n", 1, "key"),
        ("a: 1\n---\nb: 1\n", 2, "document"),
        ("a:\n  b: 'open\n\n", 2, "quoted"),
        ("a: b: c\n", 1, "mapping"),
        ("%YAML 1.1\n---\na: off\n", 2, "version"),
        ("[" * 3000, 1, "deep"),
        ("- " * 3000 + "a", 1, "deep"),
    ],
)
def test_faults_have_a_line(text: str, line: int, word: str) -> None:
    """Each thing that is refused, or is no YAML, says what it is and in which line."""
    found = fault(text)
    assert found.line == line
    assert word in f"{found.message} {found.hint}"


def test_a_duplicate_names_the_first() -> None:
    """The second of two equal keys is reported, with the line of the first."""
    found = fault("x:\n  command: a\n  command: b\n")
    assert (found.path, found.line, found.hint) == ("x", 3, "the first is in line 2")


@pytest.mark.parametrize(
    "text", ["TOKEN: *SEKRET", "TOKEN: !SEKRET x", "TOKEN: &SEKRET x", "TOKEN: 'SEKRET"]
)
def test_a_secret_without_quotes_is_not_shown(text: str) -> None:
    """A value that YAML takes for something else is not echoed with the finding."""
    assert "SEKRET" not in str(fault(text))


def test_pasted_json_points_to_the_import() -> None:
    """Another program's JSON that is no YAML either leads to the command that reads it."""
    found = fault('{"mcpServers": {"a": }{')
    assert found.hint is not None
    assert "lockgate mcp import" in found.hint


@pytest.mark.parametrize(
    ("data", "line", "column"),
    [
        (b"a: 1\nb: \xff\n", 2, 4),
        (b"\xff\xfea\x00", None, None),
        (b"a: \x07\n", 1, 4),
        (b"\0", 1, 1),
    ],
)
def test_bytes_that_are_no_text_are_refused(data: bytes, line: int | None, column: int) -> None:
    """Invalid UTF-8, UTF-16 and control characters are refused at their place."""
    with pytest.raises(ConfigError) as caught:
        decode(data, FILE)
    (found,) = caught.value.problems
    assert (found.line, found.column) == (line, column)


def test_a_byte_order_mark_is_taken_off() -> None:
    """A BOM is fine and does not move any place."""
    assert decode(b"\xef\xbb\xbfa: 1", FILE) == "a: 1"


def test_crlf_is_a_line_end() -> None:
    """Files from Windows read alike, with the same lines."""
    assert data_of(clean("a: 1\r\nb: 2\r\n")) == data_of(clean("a: 1\nb: 2\n"))
    assert fault("a: 1\r\na: 2\r\n").line == 2


def test_no_file_is_none(tmp_path: Path) -> None:
    """A file that is not there is None, also below another file."""
    assert read_file(tmp_path / "x") is None
    (tmp_path / "f").write_text("")
    assert read_file(tmp_path / "f" / "x") is None


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A directory, a FIFO without a writer, a socket and a dangling link are errors, not waits."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        for name in (".", "fifo", "link", "s"):
            with pytest.raises(ConfigError):
                read_file(tmp_path / name)


def test_a_file_over_the_bound_is_refused(tmp_path: Path) -> None:
    """The size is bounded, and the bound itself is allowed."""
    file = tmp_path / "big"
    file.write_bytes(b"#" * MAX_BYTES)
    assert read_file(file) is not None
    file.write_bytes(b"#" * (MAX_BYTES + 1))
    with pytest.raises(ConfigError, match="256 KiB"):
        read_file(file)


@given(st.text(alphabet=st.sampled_from("ab:-[]{},#&*!|>'\"%@`?~<\\ \n\t\r0.x$"), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Whatever stands in a file, the answer is a tree or findings, never another exception."""
    with contextlib.suppress(ConfigError):
        parse(text, FILE, Findings())


JSON = st.recursive(
    st.sampled_from(["a", "1", "true", "null", "", "x y", "é한\t"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=10,
)


def as_data(value: object) -> object:
    """What `data_of` gives for a JSON value of texts, lists and objects."""
    match value:
        case list():
            return [as_data(item) for item in cast("list[object]", value)]
        case dict():
            return {k: as_data(v) for k, v in cast("dict[str, object]", value).items()}
        case _:
            return ("text", value)


@given(JSON, st.sampled_from([None, 2]))
def test_json_is_yaml(value: object, indent: int | None) -> None:
    """A JSON document reads as what it says."""
    assert data_of(clean(json.dumps(value, indent=indent))) == as_data(value)
