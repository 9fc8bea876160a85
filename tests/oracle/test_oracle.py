"""The official SDK's client as an oracle: what it gets from a server, lockgate gets, or it is said
why not.

The servers are real ones: the SDK's own, fastmcp's, the reference server for Node and two others.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint, StdioEndpoint
from lockgate.mcp.protocol.eras import Era
from lockgate.testing.listening import free_port, running
from lockgate.tools.result import ErrorKind
from oracle_clients import Call, Endpoint, by_lockgate, by_sdk

PROGRAM = str(Path(__file__).with_name("oracle_server.py"))

CALLS: Sequence[Call] = (
    ("echo", {"text": '가 \u2028 🙂 \\ " \x00' * 50}),
    ("echo", {"text": ""}),
    ("add", {"a": 2**53 + 1}),
    ("add", {"a": 1, "b": 41}),
    ("find", {"name": "Ada", "how": "exact"}),
    ("everybody", {"count": 0}),
    ("everybody", {"count": 3}),
    ("numbers", {}),
    ("exact", {}),
    ("nothing", {}),
    ("much", {"size": 500_000}),
    ("broken", {}),
    ("blocks", {}),
    # What follows is answered differently, see DIFFERENT.
    ("add", {"a": "one"}),
    ("add", {"a": 1, "b": -1}),
    ("find", {"name": "Ada", "how": "by ear"}),
    ("echo", {}),
    ("no_such_tool", {}),
)

DIFFERENT: Mapping[int, tuple[ErrorKind, str]] = {
    **dict.fromkeys(
        range(13, 17),
        (
            ErrorKind.INVALID_ARGUMENTS,
            "what the tool's own schema forbids is told with every fault at once, and not sent: "
            "the SDK's client sends it, and each server words one fault in its own way",
        ),
    ),
    17: (
        ErrorKind.UNKNOWN_TOOL,
        "nobody is asked about a tool that is not listed, and nothing is sent",
    ),
}
"""The index of a call, what comes of it here, and the reason."""


def readable(other: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the official client got, with the one thing that is added here.

    A model reads blocks: where a server sends a structure and no block at all, its JSON is one.
    The SDK leaves it to each program to find the structure.
    """
    if other.get("content") == [] and other.get("structured") is not None:
        text = json.dumps(other["structured"], ensure_ascii=False, separators=(",", ":"))
        return {**other, "content": [{"type": "text", "text": text}]}
    return other


@asynccontextmanager
async def served(which: str, transport: str) -> AsyncGenerator[Endpoint, None]:
    """A server of the family `which`, over that transport."""
    if transport == "stdio":
        yield StdioEndpoint(sys.executable, (PROGRAM, which, transport))
        return
    port = free_port()
    command = (sys.executable, PROGRAM, which, transport, str(port))
    async with running(*command, port=port) as origin:
        yield SseEndpoint(f"{origin}/sse") if transport == "sse" else HttpEndpoint(f"{origin}/mcp")


async def compare(
    endpoint: Endpoint,
    home: Path,
    calls: Sequence[Call],
    different: Mapping[int, tuple[ErrorKind, str]],
    eras: Sequence[Era] = tuple(Era),
) -> None:
    """Both clients, in each era, one after the other."""
    for era in eras:
        directory = home / era.value
        directory.mkdir()
        ours = await by_lockgate(endpoint, era, calls, directory)
        theirs = await by_sdk(endpoint, era, calls)
        assert ours.revision == theirs.revision
        assert (ours.name, ours.version) == (theirs.name, theirs.version)
        assert ours.instructions == theirs.instructions
        assert ours.tools == theirs.tools
        for index, (call, mine, other) in enumerate(
            zip(calls, ours.answers, theirs.answers, strict=True)
        ):
            if index in different:
                kind, reason = different[index]
                assert mine == {"error": kind}, (call, reason)
            else:
                assert mine == readable(other), call


@pytest.mark.req("S3-16")
@pytest.mark.req("B-08")
@pytest.mark.parametrize("transport", ["stdio", "sse", "stateful", "stateless", "json"])
@pytest.mark.parametrize("which", ["sdk", "fastmcp"])
async def test_the_official_client_sees_the_same(
    which: str, transport: str, tmp_path: Path
) -> None:
    """Definitions, texts, structures, every kind of content, errors: in both eras."""
    eras = (Era.LEGACY,) if transport == "sse" else tuple(Era)
    async with served(which, transport) as endpoint:
        await compare(endpoint, tmp_path, CALLS, DIFFERENT, eras)


EVERYTHING: Sequence[Call] = (
    ("echo", {"message": "가 \u2028 🙂"}),
    ("get-sum", {"a": 0.1, "b": 2**53}),
    ("get-tiny-image", {}),
    ("get-structured-content", {"location": "Chicago"}),
    ("get-annotated-message", {"messageType": "error", "includeImage": True}),
    ("get-resource-links", {"count": 3}),
    ("get-resource-reference", {"resourceType": "Text", "resourceId": -1}),
    ("trigger-long-running-operation", {"duration": 0.2, "steps": 2}),
)


@pytest.mark.req("S3-16")
@pytest.mark.parametrize("transport", ["stdio", "streamableHttp", "sse"])
async def test_the_reference_server_is_seen_the_same(
    transport: str, tmp_path: Path, node_server: Callable[[str], Path]
) -> None:
    """The one for Node: links, images, annotations of blocks, an error, progress."""
    program = str(node_server("mcp-server-everything"))
    if transport == "stdio":
        endpoint = StdioEndpoint(program)
        await compare(endpoint, tmp_path, EVERYTHING, {}, (Era.LEGACY,))
        return
    port = free_port()
    async with running(program, transport, port=port, env={"PORT": str(port)}) as origin:
        far = SseEndpoint(f"{origin}/sse") if transport == "sse" else HttpEndpoint(f"{origin}/mcp")
        await compare(far, tmp_path, EVERYTHING, {}, (Era.LEGACY,))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with nothing in it."""
    path = tmp_path / "repository"
    path.mkdir()
    subprocess.run(("git", "init", "--quiet"), cwd=path, check=True, timeout=20)
    return path


@pytest.mark.req("S3-16")
async def test_other_servers_are_seen_the_same(tmp_path: Path, repository: Path) -> None:
    """Two that are in use, as programs: what they list, answer and refuse."""
    beside = Path(sys.executable).parent
    noon = {"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Seoul"}
    servers: Mapping[str, Sequence[Call]] = {
        "mcp-server-time": (
            ("convert_time", noon),
            ("convert_time", {**noon, "time": "noon"}),
            ("get_current_time", {"timezone": "Nowhere/At_All"}),
        ),
        "mcp-server-git": (
            ("git_status", {"repo_path": str(repository)}),
            ("git_log", {"repo_path": str(repository / "nowhere")}),
        ),
    }
    for name, calls in servers.items():
        home = tmp_path / name
        home.mkdir()
        await compare(StdioEndpoint(str(beside / name)), home, calls, {}, (Era.LEGACY,))
