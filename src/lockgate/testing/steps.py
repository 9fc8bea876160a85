"""What a scripted server can do about a message, one step after the other."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TypeAlias

JsonObject: TypeAlias = Mapping[str, Any]
Message: TypeAlias = dict[str, Any]
"""One decoded frame of the client."""


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
    """The text is JSON about the process: `environ`, `argv`, `cwd`, `fds`, or `parent`, which is
    what it can read of its parent's environment."""
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


@dataclass(frozen=True, slots=True)
class Do:
    """Call a function with the message, and do the steps that it returns before going on.

    Only in the event loop (`LoopServer`), where the function runs beside what is read next; as a
    process, a server with such a step is refused. Where there is no message, it gets an empty one.
    """

    action: Callable[[Message], Awaitable[Step | tuple[Step, ...] | None]]


Step: TypeAlias = (
    Sleep | Answer | Send | Ask | Raw | Stderr | Exit | Kill | Close | Spawn | Deaf | Do
)


def encoded(step: Step) -> dict[str, Any]:
    """A step as the server reads it; bytes travel as Latin-1, a function does not travel."""
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
        case Do():
            return {"do": "do", "step": step}
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
