"""append_note: one more note in the project's file of notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from lockgate.builtin.declaration import BuiltinTool, Declaration
from lockgate.builtin.files.blocking import Stop, in_pool
from lockgate.builtin.files.problem import wrong_argument
from lockgate.builtin.notes import file
from lockgate.content import JSONObject
from lockgate.errors import LocalError
from lockgate.tools.context import ToolContext
from lockgate.tools.result import Outcome, ToolResult
from lockgate.traits import SideEffectLevel

MAX_NOTE: Final = 4000
"""Characters of one note."""

_DESCRIPTION: Final = f"""\
Add a note to the project's notes, for later runs and for the person to read. Notes are only ever \
added, each with its time; read_notes gives them back. For what is looked up by its words, and \
changed later, there is knowledge_add. Up to {MAX_NOTE} characters; the file holds \
{file.MAX_FILE // 1024 // 1024} MiB. Write no secrets."""

_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "properties": {
        "text": {
            "type": "string",
            "description": "The note, in one line or a few.",
            "minLength": 1,
            "maxLength": MAX_NOTE,
        },
    },
    "required": ["text"],
    "additionalProperties": False,
}

_DECLARATION: Final = Declaration(
    level=(SideEffectLevel.MUTATING, "adds to a file that outlives the execution"),
    destructive=(False, "only ever adds at the end; what is there is not touched"),
    idempotent=(False, "each call adds one more note"),
    concurrent=(False, "notes stand in the order they were made"),
    interruptible=(False, "takes a moment; waiting is better than not knowing whether it is there"),
)


class AppendNote(BuiltinTool):
    """See its description."""

    def __init__(self, time: Callable[[], float]) -> None:
        """`time` gives the seconds since 1970."""
        self._time = time
        super().__init__(
            "append_note",
            _DESCRIPTION,
            _SCHEMA,
            _DECLARATION,
            title="Add a note",
            category="notes",
        )

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        text: str = arguments["text"]
        path = context.execution.environment.notes
        if path is None:
            raise LocalError("this execution has no place for notes")

        def work(stop: Stop) -> ToolResult:
            if not file.harmless(text):
                raise wrong_argument("empty", "the note is blank. Nothing was added")
            note = file.append(path, text, now=self._time(), stop=stop)
            return ToolResult.of(f"added at {note.time}", structured={"time": note.time})

        return await in_pool(work, context, writes=True)
