"""An address that an operator configured: used as it is written, told without what is secret.

Unlike `location`, which reads what strangers write, this repairs and refuses little: private hosts,
user names and any escapes are the operator's own. What programs disagree about is refused all the
same, so that what is shown is what is connected to. Pure.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import quote, unquote, urljoin

from lockgate.showing import is_token, looks_secret
from lockgate.web.location import LocationError, host_of

__all__ = ["LocationError", "Target", "read_target"]

_SHAPE: Final = re.compile(
    r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)(?:\?([^#]*))?", re.DOTALL
)
_AUTHORITY: Final = re.compile(r"(?:([^@]*)@)?(\[[0-9A-Fa-f:.]+\]|[^:\[\]@]+)(?::([0-9]{0,5}))?")
_BARRED: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff]")
_KEPT: Final = "".join(map(chr, range(0x21, 0x7F)))
"""What of a path and a query stays as it is; all else is escaped as UTF-8 (RFC 3987, 3.1)."""
_HIDDEN: Final = "***"


@dataclass(frozen=True, slots=True)
class Target:
    """One address with the scheme http or https. Made by `read_target`."""

    scheme: str
    host: str
    """Lower case, IDNA-encoded; an IPv6 address without brackets."""
    port: int
    path: str
    """As written, with what is not ASCII escaped; `/` at least."""
    query: str | None = field(repr=False)
    """As written, the same; None if there is none."""
    userinfo: str | None = field(repr=False, default=None)
    """`user:password` as written, escapes and all."""
    origin: str = field(init=False, repr=False, compare=False)
    """Scheme, host and port, the port only where it is not the scheme's own."""
    address: str = field(init=False, repr=False, compare=False)
    """What is asked for: everything but who asks."""

    def __post_init__(self) -> None:
        # Once for all: every request needs both.
        host = f"[{self.host}]" if ":" in self.host else self.host
        usual = self.port == (443 if self.scheme == "https" else 80)
        origin = f"{self.scheme}://{host}" + ("" if usual else f":{self.port}")
        query = "" if self.query is None else f"?{self.query}"
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "address", origin + self.path + query)

    @property
    def shown(self) -> str:
        """Origin and path: what a message or a log may hold of it."""
        return self.origin + self.path

    @property
    def identity(self) -> str:
        """The address with what looks like a secret in its query hidden."""
        if self.query is None:
            return self.shown
        return f"{self.shown}?{'&'.join(map(_discreet, self.query.split('&')))}"

    @property
    def authorization(self) -> str | None:
        """The value of `Authorization` that says what stands before the host; None for nobody."""
        if self.userinfo is None:
            return None
        user, _, password = self.userinfo.partition(":")
        plain = f"{unquote(user)}:{unquote(password)}".encode()
        return f"Basic {base64.b64encode(plain).decode('ascii')}"

    def secrets(self) -> tuple[str, ...]:
        """The password and the values of the query that `identity` hides, as written and plain."""
        found = [(self.userinfo or "").partition(":")[2]]
        for pair in (self.query or "").split("&"):
            if _discreet(pair) != pair:
                found.append(pair.partition("=")[2] or pair)
        if self.authorization is not None:
            found.append(self.authorization.partition(" ")[2])
        return tuple(form for text in found if text for form in {text: 0, unquote(text): 0})

    def joined(self, reference: str) -> Target:
        """Where a relative or absolute `Location` leads from here. Raises `LocationError`."""
        try:
            whole = urljoin(self.address, reference.strip(" "))
        except ValueError:
            raise LocationError("it can not be read") from None
        return read_target(whole.partition("#")[0])


def read_target(text: str) -> Target:
    """Read an address. Raises `LocationError`, whose text holds nothing of it."""
    if text != text.strip():
        raise LocationError("there is white space around the address: remove it")
    if _BARRED.search(text):
        raise LocationError("the address holds a space, a backslash or a control character")
    if "#" in text:
        raise LocationError("the address has a fragment (#...), which is never sent: remove it")
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise LocationError("it is no absolute address; write https://<host>/<path>")
    scheme = shape[1].lower()
    if scheme not in ("http", "https"):
        raise LocationError("only http and https addresses can be used")
    parts = _AUTHORITY.fullmatch(shape[2])
    if parts is None:
        raise LocationError("the address has no host, or no valid port")
    port = int(parts[3]) if parts[3] else (443 if scheme == "https" else 80)
    if not 0 < port < 65536:
        raise LocationError("the port is not between 1 and 65535")
    query = None if shape[4] is None else quote(shape[4], safe=_KEPT)
    path = quote(shape[3], safe=_KEPT) or "/"
    return Target(scheme, host_of(parts[2]), port, path, query, parts[1])


def _discreet(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if not equals:
        return _HIDDEN if is_token(unquote(name)) else pair
    if looks_secret(unquote(name)) or is_token(unquote(value)):
        return f"{name}={_HIDDEN}"
    return pair
