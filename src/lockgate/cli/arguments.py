"""Arguments of a tool on the command line: `key=value`, typed by the tool's own schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click

from lockgate.showing import visible


def parse_arguments(
    words: Sequence[str], given: Mapping[str, Any], schema: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The arguments of one call.

    `words` are `key=value` (typed by `schema`: text stays text, anything else is read as JSON where
    the schema wants it) or `key:=json` (read as JSON whatever the schema says); they are laid over
    what is `given` by `--input-json`. Raises `click.UsageError` naming the word.
    """
    arguments = dict(given)
    raw: object = (schema or {}).get("properties")
    properties = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
    seen: set[str] = set()
    for word in words:
        key, sep, value = word.partition("=")
        as_json = key.endswith(":")
        key = key.removesuffix(":")
        if not sep or not key:
            raise click.UsageError(f"{word.split('=')[0]!r} is not key=value (or key:=json)")
        if key in seen:
            raise click.UsageError(f"{key!r} is given twice; write a list as {key}:='[...]'")
        seen.add(key)
        arguments[key] = _json(key, value) if as_json else _typed(value, properties.get(key))
    return arguments


def _typed(value: str, schema: Any) -> Any:
    wanted = _types(schema)
    if not wanted or "string" in wanted:
        # Text is text: a schema that also admits numbers is served by key:=json.
        return value
    try:
        return _decoded(value)
    except (ValueError, RecursionError):
        return value  # the schema check says what is wrong, with the path


def _types(schema: Any) -> set[str]:
    if not isinstance(schema, dict):
        return set()
    node = cast("dict[str, Any]", schema)
    found: set[str] = set()
    declared = node.get("type")
    if isinstance(declared, str):
        found.add(declared)
    elif isinstance(declared, list):
        found.update(t for t in cast("list[Any]", declared) if isinstance(t, str))
    for word in ("anyOf", "oneOf"):
        branches = node.get(word)
        if isinstance(branches, list):
            for branch in cast("list[Any]", branches):
                found |= _types(branch)
    return found


def whole_words(*words: str) -> None:
    """Raise `click.UsageError` for a word that is no text: bytes that are not UTF-8."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise click.UsageError(f"{visible(word)!r} is not UTF-8") from None


def input_object(given: str | None) -> dict[str, Any]:
    """What `--input-json` gives: a JSON object, `@file`, or `-` for standard input; None is empty.

    Raises `click.UsageError` for anything else. Needs no tool, so it is read before any server is
    started.
    """
    if given is None:
        return {}
    text, source = given, "--input-json"
    try:
        if text == "-":
            text = sys.stdin.buffer.read().decode()
        elif text.startswith("@"):
            source = f"--input-json {visible(text)}"
            text = Path(text[1:]).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{source}: is not UTF-8, at byte {error.start}") from None
    except (OSError, ValueError) as error:  # a path may hold what no path can
        why = error.strerror if isinstance(error, OSError) else None
        raise click.UsageError(f"{source}: can not be read: {why or error}") from None
    value = _json(source, text)
    if not isinstance(value, dict):
        raise click.UsageError(f"{source}: must be a JSON object")
    return cast("dict[str, Any]", value)


def _json(key: str, text: str) -> Any:
    try:
        return _decoded(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise click.UsageError(f"{key}: not JSON: {error.msg} ({place})") from None
    except ValueError as error:
        raise click.UsageError(f"{key}: {error}") from None
    except RecursionError:
        raise click.UsageError(f"{key}: is nested too deeply") from None


def _decoded(text: str) -> Any:
    """The value of a JSON text. Half a surrogate pair is let through: the schema check names it.

    Raises ValueError, also for a key that stands twice in one object, as in every file that is
    read; RecursionError for what Python can not follow.
    """
    return json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"has the key {visible(twice)[:60]!r} twice in one object")
    return found


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no JSON number")
