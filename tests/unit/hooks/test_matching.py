"""Matchers in the grammar of permission rules, asked what a deny rule is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lockgate.calls.resolving import resolve
from lockgate.errors import ConfigError
from lockgate.hooks.event import HookEvent
from lockgate.hooks.matching import Matchers, parse_matcher
from lockgate.hooks.registry import Hooks
from lockgate.rules.about import AboutTool
from lockgate.rules.places import Places
from lockgate.testing.hook import ScriptedHook
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment
from lockgate.tools.registry import Registered, Registry
from lockgate.tools.subject import Subject, SubjectKind, Subjects
from lockgate.tools.tool import Tool

PRE = HookEvent.PRE_TOOL
CLOSED = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "n": {"type": "integer"}},
    "additionalProperties": False,
}


def registered(tool: Tool) -> Registered:
    """`tool` as decisions read it."""
    registry = Registry()
    registry.register(tool)
    found = registry.snapshot().get(tool.name)
    assert found is not None
    return found


BASH = registered(ScriptedTool("Bash", subjects=(Subject(SubjectKind.COMMAND, "command"),)))
WRITE = registered(
    ScriptedTool("Write", subjects=(Subject(SubjectKind.PATH, "path", writes=True),))
)
GREP = registered(ScriptedTool("Grep", subjects=(Subject(SubjectKind.PATH, "path"),)))
REMOTE = registered(ScriptedTool("read.file", server="files", input_schema=CLOSED))


def matches(matcher: str | None, tool: Registered, arguments: dict[str, Any]) -> bool:
    """Whether a hook with `matcher` is told of the call."""

    def resolved(about: AboutTool) -> Subjects:
        environment = Environment(Path("/"), roots=(Path("/"),))
        return resolve(tool, about, arguments, environment)

    matchers = Matchers(Hooks([ScriptedHook().on(PRE, matcher)]))
    return bool(matchers.matching(PRE, tool, arguments, resolved))


@pytest.mark.parametrize(
    ("matcher", "line", "expected"),
    [
        ("Bash(git push:*)", "git push origin main", True),
        ("Bash(git push:*)", "git status", False),
        ("Bash(git push:*)", "ls && (cd x; git push)", True),
        ("Bash(git push:*)", "ls > out", False),
        ("Bash(git push:*)", "$cmd push", True),
        ("Bash(git push:*)", "if (", True),
        ("Bash(git push:*)", "echo " + "x" * 100_000, True),
        ("Bash", "ls", True),
        (None, "ls", True),
        ("Write", "ls", False),
        ("mcp__files__*", "ls", False),
    ],
)
def test_a_command_matches_wherever_it_hides(
    matcher: str | None, line: str, expected: bool
) -> None:
    """As a deny rule would mean it: in any part of the line, and where it only may be meant."""
    assert matches(matcher, BASH, {"command": line}) is expected


@pytest.mark.parametrize(
    ("matcher", "tool", "path", "expected"),
    [
        ("Write(/etc/**)", WRITE, "/etc/hosts", True),
        ("Write(/etc/**)", WRITE, "/etc/../etc/x/y", True),
        ("Write(/etc/**)", WRITE, "/tmp/x", False),  # noqa: S108 - a path that is not opened
        ("Write(etc/**)", WRITE, "/etc/hosts", True),
        ("Read(/etc/**)", GREP, "/etc", True),
        ("Write(path=path:/etc/**)", WRITE, "/etc/hosts", True),
        ("mcp__files__read.file(path=path:/etc/**)", REMOTE, "/etc/hosts", True),
        ("mcp__files__read.file(path=path:/etc/**)", REMOTE, "/home/x", False),
        ("mcp__files__read.file(path=*.txt)", REMOTE, "a.txt", True),
        ("mcp__files__read.file(path=*.txt)", REMOTE, "a.md", False),
    ],
)
def test_paths_match_by_where_they_lead(
    matcher: str, tool: Registered, path: str, expected: bool
) -> None:
    """Also those in the arguments of a server's tool."""
    assert matches(matcher, tool, {"path": path}) is expected


