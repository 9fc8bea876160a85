"""The part of a rule that names tools: `Tool`, `mcp__server[__*]`, `mcp__server__tool`.

Rules and offers share it; what a rule has in brackets behind it is read by `rules.parse`. A
server's tool may be named by the name it is registered under or by its original one; both match.
The server is taken from the tool's origin, never guessed from its name.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from lockgate.rules.in_tree import IN_TREE
from lockgate.schema.spelling import nearest
from lockgate.tools.naming import is_tool_name, server_prefix
from lockgate.tools.tool import Tool

_REMOTE: Final = "mcp__"
_CONSTRAINS: Final = "constrains what a tool is called with, where only tools are named"
_SERVER_CHARACTERS: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")


class PatternError(ValueError):
    """A pattern that names nothing: where it goes wrong, and what was perhaps meant."""

    def __init__(self, message: str, position: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        """0-based index of the first character that can not be right."""
        self.hint = hint


class ToolPattern(msgspec.Struct, frozen=True):
    """Which tools are meant."""

    server: str | None
    """The server they live on; None for a tool of our own."""
    tool: str | None
    """Original or registered name; None for every tool of the server."""

    def matches(self, tool: Tool) -> bool:
        """Whether `tool` is meant."""
        definition = tool.definition
        origin = definition.origin
        if self.server is None:
            return origin.server is None and self.tool == definition.name
        if origin.server != self.server:
            return False
        return (
            self.tool is None
            or self.tool == origin.original_name
            or server_prefix(self.server) + self.tool == definition.name
        )

    def matches_name(self, name: str) -> bool:
        """Whether `name`, of which nothing else is known, is meant: for rules that must hold."""
        if self.server is None:
            return name == self.tool
        prefix = server_prefix(self.server)
        if self.tool is None:
            return name.startswith(prefix)
        return name == prefix + self.tool


def parse_pattern(
    text: str,
    *,
    servers: Collection[str] | None = None,
    known_tools: Collection[str] | None = None,
) -> ToolPattern:
    """Read a pattern.

    With `servers`, a server that is not among them is an error; with `known_tools`, so is a tool of
    our own that is not among them (names of servers' tools are only known once a server answers).
    Raises `PatternError`. Letter case counts everywhere.
    """
    if not text:
        raise PatternError("is empty", 0, "write a tool's name, or mcp__<server>__<tool>")
    if text[0].isspace() or text[-1].isspace():
        at = 0 if text[0].isspace() else len(text.rstrip())
        raise PatternError("begins or ends with a space", at)
    if text.startswith(_REMOTE):
        return _parse_remote(text, servers)
    if text.casefold().startswith(_REMOTE):
        raise PatternError("must be written in lower case: mcp__", 0)
    return _parse_local(text, known_tools)


def _parse_local(text: str, known: Collection[str] | None) -> ToolPattern:
    bad = next((i for i, c in enumerate(text) if not is_tool_name(c)), None)
    if bad is not None:
        character = text[bad]
        if character in "()":
            hint = f"write {text[:bad]} here, and {text} under permissions" if bad else None
            raise PatternError(_CONSTRAINS, bad, hint)
        if character == "*":
            raise PatternError(
                "has a * that stands for no server's tools", bad, "write mcp__<server>__*"
            )
        hint = f"write {text[:bad]}({text[bad + 1 :]})" if text[:bad] in IN_TREE else None
        raise PatternError(f"has a {character!r}, which no tool's name can hold", bad, hint)
    if len(text) > 64:
        raise PatternError("is longer than any tool's name (64 characters)", 64)
    if known is not None and text not in known:
        raise PatternError("names no tool there is", 0, _near(text, known, "tools"))
    return ToolPattern(None, text)


def _parse_remote(text: str, servers: Collection[str] | None) -> ToolPattern:
    start = len(_REMOTE)
    end = text.find("__", start)
    server = text[start:] if end < 0 else text[start:end]
    bad = next((i for i, c in enumerate(server) if c not in _SERVER_CHARACTERS), None)
    if bad is not None:
        character = server[bad]
        if character == "*":
            raise PatternError("has a * for the server, which must be named", start + bad)
        if character in "()":
            raise PatternError(_CONSTRAINS, start + bad, "name one tool, and no arguments")
        raise PatternError(f"has a {character!r}, which no server's name can hold", start + bad)
    if not server or server[0] == "-" or server[-1] == "-":
        raise PatternError("names no server", start, "write mcp__<server> or mcp__<server>__<tool>")
    if servers is not None and server not in servers:
        raise PatternError(
            f"names the server {server!r}, which is not configured",
            start,
            _near(server, servers, "servers"),
        )
    if end < 0:
        return ToolPattern(server, None)
    tool = text[end + 2 :]
    at = end + 2
    if not tool:
        raise PatternError("ends without a tool", at, f"write {text}* for every tool of the server")
    if tool == "*":
        return ToolPattern(server, None)
    if (star := tool.find("*")) >= 0:
        raise PatternError(
            "has a * that is not the whole name of the tool",
            at + star,
            f"write {server_prefix(server)}* for every tool of the server",
        )
    if (bracket := next((i for i, c in enumerate(tool) if c in "()"), None)) is not None:
        raise PatternError(
            _CONSTRAINS,
            at + bracket,
            f"write {text[: at + bracket]} here, and what it is called with under permissions; a"
            " tool with brackets in its own name goes by its registered name",
        )
    return ToolPattern(server, tool)


def _near(word: str, known: Collection[str], what: str) -> str:
    if near := nearest(word, known):
        return f"did you mean {near[0]}?"
    if not known:
        return f"there are no {what}"
    listed = sorted(known)
    return f"the {what} are {', '.join(listed[:20])}{', ...' if len(listed) > 20 else ''}"
