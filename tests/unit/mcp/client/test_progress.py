"""Progress of one request: whom it is told, and what time it gives."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from itertools import chain
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import Fault, PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.pending import Waiting
from lockgate.mcp.client.progress import ProgressListener, Tracked
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.protocol.progress import Progress
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import MODERN, ScriptedServer
from lockgate.testing.steps import Answer, Do, Message, Send, Sleep, Step

Told = tuple[float, float | None, str | None]
DONE = Answer({"content": []})
SECONDS = st.floats(min_value=0.001, max_value=1000)


def _said(token: Any, progress: Any = 1, **more: Any) -> dict[str, Any]:
    params = {"progressToken": token, "progress": progress, **more}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


def hearing(told: list[Told]) -> ProgressListener:
    """A listener that keeps what it is told."""

    def listener(so_far: float, total: float | None, message: str | None) -> None:
        told.append((so_far, total, message))

    return listener


def _token(message: Message) -> Any:
    return message["params"]["_meta"]["progressToken"]


# ------------------------------------------------------------------ the time it gives


@given(SECONDS, SECONDS, st.lists(SECONDS, max_size=20))
def test_progress_gives_as_much_again_up_to_the_cap(
    limit: float, at_most: float, steps: list[float]
) -> None:
    """Never less than before, never more than the limit from now, never past the cap."""
    tracked = Tracked(None, at_most)
    begun = now = 100.0
    tracked.begin(begun, limit)
    due = begun + limit
    for step in steps:
        now += step
        later = tracked.due(now, due)
        assert later >= due
        assert later == due or later <= min(now + limit, begun + at_most)
        assert tracked.allowed == later - begun
        due = later


def test_without_a_cap_progress_gives_no_time() -> None:
    """Nobody configured it: the request is given up when it would have been."""
    tracked = Tracked(None, None)
    tracked.begin(0.0, 5.0)
    assert tracked.due(4.0, 5.0) == 5.0
    assert tracked.allowed == 5.0


def test_a_request_made_again_is_the_same_one() -> None:
    """In a new session, say: its cap counts from where it began."""
    tracked = Tracked(None, 20.0)
    tracked.begin(0.0, 5.0)
    tracked.begin(4.0, 1.0)
    assert tracked.due(18.0, 5.0) == 20.0


async def test_late_progress_gives_nothing_and_tells_nobody() -> None:
    """PB-143: once the answer is there, or the time is up, nothing changes any more."""
    told: list[Told] = []
    answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    tracked = Tracked(hearing(told), 60.0)
    tracked.begin(0.0, 5.0)
    waiting = Waiting("x", answer, None, 5.0, tracked)
    waiting.time_is_up()
    waiting.heard(Progress(1, 1.0), 4.0)
    assert (waiting.due, told) == (math.inf, [])


# ------------------------------------------------------------------ the token


@pytest.mark.parametrize("revisions", [("2025-06-18",), MODERN])
async def test_no_byte_asks_for_progress_unless_somebody_listens(
    revisions: tuple[str, ...],
) -> None:
    """The token is the id of the request, and is sent for a listener or for a cap alone."""
    server = LoopServer(ScriptedServer(revisions=revisions))
    client = ClientIdentity("test", "1")
    session = await connect(server.transport(), peer="s", client=client, request_timeout=5)
    tools = ToolClient(session)
    await tools.call("echo", {})
    await tools.call("echo", {}, progress=hearing([]))
    await tools.call("echo", {}, at_most=60.0)
    await tools.call("echo", {}, at_most=60.0, carry=lambda id: {"traceparent": str(id)})
    await session.close()
    silent, *asking = server.heard("tools/call")
    assert "progressToken" not in str(silent)
    assert [_token(message) for message in asking] == [message["id"] for message in asking]
    assert asking[-1]["params"]["_meta"]["traceparent"] == str(asking[-1]["id"])


# ------------------------------------------------------------------ whom it is told


async def _called(server: LoopServer, session: ServerSession, *more: Send) -> list[Told]:
    """What a listener hears in a call that says all of this."""
    told: list[Told] = []

    async def steps(message: Message) -> tuple[Send | Answer, ...]:
        token = _token(message)
        odd = tuple(Send(_fill(each.message, token)) for each in more)
        return (Send(_said(token, 1, total=2, message="half")), *odd, DONE)

    server.on("tools/call", Do(steps))
    await ToolClient(session).call("t", {}, progress=hearing(told))
    return told


def _fill(message: Mapping[str, Any], token: Any) -> dict[str, Any]:
    params: Any = message.get("params")
    if isinstance(params, dict) and "?" in params.values():
        return {**message, "params": {**cast("dict[str, Any]", params), "progressToken": token}}
    return dict(message)


async def test_progress_is_told_to_the_request_that_asked(
    server: LoopServer, session: ServerSession
) -> None:
    """Numbers, total and words, as they came."""
    assert await _called(server, session) == [(1.0, 2.0, "half")]


ODD = (
    _said(None),
    _said(999),
    _said("1"),
    _said(True),
    _said("?", "much"),
    _said("?", total=None, message=[]),
    _said("?", -7),
    _said("?", message="x" * 1_000_000),
    {"jsonrpc": "2.0", "method": "notifications/progress"},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": [1]},
)


async def test_odd_progress_never_raises(server: LoopServer, session: ServerSession) -> None:
    """PB-143: unknown tokens, strings for numbers, less than before, a megabyte: the call stands,
    and what can be read of it is told."""
    told = await _called(server, session, *map(Send, ODD))
    assert told[:3] == [(1.0, 2.0, "half"), (1.0, None, None), (-7.0, None, None)]
    assert len(told) == 4


async def test_progress_after_the_answer_is_ignored(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-143: late, and nobody's any more."""
    told: list[Told] = []
    server.on("tools/call", DONE)
    await ToolClient(session).call("t", {}, progress=hearing(told))
    await server.say(_said(_token(server.heard("tools/call")[0])))
    await session.connection.request("ping")
    assert told == []


