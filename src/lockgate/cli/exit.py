"""The exit codes, in one table (product.md): what a script may rely on."""

from __future__ import annotations

import enum
from collections.abc import Mapping

from lockgate.errors import ConfigError, ContractError, LocalError, LockgateError, PeerError
from lockgate.tools.result import REFUSALS, ErrorKind, ToolResult


class Exit(enum.IntEnum):
    """What a command ends with."""

    DONE = 0
    """A run that ended with an answer, even if calls in it were refused; explain, whatever the
    decision; a call that succeeded."""
    FAILED = 1
    """The tool or the run failed; `check` found something."""
    USAGE = 2
    """The command line or the configuration can not be used."""
    REFUSED = 3
    """Policy said no, or the call waits for an answer (its ticket is printed)."""
    CONTRACT = 4
    """A promise does not hold: an expected tool is missing. Wins over UNREACHABLE."""
    UNREACHABLE = 5
    """Something needed could not be reached, a required server among them."""
    INTERRUPTED = 130
    """Ctrl+C."""


def of_error(error: LockgateError) -> Exit:
    """The code of an error that ended a command."""
    match error:
        case ConfigError() | LocalError():
            return Exit.USAGE
        case ContractError():
            return Exit.CONTRACT
        case PeerError():
            return Exit.UNREACHABLE
        case _:
            return Exit.FAILED


_OF_KIND: Mapping[ErrorKind, Exit] = {
    ErrorKind.UNKNOWN_TOOL: Exit.USAGE,
    ErrorKind.INVALID_ARGUMENTS: Exit.USAGE,
    ErrorKind.TOOL_CHANGED: Exit.CONTRACT,
    ErrorKind.NOT_CONNECTED: Exit.UNREACHABLE,
}


def of_result(result: ToolResult) -> Exit:
    """The code of one call's result."""
    if result.kind is None:
        return Exit.DONE
    if result.kind in REFUSALS:
        return Exit.REFUSED
    return _OF_KIND.get(result.kind, Exit.FAILED)
