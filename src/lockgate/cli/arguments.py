"""Arguments of a tool on the command line: `key=value`, typed by the tool's own schema."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click
import msgspec


def parse_arguments(
    words: Sequence[str], input_json: str | None, schema: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The arguments of one call.

    `words` are `key=value` (typed by `schema`: text stays text, anything else is read as JSON where
    the schema wants it) or `key:=json` (read as JSON whatever the schema says). `input_json` is a
    JSON object, `@file`, or `-` for standard input; words are laid over it. Raises
    `click.UsageError` naming the word.
    """
    arguments: dict[str, Any] = _object(input_json) if input_json is not None else {}
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
        return json.loads(value)
    except ValueError:
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


def _object(text: str) -> dict[str, Any]:
    if text == "-":
        text = sys.stdin.read()
    elif text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise click.UsageError(f"--input-json {text}: {type(error).__name__}") from None
    value = _json("--input-json", text)
    if not isinstance(value, dict):
        raise click.UsageError("--input-json must be a JSON object")
    return cast("dict[str, Any]", value)


def _json(key: str, text: str) -> Any:
    try:
        return msgspec.json.decode(text.encode())
    except (msgspec.DecodeError, UnicodeEncodeError) as error:
        raise click.UsageError(f"{key}: not JSON: {error}") from None
