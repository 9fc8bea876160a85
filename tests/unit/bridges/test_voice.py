"""Who has the floor: nothing is said while somebody asks, and nothing is lost by it."""

from __future__ import annotations

import io
import sys

import pytest

from lockgate.bridges.voice import Voice


async def test_what_is_said_during_a_question_comes_after_it() -> None:
    """In order; before and after a question it is said at once."""
    heard: list[str] = []
    voice = Voice(heard.append)
    voice.say("a")
    async with voice.asking():
        voice.say("b")
        voice.say("c")
        assert heard == ["a"]
    voice.say("d")
    assert heard == ["a", "b", "c", "d"]


async def test_it_is_said_however_the_question_ends() -> None:
    """A question that fails or is cancelled takes no line with it."""
    heard: list[str] = []
    voice = Voice(heard.append)

    async def asked() -> None:
        async with voice.asking():
            voice.say("a")
            raise KeyError

    with pytest.raises(KeyError):
        await asked()
    assert heard == ["a"]


async def test_what_is_kept_is_bounded_and_the_rest_counted() -> None:
    """Whoever talks on while a person thinks fills no memory."""
    heard: list[str] = []
    voice = Voice(heard.append)
    async with voice.asking():
        for n in range(1_234):
            voice.say(str(n))
    assert heard == [*map(str, range(1_000)), "... and 234 more that were not kept"]
    async with voice.asking():
        voice.say("x")
    assert heard[-1] == "x"


async def test_a_closed_stream_harms_no_answer() -> None:
    """The floor is free again, and nothing is raised into the question."""

    def closed(text: str) -> None:
        raise BrokenPipeError(text)

    voice = Voice(closed)
    async with voice.asking():
        voice.say("a")
    async with voice.asking():
        pass


async def test_by_default_it_is_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    """Where a program's own lines go."""
    Voice().say("hello")
    assert capsys.readouterr().err == "hello\n"


async def test_a_running_text_and_lines_share_no_line() -> None:
    """A line that is said in the middle begins its own, and the text goes on after it; during a
    question the text waits as lines do, and its order with them stays."""
    heard: list[str] = []
    voice = Voice(lambda text: heard.append(f"{text}\n"), heard.append)
    voice.go_on("one ")
    voice.go_on("")
    voice.go_on("two")
    voice.say("line")
    voice.go_on("three\n")
    voice.say("line")
    voice.go_on("four")
    async with voice.asking():
        assert voice.asked
        before = "".join(heard)
        voice.go_on(" fi")
        voice.go_on("ve")
        voice.say("kept")
        voice.go_on("six")
        assert "".join(heard) == before
    assert not voice.asked
    assert before == "one two\nline\nthree\nline\nfour\n"
    assert "".join(heard) == f"{before} five\nkept\nsix"


def test_what_a_terminal_has_no_letter_for_is_an_escape(capfd: pytest.CaptureFixture[str]) -> None:
    """A running text is not lost for one character."""
    before = sys.stdout
    sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), encoding="ascii")
    try:
        Voice().go_on("na\u00efve\n")
        sys.stdout.flush()
    finally:
        sys.stdout = before
    assert capfd.readouterr().out == "na\\xefve\n"


async def test_who_reads_what_is_typed_gives_way_to_every_question() -> None:
    """They begin again after it, once what was kept is said; not at all under an open question."""
    heard: list[str] = []
    voice = Voice(heard.append)
    async with voice.asking():
        with voice.giving_way(lambda: heard.append("stop"), lambda: heard.append("read")):
            assert heard == []
    with voice.giving_way(lambda: heard.append("stop"), lambda: heard.append("read")):
        assert heard == ["read"]
        async with voice.asking():
            voice.say("kept")
        assert heard == ["read", "stop", "kept", "read"]
    async with voice.asking():
        pass
    assert heard == ["read", "stop", "kept", "read"]
