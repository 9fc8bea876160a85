"""The whole product as a process: the command line on a project of its own, with nobody there."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing.received import LOOK, ServerLedger
from lockgate.testing.script import ScriptedServer


@dataclass
class Project:
    """A directory with a configuration, and a home of its own."""

    root: Path
    servers: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    sections: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def file(self) -> Path:
        """The project's configuration."""
        return self.root / "lockgate.yaml"

    @property
    def state(self) -> Path:
        """Where this person's state goes."""
        return self.root / "home" / "state"

    def add_url(
        self, name: str, url: str, *, transport: str = "streamable-http", **keys: Any
    ) -> None:
        """Configure a server at an address."""
        self.servers.append({"name": name, "transport": transport, "url": url, **keys})

    def add(self, name: str, server: ScriptedServer | StdioEndpoint, **keys: Any) -> ServerLedger:
        """Configure a server; what it receives is written to the ledger that is returned."""
        ledger = self.root / f"{name}.ledger"
        if isinstance(server, ScriptedServer):
            recorded = replace(server, ledger=ledger)
            server = recorded.endpoint(file=self.root / f"{name}.script")
        entry: dict[str, Any] = {"name": name, "command": server.command, "args": list(server.args)}
        self.servers.append({**entry, **keys})
        return ServerLedger(ledger)

    def write(self) -> Path:
        """Write the configuration and return its path."""
        text = json.dumps({"mcp": {"servers": self.servers}, **self.sections})
        self.file.write_text(text, encoding="utf-8")
        return self.file

    def environ(self, **more: str) -> dict[str, str]:
        """The environment of the program: this person's home, and nothing else of theirs."""
        home = self.root / "home"
        home.mkdir(exist_ok=True)
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_STATE_HOME": str(self.state),
            "XDG_CONFIG_HOME": str(home / "config"),
            "LANG": "C.UTF-8",
            **more,
        }

    def run(
        self,
        *words: str,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        named: bool = True,
        timeout: float = 40,
    ) -> subprocess.CompletedProcess[str]:
        """Run `lockgate`, without a terminal; `named` gives the configuration by -c."""
        if self.servers or self.sections:
            self.write()
        chosen: Sequence[str] = ("-c", str(self.file)) if named else ()
        return subprocess.run(
            [sys.executable, "-m", "lockgate", *chosen, *words],
            cwd=self.root,
            env=self.environ(**(env or {})),
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
            start_new_session=True,
            check=False,
        )

    def json(self, *words: str, **options: Any) -> Any:
        """Run a command with --json and read what it prints."""
        done = self.run(*words, "--json", **options)
        if not done.stdout:
            raise AssertionError(f"exit {done.returncode}, and it said only: {done.stderr}")
        return json.loads(done.stdout)

    async def none_left_running(self, seconds: float = 5) -> None:
        """Wait until nothing that was started for this project runs; TimeoutError if it does."""
        async with asyncio.timeout(seconds):
            while self.left_running():  # noqa: ASYNC110 - other people's children do not tell
                await asyncio.sleep(LOOK)

    def left_running(self) -> list[str]:
        """Processes that were started for this project and are still there."""
        found: list[str] = []
        mark = os.fsencode(self.root)
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal() and int(entry.name) != os.getpid():
                try:
                    line = (entry / "cmdline").read_bytes()
                except OSError:
                    continue
                if mark in line:
                    found.append(line.replace(b"\0", b" ").decode(errors="replace"))
        return found
