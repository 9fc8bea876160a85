"""The tools that come with lockgate, against the table that rules are read by."""

from __future__ import annotations

import pytest

from lockgate.builtin.catalogue import in_tree
from lockgate.errors import LocalError
from lockgate.rules.in_tree import IN_TREE
from lockgate.tools.subject import SubjectKind

MADE = tuple(IN_TREE)


@pytest.mark.parametrize("name", MADE)
def test_each_tool_is_what_the_table_says(name: str) -> None:
    """Its name, its first subject, its arguments, and whether it can destroy."""
    (tool,) = in_tree([name], {})
    known, definition = IN_TREE[name], tool.definition
    assert tool.name == name
    assert definition.subjects[0].kind is known.subject
    assert frozenset(definition.input_schema["properties"]) == known.parameters
    assert tool.is_destructive is known.destructive
    lines = [s.parameter for s in definition.subjects if s.kind is SubjectKind.COMMAND]
    assert lines == ([known.line] if known.line else [])


@pytest.mark.req("S0-16")
@pytest.mark.req("S0-21")
@pytest.mark.parametrize("name", MADE)
def test_each_axis_has_its_reason(name: str) -> None:
    """And the schema takes nothing that it does not name."""
    (tool,) = in_tree([name], {})
    origin = tool.definition.origin
    axes = ("level", "destructive", "idempotent", "concurrent", "interruptible")
    assert sorted(origin.reasons) == sorted(axes)
    assert all(reason.strip() for reason in origin.reasons.values())
    assert origin.source == "builtin"
    assert tool.definition.input_schema["additionalProperties"] is False


def test_they_come_in_the_order_of_their_names() -> None:
    """None for no name; an unknown one is an error."""
    assert [tool.name for tool in in_tree(("Bash", "Read"), {})] == ["Bash", "Read"]
    assert in_tree((), {}) == ()
    with pytest.raises(LocalError, match="'Bsah'"):
        in_tree(("Bsah",), {})
