"""Tokens that others keep: in a file that changes, and behind a function of the program's own."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from lockgate.errors import ConfigError, Fate, Fault, PeerError
from lockgate.mcp.client.bearer import MAX_BYTES, BearerFile, BearerFileTokens
from lockgate.mcp.client.handed import HandedTokens
from lockgate.mcp.transport.tokens import Challenge


def refused(used: str | None, status: int = 401) -> Challenge:
    """A refusal of this value."""
    return Challenge(status, "Bearer", used)


def put(file: Path, content: bytes | None) -> None:
    """Have exactly this in the file; None: have none."""
    file.unlink(missing_ok=True)
    if content is not None:
        file.write_bytes(content)


# ------------------------------------------------------------------ a file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a token in it."""
    path = tmp_path / "token"
    path.write_text("first\n")
    return path


async def test_the_token_is_what_stands_there_now(file: Path) -> None:
    """Its line end is none of it; a change is seen without anybody saying so."""
    tokens = BearerFileTokens(BearerFile(file), peer="far")
    assert await tokens.authorization() == "Bearer first"
    replacement = file.with_name("new")
    replacement.write_text("second")
    replacement.replace(file)
    assert await tokens.authorization() == "Bearer second"
    assert tokens.learned.values == ("first", "second")
    assert "second" not in repr(tokens)


async def test_a_refusal_is_met_by_another_token_alone(file: Path) -> None:
    """The same one again would be refused again; a missing scope is not the file's to give."""
    tokens = BearerFileTokens(BearerFile(file), peer="far")
    used = await tokens.authorization()
    assert not await tokens.challenged(refused(used))
    put(file, b"third")
    assert not await tokens.challenged(refused(used, 403))
    assert await tokens.challenged(refused(used))


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "can not be read: No such file"),
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"two words", "holds no token"),
        (b"a\nb", "holds no token"),
        (b"\xff\xfe", "holds no token"),
        (b"x" * (MAX_BYTES + 1), "holds no token"),
    ],
)
async def test_what_is_no_token_is_an_error_about_the_file(
    file: Path, content: bytes | None, told: str
) -> None:
    """With its name, without what is in it; nothing was sent."""
    put(file, content)
    tokens = BearerFileTokens(BearerFile(file), peer="far")
    with pytest.raises(PeerError, match="far: the file of its token") as raised:
        await tokens.authorization()
    assert told in str(raised.value)
    assert str(file) in str(raised.value)
    assert "two words" not in str(raised.value)
    assert (raised.value.fault, raised.value.fate) == (Fault.UNAUTHORIZED, Fate.NOT_SENT)
    put(file, b"good")
    assert await tokens.authorization() == "Bearer good"


async def test_a_pipe_is_not_waited_for(file: Path) -> None:
    """Nobody may ever write to it, and reading it would keep the whole program waiting."""
    put(file, None)
    os.mkfifo(file)
    with pytest.raises(PeerError, match="is no regular file"):
        await BearerFileTokens(BearerFile(file), peer="far").authorization()


# ------------------------------------------------------------------ a function


class Program:
    """A program that gives out values in turn."""

    def __init__(self, *values: object) -> None:
        self.values = list(values)
        self.asked: list[Challenge | None] = []

    async def __call__(self, challenge: Challenge | None) -> str | None:
        """The next one; an exception is raised."""
        self.asked.append(challenge)
        value = self.values.pop(0)
        if isinstance(value, Exception):
            raise value
        return value  # pyright: ignore[reportReturnType] - what a program does wrong is tested too


async def test_the_function_is_asked_when_it_is_needed() -> None:
    """Once for all calls, and again after a refusal."""
    program = Program("Bearer one", "Bearer two")
    tokens = HandedTokens(program, peer="far")
    assert await asyncio.gather(*(tokens.authorization() for _ in range(3))) == ["Bearer one"] * 3
    challenge = refused("Bearer one")
    assert await asyncio.gather(*(tokens.challenged(challenge) for _ in range(3))) == [True] * 3
    assert program.asked == [None, challenge]
    assert await tokens.authorization() == "Bearer two"
    assert "one" not in repr(tokens)
    assert "two" in tokens.learned.values


async def test_none_is_no_header_and_the_same_is_no_help() -> None:
    """Then the refusal stands."""
    tokens = HandedTokens(Program(None, "Bearer a", "Bearer a"), peer="far")
    assert await tokens.authorization() is None
    assert await tokens.challenged(refused(None))
    assert not await tokens.challenged(refused("Bearer a"))


@pytest.mark.parametrize("value", [7, "", "  ", b"Bearer x"])
async def test_what_is_no_value_is_told(value: object) -> None:
    """As the program's own fault."""
    tokens = HandedTokens(Program(value), peer="far")
    with pytest.raises(PeerError, match="neither a text nor None"):
        await tokens.authorization()


@pytest.mark.parametrize("value", ["Bearer a\n", "Bearer a\r\nX: y", "Bearer \0", "Bearer 열쇠"])
async def test_what_no_header_can_hold_is_not_sent(value: str) -> None:
    """It is told without the value, as what it is: nobody could be authorized by it."""
    tokens = HandedTokens(Program(value), peer="far")
    with pytest.raises(PeerError, match="no header can hold") as raised:
        await tokens.authorization()
    assert value not in str(raised.value)
    assert (raised.value.fault, raised.value.fate) == (Fault.UNAUTHORIZED, Fate.NOT_SENT)


async def test_what_it_raises_is_told_by_its_kind() -> None:
    """Its text may hold what it got; an error of ours is one already. Later it may work."""
    program = Program(RuntimeError("SEKRET"), ConfigError("no"), "Bearer good")
    tokens = HandedTokens(program, peer="far")
    with pytest.raises(PeerError, match=r"failed \(RuntimeError\)") as raised:
        await tokens.authorization()
    assert "SEKRET" not in str(raised.value)
    with pytest.raises(ConfigError):
        await tokens.authorization()
    assert await tokens.authorization() == "Bearer good"
