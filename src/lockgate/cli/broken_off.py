"""A call that was broken off while it was under way: what a person has to know of it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import click

from lockgate.app.gate import Gate
from lockgate.cli.options import short
from lockgate.errors import LockgateError
from lockgate.showing import visible


@contextmanager
def told_if_broken_off(gate: Gate, name: str) -> Generator[None]:
    """Make one call of `name` within the block. If the program is ended meanwhile, say on standard
    error whether it may have taken effect: it was sent, nobody knows, and it may not run twice."""
    before = _unknowns(gate, name)
    try:
        yield
    except BaseException:
        with suppress(LockgateError):
            if _unknowns(gate, name) - before:
                click.echo(f"\n{may_have_happened(gate, name)}", err=True)
        raise


def may_have_happened(gate: Gate, name: str) -> str:
    """The words for it: what is known, how to look, and where the record is."""
    looking = _reading(gate, name)
    how = f" (with {' or '.join(looking)})" if looking else ""
    lines = [
        f"{visible(name)} was sent, and there is no answer: it may have taken effect.",
        f"Look whether it did{how} before you call it again.",
    ]
    state = gate.config.state_dir
    if state is not None:
        lines.append(f"Its record is the last one in {visible(short(Path(state) / 'audit'))}.")
    return "\n".join(lines)


def _unknowns(gate: Gate, name: str) -> frozenset[str]:
    """What stands open about calls of `name`; the id of the call is in the words."""
    return frozenset(
        reason.text
        for step in gate.explain(name).steps
        for reason in step.reasons
        if reason.code == "open_unknown"
    )


def _reading(gate: Gate, name: str) -> list[str]:
    """A few tools of the same server that only read."""
    tools = {tool.name: tool for tool in gate.tools()}
    server = tools[name].definition.origin.server
    near = (
        visible(other.name)
        for other in tools.values()
        if other.is_read_only and other.definition.origin.server == server
    )
    return list(islice(near, 3))
