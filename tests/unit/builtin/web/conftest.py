"""A site, and a WebFetch that may reach it, under whatever rules a test gives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from lockgate.builtin.web.fetch import WebFetch
from lockgate.testing.lookup import ScriptedLookup
from lockgate.testing.site import Site
from lockgate.web.addresses import AddressRules
from lockgate.web.limits import Limits


@pytest.fixture
async def site() -> AsyncGenerator[Site, None]:
    """A site that knows no page yet."""
    async with Site() as made:
        yield made


@pytest.fixture
def lookup() -> ScriptedLookup:
    """Knows two names, both of the site."""
    made = ScriptedLookup()
    for host in ("a.example.com", "www.a.example.com", "b.example.org"):
        made.on(host, ("127.0.0.1",))
    return made


@pytest.fixture
def fetch(lookup: ScriptedLookup) -> WebFetch:
    """The tool, over addresses of this machine."""
    return WebFetch(
        addresses=AddressRules(private=True), lookup=lookup, limits=Limits(total=10, idle=2)
    )


@pytest.fixture
def descriptors() -> Callable[[], int]:
    """Counts the descriptors that this process has open."""
    return lambda: len(list(Path("/proc/self/fd").iterdir()))
