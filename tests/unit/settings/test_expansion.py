"""`${NAME}` in values: once, from the environment, and never showing what a variable holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.settings.expansion import expand

ENVIRON = {
    "A": "one",
    "EMPTY": "",
    "SPACES": "  ",
    "REF": "${A}",
    "DOLLARS": "pa$$w0rd",
    "Q": 'a b"c',
}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${A}", "one"),
        ("x${A}y${A}", "xoneyone"),
        ("${REF}", "${A}"),
        ("${DOLLARS}", "pa$$w0rd"),
        ("${Q}", 'a b"c'),
        ("${UNSET:-d}", "d"),
        ("${EMPTY:-d}", "d"),
        ("${SPACES:-d}", "d"),
        ("${A:-d}", "one"),
        ("${UNSET:-}", ""),
        ("${UNSET:-US$5}", "US$5"),
        ("$${A}", "${A}"),
        ("$$${A}", "$${A}"),
    ],
)
def test_references_are_replaced_once(text: str, result: str) -> None:
    """Names, defaults and the escape; what a variable holds is not expanded again."""
    expanded = expand(text, ENVIRON)
    assert (expanded.text, expanded.faults) == (result, ())


@pytest.mark.parametrize(
    "text", ["$1", "US$5", "^foo$", "%d", "\\n", "pa$$w0rd", "$A", "$", "a$ {b}", ""]
)
def test_other_dollars_stay(text: str) -> None:
    """A `$` that begins no reference stays as it is."""
    assert expand(text, ENVIRON).text == text


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("${UNSET}", "${UNSET} is not set"),
        ("${EMPTY}", "${EMPTY} is empty"),
        ("${SPACES}", "only white space"),
        ("${", "no reference"),
        ("${1}", "no reference"),
        ("${}", "no reference"),
        ("${A:?x}", "no reference"),
        ("${A-x}", "no reference"),
        ("${env:A}", "no reference"),
        ("${A:-${B}}", "no reference"),
        ("${A:-{}}", "no reference"),
        ("${#a[@]}", "no reference"),
    ],
)
def test_what_can_not_be_replaced_is_a_fault(text: str, word: str) -> None:
    """Unset, empty and malformed references are faults that name the variable and the remedy."""
    (fault, *_) = expand(text, ENVIRON).faults
    assert word in fault.message
    assert fault.hint


@pytest.mark.parametrize(
    ("value", "result"), [("v\n", "v"), ("v\r\n", "v"), ("v", "v"), ("a\tb", None)]
)
def test_one_line_end_is_trimmed(value: str, result: str | None) -> None:
    """A secret read from a file loses its line end; other control characters are faults."""
    expanded = expand("${V}", {"V": value})
    assert expanded.text == (result or "")
    assert bool(expanded.faults) is (result is None)


@pytest.mark.parametrize(
    "value", ["a\nb", "a\r\nX: y", "v\n\n", "a\x00b", "a\x1b[2J", "a\x85b", "\udcff"]
)
def test_control_characters_in_a_variable_are_refused(value: str) -> None:
    """Line ends, escapes and bytes that are no text get into no value and no message."""
    expanded = expand("${V}", {"V": value})
    assert len(expanded.faults) == 1
    assert value not in expanded.faults[0].message


def test_a_key_of_many_lines_is_kept_where_lines_are() -> None:
    """In an environment a private key keeps its inner line ends; only the last goes."""
    pem = "-----BEGIN-----\nabc\n-----END-----\n"
    assert expand("${V}", {"V": pem}, many_lines=True).text == pem[:-1]
    assert expand("${V}", {"V": "a\x00b"}, many_lines=True).faults


def test_without_an_environment_only_the_syntax_counts() -> None:
    """For display a text comes back as it was written, its malformed references still told."""
    expanded = expand("${UNSET} ${A}", None)
    assert (expanded.text, expanded.variables, expanded.faults) == (
        "${UNSET} ${A}",
        ("UNSET", "A"),
        (),
    )
    assert expand("${", None).faults


@given(st.text(), st.text())
def test_a_value_is_never_expanded_again(before: str, value: str) -> None:
    """Whatever a variable holds comes out as it is, or is refused; it is never read as text."""
    before = before.replace("$", "")
    expanded = expand(before + "${V}", {"V": value, "A": "no"})
    if not expanded.faults:
        assert expanded.text == before + value.removesuffix("\n").removesuffix("\r")


@given(st.text(alphabet="${}:-A1 x"))
def test_escaping_every_reference_gives_the_text_back(text: str) -> None:
    """Writing `$${` for `${` is enough to say any text literally."""
    if "$$" not in text:
        assert expand(text.replace("${", "$${"), {}).text == text


def test_no_repr_shows_a_value() -> None:
    """An expanded value may be a secret: no repr has it."""
    assert "SEKRET" not in repr(expand("${V}", {"V": "SEKRET"}))
