"""Rendering a skill puts arguments in as data, once, and runs, reads and looks up nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.agent.skills.rendering import (
    MAX_RENDERED,
    RenderedTooLong,
    render,
    split_arguments,
)


@pytest.mark.parametrize(
    ("text", "arguments", "rendered"),
    [
        ("Review $ARGUMENTS now", "a b", "Review a b now"),
        ("From $1 to $2", "here there", "From here to there"),
        ("From $ARGUMENTS[0] to $ARGUMENTS[1]", "here there", "From here to there"),
        ("Say $1", '"two words" three', "Say two words"),
        ("Say $1", "'two words' three", "Say two words"),
        ("Say $2", "one", "Say $2"),
        ("Say $ARGUMENTS[3]", "one", "Say $ARGUMENTS[3]"),
        ("Say [$ARGUMENTS]", "", "Say []"),
    ],
)
def test_what_stands_for_an_argument_is_replaced_by_it(
    text: str, arguments: str, rendered: str
) -> None:
    """All of them, or one by its number; one that was not given leaves its place as it is."""
    assert render(text, arguments) == rendered


@pytest.mark.parametrize(
    "text", ["It costs $1.50", "$10", "$1,000", "$ARGUMENTS_LIST", "$1st", "$0", "$", "$ ARGUMENTS"]
)
def test_what_only_looks_like_a_place_stays(text: str) -> None:
    """Prices and longer names are text."""
    assert render(text, "") == text


def test_arguments_without_a_place_are_told_below() -> None:
    """A skill that says nothing of arguments still gets them."""
    assert render("Do it.\n", "for main") == "Do it.\n\nArguments: for main"
    assert render("Do it.\n", "  ") == "Do it.\n"


@pytest.mark.parametrize(
    "text",
    [
        "Status: !`touch /tmp/never`",
        "```!\ntouch /tmp/never\n```",
        "Home is ${HOME} and $HOME",
        "Skill is in ${CLAUDE_SKILL_DIR}",
        "Value ${HOME:-/root}",
        "Read @/etc/passwd and @notes.md",
        "{{ 7 * 7 }} {% include 'x' %} {{env.HOME}}",
        "$(id) `id` <(id)",
        "%s %(name)s {0} {name} \\1 \\g<0>",
    ],
)
def test_nothing_in_the_text_is_run_read_or_looked_up(text: str) -> None:
    """What other programs would run or expand is text, and stays it."""
    assert render(text, "") == text


@pytest.mark.parametrize("value", ["$1", "$ARGUMENTS", "!`id`", "${HOME}", "@/etc/passwd", r"\1"])
def test_a_value_is_not_looked_at_again(value: str) -> None:
    """Whoever writes the arguments writes no text of the skill."""
    assert render("<$ARGUMENTS> $1", value) == f"<{value}> {value}"


_TEXT = st.text(st.sampled_from("$1290[]ARGUMENTS!`{}@'\" \\x"), max_size=60)


@given(before=st.text("ab!`{}@\\ ", max_size=20), value=_TEXT)
def test_whatever_a_value_is_it_is_put_in_as_it_is(before: str, value: str) -> None:
    """For every text: the value stands there by its letter, and what is around it is unchanged."""
    assert render(f"{before}|$ARGUMENTS|", value) == f"{before}|{value}|"


@given(
    pieces=st.lists(st.tuples(st.text("ab!`{}@ ", max_size=8), st.integers(1, 9)), max_size=6),
    words=st.lists(st.text("ab$1!`\\", min_size=1, max_size=6), max_size=9),
)
def test_each_place_gets_its_own_value_and_no_other(
    pieces: list[tuple[str, int]], words: list[str]
) -> None:
    """Whatever values look like, a place is a place of the text and never of a value."""
    text = "".join(f"{before}${number}|" for before, number in pieces)
    expected = "".join(
        f"{before}{words[number - 1] if number <= len(words) else f'${number}'}|"
        for before, number in pieces
    )
    rendered = render(text, " ".join(words))
    assert rendered == expected or not pieces


@given(words=st.lists(st.text("abc$1!`", min_size=1, max_size=8), max_size=6))
def test_words_are_split_and_nothing_else_happens_to_them(words: list[str]) -> None:
    """White space separates; no escape, variable or command is known."""
    assert split_arguments("  ".join(words)) == tuple(words)


def test_many_places_do_not_make_a_text_without_end() -> None:
    """A short text and long arguments have a bound together."""
    with pytest.raises(RenderedTooLong):
        render("$ARGUMENTS " * 1000, "x" * 20_000)
    assert len(render("$ARGUMENTS " * 9, "x" * 20_000)) < MAX_RENDERED


def test_quotes_that_close_nothing_are_letters() -> None:
    """An apostrophe in a word takes nothing with it."""
    assert split_arguments("it's what's") == ("it's", "what's")
    assert split_arguments("'open to the end") == ("'open", "to", "the", "end")
    assert split_arguments('"a"b c') == ('"a"b', "c")
    assert split_arguments('"" x') == ("", "x")
