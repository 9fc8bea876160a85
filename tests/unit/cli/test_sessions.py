"""What `--resume` means, and how what was said is shown."""

from __future__ import annotations

import json

import pytest

from lockgate.agent.model import Message, ModelReply, ToolAnswer, ToolCall, UserMessage
from lockgate.cli.resuming import LAST, meant
from lockgate.cli.session_words import beginning, message_data, print_message
from lockgate.content import Image
from lockgate.errors import LocalError
from lockgate.tools.result import ErrorKind, ToolResult


@pytest.mark.parametrize(
    ("resume", "prompt", "wanted"),
    [
        (None, ("a", "b"), (None, ("a", "b"))),
        (LAST, (), ("", ())),
        (LAST, ("And", "now?"), ("", ("And", "now?"))),
        ("5f0c1d", (), ("5f0c1d", ())),
        ("5f0c1d", ("and", "now?"), ("5f0c1d", ("and", "now?"))),
        ("And now?", (), ("", ("And now?",))),
    ],
)
def test_what_has_a_space_in_it_begins_the_prompt(
    resume: str | None, prompt: tuple[str, ...], wanted: tuple[str | None, tuple[str, ...]]
) -> None:
    """An id has none; nothing behind the option is the last session."""
    assert meant(resume, prompt) == wanted


@pytest.mark.parametrize("word", ["", "bad", "a4d19 ", "ABCDEF", "And", "a" * 33])
def test_one_word_that_is_no_id_is_an_error(word: str) -> None:
    """Else an id with a slip in it is sent to a model, as a prompt to another session."""
    with pytest.raises(LocalError, match="stands behind --"):
        meant(word, ("now?",))


def test_a_beginning_is_one_harmless_line() -> None:
    """However long a prompt is, and whatever it holds."""
    assert beginning("two\n  lines") == "two lines"
    assert "\x1b" not in beginning("a\x1b[2Jb")
    long = beginning("x" * 10_000)
    assert (len(long), long[-1]) == (160, "…")


MESSAGES: list[Message] = [
    UserMessage("look", (Image("aGk=", "image/png"),)),
    ModelReply("I look.", (ToolCall("1", "add", {"n": 1, "password": "tops3cret"}),), cut_off=True),
    ToolAnswer("1", "add", ToolResult.of("42")),
    ToolAnswer("2", "add", ToolResult.error(ErrorKind.DENIED, "no")),
]


def test_what_was_said_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """Prompts, replies, calls and results tell themselves apart; secret-looking values are masked
    until they are asked for."""
    for message in MESSAGES:
        print_message(message, reveal=False)
    assert capsys.readouterr().out.splitlines() == [
        "> look",
        "> [image image/png, 2 bytes]",
        "I look.",
        "(the reply was cut off here)",
        '  add {"n": 1, "password": "[masked, 9 characters]"}',
        "  add: ok",
        "    42",
        "  add: denied",
        "    no",
    ]
    print_message(MESSAGES[1], reveal=True)
    assert "tops3cret" in capsys.readouterr().out


def test_programs_get_it_whole() -> None:
    """As it is written down, one object for each message."""
    data = [message_data(message) for message in MESSAGES]
    assert [one["said"] for one in data] == ["user", "model", "tool", "tool"]
    assert data[1]["calls"][0]["arguments"] == {"n": 1, "password": "tops3cret"}
    assert json.loads(json.dumps(data)) == data
