"""Adding and removing servers with every other byte left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.errors import ConfigError
from lockgate.settings.edit import add_servers, remove_server
from lockgate.settings.entry import ServerEntry, quoted
from lockgate.settings.findings import Findings
from lockgate.settings.nodes import Listing, Node, Scalar, Table
from lockgate.settings.yamlfile import parse

FILE = Path("lockgate.yaml")
NEW = ServerEntry("new", "npx", ("-y", "some server", "8080", "${X}"), {"TOKEN": "${TOKEN}"}, "sub")
BLOCK = (
    "- name: new",
    "  command: npx",
    '  args: [-y, "some server", "8080", "${X}"]',
    "  env:",
    '    TOKEN: "${TOKEN}"',
    "  cwd: sub",
)


def servers(text: str) -> list[Node]:
    """The items of mcp.servers."""
    root = parse(text, FILE, Findings())
    mcp = root.get("mcp") if isinstance(root, Table) else None
    found = mcp.get("servers") if isinstance(mcp, Table) else None
    return list(found.items) if isinstance(found, Listing) else []


def names(text: str) -> list[str]:
    """The names in mcp.servers."""
    nodes = [item.get("name") for item in servers(text) if isinstance(item, Table)]
    return [node.text for node in nodes if isinstance(node, Scalar)]


def test_a_new_file() -> None:
    """Nothing there makes the shortest file that says it."""
    text = add_servers("", [NEW], FILE)
    assert text == "mcp:\n  servers:\n" + "".join(f"    {line}\n" for line in BLOCK)


WRITTEN = """\
# our servers
mcp:
    startupBudget:   20s   # quick
    servers:
    # the first
    -   name: 'a'          # quoted
        command: "x"
        args: [ one,two ]

    # the second
    -   name: b
        command: y  # ends here

# after
agent: {ceiling: read-only}
"""


def test_an_item_goes_behind_the_last() -> None:
    """At its column; comments, quotes and spaces before and after stay byte for byte."""
    text = add_servers(WRITTEN, [NEW], FILE)
    head, tail = WRITTEN.split("\n\n# after")
    assert text == head + "\n" + "".join(f"    {line}\n" for line in BLOCK) + "\n# after" + tail


def test_several_at_once_keep_their_order() -> None:
    """One change for all of them."""
    text = add_servers(WRITTEN, [ServerEntry("c", "z"), ServerEntry("d", "z")], FILE)
    assert names(text) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "text",
    [
        "# only a comment",
        "---\n",
        "agent: {ceiling: read-only}",
        "mcp:\n",
        "mcp: # servers come here\n",
        "mcp: null\n",
        "mcp: {}\n",
        "mcp: {} # none\nagent: {}\n",
        "mcp: {servers: []}\n",
        "mcp:\n  servers: []  # none\n",
        "mcp:\n  servers:\n",
        "mcp:\n  servers: ~\nagent: {}\n",
        "mcp:\n  startupBudget: 1s\n",
        "mcp: {startupBudget: 1s}\n",
        "mcp: {servers: [{name: a, command: x}]}\n",
        "mcp:\n  servers: [\n    {name: a, command: x},\n  ]\n",
        '{"mcp": {"servers": [{"name": "a", "command": "x"}]}}',
        '{"agent": {}}',
        "{}",
        "mcp:\n  servers:\n  - name: a\n    command: x\n    env:\n",
        "mcp:\n  servers:\n  - name: a\n    command: |-\n      x\n\n# c\nagent: {}\n",
        "mcp:\r\n  servers:\r\n    - name: a\r\n      command: x\r\nagent: {}\r\n",
        "mcp:\n  servers:\n    -\n      name: a\n      command: x",
        '"mcp":\n  "servers":\n',
    ],
)
def test_any_usual_layout_can_be_added_to(text: str) -> None:
    """Block or brackets, empty or not, any line end; what was there still stands."""
    before = names(text)
    after = add_servers(text, [NEW], FILE)
    assert names(after) == [*before, "new"]
    for word in ("# c", "# none", "# only a comment", "# servers come here", "startupBudget: 1s"):
        assert (word in after) == (word in text)
    assert after.count("\r\n") in (0, after.count("\n"))


@pytest.mark.parametrize(
    "text",
    [
        *("just text", "[a, b]", "mcp: text", "mcp: {servers: text}", "mcp: {servers: {a: {}}}"),
        "mcp: {servers: [{name: a} # c\n]}",
    ],
)
def test_what_can_not_be_edited_shows_what_to_write(text: str) -> None:
    """Nothing is guessed: the error has the lines for a person to put in."""
    with pytest.raises(ConfigError) as caught:
        add_servers(text, [ServerEntry("new", "x")], FILE)
    assert "- name: new" in str(caught.value)


def test_a_faulty_file_is_not_edited() -> None:
    """Its faults are told instead."""
    with pytest.raises(ConfigError, match="twice"):
        add_servers("a: 1\na: 2\n", [NEW], FILE)


def test_removing_leaves_the_rest() -> None:
    """The entry goes with its own lines; comments outside of it stay."""
    text = remove_server(WRITTEN, "a", FILE)
    gone = WRITTEN.split("    # the first\n")[1].split("\n    # the second")[0]
    assert text == WRITTEN.replace(gone, "")
    assert names(remove_server(text, "b", FILE)) == []


@pytest.mark.parametrize("name", ["a", "b", "c"])
@pytest.mark.parametrize(
    "text",
    [
        "mcp: {servers: [{name: a}, {name: b, args: [1, 2]}, {name: c}]} # x\n",
        "mcp:\n  servers: [\n    {name: a},\n    {name: b},\n    {name: c},\n  ]\n",
        "mcp:\n  servers:\n  - name: a\n  - name: b\n    args:\n    - x\n  - name: c\n",
        "mcp:\n  servers:\n    -\n      name: a\n    - {name: b}\n    - name: c",
    ],
)
def test_any_of_several_can_be_removed(text: str, name: str) -> None:
    """First, middle or last, in any style."""
    assert names(remove_server(text, name, FILE)) == [n for n in "abc" if n != name]


@pytest.mark.parametrize("text", ["", "mcp:\n", "mcp: {servers: [{name: a}]}", "x: 1"])
def test_what_is_not_there_can_not_be_removed(text: str) -> None:
    """The error names it."""
    with pytest.raises(ConfigError, match='no server called "z"'):
        remove_server(text, "z", FILE)


@settings(max_examples=40)
@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=12), max_size=3),
)
def test_any_text_survives_being_written(command: str, words: list[str]) -> None:
    """Whatever a command is made of, the file says exactly that, and can be read back."""
    entry = ServerEntry("new", command, tuple(words), {"V": words[0] if words else ""})
    for before in ("", "mcp: {servers: [{name: a}]}\n"):
        item = servers(add_servers(before, [entry], FILE))[-1]
        assert isinstance(item, Table)
        found = item.get("command")
        assert isinstance(found, Scalar)
        assert (found.text, found.type) == (command, "text")


@pytest.mark.parametrize("text", ["npx", "-y", "--x=1", "@a/b", "./x", "a.b-c_d", "/abs"])
def test_plain_words_need_no_quotes(text: str) -> None:
    """What people usually write looks as they would write it."""
    assert quoted(text) == (f'"{text}"' if text.startswith("@") else text)


@pytest.mark.parametrize(
    "text", ["", "true", "null", "8080", "1e3", "yes", "off", "a b", "a: b", "-"]
)
def test_other_words_are_quoted(text: str) -> None:
    """Nothing that some reader takes for a switch, a number or syntax stands without quotes."""
    assert quoted(text).startswith('"')