async def test_a_listener_that_fails_harms_nothing(
    server: LoopServer, session: ServerSession, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged without what it was told, and told again next time."""

    def broken(so_far: float, total: float | None, message: str | None) -> None:
        raise ValueError(f"secret {message}")

    async def steps(message: Message) -> tuple[Send | Answer, ...]:
        return (*(Send(_said(_token(message), n, message="m")) for n in (1, 2)), DONE)

    server.on("tools/call", Do(steps))
    await ToolClient(session).call("t", {}, progress=broken)
    failures = [r for r in caplog.records if "a listener failed on progress" in r.message]
    assert len(failures) == 2
    assert "secret" not in caplog.text


async def test_progress_that_can_not_be_read_is_noise(
    server: LoopServer, session: ServerSession, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning the first time, as for all that a server says and nobody can use."""
    for _ in range(3):
        await server.say(_said(None))
    await session.connection.request("ping")
    warned = [r for r in caplog.records if r.levelno == logging.WARNING]
    assert [r.message for r in warned] == ["fake sent progress that has null for a token, ignored"]


# ------------------------------------------------------------------ a call that takes long


def _reports(server: LoopServer, every: float, times: int) -> None:
    """Let its calls take `times` times `every` seconds, and report each time."""

    async def work(message: Message) -> tuple[Step, ...]:
        token = _token(message)
        reports = [(Sleep(every), Send(_said(token, n))) for n in range(times)]
        return (*chain.from_iterable(reports), DONE)

    server.on("tools/call", Do(work))


async def test_progress_extends_the_timeout_where_that_is_configured(
    server: LoopServer, session: ServerSession
) -> None:
    """PB-143: a call that takes longer than its timeout succeeds while it reports."""
    _reports(server, 0.15, 12)
    result = await ToolClient(session).call("t", {}, timeout=1.0, at_most=60.0)
    assert not result.is_error


async def test_progress_extends_nothing_otherwise(
    server: LoopServer, session: ServerSession
) -> None:
    """Whoever listens learns how far it was, and the timeout stays what it is."""
    told: list[Told] = []
    _reports(server, 0.02, 1000)
    with pytest.raises(PeerError, match=r"within 0\.3 s") as caught:
        await ToolClient(session).call("t", {}, timeout=0.3, progress=hearing(told))
    assert caught.value.fault is Fault.TIMEOUT
    assert told
    await server.hears("notifications/cancelled")


async def test_no_progress_extends_past_the_cap(server: LoopServer, session: ServerSession) -> None:
    """A server that reports for ever is given up at the cap, and the error names it."""
    _reports(server, 0.02, 1000)
    with pytest.raises(PeerError, match=r"within 0\.8 s") as caught:
        await ToolClient(session).call("t", {}, timeout=0.5, at_most=0.8)
    assert caught.value.fault is Fault.TIMEOUT
