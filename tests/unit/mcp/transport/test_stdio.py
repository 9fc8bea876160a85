"""What is particular to frames over the pipes of a child; the rest is in the contract."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, LocalError, PeerError, Phase
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.process.child import Grace
from lockgate.testing.belongings import Belongings, alive, eventually, left_since
from lockgate.testing.received import ServerLedger
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.steps import Answer, Close, Deaf, Exit, Kill, Raw, Shape, Sleep, Spawn, Stderr
from lockgate.testing.transport_bench import call, text_of

CALL = "tools/call"


async def end_of(transport: StdioTransport, timeout: float = 5) -> PeerError:
    """What a link says when a call ends it."""
    receiver = RecordingReceiver()
    async with transport.open(receiver) as link:
        await link.send(call(1))
        return await receiver.end(timeout=timeout)


async def test_a_dead_server_is_told_with_its_status_and_last_words(stdio: Any) -> None:
    """Exit code or signal, and the end of standard error, with nothing that moves a cursor."""
    script = (Stderr("one\n\x1b[31mred\x1b[0m\n"), Exit(3))
    error = await end_of(stdio(ScriptedServer(rules=(When(CALL, *script),))))
    assert str(error) == (
        "the program ended (exit code 3); the end of its standard error:\none\n\\x1b[31mred\\x1b[0m"
    )
    assert (error.peer, error.phase, error.fault) == ("files", Phase.REQUEST, Fault.CLOSED)
    assert error.fate is Fate.UNKNOWN


async def test_a_killed_server_is_told_by_the_signal(stdio: Any) -> None:
    """By its name."""
    error = await end_of(stdio(ScriptedServer(rules=(When(CALL, Kill(9)),))))
    assert str(error) == "the program ended (killed by SIGKILL)"


@pytest.mark.req("S3-22")
async def test_death_is_told_within_a_second_though_a_grandchild_holds_the_pipe(
    stdio: Any, tmp_path: Path
) -> None:
    """The pipes never end, and nobody waits for them (PB-021); leaving does not either."""
    loop = asyncio.get_running_loop()
    ledger = ServerLedger(tmp_path / "ledger")
    rules = (When(CALL, Spawn(600), Sleep(0.1), Exit(1)),)
    receiver = RecordingReceiver()
    async with stdio(ScriptedServer(rules=rules, ledger=ledger.path)).open(receiver) as link:
        await link.send(call(1))
        server = (await ledger.wait_for("spawned")).pid
        await eventually(lambda: not alive(server))
        dead = loop.time()
        assert "exit code 1" in str(await receiver.end())
        assert loop.time() - dead < 1
    assert loop.time() - dead < 3


async def test_closing_standard_output_ends_the_link(stdio: Any) -> None:
    """A server that can not answer any more is gone, although it runs; it is ended on leaving."""
    before = Belongings.now()
    error = await end_of(stdio(ScriptedServer(rules=(When(CALL, Close(1)),))))
    assert str(error) == "it closed its standard output and goes on running"
    assert await left_since(before) == ()


async def test_closing_standard_input_ends_the_link_after_what_is_said(stdio: Any) -> None:
    """Noticed without a write; what the server says in the same breath is still delivered."""
    server = ScriptedServer(rules=(When(CALL, Close(0), Answer()),))
    receiver = RecordingReceiver()
    async with stdio(server).open(receiver) as link:
        await link.send(call(1))
        await receiver.answer(1)
        error = await receiver.end(timeout=2)
        assert str(error) == "it closed its standard input and goes on running"
        with pytest.raises(PeerError, match="nothing was sent: it closed its standard input"):
            await link.send(call(2))


async def test_exit_is_the_better_reason(stdio: Any) -> None:
    """A server that closes its pipes and exits a moment later is told by its exit code."""
    server = ScriptedServer(rules=(When(CALL, Close(1), Close(0), Sleep(0.05), Exit(4)),))
    assert "exit code 4" in str(await end_of(stdio(server)))


@pytest.mark.parametrize("grandchild", [(), (Spawn(600),)])
async def test_an_answer_without_its_line_end_is_delivered(stdio: Any, grandchild: Any) -> None:
    """Written right before the exit, also when the pipe is held open by another (PB-008)."""
    answer = Answer(shape=Shape(ending=b""))
    server = ScriptedServer(rules=(When(CALL, *grandchild, answer, Exit(0)),))
    receiver = RecordingReceiver()
    async with stdio(server).open(receiver) as link:
        await link.send(call(1))
        await receiver.answer(1, timeout=2)
        await receiver.end()


@pytest.mark.req("B-03")
async def test_an_answer_that_is_cut_off_is_none(stdio: Any) -> None:
    """A message that ends in the middle says nothing: the link has ended, and its calls are
    unknown, not answered with something unreadable."""
    cut = Shape(ending=b"", swap=((b'"}]', b""),))
    server = ScriptedServer(rules=(When(CALL, Answer(text="so far", shape=cut), Exit(0)),))
    receiver = RecordingReceiver()
    async with stdio(server).open(receiver) as link:
        await link.send(call(1))
        error = await receiver.end()
    assert (error.fault, error.fate) == (Fault.CLOSED, Fate.UNKNOWN)
    assert receiver.frames == []


async def test_standard_error_is_told_line_by_line(stdio: Any) -> None:
    """To whoever wants to log it, the unfinished last line included; the link keeps the end."""
    told: list[str] = []
    server = ScriptedServer(opening=(Stderr("first\nsecond\nthi"), Stderr("rd")))
    receiver = RecordingReceiver()
    async with stdio(server, on_stderr=told.append).open(receiver) as link:
        await link.send(call(1))
        await receiver.answer(1)
        assert link.last_words() == "first\nsecond\nthird"
    assert told == ["first", "second", "third"]


@pytest.mark.req("S3-22")
async def test_a_flood_on_standard_error_blocks_nobody(stdio: Any) -> None:
    """It is always drained: the server never waits for us, and its answers come."""
    told = 0

    def count(_line: str) -> None:
        nonlocal told
        told += 1

    flood = Stderr("noise " * 100 + "\n", times=10_000)
    server = ScriptedServer(opening=(flood,), rules=(When(CALL, flood, Answer()),))
    receiver = RecordingReceiver()
    async with stdio(server, on_stderr=count).open(receiver) as link:
        await link.send(call(1))
        await receiver.answer(1)
        assert len(link.last_words()) < 25_000
    assert told == 20_000


async def test_a_frame_with_a_newline_is_refused_here(stdio: Any) -> None:
    """It would be two frames, the second of the argument's making."""
    receiver = RecordingReceiver()
    async with stdio().open(receiver) as link:
        with pytest.raises(LocalError, match="newline"):
            await link.send(Outgoing(b'{"a":\n1}'))


