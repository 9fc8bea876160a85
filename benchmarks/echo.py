"""The servers that a benchmark calls: built once, started by a client or listening over HTTP."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urljoin
from urllib.request import urlopen

HERE = Path(__file__).parent
Server: TypeAlias = "Sequence[str] | str"
"""What a client is given: the command to start, or the address to call."""
Era = Literal["legacy", "modern"]
WayName = Literal["stdio", "http", "events", "sse"]
"""How a server is reached. Over HTTP (`http`) each answer is a body, or (`events`) a stream; `sse`
is the transport of 2024, one stream for all answers."""
Listening = Literal["json", "events", "sse"]
ERAS: tuple[Era, ...] = ("legacy", "modern")


def build(directory: Path) -> tuple[list[str], str]:
    """The command of the echo server, and what it was built with."""
    for compiler in ("cc", "gcc", "clang"):
        if shutil.which(compiler):
            program = directory / "echo_server"
            source = str(HERE / "echo_server.c")
            subprocess.run([compiler, "-O2", "-pthread", "-o", str(program), source], check=True)
            return [str(program)], "C"
    return [sys.executable, str(HERE / "echo_server.py")], "Python, for want of a C compiler"


@contextmanager
def listening(command: Sequence[str], answers: Listening) -> Generator[str]:
    """Have one listen over HTTP; its address."""
    with subprocess.Popen(
        [*command, "--http", answers], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        if process.stdout is None or not (port := process.stdout.readline().strip()):
            raise SystemExit("the echo server does not listen")
        yield f"http://127.0.0.1:{port}/{'sse' if answers == 'sse' else 'mcp'}"
        # Leaving ends its input, which ends it.


def server_for(command: Sequence[str], way: WayName, stack: ExitStack) -> Server:
    """A server for one client alone: its command, or its address while `stack` is open."""
    if way == "stdio":
        return list(command)
    return stack.enter_context(listening(command, "json" if way == "http" else way))


def connections(url: str) -> int:
    """How many connections a listening server has had, those that asked this not counted."""
    with urlopen(urljoin(url, "/connections"), timeout=10) as answer:  # noqa: S310 - http, our own server
        return int(answer.read())