@pytest.mark.parametrize("tool", ["Grep", "Glob"])
@pytest.mark.parametrize(
    ("matcher", "where", "expected"),
    [
        ("Read(**/*.key)", "", True),
        ("Read(**/*.key)", "d", True),
        ("Read(**/*.key)", "d/tls.key", True),
        ("Read(**/*.key)", "d/a.txt", False),
        ("Read(d/secret/a)", "", True),
        ("Read(d/secret/a)", "e", False),
        ("OWN(d/secret/*)", "d", True),
        ("OWN(d/secret/*)", "e", False),
        ("Write(**/*.key)", "d", False),
    ],
)
def test_a_search_matches_where_it_may_come_upon_what_is_meant(
    tmp_path: Path, tool: str, matcher: str, where: str, expected: bool
) -> None:
    """A deny rule of that text keeps such files from it; a hook is told of it instead."""
    for directory in ("d", "e"):
        (tmp_path / directory).mkdir()
    for name in ("tls.key", "a.txt"):
        (tmp_path / "d" / name).touch()
    searching = registered(ScriptedTool(tool, subjects=(Subject(SubjectKind.PATH, "path"),)))
    arguments = {"path": str(tmp_path / where)}
    environment = Environment(tmp_path, roots=(tmp_path,))
    read = parse_matcher(matcher.replace("OWN", tool), places=Places(str(tmp_path)))
    matchers = Matchers(Hooks([replace(ScriptedHook().on(PRE), matcher=read)]))
    found = matchers.matching(
        PRE, searching, arguments, lambda about: resolve(searching, about, arguments, environment)
    )
    assert bool(found) is expected


@pytest.mark.parametrize(
    ("matcher", "expected"),
    [
        ("mcp__files", True),
        ("mcp__files__*", True),
        ("mcp__files__read.file", True),
        ("mcp__files__read_file", REMOTE.name == "mcp__files__read_file"),
        (REMOTE.name, True),
        ("mcp__file__*", False),
        ("mcp__files__write", False),
    ],
)
def test_a_remote_tool_matches_by_either_name(matcher: str, expected: bool) -> None:
    """The original one and the registered one."""
    assert matches(matcher, REMOTE, {}) is expected


@pytest.mark.parametrize(
    ("matcher", "arguments", "expected"),
    [
        ("mcp__files__read.file(n=3)", {"n": 3}, True),
        ("mcp__files__read.file(n=3)", {"n": 4}, False),
        ("mcp__files__read.file(n=3)", {}, False),
        ("mcp__files__read.file(m=3)", {"n": 4}, True),
    ],
)
def test_parameters_match_and_one_the_tool_has_not_matches_all(
    matcher: str, arguments: dict[str, Any], expected: bool
) -> None:
    """A matcher that can not be bound holds for every call of its tool, as a deny rule does."""
    assert matches(matcher, REMOTE, arguments) is expected


def test_what_can_not_be_evaluated_matches() -> None:
    """A hook that guards is rather asked once too often."""

    def broken(about: AboutTool) -> Subjects:
        raise RuntimeError(about)

    matchers = Matchers(Hooks([ScriptedHook().on(PRE, "Write(/etc/**)")]))
    assert matchers.matching(PRE, WRITE, {"path": "/x"}, broken)


def test_whatever_the_arguments_those_that_may_match_are_named() -> None:
    """For an explanation of a tool."""
    names = ["Write(/etc/**)", "Write", "Bash", "Bash(ls)"]
    hooks = Hooks([ScriptedHook().on(PRE, name, name=name) for name in names])
    found = Matchers(hooks).possible(PRE, WRITE)
    assert [hook.name for hook in found] == names[:2]


def test_replaced_hooks_are_matched_anew() -> None:
    """After a reload the old matchers count no more."""
    hooks = Hooks([ScriptedHook().on(PRE, "Bash")])
    matchers = Matchers(hooks)
    assert matchers.possible(PRE, BASH)
    hooks.replace([ScriptedHook().on(PRE, "Write")])
    assert not matchers.possible(PRE, BASH)
    assert matchers.possible(PRE, WRITE)


def test_a_tool_that_came_anew_is_bound_anew() -> None:
    """A name may have other parameters the next time."""
    matchers = Matchers(Hooks([ScriptedHook().on(PRE, "mcp__files__read.file(n=3)")]))
    nothing = Subjects()
    assert not matchers.matching(PRE, REMOTE, {"n": 4}, lambda about: nothing)
    schema = {**CLOSED, "properties": {}}
    other = registered(ScriptedTool("read.file", server="files", input_schema=schema))
    assert matchers.matching(PRE, other, {"n": 4}, lambda about: nothing)


@pytest.mark.parametrize("text", ["", "Bash(", "Bash()", "Bash(git*)", "mcp__a__*(x=1)", 3, None])
def test_a_matcher_that_can_not_be_read_is_an_error(text: Any) -> None:
    """Where it stands and what is wrong, as for any rule."""
    with pytest.raises(ConfigError) as caught:
        parse_matcher(text, "lockgate.yaml:3 hooks", places=Places("/"))
    assert "lockgate.yaml:3 hooks" in str(caught.value)


def test_a_matcher_that_names_a_server_that_is_not_configured_is_an_error() -> None:
    """It would match nothing, and guard nothing."""
    with pytest.raises(ConfigError, match="git"):
        parse_matcher("mcp__gti__*", None, servers=["git"])
