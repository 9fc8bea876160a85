"""A sub-agent's definition from its Markdown file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lockgate.agent.definitions.document import Document
from lockgate.agent.definitions.fields import Fields
from lockgate.agent.models.named import SCRIPTED, read_name
from lockgate.agent.subagents.definition import MAX_DESCRIPTION, AgentDefinition
from lockgate.errors import ConfigError, Problem
from lockgate.rules.pattern import PatternError, parse_pattern
from lockgate.traits import SideEffectLevel

MAX_ITERATIONS: Final = 10_000
MAX_SECONDS: Final = 86_400
MAX_TOKENS: Final = 1_000_000_000

_INHERIT: Final = "inherit"
"""What other programs write for the model of the parent."""
_CEILINGS: Final[Mapping[str, SideEffectLevel]] = MappingProxyType(
    {"read-only": SideEffectLevel.READ_ONLY, "mutating": SideEffectLevel.MUTATING}
)
_TOLD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "disallowedTools": "name the tools it may have: tools: [Read, Grep]; deny rules hold for"
        " sub-agents too",
        "permissionMode": "answers are given by rules and people, never by a definition; to have it"
        " only read: ceiling: read-only",
        "maxTurns": "write limits: {iterations: 20}",
        "hooks": "hooks stand in the configuration and hold for sub-agents too",
        "mcpServers": "servers stand in the configuration, under mcp; name their tools in tools",
        "background": "whoever starts it says so: Task has an argument background",
        "color": "colors have no meaning here: take it out",
        "skills": "a sub-agent asks for skills as its parent does: offer it Skill in tools",
    }
)


def read_definition(document: Document) -> AgentDefinition:
    """The sub-agent that a document defines.

    Raises `ConfigError` with everything that is wrong with it: unknown keys, a tool that can not be
    read, no instructions.
    """
    fields = Fields(document, told=_TOLD)
    name = fields.name()
    description = fields.text("description", most=MAX_DESCRIPTION, required=True) or ""
    tools = fields.names("tools")
    for text in tools or ():
        try:
            parse_pattern(text)
        except PatternError as error:
            message = f"{text!r} at character {error.position + 1} {error.message}"
            fields.wrong("tools", message, error.hint)
    model = _model(fields)
    ceiling = fields.choice("ceiling", _CEILINGS)
    limits = fields.section("limits")
    iterations = seconds = tokens = None
    if limits is not None:
        iterations = limits.whole("iterations", most=MAX_ITERATIONS)
        seconds = limits.whole("seconds", most=MAX_SECONDS)
        tokens = limits.whole("tokens", most=MAX_TOKENS)
    problems: tuple[Problem, ...] = ()
    try:
        fields.finish()
    except ConfigError as error:
        problems = error.problems
    if not document.body:
        hint = "write below the front matter what the sub-agent is told"
        empty = Problem("has no instructions", file=document.path, hint=hint)
        problems = (*problems, empty)
    if problems:
        raise ConfigError(*problems)
    return AgentDefinition(
        name,
        description,
        document.body,
        tools,
        ceiling,
        model,
        iterations,
        seconds,
        tokens,
        document.path,
    )


def _model(fields: Fields) -> str | None:
    """The model's name; the path of a script made absolute."""
    text = fields.text("model", most=200)
    if text is None or text == _INHERIT:
        return None
    try:
        provider, rest = read_name(text)
    except ConfigError:
        hint = "write provider:model, such as anthropic:claude-sonnet-4-5, or inherit"
        return fields.wrong("model", "names no usable model", hint)
    if provider != SCRIPTED:
        return text
    return f"{SCRIPTED}:{fields.path.absolute().parent / rest}"
