"""Declared hooks on the whole road: real programs, a real endpoint, real MCP servers (S3-13)."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.calls.call import Suspended
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.model import FakeModel
from lockgate.testing.project import Project
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.site import Site, answer
from lockgate.testing.steps import Answer, Exit
from lockgate.tools.result import ErrorKind, ToolResult

READ: Final = "mcp__work__read"
DROP: Final = "mcp__work__drop"
CHECK: Final = "mcp__guard__check"
HIDDEN: Final = "hunter2"


class Servers:
    """One that works, and one whose tools are hooks."""

    def __init__(self, project: Project, *rules: When) -> None:
        work = ScriptedServer(
            tools=(tool("read", annotations={"readOnlyHint": True}), tool("drop"))
        )
        self.work: ServerLedger = project.add("work", work, annotationTrust="trust")
        guard = ScriptedServer(tools=(tool("check"), tool("other")), rules=rules)
        self.guard: ServerLedger = project.add("guard", guard)

    @property
    def asked(self) -> list[Any]:
        """What the guard was called with."""
        return [entry.facts["arguments"] for entry in self.guard.entries("call")]


@asynccontextmanager
async def opened(project: Project, **options: Any) -> AsyncGenerator[lockgate.Gate]:
    """A gate on the project, with nothing left of it."""
    environ = project.environ(TEAM="us")
    around = Surroundings(environ=environ, cwd=project.root)
    before = Belongings.now()
    options.setdefault("attended", False)
    async with lockgate.open(project.write(), surroundings=around, **options) as gate:
        yield gate
    assert await left_since(before) == ()


def hooks(event: str, *handlers: dict[str, Any], matcher: str | None = None) -> dict[str, Any]:
    """The section `hooks`."""
    group: dict[str, Any] = {"hooks": list(handlers)}
    return {event: [group if matcher is None else {"matcher": matcher, **group}]}


def check(**more: Any) -> dict[str, Any]:
    """A hook that is the guard's `check`."""
    return {"type": "mcp_tool", "server": "guard", "tool": "check", **more}


def says(**answered: Any) -> When:
    """What the guard's `check` answers."""
    return When("tools/call", Answer(text=json.dumps(answered)), tool="check")


def records(project: Project) -> list[dict[str, Any]]:
    """Everything on record."""
    texts = (path.read_text() for path in project.state.rglob("audit/*.jsonl"))
    return [json.loads(line) for text in texts for line in text.splitlines()]


async def called(gate: lockgate.Gate, name: str = READ, **arguments: Any) -> ToolResult:
    """The result of one call."""
    result = await gate.call(name, arguments)
    assert not isinstance(result, Suspended)
    return result


@pytest.mark.req("S3-13")
async def test_templates_render_the_arguments_of_the_tool(project: Project) -> None:
    """Values keep their types; the declaration lists the variables that may be used."""
    servers = Servers(project)
    args = {
        "files": "{{tool_input.files}}",
        "who": "{{env.TEAM}}",
        "line": "{{context.tool_name}}: {{tool_input.n}}",
    }
    project.sections = {"hooks": hooks("pre_tool", check(args=args)), "hookVariables": ["TEAM"]}
    async with opened(project) as gate:
        assert not (await called(gate, files=["a", "{{env.HOME}}"], n=3)).is_error
    assert servers.asked == [{"files": ["a", "{{env.HOME}}"], "who": "us", "line": f"{READ}: 3"}]


@pytest.mark.req("S3-13")
@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("allow", None),
        ("defer", None),
        ("deny", ErrorKind.DENIED),
        ("ask", ErrorKind.NOT_APPROVED),
    ],
)
async def test_a_decision_in_the_result_is_honoured(
    project: Project, word: str, kind: ErrorKind | None
) -> None:
    """allow and defer change nothing, deny refuses, ask asks; where nobody is, that is a no."""
    servers = Servers(project, says(decision=word, reason="because of the guard"))
    project.sections = {"hooks": hooks("pre_tool", check())}
    async with opened(project) as gate:
        result = await called(gate)
    assert result.kind is kind
    assert servers.work.called == (() if kind else ("read",))
    if kind:
        assert "because of the guard" in json.dumps(records(project))


@pytest.mark.req("S3-13")
async def test_an_allow_answers_no_question(project: Project) -> None:
    """What has to be asked is asked."""
    servers = Servers(project, says(decision="allow"))
    project.sections = {"hooks": hooks("pre_tool", check())}
    async with opened(project) as gate:
        assert (await called(gate, DROP)).kind is ErrorKind.NOT_APPROVED
    assert servers.work.called == ()


