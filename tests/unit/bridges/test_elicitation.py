"""Asking a person on a real terminal what a server wants to know."""

from __future__ import annotations

import asyncio
import termios
from pathlib import Path
from typing import Any

import pytest

from asked_person import CANCEL, DECLINE, WHO, Person, address, answer, asked
from lockgate.bridges.elicitation import TerminalElicitation
from lockgate.bridges.voice import Voice
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.protocol.elicitation import (
    Action,
    ElicitAnswer,
    Elicitation,
    read_elicitation,
)
from lockgate.mcp.protocol.form import MAX_FIELDS
from lockgate.showing import width_of


def form(properties: Any, message: str = "Please tell", **more: Any) -> Elicitation:
    """A form with these fields."""
    schema = {"type": "object", "properties": properties, **more}
    return read_elicitation({"message": message, "requestedSchema": schema})


async def filled(person: Person, question: Elicitation, *lines: str) -> tuple[ElicitAnswer, str]:
    """The answer when these lines are typed at the prompts, and all that was shown."""
    seen = ""
    async with asked(person, question) as task:
        for line in lines:
            seen += await person.see("answer: " if line == "send" else ": ")
            while not seen.endswith(": "):  # a colon of the question itself
                seen += await person.see(": ")
            person.type(f"{line}\n")
        found = await answer(task)
    return found, seen + person.sees()


async def test_a_form_names_the_server_and_says_whose_words_they_are(person: Person) -> None:
    """client/elicitation: who asks, in which call, and that nobody checked the words."""
    async with asked(person, form({"name": {"type": "string"}}, "Please\n-- a call ---")):
        seen = await person.see("value [none]: ")
    assert "-- a server asks you something ---" in seen
    assert "server     FILES\n" in seen
    assert 'during     a call of its tool "ask"\n' in seen
    assert "mind       what stands behind | is the server's own word, and nobody checked it" in seen
    assert "| Please\n| -- a call ---\n" in seen
    assert "-- files asks: 1 of 1 ---" in seen
    assert '| name     "name"\n' in seen
    assert "has to be  text, can be left out\n" in seen


async def test_what_deceives_the_eye_is_shown_as_what_it_is(person: Person) -> None:
    """Control characters and bidi marks, in every text of the server's; no line is too wide."""
    odd = "a\x1b[2Jb\u202ec\rd" + "x" * 200
    question = form(
        {
            odd: {
                "type": "string",
                "title": odd,
                "description": odd,
                "oneOf": [{"const": odd, "title": odd}],
            }
        },
        odd,
    )
    async with asked(person, question, Occasion("files", odd)):
        seen = await person.see("value [none]: ")
    assert "\x1b" not in seen
    assert "\u202e" not in seen
    assert "\\x1b[2Jb\\u202ec" in seen
    assert max(map(width_of, seen.splitlines())) <= 80


async def test_every_kind_of_field_is_filled_in(person: Person) -> None:
    """2026-07-28, Requested Schema: texts, numbers, switches, one choice and several."""
    titled = [{"const": "#f00", "title": "Red"}, {"const": "#0f0", "title": "Green"}]
    question = form(
        {
            "mail": {"type": "string", "format": "email"},
            "age": {"type": "integer", "minimum": 18},
            "share": {"type": "number"},
            "sure": {"type": "boolean"},
            "one": {"type": "string", "enum": ["a", "b"]},
            "named": {"type": "string", "oneOf": titled},
            "legacy": {"type": "string", "enum": ["x", "y"], "enumNames": ["Ex", "Why"]},
            "some": {"type": "array", "items": {"anyOf": titled}, "maxItems": 2},
            "none": {"type": "string"},
        },
        required=["mail"],
    )
    typed = ("a@b.c", "42", "0.5", "yes", "2", "Green", "why", "1, green", "", "send")
    found, seen = await filled(person, question, *typed)
    assert found == ElicitAnswer(
        Action.ACCEPT,
        {
            "mail": "a@b.c",
            "age": 42,
            "share": 0.5,
            "sure": True,
            "one": "b",
            "named": "#0f0",
            "legacy": "y",
            "some": ["#f00", "#0f0"],
        },
    )
    assert "has to be  an e-mail address, required\n" in seen
    assert "has to be  whole number, at least 18, can be left out\n" in seen
    assert '| 2        "Green", sent as "#0f0"\n' in seen
    assert "wants      9 values, 1 of them required\n" in seen
    assert '| 9        "none": is left out\n' in seen


