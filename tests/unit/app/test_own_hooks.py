"""Hooks that a program hands in: read where rules are, before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.app.own_hooks import own_hooks
from lockgate.errors import ConfigError, LocalError
from lockgate.hooks.event import HookEvent
from lockgate.hooks.hook import Hook
from lockgate.rules.path import PathPattern
from lockgate.rules.rule import Rule
from lockgate.settings.config import Config
from lockgate.testing.hook import ScriptedHook
from lockgate.testing.project import Project
from lockgate.testing.script import ECHO, ScriptedServer
from lockgate.tools.subject import ResolvedPath

PRE = HookEvent.PRE_TOOL


def read(matcher: str, config: Config | None = None, home: str = "/home/ann") -> Rule:
    """The rule that `matcher` is read as."""
    hook = Hook(PRE, ScriptedHook(), "mine", matcher)
    environ = {"HOME": home}
    (found,) = own_hooks([hook], config or Config(), cwd=Path("/srv"), environ=environ)
    assert isinstance(found.matcher, Rule)
    return found.matcher


@pytest.mark.parametrize(
    ("matcher", "path"),
    [
        ("Write(./docs/**)", "/srv/docs/x"),
        ("Write(~/x)", "/home/ann/x"),
        ("Write(/etc/**)", "/etc/x"),
    ],
)
def test_paths_start_where_those_of_rules_do(matcher: str, path: str) -> None:
    """Relative ones in the project's directory, `~` at home."""
    pattern = read(matcher).subject
    assert isinstance(pattern, PathPattern)
    assert pattern.catches(ResolvedPath(path, path, path, None))
    assert not pattern.catches(ResolvedPath("/docs/x", "/docs/x", "/docs/x", None))


def test_hooks_keep_their_order_and_those_without_a_matcher_are_as_they_are() -> None:
    """What is there to be read is read."""
    hooks = [ScriptedHook().on(PRE, name=name) for name in "ab"]
    assert own_hooks(hooks, Config(), cwd=Path("/"), environ={}) == tuple(hooks)
    assert own_hooks([], Config(), cwd=Path("/"), environ={}) == ()


@pytest.mark.parametrize(
    ("thing", "error", "words"),
    [
        (print, LocalError, "lockgate.hook makes one"),
        (Hook(PRE, ScriptedHook(), "mine", "Bash(git*)"), ConfigError, "the hook mine"),
        (Hook(PRE, ScriptedHook(), "mine", "mcp__gti"), ConfigError, "gti"),
        (Hook(PRE, ScriptedHook(), "mine", "Raed"), ConfigError, "did you mean Read"),
        (Hook(PRE, ScriptedHook(), "mine", "my_tool"), ConfigError, "the hook mine names no tool"),
        (Hook(PRE, ScriptedHook(), "mine", 3), LocalError, "matcher"),  # pyright: ignore[reportArgumentType] - what is tested
        (Hook(PRE, ScriptedHook(), "mine", timeout=0), LocalError, "time limit"),
        (Hook(HookEvent.TURN_STOP, ScriptedHook(), "mine", "Bash"), LocalError, "about no call"),
    ],
)
async def test_a_fault_in_a_hook_stops_before_anything_is_started(
    tmp_path: Path, thing: Any, error: type[Exception], words: str
) -> None:
    """The hook is named, and what is wrong with it."""
    project = Project(tmp_path)
    ledger = project.add("git", ScriptedServer(tools=(ECHO,)))
    around = Surroundings(environ=project.environ(), cwd=project.root)
    with pytest.raises(error, match=words):
        async with lockgate.open(project.write(), surroundings=around, hooks=[thing]):
            pass
    assert ledger.entries() == ()


async def test_hooks_of_a_program_hear_of_the_calls_of_its_gate(tmp_path: Path) -> None:
    """Of a server's tool under its registered name, with the arguments; also from an agent's
    session."""
    project = Project(tmp_path)
    project.add("git", ScriptedServer(tools=(ECHO,)), annotationTrust="trust")
    hook = ScriptedHook()
    around = Surroundings(environ=project.environ(), cwd=project.root)
    hooks = [hook.on(PRE, "mcp__git__*"), hook.on(HookEvent.SESSION_START)]
    async with lockgate.open(
        project.write(), surroundings=around, hooks=hooks, attended=False
    ) as gate:
        result = await gate.call("mcp__git__echo", {"x": 1})
        assert isinstance(result, lockgate.ToolResult)
        assert not result.is_error
        assert gate.explain("mcp__git__echo", {"x": 1}).conditional
    (told,) = hook.told
    assert (told.tool_name, told.tool_input) == ("mcp__git__echo", {"x": 1})
    assert told.cwd == str(project.root.resolve())


async def test_a_matcher_for_what_a_server_has_not_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """With the nearest name, once the server has said what it has."""
    project = Project(tmp_path)
    project.add("git", ScriptedServer(tools=(ECHO,)))
    around = Surroundings(environ=project.environ(), cwd=project.root)
    hook = ScriptedHook().on(PRE, "mcp__git__ehco")
    async with lockgate.open(project.write(), surroundings=around, hooks=[hook]):
        assert "did you mean mcp__git__echo" in caplog.text
