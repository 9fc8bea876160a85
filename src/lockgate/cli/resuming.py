"""`lockgate run --resume`: which session is meant, and what a person is reminded of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from lockgate.agent.model import Message, ModelReply, UserMessage
from lockgate.cli.session_words import SHORT, beginning
from lockgate.cli.table import counted
from lockgate.showing import visible

if TYPE_CHECKING:
    from lockgate.agent.agent import Agent

_ID: Final = re.compile(r"[0-9a-f]{6,32}")
REMINDED: Final = 400
"""Characters of the last prompt and of the last reply that are shown."""


def meant(resume: str | None, prompt: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """What `--resume [ID]` and the words behind it mean: the beginning of an id (empty: the last
    session; None: a new one), and the prompt. A word that can be no id begins the prompt."""
    if resume is None or not resume or _ID.fullmatch(resume):
        return resume, tuple(prompt)
    return "", (resume, *prompt)


def remind(agent: Agent) -> None:
    """Say on standard error which session goes on, what was said last, and what still waits."""
    said = agent.transcript
    prompts = sum(isinstance(message, UserMessage) for message in said)
    click.echo(
        f"going on with session {agent.session_id[:SHORT]}, {counted(prompts, 'prompt')}", err=True
    )
    if (prompt := _last(said, UserMessage)) is not None:
        click.echo(f"  > {beginning(prompt, REMINDED)}", err=True)
    if (reply := _last(said, ModelReply)) is not None:
        click.echo(f"  {beginning(reply, REMINDED)}", err=True)
    for call in agent.waiting:
        click.echo(
            f"{visible(call.tool)} still waits for an answer: lockgate approvals answer"
            f" {call.ticket} yes|no",
            err=True,
        )


def _last(said: Sequence[Message], kind: type[UserMessage | ModelReply]) -> str | None:
    texts = (m.text for m in reversed(said) if isinstance(m, kind) and m.text)
    return next(texts, None)
