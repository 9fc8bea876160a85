"""An address in the web, read once: what it says decides, and the same value is connected to.

Two programs that read one address in two ways are how a rule for one host lets another be reached.
So there is one reading, it is strict, and what is odd is refused instead of repaired: user names,
escapes and backslashes in the host, numbers that only some programs take for an IPv4 address.
Pure; `rules.url` judges by it and `web.client` connects by it.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

if TYPE_CHECKING:  # yarl is loaded when the first address is read
    from yarl import URL

IPAddress: TypeAlias = IPv4Address | IPv6Address

MAX_LENGTH: Final = 8000
"""Characters of an address; most servers refuse longer ones too."""

_SHAPE: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)[^#]*(?:#.*)?", re.DOTALL)
_AUTHORITY: Final = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^:\[\]]+)(?::([0-9]{0,5}))?")
_LABEL: Final = re.compile(r"[a-z0-9_-]{1,63}")
_NUMERIC: Final = re.compile(r"[0-9]+|0x[0-9a-f]*")
_PRINTABLE: Final = re.compile(r"[!-~]+")
_BARRED: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\\ud800-\udfff]")
"""Characters that programs disagree about: some drop them, some take a backslash for a slash.
Half a surrogate pair is what is left of bytes that are no UTF-8."""


class LocationError(ValueError):
    """What was given is no address this program connects to. The text says why, without it."""


class Location(msgspec.Struct, frozen=True):
    """An address with the scheme http or https. Made by `locate`."""

    text: str
    """Normalised, ASCII, without a fragment. Read again, it gives an equal value."""
    scheme: str
    """`http` or `https`."""
    host: str
    """Lower case, IDNA-encoded, without a trailing dot; an IPv6 address without brackets."""
    port: int
    """The scheme's own where the address names none."""
    path: str
    """Dot segments folded, escapes of unreserved characters undone; `/` at least."""
    named_port: bool
    """Whether the address names a port that is not the scheme's own."""
    url: URL
    """The same, as the HTTP library takes it."""

    @property
    def ip(self) -> IPAddress | None:
        """The host as an IP address; None if it is a name."""
        return ip_of(self.host)

    @property
    def shown(self) -> str:
        """Scheme, host and port: all that an error or a log may hold of an address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}" + (f":{self.port}" if self.named_port else "")


def locate(text: str) -> Location:
    """Read an address. Raises `LocationError`."""
    if len(text) > MAX_LENGTH:
        raise LocationError(f"the address has more than {MAX_LENGTH} characters")
    if _BARRED.search(text):
        raise LocationError(
            "the address holds a space, a backslash, a control character or another that is none"
        )
    shape = _SHAPE.fullmatch(text)
    if shape is None:
        raise LocationError("it is no absolute address; write https://<host>/<path>")
    scheme = shape[1].lower()
    if scheme not in ("http", "https"):
        raise LocationError("only http and https addresses can be used")
    host, port = _authority(shape[2])
    default = 443 if scheme == "https" else 80
    return _made(text, scheme, host, default if port is None else port, default)


def ip_of(host: str) -> IPAddress | None:
    """A host as an IP address, if that is how it is written; None if it is a name."""
    try:
        return IPv6Address(host) if ":" in host else IPv4Address(host)
    except ValueError:
        return None


def host_of(text: str) -> str:
    """A host as it stands in an address (an IPv6 address in brackets), normalised.

    Raises `LocationError`.
    """
    if "." * 2 in text or not text.strip("."):
        raise LocationError("the host's name has an empty part")
    if text.startswith("["):
        return _ipv6(text[1:-1])
    host = _encoded(text).removesuffix(".")
    if len(host) > 253 or not all(map(_LABEL.fullmatch, host.split("."))):
        raise LocationError("the host is no valid name")
    # A program that reads numbers generously takes whatever ends in one for an IPv4 address.
    if _NUMERIC.fullmatch(host.rpartition(".")[2]) and (ip_of(host) is None or text != host):
        raise LocationError("the host is a number that is no IPv4 address as it is usually written")
    return host


def _authority(authority: str) -> tuple[str, int | None]:
    if "@" in authority:
        raise LocationError("the address holds a user name or a password")
    if "%" in authority:
        raise LocationError("the host holds an escape")
    parts = _AUTHORITY.fullmatch(authority)
    if parts is None:
        raise LocationError("the address has no host, or no valid port")
    port = int(parts[2]) if parts[2] else None
    if port is not None and not 0 < port < 65536:
        raise LocationError("the port is not between 1 and 65535")
    return host_of(parts[1]), port


def _ipv6(text: str) -> str:
    try:
        address = IPv6Address(text)
    except ValueError:
        raise LocationError("the host is no IPv6 address") from None
    if "." in text or address.ipv4_mapped is not None or 1 < int(address) < 2**32:
        raise LocationError("the host is an IPv4 address written as an IPv6 one")
    return address.compressed


def _encoded(text: str) -> str:
    if text.isascii():
        return text.lower()
    if len(text) > 253:
        raise LocationError("the host is no valid name")
    from yarl import URL

    try:
        return URL.build(scheme="http", host=text).raw_host or ""
    except ValueError:
        raise LocationError("the host is no valid international name") from None


def _made(text: str, scheme: str, host: str, port: int, default: int) -> Location:
    from yarl import URL

    try:
        given = URL(text)
        path, query = given.raw_path or "/", given.raw_query_string
    except ValueError:
        raise LocationError("the address can not be read") from None
    authority = (f"[{host}]" if ":" in host else host) + (f":{port}" if port != default else "")
    whole = f"{scheme}://{authority}{path}" + (f"?{query}" if query else "")
    if not path.startswith("/") or not _PRINTABLE.fullmatch(whole):
        raise LocationError("the address can not be read")
    # As it stands: whatever the library would change now, no decision has seen.
    url = URL(whole, encoded=True)
    if (url.raw_host, url.port, url.raw_path) != (host, port, path) or url.raw_user is not None:
        raise LocationError("the address can be read in two ways")
    return Location(whole, scheme, host, port, path, port != default, url)
