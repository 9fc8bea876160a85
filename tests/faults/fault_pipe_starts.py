"""Programs that fail while they are started, agreed with, or asked for their tools."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from fault_cases import until_asked
from fault_points import GARBAGE
from fault_stands import FINE
from fault_starts import LATE
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.settings import ServerSettings, Verdict
from lockgate.mcp.host.status import ServerState
from lockgate.mcp.transport.stdio import StdioTransport
from lockgate.process.child import Grace
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.received import ServerLedger
from lockgate.testing.road import Road
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Close, Deaf, Exit, Kill, Raw, Shape, Step
from lockgate.traits import SideEffectLevel

PATIENCE: Final = 2.0
"""Seconds of one request."""
BOUND: Final = 12.0
"""Seconds for all programs of a run."""
REVISIONS: Final[Mapping[str, Sequence[str]]] = {"modern": MODERN, "legacy": LEGACY}

TABLE = """
point                          when            fault        words

not there                      exec            not_started  not found
not executable                 exec            not_started  not executable
no such directory              exec            not_started  directory
no program in it               exec            not_started  Exec format error

ends at once                   start           closed       exit code 3
killed at once                 start           closed       SIGKILL
closes its output at once      start           closed       ended before it answered
closes its input at once       start           closed       closed its standard input
reads nothing                  start           timeout      initialize

silent                         agree           timeout      initialize
garbage for an answer          agree           timeout      initialize
half an answer                 agree           timeout      initialize
half an answer and ends        agree           closed       exit code 0
cut short under its id         agree           malformed    truncated
garbage under its id           agree           malformed    not JSON
no version in it               agree           unsupported  without a protocol version
another version                agree           unsupported  2099-01-01
an error                       agree           unsupported  broken
ends before it answers         agree           closed       exit code 3
answers and ends               agree           closed       exit code 3
answers and closes its output  agree           closed       closed its standard out / exit code 1

