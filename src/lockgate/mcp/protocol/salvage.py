"""What can still be had of a frame that can not be read: whom it is for, and its shallow part.

Both step through the text token by token, without recursion, so nesting does no harm, and both
give up past a bound.
"""

from __future__ import annotations

import re

import msgspec

from lockgate.mcp.protocol.framing import HEAD, TAIL

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}:,"]|[^\s"\[\]{}:,]++', re.DOTALL)
"""A lone quote is a string that does not end."""
_TAIL = re.compile(
    rb'[,{]\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*\}\s*\Z'
    rb'|[,{]\s*"id"\s*:\s*("[^"\\]*"|-?\d+)\s*,\s*"jsonrpc"\s*:\s*"2\.0"\s*\}\s*\Z'
)
_BUDGET = 100_000
"""Tokens looked at for an address, about 20 ms."""
_PRUNABLE = 8 * 1024 * 1024
"""Bytes of a frame that is pruned, about a second."""
_decode_id = msgspec.json.Decoder(int | str | float).decode


def addressee(frame: bytes) -> tuple[int | str | None, int | str | None]:
    """(id of our request that it answers, id of the peer's request that it is); None if unknown.

    Takes a whole frame, or what is kept of an oversized one (`framing.Oversized.head`). Only what
    is marked `"jsonrpc": "2.0"` and has a result, an error or a method is taken for a message: a
    JSON log line that happens to hold an id is not. Text before a message on the same line is
    stepped over.
    """
    start = 0 if frame.lstrip()[:1] in (b"{", b"[") else frame.find(b'{"jsonrpc"')
    members = _members(frame[start:] if start > 0 else frame)
    asks = b"method" in members
    identity = _identity(members.get(b"id"))
    if identity is None or members.get(b"jsonrpc") != b'"2.0"':
        tail = _TAIL.search(frame[-TAIL:])
        if tail is None or not members:
            return None, None
        identity = _identity(tail.group(1) or tail.group(2))
    elif not (asks or b"result" in members or b"error" in members):
        return None, None
    return (None, identity) if asks else (identity, None)


def prune(frame: bytes, depth: int) -> bytes | None:
    """The frame with null in place of every object and array deeper than `depth` levels.

    None if it is too large for that, or no balanced JSON text.
    """
    if len(frame) > _PRUNABLE:
        return None
    kept: list[bytes] = []
    level = 0
    start = 0
    for match in _BRACKET.finditer(frame):
        token = match.group()
        if token in (b"{", b"["):
            level += 1
            if level == depth + 1:
                kept += (frame[start : match.start()], b"null")
        elif token in (b"}", b"]"):
            if level == depth + 1:
                start = match.end()
            level -= 1
    if level:
        return None
    kept.append(frame[start:])
    return b"".join(kept)


_BRACKET = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{}]', re.DOTALL)


def _identity(text: bytes | None) -> int | str | None:
    if not text:
        return None
    try:
        value = _decode_id(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value


def _members(frame: bytes) -> dict[bytes, bytes]:
    """The members of the outermost object, by name, each with the first token of its value.

    Of an oversized frame, those in its beginning: the newline ends it.
    """
    found: dict[bytes, bytes] = {}
    end = frame.find(b"\n", 0, HEAD) if len(frame) == HEAD else -1
    depth = 0
    name = b""
    value_follows = False
    for count, match in enumerate(_TOKEN.finditer(frame, 0, end if end > 0 else len(frame))):
        token = match.group()
        if count > _BUDGET or token == b'"' or (count == 0 and token != b"{"):
            break
        if depth == 1:
            if value_follows:
                found[name] = token
                value_follows = False
            elif token == b":":
                value_follows = name not in found
                found.setdefault(name, b"")
                if name in _KINDS and found.keys() >= _ENOUGH:
                    break
            elif token.startswith(b'"'):
                name = token[1:-1]
        if token in (b"{", b"["):
            depth += 1
        elif token in (b"}", b"]"):
            depth -= 1
            if depth <= 0:
                break
    return found


_ENOUGH = frozenset({b"id", b"jsonrpc"})
"""With these and one of the others, no more has to be looked at."""
_KINDS = frozenset({b"method", b"result", b"error"})
