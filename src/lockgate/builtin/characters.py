"""How much text from outside one call gives, where the model says how much it wants."""

from __future__ import annotations

from typing import Final

from lockgate.content import JSONObject

DEFAULT_CHARACTERS: Final = 50_000
"""Given unless the model says."""
MAX_CHARACTERS: Final = 200_000

PARAMETER: Final = "max_characters"
SCHEMA: Final[JSONObject] = {
    "type": "integer",
    "description": "Characters of text to return at most; what is cut is told.",
    "minimum": 1,
    "maximum": MAX_CHARACTERS,
    "default": DEFAULT_CHARACTERS,
}
"""Of that parameter."""
