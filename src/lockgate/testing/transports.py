"""The contract of `mcp.transport.base` as a suite that any transport can be held against.

    @pytest.mark.parametrize("check", CONTRACT, ids=lambda check: check.__name__)
    async def test_contract(check, tmp_path):
        await hold(check, my_reach, tmp_path)

`my_reach` makes a transport to a `ScriptedServer`: started as the program of its `endpoint()`, or
served in this loop by `LoopServer.serve` over whatever carries your frames.
Needs Linux: what is left behind is counted in /proc.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from lockgate.errors import Fate, PeerError, Phase
from lockgate.mcp.transport.base import Transport
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.received import ServerLedger
from lockgate.testing.receiver import RecordingReceiver
from lockgate.testing.transport_bench import (
    Bench,
    Check,
    ContractViolation,
    Reach,
    require,
)
from lockgate.testing.transport_endings import ENDINGS
from lockgate.testing.transport_frames import FRAMES
from lockgate.testing.transport_sending import SENDING

__all__ = ["CONTRACT", "Bench", "Check", "ContractViolation", "Reach", "fails_to_open", "hold"]

CONTRACT: Sequence[Check] = (*FRAMES, *SENDING, *ENDINGS)
"""Every promise, in no order that matters."""

BOUND = 45.0
"""Seconds that one check may take."""


async def hold(check: Check, reach: Reach, directory: Path) -> None:
    """Hold a transport against one promise; nothing may be left after it.

    `directory` is an empty one for the ledger. Raises `ContractViolation`, or TimeoutError when
    something never happens.
    """
    before = Belongings.now()
    async with asyncio.timeout(BOUND):
        await check(Bench(reach, ServerLedger(directory / "ledger")))
    left = await left_since(before)
    require(not left, f"{check.__name__}: left behind: {', '.join(left)}")


async def fails_to_open(transport: Transport) -> PeerError:
    """A transport whose server can not be reached: the error, if it is as it should be."""
    before = Belongings.now()
    receiver = RecordingReceiver()
    try:
        async with transport.open(receiver):
            pass
    except PeerError as error:
        require(error.phase in (Phase.SPAWN, Phase.CONNECT), f"failed in phase {error.phase}")
        require(error.fate is Fate.NOT_SENT, f"failed with fate {error.fate}")
        require(not receiver.errors, "a link that was never open was closed")
        left = await left_since(before)
        require(not left, f"failing to open left {', '.join(left)}")
        return error
    raise ContractViolation("a server that can not be reached was reached")
