"""How answers that hold for good are worded, for people and for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import click

from lockgate.bridges.choices import rule_lines
from lockgate.cli.waiting import screen_width
from lockgate.settings.answers import AnsweredRule, KeptAnswer
from lockgate.showing import folded, quoted, visible

_SAYS: Final[Mapping[str, str]] = {
    "read-only": "only reads",
    "additive": "never overwrites or removes",
}


def print_answers(answers: Sequence[KeptAnswer]) -> None:
    """Each with the word that takes it back, and where it stands."""
    click.echo("Answered for good:")
    width = screen_width()
    for kept in answers:
        answered, place = kept.answered, kept.place
        where = visible(f"{place.file}:{place.line}")
        if isinstance(answered, AnsweredRule):
            click.echo(
                "\n".join(folded("yes to this call in attended runs", width, f"{kept.id}  "))
            )
            click.echo("\n".join(rule_lines(answered.text, width)))
        else:
            tool = f"{quoted(answered.tool)} of server {visible(answered.server)}"
            said = f"{tool} {_SAYS[answered.word]}"
            click.echo("\n".join(folded(said, width, f"{kept.id}  ", " " * 13)))
        told = f"while its fingerprint is {answered.pin[:12]}; {where}"
        click.echo("\n".join(folded(told, width, " " * 13, " " * 13)))


def answer_data(kept: KeptAnswer) -> dict[str, Any]:
    """An answer for programs; `fingerprint` is that of the definition it holds for."""
    answered, place = kept.answered, kept.place
    data: dict[str, Any] = {
        "grant": kept.id,
        "fingerprint": answered.pin,
        "file": str(place.file),
        "line": place.line,
    }
    if isinstance(answered, AnsweredRule):
        return {**data, "rule": answered.text, "destructive": answered.destructive}
    return {**data, "server": answered.server, "tool": answered.tool, "verdict": answered.word}
