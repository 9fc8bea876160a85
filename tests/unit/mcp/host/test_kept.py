"""Answers that are good for a while (2026-07-28, Caching)."""

from __future__ import annotations

import asyncio

import pytest

from lockgate.mcp.host.kept import MAX_KEPT, MAX_TTL, Kept


class Asked:
    """Counts how often it is asked, and answers with that."""

    def __init__(self, ttl: float) -> None:
        self.ttl = ttl
        self.times = 0

    async def __call__(self) -> tuple[int, float]:
        self.times += 1
        return self.times, self.ttl


@pytest.mark.req("S3-19")
async def test_an_answer_is_fresh_until_its_time_is_over_and_not_a_moment_longer() -> None:
    """`now < t_received + ttlMs`; the clock starts no later than the answer came."""
    now, asked = [100.0], Asked(5.0)
    kept = Kept(lambda: now[0])
    assert await kept.through(("m", ""), asked) == 1
    now[0] = 104.9
    assert await kept.through(("m", ""), asked) == 1
    now[0] = 105.0
    assert await kept.through(("m", ""), asked) == 2


@pytest.mark.parametrize("ttl", [0.0, -1.0])
async def test_without_a_time_nothing_is_kept(ttl: float) -> None:
    """0, absent and negative all mean: stale at once."""
    kept, asked = Kept(lambda: 0.0), Asked(ttl)
    assert [await kept.through(("m", ""), asked) for _ in range(2)] == [1, 2]


async def test_another_method_or_parameter_is_another_answer() -> None:
    """A kept answer is never given for a request that differs (Cache Key)."""
    kept = Kept(lambda: 0.0)
    keys = [("m", "a"), ("m", "b"), ("n", "a")]
    assert [await kept.through(key, Asked(9.0)) for key in keys] == [1, 1, 1]
    assert [await kept.through(key, Asked(9.0)) for key in keys] == [1, 1, 1]


@pytest.mark.req("S3-19")
async def test_what_is_dropped_is_asked_for_again_also_while_it_is_on_its_way() -> None:
    """A notification makes what is kept stale at once, and so what was asked before it came."""
    kept, asked = Kept(lambda: 0.0), Asked(9.0)
    await kept.through(("m", ""), asked)
    kept.drop(lambda key: key[0] == "other")
    assert await kept.through(("m", ""), asked) == 1
    kept.drop()
    assert await kept.through(("m", ""), asked) == 2
    let = asyncio.Event()

    async def slow() -> tuple[int, float]:
        await let.wait()
        return 99, 9.0

    under_way = asyncio.create_task(kept.through(("late", ""), slow))
    await asyncio.sleep(0)
    kept.drop()
    let.set()
    assert await under_way == 99
    assert await kept.through(("late", ""), Asked(9.0)) == 1


async def test_what_is_kept_has_an_end() -> None:
    """In number, the oldest goes first; and in time, whatever a server says."""
    now = [0.0]
    kept = Kept(lambda: now[0])
    for number in range(MAX_KEPT + 1):
        await kept.through(("m", str(number)), Asked(1e18))
    again = Asked(9.0)
    assert await kept.through(("m", "1"), again) == 1
    assert again.times == 0
    await kept.through(("m", "0"), again)
    assert again.times == 1
    now[0] = MAX_TTL + 1
    await kept.through(("m", "5"), again)
    assert again.times == 2
