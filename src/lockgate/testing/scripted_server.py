"""An MCP server that does what a script says, good or bad. Runs as a process of its own.

    python -I -S scripted_server.py '{"tools": [...], ...}'      or a path to a file that holds it

Standard library only, and little of it, so that it starts in a few hundredths of a second. The
script is made by `lockgate.testing.script`, which documents what can be in it. Half of this file
knows MCP and does nothing (`Conversation`: what a frame makes it do, as effects), half does the
effects (`Process`); `lockgate.testing.loop_server` does them in a caller's event loop instead.
"""

from __future__ import annotations

import heapq
import json
import os
import select
import signal
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing takes longer to import than this server to start
    from collections.abc import Generator, Mapping
    from typing import Any, TypeAlias

    Json: TypeAlias = dict[str, Any]
    Effect: TypeAlias = tuple[Any, ...]
    """`("sleep", s)`, `("write", bytes, piece, pause)`, `("stderr", bytes)`, `("exit", code)`,
    `("kill", number)`, `("close", fd)`, `("spawn", s)`, `("reply", id)`, `("deaf",)`; in an event
    loop also `("do", step, message)`."""
    Strand: TypeAlias = Generator[Effect, Json | None, None]
    """What one message makes the server do, step by step; strands run side by side."""

VERSION = "io.modelcontextprotocol/protocolVersion"
MODERN = "2026-07-28"
"""Revisions from this one on have no handshake."""
TICK = 1 / 64
"""Seconds between two looks at the input of a server that reads slowly."""
KEEP: Mapping[str, object] = {"cacheScope": "private", "ttlMs": 0}


