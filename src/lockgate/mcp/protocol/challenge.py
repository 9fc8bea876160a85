"""What a server that refuses wants: `WWW-Authenticate` (RFC 9110, 11.6.1), as Bearer uses it. Pure.

Sources: RFC 6750, 3; RFC 9728, 5.1. What can not be read is passed over: a header that is half
garbage still says what its other half says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

INSUFFICIENT_SCOPE: Final = "insufficient_scope"
_WORD: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER: Final = re.compile(rf'({_WORD})[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|({_WORD}))')
_UNQUOTED: Final = re.compile(rf"({_WORD})[ \t]*=[ \t]*()([^\s,\"]+)")
"""The same as servers write it that leave the quotes out, around an address for one."""
_SCHEME: Final = re.compile(rf"({_WORD})(?=[ \t]|,|$)")
_WHOLE_WORD: Final = re.compile(_WORD)
_TOKEN68: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*(?=[ \t]*(?:,|$))")
_SCOPE: Final = re.compile(r"[!#-\[\]-~]+")


class BearerChallenge(msgspec.Struct, frozen=True):
    """What a Bearer challenge says; empty where it does not. All of it is the server's own word."""

    error: str = ""
    description: str = ""
    scope: str = ""
    """Words with one space between, of nothing but what a scope may hold (RFC 6749, 3.3)."""
    resource_metadata: str = ""
    """An address, as it came."""

    @property
    def lacks_scope(self) -> bool:
        """Whether credentials that are good for more would do."""
        return self.error == INSUFFICIENT_SCOPE


def bearer_challenge(header: str) -> BearerChallenge | None:
    """The Bearer challenge in the value of `WWW-Authenticate`; None if there is none.

    Of several, the first that names anything.
    """
    found: BearerChallenge | None = None
    for scheme, parameters in _challenges(header):
        if scheme.lower() != "bearer":
            continue
        if found is None or found == BearerChallenge():
            found = BearerChallenge(
                error=parameters.get("error", ""),
                description=parameters.get("error_description", ""),
                scope=" ".join(_SCOPE.findall(parameters.get("scope", ""))),
                resource_metadata=parameters.get("resource_metadata", ""),
            )
    return found


def _challenges(header: str) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Every challenge: its scheme, and its parameters with their names in lower case."""
    at, scheme = 0, ""
    parameters: dict[str, str] = {}
    while at < len(header):
        if header[at] in " \t,":
            at += 1
            continue
        parameter = _PARAMETER.match(header, at)
        if parameter is None or (
            parameter.end() < len(header) and header[parameter.end()] not in " \t,"
        ):
            parameter = _UNQUOTED.match(header, at) or parameter
        if parameter is not None and scheme:
            name, quoted, plain = parameter.groups()
            value = plain if quoted is None or (not quoted and plain) else _unquoted(quoted)
            parameters.setdefault(name.lower(), value)
            at = parameter.end()
            continue
        begun = _SCHEME.match(header, at)
        if begun is None:
            # Of a word that is nothing here, no part is anything either: it is looked at once.
            word = _WHOLE_WORD.match(header, at)
            at = at + 1 if word is None else word.end()
            continue
        if scheme:
            yield scheme, parameters
        scheme, parameters = begun[1], {}
        at = begun.end()
        rest = _TOKEN68.match(header, at + 1)
        if rest is not None and header[at : at + 1] == " ":
            at = rest.end()
    if scheme:
        yield scheme, parameters


def _unquoted(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
