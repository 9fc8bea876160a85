"""Asking on a real terminal: what means yes, and that everything else means no."""

from __future__ import annotations

import asyncio
import os
import termios
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

import pytest

from lockgate.bridges.terminal import TerminalApprover
from lockgate.bridges.voice import Voice
from lockgate.policy.approval import PASS, Answer, Question, Reply, Scope
from lockgate.showing import width_of

PROMPT = "answer [no]: "
Changed = Callable[..., Question]


class Person(Protocol):
    """What the fixture of that name can do."""

    device: Path

    def type(self, text: str | bytes) -> None: ...
    def sees(self) -> str: ...
    async def see(self, text: str) -> str: ...
    def settings(self) -> list[Any]: ...
    def hang_up(self) -> None: ...


@asynccontextmanager
async def asked(
    person: Person, question: Question, approver: TerminalApprover | None = None
) -> AsyncGenerator[asyncio.Task[Reply]]:
    """Ask, up to the prompt; the task ends with the reply."""
    approver = approver or TerminalApprover(person.device)
    task = asyncio.ensure_future(approver(question))
    try:
        await person.see(PROMPT)
        yield task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def reply(task: asyncio.Task[Reply]) -> Reply:
    """The reply, in bounded time."""
    async with asyncio.timeout(10):
        return await task


def no(note: str = "") -> Answer:
    """What everything unclear means."""
    return Answer(False, "terminal", note=note)


def void(_: object) -> None:
    """Nothing."""


async def test_the_question_is_shown_with_its_answers(person: Person, question: Question) -> None:
    """The whole call, then what each answer means, then the call in short, then the prompt."""
    approver = TerminalApprover(person.device)
    task = asyncio.ensure_future(approver(question))
    seen = await person.see(PROMPT)
    assert "tool       mcp__git__git_reset\n" in seen
    assert seen.endswith(
        "answers\n"
        "  n, no       do not call it (default); words after it are told to the model\n"
        "  o, once     make this call, this time\n"
        "  s, session  exactly this call, until the session ends\n"
        f"{'-- in short ':-<80}\n"
        "tool       mcp__git__git_reset\n"
        "can        OVERWRITE, REMOVE OR INVALIDATE THINGS (mutating, destructive)\n"
        "above      14 lines that belong to this question\n"
        "answer [no]: "
    )
    assert len(seen.partition("-- in short")[0].splitlines()) == 1 + 14
    assert max(map(len, seen.splitlines())) <= 80
    person.type("\n")
    assert await reply(task) == no()


@pytest.mark.req("S0-09")
@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("once\n", Answer(True, "terminal", Scope.ONCE)),
        ("o\n", Answer(True, "terminal", Scope.ONCE)),
        ("  ONCE \n", Answer(True, "terminal", Scope.ONCE)),
        ("session\n", Answer(True, "terminal", Scope.SESSION)),
        ("s\n", Answer(True, "terminal", Scope.SESSION)),
        ("\n", no()),
        ("no\n", no()),
        ("n\n", no()),
        ("No, use another branch\n", no("use another branch")),
        ("no: \x1b[31mred\n", no("\\x1b[31mred")),
        ("y\n", no()),
        ("yes\n", no()),
        ("always\n", no()),
        ("oncee\n", no()),
        ("once session\n", no()),
        ("nonsense\n", no()),
        ("\x04", no()),
        ("\x03", no()),
        ("once\x03", no()),
        ("\x1c", no()),
        ("once\x1c", no()),
        (b"\xff\xfe\n", no()),
        ("한글\n", no()),
        ("o" * 5_000 + "\n", no()),
    ],
)
async def test_only_the_offered_words_mean_yes(
    person: Person, question: Question, typed: str | bytes, answer: Answer
) -> None:
    """The empty line, end of input, Ctrl+C, other words and garbage mean no."""
    async with asked(person, question) as task:
        person.type(typed)
        assert await reply(task) == answer


async def test_a_word_that_is_no_answer_is_told(person: Person, question: Question) -> None:
    """So that nobody believes to have said yes."""
    async with asked(person, question) as task:
        person.type("yes\n")
        await reply(task)
        assert '"yes" is none of the answers: no' in await person.see(": no")


async def test_without_a_session_there_is_no_session_to_answer_for(
    person: Person, asking_about: Changed
) -> None:
    """The answer is not offered, and its word means no."""
    task = asyncio.ensure_future(TerminalApprover(person.device)(asking_about(session_id=None)))
    assert "s, session" not in await person.see(PROMPT)
    person.type("session\n")
    assert await reply(task) == no()


