"""`lockgate run --resume`: which session is meant, and what a person is reminded of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import click

from lockgate.agent.model import Message, ModelReply, UserMessage
from lockgate.cli.options import to_type
from lockgate.cli.session_words import SHORT, beginning
from lockgate.cli.table import counted
from lockgate.errors import LocalError
from lockgate.showing import quoted, visible

if TYPE_CHECKING:
    from lockgate.agent.agent import Agent

_ID: Final = re.compile(r"[0-9a-f]{6,32}")
LAST: Final = "-"
"""What `--resume` with nothing behind it stands for: the last session."""
REMINDED: Final = 400
"""Characters of the last prompt and of the last reply that are shown."""


def meant(resume: str | None, prompt: Sequence[str]) -> tuple[str | None, tuple[str, ...]]:
    """What `--resume [ID]` and the words behind it mean: the beginning of an id (empty: the last
    session; None: a new one), and the prompt.

    One word is always an id, so that none with a slip in it is sent to a model as a prompt to
    another session; what has a space between words begins the prompt. Raises `LocalError` for a
    word that is no id.
    """
    if resume is None:
        return None, tuple(prompt)
    if resume == LAST:
        return "", tuple(prompt)
    if _ID.fullmatch(resume):
        return resume, tuple(prompt)
    if len(resume.split()) > 1:
        return "", (resume, *prompt)
    raise LocalError(
        f"no session has an id that begins with {quoted(resume)}: six to 32 of 0-9 and a-f (see:"
        " lockgate sessions list). A prompt of one word, or without quotes, stands behind --:"
        " lockgate run --resume -- PROMPT"
    )


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
            f"{visible(call.tool)} still waits for an answer:"
            f" {to_type(f'approvals answer {call.ticket} yes|no')}",
            err=True,
        )


def _last(said: Sequence[Message], kind: type[UserMessage | ModelReply]) -> str | None:
    texts = (m.text for m in reversed(said) if isinstance(m, kind) and m.text)
    return next(texts, None)
