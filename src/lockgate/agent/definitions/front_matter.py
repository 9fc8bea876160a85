"""Front matter as values that know their place: YAML 1.2, without anchors, tags and merge keys."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import msgspec

from lockgate.errors import ConfigError, Problem
from lockgate.showing import hidden_at

MAX_DEPTH: Final = 8
"""Nesting; nothing that means anything is deeper than two."""
_TAG: Final = "tag:yaml.org,2002:"
_TAGS: Final = frozenset(
    {"null", "bool", "int", "float", "str", "timestamp", "value", "merge", "seq", "map"}
)
"""What the parser gives a value by itself."""

Value: TypeAlias = "str | bool | int | float | tuple[Written, ...] | Mapping[str, Written] | None"


class Written(msgspec.Struct, frozen=True):
    """One value as it was written, and where."""

    value: Value
    """Text, a switch, a number, nothing, a list or a mapping; a date is text."""
    line: int
    """Of the file, counted from 1."""
    column: int

    def __repr__(self) -> str:
        return f"<Written {self.kind}, line {self.line}>"

    @property
    def kind(self) -> str:
        """What it is, in words that show nothing of its value."""
        match self.value:
            case str():
                return "text"
            case bool():
                return "a switch"
            case int() | float():
                return "a number"
            case None:
                return "nothing"
            case tuple():
                return "a list"
            case _:
                return "a mapping"


def read_front_matter(text: str, path: Path) -> Written:
    """The mapping between the fences; its first line is the second of the file.

    Raises `ConfigError` with everything that is wrong with it as YAML.
    """
    from ruamel.yaml import YAML  # who has no definitions loads no parser
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    problem: Problem
    try:
        loader: Any = YAML(typ="safe", pure=True)
        root = loader.compose(text)
    except MarkedYAMLError as error:
        problem = _syntax(error, path)
    except (RecursionError, YAMLError, ValueError, IndexError, AttributeError, TypeError):
        # The parser trips over some malformed escapes and directives instead of reporting them.
        problem = Problem("its front matter is not YAML", file=path)
    except AssertionError:
        problem = Problem("its front matter is not YAML", file=path)
    else:
        if root is None:
            return Written({}, 2, 1)
        builder = _Builder(path)
        built = builder.built(root, "", 0)
        if not builder.problems and not isinstance(built.value, Mapping):
            builder.wrong(root, "", "its front matter must be keys with values", "write name: ...")
        if builder.problems:
            raise ConfigError(*builder.problems)
        return built
    # Outside the handler: the parser's own error quotes the line.
    raise ConfigError(problem)


def told_hidden(char: str) -> tuple[str, str]:
    """What is said of a character that hides, and what to do."""
    return f"holds the character U+{ord(char):04X}, which nobody sees", "take it out"


def _syntax(error: Any, path: Path) -> Problem:
    mark = error.problem_mark or error.context_mark
    message = " ".join(str(part) for part in (error.problem, error.context) if part)
    hint = None
    if "mapping values are not allowed" in message:
        message, hint = "a second colon in one line", "put a text that holds a colon in quotes"
    elif "cannot start any token" in message or "expected alphabetic" in message:
        hint = "put a text that begins with a special character in quotes"
    line = column = None
    if mark is not None:
        line, column = int(mark.line) + 2, int(mark.column) + 1
    return Problem(message or "is not YAML", "", path, line, column, hint)


class _Builder:
    """Turns the parser's nodes into values, and collects what is wrong on the way."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[Problem] = []

    def built(self, node: Any, key: str, depth: int) -> Written:
        line, column = int(node.start_mark.line) + 2, int(node.start_mark.column) + 1
        if getattr(node, "anchor", None) is not None:
            self.wrong(node, key, "an anchor (&) is not allowed", "repeat the value")
            return Written(None, line, column)  # each alias is this node: nothing may blow up
        if str(node.tag).removeprefix(_TAG) not in _TAGS:
            self.wrong(node, key, "a tag (!) is not allowed", "put a text with ! in quotes")
        if depth > MAX_DEPTH:
            self.wrong(node, key, "is nested too deeply", None)
            return Written(None, line, column)
        if node.id == "sequence":
            items = (
                self.built(item, f"{key}[{n}]", depth + 1) for n, item in enumerate(node.value)
            )
            return Written(tuple(items), line, column)
        if node.id == "mapping":
            return Written(self._entries(node, key, depth), line, column)
        text = self._seen(node, key)
        return Written(_scalar(str(node.tag).removeprefix(_TAG), text), line, column)

    def _entries(self, node: Any, path: str, depth: int) -> Mapping[str, Written]:
        entries: dict[str, Written] = {}
        for key, value in node.value:
            if key.id != "scalar" or key.tag == f"{_TAG}merge":
                self.wrong(key, path, "a key must be a word", None)
                continue
            word = self._seen(key, path)
            inner = f"{path}.{word}" if path else word
            if word in entries:
                self.wrong(key, inner, "stands twice", None)
            else:
                entries[word] = self.built(value, inner, depth + 1)
        return entries

    def _seen(self, node: Any, key: str) -> str:
        """The text of a scalar. What an escape in it stands for is seen by nobody either."""
        text = str(node.value)
        if (at := hidden_at(text)) is not None:
            self.wrong(node, key, *told_hidden(text[at]))
        return text

    def wrong(self, node: Any, key: str, message: str, hint: str | None) -> None:
        """Note what is wrong at `node`."""
        line, column = int(node.start_mark.line) + 2, int(node.start_mark.column) + 1
        self.problems.append(Problem(message, key, self._path, line, column, hint))


def _scalar(tag: str, text: str) -> str | bool | int | float | None:
    try:
        match tag:
            case "null":
                return None
            case "bool" if text.lower() in ("true", "false"):
                return text.lower() == "true"
            case "int":
                return int(text) if len(text) < 20 else text
            case "float":
                return float(text)
            case _:
                return text
    except ValueError:
        return text
