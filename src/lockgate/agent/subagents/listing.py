"""`list_agents`: which sub-agents there are, how those in the background do, and their answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lockgate.agent.subagents.answer import answer_of
from lockgate.agent.subagents.background import Background, BackgroundAgent
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.agent.subagents.task import with_general
from lockgate.builtin.declaration import BuiltinTool, Declaration
from lockgate.content import JSONObject
from lockgate.schema.spelling import nearest
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel

MAX_WAIT: Final = 600
"""Seconds that one call waits at most."""

_DESCRIPTION: Final = (
    "List the sub-agents that Task can start, and those that you started in the background with "
    "their state. With `id`: the answer of one of these, or that it is still at work; `wait` says "
    "how many seconds to wait for it."
)
_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {
        "id": {
            "type": "string",
            "description": "A sub-agent in the background, as Task named it.",
            "minLength": 1,
            "maxLength": 100,
        },
        "wait": {
            "type": "integer",
            "description": "Seconds to wait for its answer; not at all unless it is given.",
            "minimum": 0,
            "maximum": MAX_WAIT,
        },
    },
    "required": [],
    "additionalProperties": False,
    "dependentRequired": {"wait": ["id"]},
}
_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.READ_ONLY, "it looks at definitions and at work that goes on anyway"),
    destructive=(False, "looking overwrites and removes nothing"),
    idempotent=(True, "an answer stays there to be asked for again"),
    concurrent=(True, "whoever waits for one answer keeps nobody from asking for another"),
    interruptible=(True, "waiting can be given up: the sub-agent goes on"),
)


class ListAgents(BuiltinTool):
    """Tells of sub-agents."""

    def __init__(self, definitions: Mapping[str, AgentDefinition], background: Background) -> None:
        """`definitions` as `Task` has them."""
        self._definitions = with_general(definitions)
        self._background = background
        super().__init__(
            "list_agents",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="List sub-agents",
            category="agent",
        )

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        mine = self._background.of(context)
        wanted = arguments.get("id")
        if wanted is None:
            return ToolResult.of(self._listed(mine))
        one = next((one for one in mine if one.id == wanted), None)
        if one is None:
            return _unknown(wanted, mine)
        if one.running and (seconds := arguments.get("wait", 0)):
            await asyncio.wait([one.task], timeout=seconds)
        if one.running:
            return ToolResult.of(f"{one.id} is still at work, for {one.seconds:.0f} s so far.")
        one.fetched = True
        if one.result is not None:
            return answer_of(one.id, one.result)
        told = {"failed": "it failed", "cancelled": "it was cancelled"}.get(one.state, one.refused)
        text = f"{one.id} gave no answer: {told}."
        return ToolResult.error(ErrorKind.TOOL_ERROR, text, reason=one.state)

    def _listed(self, mine: Sequence[BackgroundAgent]) -> str:
        lines = ["Sub-agents that Task can start:"]
        lines += [f"- {one.name}: {one.line}" for one in self._definitions.values()]
        lines.append("")
        if not mine:
            lines.append("None was started in the background.")
        else:
            lines.append("In the background:")
            lines += [f"- {one.id}: {one.state}, {one.seconds:.0f} s" for one in mine]
        return "\n".join(lines)


def _unknown(wanted: str, mine: Sequence[BackgroundAgent]) -> ToolResult:
    near = nearest(wanted, [one.id for one in mine])
    hint = f"did you mean {' or '.join(near)}?" if near else "ask without `id` for all of them."
    text = f"No sub-agent in the background has the id {wanted!r}: {hint}"
    return ToolResult.error(ErrorKind.INVALID_ARGUMENTS, text, reason="no_such_agent")
