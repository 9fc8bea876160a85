"""What was said in a session, for people and for programs."""

from __future__ import annotations

import json
from typing import Any, Final

import click

from lockgate.agent.message_json import encoded
from lockgate.agent.model import Message, ModelReply, ToolAnswer, UserMessage
from lockgate.calls.redaction import redacted
from lockgate.cli.output import INSIDE, echo_text
from lockgate.showing import visible, visible_json

SHORT: Final = 12
"""Characters of an id that are shown."""
BEGAN: Final = 160
"""Characters of a prompt that a list has room for."""


def beginning(text: str, room: int = BEGAN) -> str:
    """The beginning of a text, on one line and visible."""
    line = " ".join(text[: 4 * room].split())
    return visible(line if len(line) <= room else f"{line[: room - 1]}…")


def message_data(message: Message) -> Any:
    """A message for programs: as it is written down."""
    return json.loads(encoded(message))


def print_message(message: Message, *, reveal: bool) -> None:
    """Print a message: a prompt after `>`, a reply as it is, a call and its result indented."""
    match message:
        case UserMessage():
            echo_text(message.text, under="> ")
            for block in message.attached:
                echo_text(block.as_text(), under="> ")
        case ModelReply():
            if message.text:
                echo_text(message.text)
            if message.cut_off:
                click.echo("(the reply was cut off here)")
            for call in message.calls:
                given = dict(call.arguments)
                told = json.dumps(given if reveal else redacted(given), ensure_ascii=False)
                click.echo(f"{INSIDE}{visible(call.name)} {visible_json(told)}")
        case ToolAnswer():
            kind = message.result.kind
            word = "ok" if kind is None else kind.value
            click.echo(f"{INSIDE}{visible(message.name)}: {word}")
            if message.result.text:
                echo_text(message.result.text, under=INSIDE * 2)
