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
    click.echo(f"Answered for good, in {visible(str(answers[0].place.file))}:")
    width = screen_width()
    for kept in answers:
        answered = kept.answered
        where, holds = f"line {kept.place.line}", f"for fingerprint {answered.pin[:12]}"
        if isinstance(answered, AnsweredRule):
            _print(f"{where}: yes in attended runs to this call, {holds}", kept, width)
            click.echo("\n".join(rule_lines(answered.text, width)))
        else:
            tool = f"{quoted(answered.tool)} of server {visible(answered.server)}"
            _print(f"{where}: {tool} {_SAYS[answered.word]}, {holds}", kept, width)


def _print(text: str, kept: KeptAnswer, width: int) -> None:
    lines = folded(text, width, f"{kept.id}  ", " " * (len(kept.id) + 2))
    click.echo("\n".join(line.rstrip() for line in lines))


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
