"""A gate whose building fails, or is cancelled, leaves nothing: what was made by then is closed."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NoReturn

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.errors import LocalError, LockgateError
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.settings.config import Config
from lockgate.testing.belongings import nothing_left
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.steps import Kill
from lockgate.testing.tool import ScriptedTool
from lockgate.testing.turns import turns

SERVER = ScriptedServer()


class Boom(Exception):
    """What nobody expects."""


async def opening(project: Project, **options: Any) -> None:
    """Open a gate with one good server, and close it."""
    project.add("s", SERVER)
    around = Surroundings(environ=project.environ(), cwd=project.root)
    async with lockgate.open(project.write(), surroundings=around, **options):
        pass


class Breaking(Mapping[str, str]):
    """A clock and an environment that work so many times, and then raise."""

    def __init__(self, times: int, environ: Mapping[str, str]) -> None:
        self._left = times
        self._environ = environ

    def count(self) -> None:
        """One more use."""
        self._left -= 1
        if self._left < 0:
            raise Boom

    def __call__(self) -> float:
        self.count()
        return 1_800_000_000.0

    def __getitem__(self, name: str) -> str:
        self.count()
        return self._environ[name]

    def __iter__(self) -> Iterator[str]:
        self.count()
        return iter(self._environ)

    def __len__(self) -> int:
        return len(self._environ)


def served(**settings: Any) -> tuple[Config, LoopServer]:
    """A configuration with a server in this loop, and that server."""
    server = LoopServer(SERVER)
    endpoint = SERVER.endpoint()
    one = lockgate.ServerSettings(name="s", endpoint=endpoint, **settings)
    return Config(servers=(one,)), server


@pytest.mark.req("S3-07")
async def test_whatever_breaks_while_a_gate_is_built_leaves_nothing(project: Project) -> None:
    """Clock, environment and connecting break at their first use, at their second, and so on until
    a gate opens: each time all that was made is closed."""
    config, server = served()

    async def opens(times: int) -> bool:
        breaking = Breaking(times, project.environ())

        def connect(of: lockgate.ServerSettings) -> Any:
            breaking.count()
            return server.transport(peer=of.name)

        around = Surroundings(breaking, project.root, breaking, connect=connect)
        opened = False
        async with nothing_left():
            with suppress(Boom, LockgateError):
                async with lockgate.open(config, surroundings=around) as gate:
                    opened = gate.failed == {}
        return opened

    times = 0
    while not await opens(times):
        times += 1
        assert times < 200
    assert times > 3


@pytest.mark.req("S3-07")
async def test_opening_that_is_cancelled_at_any_moment_leaves_nothing(project: Project) -> None:
    """After each turn of the loop, until it is open; the server of it in this loop."""
    config, server = served()
    around = Surroundings(
        environ=project.environ(),
        cwd=project.root,
        connect=lambda of: server.transport(peer=of.name),
    )

    async def work() -> None:
        async with lockgate.open(config, surroundings=around):
            pass

    async def opens(count: int) -> bool:
        async with nothing_left():
            task = asyncio.create_task(work())
            await turns(count)
            over = task.done()
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        return over

    count = 0
    while not await opens(count):
        count += 1
        assert count < 300
    assert count > 5


@pytest.mark.req("S3-07")
@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("state.db", "state database"),
        ("audit.key", "key of the records"),
        ("digest.key", "key of the records"),
    ],
)
async def test_a_place_that_can_not_be_used_leaves_nothing(
    project: Project, broken: str, told: str
) -> None:
    """A directory where a file of the state has to be."""
    config, _ = served()
    state = project.root / "state"
    state.mkdir()
    (state / broken).mkdir()
    config = lockgate.Config(servers=config.servers, state_dir=state)
    around = Surroundings(environ=project.environ(), cwd=project.root)
    async with nothing_left():
        with pytest.raises(LockgateError, match=told):
            async with lockgate.open(config, surroundings=around):
                pass
    await project.none_left_running()


async def no_opinion(said: HookInput) -> None:
    """What a hook runs that is never reached."""


class Hopeless:
    """An approver of a name that no approver may have."""

    name = "rule"
    scopes = frozenset[Any]()

    async def __call__(self, question: Any) -> NoReturn:
        raise Boom


@pytest.mark.req("S3-07")
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"tools": [ScriptedTool("add"), ScriptedTool("add")]}, LockgateError),
        ({"approvers": [Hopeless()]}, LocalError),
        ({"hooks": [Hook(HookEvent.PRE_TOOL, no_opinion, "h", matcher="Bash(")]}, LockgateError),
        ({"name": "no name"}, LocalError),
        ({"services": {"nobody": object()}}, LockgateError),
    ],
    ids=["tools", "approvers", "hooks", "name", "services"],
)
async def test_what_a_program_gives_wrong_leaves_nothing(
    project: Project, options: dict[str, Any], error: type[LockgateError]
) -> None:
    """Found before the servers are started, or after: what was made by then is closed."""
    async with nothing_left():
        with pytest.raises(error):
            await opening(project, **options)
    await project.none_left_running()


@pytest.mark.req("S3-07")
@pytest.mark.parametrize("key", [{"required": True}, {"expectTools": ["none"]}])
async def test_a_promise_that_does_not_hold_leaves_nothing(
    project: Project, key: dict[str, Any]
) -> None:
    """A required server that dies at its start, an expected tool that is not there: after the
    others have started."""
    dying = ScriptedServer(opening=(Kill(),)) if "required" in key else SERVER
    project.add("other", dying, **key)
    async with nothing_left():
        with pytest.raises(LockgateError):
            await opening(project)
    await project.none_left_running()


@pytest.mark.req("S3-07")
async def test_opening_a_process_that_says_nothing_can_be_cancelled(project: Project) -> None:
    """A server that never answers is started, and ended with the opening."""
    silent = project.add(
        "silent", ScriptedServer(rules=(When("initialize"), When("server/discover")))
    )
    async with nothing_left():
        task = asyncio.create_task(opening(project))
        await silent.wait_for("received")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    await project.none_left_running()
