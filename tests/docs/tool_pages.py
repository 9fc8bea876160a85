"""docs/tools.md, made of the declarations of lockgate's own tools. As a program, it prints it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lockgate.testing.own_tools import own_tools
from lockgate.tools.subject import Subject, SubjectKind
from lockgate.tools.tool import Tool
from lockgate.traits import ConcurrencyBehavior, InterruptBehavior

HEAD: Final = """\
# lockgate's own tools

Made from their declarations by `scripts/update-docs`; a test compares.

None of them is there until the configuration names it ([configuration](configuration.md)); no rule,
no server and no setting changes what is declared here. What a level means, and what follows from
it, is in [tools and verdicts](tools-and-verdicts.md); how they are used, in
[files](tools-in-tree.md), [commands](shell.md), [the web](web-fetch.md),
[resources](resources-and-prompts.md) and [notes and knowledge](notes-and-knowledge.md).

`-` stands where a tool that only reads has nothing to say: it destroys nothing, and may always be
run again. *overlaps* says whether several calls of it run at the same time, *interruptible* whether
an interrupted turn ends it at once; if not, it is waited for.

| tool | level | destructive | idempotent | overlaps | interruptible |
|---|---|---|---|---|---|
"""

AXES: Final = ("level", "destructive", "idempotent", "concurrent", "interruptible")
_NAMES: Final = {"concurrent": "overlaps"}
_SUBJECTS: Final = {
    SubjectKind.PATH: "a path ([patterns](paths.md))",
    SubjectKind.COMMAND: "a shell line ([patterns](shell.md#say-what-may-run))",
    SubjectKind.URL: "an address ([patterns](web-fetch.md))",
}


def declared(tool: Tool) -> dict[str, str]:
    """Each axis as a word."""
    return {
        "level": tool.side_effect_level.value,
        "destructive": _told(tool, tool.is_destructive),
        "idempotent": _told(tool, tool.is_idempotent),
        "concurrent": _yes(tool.concurrency_behavior is ConcurrencyBehavior.CONCURRENT_SAFE),
        "interruptible": _yes(tool.interrupt_behavior is InterruptBehavior.COOPERATIVE),
    }


def _told(tool: Tool, value: bool) -> str:
    return "-" if tool.is_read_only else _yes(value)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def page() -> str:
    """The whole document."""
    tools = own_tools()
    rows = "".join(
        f"| [`{tool.name}`](#{tool.name.lower()}) | {' | '.join(declared(tool).values())} |\n"
        for tool in tools
    )
    return HEAD + rows + "".join(map(_section, tools))


def _section(tool: Tool) -> str:
    definition = tool.definition
    words = declared(tool)
    reasons = "".join(
        f"| {_NAMES.get(axis, axis)} | {words[axis]} | {_cell(definition.origin.reasons[axis])} |\n"
        for axis in AXES
    )
    parts = [
        f"\n## {tool.name}\n\n{definition.title}.\n\n| axis | | why |\n|---|---|---|\n{reasons}\n",
        *_parameters(definition.input_schema, definition.subjects),
        "\nWhat the model is told:\n\n",
        *(f"> {line}\n" for line in definition.description.splitlines()),
    ]
    return "".join(parts)


def _parameters(schema: Mapping[str, Any], subjects: tuple[Subject, ...]) -> Iterator[str]:
    if not schema["properties"]:
        yield "It takes no arguments.\n"
        return
    kinds = {subject.parameter: _SUBJECTS[subject.kind] for subject in subjects}
    yield "| argument | kind | bounds | |\n|---|---|---|---|\n"
    required = schema.get("required", ())
    for name, about in schema["properties"].items():
        needed = "required" if name in required else ""
        bounds = "; ".join(filter(None, [needed, *_bounds(about)]))
        text = _cell(about["description"])
        yield f"| `{name}` | {_kind(about)} | {bounds} | {text} |\n"
    if kinds:
        listed = "; ".join(f"`{name}`, {kind}" for name, kind in kinds.items())
        yield f"\nSubjects of rules: {listed}. Rules speak of the other arguments by name.\n"
    else:
        yield "\nRules speak of its arguments by name.\n"


def _kind(about: Mapping[str, Any]) -> str:
    if "enum" in about:
        return ", ".join(f"`{word}`" for word in about["enum"])
    kind = about.get("type", "any")
    if kind == "array" and "properties" in about["items"]:
        members = (f"`{name}`: {_kind(one)}" for name, one in about["items"]["properties"].items())
        return f"list of objects ({'; '.join(members)})"
    if kind == "array":
        return f"list: {_kind(about['items'])}"
    words = {"integer": "whole number", "boolean": "true, false", "string": "text"}
    return words.get(kind, str(kind))


def _bounds(about: Mapping[str, Any]) -> Iterator[str]:
    for low, high, unit in (
        ("minimum", "maximum", ""),
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " items"),
    ):
        least, most = about.get(low), about.get(high)
        if least is not None and most is not None:
            yield f"{least:,} to {most:,}{unit}"
        elif most is not None:
            yield f"at most {most:,}{unit}"
        elif least is not None and not (low == "minLength" and least == 1):
            yield f"at least {least:,}{unit}"
        elif least is not None:
            yield "not empty"
    if "default" in about:
        yield f"default {about['default']:,}" if _number(about) else f"default `{about['default']}`"


def _number(about: Mapping[str, Any]) -> bool:
    return isinstance(about["default"], int) and not isinstance(about["default"], bool)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(page())
