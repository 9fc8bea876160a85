"""A site on a loopback port, a resolver that says what a test tells it, and clients for both."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from lockgate.decision import Reason
from lockgate.testing.lookup import ScriptedLookup
from lockgate.testing.site import Site
from lockgate.web.addresses import AddressRules
from lockgate.web.client import WebClient
from lockgate.web.limits import Limits
from lockgate.web.location import Location


@pytest.fixture
async def site() -> AsyncGenerator[Site, None]:
    """A site that knows no page yet."""
    async with Site() as made:
        yield made


@pytest.fixture
def lookup() -> ScriptedLookup:
    """A resolver that knows no name yet."""
    return ScriptedLookup()


@pytest.fixture
def client(lookup: ScriptedLookup) -> Callable[..., WebClient]:
    """Makes clients that may reach the loopback addresses, with limits by name."""

    def make(*, private: bool = True, **limits: float) -> WebClient:
        return WebClient(
            addresses=AddressRules(private=private),
            lookup=lookup,
            limits=Limits(**limits),  # pyright: ignore[reportArgumentType] - two of them are ints
        )

    return make


@pytest.fixture
def anything() -> Callable[[Location], Reason | None]:
    """A judge of redirects that objects to nothing."""
    return lambda at: None


@pytest.fixture
def descriptors() -> Callable[[], int]:
    """Counts the descriptors that this process has open."""
    return lambda: len(list(Path("/proc/self/fd").iterdir()))
