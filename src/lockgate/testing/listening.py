"""Other people's servers as processes that listen on a loopback port."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager

LOOK = 0.05
"""Seconds between two looks at a port, which tells nobody that it is open."""
PATIENCE = 30.0
"""Seconds that a server may take to listen."""


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@asynccontextmanager
async def running(
    *command: str, port: int, env: Mapping[str, str] | None = None
) -> AsyncGenerator[str, None]:
    """A server, once it listens; the origin of its address. It is ended on the way out.

    `env` is set on top of the environment. Raises TimeoutError, and `RuntimeError` if it ends.
    """
    process = await asyncio.create_subprocess_exec(
        *command,
        env={**os.environ, **(env or {})},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(PATIENCE):
            while not _listens(port):
                if process.returncode is not None:
                    raise RuntimeError(f"{command[0]} ended with {process.returncode}")
                await asyncio.sleep(LOOK)
        yield f"http://127.0.0.1:{port}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
