"""From names to the library's models: all that it knows, and what is said where something lacks."""

from __future__ import annotations

import pytest

from lockgate.agent.model import ModelRequest, UserMessage
from lockgate.agent.models.named import PROVIDERS, NamedModel, look_up
from lockgate.agent.models.providers.making import is_known, library_model, make_model
from lockgate.agent.models.tuning import Tuning
from lockgate.errors import ConfigError
from lockgate.testing.provider_server import ProviderServer

ENVIRON = {key: "k" for access in PROVIDERS.values() for key in access.keys} | {
    "OLLAMA_BASE_URL": "http://localhost/v1",
    "VLLM_BASE_URL": "http://localhost/v1",
}


def test_each_provider_of_the_table_is_one_of_the_librarys() -> None:
    """The table is by hand; a name that the library does not have would fail late."""
    assert [name for name in PROVIDERS if not is_known(name)] == []
    assert not is_known("nowhere")


@pytest.mark.parametrize("name", PROVIDERS)
def test_each_provider_is_made_or_says_what_it_lacks(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys come from the environment that is handed in alone; what is missing is told with what to
    do about it, in our own words."""
    for key in ENVIRON:
        monkeypatch.delenv(key, raising=False)
    model = "openai/m"
    named = look_up(f"{name}:{model}", ENVIRON, is_known)
    try:
        made = library_model(named)
    except ConfigError as error:
        (problem,) = error.problems
        assert problem.hint
        assert problem.hint.startswith(("run: pip install ", "set in the environment: "))
    else:
        assert made.model_name == model


def test_keys_and_addresses_are_those_that_were_looked_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever the process's own environment says."""
    for name in ("OPENAI", "ANTHROPIC"):
        monkeypatch.setenv(f"{name}_API_KEY", "of-the-process")
        monkeypatch.setenv(f"{name}_BASE_URL", "http://elsewhere/v1")
    for name in ("openai", "openai-chat", "anthropic"):
        model = library_model(look_up(f"{name}:m", ENVIRON, is_known))
        assert model.provider is not None
        assert model.provider.client.api_key == "k"
        assert "elsewhere" not in model.provider.base_url


def test_a_name_of_another_form_is_told_in_the_librarys_words() -> None:
    """It knows what names of a provider look like."""
    with pytest.raises(ConfigError, match="must be prefixed"):
        library_model(look_up("openrouter:m", {"OPENROUTER_API_KEY": "key-123"}, is_known))


def test_what_the_library_says_is_left_aside() -> None:
    """It may hold values; names of variables in it are told."""
    with pytest.raises(ConfigError, match="AZURE_OPENAI_ENDPOINT") as caught:
        library_model(NamedModel("azure:m", "azure", "m"))
    assert caught.value.__cause__ is None
    assert "Pydantic" not in str(caught.value)


@pytest.mark.parametrize(
    ("tuning", "bound", "sent"),
    [
        (Tuning(thinking="low"), None, {"max_tokens": 64_000, "thinking": 2048}),
        (
            Tuning(max_tokens=30_000, thinking=True),
            None,
            {"max_tokens": 30_000, "thinking": 10_000},
        ),
        (Tuning(max_tokens=30_000, thinking=True), 500, {"max_tokens": 500, "thinking": None}),
        (Tuning(max_tokens=400), 500, {"max_tokens": 400, "thinking": None}),
        (Tuning(), 3, {"max_tokens": 16, "thinking": None}),
    ],
)
async def test_a_model_writes_as_it_is_told(
    tuning: Tuning, bound: int | None, sent: dict[str, int | None]
) -> None:
    """The nearest of two bounds counts, and what is too near leaves no room to think."""
    async with ProviderServer() as server:
        named = look_up("anthropic:claude-haiku-4-5", server.environ, is_known)
        model = make_model(named, tuning=tuning)
        await model.reply(ModelRequest([UserMessage("go")], max_tokens=bound))
        await model.close()
        body = server.heard[0].body
    assert body["max_tokens"] == sent["max_tokens"]
    assert body.get("thinking", {}).get("budget_tokens") == sent["thinking"]
