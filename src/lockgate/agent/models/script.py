"""Reads the file of a scripted model. YAML (JSON is YAML too): a list of replies.

    - text: I look at the log first.
      calls:
        - tool: mcp__git__git_log
          arguments: {repo_path: .}
    - text: Three commits this week.

Each reply has `text`, `calls` or both; a call has `tool` and, unless it is empty, `arguments`.
`cutOff: true` is a reply that ended too early, `tokens` what a reply is said to have cost. What is
plain in YAML but no JSON value (a date) is text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from lockgate.agent.model import ModelReply, ToolCall, Usage
from lockgate.errors import ConfigError, Problem
from lockgate.schema.spelling import nearest
from lockgate.textfile import read_file, text_of

MAX_BYTES: Final = 1_000_000
_REPLY_KEYS: Final = ("text", "calls", "cutOff", "tokens")
_CALL_KEYS: Final = ("tool", "arguments")
_TAG: Final = "tag:yaml.org,2002:"

_Node: TypeAlias = Any
"""A node of ruamel's tree, which is untyped."""

_T = TypeVar("_T")


def read_script(path: Path) -> tuple[ModelReply, ...]:
    """The replies in a script file, in order.

    Raises `ConfigError` with everything that is wrong with it; values are not repeated there.
    """
    root = _compose(_read(path), path)
    reader = _Reader(path)
    replies = reader.replies(root)
    if reader.problems:
        raise ConfigError(*reader.problems)
    return replies


def _read(path: Path) -> str:
    data = read_file(path, limit=MAX_BYTES)
    if data is None:
        message = "the script can not be read: No such file or directory"
        raise ConfigError(Problem(message, file=path))
    return text_of(data, path)


def _compose(text: str, path: Path) -> _Node | None:
    try:
        loader: Any = YAML(typ="safe", pure=True)
        return loader.compose(text)
    except MarkedYAMLError as error:
        found: Any = error
        mark = found.problem_mark or found.context_mark
        line = int(mark.line) + 1 if mark is not None else None
        problem = Problem(str(found.problem or found.context), file=path, line=line)
    except RecursionError:
        problem = Problem("is nested too deeply", file=path)
    except (YAMLError, ValueError, IndexError, AttributeError, TypeError, AssertionError):
        # The parser trips over some malformed escapes and directives instead of reporting them.
        problem = Problem("is not YAML", file=path)
    raise ConfigError(problem)


