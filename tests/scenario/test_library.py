"""The library as a program uses it: open, look, call, and nothing left behind."""

from __future__ import annotations

import asyncio
import gc
import threading
from pathlib import Path

import pytest

import lockgate
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings
from lockgate.settings.config import AgentSettings
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.received import ServerLedger
from lockgate.testing.script import ScriptedServer, When, tool
from lockgate.testing.steps import Exit

READS = {"readOnlyHint": True}


@lockgate.tool(level="mutating", destructive=False, idempotent=True)
def add_tag(item: str, tag: str) -> str:
    """Put a tag on an item."""
    return f"{item} is now tagged {tag}"


@lockgate.tool(level="read-only")
async def shout(text: str) -> str:
    """Say it louder."""
    return text.upper()


def server(tmp_path: Path, name: str = "s", **more: object) -> ServerSettings:
    """A scripted server, trusted, with a ledger beside it."""
    tools = (tool("read", annotations=READS), tool("drop"))
    scripted = ScriptedServer(tools=tools, ledger=tmp_path / f"{name}.ledger", **more)  # pyright: ignore[reportArgumentType] - passed on
    return ServerSettings(name, scripted.endpoint(), annotation_trust=AnnotationTrust.TRUST)


@pytest.mark.req("S3-01")
@pytest.mark.req("S0-11")
async def test_local_and_remote_tools_stand_side_by_side(tmp_path: Path) -> None:
    """One list, one way to call, one result; past registration nothing tells the two apart."""
    config = lockgate.Config(servers=(server(tmp_path),), state_dir=tmp_path / "state")
    async with lockgate.open(config, tools=[add_tag, shout], attended=False) as gate:
        assert [t.name for t in gate.tools()] == [
            "add_tag",
            "shout",
            "mcp__s__read",
            "mcp__s__drop",
        ]
        local = await gate.call("shout", {"text": "a"})
        remote = await gate.call("mcp__s__read", {"text": "a"})
        assert isinstance(local, lockgate.ToolResult)
        assert isinstance(remote, lockgate.ToolResult)
        assert (local.text, local.is_error, remote.is_error) == ("A", False, False)
        for name in ("add_tag", "mcp__s__drop"):
            refused = await gate.call(name, {"item": "i", "tag": "t"})
            assert isinstance(refused, lockgate.ToolResult)
            assert refused.kind is lockgate.ErrorKind.NOT_APPROVED


@pytest.mark.req("B-01")
async def test_what_was_approved_is_what_runs(tmp_path: Path) -> None:
    """The approver sees the arguments in full, and exactly those reach the server."""
    approver = ScriptedApprover([lockgate.Answer(True, "test")])
    config = lockgate.Config(servers=(server(tmp_path),), state_dir=tmp_path / "state")
    given = {"table": "t", "rows": [1, 2, {"x": "\u202e"}]}
    async with lockgate.open(config, approvers=[approver]) as gate:
        result = await gate.call("mcp__s__drop", given)
        assert isinstance(result, lockgate.ToolResult)
        assert not result.is_error
    (question,) = approver.questions
    assert question.arguments == given
    (call,) = ServerLedger(tmp_path / "s.ledger").entries("call")
    assert call.facts["arguments"] == given


@pytest.mark.req("S3-06")
async def test_closing_leaves_nothing(tmp_path: Path) -> None:
    """No process, task or descriptor outlives the block, whether it ends well or by an error."""
    config = lockgate.Config(
        servers=(server(tmp_path, "a"), server(tmp_path, "b")), state_dir=tmp_path / "state"
    )
    before = Belongings.now()
    async with lockgate.open(config, tools=[add_tag], attended=False) as gate:
        await gate.call("mcp__a__read")
    with pytest.raises(RuntimeError, match="on purpose"):
        async with lockgate.open(config, attended=False):
            raise RuntimeError("on purpose")
    assert await left_since(before) == ()


