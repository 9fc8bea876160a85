"""What a program hands in is looked at before anything is started."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.errors import LocalError
from lockgate.testing.model import FakeModel

GIVEN: tuple[tuple[dict[str, Any], str], ...] = (
    ({"tools": [lambda: 1]}, "each of tools must be a Tool"),
    ({"tools": 3}, "tools must be a list"),
    ({"agents": ["x"]}, "each of agents must be a lockgate.AgentDefinition"),
    ({"skills": ["x"]}, "each of skills must be a lockgate.SkillDefinition"),
    ({"approvers": [lambda: 1]}, "each of approvers must be an approver"),
    ({"unattended_approvers": ["x"]}, "each of unattended_approvers"),
    ({"hooks": 3}, "hooks must be a list"),
    ({"agents": [lockgate.AgentDefinition("a", "b", "c", model="nope")]}, "sub-agent a"),
    ({"skills": [lockgate.SkillDefinition("a", "b", "c", model="nope")]}, "skill a"),
)


@pytest.mark.parametrize(("given", "words"), GIVEN)
async def test_what_is_not_what_it_is_given_as_is_told(given: dict[str, Any], words: str) -> None:
    """The parameter is named, and what to give."""
    with pytest.raises(LocalError, match=words):
        async with lockgate.open(lockgate.Config(), **given):
            pass


def test_a_gate_that_is_not_open_says_how_it_opens() -> None:
    """Whatever it is taken for."""
    opening: Any = lockgate.open(lockgate.Config())
    with pytest.raises(LocalError, match="async with"):
        opening.call("x")
    with pytest.raises(LocalError, match="async with"), opening:
        pass
    with pytest.raises(AttributeError):
        _ = opening.nothing_a_gate_has


@pytest.mark.parametrize(
    "given", [{"limits": {"iterations": 3}}, {"instructions": 3}, {"model": 3}]
)
async def test_what_an_agent_is_given_is_told_by_its_name(
    tmp_path: Path, given: dict[str, Any]
) -> None:
    """Before a session begins."""
    config = lockgate.Config(state_dir=tmp_path)
    known: dict[str, Any] = {} if "model" in given else {"model": FakeModel([])}
    async with lockgate.open(config) as gate:
        with pytest.raises(LocalError, match=f"{next(iter(given))} must be"):
            gate.agent(**known, **given)


@pytest.mark.parametrize("limits", [{"iterations": "5"}, {"seconds": None}, {"tokens": 1.5}])
def test_limits_of_another_type_are_refused(limits: dict[str, Any]) -> None:
    """Where they are made."""
    with pytest.raises(ValueError, match=f"{next(iter(limits))} of TurnLimits must be a"):
        lockgate.TurnLimits(**limits)


class _Broken:
    name = "broken"

    def __init__(self, reply: Any) -> None:
        self._reply = reply

    async def reply(self, request: Any, heard: Any = None) -> Any:
        """Whatever it was made with."""
        del request, heard
        if isinstance(self._reply, Exception):
            raise self._reply
        return self._reply


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("hello", "returned str"),
        (None, "returned NoneType"),
        (RuntimeError("secret"), "raised RuntimeError"),
        (lockgate.ModelReply(None), "no text"),  # pyright: ignore[reportArgumentType] - what is tested
        (lockgate.ModelReply("", ("x",)), "no tuple"),  # pyright: ignore[reportArgumentType] - what is tested
    ],
)
async def test_a_broken_model_ends_the_turn(
    tmp_path: Path, reply: Any, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    """By the kind of what went wrong alone; what it says may hold anything."""
    async with lockgate.open(lockgate.Config(state_dir=tmp_path)) as gate:
        result = await gate.agent(model=_Broken(reply)).run("go")
    assert (result.status, result.reason) == (lockgate.RunStatus.MODEL_FAILED, "model_error")
    assert words in result.detail
    assert words in caplog.text
    assert "secret" not in result.detail + caplog.text