class _Reader:
    """Turns nodes into replies, and collects what is wrong on the way."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[Problem] = []

    def replies(self, root: _Node | None) -> tuple[ModelReply, ...]:
        if root is None:
            self._wrong(None, "", "is empty", "write a list of replies")
            return ()
        items = self._items(root, "")
        return tuple(self._reply(item, f"[{n}]", n) for n, item in enumerate(items))

    def _reply(self, node: _Node, path: str, number: int) -> ModelReply:
        fields = self._fields(node, path, _REPLY_KEYS)
        if fields is not None and not ({"text", "calls"} & fields.keys()):
            self._wrong(node, path, "says nothing", "a reply has `text`, `calls` or both")
        fields = fields or {}
        calls = self._items(fields["calls"], f"{path}.calls") if "calls" in fields else []
        return ModelReply(
            text=self._scalar(fields, "text", path, str, "a text", ""),
            calls=tuple(
                self._call(call, f"{path}.calls[{n}]", f"scripted-{number}-{n}")
                for n, call in enumerate(calls)
            ),
            cut_off=self._scalar(fields, "cutOff", path, bool, "true or false", False),
            usage=Usage(output=self._tokens(fields, path)),
        )

    def _tokens(self, fields: dict[str, _Node], path: str) -> int:
        tokens = self._scalar(fields, "tokens", path, int, "a whole number", 0)
        if tokens < 0:
            self._wrong(fields["tokens"], f"{path}.tokens", "can not be negative", None)
        return tokens

    def _call(self, node: _Node, path: str, call_id: str) -> ToolCall:
        fields = self._fields(node, path, _CALL_KEYS)
        if fields is not None and "tool" not in fields:
            self._wrong(node, path, "names no tool", "a call has `tool` and `arguments`")
        fields = fields or {}
        tool = self._scalar(fields, "tool", path, str, "a name", "")
        arguments = self._scalar(fields, "arguments", path, dict, "a mapping", {})
        return ToolCall(call_id, tool, arguments)

    def _items(self, node: _Node, path: str) -> list[_Node]:
        if node.id == "sequence":
            return [] if self._anchored(node, path) else list(node.value)
        self._wrong(node, path, "must be a list", None)
        return []

    def _fields(self, node: _Node, path: str, known: tuple[str, ...]) -> dict[str, _Node] | None:
        """The entries of a mapping with known keys; None if it is no mapping."""
        if node.id != "mapping":
            self._wrong(node, path, "must be a mapping", f"with the keys {', '.join(known)}")
            return None
        fields = self._entries(node, path)
        for key, value in fields.items():
            if key not in known:
                near = nearest(key, known, limit=1)
                hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
                self._wrong(value, f"{path}.{key}", "unknown key", hint)
        return fields

    def _entries(self, node: _Node, path: str) -> dict[str, _Node]:
        entries: dict[str, _Node] = {}
        if self._anchored(node, path):
            return entries
        for key, value in node.value:
            if key.id != "scalar" or key.tag == f"{_TAG}merge":
                self._wrong(key, path, "a key must be a word", None)
            elif key.value in entries:
                self._wrong(key, f"{path}.{key.value}", "stands twice", None)
            else:
                entries[str(key.value)] = value
        return entries

    def _scalar(
        self,
        fields: dict[str, _Node],
        key: str,
        path: str,
        kind: type[_T],
        what: str,
        default: _T,
    ) -> _T:
        if key not in fields:
            return default
        value = self._value(fields[key], f"{path}.{key}")
        if type(value) is kind:
            return value
        self._wrong(fields[key], f"{path}.{key}", f"must be {what}", None)
        return default

    def _value(self, node: _Node, path: str) -> Any:
        """The JSON value that a node stands for."""
        if node.id == "mapping":
            entries = self._entries(node, path)
            return {key: self._value(value, f"{path}.{key}") for key, value in entries.items()}
        if node.id == "sequence":
            items = self._items(node, path)
            return [self._value(item, f"{path}[{n}]") for n, item in enumerate(items)]
        if self._anchored(node, path):
            return None
        text = str(node.value)
        convert = _SCALARS.get(str(node.tag).removeprefix(_TAG))
        try:
            return text if convert is None else convert(text)
        except ValueError:
            self._wrong(node, path, "is no value that JSON has", "put a text in quotes")
            return None

    def _anchored(self, node: _Node, path: str) -> bool:
        """Whether it has an anchor, which is wrong: each alias of it is this node, so that what is
        in it is not looked at, and nothing blows up."""
        if getattr(node, "anchor", None) is None:
            return False
        self._wrong(node, path, "an anchor (&) is not allowed", "repeat the value")
        return True

    def _wrong(self, node: _Node | None, path: str, message: str, hint: str | None) -> None:
        mark = getattr(node, "start_mark", None)
        line = 1 if mark is None else int(mark.line) + 1
        self.problems.append(Problem(message, path, self._path, line, hint=hint))


def _integer(text: str) -> int:
    digits = text.replace("_", "")
    return int(digits, 0) if digits.lstrip("+-")[:2].lower() in ("0x", "0o") else int(digits)


def _number(text: str) -> float:
    if "." in text and text.lstrip("+-").lower() in (".inf", ".nan"):
        raise ValueError("not finite")
    return float(text.replace("_", ""))


def _null(text: str) -> None:
    return None


_SCALARS: Final[Mapping[str, Callable[[str], object]]] = {
    "null": _null,
    "bool": lambda text: text.lower() == "true",
    "int": _integer,
    "float": _number,
}
"""By YAML tag; every other scalar is text."""
