"""What in a URI leads elsewhere than it reads: steps, behind escapes too, and control characters.

Rules take a URI as a text. A server may take it as a path, and undo escapes before or after. Pure.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final
from urllib.parse import unquote

_BETWEEN: Final = re.compile(r"[/\\?#&=:;]")
"""What a server may take for the end of a name."""
_QUERY: Final = re.compile(r"[?#]")
_DECODINGS: Final = 5
"""How often escapes are undone; what then still has some was made to deceive."""
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def uri_fault(uri: str) -> str | None:
    """Why no rule can say where this URI leads, completing "the uri ..."; None if one can."""
    if any(map(_unseen, uri)):
        return "holds a character that can not be seen, or the end of a line"
    plain = uri
    for _ in range(_DECODINGS):
        before, plain = plain, unquote(plain, errors="replace")
        if plain == before:
            break
    else:
        return "has escapes of escapes of escapes"
    if any(part in (".", "..") for text in (uri, plain) for part in _BETWEEN.split(text)):
        return "makes a step, . or .., in its path"
    if any(map(_unseen, _QUERY.split(plain, maxsplit=1)[0])):
        return "has a control character, escaped, in its path"
    return None


def _unseen(char: str) -> bool:
    return unicodedata.category(char) in _UNSEEN
