"""Models by name: each is made once, and closed by who made it."""

from __future__ import annotations

import logging

import pytest

from lockgate.agent.model import Hearing, Model, ModelReply, ModelRequest
from lockgate.agent.models.book import ModelBook
from lockgate.agent.models.scripted import ScriptedModel
from lockgate.errors import ConfigError, LocalError


class Open:
    """A model that holds something open."""

    def __init__(self, name: str, fails: bool = False) -> None:
        self.name = name
        self.closed = 0
        self._fails = fails

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """Its name."""
        return ModelReply(self.name)

    async def close(self) -> None:
        """Count it."""
        self.closed += 1
        if self._fails:
            raise OSError("secret")


async def test_a_model_is_made_once_and_closed_with_the_book() -> None:
    """An agent and its children share one; a scripted model has nothing to close."""
    made: list[Open] = []

    def make(name: str) -> Model:
        if name == "scripted:x":
            return ScriptedModel(())
        made.append(Open(name))
        return made[-1]

    book = ModelBook(make)
    assert book("a:x") is book("a:x")
    assert book("a:y") is not book("a:x")
    assert isinstance(book("scripted:x"), ScriptedModel)
    await book.close()
    await book.close()
    assert [model.closed for model in made] == [1, 1]
    with pytest.raises(LocalError, match="closed"):
        book("a:x")


async def test_one_that_does_not_close_keeps_no_other_open(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Which one is told, and not in a stranger's words."""
    made = {"a:x": Open("a:x", fails=True), "a:y": Open("a:y")}
    book = ModelBook(made.__getitem__)
    book("a:x")
    book("a:y")
    with caplog.at_level(logging.WARNING):
        await book.close()
    assert made["a:y"].closed == 1
    assert "closing the model a:x failed: OSError" in caplog.text
    assert "secret" not in caplog.text


def test_a_name_that_can_not_be_used_is_not_remembered() -> None:
    """It may be mended meanwhile."""
    tries: list[str] = []

    def make(name: str) -> Model:
        tries.append(name)
        raise ConfigError("no key")

    book = ModelBook(make)
    for _ in range(2):
        with pytest.raises(ConfigError):
            book("a:x")
    assert tries == ["a:x", "a:x"]
