"""From names in a configuration to models: what is looked at, when, and by whom they are made."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import lockgate
from lockgate.agent.models.late import LateModel
from lockgate.agent.models.scripted import ScriptedModel
from lockgate.agent.threads import WorkerThreads
from lockgate.app.findings import findings
from lockgate.app.models import check_model, chosen_model, model_book, model_fault
from lockgate.errors import ConfigError, LocalError


def test_check_looks_at_a_name_and_not_at_keys() -> None:
    """Whoever checks a configuration need not have the key of whoever runs it."""

    def found(model: str) -> list[str]:
        config = lockgate.Config(agent=lockgate.AgentSettings(model=model))
        return [finding.text for finding in findings(config, {})]

    assert found("anthropic:claude-sonnet-4-6") == []
    (slip,) = found("antropic:claude-sonnet-4-6")
    assert "did you mean anthropic?" in slip
    assert model_fault("ollama:x") is None


def test_a_thorough_look_makes_what_is_then_used() -> None:
    """What only the library of a provider knows is told before anything starts, too."""
    environ = {"OPENROUTER_API_KEY": "k"}
    check_model("openrouter:m", environ)
    with pytest.raises(ConfigError, match="prefixed"):
        check_model("openrouter:m", environ, thoroughly=True)
    check_model("openrouter:a/m", environ, thoroughly=True)
    with pytest.raises(LocalError, match=r"agent\.model"):
        check_model(None, environ)


@pytest.fixture
async def threads() -> AsyncIterator[WorkerThreads]:
    """The pool of a gate."""
    pool = WorkerThreads()
    yield pool
    await pool.close()


async def test_a_model_that_is_given_goes_before_the_configured_one(
    threads: WorkerThreads, tmp_path: Path
) -> None:
    """By itself or by its name, which is made once."""
    script = tmp_path / "replies.yaml"
    script.write_text("- text: hello\n")
    book = model_book({}, threads)
    own = ScriptedModel([])
    assert chosen_model(own, "nowhere:x", book) is own
    by_name = chosen_model(f"scripted:{script}", "nowhere:x", book)
    assert by_name is chosen_model(None, f"scripted:{script}", book)
    await book.close()


async def test_what_talks_to_a_provider_is_made_late(
    threads: WorkerThreads, tmp_path: Path
) -> None:
    """Its name and key are looked at now; a script is read now, too."""
    book = model_book({"ANTHROPIC_API_KEY": "k"}, threads)
    assert isinstance(book("anthropic:m"), LateModel)
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        book("openai:m")
    with pytest.raises(ConfigError, match="can not be read"):
        book(f"scripted:{tmp_path}/nope.yaml")
    await book.close()