silent                         list            timeout      tools/list
garbage for an answer          list            timeout      tools/list
half an answer and ends        list            closed       exit code 0
cut short under its id         list            malformed    truncated
garbage under its id           list            malformed    not JSON
an error                       list            refused      broken
ends before it answers         list            closed       exit code 3
killed before it answers       list            closed       SIGKILL
closes its output              list            closed       closed its standard out / exit code 1
"""
"""What a server has failed with; the words are in its reason, some of them where it may be either.
The same in both eras."""

_HALF: Final = {"what": "@cut@"}
_END: Final = ((b'"@cut@"}}', b""),)
_CUT: Final = Answer(result=_HALF, shape=Shape(ending=b"", swap=_END))
_CUT_LINE: Final = Answer(result=_HALF, shape=Shape(swap=_END))
_FOREIGN: Final = {"protocolVersion": "2099-01-01", "supportedVersions": ["2099-01-01"]}
_STARTS: Final[Mapping[str, tuple[Step, ...]]] = {
    "ends at once": (Exit(3),),
    "killed at once": (Kill(9),),
    "closes its output at once": (Close(1),),
    "closes its input at once": (Close(0),),
    "reads nothing": (Deaf(),),
}
_SAYS: Final[Mapping[str, tuple[Step, ...]]] = {
    "silent": (),
    "garbage for an answer": (Raw(GARBAGE + b"\n"),),
    "half an answer": (_CUT,),
    "half an answer and ends": (_CUT, Exit(0)),
    "cut short under its id": (_CUT_LINE,),
    "garbage under its id": (
        Answer(result={}, shape=Shape(swap=((b'"result":{', b'"result":[{'),))),
    ),
    "no version in it": (Answer(result={}),),
    "another version": (Answer(result=_FOREIGN),),
    "an error": (Answer(error={"code": -32603, "message": "broken"}),),
    "ends before it answers": (Exit(3),),
    "killed before it answers": (Kill(9),),
    "answers and ends": (Answer(), Exit(3)),
    "answers and closes its output": (Answer(), Close(1)),
    "closes its output": (Close(1),),
}
_AGREEING: Final = ("server/discover", "initialize")


@dataclass(frozen=True, slots=True)
class Start:
    """A program that does not start as it should, and what has to be said of that."""

    point: str
    when: str
    fault: str
    words: str

    def rules(self) -> tuple[When, ...]:
        """What it does about the messages of its start."""
        if self.when not in ("agree", "list"):
            return ()
        methods = ("tools/list",) if self.when == "list" else _AGREEING
        return tuple(When(method, *_SAYS[self.point]) for method in methods)

    def __str__(self) -> str:
        return f"{self.point} ({self.when})"


def starts() -> Iterator[Start]:
    """Every row of the table."""
    for line in TABLE.splitlines():
        parts = [part.strip() for part in line.split("  ") if part.strip()]
        if len(parts) == 4 and parts[1] != "when":
            yield Start(*parts)


class _Stand:
    """One program, broken and then whole."""

    def __init__(self, start: Start, directory: Path, revisions: Sequence[str]) -> None:
        directory.mkdir(parents=True)
        self.start = start
        self.ledger = ServerLedger(directory / "ledger")
        self._directory = directory
        self._fine = ScriptedServer(
            (tool(FINE),), revisions=tuple(revisions), ledger=self.ledger.path
        )
        broken = replace(self._fine, opening=_STARTS.get(start.point, ()), rules=start.rules())
        self._program = directory / "program"
        self._cwd = directory / "cwd"
        self.endpoint = broken.endpoint(file=directory / "script")
        if start.when == "exec":
            self._break()

    def _break(self) -> None:
        self._whole = self.endpoint
        self.endpoint = StdioEndpoint(str(self._program), cwd=self._cwd)
        if self.start.point != "no such directory":
            self._cwd.mkdir()
        if self.start.point != "not there":
            self._program.write_bytes(b"\x01\x02\x03")
            self._program.chmod(0o600 if self.start.point == "not executable" else 0o700)

    def heal(self) -> None:
        """From now on it starts as it should."""
        self._fine.endpoint(file=self._directory / "script")
        if self.start.when == "exec":
            self._cwd.mkdir(exist_ok=True)
            words = (self._whole.command, *self._whole.args)
            quoted = " ".join(f"'{word}'" for word in words)
            self._program.write_text(f"#!/bin/sh\nexec {quoted}\n")
            self._program.chmod(0o700)


async def start_programs(era: str, directory: Path) -> list[str]:
    """Start one program for each row of the table; what is not as it has to be.

    Each has failed within the bound with its fault and its words; when all is well again each is
    there once it is asked for, and answers; nothing is left behind.
    """
    before = Belongings.now()
    wrong: list[str] = []
    rows = tuple(starts())
    stands = {
        f"s{number}": _Stand(row, directory / f"{number}", REVISIONS[era])
        for number, row in enumerate(rows)
    }
    async with AsyncExitStack() as stack:
        road = stack.enter_context(Road(directory))
        verdicts = {FINE: Verdict(SideEffectLevel.READ_ONLY)}
        manager = Manager(
            [
                ServerSettings(name, stand.endpoint, request_timeout=PATIENCE, verdicts=verdicts)
                for name, stand in stands.items()
            ],
            connect=lambda one: StdioTransport(
                stands[one.name].endpoint,
                peer=one.name,
                environ=dict(os.environ),
                grace=Grace(0.3, 0.3),
            ),
            bound=BOUND,
            probe_patience=0.5,
            pause=until_asked,
        )
        stack.push_async_callback(manager.close)
        async with asyncio.timeout(BOUND + LATE):
            await manager.start(road.registry)
        for status in manager.statuses:
            row = stands[status.name].start
            fault = "" if status.fault is None else status.fault.value
            reason = status.reason or ""
            if status.state is not ServerState.FAILED or fault != row.fault:
                wrong.append(f"{row}: {status.state.value}, {fault}: {reason}")
            elif not any(words in reason for words in row.words.split(" / ")):
                wrong.append(f"{row}: {reason}")
        for stand in stands.values():
            stand.heal()
        await manager.reconnect()
        for name, stand in stands.items():
            result = await road.invoke(road.call(f"mcp__{name}__{FINE}"))
            ran = stand.ledger.called.count(FINE)
            if result.is_error or ran != 1:
                wrong.append(
                    f"{stand.start}: does not come back, ran {ran} times: {result.text:.200}"
                )
    wrong += [f"left behind: {left}" for left in await left_since(before)]
    return wrong