async def test_an_empty_line_takes_the_default(person: Person) -> None:
    """SEP-1034: what the form offers is taken as it is, false and lists too."""
    question = form(
        {
            "name": {"type": "string", "default": "Ada"},
            "sure": {"type": "boolean", "default": False},
            "some": {"type": "array", "items": {"enum": ["a", "b"]}, "default": ["b"]},
        }
    )
    found, seen = await filled(person, question, "", "", "", "send")
    assert found.content == {"name": "Ada", "sure": False, "some": ["b"]}
    assert 'default    "Ada" (an empty line)\n' in seen


async def test_what_is_wrong_is_said_and_asked_again(person: Person) -> None:
    """PB-054: what is missing or does not fit never leaves."""
    question = form(
        {"age": {"type": "integer", "maximum": 9}, "why": {"type": "string"}}, required=["why"]
    )
    found, seen = await filled(person, question, "many", "10", "9", "", "so", "send")
    assert found.content == {"age": 9, "why": "so"}
    assert "-> it has to be a whole number, as in 42\n" in seen
    assert "-> it has to be at most 9\n" in seen
    assert "-> it has to have a value\n" in seen


async def test_what_only_the_whole_schema_says_is_told_before_sending(person: Person) -> None:
    """What values have to be together; nothing can be sent until they are."""
    question = read_elicitation(
        {
            "message": "m",
            "requestedSchema": {
                "type": "object",
                "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
                "if": {"properties": {"a": {"const": "x"}}},
                "then": {"properties": {"b": {"const": "y"}}},
            },
        }
    )
    found, seen = await filled(person, question, "x", "n", "send", "2", "y", "send")
    assert found.content == {"a": "x", "b": "y"}
    assert "-> $.b" in seen


async def test_a_pattern_is_told_of_at_its_field(person: Person) -> None:
    """It is judged as a schema of the server's, and not only when all is to be sent; what is
    required beside it is no fault of this one."""
    question = form(
        {"code": {"type": "string", "pattern": "^[a-z]+$"}, "n": {"type": "string"}},
        required=("code", "n"),
    )
    found, seen = await filled(person, question, "A1", "ab", "x", "send")
    assert found.content == {"code": "ab", "n": "x"}
    assert seen.index("-> $.code") < seen.index("2 of 2")


async def test_values_are_changed_before_they_are_sent(person: Person) -> None:
    """client/elicitation: review and modify, at the review and on the way (/back)."""
    question = form({"a": {"type": "string"}, "b": {"type": "string"}})
    found, _ = await filled(person, question, "1st", "/back", "first", "2nd", "2", "second", "send")
    assert found.content == {"a": "first", "b": "second"}


async def test_a_form_without_fields_asks_for_a_yes(person: Person) -> None:
    """Some servers only want to be told to go on."""
    found, seen = await filled(person, form({}), "send")
    assert found == ElicitAnswer(Action.ACCEPT, {})
    assert "a yes, and nothing to be filled in" in seen


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("/decline",), DECLINE),
        (("/cancel",), CANCEL),
        (("x", "/decline"), DECLINE),
        (("x", "/cancel"), CANCEL),
    ],
)
async def test_it_can_be_declined_or_left_at_every_point(
    person: Person, lines: tuple[str, ...], said: ElicitAnswer
) -> None:
    """PB-054: decline and cancel are two answers, in a field and at the review."""
    found, _ = await filled(person, form({"a": {"type": "string"}}), *lines)
    assert found == said


@pytest.mark.parametrize("keys", [b"\x03", b"\x04", b"\x1c", b"half\x03"])
async def test_end_of_input_and_ctrl_c_mean_cancel(person: Person, keys: bytes) -> None:
    """In a field; nothing of what was typed is sent, and the program goes on."""
    before = person.settings()
    async with asked(person, form({"a": {"type": "string"}})) as task:
        await person.see("value [none]: ")
        person.type(keys)
        assert await answer(task) == CANCEL
    assert person.sees().endswith("\n")
    assert person.settings() == before


