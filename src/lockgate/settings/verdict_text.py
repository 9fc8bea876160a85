"""Verdicts put into a configuration file, with every other byte of it left as it was.

The result is read again and must say exactly what was wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.host.settings import Verdict
from lockgate.settings.entry import as_json, quoted
from lockgate.settings.nodes import Listing, Node, Scalar, Table, is_null
from lockgate.settings.splice import Piece, bare, content, parsed, put
from lockgate.traits import ConcurrencyBehavior, DestructiveBehavior, IdempotencyBehavior

_SWITCHES: Final = frozenset({"true", "false"})


def verdict_words(verdict: Verdict) -> Mapping[str, str]:
    """A verdict as it is written: only what it says."""
    switches = {
        "destructive": (verdict.destructive, DestructiveBehavior.DESTRUCTIVE),
        "idempotent": (verdict.idempotent, IdempotencyBehavior.IDEMPOTENT),
        "concurrent": (verdict.concurrent, ConcurrencyBehavior.CONCURRENT_SAFE),
    }
    words = {} if verdict.level is None else {"level": verdict.level.value}
    for name, (said, yes) in switches.items():
        if said is not None:
            words[name] = "true" if said is yes else "false"
    return words


def verdict_line(tool: str, verdict: Verdict) -> str:
    """One verdict as it stands in a file: `log: {level: read-only}`."""
    return f"{quoted(tool)}: {_braced(verdict_words(verdict))}"


def set_verdicts(text: str, server: str, verdicts: Mapping[str, Verdict], file: Path) -> str:
    """The text with `verdicts` on tools of a server it holds; other verdicts stay.

    One on the same tool is replaced. Raises `ConfigError` if there is no such server, or it is laid
    out so that nothing can be put in safely; the message then shows what to write by hand.
    """
    for tool, verdict in verdicts.items():
        root = parsed(text, file)
        index, item = _server(root, server)
        if item is None:
            raise ConfigError(Problem(f'has no server called "{server}"', file=file))
        new = _with(text, item, tool, verdict)
        wanted = cast("dict[str, Any]", bare(root))
        entry = wanted["mcp"]["servers"][index]
        entry["verdicts"] = {**(entry.get("verdicts") or {}), tool: dict(verdict_words(verdict))}
        if new is None or content(new, file) != wanted:
            message = "is laid out in a way that this command can not edit"
            hint = f'add this to the verdicts of "{server}": {verdict_line(tool, verdict)}'
            raise ConfigError(Problem(message, file=file, hint=hint))
        text = new
    return text


def _with(text: str, item: Table, tool: str, verdict: Verdict) -> str | None:
    """The text with one verdict more, or another one; None where that can not be done."""
    words = verdict_words(verdict)
    verdicts = item.get("verdicts")
    held = verdicts.get(tool) if isinstance(verdicts, Table) else None
    if held is None:
        inline = f"{as_json(tool)}: {_braced(words, quotes=True)}"
        piece = Piece((verdict_line(tool, verdict),), inline, item=False)
        return put(text, _trimmed(item), ("verdicts",), piece)
    if not isinstance(held, Table):
        return None
    if held.flow:
        quotes = isinstance(verdicts, Table) and verdicts.flow
        return text[: held.start] + _braced(words, quotes=quotes) + text[held.end :]
    start, end = held.start, _end_of(held)
    before = text[:start].rstrip()
    if not before.endswith(":") or "#" in text[start:end]:
        return None  # a comment would be lost
    return f"{before} {_braced(words)}{text[end:]}"


def _braced(words: Mapping[str, str], *, quotes: bool = False) -> str:
    """A verdict on one line; `quotes`: as JSON writes it, beside what is written so."""
    mark = '"' if quotes else ""
    pairs = (
        f"{mark}{key}{mark}: {word if word in _SWITCHES else f'{mark}{word}{mark}'}"
        for key, word in words.items()
    )
    return f"{{{', '.join(pairs)}}}"


def _trimmed(table: Table) -> Table:
    """The table without what stands behind its last value: comments there are of what follows."""
    entries = tuple(
        (key, _trimmed(value) if isinstance(value, Table) else value) for key, value in table
    )
    return msgspec.structs.replace(table, entries=entries, end=_end_of(table))


def _end_of(node: Node) -> int:
    """Where the last value of a node ends."""
    if isinstance(node, Table) and not node.flow and node.entries:
        key, value = node.entries[-1]
        nothing = isinstance(value, Scalar) and is_null(value) and not value.text
        return key.end + 1 if nothing else _end_of(value)
    if isinstance(node, Listing) and not node.flow and node.items:
        return _end_of(node.items[-1])
    return node.end


def _server(root: Node | None, name: str) -> tuple[int, Table | None]:
    mcp = root.get("mcp") if isinstance(root, Table) else None
    servers = mcp.get("servers") if isinstance(mcp, Table) else None
    for index, item in enumerate(servers.items if isinstance(servers, Listing) else ()):
        said = item.get("name") if isinstance(item, Table) else None
        if isinstance(item, Table) and isinstance(said, Scalar) and said.text == name:
            return index, item
    return -1, None