async def test_for_a_mild_tool_a_session_means_the_tool(
    person: Person, asking_about: Changed
) -> None:
    """For a destructive one it means this exact call."""
    task = asyncio.ensure_future(TerminalApprover(person.device)(asking_about(destructive=False)))
    seen = await person.see(PROMPT)
    assert "s, session  every call of this tool, until the session ends\n" in seen
    person.type("\n")
    await reply(task)


async def test_masked_values_are_revealed_on_demand(person: Person, asking_about: Changed) -> None:
    """The question is asked again with them; then there is nothing more to reveal."""
    secret = asking_about(arguments={"token": "abc-123"})
    task = asyncio.ensure_future(TerminalApprover(person.device)(secret))
    seen = await person.see(PROMPT)
    assert "r, reveal" in seen
    assert "abc-123" not in seen
    person.type("reveal\n")
    seen = await person.see(PROMPT)
    assert 'token: "abc-123"' in seen
    assert "r, reveal" not in seen
    person.type("reveal\n")
    assert await reply(task) == no()


async def test_what_was_typed_ahead_is_no_answer(person: Person, question: Question) -> None:
    """Only what is typed after the prompt counts, whole lines and half ones alike."""
    person.type("once\nsession\non")
    async with asked(person, question) as task:
        person.type("ce\n")
        assert await reply(task) == no()


async def test_one_question_at_a_time(person: Person, asking_about: Changed) -> None:
    """The second is shown when the first is answered, and none of its input is taken for it."""
    approver = TerminalApprover(person.device)
    first = asyncio.ensure_future(approver(asking_about(tool="first_tool")))
    await person.see(PROMPT)
    second = asyncio.ensure_future(approver(asking_about(tool="second_tool")))
    await asyncio.sleep(0)
    assert "second_tool" not in person.sees()
    person.type("once\n")
    assert await reply(first) == Answer(True, "terminal")
    assert "second_tool" in await person.see(PROMPT)
    person.type("no\n")
    assert await reply(second) == no()


async def test_nothing_is_said_under_an_open_question(
    person: Person, asking_about: Changed
) -> None:
    """What is said meanwhile comes after the answer, and before the next question."""
    screen = os.open(person.device, os.O_RDWR | os.O_NOCTTY)
    voice = Voice(lambda text: void(os.write(screen, f"{text}\n".encode())))
    approvers = [TerminalApprover(person.device, voice) for _ in range(2)]
    voice.say("before")
    first = asyncio.ensure_future(approvers[0](asking_about(tool="first_tool")))
    assert (await person.see(PROMPT)).startswith("before\n")
    second = asyncio.ensure_future(approvers[1](asking_about(tool="second_tool")))
    for n in range(3):
        voice.say(f"meanwhile {n}")
        await asyncio.sleep(0)
    assert person.sees() == ""
    person.type("once\n")
    assert await reply(first) == Answer(True, "terminal")
    seen = await person.see(PROMPT)
    assert seen.startswith("once\nmeanwhile 0\nmeanwhile 1\nmeanwhile 2\n\n-- a call needs")
    assert "second_tool" in seen
    person.type("no\n")
    assert await reply(second) == no()
    os.close(screen)


async def test_the_loop_goes_on_while_a_person_thinks(person: Person, question: Question) -> None:
    """Waiting takes no thread and blocks nobody."""
    async with asked(person, question) as task:
        for _ in range(100):
            await asyncio.sleep(0)
        assert not task.done()
        person.type("on")
        for _ in range(10):
            await asyncio.sleep(0)
        assert not task.done()
        person.type("ce\n")
        assert await reply(task) == Answer(True, "terminal")


@pytest.mark.parametrize("ending", ["once\n", "\x03", "\x04", "\x1c", "cancel"])
async def test_the_terminal_is_left_as_it_was(
    person: Person, question: Question, ending: str
) -> None:
    """However the question ends."""
    before = person.settings()
    async with asked(person, question) as task:
        assert person.settings() != before
        if ending == "cancel":
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        else:
            person.type(ending)
            await reply(task)
    assert person.settings() == before


async def test_a_cancelled_question_is_withdrawn(person: Person, question: Question) -> None:
    """Cancellation passes, the person is told, and the next question can be asked."""
    approver = TerminalApprover(person.device)
    async with asked(person, question, approver) as task:
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert "[the question is withdrawn]" in await person.see("withdrawn]")
    async with asked(person, question, approver) as task:
        person.type("once\n")
        assert await reply(task) == Answer(True, "terminal")


