"""What a tool of ours has to say of itself before it can be made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from lockgate.builtin.declaration import BuiltinTool, Declaration
from lockgate.content import JSONObject
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ToolResult
from lockgate.tools.subject import Subject, SubjectKind
from lockgate.traits import ConcurrencyBehavior, InterruptBehavior, SideEffectLevel

CLOSED: JSONObject = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "additionalProperties": False,
}
ADDS = Declaration(
    level=(SideEffectLevel.MUTATING, "writes"),
    destructive=(False, "only adds"),
    idempotent=(True, "adds it once"),
    concurrent=(True, "touches nothing else"),
    interruptible=(True, "is undone"),
)


class Marks(BuiltinTool):
    """A tool for its declaration."""

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult.of("done")


def made(
    declaration: Declaration = ADDS, schema: JSONObject = CLOSED, subject: str = "path"
) -> Marks:
    return Marks(
        "Mark",
        "Marks a file.",
        schema,
        declaration,
        title="Mark",
        category="files",
        subjects=(Subject(SubjectKind.PATH, subject),),
    )


@pytest.mark.req("S0-16")
def test_a_declaration_becomes_the_traits_and_their_reasons() -> None:
    """What is declared is what decisions read, and each reason travels with the tool."""
    tool = made()
    assert tool.side_effect_level is SideEffectLevel.MUTATING
    assert (tool.is_destructive, tool.is_idempotent) == (False, True)
    assert tool.concurrency_behavior is ConcurrencyBehavior.CONCURRENT_SAFE
    assert tool.interrupt_behavior is InterruptBehavior.COOPERATIVE
    origin = tool.definition.origin
    assert (origin.source, origin.server, origin.original_name) == ("builtin", None, "Mark")
    assert origin.reasons == {
        "level": "writes",
        "destructive": "only adds",
        "idempotent": "adds it once",
        "concurrent": "touches nothing else",
        "interruptible": "is undone",
    }


@pytest.mark.req("S0-16")
@pytest.mark.parametrize("axis", ["destructive", "idempotent", "concurrent", "interruptible"])
def test_an_axis_without_a_reason_is_refused(axis: str) -> None:
    """A yes or no that nobody gave a reason for is not a declaration."""
    with pytest.raises(ValueError, match=f"the axis {axis} is declared without a reason"):
        replace(ADDS, **{axis: (True, " ")})


@pytest.mark.req("S0-21")
def test_an_open_schema_is_refused() -> None:
    """A tool of ours takes no argument that it does not name."""
    with pytest.raises(ValueError, match="takes arguments that it does not name"):
        made(schema={"type": "object", "properties": {"path": {"type": "string"}}})


def test_a_subject_that_is_no_parameter_is_refused() -> None:
    """A rule would speak of an argument that there is not."""
    with pytest.raises(ValueError, match="Mark has no parameter file"):
        made(subject="file")


def test_the_fingerprint_follows_the_definition() -> None:
    """A changed description or schema is another definition."""
    wider: JSONObject = {**CLOSED, "required": ["path"]}
    assert made().definition.origin.fingerprint == made().definition.origin.fingerprint
    changed = made(schema=wider).definition.origin.fingerprint
    assert made().definition.origin.fingerprint.changed(changed) == ("input_schema",)
