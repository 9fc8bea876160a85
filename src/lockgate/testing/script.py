"""Scripts for servers that behave well, badly, or not at all: the same one as a process or here.

    server = ScriptedServer(
        tools=(tool("slow"),),
        rules=(When("tools/call", Sleep(0.5), Answer(), tool="slow"),),
        ledger=tmp_path / "ledger",
    )
    server.endpoint()                # a process of its own: for StdioTransport, or a file
    LoopServer(server).transport()   # in this event loop, see `lockgate.testing.loop_server`

Unless a rule says otherwise it answers as a good server does: `initialize` and `server/discover`
by its revisions, `tools/list` by pages, `tools/call` with the call's arguments as text. In the
event loop it has no streams of its own, so what is only about bytes and processes (pieces, line
ends, standard error, a grandchild, SIGTERM) does nothing there. Functions (`Do`) are possible only
there.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing import scripted_server
from lockgate.testing.steps import Answer, Do, JsonObject, Step, encoded

BOTH_ERAS = ("2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
LEGACY = BOTH_ERAS[1:]
MODERN = BOTH_ERAS[:1]
INLINE = 100_000
"""Characters of a script that fit on a command line (Linux takes 128 KiB in one argument)."""


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

    def encoded(self) -> dict[str, Any]:
        """The rule as the server reads it."""
        plain = {"method": self.method, "tool": self.tool, "nth": self.nth, "every": self.every}
        return {**plain, "steps": [encoded(step) for step in self.steps]}


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
            "opening": [encoded(step) for step in self.opening],
            "ending": [encoded(step) for step in self.ending],
            "rules": [rule.encoded() for rule in self.rules],
            "default": [encoded(Answer())],
            "ledger": None if self.ledger is None else str(self.ledger),
        }

    def args(self, *, file: Path | None = None) -> tuple[str, ...]:
        """Arguments for a Python interpreter. A script over `INLINE` has to go into a `file`.

        Raises `ValueError` for a longer one without a file, and for one with a function in it.
        """
        text = json.dumps(self.script(), default=_refuse)
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


def _refuse(value: object) -> None:
    """What JSON has no form for."""
    if isinstance(value, Do):
        raise ValueError(
            "a function can not be given to another process: take the Do step out of the script, "
            "or serve it in this event loop with LoopServer"
        )
    raise TypeError(f"a script is JSON, and a {type(value).__name__} is not")
