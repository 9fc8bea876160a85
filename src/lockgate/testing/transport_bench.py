"""What the checks of the transport contract are written with."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from lockgate.errors import Fate, PeerError
from lockgate.mcp.protocol.framing import LIMIT
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.transport.base import Link, Transport
from lockgate.testing.received import ServerLedger
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.script import ScriptedServer
from lockgate.testing.turns import turns


class Reach(Protocol):
    """How the transport under test reaches a scripted server: what a third party writes."""

    def __call__(self, server: ScriptedServer, *, frame_limit: int = LIMIT) -> Transport:
        """A transport to a new run of `server`, whose grace periods are short (a tenth of a
        second), and which refuses arriving frames over `frame_limit` bytes."""
        ...


class ContractViolation(AssertionError):
    """A transport broke the contract of `mcp.transport.base`."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What a check is given."""

    reach: Reach
    ledger: ServerLedger
    """Of the server, if the check names its path in the script. Empty."""

    @asynccontextmanager
    async def open(
        self, server: ScriptedServer, *, frame_limit: int = LIMIT
    ) -> AsyncGenerator[tuple[Link, RecordingReceiver], None]:
        """An open link with its receiver, and what every end must be like after it."""
        receiver = RecordingReceiver()
        async with self.reach(server, frame_limit=frame_limit).open(receiver) as link:
            yield link, receiver
        ended_once(receiver)


Check: TypeAlias = Callable[[Bench], Awaitable[None]]
"""One promise; its name and docstring say which. Raises `ContractViolation`."""


def require(condition: bool, otherwise: str) -> None:
    """Raise `ContractViolation` unless the condition holds."""
    if not condition:
        raise ContractViolation(otherwise)


def ended_once(receiver: RecordingReceiver) -> None:
    """`closed` was the last call, and the only one of its kind."""
    require(len(receiver.errors) == 1, f"closed was called {len(receiver.errors)} times, not once")
    require(receiver.late == 0, f"the receiver was called {receiver.late} times after closed")
    fate = receiver.errors[0].fate
    require(fate is Fate.UNKNOWN, f"what is under way at the end has fate {fate}, not UNKNOWN")


def call(identity: int, tool: str = "echo", **arguments: Any) -> Outgoing:
    """A `tools/call`, as a legacy client writes it."""
    params = {"name": tool, "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": params}
    payload = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    return Outgoing(payload, id=identity, method="tools/call")


def text_of(answer: dict[str, Any]) -> str:
    """The text of a tool's result."""
    require("result" in answer, "the server answered with an error")
    return answer["result"]["content"][0]["text"]


async def not_sent(sending: Awaitable[None], when: str) -> None:
    """Sending must fail, and prove that it did nothing."""
    try:
        async with asyncio.timeout(10):
            await sending
    except PeerError as error:
        require(error.fate is Fate.NOT_SENT, f"{when}, send says {error.fate}, not NOT_SENT")
        return
    raise ContractViolation(f"{when}, send succeeds")


async def stuck(
    send: Callable[[int], Coroutine[Any, Any, None]], most: int = 2000
) -> list[asyncio.Task[None]]:
    """Send frame after frame until one has to wait; all sends, the waiting one last."""
    sends: list[asyncio.Task[None]] = []
    for number in range(most):
        sends.append(asyncio.create_task(send(number)))
        await turns(5)
        if not sends[-1].done():
            return sends
    raise ContractViolation(f"after {most} frames that nobody reads, send still does not wait")