@pytest.mark.req("S3-07")
async def test_a_start_that_fails_leaves_nothing(tmp_path: Path) -> None:
    """What was made before the failure is closed by the builder."""
    gone = ServerSettings("gone", StdioEndpoint("no-such-program"), required=True)
    config = lockgate.Config(servers=(server(tmp_path), gone), state_dir=tmp_path / "state")
    before = Belongings.now()
    with pytest.raises(lockgate.PeerError, match="gone"):
        async with lockgate.open(config, attended=False):
            raise AssertionError("it was opened")
    assert await left_since(before) == ()


@pytest.mark.req("S3-07")
async def test_a_start_that_is_cancelled_leaves_nothing(tmp_path: Path) -> None:
    """Cancelled while a server hangs, everything that was started is gone."""
    hanging = ScriptedServer(
        rules=(When("server/discover"), When("initialize")), ledger=tmp_path / "hang.ledger"
    )
    config = lockgate.Config(
        servers=(server(tmp_path), ServerSettings("hang", hanging.endpoint())),
        state_dir=tmp_path / "state",
    )
    before = Belongings.now()

    async def use() -> None:
        async with lockgate.open(config, attended=False):
            raise AssertionError("it was opened")

    task = asyncio.ensure_future(use())
    await ServerLedger(tmp_path / "hang.ledger").wait_for("start")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await left_since(before) == ()


@pytest.mark.req("S3-12")
async def test_without_servers_there_is_no_manager(tmp_path: Path) -> None:
    """Nothing configured costs nothing, and the handle says so with None."""
    async with lockgate.open(lockgate.Config(state_dir=tmp_path), attended=False) as gate:
        assert gate.mcp is None
        assert gate.tools() == ()
        assert gate.failed == {}


@pytest.mark.req("S3-24")
async def test_use_from_another_loop_is_refused_at_once(tmp_path: Path) -> None:
    """From another thread or loop the gate says so, and never hangs."""
    config = lockgate.Config(servers=(server(tmp_path),), state_dir=tmp_path / "state")
    async with lockgate.open(config, attended=False) as gate:
        said: list[BaseException] = []

        def elsewhere() -> None:
            try:
                asyncio.run(gate.call("mcp__s__read"))
            except lockgate.LocalError as error:
                said.append(error)

        thread = threading.Thread(target=elsewhere)
        thread.start()
        await asyncio.to_thread(thread.join, 10)
        assert len(said) == 1
        assert "another" in str(said[0])


@pytest.mark.req("S3-24")
def test_the_sync_gate_owns_a_loop_in_a_thread(tmp_path: Path) -> None:
    """The same gate without a loop: from any thread, and nothing is left at its end."""
    config = lockgate.Config(servers=(server(tmp_path),), state_dir=tmp_path / "state")
    threads = threading.active_count()
    with lockgate.open_sync(config, tools=[shout], attended=False) as gate:
        answers: list[object] = []

        def work() -> None:
            answers.append(gate.call("shout", {"text": "b"}))

        others = [threading.Thread(target=work) for _ in range(3)]
        for thread in others:
            thread.start()
        for thread in others:
            thread.join(10)
        assert len(answers) == 3
        result = gate.call("mcp__s__read", {})
        assert isinstance(result, lockgate.ToolResult)
        assert not result.is_error
        assert gate.explain("mcp__s__drop").decision.name == "DENY"
        assert len(gate.tools()) == 3
    gc.collect()
    assert threading.active_count() == threads
    with pytest.raises(lockgate.LocalError):
        gate.call("shout", {"text": "c"})


def test_the_sync_gate_inside_a_loop_says_what_to_use(tmp_path: Path) -> None:
    """Waiting inside a running loop would stop it: that is refused with the right words."""

    async def inside() -> None:
        with lockgate.open_sync(lockgate.Config(state_dir=tmp_path)):
            raise AssertionError("it was opened")

    with pytest.raises(lockgate.LocalError, match="async with"):
        asyncio.run(inside())


def test_one_loop_for_each_call_works(tmp_path: Path) -> None:
    """PB-090: a program that runs asyncio.run() for each call opens a gate in each."""
    config = lockgate.Config(servers=(server(tmp_path),), state_dir=tmp_path / "state")

    async def once() -> bool:
        async with lockgate.open(config, attended=False) as gate:
            result = await gate.call("mcp__s__read")
            return isinstance(result, lockgate.ToolResult) and not result.is_error

    assert [asyncio.run(once()) for _ in range(3)] == [True, True, True]


