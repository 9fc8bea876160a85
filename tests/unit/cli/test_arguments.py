"""Arguments on the command line: what is no JSON, or not one JSON, is told in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from lockgate.cli.arguments import input_object, parse_arguments, whole_words

DEEP = "[" * 200_000 + "]" * 200_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": 1, "a": 2}', "has the key 'a' twice in one object"),
        ('{"x": [{"b": 1, "b": 1}]}', "has the key 'b' twice in one object"),
        (f'{{"a": {DEEP}}}', "is nested too deeply"),
        ('{"a": NaN}', "NaN is no JSON number"),
        ('{"a": -Infinity}', "-Infinity is no JSON number"),
        ('{"a":', r"not JSON: Expecting value \(line 1, column 6\)"),
        ("[1]", "must be a JSON object"),
        ("@nowhere.json", "@nowhere.json: can not be read: No such file or directory"),
        ("@a\0b", r"@a\\x00b: can not be read"),
        ("@latin.json", "@latin.json: is not UTF-8, at byte 2"),
        (f'{{"n": 1{"0" * 5000}}}', "--input-json: "),
    ],
)
def test_bad_input_json_is_told(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the file, and never with a value."""
    monkeypatch.chdir(tmp_path)
    Path("latin.json").write_bytes(b'{"\xe4": 1}')
    with pytest.raises(click.UsageError, match=words):
        input_object(text)


def test_input_that_is_not_utf8_is_told() -> None:
    """From standard input too, whatever the locale."""

    @click.command()
    def reading() -> None:
        input_object("-")

    done = CliRunner().invoke(reading, input=b'{"a": "\xff"}')
    assert "--input-json: is not UTF-8, at byte 7" in done.output


def test_half_a_surrogate_pair_is_left_to_the_check_of_arguments() -> None:
    """It is JSON and no text; the refusal says so better than any reader of JSON."""
    assert input_object(r'{"a": "\ud800"}') == {"a": "\ud800"}


@pytest.mark.parametrize("word", [f"a:={DEEP}", "a:=NaN", 'a:={"b":1,"b":2}', "a", "=1"])
def test_a_word_that_can_not_be_read_is_a_fault_of_usage(word: str) -> None:
    """`key:=` is as strict as `--input-json`."""
    with pytest.raises(click.UsageError):
        parse_arguments([word], {}, None)


@pytest.mark.parametrize("value", [DEEP, "NaN", '{"b":1,"b":2}', "{"])
def test_a_value_that_is_no_json_is_left_to_the_schema(value: str) -> None:
    """It stays text, and the check says what is wrong, with the path."""
    schema: dict[str, Any] = {"properties": {"a": {"type": "object"}}}
    assert parse_arguments([f"a={value}"], {}, schema) == {"a": value}


def test_words_are_laid_over_what_is_given() -> None:
    """And what was given is left alone."""
    given = {"a": 1, "b": 2}
    assert parse_arguments(["b:=3"], given, None) == {"a": 1, "b": 3}
    assert given == {"a": 1, "b": 2}


def test_a_word_is_text() -> None:
    """Bytes that are not UTF-8 are told as escapes."""
    whole_words("a", "\u00e4=1")
    with pytest.raises(click.UsageError, match=r"udcff.* is not UTF-8"):
        whole_words("a", "b=\udcff")
