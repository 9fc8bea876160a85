"""What belongs to a session ends with it, and sessions end before what their runtime owns."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from lockgate.agent.ownership import Owned
from lockgate.agent.scope import SessionScope
from lockgate.errors import LocalError
from lockgate.testing.workbench import Workbench


def noted(
    log: list[str], name: str, error: Exception | None = None
) -> Callable[[], Awaitable[None]]:
    """A close that notes its name, and then raises `error`."""

    async def close() -> None:
        log.append(name)
        if error is not None:
            raise error

    return close


@pytest.mark.req("S3-06")
async def test_the_last_made_is_closed_first_and_a_failure_stops_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """In exactly that order; a failure is logged by its name."""
    log: list[str] = []
    scope = SessionScope("a-long-session-id")
    for name in ("one", "two", "three"):
        scope.own(name, noted(log, name, OSError("secret") if name == "two" else None))
    assert "one, two, three" in repr(scope)
    assert "a-long-session-id" not in repr(scope)
    await scope.close()
    assert log == ["three", "two", "one"]
    assert "closing two failed: OSError" in caplog.text
    assert "secret" not in caplog.text


async def test_what_makes_more_is_closed_before_what_it_made() -> None:
    """A turn ends before those in the background that it started, though it was there before."""
    log: list[str] = []
    scope = SessionScope("s")
    scope.own("one", noted(log, "one"))
    scope.own("turn", noted(log, "turn"), first=True)
    scope.own("three", noted(log, "three"))
    await scope.close()
    assert log == ["turn", "three", "one"]


async def test_what_ended_before_is_not_closed() -> None:
    """The function that `own` returns takes it back, any number of times, afterwards too."""
    log: list[str] = []
    scope = SessionScope("s")
    disown = scope.own("one", noted(log, "one"))
    scope.own("two", noted(log, "two"))
    disown()
    disown()
    await scope.close()
    disown()
    assert log == ["two"]


async def test_closing_is_idempotent_and_shared() -> None:
    """Any number of closers wait for the one closing, after which nothing can be owned."""
    log: list[str] = []
    ended: list[bool] = []
    scope = SessionScope("s", ended=lambda: ended.append(scope.closed))
    scope.own("one", noted(log, "one"))
    await asyncio.gather(*(scope.close() for _ in range(3)))
    await scope.close()
    assert (log, ended) == (["one"], [True])
    with pytest.raises(LocalError, match="closed"):
        scope.own("two", noted(log, "two"))


@pytest.mark.req("S3-06")
async def test_a_cancellation_does_not_stop_closing() -> None:
    """Whoever closes may be cancelled: everything is closed all the same, and then it passes."""
    log: list[str] = []
    scope = SessionScope("s")
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow() -> None:
        begun.set()
        await go_on.wait()
        log.append("slow")

    scope.own("last", noted(log, "last"))
    scope.own("slow", slow)
    closing = asyncio.create_task(scope.close())
    await begun.wait()
    closing.cancel()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert log == ["slow", "last"]


@pytest.mark.req("S3-06")
async def test_what_does_not_end_is_left_after_its_time(caplog: pytest.LogCaptureFixture) -> None:
    """Each thing has a bound; the next one's turn comes."""
    log: list[str] = []
    scope = SessionScope("s", seconds=0.02)
    scope.own("next", noted(log, "next"))

    async def never() -> None:
        await asyncio.Event().wait()

    scope.own("hangs", never)
    await scope.close()
    assert log == ["next"]
    assert "closing hangs failed: TimeoutError" in caplog.text


@pytest.mark.req("S3-06")
async def test_sessions_end_before_what_their_runtime_owns(tmp_path: Path) -> None:
    """Their things may need the servers: those close first of what the runtime owns, and after
    every session that is open then."""
    log: list[str] = []
    owned = [Owned(name, noted(log, name)) for name in ("mcp servers", "state database")]
    async with Workbench(tmp_path, owned=owned) as bench:
        one, two = bench.runtime.begin_session("one"), bench.runtime.begin_session()
        assert bench.runtime.sessions == (one, two)
        one.own("one", noted(log, "one"))
        two.own("two", noted(log, "two", LocalError("no")))
        closed = bench.runtime.begin_session("three")
        closed.own("three", noted(log, "three"))
        await closed.close()
    assert log == ["three", "one", "two", "mcp servers", "state database"]
    assert (one.closed, two.closed, bench.runtime.sessions) == (True, True, ())
    with pytest.raises(LocalError, match="closed"):
        bench.runtime.begin_session()