async def test_a_receiver_that_fails_ends_the_link(stdio: Any) -> None:
    """Frames after it would be lost, so whoever waits for them is told; the failure is reported."""
    reported: list[dict[str, Any]] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reported.append(context))

    class Failing(RecordingReceiver):
        def frame(self, data: bytes) -> None:
            raise LookupError

    receiver = Failing()
    async with stdio().open(receiver) as link:
        await link.send(call(1))
        assert str(await receiver.end()) == "what it sent could not be taken in"
    assert [type(context["exception"]) for context in reported] == [LookupError]


@pytest.mark.req("S3-21")
async def test_a_server_that_does_not_read_holds_up_nobody_else(stdio: Any) -> None:
    """A megabyte to a deaf server: the call returns, the loop runs, leaving takes the grace."""
    loop = asyncio.get_running_loop()
    deaf, good = RecordingReceiver(), RecordingReceiver()
    before = Belongings.now()
    async with stdio(ScriptedServer(opening=(Deaf(),))).open(deaf) as stuck:
        await stuck.send(call(1, text="x" * 1_000_000))
        waiting = asyncio.create_task(stuck.send(call(2)))
        async with stdio().open(good) as link:
            await link.send(call(1))
            await good.answer(1)
        assert not waiting.done()
        begun = loop.time()
    assert loop.time() - begun < 4
    with pytest.raises(PeerError) as caught:
        await waiting
    assert caught.value.fate is Fate.NOT_SENT
    assert await left_since(before) == ()


async def test_a_frame_that_was_begun_is_finished(stdio: Any, tmp_path: Path) -> None:
    """A server that reads slowly gets no partial line, although its caller gave up (PB-014)."""
    ledger = ServerLedger(tmp_path / "ledger")
    server = ScriptedServer(read_rate=4_000_000, ledger=ledger.path)
    receiver = RecordingReceiver()
    async with stdio(server, grace=Grace(5, 5)).open(receiver) as link:
        sending = asyncio.create_task(link.send(call(1, text="x" * 500_000)))
        await asyncio.sleep(0)
        sending.cancel()
        await asyncio.wait((sending,))
        await link.send(call(2))
        await receiver.answer(2)
    assert [entry.facts["id"] for entry in ledger.entries("call")] == [1, 2]
    assert ledger.entries("garbage") == ()


