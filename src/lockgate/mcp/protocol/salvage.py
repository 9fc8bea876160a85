"""Whom a frame that can not be read was meant for: the little that is needed to tell them.

Steps through the text token by token, without recursion, so nesting does no harm; gives up after
a bounded number of tokens.
"""

from __future__ import annotations

import re

import msgspec

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}:,]|[^\s"\[\]{}:,]++', re.DOTALL)
_TAIL = re.compile(
    rb'[,{]\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*\}\s*\Z'
    rb'|[,{]\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*,\s*"jsonrpc"\s*:\s*"2\.0"\s*\}\s*\Z'
)
_BUDGET = 100_000
"""Tokens looked at, about 20 ms."""
_decode_id = msgspec.json.Decoder(int | str | float).decode


def addressee(frame: bytes) -> tuple[int | str | None, int | str | None]:
    """(id of our request that it answers, id of the peer's request that it is); None if unknown.

    Only a frame that names `"jsonrpc": "2.0"` or begins like one, and has a result, an error or a
    method, is taken for a message; a JSON log line that happens to hold an id is not.
    """
    start = frame.find(b'{"jsonrpc"')
    head = frame[start:] if start > 0 else frame
    members = _members(head)
    identity = _identity(members.get(b"id"))
    if identity is None or b"jsonrpc" not in members:
        tail = _TAIL.search(frame[-512:])
        if tail is None:
            return None, None
        identity = _identity(tail.group(1) or tail.group(2))
        return (None, identity) if b"method" in members else (identity, None)
    if b"method" in members:
        return None, identity
    if b"result" in members or b"error" in members:
        return identity, None
    return None, None


def _identity(text: bytes | None) -> int | str | None:
    if text is None:
        return None
    try:
        value = _decode_id(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value


def _members(frame: bytes) -> dict[bytes, bytes]:
    """The members of the outermost object, by name, each with the first token of its value."""
    found: dict[bytes, bytes] = {}
    depth = 0
    name: bytes | None = None
    expect_value = False
    for count, match in enumerate(_TOKEN.finditer(frame)):
        token = match.group()
        if count > _BUDGET or (count == 0 and token != b"{"):
            break
        if depth == 1:
            if expect_value:
                found.setdefault(name or b"", token)
                expect_value = False
                if (
                    b"id" in found
                    and b"jsonrpc" in found
                    and (b"method" in found or b"result" in found or b"error" in found)
                ):
                    break
            elif token == b":":
                expect_value = True
            elif token.startswith(b'"'):
                name = token[1:-1]
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth <= 0:
                break
    return found
