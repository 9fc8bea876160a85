"""The revisions of MCP and what depends on them, as values; nothing else tests a version name.

*Legacy* revisions open a session with `initialize`; *modern* ones carry version, identity and
capabilities with every request (2026-07-28, basic/versioning).
"""

from __future__ import annotations

import base64
import enum
import re
from collections.abc import Mapping

import msgspec


class Era(enum.Enum):
    """How client and server come to know each other."""

    LEGACY = "legacy"
    """By a handshake; the session remembers."""
    MODERN = "modern"
    """By what every request carries; nothing is remembered."""


class Revision(msgspec.Struct, frozen=True):
    """One published revision of the protocol."""

    name: str
    """The date by which peers call it."""
    era: Era
    version_header: bool
    """Whether requests on transports with headers carry `MCP-Protocol-Version`."""
    batches: bool = False
    """Whether a frame may be an array of messages."""
    elicits: bool = True
    """Whether servers may ask a person something, by a form."""
    elicits_by_url: bool = True
    """Whether they may do so by an address too."""
    samples_with_tools: bool = True
    """Whether the completions that they ask for may have tools."""
    declares_completions: bool = True
    """Whether servers declare that they suggest values of arguments; before, it is tried."""
    completes_in_context: bool = True
    """Whether they are told the other arguments that have their values."""

    @property
    def modern(self) -> bool:
        return self.era is Era.MODERN

    @property
    def reads_result_type(self) -> bool:
        """Whether `resultType` of a result means something."""
        return self.era is Era.MODERN

    def headers(self, method: str, name: str | None = None) -> tuple[tuple[str, str], ...]:
        """What goes beside the body on transports that have headers.

        `name` is what `Mcp-Name` mirrors (2026-07-28, Standard Request Headers): the `name` of
        `tools/call` and `prompts/get`, the `uri` of `resources/read`; None for other methods.
        """
        if not self.version_header:
            return ()
        version = ("MCP-Protocol-Version", self.name)
        if self.era is Era.LEGACY:
            return (version,)
        if name is None:
            return (version, ("Mcp-Method", method))
        return (version, ("Mcp-Method", method), ("Mcp-Name", header_value(name)))


REVISIONS = (
    Revision("2026-07-28", Era.MODERN, version_header=True),
    Revision("2025-11-25", Era.LEGACY, version_header=True),
    Revision(
        "2025-06-18",
        Era.LEGACY,
        version_header=True,
        elicits_by_url=False,
        samples_with_tools=False,
    ),
    Revision(
        "2025-03-26",
        Era.LEGACY,
        version_header=False,
        batches=True,
        elicits=False,
        samples_with_tools=False,
        completes_in_context=False,
    ),
    Revision(
        "2024-11-05",
        Era.LEGACY,
        version_header=False,
        elicits=False,
        samples_with_tools=False,
        declares_completions=False,
        completes_in_context=False,
    ),
)
"""All that are spoken, the newest first."""

LATEST_MODERN = REVISIONS[0]
LATEST_LEGACY = REVISIONS[1]
"""What is offered first in each era."""

_BY_NAME: Mapping[str, Revision] = {revision.name: revision for revision in REVISIONS}


def known(name: str) -> Revision | None:
    """The revision of that name, or None: then it must be refused by name, not guessed at."""
    return _BY_NAME.get(name)


_PLAIN = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?")
_PREFIX, _SUFFIX = "=?base64?", "?="


def header_value(value: str) -> str:
    """A string as a header value (2026-07-28, Value Encoding): plain where it can be.

    Else, and where it would be mistaken for an encoded one, `=?base64?…?=` over its UTF-8.
    """
    plain = _PLAIN.fullmatch(value) is not None
    if plain and not (value.startswith(_PREFIX) and value.endswith(_SUFFIX)):
        return value
    encoded = base64.b64encode(value.encode("utf-8", "surrogatepass")).decode("ascii")
    return f"{_PREFIX}{encoded}{_SUFFIX}"
