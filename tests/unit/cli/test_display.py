"""The lines of a turn: numbered by call, cut, made visible, and as wide as there is room."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from lockgate.agent.events import (
    CallAwaited,
    CallDecided,
    CallFinished,
    CallProgress,
    CallStarted,
    ChildEvent,
    Event,
    ModelText,
    ModelWrites,
    TurnFinished,
    TurnStarted,
)
from lockgate.agent.model import Usage
from lockgate.agent.run import RunStatus
from lockgate.bridges.voice import Voice
from lockgate.calls.call import Suspended
from lockgate.calls.records import DecisionRecord, ReasonRecord
from lockgate.cli.display import Display
from lockgate.cli.going_on import AFTER, GoingOn
from lockgate.cli.own_lines import marked_lines
from lockgate.cli.writing import Writing
from lockgate.content import Text
from lockgate.showing import visible, width_of
from lockgate.tools.result import ErrorKind, ToolResult


def shown(*events: Event, columns: int | None = None, flows: bool = False) -> list[str]:
    """The lines that these events are told in; of a running text the lines it makes."""
    said: list[str] = []
    voice = Voice(lambda text: said.append(f"{text}\n"), said.append)
    display = Display(voice, lambda: columns, flows=flows)
    for event in events:
        display(event)
    return "".join(said).removesuffix("\n").split("\n") if said else []


def ok(text: str) -> ToolResult:
    """A result that is this text."""
    return ToolResult((Text(text),))


def decision(call: str = "c", what: Any = "run", **changes: Any) -> CallDecided:
    """A decision about that call of `t`."""
    reasons = (ReasonRecord("r", "because"),)
    record = DecisionRecord(call, 0.0, "agent", "e", "t", what, reasons, "d", **changes)
    return CallDecided(record)


@pytest.mark.parametrize("what", ["run", "suspend", "refuse"])
def test_a_call_whose_arguments_a_hook_rewrote_is_told(what: Any) -> None:
    """Its first line has those that the model gave, and they are not what is done."""
    rewrote = ReasonRecord("hook_rewrites", "the hook rw rewrote the arguments: \x1b[1msafer")
    event = decision("a", what)
    event = CallDecided(structs.replace(event.record, reasons=(*event.record.reasons, rewrote)))
    lines = shown(CallStarted("a", "t", {"n": 1}), event)
    told = f"  [1] not with these arguments: {visible(rewrote.text)}"
    assert lines == ["* [1] t(n=1)", *([] if what == "refuse" else [told])]


def test_equal_calls_are_told_apart() -> None:
    """By the number of the call, on each of its lines, in whatever order they come."""
    assert shown(
        CallStarted("a", "t", {"n": 1}),
        CallStarted("b", "t", {"n": 1}),
        decision("b"),
        decision("a", "refuse", approver="terminal", approved=False),
        CallFinished("b", "t", ok("fine"), 0.31),
        CallFinished("z", "t", ToolResult.error(ErrorKind.SKIPPED, "not run")),
        CallFinished("a", "t", ToolResult.error(ErrorKind.NOT_APPROVED, "no", reason="said_no")),
        ModelText("goes to standard output"),
    ) == [
        "* [1] t(n=1)",
        "* [2] t(n=1)",
        "  [2] t -> ran, 0.3 s: fine",
        "  [3] t -> was not made, skipped: not run",
        "  [1] t -> refused, no by terminal, not approved: no",
    ]


LOST = ToolResult.error(ErrorKind.OUTCOME_UNKNOWN, "lost")


@pytest.mark.parametrize(
    ("what", "changes", "result", "seconds", "fate", "told"),
    [
        ("run", {}, ok("a"), 0.0, "answered", "ran: a"),
        (
            "run",
            {"approver": "rule", "approved": True},
            ok("a"),
            12.3,
            None,
            "ran, yes by rule, 12 s: a",
        ),
        ("run", {}, ok("a\nb\nc\n"), 125.0, None, "ran, 2 min 5 s: a (and 2 more lines)"),
        ("run", {}, LOST, 1.0, "unknown", "ran, 1 s, outcome unknown: lost"),
        (
            "run",
            {},
            ToolResult.error(ErrorKind.NOT_CONNECTED, "gone\naway"),
            0.0,
            "not_sent",
            "ran, not connected, nothing was sent: gone away",
        ),
        (
            "run",
            {},
            ToolResult.error(ErrorKind.TOOL_ERROR, "odd"),
            0.0,
            "unknown",
            "ran, tool error, its fate is unknown: odd",
        ),
        (
            "suspend",
            {},
            Suspended("t-1", "t", 0.0),
            0.0,
            None,
            "waits: an answer will come elsewhere, t-1",
        ),
    ],
)
def test_what_came_of_a_call_is_one_line(
    what: str, changes: Any, result: Any, seconds: float, fate: str | None, told: str
) -> None:
    """What was decided, who answered, how long it took, its fate, and what it said."""
    lines = shown(decision("a", what, **changes), CallFinished("a", "t", result, seconds, fate))
    assert lines == [f"  [1] t -> {told}"]


def test_secrets_are_masked_at_any_depth() -> None:
    """As in a question; here they can not be revealed."""
    arguments = {"token": "abc", "headers": [{"Authorization": "Bearer x", "n": None}], "s": "a\nb"}
    assert shown(CallStarted("a", "t", arguments)) == [
        "* [1] t(token=[masked, 3 characters], headers=[{Authorization: [masked, 8 characters], "
        'n: null}], s="a\\nb")'
    ]


def test_what_is_long_is_cut_and_counted() -> None:
    """Names, values, all of them together, and results; off a terminal a line stays one."""
    many = {f"k{n}": "v " * 90 for n in range(50)}
    (started,) = shown(CallStarted("a", "t" * 300, many))
    assert f"{'t' * 200} ... (300 characters)(k0=" in started
    assert len(started) < 1_500
    (finished,) = shown(CallFinished("a", "t", ok("x y " * 1_000)))
    assert finished.endswith(" ... (3999 characters)")
    assert len(finished) < 300


STRANGE = st.text(max_size=300) | st.text(st.sampled_from("\n\r\x1b\u202e한\u0301 x"), max_size=300)


@given(STRANGE, st.dictionaries(STRANGE, STRANGE, max_size=3), st.integers(24, 120))
def test_nothing_of_a_stranger_begins_a_line(
    text: str, arguments: dict[str, str], columns: int
) -> None:
    """Each line begins with a number of ours or the room for it, and fits the terminal."""
    lines = shown(
        CallStarted("a", text, arguments),
        CallFinished("a", text, ok(text)),
        columns=columns,
    )
    for line in lines:
        assert line.startswith(("* [1] ", "  [1] ", " " * 6)) or not line.strip()
        assert width_of(line) <= columns
        assert visible(line) == line


@pytest.mark.parametrize(
    ("what", "level", "told"),
    [
        ("run", "mutating", True),
        ("run", None, True),
        ("run", "read-only", False),
        ("refuse", "mutating", False),
    ],
)
def test_what_was_broken_off_is_told(what: str, level: str | None, told: bool) -> None:
    """A call that was sent, may have changed something, and has no result."""
    said: list[str] = []
    display = Display(Voice(said.append), lambda: None)
    display(decision("a", what, level=level))
    display(decision("b", "run", level="mutating"))
    display(CallFinished("b", "t", ok("fine")))
    said.clear()
    display.broken_off()
    assert [line[:16] for line in said] == (["  [1] t was sent"] if told else [])


def test_a_call_that_is_waited_for_is_named() -> None:
    """Who has pressed Ctrl+C sees why the program does not end at once."""
    (_, line) = shown(CallStarted("a", "t", {}), CallAwaited("a", "t"))
    assert line.startswith("  [1] t can not be broken off and is waited for")


# ------------------------------------------------------------------ what the model says


def test_text_is_shown_as_it_is_written_and_once() -> None:
    """In order with the calls, each of which begins a line of its own."""
    assert shown(
        ModelWrites("I lo"),
        ModelWrites("ok.\nNow"),
        ModelText("I look.\nNow"),
        CallStarted("a", "t", {}),
        CallFinished("a", "t", ok("fine")),
        ModelWrites("Done.\n"),
        ModelText("Done.\n"),
        TurnFinished(RunStatus.ANSWERED),
        flows=True,
    ) == ["I look.", "Now", "* [1] t()", "  [1] t -> ran: fine", "Done."]


def test_a_reply_that_began_anew_is_shown_as_it_is() -> None:
    """A provider that failed in the middle and was asked again: what counts is the whole."""
    assert shown(ModelWrites("I th"), ModelText("No."), flows=True) == [
        "I th",
        "[the model began its reply anew]",
        "No.",
    ]
    assert shown(ModelText("No."), flows=True) == ["No."]


def test_a_reply_that_does_not_come_to_its_end_is_said_to_be_void() -> None:
    """It was seen; nothing of it is kept."""
    end = TurnFinished(RunStatus.INTERRUPTED, "interrupted")
    void = "[broken off here; nothing of this reply is kept]"
    assert shown(ModelWrites("I th"), end, flows=True) == ["I th", void]
    assert shown(end, flows=True) == []


def test_off_a_terminal_only_what_comes_before_calls_is_shown() -> None:
    """The answer is printed by itself."""
    assert shown(
        ModelWrites("I look."),
        ModelText("I look.\nNow"),
        CallStarted("a", "t", {}),
        CallFinished("a", "t", ok("fine")),
        ModelText("Done."),
        TurnFinished(RunStatus.ANSWERED, usage=Usage(5, 5)),
    ) == ["I look.", "Now", "* [1] t()", "  [1] t -> ran: fine"]


def test_what_it_cost_is_told_to_a_person() -> None:
    """If the provider tells it."""
    end = TurnFinished(RunStatus.ANSWERED, usage=Usage(1200, 30, 800))
    told = "  1,200 tokens read (800 from the cache), 30 written"
    assert shown(end, columns=80) == [told]
    assert shown(replace(end, child_tokens=5_000), columns=80) == [
        f"{told}; 5,000 more in sub-agents"
    ]
    assert shown(TurnFinished(RunStatus.ANSWERED), columns=80) == []


@given(st.lists(STRANGE), st.booleans())
def test_pieces_are_shown_as_the_whole_would_be(pieces: list[str], crlf: bool) -> None:
    """Wherever a provider cuts: what a terminal obeys or hides is an escape."""
    pieces = [piece.replace("\n", "\r\n") for piece in pieces] if crlf else pieces
    writing = Writing()
    seen = "".join(writing.more(piece) for piece in pieces) + writing.rest()
    whole = "".join(pieces)
    assert writing.text == whole
    assert seen == marked_lines(whole) or whole.endswith("\r")


# ------------------------------------------------------------------ children


def test_what_a_child_does_is_nested_and_named() -> None:
    """One numbering for all calls; its last words are the result of the call it works for."""

    def child(event: Event, *names: str) -> ChildEvent:
        inner = event if len(names) == 1 else child(event, *names[1:])
        return ChildEvent(names[0], "a", inner)

    assert shown(
        CallStarted("a", "Task", {}),
        child(TurnStarted("e", "m", ()), "scout"),
        child(ModelWrites("I"), "scout"),
        child(ModelText("I look.\nNow"), "scout"),
        child(CallStarted("b", "look", {"n": 1}), "scout"),
        child(CallStarted("c", "deep", {}), "scout", "diver"),
        child(CallFinished("c", "deep", ok("deeper")), "scout", "diver"),
        child(CallFinished("b", "look", ok("seen")), "scout"),
        child(ModelText("All seen."), "scout"),
        child(TurnFinished(RunStatus.ANSWERED), "scout"),
        CallFinished("a", "Task", ok("All seen.")),
        flows=True,
    ) == [
        "* [1] Task()",
        "  scout says: I look.\\nNow",
        "  * [2] scout: look(n=1)",
        "    * [3] diver: deep()",
        "      [3] deep -> ran: deeper",
        "    [2] look -> ran: seen",
        "  [1] Task -> ran: All seen.",
    ]


# ------------------------------------------------------------------ what takes its time


async def test_what_goes_on_is_told_after_a_second() -> None:
    """The model's thinking too; nothing of it is left when the turn is over."""
    told: list[tuple[str, float]] = []
    heard = asyncio.Event()

    def tell(key: str, seconds: float) -> None:
        told.append((key, seconds))
        heard.set()

    going = GoingOn(tell)
    going.begin("a")
    going.begin("b")
    going.end("b")
    going.end("nothing")
    async with asyncio.timeout(10):
        await heard.wait()
    going.close()
    assert told == [("a", AFTER[0])]