async def test_who_types_without_end_answers_nothing(person: Person) -> None:
    """A form takes a bounded number of lines."""
    lines = ["x"] * 51
    async with asked(person, form({"a": {"type": "integer"}})) as task:
        for _ in lines:
            seen = await person.see(": ")
            while "too many" not in seen and not seen.endswith("value [none]: "):
                seen += await person.see(": ")
            if "too many" in seen:
                break
            person.type("x\n")
        assert await answer(task) == CANCEL


@pytest.mark.parametrize(
    ("message", "careful"), [("Your GitHub password, please", True), ("Which ticket?", False)]
)
async def test_words_over_a_form_that_speak_of_a_secret(
    person: Person, message: str, careful: bool
) -> None:
    """The field may be called anything: the person is told what a form is not for."""
    fields = {"value": {"type": "string"}}
    _, seen = await filled(person, form(fields, message), "/cancel")
    assert ("CAREFUL    it speaks of a secret" in seen) is careful


async def test_the_largest_form_can_be_sent(person: Person) -> None:
    """As many lines as it has fields, and the last word, are not too many."""
    fields = {f"f{number}": {"type": "string"} for number in range(MAX_FIELDS)}
    said, _ = await filled(person, form(fields), *["x"] * MAX_FIELDS, "send")
    assert said.action is Action.ACCEPT
    assert said.content == dict.fromkeys(fields, "x")


async def test_what_was_typed_ahead_is_no_answer(person: Person) -> None:
    """Keys that were pressed before a prompt are thrown away."""
    person.type("early\n")
    async with asked(person, form({"a": {"type": "string"}})) as task:
        await person.see("value [none]: ")
        person.type("now\n")
        await person.see("answer: ")
        person.type("send\n")
        assert (await answer(task)).content == {"a": "now"}


@pytest.mark.parametrize("question", [form({}), address()])
async def test_a_terminal_that_is_too_narrow_says_so(person: Person, question: Elicitation) -> None:
    """Nothing is asked that can not be shown."""
    termios.tcsetwinsize(person.screen_of, (24, 20))
    async with asked(person, question) as task:
        assert await answer(task) == CANCEL
    assert "wider terminal" in person.sees()


@pytest.mark.parametrize("question", [form({}), address()])
async def test_a_question_that_is_withdrawn_leaves_the_terminal(
    person: Person, question: Elicitation
) -> None:
    """The call was cancelled, or its server gave up: the person is told, and the floor is free."""
    before = person.settings()
    async with asked(person, question) as task:
        await person.see("]: " if question.url else "answer: ")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert "[the question is withdrawn]" in person.sees()
    assert person.settings() == before


@pytest.mark.parametrize("question", [form({}), address()])
async def test_a_terminal_that_goes_away_means_cancel(
    person: Person, question: Elicitation
) -> None:
    """The window was closed: nobody answered."""
    async with asked(person, question) as task:
        await person.see("]: " if question.url else "answer: ")
        person.hang_up()
        assert await answer(task) == CANCEL


async def test_without_a_terminal_nobody_is_asked(tmp_path: Path) -> None:
    """Cancel, at once."""
    elicit = TerminalElicitation(Voice(lambda text: None), device=tmp_path / "none")
    assert await elicit(form({}), WHO) == CANCEL


async def test_one_thing_is_asked_at_a_time(person: Person) -> None:
    """Questions wait for each other, whoever asks; what is said meanwhile comes after."""
    said: list[str] = []
    voice = Voice(said.append)
    async with (
        asked(person, form({}, "first"), voice=voice) as one,
        asked(person, form({}, "second"), voice=voice) as two,
    ):
        seen = await person.see("answer: ")
        voice.say("progress")
        assert "second" not in seen
        assert said == []
        person.type("send\n")
        await answer(one)
        await person.see("answer: ")
        person.type("/decline\n")
        assert await answer(two) == DECLINE
    assert said == ["progress"]
