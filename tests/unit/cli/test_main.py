"""How the program ends: codes, words, and nothing of what it was told in confidence."""

from __future__ import annotations

import click
import pytest

from lockgate.cli.exit import Exit, of_error, of_result
from lockgate.cli.main import main
from lockgate.errors import (
    ConfigError,
    ContractError,
    Fate,
    Fault,
    LocalError,
    LockgateError,
    PeerError,
    Phase,
)
from lockgate.tools.result import ErrorKind, ToolResult

ERRORS: list[tuple[LockgateError, Exit]] = [
    (ConfigError("c"), Exit.USAGE),
    (LocalError("l"), Exit.USAGE),
    (ContractError("c"), Exit.CONTRACT),
    (
        PeerError("p", peer="s", phase=Phase.CONNECT, fault=Fault.CLOSED, fate=Fate.NOT_SENT),
        Exit.UNREACHABLE,
    ),
]


@pytest.mark.parametrize(("error", "code"), ERRORS)
def test_each_kind_of_error_has_its_code(error: LockgateError, code: Exit) -> None:
    """The table of product.md, by whose fault it is."""
    assert of_error(error) is code


KINDS = {
    ErrorKind.INVALID_ARGUMENTS: 2,
    ErrorKind.UNKNOWN_TOOL: 2,
    ErrorKind.NOT_OFFERED: 3,
    ErrorKind.ABOVE_CEILING: 3,
    ErrorKind.DENIED: 3,
    ErrorKind.NOT_APPROVED: 3,
    ErrorKind.TOOL_CHANGED: 4,
    ErrorKind.NOT_CONNECTED: 5,
}


@pytest.mark.parametrize("kind", ErrorKind)
def test_each_kind_of_result_has_its_code(kind: ErrorKind) -> None:
    """What is not named in the table is a failure of the tool: 1."""
    assert of_result(ToolResult.error(kind, "x")) == KINDS.get(kind, 1)
    assert of_result(ToolResult.of("x")) == 0


def test_a_fault_of_ours_ends_in_words_without_what_it_was_about(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text may hold an argument: only its kind is told, unless a traceback is asked for."""

    @click.command()
    def broken() -> None:
        raise KeyError("SEKRET")

    assert main([], broken) == Exit.FAILED
    said = capsys.readouterr().err
    assert "KeyError" in said
    assert "SEKRET" not in said
    monkeypatch.setenv("LOCKGATE_TRACEBACK", "1")
    with pytest.raises(KeyError):
        main([], broken)
