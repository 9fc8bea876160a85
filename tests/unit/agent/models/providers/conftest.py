"""Models of providers that are asked on a loopback port, in each wire format."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import TypeAlias

import pytest

from lockgate.agent.models.named import look_up
from lockgate.agent.models.patience import Patience
from lockgate.agent.models.providers.making import is_known, library_model
from lockgate.agent.models.providers.model import MAX_REPLY, ProviderModel
from lockgate.testing.provider_server import ProviderServer

Ask: TypeAlias = Callable[..., ProviderModel]


@pytest.fixture
async def server() -> AsyncIterator[ProviderServer]:
    """The provider."""
    async with ProviderServer() as open_server:
        yield open_server


@pytest.fixture
def waits() -> list[float]:
    """The waits between tries so far, in seconds; none of them takes time."""
    return []


@pytest.fixture
async def ask(server: ProviderServer, waits: list[float]) -> AsyncIterator[Ask]:
    """Makes the model of a name at the server; they are closed at the end."""

    async def pause(seconds: float) -> None:
        waits.append(seconds)

    async with AsyncExitStack() as stack:

        def make(
            name: str, patience: Patience | None = None, most: int = MAX_REPLY
        ) -> ProviderModel:
            named = look_up(name, server.environ, is_known)
            model = ProviderModel(
                named,
                library_model(named),
                patience=patience or Patience(),
                most=most,
                pause=pause,
                chance=lambda: 1.0,
            )
            stack.push_async_callback(model.close)
            return model

        yield make
