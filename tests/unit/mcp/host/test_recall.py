"""Servers that are not started: what was last seen of them stands in (B-05, S0-11)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import Fate, LocalError
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.seen import SeenServer, Sighting, remembering
from lockgate.mcp.host.settings import AnnotationTrust, ServerSettings
from lockgate.mcp.host.status import ServerState
from lockgate.mcp.transport.base import Transport
from lockgate.stores.last_seen import LastSeenFolder
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import ScriptedServer, tool
from lockgate.tools.context import Bounds, Environment, Execution, ToolContext
from lockgate.tools.permit import Permit
from lockgate.tools.registry import Registry
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

MakeManager = Callable[..., Manager]

READS = {"readOnlyHint": True}
SERVER = ScriptedServer(
    (
        tool("read", "Reads.", annotations=READS, title="Read"),
        tool("twice", annotations=READS),
        tool("twice", "another", annotations=READS),
        {"name": "bad", "inputSchema": []},
    ),
    instructions="Be careful.",
)
TRUSTED: dict[str, Any] = {"s": {"annotation_trust": AnnotationTrust.TRUST}}


@pytest.fixture
def folder(tmp_path: Path) -> LastSeenFolder:
    """Where servers are kept."""
    return LastSeenFolder(tmp_path / "servers")


def _unreachable(settings: ServerSettings) -> Transport:
    """A way to a server that is not there: starting it fails."""
    return LoopServer(ScriptedServer(revisions=("1999-01-01",))).transport(peer=settings.name)


def _offline(endpoint: StdioEndpoint, folder: LastSeenFolder, **settings: Any) -> Manager:
    entry = ServerSettings("s", endpoint, **settings)
    return Manager([entry], connect=_unreachable, seen=folder)


@pytest.mark.req("B-05")
@pytest.mark.req("S0-11")
async def test_offline_the_same_tools_are_registered_with_the_same_ruling(
    managed: MakeManager, registry: Registry, folder: LastSeenFolder
) -> None:
    """Definition, claim, ruling, reasons, remarks and fingerprint are those of the server itself;
    what could not be used of its list is told again."""
    report = await managed({"s": SERVER}, TRUSTED, seen=folder, now=lambda: 5.0).start(registry)
    place = Registry()
    offline = _offline(StdioEndpoint("fake"), folder, annotation_trust=AnnotationTrust.TRUST)
    recalled = offline.offline(place)
    before, after = registry.snapshot().tools, place.snapshot().tools
    assert [t.definition for t in before] == [t.definition for t in after]
    assert [repr(t) for t in before] == [repr(t) for t in after]
    assert after[0].is_read_only
    assert after[1].is_destructive  # it was listed twice: its claim counts for nothing
    (then,), (now,) = report.servers, recalled.servers
    assert (now.left_out, now.tools, now.remarks) == (then.left_out, then.tools, then.remarks)
    assert (now.state, now.seen, recalled.failed) == (ServerState.LAST_SEEN, 5.0, ())
    await offline.close()
    assert len(place.snapshot()) == 0


@pytest.mark.req("B-05")
async def test_a_call_to_a_recalled_tool_sends_nothing(
    managed: MakeManager, registry: Registry, folder: LastSeenFolder
) -> None:
    """It answers not_connected, and that nothing was sent is certain."""
    await managed({"s": SERVER}, seen=folder).start(Registry())
    _offline(StdioEndpoint("fake"), folder).offline(registry)
    execution = Execution(
        "e", "test", Bounds(SideEffectLevel.MUTATING, None), False, Environment(Path())
    )
    outcome = await registry.snapshot().tools[0].execute({}, Permit(ToolContext(execution, "c")))
    assert (outcome.result.kind, outcome.fate) == (ErrorKind.NOT_CONNECTED, Fate.NOT_SENT)
    assert "was not started" in outcome.result.text


@pytest.mark.req("B-05")
@pytest.mark.parametrize(
    "endpoint",
    [
        StdioEndpoint("other"),
        StdioEndpoint("fake", ("--now",)),
        StdioEndpoint("fake", env={"X": "1"}),
    ],
)
async def test_a_server_that_is_reached_otherwise_since_is_another_server(
    managed: MakeManager, registry: Registry, folder: LastSeenFolder, endpoint: StdioEndpoint
) -> None:
    """Another program, other arguments, another variable: what was seen says nothing of it."""
    await managed({"s": SERVER}, seen=folder).start(Registry())
    report = _offline(endpoint, folder).offline(registry)
    assert report.errors == {
        "s": "not started, and what starts it has changed since it was last there"
    }
    assert len(registry.snapshot()) == 0


def test_a_server_that_was_never_there_has_no_tools(
    registry: Registry, folder: LastSeenFolder
) -> None:
    """It is failed, with the reason; a required one is missing."""
    manager = _offline(StdioEndpoint("fake"), folder, required=True)
    report = manager.offline(registry)
    assert report.errors == {"s": "not started, and nothing is known of it from before"}
    assert report.unreachable
    with pytest.raises(LocalError, match="started once"):
        manager.offline(registry)


@pytest.mark.req("B-05")
async def test_only_what_is_not_known_is_started(
    managed: MakeManager, registry: Registry, folder: LastSeenFolder
) -> None:
    """With `recall`, one server stands in from last time, and the other is started."""
    await managed({"s": SERVER}, seen=folder).start(Registry())
    fresh = LoopServer(ScriptedServer((tool("x"),)))
    manager = managed({"s": LoopServer(SERVER), "t": fresh}, seen=folder)
    report = await manager.start(registry, recall=True)
    assert [s.state for s in report.servers] == [ServerState.LAST_SEEN, ServerState.READY]
    assert [t.name for t in registry.snapshot().tools] == [
        "mcp__s__read",
        "mcp__s__twice",
        "mcp__t__x",
    ]
    seen = folder.last("t")
    assert seen is not None
    assert [t.name for t in seen.tools] == ["x"]


async def test_one_that_was_not_started_can_be_asked_for(
    managed: MakeManager, registry: Registry, folder: LastSeenFolder
) -> None:
    """Its tools are those of the server from then on, and calls reach it."""
    server = LoopServer(ScriptedServer((tool("t"),)))
    await managed({"s": server}, seen=folder).start(Registry())
    manager = managed({"s": server}, seen=folder)
    await manager.start(registry, recall=True)
    assert manager.statuses[0].state is ServerState.LAST_SEEN
    (status,) = await manager.reconnect("s")
    assert status.state is ServerState.LAST_SEEN  # it is not missing, it was not wanted
    (status,) = await manager.reconnect("s", failed_only=False)
    assert (status.state, status.tools) == (ServerState.READY, ("mcp__s__t",))
    (entry,) = registry.snapshot().entries.values()
    execution = Execution(
        "e", "test", Bounds(SideEffectLevel.MUTATING, None), False, Environment(Path())
    )
    outcome = await entry.tool.execute({}, Permit(ToolContext(execution, "call")))
    assert outcome.result.text == "{}"


def test_a_program_beside_the_project_is_the_same_wherever_the_project_stands() -> None:
    """What a fingerprint covers of a command in the project names it from there."""
    here = StdioEndpoint("/home/a/p/tools/serve", cwd=Path("/home/a/p"))
    there = StdioEndpoint("/srv/p/tools/serve", cwd=Path("/srv/p"))
    assert here.identity() == there.identity()
    assert here.identity()["command"] == "./tools/serve"
    elsewhere = StdioEndpoint("/usr/bin/serve", cwd=Path("/srv/p"))
    assert elsewhere.identity()["command"] == "/usr/bin/serve"
    assert StdioEndpoint("npx", cwd=Path("/srv/p")).identity()["command"] == "npx"


_digests = st.sampled_from(["a", "b"])


@given(st.lists(_digests, min_size=1, max_size=8))
def test_first_seen_stays_first_and_since_tells_the_last_change(digests: list[str]) -> None:
    """However often a definition changes: the first one is kept, and when the last one began."""
    kept: SeenServer | None = None
    for number, digest in enumerate(digests):
        now = float(number)
        sightings = {"t": Sighting(digest, now, digest, now, now)}
        kept = remembering(kept, SeenServer("s", "e", now, None, (), sightings=sightings))
    assert kept is not None
    seen = kept.sightings["t"]
    same = len(digests) - 1
    while same and digests[same - 1] == digests[-1]:
        same -= 1
    assert seen == Sighting(digests[0], 0.0, digests[-1], float(same), float(len(digests) - 1))
    gone = remembering(kept, replace(kept, sightings={}))
    assert gone.sightings == kept.sightings
