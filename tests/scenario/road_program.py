"""A program with one destructive tool, for tests that need a second process.

    python road_program.py STATE_DIR suspend            make the call; print its ticket
    python road_program.py STATE_DIR resume TICKET      answer yes; print the result's kind
    python road_program.py STATE_DIR hang [TICKET]      make or resume the call; never end

The tool adds a line to `effects` in the state directory. With `hang` it prints `running` after
that and waits to be killed.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lockgate.calls.call import Call, Suspended
from lockgate.errors import LocalError
from lockgate.policy.approval import Answer, Later
from lockgate.stores.audit import AuditLog
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import ToolContext
from lockgate.tools.result import ToolResult


class Effect(ScriptedTool):
    """Adds its arguments to a file, as something that can not be taken back."""

    def __init__(self, path: Path, *, hang: bool) -> None:
        super().__init__("pay")
        self._path = path
        self._hang = hang

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        with self._path.open("a") as file:
            file.write(f"{arguments['to']} {arguments['cents']}\n")
        if self._hang:
            print("running", flush=True)
            await asyncio.Event().wait()
        return ToolResult.of("paid")


async def act(directory: Path, action: str, ticket: str | None) -> str:
    """Do what was asked for; a word for what came of it."""
    approver = ScriptedApprover([Later() if action == "suspend" else Answer(True, "person")])
    log = AuditLog(
        directory / "audit", key=bytes(32), time=time.time, new_id=lambda: secrets.token_hex(8)
    )
    tool = Effect(directory / "effects", hang=action == "hang")
    owner = secrets.token_hex(8)
    with Road(directory, [tool], attended=[approver], ledger=log, owner=owner) as road:
        result = await attempt(road, ticket)
    log.close()
    return result.ticket if isinstance(result, Suspended) else str(result.kind or result.text)


async def attempt(road: Road, ticket: str | None) -> ToolResult | Suspended:
    """Make the call, or resume it."""
    if ticket is not None:
        return await road.invoker.resume(ticket, Answer(True, "elsewhere"), road.snapshot)
    call: Call = road.call("pay", {"to": "Bob", "cents": 2**70}, session="s")
    return await road.invoker.invoke(call, road.snapshot)


def main(directory: str, action: str, ticket: str | None = None) -> None:
    """Run one action and print its outcome."""
    print("pid", os.getpid(), flush=True)
    try:
        print(asyncio.run(act(Path(directory), action, ticket)), flush=True)
    except LocalError as error:
        print(type(error).__name__, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
