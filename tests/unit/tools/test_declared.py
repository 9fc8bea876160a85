"""A declaration in plain words: each sets one trait, and what is left out is the worst case."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from lockgate.tools.context import ToolContext
from lockgate.tools.declared import DeclaredTool
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.tools.result import ToolResult
from lockgate.tools.tool import ToolDefinition
from lockgate.traits import SideEffectLevel

DEFINITION = ToolDefinition("t", "", {}, Origin("local", None, "t", fingerprint({})))
WORST = ("MUTATING", "DESTRUCTIVE", "NON_IDEMPOTENT", "SEQUENTIAL", "NON_INTERRUPTIBLE")


class Declares(DeclaredTool):
    """Does nothing."""

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult.of("done")


def traits(tool: DeclaredTool) -> tuple[str, ...]:
    """The names of all five."""
    return (
        tool.side_effect_level.name,
        tool.destructive_behavior.name,
        tool.idempotency_behavior.name,
        tool.concurrency_behavior.name,
        tool.interrupt_behavior.name,
    )


@pytest.mark.req("S0-02")
def test_without_a_word_everything_is_the_worst_case() -> None:
    """And the definition is the one that was given."""
    tool = Declares(DEFINITION)
    assert traits(tool) == WORST
    assert tool.definition is DEFINITION


@pytest.mark.parametrize(
    ("word", "place", "trait"),
    [
        ({"level": SideEffectLevel.READ_ONLY}, 0, "READ_ONLY"),
        ({"destructive": False}, 1, "NON_DESTRUCTIVE"),
        ({"idempotent": True}, 2, "IDEMPOTENT"),
        ({"concurrent": True}, 3, "CONCURRENT_SAFE"),
        ({"interruptible": True}, 4, "COOPERATIVE"),
    ],
)
def test_each_word_sets_one_trait(word: dict[str, Any], place: int, trait: str) -> None:
    """The others stay as bad as they were."""
    assert traits(Declares(DEFINITION, **word)) == (*WORST[:place], trait, *WORST[place + 1 :])
