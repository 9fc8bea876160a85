"""Forms that ask for what must not be given to a form: secrets that open or pay for something.

2026-07-28 and 2025-11-25, client/elicitation: servers must not ask for passwords, keys, tokens or
payment data in a form; an address is how they do it. Pure.
"""

from __future__ import annotations

import re
from typing import Final

from lockgate.mcp.protocol.form import Field, Form, Kind
from lockgate.showing import quoted

_PHRASES: Final = (
    r"pass ?(?:wor|w)d|pass ?(?:phrase|code)|secret|credential",
    r"(?:api|access|private|license|signing|encryption|ssh) ?keys?\b",
    r"(?:access|api|auth\w*|bearer|refresh|session|id) ?tokens?\b|\btoken\b",
    r"\bsession ?id\b|\bcookies?\b|\bpats?\b|connection ?string",
    r"\b(?:pin|otp|cvv2?|cvc|iban|ssn)\b|social security",
    r"(?:one time|2fa|mfa|verification|security|authentication) (?:code|pin)",
    r"(?:credit|debit|bank) ?card|card ?number",
    r"(?:seed|recovery|mnemonic) ?(?:phrase|code|word)",
)
_WORDS: Final = re.compile("|".join(_PHRASES), re.IGNORECASE)
_NUMBERS: Final = re.compile("|".join(_PHRASES[4:7]), re.IGNORECASE)
_APART: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_.\s-]+")
"""Where words end in a name."""
_NAMES: Final = frozenset({"key", "auth", "pass", "pw", "pwd", "apikey", "authorization", "dsn"})
"""Names that say it by themselves; `issue_key` does not."""
_FORMATS: Final = frozenset({"password", "secret", "token", "credential"})


def secret_asked_for(form: Form) -> str | None:
    """The first field that looks as if it wanted a secret, shown as it is named; None if none does.

    A field of choices or of yes and no holds none, and a number only where it says PIN, card
    number or the like.
    """
    return next((quoted(field.name[:80]) for field in form.fields if _wants_secret(field)), None)


def speaks_of_secret(text: str) -> bool:
    """Whether words that stand over a form speak of a secret: a field may be called anything."""
    return _WORDS.search(_APART.sub(" ", text)) is not None


def _wants_secret(field: Field) -> bool:
    told = _APART.sub(" ", " / ".join(filter(None, (field.title, field.description))))
    spoken = _APART.sub(" ", field.name)
    match field.kind:
        case Kind.TEXT:
            return (
                (field.format or "").lower() in _FORMATS
                or field.name.lower() in _NAMES
                or _WORDS.search(spoken) is not None
                or _WORDS.search(told) is not None
            )
        case Kind.NUMBER | Kind.INTEGER:
            return _NUMBERS.search(f"{spoken} / {told}") is not None
        case _:
            return False
