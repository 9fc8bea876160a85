"""Reading a definition's file: what it says, and everything it must not be."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from lockgate.agent.definitions.document import MAX_BYTES, parse_document, read_document
from lockgate.errors import ConfigError

WHOLE = """---
name: reviewer
tools: [Read, Grep]   # two of them
limits:
  iterations: 5
---

You review.

---
Not a fence any more.
"""


def fault(text: str | bytes) -> str:
    """What is said of a file with this content."""
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(ConfigError) as caught:
        parse_document(data, Path("x.md"))
    return str(caught.value)


def test_a_document_has_fields_a_body_and_places(tmp_path: Path) -> None:
    """Front matter with lines of the file, the text below, and the bytes that were read."""
    path = tmp_path / "reviewer.md"
    path.write_text(WHOLE)
    document = read_document(path)
    fields = document.fields.value
    assert isinstance(fields, Mapping)
    assert fields["name"].value == "reviewer"
    assert (fields["name"].line, fields["name"].column) == (2, 7)
    tools = fields["tools"].value
    assert isinstance(tools, tuple)
    assert [item.value for item in tools] == ["Read", "Grep"]
    assert document.body.startswith("You review.")
    assert document.body.endswith("any more.")
    assert document.body_line == 8
    assert document.data == WHOLE.encode()
    assert "review" not in repr(document).replace("reviewer.md", "")


def test_line_ends_and_a_mark_at_the_start_do_not_matter() -> None:
    """A file written by an editor of another system is the same document."""
    data = b"\xef\xbb\xbf" + WHOLE.replace("\n", "\r\n").encode()
    assert parse_document(data, Path("x.md")).body == parse_document(WHOLE.encode(), Path()).body


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no front matter"),
        ("# Title\n", "x.md:1: has no front matter"),
        (" ---\nname: x\n---\n", "has no front matter"),
        ("---\nname: x\n", "its front matter has no end"),
        ("---\n" + "a: b\n" * 300 + "---\n", "over 200 lines"),
        ("---\n- a\n---\n", "must be keys with values"),
        ("---\nname: a: b\n---\n", "x.md:2:8: a second colon in one line"),
        ("---\nname: a\nname: b\n---\n", "x.md:3:1: name: stands twice"),
        ("---\na: &x 1\n---\n", "an anchor (&) is not allowed"),
        ("---\na: !!python/object:os.system x\n---\n", "x.md:2"),
        ("---\na: !thing x\n---\n", "a tag (!) is not allowed"),
        ("---\n<<: {a: b}\n---\n", "a key must be a word"),
        ("---\na: [\n---\n", "x.md:"),
        ("---\na: " + "[" * 40 + "]" * 40 + "\n---\n", "nested too deeply"),
        ("---\na: " + "[" * 5000 + "]" * 5000 + "\n---\n", "x.md"),
        ('---\na: "\\x"\n---\n', "x.md"),
        (b"---\na: \xff\n---\n", "x.md:2:4: is not UTF-8"),
        ("---\na: b\n---\nok\x1b[2J\n", "x.md:4:3: holds the character U+001B, which nobody sees"),
        ("---\na: b\n---\n\u202egood\n", "U+202E"),
        ("---\na: b\n---\nx\U000e0041\n", "U+E0041"),
        ("---\na: b\u200b\n---\n", "U+200B"),
        ("---\na: b\n---\na\xadb\n", "U+00AD"),
        ("---\na: b\n---\na\u3164b\n", "U+3164"),
        ("---\na: b\n---\nx\U000e0145\n", "U+E0145"),
        ("---\na: b\n---\nx\ufe03\n", "U+FE03"),
        ("---\na: b\n---\nx\u200c\u200d\u200c\u200c\n", "x.md:4:2: holds the character U+200C"),
        ("---\na: b\n---\nx\u180b\n", "U+180B"),
        ("---\na: b\n---\nx\u034f\n", "U+034F"),
        ("---\na: b\n---\nx\u200dy\ufe0e\n", "x.md:4:2: holds the character U+200D"),
        ('---\na: "b\\u202e"\n---\nx\n', "x.md:2:4: a: holds the character U+202E"),
        ('---\na: {b: ["\\U000E0041"]}\n---\nx\n', "a.b[0]: holds the character U+E0041"),
        ('---\na: "\\xad"\n---\nx\n', "U+00AD"),
        ('---\n"a\\u200b": b\n---\nx\n', "x.md:2:1: holds the character U+200B"),
        ("---\na: &x [1]\nb: [*x, *x]\n---\n", "an anchor (&) is not allowed"),
    ],
)
def test_what_can_not_be_used_is_told_with_its_place(text: str | bytes, said: str) -> None:
    """Strict: nothing is guessed, and no parser's own error comes through."""
    assert said in fault(text)


def test_emoji_and_other_scripts_are_text() -> None:
    """What hides is refused, and nothing else."""
    body = (
        "\U0001f469\u200d\U0001f4bb \u2764\ufe0f\u200d\U0001f525 1\ufe0f\u20e3 \ue0b0 \U0001fae8 "
        "\u05d0 \ud55c\uae00 \u00a0 \u0915\u094d\u200d"
    )
    assert parse_document(f"---\nname: x\n---\n{body}".encode(), Path("x.md")).body == body


def test_aliases_of_aliases_blow_nothing_up() -> None:
    """They are refused, and none is followed: 300 bytes that mean 8 ** 30 values."""
    levels = "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 8)}]\n" for n in range(30))
    assert "an anchor (&) is not allowed" in fault(f"---\na0: &a0 [1]\n{levels}---\n")


def test_a_directive_makes_no_other_word_a_switch() -> None:
    """`yes` is text in YAML 1.2; where a file says that it is 1.1, it is not taken for false."""
    fields = parse_document(b"---\n%YAML 1.1\n--- {a: yes}\n---\nx\n", Path("x.md")).fields.value
    assert isinstance(fields, Mapping)
    assert fields["a"].value == "yes"


def test_a_file_is_bounded_and_regular(tmp_path: Path) -> None:
    """A FIFO is not waited for, a directory and what is missing are told, and size has a bound."""
    big = tmp_path / "big.md"
    big.write_bytes(b"---\na: b\n---\n" + b"x" * MAX_BYTES)
    os.mkfifo(tmp_path / "pipe.md")
    for name, said in (
        ("big.md", "is over 256 KiB"),
        ("pipe.md", "is not a regular file"),
        (".", "is not a regular file"),
        ("none.md", "can not be read: No such file"),
        ("nul\0.md", "not a usable path"),
    ):
        with pytest.raises(ConfigError, match=said):
            read_document(tmp_path / name)
