"""Frames into a pipe: in order, in one piece where many are sent, at once where one is."""

from __future__ import annotations

import asyncio

import pytest

from lockgate.mcp.transport.writer import ENOUGH, FrameWriter


class Pipe(asyncio.WriteTransport):
    """Keeps what is written to it, write by write."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[bytes] = []
        self.closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writes.append(bytes(data))

    def is_closing(self) -> bool:
        return self.closing


@pytest.fixture
async def pipe() -> Pipe:
    """A pipe of nobody's."""
    return Pipe()


@pytest.fixture
async def writer(pipe: Pipe) -> FrameWriter:
    """A writer of it."""
    return FrameWriter(pipe)


async def test_a_single_exchange_waits_for_nothing(pipe: Pipe, writer: FrameWriter) -> None:
    """A frame goes out at once if the other side has spoken since the last one."""
    writer.write(b"a")
    assert pipe.writes == [b"a\n"]
    writer.heard()
    writer.write(b"b")
    assert pipe.writes == [b"a\n", b"b\n"]


async def test_frames_of_one_turn_are_one_write(pipe: Pipe, writer: FrameWriter) -> None:
    """While an answer is awaited, what is sent in a turn goes out at its end, in order."""
    for payload in (b"a", b"b", b"c"):
        writer.write(payload)
    assert pipe.writes == [b"a\n"]
    await asyncio.sleep(0)
    assert pipe.writes == [b"a\n", b"b\nc\n"]
    writer.write(b"d")
    await asyncio.sleep(0)
    assert pipe.writes[2:] == [b"d\n"]


async def test_no_frame_overtakes_another(pipe: Pipe, writer: FrameWriter) -> None:
    """Something that is heard in the middle of a turn does not let the next frame past."""
    writer.write(b"a")
    writer.write(b"b")
    writer.heard()
    writer.write(b"c")
    await asyncio.sleep(0)
    assert b"".join(pipe.writes) == b"a\nb\nc\n"


async def test_much_is_written_before_the_turn_ends(pipe: Pipe, writer: FrameWriter) -> None:
    """What is gathered is bounded, so that a full pipe is noticed while it still matters."""
    writer.write(b"a")
    writer.write(b"b")
    writer.write(b"x" * ENOUGH)
    assert pipe.writes[1:] == [b"b\n" + b"x" * ENOUGH + b"\n"]
    writer.write(b"c")
    await asyncio.sleep(0)
    assert pipe.writes[2:] == [b"c\n"]


async def test_nothing_is_written_to_a_pipe_that_is_gone(pipe: Pipe, writer: FrameWriter) -> None:
    """What was gathered for a program that has ended is dropped without a word."""
    writer.write(b"a")
    writer.write(b"b")
    pipe.closing = True
    await asyncio.sleep(0)
    assert pipe.writes == [b"a\n"]


async def test_closing_can_write_what_is_gathered(pipe: Pipe, writer: FrameWriter) -> None:
    """Who closes the pipe in the same turn asks for it first, and it is not written twice."""
    writer.write(b"a")
    writer.write(b"b")
    writer.flush()
    assert pipe.writes == [b"a\n", b"b\n"]
    await asyncio.sleep(0)
    assert len(pipe.writes) == 2
