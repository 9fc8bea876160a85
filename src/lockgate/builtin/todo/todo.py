"""todo: the steps of the work at hand, said anew as a whole each time.

The tool keeps nothing: the list is in the transcript, where the model reads it and a person sees
it. So it changes nothing, and a replay, a resumed session or a second sub-agent has its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from lockgate.builtin.declaration import BuiltinTool, Declaration
from lockgate.content import JSONObject
from lockgate.showing import visible
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ToolResult
from lockgate.traits import SideEffectLevel

MAX_ITEMS: Final = 100
MAX_ITEM: Final = 500
"""Characters."""

_MARKS: Final[Mapping[str, str]] = MappingProxyType(
    {"pending": "[ ]", "in_progress": "[>]", "completed": "[x]"}
)

_DESCRIPTION: Final = f"""\
Write down the steps of work that takes several, and how far each is. Give the whole list each \
time: it takes the place of the one before, and an empty list means there is none. Mark a step \
in_progress before you begin it, as a rule one at a time, and completed as soon as it is done. Up \
to {MAX_ITEMS} steps."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "description": "All steps, in order.",
            "maxItems": MAX_ITEMS,
            "items": {
                "type": "object",
                "properties": {
                    "content": {
                        "type": "string",
                        "description": "The step, in a few words.",
                        "minLength": 1,
                        "maxLength": MAX_ITEM,
                    },
                    "status": {
                        "type": "string",
                        "description": "How far it is.",
                        "enum": list(_MARKS),
                    },
                },
                "required": ["content", "status"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["items"],
    "additionalProperties": False,
}

_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.READ_ONLY, "bookkeeping of this execution: the list is its transcript"),
    destructive=(False, "nothing is kept, so nothing is overwritten"),
    idempotent=(True, "the same list is the same list"),
    concurrent=(True, "it touches nothing"),
    interruptible=(True, "nothing is lost when it ends early"),
)


class Todo(BuiltinTool):
    """See its description."""

    def __init__(self) -> None:
        super().__init__(
            "todo",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="List the steps",
            category="bookkeeping",
        )

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        del context
        items: list[Mapping[str, str]] = arguments["items"]
        if not items:
            return ToolResult.of("no steps", structured=_counted([]))
        facts = _counted([item["status"] for item in items])
        lines = [f"{_MARKS[item['status']]} {visible(item['content'])}" for item in items]
        head = f"{facts['completed']} of {len(items)} steps done"
        return ToolResult.of("\n".join([head, *lines]), structured=facts)


def _counted(statuses: list[str]) -> dict[str, int]:
    count = Counter(statuses)
    return {status: count[status] for status in _MARKS}