class Ledger:
    """A file with one JSON line for each thing that happened. A call is on disk before it runs."""

    def __init__(self, path: str | None, server: str) -> None:
        self._server = server
        self._file = -1
        if path:
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, event: str, **facts: Any) -> None:
        """Append one line."""
        if self._file < 0:
            return
        line = {"server": self._server, "pid": os.getpid(), "event": event, **facts}
        os.write(self._file, json.dumps(line).encode() + b"\n")
        if event == "call":
            os.fsync(self._file)

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class Conversation:
    """What the server knows, and what each frame makes it do."""

    def __init__(self, script: Json) -> None:
        self.script = script
        self.replies: dict[int | str, Json] = {}
        """What the client answered to requests of ours, until the strand that waits takes it."""
        self.ledger = Ledger(script.get("ledger"), script["name"])
        self._modern = any(name >= MODERN for name in script["revisions"])
        self._counts: dict[int, int] = {}
        self._asked = 0
        self._cancelled: set[int | str] = set()

    def opening(self) -> Strand:
        """What it does before it reads anything."""
        self.ledger.write("start")
        yield from self.steps(self.script["opening"], None)

    def ending(self) -> Strand:
        """What it does when the client has hung up; then it ends, unless told otherwise."""
        self.ledger.write("eof")
        yield from self.steps(self.script["ending"], None)
        if not self.script["ignores_eof"]:
            yield ("exit", 0)

    def received(self, message: Json | None, size: int) -> Strand | None:
        """What one frame of that size makes it do, `decoded`."""
        if message is None:
            self.ledger.write("garbage", size=size)
            return None
        if "method" not in message:
            self.ledger.write("reply", message=message)
            self.replies[message.get("id", "")] = message
            return None
        params: Json = message.get("params") or {}
        if message["method"] == "tools/call":
            name, given = params.get("name"), params.get("arguments")
            again = {k: params[k] for k in ("inputResponses", "requestState") if k in params}
            self.ledger.write("call", id=message.get("id"), tool=name, arguments=given, **again)
        else:
            self.ledger.write("received", method=message["method"], params=params)
        if message["method"] == "notifications/cancelled" and self.script["heeds_cancel"]:
            self._cancelled.add(params.get("requestId", ""))
        steps = self._matching(message["method"], params)
        if steps is None:
            if "id" not in message:
                return None
            steps = self.script["default"]
        return self.steps(steps, message)

    def _matching(self, method: str, params: Json) -> list[Json] | None:
        """The steps of the first rule that is for this message. Rules come, and never go."""
        for rule in self.script["rules"]:
            if rule["method"] != method or rule["tool"] not in (None, params.get("name")):
                continue
            count = self._counts[id(rule)] = self._counts.get(id(rule), 0) + 1
            if rule["nth"] in (None, count) and count % rule["every"] == 0:
                return rule["steps"]
        return None

    def steps(self, steps: list[Json], message: Json | None) -> Strand:
        """Do these about a message, as long as it is not cancelled."""
        identity = None if message is None else message.get("id")
        for step in steps:
            if identity is not None and identity in self._cancelled:
                return
            kind = step["do"]
            if kind == "sleep":
                yield ("sleep", self._seconds(step, message))
            elif kind == "answer":
                yield self._write(self._answer(step, message or {}), step)
            elif kind == "send":
                yield self._write(step["message"], step)
            elif kind == "ask":
                self._asked += 1
                name = f"ask-{self._asked}"
                asked = {"jsonrpc": "2.0", "id": name, "method": step["method"]}
                yield self._write({**asked, "params": step["params"]}, step)
                yield ("reply", name)
            elif kind == "raw":
                yield ("write", step["bytes"].encode("latin-1"), 0, 0)
            elif kind == "stderr":
                for _ in range(step["times"]):
                    yield ("stderr", step["text"].encode("utf-8", "surrogateescape"))
            elif kind == "do":
                yield ("do", step["step"], message)
            else:
                yield (kind, *step["with"])

    def _seconds(self, step: Json, message: Json | None) -> float:
        if step["argument"] is None or message is None:
            return step["seconds"]
        arguments: Json = message["params"].get("arguments") or {}
        return arguments.get(step["argument"], 0)

    def _write(self, message: Json, step: Json) -> Effect:
        """The effect of writing a message in the shape that the step wants."""
        shape = step["shape"]
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        if step.get("frame_size"):
            # The text of a tool's result, grown until the frame has exactly this many bytes.
            data = data.replace(b"@fill@", b"x" * (step["frame_size"] - len(data) + 6), 1)
        for old, new in shape["swap"]:
            data = data.replace(old.encode("latin-1"), new.encode("latin-1"))
        data = shape["prefix"].encode("latin-1") + data + shape["ending"].encode("latin-1")
        return ("write", data, shape["piece"], shape["pause"])

    # ------------------------------------------------------------ answers

    def _answer(self, step: Json, message: Json) -> Json:
        identity = step["id"][0] if step["id"] else message.get("id")
        head: Json = {"jsonrpc": "2.0", "id": identity}
        if step["error"] is not None:
            return {**head, "error": step["error"]}
        if step["result"] is not None:
            return {**head, "result": step["result"]}
        params: Json = message.get("params") or {}
        meta: Json = params.get("_meta") or {}
        version = meta.get(VERSION) if self._modern else None  # older ones have no such key
        if version is not None and version not in self.script["revisions"]:
            return {**head, "error": self._unsupported(version)}
        text = self._text(step, params)
        result = self._standard(message.get("method", ""), params, text)
        if "code" in result:
            return {**head, "error": result}
        if version is not None:
            about = {"io.modelcontextprotocol/serverInfo": self._info()}
            result = {"resultType": "complete", **result, "_meta": about}
        return {**head, "result": result}

    def _standard(self, method: str, params: Json, text: str | None) -> Json:
        """What a good server answers; an error has a `code`."""
        revisions = self.script["revisions"]
        legacy = [name for name in revisions if name < MODERN]
        if method == "initialize" and legacy:
            wanted = params.get("protocolVersion")
            chosen = wanted if wanted in legacy else legacy[0]
            return {"protocolVersion": chosen, "serverInfo": self._info(), **self._abilities()}
        if method == "initialize":
            return self._unsupported(params.get("protocolVersion", ""))
        if method == "server/discover" and self._modern:
            modern = [name for name in revisions if name >= MODERN]
            return {"supportedVersions": modern, **self._abilities(), **KEEP}
        if method == "tools/list":
            return {**self._page(params.get("cursor")), **(KEEP if "_meta" in params else {})}
        if method == "ping":
            return {}
        if method == "tools/call":
            if params.get("name") not in [_name_of(tool) for tool in self.script["tools"]]:
                return {"code": -32602, "message": f"Unknown tool: {params.get('name')}"}
            if text is None:
                text = json.dumps(params.get("arguments") or {}, ensure_ascii=False)
            return {"content": [{"type": "text", "text": text}]}
        return {"code": -32601, "message": f"Method not found: {method}"}

    def _abilities(self) -> Json:
        known: Json = {"capabilities": self.script["capabilities"]}
        if self.script["instructions"] is not None:
            known["instructions"] = self.script["instructions"]
        return known

    def _page(self, cursor: str | None) -> Json:
        tools, size = self.script["tools"], self.script["page_size"]
        if not size:
            return {"tools": tools}
        start = int(cursor or 0)
        page: Json = {"tools": tools[start : start + size]}
        if start + size < len(tools):
            page["nextCursor"] = str(start + size)
        return page

    def _text(self, step: Json, params: Json) -> str | None:
        """The text of a tool's result."""
        if step["size"] is not None:
            return step["fill"] * step["size"]
        if step["report"] is not None:
            return json.dumps(_report(step["report"]))
        return "@fill@" if step["frame_size"] else step["text"]

    def _info(self) -> Json:
        return {"name": self.script["name"], "version": self.script["version"]}

    def _unsupported(self, version: str) -> Json:
        data = {"supported": self.script["revisions"], "requested": version}
        return {"code": -32022, "message": "Unsupported protocol version", "data": data}


