"""Declared hooks as they are written: what is read, joined, and refused with its place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import Problem
from lockgate.hooks.declared.plan import CommandHandler, HttpHandler, ToolHandler
from lockgate.hooks.declared.template import parse_template
from lockgate.hooks.event import HookEvent
from lockgate.settings.config import Config
from lockgate.settings.hook_keys import HOOKS
from lockgate.settings.layers import locate
from lockgate.settings.loading import load, pending

Load = Callable[[str], Config]
Problems = Callable[[str], tuple[Problem, ...]]
PROGRAM: dict[str, Any] = {"type": "command", "command": "check"}


def text(*handlers: Any, event: str = "pre_tool", matcher: str | None = None, **more: Any) -> str:
    """A file with one group."""
    group = {"hooks": list(handlers)} | ({} if matcher is None else {"matcher": matcher})
    server = {"name": "guard", "command": "x"}
    return json.dumps({"mcp": {"servers": [server]}, "hooks": {event: [group]}, **more})


def test_every_event_has_a_key() -> None:
    """By the word that hooks are told."""
    assert HOOKS.names == tuple(event.value for event in HookEvent)


def test_a_program(load_text: Load, project: Path) -> None:
    """A path is relative to the file; nothing in its arguments is a template."""
    written = PROGRAM | {
        "command": "./check.py",
        "args": ["--x", "{{tool_input}}"],
        "env": {"A": "b"},
        "timeout": "5s",
        "onError": "deny",
        "name": "the checker",
    }
    [hook] = load_text(text(written, matcher="mcp__guard__*")).hooks
    assert hook.handler == CommandHandler(
        str(project / "check.py"), ("--x", "{{tool_input}}"), {"A": "b"}
    )
    assert (hook.event, hook.name, hook.timeout) == (HookEvent.PRE_TOOL, "the checker", 5.0)
    assert hook.denies_on_error
    assert hook.says_on_error
    assert hook.matcher is not None
    assert (hook.matcher.server, hook.matcher.tool) == ("guard", None)
    assert hook.source is not None
    assert hook.source.endswith("lockgate.yaml:1 hooks.pre_tool[0].hooks[0]")


def test_a_list_is_a_program_with_its_arguments(load_text: Load) -> None:
    """The short form; what is left out has its default."""
    [hook] = load_text(text({"type": "command", "command": ["check", "a b"]})).hooks
    assert hook.handler == CommandHandler("check", ("a b",))
    assert (hook.name, hook.timeout, hook.denies_on_error) == ("check", 30.0, False)
    assert (hook.matcher, hook.says_on_error) == (None, False)


def test_an_endpoint(load_text: Load, environ: dict[str, str]) -> None:
    """Local addresses are fine; headers take references, the body takes templates."""
    environ["TOKEN"] = "hunter2"  # noqa: S105 - a secret to be hidden
    body = {"who": "{{env.TEAM}}", "n": "{{tool_input.n}}", "plain": [1, None, True, "${X}"]}
    written = {
        "type": "http",
        "url": "http://localhost:8080/hook",
        "headers": {"Authorization": "Bearer ${TOKEN}"},
        "body": body,
    }
    config = load_text(text(written, hookVariables=["TEAM"]))
    [hook] = config.hooks
    assert hook.handler == HttpHandler(
        "http://localhost:8080/hook", {"Authorization": "Bearer hunter2"}, parse_template(body)
    )
    assert hook.name == "localhost:8080"
    assert config.hook_variables == ("TEAM",)
    assert "hunter2" not in repr(config)


def test_a_tool(load_text: Load) -> None:
    """Its arguments are templates, and need not be there."""
    args = {"call": "{{tool_input}}"}
    written = {"type": "mcp_tool", "server": "guard", "tool": "check"}
    first, second = load_text(text(written, written | {"args": args})).hooks
    assert first.handler == ToolHandler("guard", "check")
    assert second.handler == ToolHandler("guard", "check", parse_template(args))
    assert first.name == "guard: check"


def test_hooks_of_layers_are_joined(project: Path, environ: dict[str, str]) -> None:
    """A later layer adds hooks and takes none away; so do the variables."""
    person = project.parent / "home" / ".config" / "lockgate" / "config.yaml"
    person.parent.mkdir(parents=True)
    person.write_text(text(PROGRAM | {"name": "mine"}, hookVariables=["A", "B"]))
    file = project / "lockgate.yaml"
    file.write_text(text(PROGRAM | {"name": "its"}, hookVariables=["B", "C"]))
    config = load(locate(project, environ, file), environ)
    assert [hook.name for hook in config.hooks] == ["mine", "its"]
    assert config.hook_variables == ("A", "B", "C")


def test_a_persons_own_hook_may_name_any_server(project: Path, environ: dict[str, str]) -> None:
    """It holds for many projects: where there is none of that name the hook fails when it runs."""
    person = project.parent / "home" / ".config" / "lockgate" / "config.yaml"
    person.parent.mkdir(parents=True)
    written = {"type": "mcp_tool", "server": "elsewhere", "tool": "check"}
    person.write_text(json.dumps({"hooks": {"turn_stop": [{"hooks": [written]}]}}))
    [hook] = load(locate(project, environ), environ).hooks
    assert hook.handler == ToolHandler("elsewhere", "check")


@pytest.mark.parametrize(
    ("written", "path", "message", "hint"),
    [
        (PROGRAM | {"type": "comand"}, "type", "unknown type 'comand'", "did you mean command"),
        (PROGRAM | {"type": "webhook"}, "type", "unknown type", "write http"),
        ({"command": "x"}, "", "has no type", "type: command | http | mcp_tool"),
        (PROGRAM | {"onErr": "deny"}, "onErr", "unknown key 'onErr'", "did you mean onError"),
        (PROGRAM | {"onError": "block"}, "onError", "can not be used", "write deny"),
        (PROGRAM | {"timeout": "2h"}, "timeout", "over the bound of 3600s", "1h or less"),
        (PROGRAM | {"url": "http://x"}, "url", "unknown key 'url'", None),
        (PROGRAM | {"command": "a b"}, "command", "white space", "args"),
        (PROGRAM | {"command": ["a", "b"], "args": ["c"]}, "args", "beside a command", "one of"),
        ({"type": "command"}, "", "needs command", None),
        ({"type": "http"}, "", "needs url", None),
        ({"type": "mcp_tool", "tool": "x"}, "", "needs server", None),
        ({"type": "mcp_tool", "server": "gard", "tool": "x"}, "server", "no server", "guard"),
        ({"type": "http", "url": "x"}, "url", "no absolute address", None),
        ({"type": "http", "url": "http://{{x}}/"}, "url", "no template", "write ${NAME}"),
        ({"type": "http", "url": "http://169.254.169.254/"}, "url", "link-local", None),
        (
            {"type": "http", "url": "http://x.com", "headers": {"A": "{{env.B}}"}},
            "headers.A",
            "no template",
            "write ${NAME}",
        ),
        (
            {"type": "http", "url": "http://x.com", "headers": {"Authorization": "Bearer abc"}},
            "headers.Authorization",
            "holds a secret",
            "variable",
        ),
        ({"type": "http", "url": "http://x.com", "method": "PUT"}, "method", "unknown", "posted"),
        (
            {"type": "http", "url": "http://x.com", "body": {"a": ["{{env.HOME}}"]}},
            "body.a[0]",
            "no variable that hooks may use",
            "hookVariables: [HOME]",
        ),
        (
            {"type": "mcp_tool", "server": "guard", "tool": "x", "args": {"a": {"b": "{{foo}}"}}},
            "args.a.b",
            "begins with none of",
            "{{tool_input.NAME}}",
        ),
        (
            {"type": "mcp_tool", "server": "guard", "tool": "x", "args": ["a"]},
            "args",
            "must be a mapping",
            None,
        ),
    ],
)
def test_a_handler_that_can_not_be_used(
    problems_of: Problems, written: Any, path: str, message: str, hint: str | None
) -> None:
    """Told with file, line and key path, and the nearest spelling."""
    [problem] = problems_of(text(written))
    assert problem.path == f"hooks.pre_tool[0].hooks[0]{'.' if path else ''}{path}"
    assert problem.line == 1
    assert message in problem.message
    assert (hint or "") in (problem.hint or "")
    assert "abc" not in str(problem)


GROUPS: list[Any] = [
    ({"pre_tol": []}, "pre_tol", "unknown key", "did you mean pre_tool"),
    ({"PreToolUse": []}, "PreToolUse", "unknown key", "write pre_tool"),
    ({"pre_tool": {}}, "pre_tool", "must be a list", "matcher"),
    ({"pre_tool": ["x"]}, "pre_tool[0]", "must be a mapping", None),
    ({"pre_tool": [PROGRAM]}, "pre_tool[0]", "outside of a group", "matcher"),
    ({"pre_tool": [{}]}, "pre_tool[0]", "has no hooks", None),
    ({"pre_tool": [{"hooks": []}]}, "pre_tool[0].hooks", "is empty", None),
    ({"pre_tool": [{"hooks": [3]}]}, "pre_tool[0].hooks[0]", "must be a mapping", None),
    (
        {"pre_tool": [{"matcher": "*", "hooks": [PROGRAM]}]},
        "pre_tool[0].matcher",
        "is no rule",
        "leave it out",
    ),
    (
        {"pre_tool": [{"matcher": "mcp__gard__*", "hooks": [PROGRAM]}]},
        "pre_tool[0].matcher",
        "names the server 'gard'",
        "did you mean guard",
    ),
    (
        {"pre_tool": [{"matcher": "Bash(", "hooks": [PROGRAM]}]},
        "pre_tool[0].matcher",
        "the rule 'Bash('",
        None,
    ),
    (
        {"turn_start": [{"matcher": "Bash", "hooks": [PROGRAM]}]},
        "turn_start[0].matcher",
        "is about no tool",
        "take it out",
    ),
]


@pytest.mark.parametrize(("section", "path", "message", "hint"), GROUPS)
def test_a_group_that_can_not_be_used(
    problems_of: Problems, section: Any, path: str, message: str, hint: str | None
) -> None:
    """Likewise."""
    servers = [{"name": "guard", "command": "x"}]
    [problem] = problems_of(json.dumps({"mcp": {"servers": servers}, "hooks": section}))
    assert problem.path == f"hooks.{path}"
    assert message in problem.message
    assert (hint or "") in (problem.hint or "")


def test_everything_wrong_is_told_at_once(problems_of: Problems) -> None:
    """A bad matcher does not hide a bad handler."""
    wrong = text(PROGRAM | {"type": "x"}, {"type": "http"}, matcher="*", hookVariables=["a-b"])
    assert len(problems_of(wrong)) == 4


def test_the_answers_hold_no_hooks(project: Path, environ: dict[str, str]) -> None:
    """Answers start nothing."""
    layers = locate(project, environ)
    layers.answers.parent.mkdir(parents=True)
    layers.answers.write_text(json.dumps({"hooks": {}}))
    with pytest.raises(Exception, match="unknown key 'hooks'"):
        load(layers, environ)


def test_what_hooks_would_do_is_told_before_they_are_accepted(
    project: Path, environ: dict[str, str]
) -> None:
    """In full: programs with their arguments, what is posted where, what is called with what; of
    secrets the references (B-13)."""
    handlers = (
        PROGRAM | {"args": ["--strict", "x"], "env": {"KEY": "${KEY}"}},
        {
            "type": "http",
            "url": "https://example.com/hook",
            "headers": {"Authorization": "Bearer ${TOKEN}", "X-Team": "k"},
            "body": {"a": "{{tool_input.a}}"},
        },
        {"type": "http", "url": "https://example.com/other"},
        {"type": "mcp_tool", "server": "guard", "tool": "check", "args": {"c": "{{tool_input}}"}},
    )
    file = project / "lockgate.yaml"
    file.write_text(text(*handlers, matcher="mcp__guard__*", hookVariables=["TEAM"]))
    waiting = pending(locate(project, environ))
    assert waiting is not None
    told = " ".join(" ".join(waiting.summary).replace("  | ", "").split())
    for part in (
        'a hook before calls of "mcp__guard__*" (pre_tool): check, with 2 arguments: ',
        "1. --strict 2. x",
        "env: KEY=${KEY}",
        "https://example.com/hook",
        "header Authorization: Bearer ${TOKEN}",
        'posting "{\\"a\\":\\"{{tool_input.a}}\\"}"',
        "posting the event, arguments in full",
        'call check of guard before calls of "mcp__guard__*" (pre_tool)',
        '"{\\"c\\":\\"{{tool_input}}\\"}", WITHOUT ASKING YOU',
        "let hooks use variables of your environment: TEAM",
    ):
        assert part in told, told
    assert "X-Team: k" not in told
