"""The file of pins as text: JSON that people commit, with stable lines, and read with suspicion.

What is written more than once is written once, under its hash: the instructions of a server and its
command. Every hash is computed anew when the file is read, so that an edited text, or a merge that
mixed two versions, is an error and no pin.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.protocol.jsontext import MAX_DEPTH, deeper_than
from lockgate.settings.pins import DEFINITION, FIELDS, PinnedTool, Pins
from lockgate.settings.server_name import is_server_name
from lockgate.settings.yamlfile import decode
from lockgate.showing import visible, visible_json
from lockgate.tools.fingerprint import Fingerprint, canonical_digest

FORMAT: Final = 1
MAX_BYTES: Final = 16 * 1024 * 1024
_AROUND: Final = 8
"""Levels of the file around a definition."""

_HINT: Final = "take the tool out of the file and review it again: lockgate review SERVER"


def write_pins(pins: Pins) -> bytes:
    """The text of a file of pins: sorted, one value a line, nothing in it hidden from the eye."""
    document = {
        "lockgatePins": FORMAT,
        "servers": {server: _server(tools) for server, tools in pins.servers.items()},
    }
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False)
    return f"{visible_json(text)}\n".encode()


def _server(tools: Mapping[str, PinnedTool]) -> dict[str, Any]:
    commands: dict[str, str] = {}
    instructions: dict[str, str | None] = {}
    for tool in tools.values():
        hashes = dict(tool.fingerprint.fields)
        commands[hashes["endpoint"]] = tool.command
        instructions[hashes["instructions"]] = tool.instructions
    return {
        "commands": commands,
        "instructions": instructions,
        "tools": {
            name: {
                "definition": dict(tool.definition),
                "digest": tool.fingerprint.digest,
                "fields": dict(tool.fingerprint.fields),
            }
            for name, tool in tools.items()
        },
    }


def read_pins(data: bytes, file: Path) -> Pins:
    """The pins in a file.

    Raises `ConfigError` with every fault, each with its key path: broken JSON, a key that stands
    twice, an unknown or missing one, a value of another kind, a hash that is not that of its text.
    """
    document = _document(decode(data, file), file)
    reader = _Reader(file)
    pins = reader.pins(document)
    if reader.problems:
        raise ConfigError(*reader.problems)
    return pins


def _document(text: str, file: Path) -> object:
    twice: list[tuple[dict[str, object], str]] = []
    """Objects in which a key stands more than once, and the key."""

    def build(items: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(items)
        if len(found) == len(items):
            return found
        names = [name for name, _ in items]
        twice.append((found, next(name for name in names if names.count(name) > 1)))
        return found

    problem: Problem
    try:
        document: object = json.loads(text, object_pairs_hook=build, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        merged = "<<<<<<<" in text and ">>>>>>>" in text
        hint = (
            "it holds the marks of a merge: take one side, then lockgate pins diff"
            if merged
            else None
        )
        problem = Problem(
            f"is not JSON: {error.msg}", file=file, line=error.lineno, column=error.colno, hint=hint
        )
    except RecursionError:
        problem = Problem("is nested too deeply", file=file)
    except ValueError:
        problem = Problem("holds a number that is none, or has too many digits", file=file)
    else:
        if deeper_than(document, MAX_DEPTH + _AROUND):
            raise ConfigError(Problem("is nested too deeply", file=file))
        if not twice:
            return document
        where, key = twice[0]
        path = next(_paths_to(document, where, ""), "")
        problem = Problem(f"has the key {visible(key)[:60]!r} twice", path, file)
    raise ConfigError(problem)


def _refuse(word: str) -> object:
    raise ValueError(word)


def _paths_to(value: object, wanted: object, path: str) -> Iterator[str]:
    if value is wanted:
        yield path
    elif isinstance(value, dict):
        for key, inside in cast("dict[str, object]", value).items():
            yield from _paths_to(inside, wanted, _below(path, key))
    elif isinstance(value, list):
        for index, inside in enumerate(cast("list[object]", value)):
            yield from _paths_to(inside, wanted, f"{path}[{index}]")


def _below(path: str, key: str) -> str:
    shown = visible(key)[:80]
    return f"{path}.{shown}" if path else shown


class _Reader:
    """Reads a decoded document; what is wrong with it goes to `problems`."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.problems: list[Problem] = []

    def pins(self, document: object) -> Pins:
        top = self._object(document, "", ("lockgatePins", "servers"))
        if top is None:
            return Pins()
        if type(top["lockgatePins"]) is not int or top["lockgatePins"] != FORMAT:
            hint = "a newer lockgate wrote it: update this one"
            self._fault("lockgatePins", f"must be {FORMAT}", hint)
        servers: dict[str, Mapping[str, PinnedTool]] = {}
        for name, held in (self._object(top["servers"], "servers", None) or {}).items():
            path = _below("servers", name)
            if not is_server_name(name):
                self._fault(path, "is no name of a server")
            servers[name] = self._tools(held, path)
        return Pins(servers)

    def _tools(self, held: object, path: str) -> Mapping[str, PinnedTool]:
        server = self._object(held, path, ("commands", "instructions", "tools"))
        if server is None:
            return {}
        commands = self._texts(server["commands"], f"{path}.commands")
        said = self._texts(server["instructions"], f"{path}.instructions", hashed=True)
        tools: dict[str, PinnedTool] = {}
        for name, value in (self._object(server["tools"], f"{path}.tools", None) or {}).items():
            where = _below(f"{path}.tools", name)
            found = self._tool(name, value, where)
            if found is None:
                continue
            mark, definition = found
            hashes = dict(mark.fields)
            lacking = [
                (what, hashes[key])
                for what, key, table in (
                    ("commands", "endpoint", commands),
                    ("instructions", "instructions", said),
                )
                if hashes[key] not in table
            ]
            for what, digest in lacking:
                self._fault(f"{path}.{what}", f"has no {digest!r:.70}, which {where} refers to")
            if not lacking:
                command = commands[hashes["endpoint"]] or ""
                instructions = said[hashes["instructions"]]
                tools[name] = PinnedTool(name, mark, definition, instructions, command)
        return tools

    def _tool(
        self, name: str, value: object, path: str
    ) -> tuple[Fingerprint, Mapping[str, Any]] | None:
        tool = self._object(value, path, ("definition", "digest", "fields"))
        if tool is None:
            return None
        definition = self._object(tool["definition"], f"{path}.definition", DEFINITION)
        fields = self._object(tool["fields"], f"{path}.fields", FIELDS)
        if definition is None or fields is None:
            return None
        before = len(self.problems)
        for key in FIELDS:
            given = fields[key]
            if not isinstance(given, str):
                self._fault(f"{path}.fields.{key}", "must be a hash")
            elif key == "name" or key in definition:
                text = name if key == "name" else definition[key]
                if canonical_digest(text) != given:
                    self._fault(
                        f"{path}.fields.{key}", "is not the hash of what stands there", _HINT
                    )
        if len(self.problems) > before:
            return None
        hashes = tuple((key, str(fields[key])) for key in FIELDS)
        digest = canonical_digest([list(pair) for pair in hashes])
        if tool["digest"] != digest:
            self._fault(f"{path}.digest", "is not the hash of its fields", _HINT)
            return None
        return Fingerprint(digest, hashes), definition

    def _texts(self, value: object, path: str, *, hashed: bool = False) -> dict[str, str | None]:
        """Texts by hash; `hashed`: by their own, and null is one too."""
        texts: dict[str, str | None] = {}
        for digest, text in (self._object(value, path, None) or {}).items():
            where = _below(path, digest)
            if not (isinstance(text, str) or (hashed and text is None)):
                self._fault(where, "must be text")
            elif hashed and canonical_digest(text) != digest:
                self._fault(where, "is not the hash of its text", _HINT)
            else:
                texts[digest] = text
        return texts

    def _object(
        self, value: object, path: str, keys: tuple[str, ...] | None
    ) -> dict[str, Any] | None:
        """An object with exactly `keys`, or any with None."""
        if not isinstance(value, dict):
            self._fault(path, "must be an object")
            return None
        found = cast("dict[str, Any]", value)
        if keys is None:
            return found
        for key in sorted(found.keys() - set(keys)):
            self._fault(_below(path, key), "unknown key", f"keys: {', '.join(keys)}")
        for key in keys:
            if key not in found:
                self._fault(path, f"lacks the key {key!r}")
        return found if found.keys() == set(keys) else None

    def _fault(self, path: str, message: str, hint: str | None = None) -> None:
        self.problems.append(Problem(message, path, self._file, hint=hint))