def open_descriptors() -> int:
    """How many this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_nothing_stays_open(person: Person, question: Question) -> None:
    """No descriptor and no reader is left, answered or cancelled."""
    open_before = open_descriptors()
    for ending in ("once\n", "cancel"):
        async with asked(person, question) as task:
            if ending != "cancel":
                person.type(ending)
                await reply(task)
    assert open_descriptors() == open_before


async def test_a_closed_window_is_a_no(person: Person, question: Question) -> None:
    """Whoever was there is gone."""
    async with asked(person, question) as task:
        person.hang_up()
        answer = await reply(task)
    assert isinstance(answer, Answer)
    assert not answer.approved


async def test_a_stopped_terminal_stops_nobody_else(person: Person, asking_about: Changed) -> None:
    """A question larger than a terminal takes at once is written as it is read."""
    long = asking_about(arguments={f"argument_{n}": "abc " * 50 for n in range(200)})
    task = asyncio.ensure_future(TerminalApprover(person.device)(long))
    for _ in range(50):
        await asyncio.sleep(0)
    assert not task.done()
    seen = await person.see(PROMPT)
    assert "argument_199" in seen
    person.type("once\n")
    assert await reply(task) == Answer(True, "terminal")


def resized(person: Person, columns: int) -> None:
    """Make the window that wide."""
    descriptor = os.open(person.device, os.O_RDWR | os.O_NOCTTY)
    termios.tcsetwinsize(descriptor, (24, columns))
    os.close(descriptor)


@pytest.mark.parametrize("columns", [24, 30, 47, 80])
async def test_no_line_is_wider_than_the_terminal(
    person: Person, asking_about: Changed, columns: int
) -> None:
    """Of the question, its answers and the remark on a word that is none."""
    resized(person, columns)
    arguments = {"path": "한글 " * 50, "x": [[[[[[[["deep"]]]]]]]], "token": "abc"}
    task = asyncio.ensure_future(TerminalApprover(person.device)(asking_about(arguments=arguments)))
    seen = await person.see(PROMPT)
    person.type("yes, of course and by all means\n")
    assert await reply(task) == no()
    seen += await person.see("\n")
    for line in seen.replace("yes, of course and by all means\n", "\n").splitlines():
        assert width_of(line) <= columns


async def test_a_terminal_too_narrow_to_show_a_question_is_a_no(
    person: Person, question: Question
) -> None:
    """Nobody can judge what a terminal breaks as it likes; the model is told why."""
    resized(person, 23)
    answer = await reply(asyncio.ensure_future(TerminalApprover(person.device)(question)))
    assert answer == no("the terminal is too narrow to show the question")


@pytest.mark.req("S0-09")
async def test_without_a_terminal_it_passes(tmp_path: Path, question: Question) -> None:
    """Nobody is there: the next approver is asked, and in the end nobody means no."""
    ordinary = tmp_path / "file"
    ordinary.touch()
    for device in (tmp_path / "missing", ordinary, Path("/dev/null")):
        assert await TerminalApprover(device)(question) is PASS


def test_what_it_may_grant() -> None:
    """Everything: a person reads what each answer means."""
    approver = TerminalApprover()
    assert approver.name == "terminal"
    assert approver.scopes == set(Scope)


@pytest.mark.req("S0-08")
async def test_a_rule_is_read_before_it_is_written(person: Person, asking_about: Changed) -> None:
    """What `always` would write is shown in full above the prompt, and one word gives it."""
    rule = 'mcp__git__git_reset(repo_path=".")'
    async with asked(person, asking_about(always=rule)) as task:
        person.type("always\n")
        assert await reply(task) == Answer(True, "terminal", Scope.ALWAYS)
    task = asyncio.ensure_future(TerminalApprover(person.device)(asking_about(always=rule)))
    assert f"| {rule}\n" in await person.see(PROMPT)
    person.type("a\n")
    assert await reply(task) == no()


@pytest.mark.parametrize("word", ["read-only", "additive"])
async def test_a_word_on_the_tool_is_an_answer(
    person: Person, asking_about: Changed, word: str
) -> None:
    """Where it can be kept, in full letters only; else it is no answer at all."""
    async with asked(person, asking_about(judgeable=True)) as task:
        person.type(f"{word}\n")
        assert await reply(task) == Answer(True, "terminal", Scope(word))
    async with asked(person, asking_about()) as task:
        person.type(f"{word}\n")
        assert await reply(task) == no()
