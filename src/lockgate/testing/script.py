"""Scripts for servers that behave well, badly, or not at all: the same one as a process or here.

    server = ScriptedServer(
        tools=(tool("slow"),),
        rules=(When("tools/call", Sleep(0.5), Answer(), tool="slow"),),
        ledger=tmp_path / "ledger",
    )
    server.endpoint()          # a process of its own: for StdioTransport, or a configuration
    in_process.transport(server)   # in this event loop

Unless a rule says otherwise it answers as a good server does: `initialize` and `server/discover`
by its revisions, `tools/list` by pages, `tools/call` with the call's arguments as text. In the
event loop it has no streams of its own, so what is only about bytes and processes (pieces, line
ends, standard error, a grandchild, SIGTERM) does nothing there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing import scripted_server

JsonObject: TypeAlias = Mapping[str, Any]

BOTH_ERAS = ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
LEGACY = BOTH_ERAS[1:]
MODERN = BOTH_ERAS[:1]
INLINE = 100_000
"""Characters of a script that fit on a command line (Linux takes 128 KiB in one argument)."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How one frame is written."""

    prefix: bytes = b""
    """Before it, such as a byte order mark."""
    ending: bytes = b"\n"
    """After it; empty for a line that is never ended."""
    piece: int = 0
    """Bytes written at a time; 0 for all at once."""
    pause: float = 0
    """Seconds after each piece but the last."""
    swap: tuple[tuple[bytes, bytes], ...] = ()
    """Bytes replaced after encoding: what no JSON encoder would write."""


@dataclass(frozen=True, slots=True)
class Sleep:
    """Go on later; other messages are served meanwhile."""

    seconds: float = 0
    argument: str | None = None
    """Take the seconds from this argument of the call."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer the message: as a good server would, or with what is given here."""

    result: JsonObject | None = None
    error: JsonObject | None = None
    text: str | None = None
    """The text of a tool's result."""
    report: str | None = None
    """The text is JSON about the process: `environ`, `argv`, `cwd` or `fds`."""
    size: int | None = None
    """The text is `fill` so many times."""
    fill: str = "x"
    frame_size: int | None = None
    """The text is as long as makes the whole frame this many bytes, its line end not counted."""
    id: tuple[()] | tuple[int | str | None] = ()
    """Another id than the message's: `("7",)`."""
    shape: Shape = Shape()


@dataclass(frozen=True, slots=True)
class Send:
    """Send any message: a notification, or an answer that nobody asked for."""

    message: JsonObject
    shape: Shape = Shape()


@dataclass(frozen=True, slots=True)
class Ask:
    """Send a request of the server's own and wait for its answer before going on."""

    method: str
    params: JsonObject = field(default_factory=dict[str, Any])
    shape: Shape = Shape()


@dataclass(frozen=True, slots=True)
class Raw:
    """Write bytes as they are."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Stderr:
    """Write to standard error."""

    text: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class Exit:
    """End at once, whatever is under way."""

    code: int = 0


@dataclass(frozen=True, slots=True)
class Kill:
    """Be ended by a signal."""

    signal: int = 9


@dataclass(frozen=True, slots=True)
class Close:
    """Close standard input (0) or standard output (1), and go on running."""

    fd: int


@dataclass(frozen=True, slots=True)
class Spawn:
    """Start a grandchild that holds all pipes and sleeps."""

    seconds: int = 600


@dataclass(frozen=True, slots=True)
class Deaf:
    """Read nothing any more, not even the end of input."""


Step: TypeAlias = Sleep | Answer | Send | Ask | Raw | Stderr | Exit | Kill | Close | Spawn | Deaf


class When:
    """What to do about a message. The first rule that fits counts; no steps: no answer, ever."""

    __slots__ = ("every", "method", "nth", "steps", "tool")

    def __init__(
        self,
        method: str,
        *steps: Step,
        tool: str | None = None,
        nth: int | None = None,
        every: int = 1,
    ) -> None:
        """`tool`: only its calls. `nth`: only the n-th message that fits, from 1; `every`: only
        each so manyth."""
        self.method = method
        self.steps = steps
        self.tool = tool
        self.nth = nth
        self.every = every


def tool(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    """A tool's definition, with a schema that takes any object unless `more` says otherwise."""
    return {
        "name": name,
        "description": description,
        "inputSchema": {"type": "object"},
        **more,
    }


