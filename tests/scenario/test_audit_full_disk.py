"""When no record can be written, what changes something is not done (B-02)."""

from __future__ import annotations

import errno
import logging
import os
from pathlib import Path

import pytest

from lockgate.stores.audit import AuditLog
from lockgate.stores.audit_reader import read_calls
from lockgate.stores.audit_verify import verify
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind
from lockgate.traits import SideEffectLevel

KEY = bytes(32)


class Disk:
    """`os.write` until it is full."""

    full = False

    def write(self, descriptor: int, data: bytes | bytearray) -> int:
        if self.full:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return os.write(descriptor, data)


@pytest.mark.req("B-02")
@pytest.mark.parametrize("from_the_start", [False, True])
async def test_a_full_disk_stops_what_changes_something_and_nothing_else(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, from_the_start: bool
) -> None:
    """MUTATING: refused, with the reason, and never run. READ_ONLY: runs, with a line in the
    log. With space back both run, and the chain has no gap."""
    disk, writes = Disk(), ScriptedTool("write")
    reads = ScriptedTool("read", level=SideEffectLevel.READ_ONLY, destructive=False)
    log = AuditLog(
        tmp_path / "audit", key=KEY, time=lambda: 1.0, new_id=lambda: "x", write=disk.write
    )
    yes = ScriptedApprover.always(True)
    with Road(tmp_path, [writes, reads], attended=[yes], ledger=log) as road:
        if not from_the_start:
            await road.invoke(road.call("write", id="before"))
        disk.full = True
        writes.runs.clear()
        with caplog.at_level(logging.WARNING):
            refused = await road.invoke(road.call("write"))
            read = await road.invoke(road.call("read"))
        assert (refused.kind, refused.reason) == (ErrorKind.INTERNAL, "no_record")
        assert "No space left on device" in refused.text
        assert writes.runs == []
        assert read.text == "ok"
        assert "no record of call" in caplog.text
        assert "No space left on device" in caplog.text
        disk.full = False
        assert (await road.invoke(road.call("write", id="after"))).text == "ok"
        assert (await road.invoke(road.call("read", id="last"))).text == "ok"
    log.close()
    written = [call.decision.call for call in read_calls(tmp_path / "audit").calls]
    assert written == (["after", "last"] if from_the_start else ["before", "after", "last"])
    assert verify(tmp_path / "audit", KEY).holds
