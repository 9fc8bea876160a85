"""What the tools over knowledge have in common: where it is, how ids look, what may be kept."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from lockgate.builtin.declaration import BuiltinTool
from lockgate.builtin.files.problem import wrong_argument
from lockgate.builtin.knowledge.database import Document
from lockgate.content import JSONObject
from lockgate.errors import LocalError
from lockgate.showing import visible
from lockgate.tools.context import ToolContext

LANE: Final = "knowledge"
"""All that write hold it: calls of one reply take effect in their order."""
CATEGORY: Final = "knowledge"

MAX_ID: Final = 120
MAX_TITLE: Final = 200
MAX_CONTENT: Final = 50_000
"""Characters."""

_ID: Final = re.compile(r"\w[\w.:/-]*")

ID: Final[JSONObject] = {
    "type": "string",
    "description": "The document's id: letters, digits and _ . : / -, as in deploy/steps.",
    "minLength": 1,
    "maxLength": MAX_ID,
}
TITLE: Final[JSONObject] = {
    "type": "string",
    "description": "What it is about, in one line; its words count for more in a search.",
    "maxLength": MAX_TITLE,
}
CONTENT: Final[JSONObject] = {
    "type": "string",
    "description": "The whole text.",
    "minLength": 1,
    "maxLength": MAX_CONTENT,
}


class WritingTool(BuiltinTool):
    """One of those that write."""

    @property
    def lane(self) -> str:
        """That of all of them."""
        return LANE


def place_of(context: ToolContext) -> Path:
    """Where the database is. Raises `LocalError` in an execution that has none."""
    path = context.execution.environment.knowledge
    if path is None:
        raise LocalError("this execution has no place for knowledge")
    return path


def id_of(arguments: Mapping[str, Any]) -> str:
    """The id of a call, composed, so that no two look the same for being typed differently.

    Raises `FileProblem` if it is none.
    """
    id = unicodedata.normalize("NFC", arguments["id"])
    if not _ID.fullmatch(id) or visible(id) != id:
        text = "an id has letters, digits and _ . : / - alone, and begins with a letter or digit"
        raise wrong_argument("bad_id", text)
    return id


def document_of(arguments: Mapping[str, Any]) -> Document:
    """The document of a call. Raises `FileProblem` for what is no text."""
    id, title = id_of(arguments), " ".join(arguments.get("title", "").split())
    content: str = arguments["content"]
    for text in (title, content):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise wrong_argument("not_text", "the text has half a surrogate pair") from None
        if "\0" in text:
            raise wrong_argument("not_text", "the text has a NUL character")
    return Document(id, title, content)
