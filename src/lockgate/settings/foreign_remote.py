"""Servers at addresses in other programs' files: their many names for one thing, made ours.

A secret that stands in such a file is not copied: a reference takes its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, cast
from urllib.parse import unquote

from lockgate.settings.entry import ServerEntry
from lockgate.settings.foreign_auth import (
    AUTH_KEYS,
    REFERENCES,
    Unusable,
    foreign_auth,
    variable_for,
    variable_headers,
)
from lockgate.settings.remote_kinds import secret_in_header
from lockgate.showing import is_token, looks_secret, visible

URLS: Final = ("url", "httpUrl", "serverUrl")
"""Keys that hold an address."""
_HEADERS: Final = ("headers", "http_headers", "env_http_headers")
REMOTE: Final = frozenset({"type", "transport", *_HEADERS, *URLS, *AUTH_KEYS})
_KINDS: Final = MappingProxyType(
    {
        "http": "streamable-http",
        "streamable-http": "streamable-http",
        "streamablehttp": "streamable-http",
        "sse": "sse",
    }
)
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z-]{0,15}) +\S.*", re.DOTALL)


def is_remote(server: Mapping[str, Any]) -> bool:
    """Whether an entry names an address, or says that it has one."""
    return "command" not in server and (
        any(key in server for key in URLS) or _kind(server) not in ("", "stdio")
    )


def remote_entry(
    name: str,
    server: Mapping[str, Any],
    source: Path,
    text: Callable[[str], str],
    note: Callable[[str], None],
) -> ServerEntry:
    """The entry of a server at an address.

    `text` turns references into ours, `note` is told what changed. Raises `Unusable`.
    """
    key = next((key for key in URLS if key in server), None)
    url = server.get(key) if key else None
    if not isinstance(url, str) or not url.strip():
        raise Unusable("it has no url")
    headers: dict[str, str] = {}
    for key_of in _HEADERS[:2]:
        headers |= _headers(name, server.get(key_of), text, note)
    headers |= variable_headers(server.get(_HEADERS[2]))
    entry = ServerEntry(
        name,
        transport=_transport(server, key or "", url, source, note),
        url=_address(name, text(url.strip()), note),
        headers=headers,
        auth=foreign_auth(name, server, headers, text, note),
    )
    if entry.secret_addresses:
        note(
            "its url looks as if it held a secret and was copied as it is: better write ${NAME}"
            " there and set NAME in your environment"
        )
    return entry


def _kind(server: Mapping[str, Any]) -> str:
    kind = server.get("type", server.get("transport", ""))
    return kind.lower().replace("_", "-") if isinstance(kind, str) else ""


def _transport(
    server: Mapping[str, Any], key: str, url: str, source: Path, note: Callable[[str], None]
) -> str:
    kind = _kind(server)
    if kind:
        if kind not in _KINDS:
            raise Unusable(
                f"it is reached over {visible(kind)[:40]}, which lockgate does not speak"
            )
        return _KINDS[kind]
    if key == "url" and source.parent.name == ".gemini":
        return "sse"  # that program calls the newer one httpUrl
    if key == "httpUrl":
        return "streamable-http"
    guess = guessed_transport(url)
    note(f"there its transport is not said: {guess} is a guess from its address")
    return guess


def guessed_transport(url: str) -> str:
    """What a server is most likely spoken to over, by its address alone."""
    path = re.split(r"[?#]", url, maxsplit=1)[0]
    return "sse" if path.rstrip("/").endswith("/sse") else "streamable-http"


def _address(name: str, url: str, note: Callable[[str], None]) -> str:
    """The address with references for the secrets of its query; names are told, no values."""
    head, mark, query = url.partition("?")
    query, hash_, fragment = query.partition("#")
    taken: set[str] = set()
    pairs: list[str] = []
    for pair in query.split("&"):
        key, equals, value = pair.partition("=")
        if not equals:
            key, value = "", key
        plain = unquote(key)
        secret = looks_secret(plain) or is_token(unquote(value))
        if secret and value and not REFERENCES.fullmatch(value):
            word = re.sub(r"[^A-Za-z0-9]+", "_", plain).strip("_") or "KEY"
            variable = variable_for(name, f"URL_{word}")
            while variable in taken:
                variable += "_2"
            taken.add(variable)
            value = f"${{{variable}}}"
            called = visible(plain or word)[:40]
            note(
                f"the secret {called} in its url was not copied: set {variable} to it"
                " in your environment, as it stands there"
            )
        pairs.append(f"{key}{equals}{value}")
    return f"{head}{mark}{'&'.join(pairs)}{hash_}{fragment}"


def _headers(
    name: str, raw: object, text: Callable[[str], str], note: Callable[[str], None]
) -> dict[str, str]:
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise Unusable("its headers are no object")
    headers: dict[str, str] = {}
    for header, value in cast("dict[str, object]", raw).items():
        if not isinstance(value, str):
            raise Unusable(f"its header {visible(header)[:40]} is no text")
        written = text(value)
        if secret_in_header(header, written):
            scheme = _SCHEME.fullmatch(written)
            ending = "TOKEN" if scheme else re.sub(r"[^A-Za-z0-9]+", "_", header).strip("_")
            variable = variable_for(name, ending)
            written = f"{scheme[1]} ${{{variable}}}" if scheme else f"${{{variable}}}"
            note(
                f"the secret in its header {visible(header)[:40]} was not copied: set {variable}"
                f" to it in your environment{', without ' + scheme[1] if scheme else ''}"
            )
        headers[header] = written
    return headers
