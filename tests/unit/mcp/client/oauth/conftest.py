"""A server that wants tokens, open."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest

from lockgate.testing.oauth_bench import OAuthBench, oauth_bench


@pytest.fixture
async def bench() -> AsyncGenerator[OAuthBench, None]:
    """One server, one store, one clock."""
    async with oauth_bench() as made:
        yield made
