"""The keys of declared hooks: events, groups, and the three types of handlers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from lockgate.hooks.event import HookEvent
from lockgate.hooks.hook import TIMEOUT
from lockgate.settings.entries import Environment, Nested
from lockgate.settings.hook_kinds import (
    Groups,
    Handlers,
    HookAddress,
    HookHeaders,
    HookProgram,
    TemplateKind,
    Variables,
)
from lockgate.settings.kinds import Argument, Choice, Duration, Many, Text
from lockgate.settings.reading import Key, Section

_NOTHING: Final = MappingProxyType[str, str]({})
_ARGS_HINT: Final = "write one argument an item: [--strict, src]"

_COMMON: Final = (
    Key(
        "name",
        Text(),
        None,
        "what it runs",
        "What reasons, records and logs call it.",
    ),
    Key(
        "timeout",
        Duration(),
        TIMEOUT,
        "30s",
        "How long one run may take. Overrunning it is a failure.",
        expands=True,
    ),
    Key(
        "onError",
        Choice(
            MappingProxyType({"allow": False, "deny": True}),
            MappingProxyType(
                {
                    "warn": "write allow: a failure is a warning, and on",
                    "ignore": "write allow: a failure is a warning, and on",
                    "block": "write deny: a failure refuses",
                    "fail": "write deny: a failure refuses",
                }
            ),
            "allow | deny",
        ),
        False,
        "allow",
        "What a failure means: a warning and on, or a refusal. A hook that guards says `deny`.",
    ),
)


def _type(word: str) -> Key:
    words = MappingProxyType({word: word})
    return Key("type", Choice(words, _NOTHING, word), None, "required", "What kind of hook it is.")


COMMAND_HOOK: Final = Section(
    "hooks.EVENT[].hooks[] with type: command",
    "A program. The event is one line of JSON on its standard input. Exit code 0: what it writes to"
    " standard output is the answer, if it is a JSON object; exit code 2: a veto, standard error"
    " says why; any other: a failure.",
    (
        _type("command"),
        Key(
            "command",
            HookProgram(),
            None,
            "required",
            "The program: a bare name is looked up in PATH, a path is relative to this file. It"
            " runs in the project's directory. No shell reads it, and nothing in it is a template.",
            expands=True,
        ),
        Key(
            "args",
            Many(Argument(), "list of text", unique=False, hint=_ARGS_HINT),
            (),
            "[]",
            "Its arguments, handed on as they are.",
            expands=True,
        ),
        Key(
            "env",
            Environment(),
            MappingProxyType({}),
            "{}",
            "Environment variables, on top of the few that every program gets. Put secrets in as"
            " `${NAME}`.",
            expands=True,
        ),
        *_COMMON,
    ),
    also_called=MappingProxyType({"arguments": "args", "environment": "env", "cmd": "command"}),
    told=MappingProxyType(
        {"cwd": "it runs in the project's directory", "shell": "no shell reads it; name one"}
    ),
)

HTTP_HOOK: Final = Section(
    "hooks.EVENT[].hooks[] with type: http",
    "An endpoint that the event is posted to, as JSON. Its answer, if there is a body, is a JSON"
    " object; a status other than 2xx is a failure, a redirect among them.",
    (
        _type("http"),
        Key(
            "url",
            HookAddress(),
            None,
            "required",
            "Where it is; this machine and the local network are fine. No proxy is used.",
            expands=True,
        ),
        Key(
            "headers",
            HookHeaders(),
            MappingProxyType({}),
            "{}",
            "Headers of every request. Secrets only as `${NAME}`.",
            expands=True,
        ),
        Key(
            "body",
            TemplateKind(),
            None,
            "the event",
            "What is posted in the place of the event, with templates.",
        ),
        *_COMMON,
    ),
    also_called=MappingProxyType({"address": "url", "uri": "url", "data": "body", "json": "body"}),
    told=MappingProxyType({"method": "take it out: a hook is always posted to"}),
)

TOOL_HOOK: Final = Section(
    "hooks.EVENT[].hooks[] with type: mcp_tool",
    "A tool of a configured server, called down the same road as every call: deny rules and the"
    " ceiling hold, nobody is asked, no hooks run for it. Declaring it here is the answer for"
    " exactly this tool. If policy refuses its call, what it was to decide about is refused.",
    (
        _type("mcp_tool"),
        Key("server", Text(), None, "required", "The configured server."),
        Key("tool", Text(), None, "required", "The tool, by the name the server gives it."),
        Key(
            "args",
            TemplateKind("mapping with templates", object_only=True),
            None,
            "{}",
            "Its arguments, with templates.",
        ),
        *_COMMON,
    ),
    also_called=MappingProxyType({"arguments": "args", "input": "args", "name_of_tool": "tool"}),
)

HANDLERS: Final[Mapping[str, Section]] = MappingProxyType(
    {"command": COMMAND_HOOK, "http": HTTP_HOOK, "mcp_tool": TOOL_HOOK}
)

GROUP: Final = Section(
    "hooks.EVENT[]",
    "Which calls the hooks below are about, and the hooks.",
    (
        Key(
            "matcher",
            Text(),
            None,
            "every call",
            "The calls, as in a permission rule without other keys. Only of events that are about a"
            " call: pre_tool, post_tool, permission_request, permission_denied.",
        ),
        Key("hooks", Handlers(), None, "required", "What runs: sections by `type`, see below."),
    ),
)

_DOCS: Final[Mapping[HookEvent, str]] = {
    HookEvent.SESSION_START: "A session begins. Told, no more.",
    HookEvent.SESSION_END: "A session has ended. Told, no more.",
    HookEvent.TURN_START: "A prompt is about to be worked on. May refuse it.",
    HookEvent.TURN_STOP: "A turn has ended. Told, no more.",
    HookEvent.PRE_TOOL: "A call is about to be decided. May refuse it, have it asked about, or"
    " rewrite its arguments; never allow what is not allowed.",
    HookEvent.POST_TOOL: "A call has its result. May add to it, or replace what is shown.",
    HookEvent.PERMISSION_REQUEST: "A question is about to be put. May refuse in its place.",
    HookEvent.PERMISSION_DENIED: "A call is refused. Told, no more.",
    HookEvent.SUBAGENT_START: "A sub-agent is about to begin. May refuse it.",
    HookEvent.SUBAGENT_STOP: "A sub-agent has ended. Told, no more.",
    HookEvent.CONFIG_RELOAD: "The configuration was read again. May refuse that it is taken.",
}

HOOKS: Final = Section(
    "hooks",
    "What runs beside the agent, and may object. A hook makes things stricter, never looser. The"
    " hooks of all layers are joined. See [hooks](hooks.md).",
    tuple(
        Key(event.value, Groups(event, GROUP, HANDLERS), (), "[]", _DOCS[event], empty=True)
        for event in HookEvent
    ),
    also_called=MappingProxyType(
        {
            "PreToolUse": "pre_tool",
            "PostToolUse": "post_tool",
            "UserPromptSubmit": "turn_start",
            "Stop": "turn_stop",
            "beforeTool": "pre_tool",
            "afterTool": "post_tool",
        }
    ),
)

HOOK_KEYS: Final = (
    Key("hooks", Nested(HOOKS), MappingProxyType({}), "empty", HOOKS.doc, empty=True),
    Key(
        "hookVariables",
        Variables(),
        (),
        "[]",
        "The variables of your environment that templates of hooks may use, as `{{env.NAME}}`.",
        empty=True,
    ),
)
"""Keys of the whole file."""
