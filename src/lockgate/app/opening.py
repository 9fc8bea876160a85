"""What `lockgate.open` gives: a gate to be, which opens with `async with` and in no other way."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import NoReturn, ParamSpec

from lockgate.app.gate import Gate
from lockgate.errors import LocalError

P = ParamSpec("P")


class Opening(AbstractAsyncContextManager[Gate, bool | None]):
    """A gate that is not open yet. Whatever is done with it but `async with` tells how it opens."""

    def __init__(self, manager: AbstractAsyncContextManager[Gate, bool | None]) -> None:
        self._manager = manager

    async def __aenter__(self) -> Gate:
        return await self._manager.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._manager.__aexit__(kind, error, trace)

    def __enter__(self) -> NoReturn:
        raise _not_open()

    def __exit__(self, *_: object) -> None:
        """Never reached: `with` fails at its beginning."""

    def __await__(self) -> NoReturn:
        raise _not_open()

    def __getattr__(self, name: str) -> NoReturn:
        if hasattr(Gate, name):
            raise _not_open()
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def opens(make: Callable[P, AsyncGenerator[Gate]]) -> Callable[P, Opening]:
    """Have a generator that yields a gate be opened with `async with`."""
    manager = asynccontextmanager(make)

    @functools.wraps(make)
    def opening(*args: P.args, **kwargs: P.kwargs) -> Opening:
        return Opening(manager(*args, **kwargs))

    return opening


def _not_open() -> LocalError:
    return LocalError(
        "the gate is not open: write `async with lockgate.open(...) as gate:`, or without asyncio "
        "`with lockgate.open_sync(...) as gate:`"
    )