def decoded(frame: bytes) -> Json | None:
    """A JSON object; None for all else."""
    try:
        value: Any = json.loads(frame)
    except ValueError:
        return None
    return value if _is_object(value) else None


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _name_of(tool: Any) -> Any:
    return tool.get("name") if _is_object(tool) else None


def _report(what: str) -> Any:
    if what == "environ":
        return dict(os.environ)
    if what == "parent":
        with open(f"/proc/{os.getppid()}/environ", "rb") as file:  # noqa: PTH123 - pathlib starts slowly
            return file.read().decode("utf-8", "replace").split("\0")
    if what == "cwd":
        return os.getcwd()  # noqa: PTH109 - the same
    if what == "argv":
        return sys.argv
    links: Json = {}
    for fd in os.listdir("/proc/self/fd"):  # noqa: PTH208 - the same
        try:
            links[fd] = os.readlink(f"/proc/self/fd/{fd}")  # noqa: PTH115 - the same
        except OSError:
            pass  # the one that listed them
    return links


# ------------------------------------------------------------------ as a process


class Process:
    """Does the effects for real, one after the other, and many strands side by side."""

    def __init__(self, conversation: Conversation) -> None:
        self._talk = conversation
        self._due: list[tuple[float, int, Strand]] = []
        self._waiting: dict[str, Strand] = {}
        self._number = 0
        self._rate: float = conversation.script["read_rate"]
        self._reading = True
        self._input = b""

    def run(self) -> None:
        """Until an effect ends it, at the latest after the end of input."""
        if self._talk.script["ignores_sigterm"]:
            signal.signal(signal.SIGTERM, self._note)
        self._advance(self._talk.opening())
        while True:
            now = time.monotonic()
            while self._due and self._due[0][0] <= now:
                self._advance(heapq.heappop(self._due)[2])
            patience = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
            if not self._reading:
                time.sleep(3600 if patience is None else patience)
            elif select.select([0], [], [], patience)[0] and not self._read():
                self._reading = False
                self._advance(self._talk.ending())

    def _note(self, number: int, frame: object) -> None:
        self._talk.ledger.write("signal", number=number)

    def _read(self) -> bool:
        """Take in what there is; False at the end of input."""
        if self._rate:
            time.sleep(TICK)
        data = os.read(0, 1 + int(self._rate * TICK) if self._rate else 1 << 16)
        if not data:
            return False
        *lines, self._input = (self._input + data).split(b"\n")
        for line in lines:
            strand = self._talk.received(decoded(line), len(line))
            if strand is not None:
                self._advance(strand)
        for name in [n for n in self._waiting if n in self._talk.replies]:
            self._advance(self._waiting.pop(name))
        return True

    def _advance(self, strand: Strand) -> None:
        """Go on with a strand until it has to wait."""
        for effect in strand:
            kind = effect[0]
            if kind == "sleep":
                self._number += 1
                heapq.heappush(self._due, (time.monotonic() + effect[1], self._number, strand))
                return
            if kind == "reply":
                self._waiting[effect[1]] = strand
                return
            self._perform(kind, effect)

    def _perform(self, kind: str, effect: Effect) -> None:
        if kind == "write":
            _write(1, *effect[1:])
        elif kind == "stderr":
            _write(2, effect[1], 0, 0)
        elif kind == "exit":
            os._exit(effect[1])
        elif kind == "kill":
            os.kill(os.getpid(), effect[1])
            time.sleep(5)  # the signal is under way
        elif kind == "close":
            self._reading = self._reading and effect[1] != 0
            os.close(effect[1])
        elif kind == "spawn":
            seconds = str(effect[1])
            pid = os.posix_spawnp("sleep", ["sleep", seconds], os.environ)
            self._talk.ledger.write("spawned", grandchild=pid)
        elif kind == "deaf":
            self._reading = False


def _write(fd: int, data: bytes, piece: int, pause: float) -> None:
    """Write all of it, in pieces with a pause after each if a piece has a size."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view[:piece] if piece else view) :]
        if pause and view:
            time.sleep(pause)


def main() -> None:
    """Run the script of the command line."""
    text = sys.argv[1]
    if not text.startswith("{"):
        with open(text, encoding="utf-8") as file:  # noqa: PTH123 - the same
            text = file.read()
    Process(Conversation(json.loads(text))).run()


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, KeyboardInterrupt):
        sys.exit(1)