ECHO: JsonObject = tool("echo", "Answers with its arguments.", annotations={"readOnlyHint": True})


@dataclass(frozen=True, slots=True)
class ScriptedServer:
    """One server and all that it does."""

    tools: tuple[Any, ...] = (ECHO,)
    """Definitions, put on the wire as they are; they need not be good ones."""
    rules: tuple[When, ...] = ()
    revisions: tuple[str, ...] = BOTH_ERAS
    """What it speaks, in the order in which it prefers them."""
    name: str = "scripted"
    version: str = "1"
    capabilities: JsonObject = field(default_factory=lambda: {"tools": {}})
    instructions: str | None = None
    page_size: int = 0
    """Tools on one page of the list; 0 for one page."""
    opening: tuple[Step, ...] = ()
    """Before it reads anything."""
    ending: tuple[Step, ...] = ()
    """After its input has ended."""
    heeds_cancel: bool = True
    """Whether a cancelled call is not answered any more."""
    ignores_sigterm: bool = False
    ignores_eof: bool = False
    """Whether it goes on running when its input has ended."""
    read_rate: float = 0
    """Bytes a second that it reads; 0 for as fast as they come."""
    ledger: Path | None = None
    """The file that holds what it did and was asked; see `lockgate.testing.received`."""

    def script(self) -> dict[str, Any]:
        """What `scripted_server` reads."""
        plain = {
            name: getattr(self, name)
            for name in (
                *("name", "version", "revisions", "tools", "capabilities", "instructions"),
                *("page_size", "heeds_cancel", "ignores_sigterm", "ignores_eof", "read_rate"),
            )
        }
        return {
            **plain,
            "opening": [_encoded(step) for step in self.opening],
            "ending": [_encoded(step) for step in self.ending],
            "rules": [
                {
                    "method": rule.method,
                    "tool": rule.tool,
                    "nth": rule.nth,
                    "every": rule.every,
                    "steps": [_encoded(step) for step in rule.steps],
                }
                for rule in self.rules
            ],
            "default": [_encoded(Answer())],
            "ledger": None if self.ledger is None else str(self.ledger),
        }

    def args(self, *, file: Path | None = None) -> tuple[str, ...]:
        """Arguments for a Python interpreter. A script over `INLINE` has to go into a `file`."""
        text = json.dumps(self.script())
        if file is not None:
            file.write_text(text, encoding="utf-8")
            text = str(file)
        elif len(text) > INLINE:
            raise ValueError("the script is too long for a command line: name a file for it")
        return ("-I", "-S", scripted_server.__file__, text)

    def endpoint(
        self,
        *,
        file: Path | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        python: str = sys.executable,
    ) -> StdioEndpoint:
        """The server as a program."""
        return StdioEndpoint(python, self.args(file=file), env=env or {}, cwd=cwd)


def _encoded(step: Step) -> dict[str, Any]:
    """A step as the server reads it; bytes travel as Latin-1."""
    match step:
        case Exit(code):
            return {"do": "exit", "with": [code]}
        case Kill(number):
            return {"do": "kill", "with": [number]}
        case Close(fd):
            return {"do": "close", "with": [fd]}
        case Spawn(seconds):
            return {"do": "spawn", "with": [seconds]}
        case Deaf():
            return {"do": "deaf", "with": []}
        case Raw(data):
            return {"do": "raw", "bytes": data.decode("latin-1")}
        case _:
            plain = _latin(asdict(step))
            return {"do": type(step).__name__.lower(), **plain}


def _latin(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, dict):
        return {key: _latin(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType] - of any kind
    if isinstance(value, list | tuple):
        return [_latin(item) for item in value]  # pyright: ignore[reportUnknownVariableType] - of any kind
    return value
