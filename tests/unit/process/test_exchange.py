"""One exchange with a program: what is heard, what bounds it, what is left of it."""

from __future__ import annotations

import asyncio
import sys

import pytest

from lockgate.errors import LocalError
from lockgate.process.exchange import Exchanged, exchange
from lockgate.process.program import Program
from lockgate.testing.belongings import Belongings, left_since


async def run(code: str, *, most: int = 100, most_errors: int = 0) -> Exchanged:
    """What a program of this code says to `told`, in bounded time, with nothing left of it."""
    before = Belongings.now()
    program = Program("it", sys.executable, ("-c", code), {}, None)
    try:
        async with asyncio.timeout(20):
            return await exchange(program, b"told\n", most=most, most_errors=most_errors)
    finally:
        assert await left_since(before) == ()


async def test_what_it_says_and_how_it_ends_is_heard() -> None:
    """Its output whole; of its standard error as much as was wanted."""
    code = "import sys; print(input().upper()); sys.stderr.write('no!'); sys.exit(3)"
    for most_errors, errors in ((0, b""), (2, b"no"), (9, b"no!")):
        said = await run(code, most_errors=most_errors)
        assert (said.output, said.errors) == (b"TOLD\n", errors)
        assert said.status is not None
        assert said.status.code == 3
        assert "TOLD" not in repr(said)


async def test_too_much_output_ends_it() -> None:
    """At once, also if it would go on for ever."""
    with pytest.raises(LocalError, match="over 100 bytes"):
        await run("while True: print('x' * 1000)")


@pytest.mark.parametrize(("stream", "fails"), [("stdout", True), ("stderr", False)])
async def test_output_that_somebody_else_holds_open_is_not_waited_for(
    stream: str, fails: bool
) -> None:
    """Nobody knows what would still come; of an output that nobody listens to that is no matter."""
    code = (
        "import os, subprocess, sys\n"
        f"subprocess.Popen(['sleep', '60'], process_group=0, {stream}=None, "
        f"{'stderr' if stream == 'stdout' else 'stdout'}=subprocess.DEVNULL)\n"
        "print('done', flush=True)"
    )
    if fails:
        with pytest.raises(LocalError, match="held open"):
            await run(code)
    else:
        assert (await run(code)).output == b"done\n"