def test_progress_is_a_line_for_each_further_tenth() -> None:
    """A server may report thousands of times: what is new to a person is told."""
    events = [CallProgress("a", "t", n, 1000) for n in range(1001)]
    lines = shown(CallStarted("a", "t", {}), *events)
    assert lines[1:3] == ["  [1] t: 0 of 1000", "  [1] t: 100 of 1000"]
    assert len(lines) == 1 + 11
    back = [CallProgress("a", "t", n, 10) for n in (5, 4, 5, 6)]
    assert shown(*back) == ["  [1] t: 5 of 10", "  [1] t: 6 of 10"]


def test_progress_without_a_total_is_told_less_and_less_often() -> None:
    """At the 1st, 2nd, 4th, 8th notice; odd totals count as none."""
    for total in (None, 0, -1, 1):
        lines = shown(*(CallProgress("a", "t", n + 2, total) for n in range(1000)))
        assert len(lines) == 10
    assert shown(CallProgress("a", "t", 1.5))[0] == "  [1] t: 1.5"
    assert shown(CallProgress("a", "t", 1e308, 1e308))[0] == "  [1] t: 1e+308 of 1e+308"


def test_words_of_progress_are_made_visible_and_cut() -> None:
    """They are a stranger's."""
    (line,) = shown(CallProgress("a", "t", 1, 2, "\x1b[2J\n\u202e" + "x" * 1000))
    assert line.isprintable()
    assert len(line) < 300
    assert "\\x1b[2J\\n\\u202e" in line