async def test_what_was_sent_before_leaving_is_still_read(stdio: Any, tmp_path: Path) -> None:
    """Closing the input lets the server read on, within its grace period."""
    ledger = ServerLedger(tmp_path / "ledger")
    server = ScriptedServer(read_rate=4_000_000, ledger=ledger.path)
    async with stdio(server, grace=Grace(5, 5)).open(RecordingReceiver()) as link:
        await link.send(call(1, text="x" * 500_000))
    assert len(ledger.entries("call")) == len(ledger.entries("eof")) == 1


async def test_the_child_sees_the_safe_list_and_what_is_configured() -> None:
    """PB-027, PB-029: nothing else of the environment that is handed in; ours is not looked at."""
    environ = {"PATH": os.environ["PATH"], "HOME": "/h", "LC_ALL": "C", "DB_PASSWORD": "x"}
    server = ScriptedServer(rules=(When(CALL, Answer(report="environ")),))
    endpoint = server.endpoint(env={"FOO": "bar", "LC_ALL": "C.UTF-8"})
    receiver = RecordingReceiver()
    async with StdioTransport(endpoint, peer="x", environ=environ).open(receiver) as link:
        await link.send(call(1))
        seen = json.loads(text_of(await receiver.answer(1)))
    seen.pop("LC_CTYPE", None)  # Python's own doing
    assert re.fullmatch("[0-9a-f]{32}", seen.pop("LOCKGATE_CHILD"))  # what it leaves is found by it
    assert seen == {"PATH": environ["PATH"], "HOME": "/h", "FOO": "bar", "LC_ALL": "C.UTF-8"}


async def test_home_is_expanded_in_command_and_directory(tmp_path: Path) -> None:
    """By the HOME of the host's environment, whatever the child's is set to."""
    (tmp_path / "python").symlink_to(sys.executable)
    (tmp_path / "work").mkdir()
    server = ScriptedServer(rules=(When(CALL, Answer(report="cwd")),))
    endpoint = StdioEndpoint("~/python", server.args(), {"HOME": "/other"}, Path("~/work"))
    transport = StdioTransport(endpoint, peer="x", environ={"HOME": str(tmp_path)})
    assert transport.describe() == "~/python"
    receiver = RecordingReceiver()
    async with transport.open(receiver) as link:
        await link.send(call(1))
        assert json.loads(text_of(await receiver.answer(1))) == str(tmp_path / "work")


async def test_noise_before_the_link_is_open_counts(stdio: Any) -> None:
    """A server that speaks and ends while it is being opened: said, and then closed, in order."""
    receiver = RecordingReceiver()
    server = ScriptedServer(opening=(Raw(b"usage: srv PORT\n"), Stderr("no port\n"), Exit(2)))
    async with stdio(server).open(receiver):
        error = await receiver.end()
    assert receiver.frames == [b"usage: srv PORT"]
    assert str(error).endswith("(exit code 2); the end of its standard error:\nno port")


@pytest.mark.req("S3-22")
async def test_a_large_line_is_taken_in_linear_time(stdio: Any) -> None:
    """32 MB cost at most a few times what 4 MB cost for each byte, not eight times as much."""
    server = ScriptedServer(
        rules=(When(CALL, Answer(size=4 << 20), nth=1), When(CALL, Answer(size=32 << 20)))
    )
    receiver = RecordingReceiver()
    took: list[float] = []
    async with stdio(server).open(receiver) as link:
        for number in range(2):
            await link.send(call(number))
            begun = time.process_time()
            await receiver.next()
            took.append(time.process_time() - begun)
    assert [len(frame) >> 20 for frame in receiver.frames] == [4, 32]
    assert took[1] / 8 < 4 * took[0] + 0.05


@pytest.mark.skipif(sys.platform != "linux", reason="it is found by /proc")
@pytest.mark.parametrize("then", [(), (Kill(9),), (Exit(0),)], ids=["closed", "killed", "ended"])
async def test_what_made_a_session_of_its_own_ends_with_the_link(
    tmp_path: Path, then: tuple[Any, ...]
) -> None:
    """Whether the server was closed or died before; also where that holds its pipes."""
    before, pid = Belongings.now(), tmp_path / "pid"
    rules = (When(CALL, *then),) if then else ()
    plain = ScriptedServer(rules=rules).endpoint()
    away = 'setsid sh -c "echo \\$\\$ >$0; exec sleep 600" & until [ -s $0 ]; do :; done; exec "$@"'
    endpoint = StdioEndpoint("sh", ("-c", away, str(pid), plain.command, *plain.args))
    transport = StdioTransport(endpoint, peer="s", environ=dict(os.environ), grace=Grace(0.2, 1))
    receiver = RecordingReceiver()
    async with transport.open(receiver) as link:
        await link.send(call(1))
        await (receiver.end() if then else receiver.next())
        stray = int(pid.read_text())
        assert alive(stray)
    assert not alive(stray)
    assert await left_since(before) == ()
