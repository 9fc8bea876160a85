"""The kinds of values that say how a server over HTTP is reached. None of them is ever echoed."""

from __future__ import annotations

from dataclasses import dataclass

from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.settings.expansion import has_reference
from lockgate.settings.kinds import scalar_text
from lockgate.settings.nodes import Node, Scalar, Table, kind_of
from lockgate.settings.reading import MISSING, At, Missing
from lockgate.showing import is_token, looks_secret
from lockgate.web.target import LocationError, read_target

_SOMEWHERE = "http://localhost/"
"""Stands for the address where only headers are looked at."""
_HEADER_HINT = "write NAME: value, a secret as NAME: ${VARIABLE}"


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a server or, with `optional`, of a proxy: then empty means none."""

    words: str = "http or https address"
    optional: bool = False

    def read(self, node: Node, at: At) -> str | Missing:
        """The address, as it was written."""
        found = scalar_text(node, at, wanted="an address")
        if isinstance(found, Missing):
            return MISSING
        text, _ = found
        if at.environ is None and has_reference(text):
            return text
        if not text and self.optional:
            return text
        if not text:
            return at.fault(node, "is empty", "write https://<host>/<path>")
        try:
            target = read_target(text)
        except LocationError as error:
            return at.fault(node, f"can not be used: {error}", "write https://<host>/<path>")
        if target.userinfo is not None and not self.optional:
            hint = "say who asks in headers: {Authorization: 'Bearer ${TOKEN}'}"
            return at.fault(node, "holds a user name or a password", hint)
        return text

    def merge(self, earlier: str, later: str) -> str:
        """The later."""
        del earlier
        return later


@dataclass(frozen=True, slots=True)
class Headers:
    """Headers for every request to a server. Values are never shown."""

    words: str = "mapping of text"

    def read(self, node: Node, at: At) -> dict[str, str] | Missing:
        """Names and values."""
        if not isinstance(node, Table):
            return at.fault(node, f"must be a mapping, not {kind_of(node)}", _HEADER_HINT)
        values: dict[str, str] = {}
        for name, value in node:
            inner = at.key(name.text, expands=at.expands)
            if any(name.text.lower() == other.lower() for other in values):
                inner.fault(name, "stands there twice: letter case makes no other header")
                continue
            found = scalar_text(value, inner, wanted="text")
            if isinstance(found, Missing):
                continue
            written = value.text if isinstance(value, Scalar) else ""
            if secret_in_header(name.text, written):
                hint = f"put it into a variable of your environment: {name.text}: ${{NAME}}"
                inner.fault(value, "holds a secret as it is", hint)
                continue
            text = "x" if at.environ is None and has_reference(written) else found[0]
            try:
                HttpEndpoint(_SOMEWHERE, {name.text: text})
            except ValueError as error:
                inner.fault(value, f"can not be used: {error}", _HEADER_HINT)
                continue
            values[name.text] = found[0]
        return values

    def merge(self, earlier: dict[str, str], later: dict[str, str]) -> dict[str, str]:
        """Header by header, letter case aside."""
        again = {name.lower() for name in later}
        kept = {name: value for name, value in earlier.items() if name.lower() not in again}
        return {**kept, **later}


def secret_in_header(name: str, value: str) -> bool:
    """Whether a header, as it is written, holds a secret itself instead of a reference to one."""
    if not value.strip() or "${" in value:
        return False
    return looks_secret(name) or any(map(is_token, value.split()))
