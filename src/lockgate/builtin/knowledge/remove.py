"""knowledge_remove: a document is no longer kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lockgate.builtin.declaration import Declaration
from lockgate.builtin.files.blocking import Stop, in_pool
from lockgate.builtin.knowledge import database
from lockgate.builtin.knowledge.tool import CATEGORY, ID, WritingTool, id_of, place_of
from lockgate.content import JSONObject
from lockgate.tools.context import ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.traits import SideEffectLevel

_DESCRIPTION: Final = """\
Remove a document that is kept, for good. One that is not there counts as removed, and the result \
says so."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {"id": ID},
    "required": ["id"],
    "additionalProperties": False,
}

_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.MUTATING, "writes to a database that outlives the execution"),
    destructive=(True, "the document is gone"),
    idempotent=(True, "what is gone is not removed once more"),
    concurrent=(False, "calls of one reply take effect in their order"),
    interruptible=(False, "takes a moment; waiting is better than not knowing what is kept"),
)


class KnowledgeRemove(WritingTool):
    """See its description."""

    def __init__(self) -> None:
        super().__init__(
            "knowledge_remove",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="Remove a document",
            category=CATEGORY,
        )

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        path = place_of(context)

        def work(stop: Stop) -> ToolResult:
            id = id_of(arguments)
            removed = database.writing(path, stop, lambda library: _removed(library, id))
            text = f"{id}: {'removed' if removed else 'is not there; nothing was removed'}"
            return ToolResult.of(text, structured={"id": id, "removed": removed})

        return await in_pool(work, context, writes=True)


def _removed(library: database.Library, id: str) -> bool:
    if library.get(id) is None:
        return False
    library.remove(id)
    return True
