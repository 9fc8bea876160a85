"""The system's resolver, asked from a thread that nobody has to wait for."""

from __future__ import annotations

import asyncio

import pytest

from lockgate.web.lookup import SystemLookup


async def test_the_own_machine_has_a_loopback_address() -> None:
    """The hosts file is part of the system's answer."""
    found = await SystemLookup()("localhost")
    assert {"127.0.0.1", "::1"} & set(found)
    assert len(found) == len(set(found))


@pytest.mark.parametrize("host", ["no-such-name.invalid", "a" * 64 + ".invalid", "x..invalid"])
async def test_a_name_that_there_is_not_is_an_error(host: str) -> None:
    """Unknown and impossible names are one kind of error for whoever asked."""
    with pytest.raises(OSError, match=r"Errno|takes this name"):
        async with asyncio.timeout(20):
            await SystemLookup()(host)


async def test_a_look_up_that_is_given_up_bothers_nobody() -> None:
    """Cancelled, it passes on at once; the thread's answer finds nobody and says nothing."""
    task = asyncio.create_task(SystemLookup()("localhost"))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_a_loop_that_is_gone_bothers_nobody() -> None:
    """A thread that answers after the program's loop was closed ends without a word."""

    async def give_up() -> None:
        asyncio.create_task(SystemLookup()("localhost"))  # noqa: RUF006 - it is to be left behind
        await asyncio.sleep(0)

    asyncio.run(give_up())