@pytest.mark.req("S3-13")
async def test_without_a_decision_it_is_a_side_effect(project: Project) -> None:
    """Most tools were not written to be hooks."""
    servers = Servers(project)
    project.sections = {"hooks": hooks("post_tool", check(args={"r": "{{context.tool_response}}"}))}
    async with opened(project) as gate:
        result = await called(gate)
    assert not result.is_error
    [asked] = servers.asked
    assert asked["r"]["isError"] is False


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("denies", [False, True], ids=["allow", "deny"])
@pytest.mark.parametrize(
    "rule",
    [
        When("tools/call", Exit(1), tool="check"),
        When("tools/call", Answer({"content": [], "isError": True}), tool="check"),
        When("tools/call", Answer(error={"code": -32603, "message": HIDDEN}), tool="check"),
        When("tools/call", tool="check"),
        says(decision="perhaps"),
        When("tools/call", Answer(text='{"decision": '), tool="check"),
    ],
    ids=["transport", "isError", "error", "time-out", "unknown word", "no JSON"],
)
async def test_what_goes_wrong_is_a_warning_unless_it_says_otherwise(
    project: Project, rule: When, denies: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Transport failure, isError, an unreadable decision: a warning and success, or a denial."""
    Servers(project, rule)
    handler = check(timeout="1s", onError="deny" if denies else "allow", name="the guard")
    project.sections = {"hooks": hooks("pre_tool", handler)}
    with caplog.at_level(logging.DEBUG, logger="lockgate"):
        async with opened(project) as gate:
            result = await called(gate, secret=HIDDEN)
    assert result.kind is (ErrorKind.DENIED if denies else None)
    assert "the hook the guard failed" in caplog.text
    assert HIDDEN not in caplog.text + json.dumps(records(project))


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("denies", [False, True], ids=["allow", "deny"])
async def test_an_unknown_server_is_a_warning_unless_it_says_otherwise(
    project: Project, denies: bool
) -> None:
    """A person's own hook for many projects, in one that has no such server; in the project's own
    file it is an error before anything starts."""
    servers = Servers(project)
    handler = check(server="gardens", onError="deny" if denies else "allow")
    own = project.root / "home" / "config" / "lockgate" / "config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(json.dumps({"hooks": hooks("pre_tool", handler)}))
    async with opened(project) as gate:
        assert (await called(gate)).kind is (ErrorKind.DENIED if denies else None)
    assert servers.work.called == (() if denies else ("read",))
    project.sections = {"hooks": hooks("pre_tool", check(server="gard"))}
    with pytest.raises(lockgate.ConfigError, match="did you mean guard"):
        async with opened(project):
            pass


@pytest.mark.req("S3-13")
async def test_its_call_goes_down_the_road_as_a_hook_and_fires_none(project: Project) -> None:
    """Its records say so; no hook hears of it, though the matcher means every call."""
    servers = Servers(project, says(decision="defer"))
    project.sections = {
        "hooks": hooks("pre_tool", check()) | hooks("post_tool", check(tool="other"))
    }
    async with opened(project) as gate:
        assert not (await called(gate)).is_error
    assert servers.guard.called == ("check", "other")
    decisions = [record for record in records(project) if record.get("tool") == CHECK]
    assert {record["entry"] for record in decisions if "entry" in record} == {"hook"}


@pytest.mark.req("S3-13")
async def test_its_declaration_is_the_answer_for_exactly_that_tool(project: Project) -> None:
    """The tool counts as destructive and nobody is there: the hook's call runs, any other does
    not; neither the agent's offer nor an answer of a person has a say."""
    servers = Servers(project, says(decision="defer"))
    project.sections = {"hooks": hooks("pre_tool", check()), "agent": {"offer": [READ]}}
    approver = ScriptedApprover.always(False)
    async with opened(project, approvers=[approver], attended=True) as gate:
        assert not (await called(gate)).is_error
        assert (await called(gate, CHECK)).kind is ErrorKind.NOT_OFFERED
    assert servers.guard.called == ("check",)
    assert approver.questions == []


@pytest.mark.req("S3-13")
@pytest.mark.parametrize(
    "section",
    [{"permissions": {"deny": [CHECK]}}, {"agent": {"ceiling": "read-only"}}],
    ids=["deny rule", "ceiling"],
)
async def test_a_refusal_of_its_call_by_policy_is_not_soft(
    project: Project, section: dict[str, Any]
) -> None:
    """Deny rules and the ceiling hold for it, and what it was to decide about is refused."""
    servers = Servers(project)
    project.sections = {"hooks": hooks("pre_tool", check()), **section}
    async with opened(project) as gate:
        result = await called(gate)
    assert result.kind is ErrorKind.DENIED
    assert "guard's check is refused" in result.text
    assert (servers.work.called, servers.guard.called) == ((), ())


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("denies", [False, True], ids=["allow", "deny"])
async def test_what_failed_softly_fails_softly_again(project: Project, denies: bool) -> None:
    """A tool that may change things is not called again while nobody knows what became of it
    (B-03); that is a failure of the hook, and no refusal."""
    servers = Servers(project, When("tools/call", tool="check"))
    handler = check(timeout="500ms", onError="deny" if denies else "allow")
    project.sections = {"hooks": hooks("pre_tool", handler)}
    async with opened(project) as gate:
        for _ in range(2):
            assert (await called(gate)).kind is (ErrorKind.DENIED if denies else None)
    assert servers.guard.called == ("check",)


async def test_all_three_types_about_one_call(project: Project) -> None:
    """A program, an endpoint and a tool hear of the same call; the strictest word counts."""
    servers = Servers(project, says(decision="allow"))
    program = "import json, sys; e = json.load(sys.stdin); print(json.dumps({'decision': 'defer'}))"
    async with Site() as site:
        site.on("/hook", answer(200, json.dumps({"decision": "deny", "reason": "not this one"})))
        handlers = (
            {"type": "command", "command": sys.executable, "args": ["-c", program]},
            {"type": "http", "url": f"{site.address}/hook", "headers": {"X-Key": "${TEAM}"}},
            check(),
        )
        project.sections = {"hooks": hooks("pre_tool", *handlers, matcher="mcp__work__*")}
        async with opened(project) as gate:
            result = await called(gate, path="a")
            assert result.kind is ErrorKind.DENIED
            assert "not this one" in result.text
    assert (servers.work.called, servers.guard.called) == ((), ("check",))
    assert json.loads(site.requests[0].body)["tool_input"] == {"path": "a"}
    assert site.requests[0].headers["x-key"] == "us"


async def test_a_program_rewrites_the_arguments_and_what_is_shown(project: Project) -> None:
    """What it gives in their place meets the rules as any other; what was replaced is replaced."""
    servers = Servers(project)
    rewrite = 'print(\'{"decision": "allow", "updatedInput": {"path": "safe"}}\')'
    shown = 'print(\'{"decision": "defer", "updatedOutput": "withheld"}\')'

    def program(code: str) -> dict[str, Any]:
        return {"type": "command", "command": [sys.executable, "-c", code]}

    section = hooks("pre_tool", program(rewrite)) | hooks("post_tool", program(shown))
    project.sections = {"hooks": section}
    async with opened(project) as gate:
        result = await called(gate, path="unsafe")
    assert result.text.startswith("withheld")
    assert [e.facts["arguments"] for e in servers.work.entries("call")] == [{"path": "safe"}]


def veto(why: str) -> dict[str, Any]:
    """A program that says no."""
    code = f"import sys; sys.stderr.write({why!r}); sys.exit(2)"
    return {"type": "command", "command": sys.executable, "args": ["-c", code]}


async def test_a_program_vetoes_a_turn_and_a_reload(project: Project) -> None:
    """Events that are about no call are decided alike: nothing is asked of the model, nothing of
    the new configuration is taken."""
    Servers(project)
    model = FakeModel()
    project.sections = {
        "hooks": hooks("turn_start", veto("not today")) | hooks("config_reload", veto("not now"))
    }
    async with opened(project) as gate:
        result = await gate.agent(model=model).run("go")
        assert not result.answered
        assert "not today" in str(result)
        project.sections["permissions"] = {"deny": [READ]}
        project.write()
        assert "not now" in str(await gate.reload())
        assert not (await called(gate)).is_error
    assert model.seen == []


def test_exit_code_2_vetoes_on_the_command_line(project: Project) -> None:
    """Standard error says why; the exit code of the command is that of a refusal."""
    servers = Servers(project)
    project.sections = {"hooks": hooks("pre_tool", veto("the tree is frozen"))}
    done = project.run("call", READ)
    assert done.returncode == 3
    assert "the tree is frozen" in done.stdout + done.stderr
    assert servers.work.called == ()
