"""The runtime: what it owns, where it may be used, and how it ends."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest

from lockgate.agent.ownership import Owned
from lockgate.agent.runtime import AgentRuntime
from lockgate.errors import LocalError
from lockgate.testing.workbench import Workbench


def _owned(log: list[str], *names: str) -> tuple[Owned, ...]:
    def thing(name: str) -> Owned:
        async def close() -> None:
            log.append(name)
            if name == "failing":
                raise OSError("no")

        return Owned(name, close)

    return tuple(map(thing, names))


@pytest.mark.req("S3-06")
async def test_closing_follows_the_list_and_survives_failures(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The servers first, in exactly the order given; a failure is logged, the rest closes."""
    log: list[str] = []
    owned = _owned(log, "mcp servers", "failing", "state")
    async with Workbench(tmp_path, owned=owned) as bench:
        assert "mcp servers, failing, state" in repr(bench.runtime)
    assert log == ["mcp servers", "failing", "state"]
    assert "closing failing failed: OSError" in caplog.text


@pytest.mark.req("S3-06")
async def test_closing_is_idempotent_and_shared(tmp_path: Path) -> None:
    """Any number of closers wait for the one closing; each thing is closed once."""
    log: list[str] = []
    async with Workbench(tmp_path, owned=_owned(log, "one")) as bench:
        await asyncio.gather(*(bench.runtime.close() for _ in range(3)))
        await bench.runtime.close()
        assert bench.runtime.closed
    assert log == ["one"]


async def test_a_closed_runtime_says_so(tmp_path: Path) -> None:
    """Its parts are not handed out any more."""
    async with Workbench(tmp_path) as bench:
        pass
    for use in (
        lambda: bench.runtime.registry,
        lambda: bench.runtime.invoker,
        bench.runtime.check,
    ):
        with pytest.raises(LocalError, match="closed"):
            use()
    assert "closed" in repr(bench.runtime)


async def test_another_thread_is_refused_at_once(tmp_path: Path) -> None:
    """Using it there, and closing it there, says so instead of hanging (S3-24)."""
    async with Workbench(tmp_path) as bench:
        runtime = bench.runtime

        def elsewhere() -> None:
            with pytest.raises(LocalError, match="another thread"):
                runtime.check()
            with pytest.raises(LocalError, match="another thread"):
                asyncio.run(runtime.close())

        await asyncio.to_thread(elsewhere)
        runtime.check()


def test_another_loop_is_refused_at_once(tmp_path: Path) -> None:
    """On the same thread too, and where no loop runs at all."""
    kept: list[Workbench] = []
    first = asyncio.new_event_loop()

    async def make() -> None:
        kept.append(Workbench(tmp_path))

    try:
        first.run_until_complete(make())
        (bench,) = kept
        with pytest.raises(LocalError, match="another event loop"):
            asyncio.run(bench.runtime.close())
        with pytest.raises(LocalError, match="inside the loop"):
            bench.runtime.check()
        first.run_until_complete(bench.__aexit__(None, None, None))
    finally:
        first.close()


async def test_a_few_characters_tell_an_id_from_all_others(tmp_path: Path) -> None:
    """Across runtimes and many draws: whoever looks for a call types its beginning. They are of
    one length, so that none begins another; a session's id, which authorises, is a longer one."""
    async with Workbench(tmp_path) as bench:
        runtimes = [
            AgentRuntime(id="agent:x", registry=bench.registry, invoker=bench.invoker)
            for _ in range(2)
        ]
        ids = [runtime.make_id() for runtime in runtimes for _ in range(1000)]
        sessions = [runtime.make_session_id() for runtime in runtimes for _ in range(2)]
        assert {len(name) for name in ids} == {18}
        assert {len(name) for name in sessions} == {32}
        assert len({name[:12] for name in (*ids, *sessions)}) == 2004
        for runtime in runtimes:
            await runtime.close()


async def test_a_runtime_is_made_in_a_loop(tmp_path: Path) -> None:
    """Otherwise there is nothing it could belong to."""
    async with Workbench(tmp_path) as bench:

        def make() -> None:
            with pytest.raises(LocalError, match="running asyncio loop"):
                AgentRuntime(id="agent:x", registry=bench.registry, invoker=bench.invoker)

        await asyncio.to_thread(make)


async def test_a_runtime_that_was_never_closed_warns(tmp_path: Path) -> None:
    """As a file does; one that was closed is silent."""
    async with Workbench(tmp_path) as bench:
        registry, invoker = bench.registry, bench.invoker
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        forgotten = AgentRuntime(id="agent:forgotten", registry=registry, invoker=invoker)
        del forgotten, bench
        gc.collect()
    assert [str(w.message) for w in caught if w.category is ResourceWarning] == [
        "agent:forgotten was never closed: use `async with`, or await its close()"
    ]


@pytest.mark.req("S3-12")
async def test_without_servers_the_handle_is_none(tmp_path: Path) -> None:
    """No MCP configured: nothing is missing, and the handle says so."""
    async with Workbench(tmp_path) as bench:
        assert bench.runtime.mcp is None
        assert bench.runtime.missing == ()


async def test_the_servers_are_at_hand(tmp_path: Path) -> None:
    """The handle is the very object, and what is missing is named."""

    class Servers:
        """One that failed."""

        @property
        def failed(self) -> Mapping[str, str]:
            return {"git": "not found"}

        def turn_begins(self) -> None: ...

        async def close(self) -> None: ...

    servers = Servers()
    async with Workbench(tmp_path, servers=servers) as bench:
        assert bench.runtime.mcp is servers
        assert bench.runtime.missing == ("git",)
