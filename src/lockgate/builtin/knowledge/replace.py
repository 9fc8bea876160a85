"""knowledge_replace: another text in the place of a document."""

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
    TITLE,
    WritingTool,
    document_of,
    place_of,
)
from lockgate.content import JSONObject
from lockgate.tools.context import ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.traits import SideEffectLevel

_DESCRIPTION: Final = """\
Replace a document that is kept by another title and text; the old ones are gone. Without a \
`title` the new one has none. An id that is not there is refused (knowledge_add adds)."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {"id": ID, "title": TITLE, "content": CONTENT},
    "required": ["id", "content"],
    "additionalProperties": False,
}

_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.MUTATING, "writes to a database that outlives the execution"),
    destructive=(True, "the text that stood there is gone"),
    idempotent=(True, "the same text put there again changes nothing"),
    concurrent=(False, "calls of one reply take effect in their order"),
    interruptible=(False, "takes a moment; waiting is better than not knowing what is kept"),
)


class KnowledgeReplace(WritingTool):
    """See its description."""

    def __init__(self) -> None:
        super().__init__(
            "knowledge_replace",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="Replace a document",
            category=CATEGORY,
        )

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        path = place_of(context)

        def work(stop: Stop) -> ToolResult:
            document = document_of(arguments)
            changed = database.writing(path, stop, lambda library: _replaced(library, document))
            text = f"{document.id}: {'replaced' if changed else 'says so already'}"
            return ToolResult.of(text, structured={"id": document.id, "replaced": changed})

        return await in_pool(work, context, writes=True)


def _replaced(library: database.Library, document: database.Document) -> bool:
    known = library.get(document.id)
    if known is None:
        text = f"there is no document {document.id}. Nothing was done: knowledge_add adds one"
        raise FileProblem("absent", text)
    if known == document:
        return False
    library.replace(document)
    return True
