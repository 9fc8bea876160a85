"""The family of errors: whose fault, in which phase, with what fate."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.errors import (
    ConfigError,
    ContractError,
    Fate,
    Fault,
    LocalError,
    LockgateError,
    PeerError,
    Phase,
    Problem,
)


def test_the_family_itself_is_never_raised() -> None:
    """Every error says whose fault it is; the family does not."""
    with pytest.raises(TypeError, match="family"):
        LockgateError("x")


@pytest.mark.parametrize("kind", [ConfigError, ContractError, LocalError])
def test_everything_is_caught_by_the_family(kind: type[LockgateError]) -> None:
    """One `except LockgateError` catches all that lockgate raises."""
    with pytest.raises(LockgateError, match="x"):
        raise kind("x")


def test_a_problem_is_told_with_its_place_and_what_to_do() -> None:
    """File, line, column, key path, message, and the hint on a line of its own."""
    problem = Problem(
        "unknown key", "mcp.servers[1].comand", Path("lockgate.yaml"), 7, 3, "did you mean command?"
    )
    assert str(problem) == (
        "lockgate.yaml:7:3: mcp.servers[1].comand: unknown key\n  did you mean command?"
    )


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (Problem("empty"), "empty"),
        (Problem("empty", file=Path("a.yaml")), "a.yaml: empty"),
        (Problem("empty", "mcp"), "mcp: empty"),
        (Problem("empty", file=Path("a.yaml"), line=2), "a.yaml:2: empty"),
    ],
)
def test_a_problem_leaves_out_what_is_not_known(problem: Problem, text: str) -> None:
    """No empty brackets, no `None`."""
    assert str(problem) == text


@pytest.mark.req("S0-14")
def test_a_configuration_error_carries_every_finding() -> None:
    """All of them at once, as values and as text."""
    error = ConfigError("first", Problem("second", "a.b"))
    assert [p.message for p in error.problems] == ["first", "second"]
    assert str(error) == "first\na.b: second"


@pytest.mark.req("B-03")
def test_a_peer_error_knows_phase_fault_and_fate() -> None:
    """Who failed, when, how, and whether what was sent may have taken effect."""
    error = PeerError(
        "it hung up",
        peer="git",
        phase=Phase.REQUEST,
        fault=Fault.CLOSED,
        fate=Fate.UNKNOWN,
        code=-32000,
        data={"token": "s3cret"},
    )
    assert (error.peer, error.phase, error.fault) == ("git", Phase.REQUEST, Fault.CLOSED)
    assert (error.fate, error.code) == (Fate.UNKNOWN, -32000)
    assert "s3cret" not in str(error) + repr(error)


@pytest.mark.req("B-03")
def test_there_are_three_fates() -> None:
    """Not sent, answered, unknown; a fourth would be a lie."""
    assert {fate.value for fate in Fate} == {"not_sent", "answered", "unknown"}


def test_findings_that_are_alike_are_told_once() -> None:
    """Ten of them each, the rest as a number; all others as they are, and all are carried."""
    many = [Problem("comes twice", path=f"builtin[{n}]") for n in range(40_000)]
    other = Problem("is unknown", path="mcp")
    error = ConfigError(*many, other)
    lines = str(error).split("\n")
    assert lines[9:] == [
        "builtin[9]: comes twice",
        "  and 39,990 more like this",
        "mcp: is unknown",
    ]
    assert len(error.problems) == 40_001
    assert str(ConfigError(*many[:10])).count("\n") == 9
