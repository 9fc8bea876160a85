"""knowledge_add: a document under an id that is new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lockgate.builtin.declaration import Declaration
from lockgate.builtin.files.blocking import Stop, in_pool
from lockgate.builtin.files.problem import FileProblem
from lockgate.builtin.knowledge import database
from lockgate.builtin.knowledge.tool import (
    CATEGORY,
    CONTENT,
    ID,
    MAX_CONTENT,
    TITLE,
    WritingTool,
    document_of,
    place_of,
)
from lockgate.content import JSONObject
from lockgate.tools.context import ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.traits import SideEffectLevel

_DESCRIPTION: Final = f"""\
Keep a document, so that knowledge_search finds it in later runs. Its id must be new: another text \
under an id that is taken is refused (knowledge_replace replaces), and the same one again changes \
nothing. Up to {MAX_CONTENT:,} characters, and {database.MAX_DOCUMENTS:,} documents. Write no \
secrets."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {"id": ID, "title": TITLE, "content": CONTENT},
    "required": ["id", "content"],
    "additionalProperties": False,
}

_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.MUTATING, "adds to a database that outlives the execution"),
    destructive=(False, "an id that is taken is refused, so nothing is overwritten or removed"),
    idempotent=(True, "the same document under the same id again changes nothing"),
    concurrent=(False, "calls of one reply take effect in their order"),
    interruptible=(False, "takes a moment; waiting is better than not knowing whether it is kept"),
)


class KnowledgeAdd(WritingTool):
    """See its description."""

    def __init__(self) -> None:
        super().__init__(
            "knowledge_add",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="Keep a document",
            category=CATEGORY,
        )

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        path = place_of(context)

        def work(stop: Stop) -> ToolResult:
            document = document_of(arguments)
            added = database.writing(path, stop, lambda library: _added(library, document))
            text = f"{document.id}: {'added' if added else 'already there, nothing changed'}"
            return ToolResult.of(text, structured={"id": document.id, "added": added})

        return await in_pool(work, context, writes=True)


def _added(library: database.Library, document: database.Document) -> bool:
    known = library.get(document.id)
    if known == document:
        return False
    if known is not None:
        text = f"{document.id} is there already, with another title or text. Nothing was changed: "
        raise FileProblem("taken", text + "knowledge_replace replaces it, another id keeps both")
    library.add(document)
    return True
