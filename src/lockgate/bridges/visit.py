"""An address that a server wants a person to open: what of it is shown, and what is refused.

2026-07-28, client/elicitation, Safe URL Handling: whole, with the host in plain sight, and with a
warning where the eye could take one host for another. Pure; nothing is ever fetched.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from lockgate.web.location import Location, LocationError, locate
from lockgate.web.suffixes import Suffixes
from lockgate.web.target import read_target

_KEPT: Final = "".join(map(chr, range(0x21, 0x7F)))
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_ENDS: Final = frozenset({"com", "org", "net", "gov", "edu", "io", "dev", "app"})
"""How names end that people know; in the middle of one they are there to deceive."""


@dataclass(frozen=True, slots=True)
class Visit:
    """An address that can be opened. Made by `read_visit`."""

    address: str
    """Exactly what is opened: ASCII, normalised."""
    host: str
    """With the port, if it names one."""
    owner: str | None
    """The part of the host that somebody has registered; None for an IP address and for what the
    list of public suffixes does not know."""
    warnings: tuple[str, ...]
    """What a person should know before they say yes, one sentence each."""


def read_visit(text: str) -> Visit:
    """Read the address. Raises `LocationError`, whose text says why it is refused, without it."""
    location = locate(text)
    if location.scheme != "https" and location.host not in _LOOPBACK:
        raise LocationError("it is not https, and what is entered there could be read on the way")
    fragment = text.partition("#")[2]
    address = location.text + (f"#{quote(fragment, safe=_KEPT)}" if fragment else "")
    owner = _owner(location)
    shown = f"[{location.host}]" if ":" in location.host else location.host
    return Visit(
        address,
        f"{shown}:{location.port}" if location.named_port else shown,
        owner,
        tuple(_warnings(location, owner)),
    )


def login_marks(address: str, issuer: str, trusted: Iterable[str]) -> tuple[str, ...]:
    """What a person should know of a page to log in at before it is opened, one sentence each.

    Nothing of one at the origin of an address in `trusted`, which the person wrote themselves.
    `issuer` is whose page it is said to be. Raises `LocationError` for what can not be opened.
    """
    if read_target(address).origin in {read_target(each).origin for each in trusted}:
        return ()
    location = locate(address)
    owner = _owner(location)
    found = _warnings(location, owner)
    if location.scheme != "https" and location.host not in _LOOPBACK:
        found.insert(0, "it is not https: what you enter there can be read on the way")
    try:
        said = locate(issuer) if issuer else location
    except LocationError:
        return (*found, "its authorization server has a name that can not be read")
    same = said.host == location.host or (owner is not None and owner == _owner(said))
    if not same:
        found.append(f"the host is not the one of its authorization server, {said.host}")
    return tuple(found)


def _owner(location: Location) -> str | None:
    if location.ip is not None or location.host in _LOOPBACK:
        return None
    return Suffixes(location.host).owned(location.host)


def _warnings(location: Location, owner: str | None) -> list[str]:
    found: list[str] = []
    if location.host in _LOOPBACK:
        return ["this is a page of a program on this machine"]
    if location.ip is not None:
        found.append("the host is a number and no name: nobody can tell whose it is")
    for label in location.host.split("."):
        if label.startswith("xn--"):
            found.append(_international(label))
    if location.named_port:
        found.append(f"it names a port of its own, {location.port}")
    if owner is not None and _ENDS.intersection(location.host.removesuffix(owner).split(".")):
        found.append(f"the host begins like another name; it belongs to {owner}")
    return found


def _international(label: str) -> str:
    """What a label in punycode reads like, and why that deceives."""
    try:
        plain = label[4:].encode("ascii").decode("punycode")
    except ValueError:
        return f"the host holds {label}, which can not be read"
    scripts = sorted({_script(char) for char in plain if char.isalpha()})
    mixed = f", of several alphabets ({', '.join(scripts)})" if len(scripts) > 1 else ""
    return (
        f"the host holds {label}, which browsers may show as {plain}{mixed}: its letters can look"
        " like those of another name"
    )


def _script(char: str) -> str:
    """The alphabet of a letter, by the first word of its name."""
    return unicodedata.name(char, "UNKNOWN").split(" ", 1)[0].capitalize()
