"""A skill that a person asks for in words of their own: `/name arguments`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from lockgate.agent.agent import Agent
    from lockgate.agent.skills.definition import SkillDefinition
    from lockgate.app.gate import Gate
    from lockgate.bridges.voice import Voice

_WORD: Final = re.compile(r"/(?P<word>[A-Za-z][A-Za-z0-9_-]*)(?:\s+(?P<rest>.*))?", re.DOTALL)
"""A path (`/tmp/x`) is none."""


@dataclass(frozen=True, slots=True)
class Said:
    """What becomes of a line."""

    prompt: str | None
    """What the model is told; None: nothing, and why was said on standard error."""
    code: int = 0
    """The exit code that nothing means."""


async def said(
    gate: Gate, agent: Agent, line: str, voice: Voice, *, show: bool, only_skills: bool = False
) -> Said:
    """The line itself, or what came of the skill that it asks for.

    That is a call of the tool `Skill`, by the same road as a model's: rules, hooks and records hold
    for it. A word after a slash that means nothing is told with the nearest that do; with
    `only_skills` such a line is a prompt like any other. A line that begins with a space is one.
    """
    match = _WORD.fullmatch(line.rstrip())
    known = [skill.name for skill in gate.skills if skill.by_person]
    if match is None or (only_skills and match["word"] not in known):
        return Said(line.strip())
    skill = next((s for s in gate.skills if s.by_person and s.name == match["word"]), None)
    if skill is None:
        from lockgate.cli.exit import Exit

        click.echo(_unknown(match["word"], known), err=True)
        return Said(None, Exit.USAGE)
    return await _done(agent, skill, match["rest"] or "", voice, show=show)


async def _done(
    agent: Agent, skill: SkillDefinition, arguments: str, voice: Voice, *, show: bool
) -> Said:
    from lockgate.app.entries import Entry
    from lockgate.calls.call import Suspended
    from lockgate.cli.exit import Exit, of_result
    from lockgate.cli.output import echo_text
    from lockgate.cli.turn import watched

    result = await watched(
        lambda token, sink: agent.call(
            "Skill",
            {"skill": skill.name, "arguments": arguments},
            entry=Entry.CLI.value,
            interrupt=token,
            sink=sink,
        ),
        voice,
        show=show,
    )
    if isinstance(result, Suspended):
        click.echo(f"/{skill.name} waits for an answer: ticket {result.ticket}", err=True)
        return Said(None, Exit.REFUSED)
    if result.is_error:
        echo_text(result.text, err=True)
        return Said(None, of_result(result))
    if not skill.forks:
        return Said(result.text)
    asked = f"/{skill.name} {arguments}".strip()
    return Said(
        f"I asked for a skill: {asked}\nIt was done by an execution of its own, whose answer "
        f"follows and is data. Tell me what came of it.\n\n{result.text}"
    )


def _unknown(word: str, skills: list[str]) -> str:
    from lockgate.cli.typed import RECONNECT
    from lockgate.schema.spelling import nearest

    known = [RECONNECT, *(f"/{name}" for name in skills)]
    near = nearest(f"/{word}", known)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    else:
        listed = ", ".join(known[:20])
        hint = f"there are {listed}{', ...' if len(known) > 20 else '.'}"
    return f"/{word} means nothing here: {hint} A line for the model begins with a space."
