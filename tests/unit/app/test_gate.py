"""What a gate says to a program that uses it wrongly: which parameter, and never a traceback."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.errors import LocalError
from lockgate.testing.approver import ScriptedApprover


@lockgate.tool(level="mutating", destructive=True)
def wipe(n: int) -> str:
    """Remove things."""
    return f"{n} removed"


def a_gate(tmp_path: Path, **more: Any) -> Any:
    """A gate with one destructive tool, where everything is approved."""
    config = lockgate.Config(state_dir=tmp_path / "state")
    return lockgate.open(config, tools=[wipe], approvers=[ScriptedApprover.always(True)], **more)


@pytest.mark.parametrize("name", [None, ["wipe"], b"wipe", 5])
async def test_a_name_is_a_string(tmp_path: Path, name: Any) -> None:
    """In `call` and `explain`, the parameter is named."""
    async with a_gate(tmp_path) as gate:
        with pytest.raises(LocalError, match="name must be str, not"):
            await gate.call(name, {})
        with pytest.raises(LocalError, match="name must be str, not"):
            gate.explain(name, {})


@pytest.mark.parametrize("timeout", ["5", True, math.nan, math.inf, 0, -1.0, [1]])
async def test_a_timeout_is_a_number_over_0(tmp_path: Path, timeout: Any) -> None:
    """Any other would let a call end at once, or never."""
    async with a_gate(tmp_path) as gate:
        with pytest.raises(LocalError, match="timeout must be"):
            await gate.call("wipe", {"n": 1}, timeout=timeout)
        assert not (await gate.call("wipe", {"n": 1}, timeout=5)).is_error


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"n": 10**5000}, lockgate.ErrorKind.INVALID_ARGUMENTS),
        ({"n": 10**400}, None),
        ({"n": 2**70}, None),
        (["n"], lockgate.ErrorKind.INVALID_ARGUMENTS),
        ({1: 2}, lockgate.ErrorKind.INVALID_ARGUMENTS),
    ],
)
async def test_odd_arguments_are_results(tmp_path: Path, arguments: Any, kind: Any) -> None:
    """What JSON can not hold is refused like any other misfit; big numbers it can hold run."""
    async with a_gate(tmp_path) as gate:
        assert (await gate.call("wipe", arguments)).kind is kind
        gate.explain("wipe", arguments)


async def test_an_answer_is_yes_no_or_an_answer(tmp_path: Path) -> None:
    """A word that reads like yes is none."""
    async with a_gate(tmp_path) as gate:
        with pytest.raises(LocalError, match="answer must be bool or Answer, not str"):
            await gate.resume("ticket", "yes")
        with pytest.raises(LocalError, match="ticket must be str, not NoneType"):
            await gate.resume(None, True)


async def test_a_model_and_a_source_are_what_they_should_be(tmp_path: Path) -> None:
    """A wrong type is named, and where no model is set all three places are."""
    async with a_gate(tmp_path) as gate:
        with pytest.raises(LocalError, match="model must be a Model or a name, not int"):
            gate.agent(model=5)
        with pytest.raises(LocalError, match=r"agent\.model .* --model NAME.* agent\("):
            gate.agent()
    with pytest.raises(LocalError, match="source must be a Config, a path or None, not int"):
        async with lockgate.open(5):  # pyright: ignore[reportArgumentType] - on purpose
            pass


@lockgate.tool(level="read-only")
async def count(to: int, context: lockgate.ToolContext) -> str:
    """Count, and say how far it is."""
    for so_far in range(to):
        if context.progress is not None:
            context.progress(so_far, to, "counting")
    return "done"


async def test_progress_of_a_call_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A tool of ours reports as one of a server does; a sink that fails harms nothing."""
    told: list[tuple[float, float | None, str | None]] = []

    def sink(so_far: float, total: float | None, message: str | None) -> None:
        told.append((so_far, total, message))
        raise ValueError(f"secret {message}")

    async with lockgate.open(lockgate.Config(state_dir=tmp_path), tools=[count]) as gate:
        done = lockgate.ToolResult.of("done")
        assert await gate.call("count", {"to": 2}) == done
        assert await gate.call("count", {"to": 2}, progress=sink) == done
    assert told == [(0, 2, "counting"), (1, 2, "counting")]
    assert caplog.text.count("a progress sink failed: ValueError") == 2
    assert "secret" not in caplog.text


def test_progress_of_a_waited_for_call_is_told(tmp_path: Path) -> None:
    """The same without a loop of one's own."""
    told: list[float] = []
    config = lockgate.Config(state_dir=tmp_path)
    with lockgate.open_sync(config, tools=[count]) as gate:
        gate.call("count", {"to": 3}, progress=lambda so_far, total, message: told.append(so_far))
    assert told == [0, 1, 2]