@pytest.mark.req("S0-05")
@pytest.mark.req("S0-06")
async def test_what_an_agent_is_not_shown_it_can_not_call(tmp_path: Path) -> None:
    """Ceiling and offer hide and refuse by the same function; a refusal stops nothing else."""
    (tmp_path / "replies.yaml").write_text(
        "- calls: [{tool: mcp__s__drop}, {tool: shout, arguments: {text: a}}, {tool: add_tag}]\n"
        "- text: done\n"
    )
    config = lockgate.Config(
        servers=(server(tmp_path),),
        state_dir=tmp_path / "state",
        agent=AgentSettings(
            model=f"scripted:{tmp_path / 'replies.yaml'}",
            ceiling=lockgate.SideEffectLevel.READ_ONLY,
        ),
    )
    async with lockgate.open(config, tools=[add_tag, shout], attended=False) as gate:
        answer = await gate.agent().run("go")
    assert str(answer) == "done"
    kinds = [c.result.kind for c in answer.calls if isinstance(c.result, lockgate.ToolResult)]
    assert kinds == [lockgate.ErrorKind.ABOVE_CEILING, None, lockgate.ErrorKind.ABOVE_CEILING]
    assert ServerLedger(tmp_path / "s.ledger").called == ()


@pytest.mark.req("B-14")
async def test_an_answer_given_later_resumes_the_call(tmp_path: Path) -> None:
    """An approver may put it off: the call waits under a ticket, and runs once when answered."""
    later = ScriptedApprover([lockgate.Later()])
    config = lockgate.Config(servers=(server(tmp_path),), state_dir=tmp_path / "state")
    ledger = ServerLedger(tmp_path / "s.ledger")
    async with lockgate.open(config, approvers=[later]) as gate:
        waiting = await gate.call("mcp__s__drop", {"table": "t"})
        assert isinstance(waiting, lockgate.Suspended)
        assert ledger.called == ()
    async with lockgate.open(config, attended=False) as gate:
        result = await gate.resume(waiting.ticket, True)
        assert isinstance(result, lockgate.ToolResult)
        assert not result.is_error
        with pytest.raises(lockgate.LocalError):
            await gate.resume(waiting.ticket, True)
    assert ledger.called == ("drop",)


@pytest.mark.req("B-03")
async def test_after_an_unknown_outcome_the_tool_is_asked_about(tmp_path: Path) -> None:
    """While nobody knows what a call did, the next one of that tool is a question."""
    dies = ScriptedServer(
        tools=(tool("add", annotations={"destructiveHint": False}),),
        rules=(When("tools/call", Exit(1)),),
        ledger=tmp_path / "d.ledger",
    )
    settings = ServerSettings("d", dies.endpoint(), annotation_trust=AnnotationTrust.TRUST)
    config = lockgate.Config(servers=(settings,), state_dir=tmp_path / "state")
    approver = ScriptedApprover([lockgate.Answer(True, "t"), lockgate.Answer(False, "t")])
    async with lockgate.open(config, approvers=[approver]) as gate:
        first = await gate.call("mcp__d__add")
        second = await gate.call("mcp__d__add")
    assert isinstance(first, lockgate.ToolResult)
    assert isinstance(second, lockgate.ToolResult)
    assert first.kind is lockgate.ErrorKind.OUTCOME_UNKNOWN
    assert second.kind is lockgate.ErrorKind.NOT_APPROVED
    assert "open_unknown" in {reason.code for reason in approver.questions[1].reasons}
    assert ServerLedger(tmp_path / "d.ledger").called == ("add",)


def test_every_public_name_can_be_had() -> None:
    """What stands in `__all__` is there; nothing else is promised."""
    for name in lockgate.__all__:
        assert getattr(lockgate, name) is not None
    assert dir(lockgate) == sorted(lockgate.__all__)
    with pytest.raises(AttributeError):
        getattr(lockgate, "nonsense")  # noqa: B009 - the name is wrong on purpose
