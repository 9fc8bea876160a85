"""Names of models: what has to be there is told before anything is loaded or started."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from lockgate.agent.models.named import PROVIDERS, NamedModel, look_up
from lockgate.errors import ConfigError

NOBODY_ELSE = frozenset[str]().__contains__
"""A library that knows no provider but those of the table."""


def _problem(name: str, environ: Mapping[str, str], *, installed: bool = True) -> tuple[str, str]:
    with pytest.raises(ConfigError) as caught:
        look_up(name, environ, NOBODY_ELSE if installed else None)
    (problem,) = caught.value.problems
    assert problem.path == "agent.model"
    return problem.message, problem.hint or ""


@pytest.mark.parametrize("name", ["gpt-5", "openai:", ":gpt-5", " : ", ""])
def test_a_name_has_a_provider_and_a_model(name: str) -> None:
    """What it looks like is shown."""
    message, hint = _problem(name, {})
    assert repr(name) in message
    assert "provider:model" in hint


@pytest.mark.parametrize("installed", [True, False])
def test_an_unknown_provider_is_a_slip(installed: bool) -> None:
    """The nearest ones are told, or all; whether the extra is there or not."""
    assert _problem("antropic:x", {}, installed=installed)[1] == "did you mean anthropic?"
    message, hint = _problem("zzzzzz:x", {}, installed=installed)
    assert message == "there is no provider 'zzzzzz'"
    assert "anthropic" in hint
    assert "scripted" in hint


def test_a_provider_that_the_library_has_beside_the_table_will_do() -> None:
    """A newer library knows more."""
    assert look_up("newer:x", {}, "newer".__eq__).provider == "newer"


def test_a_missing_extra_says_what_to_type() -> None:
    """To the letter."""
    message, hint = _problem("anthropic:x", {"ANTHROPIC_API_KEY": "k"}, installed=False)
    assert "not installed" in message
    assert hint is not None
    assert "pip install -e '.[models]'" in hint


@pytest.mark.parametrize(
    "name", [name for name, access in PROVIDERS.items() if access.keys and not access.keyless]
)
def test_a_missing_key_names_its_variables(name: str) -> None:
    """Each that would do; an empty one is none."""
    keys = PROVIDERS[name].keys
    for environ in ({}, {keys[0]: "  "}):
        message, hint = _problem(f"{name}:x", environ)
        assert "need a key" in message
        assert hint == f"set the environment variable {' or '.join(keys)}"
    for key in keys:
        found = look_up(f"{name}:x", {key: " k \n"}, NOBODY_ELSE)
        assert (found.key, found.key_from) == ("k", key)


def test_a_server_of_ones_own_needs_an_address_and_no_key() -> None:
    """Where the wire is OpenAI's, the address of another server makes a key needless."""
    found = look_up("openai-chat:x", {"OPENAI_BASE_URL": "http://localhost:1/v1"}, NOBODY_ELSE)
    assert (found.key, found.address) == (None, "http://localhost:1/v1")
    assert _problem("ollama:x", {})[1] == "set the environment variable OLLAMA_BASE_URL"
    assert look_up("ollama:x", {"OLLAMA_BASE_URL": "http://o/v1"}, NOBODY_ELSE).key is None
    assert "need a key" in _problem("anthropic:x", {"ANTHROPIC_BASE_URL": "http://a"})[0]


@pytest.mark.parametrize("address", ["localhost:8000/v1", "ftp://x", "http://", "http://[x"])
def test_an_address_that_is_none_is_found_before_anything_is_sent(address: str) -> None:
    """The variable is named, and its value is not: it may hold a key."""
    environ = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "k"}
    message, hint = _problem("openai:x", environ)
    assert "OPENAI_BASE_URL is no address" in message
    assert hint is not None
    assert address not in message


def test_the_environment_that_is_handed_in_is_the_one_that_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A key of the process's own is not looked at, nor another address."""
    monkeypatch.setenv("OPENAI_API_KEY", "of-the-process")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere/v1")
    assert "need a key" in _problem("openai:x", {})[0]
    found = look_up("openai:x", {"OPENAI_API_KEY": "k"}, NOBODY_ELSE)
    assert found.address == "https://api.openai.com/v1"


def test_a_name_does_not_show_its_key() -> None:
    """Not in a traceback either."""
    assert "secret" not in repr(NamedModel("a:b", "a", "b", key="secret"))
