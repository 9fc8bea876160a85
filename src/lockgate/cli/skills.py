"""`lockgate skills`: the skills there are; looking at one as it is understood."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json, short

if TYPE_CHECKING:
    from lockgate.agent.skills.definition import SkillDefinition


@click.group("skills", no_args_is_help=True)
def skills_group() -> None:
    """Skills that the configuration names: list them, show one.

    What is shown is how lockgate understands a SKILL.md: who may ask for it, where it runs, with
    which tools, and what of it says nothing here. Starts nothing.
    """


@skills_group.command("list")
@config_option
@json_option
def list_skills(config: Path | None, as_json: bool) -> None:
    """List the skills there are, by name and description.

    \b
    Examples:
      lockgate skills list
      lockgate skills list --json | jq -r '.skills[].name'
    """
    from lockgate.cli.listing import print_folded
    from lockgate.showing import visible

    skills = _skills(config)
    if as_json:
        print_json({"skills": [_data(skill) for skill in skills]})
        return
    if not skills:
        click.echo("No skills are configured: agent: {skills: [./skills]} says where some are.")
        return
    rows = [(s.name, _runs(s), _askers(s), visible(s.description)) for s in skills]
    print_folded(("SKILL", "RUNS", "ASKED FOR BY", "WHAT IT IS"), rows)


@skills_group.command("show")
@click.argument("skill")
@config_option
@json_option
def show(skill: str, config: Path | None, as_json: bool) -> None:
    """Show SKILL: its keys, its files, what of it says nothing here, and its text.

    \b
    Example:
      lockgate skills show release-notes
    """
    from lockgate.cli.offered import no_such
    from lockgate.cli.output import INSIDE, echo_text
    from lockgate.showing import visible

    skills = _skills(config)
    found = next((one for one in skills if one.name == skill), None)
    if found is None:
        raise no_such("skill", skill, [one.name for one in skills])
    if as_json:
        print_json({**_data(found), "text": found.text})
        return
    where = "" if found.path is None else f" ({short(found.path)})"
    click.echo(f"{found.name}{where}")
    click.echo(f"  {visible(found.description)}")
    click.echo(f"  asked for by {_askers(found)}; runs {_runs(found)}")
    if found.argument_hint is not None:
        click.echo(f"  arguments: {visible(found.argument_hint)}")
    if found.tools is not None:
        click.echo(f"  tools: {', '.join(map(visible, found.tools)) or 'none'}")
    if found.model is not None:
        click.echo(f"  model: {visible(found.model)}")
    for hook in found.hooks:
        click.echo(f"  hook: {visible(hook.name)} at {hook.event.value}")
    for path in found.files:
        click.echo(f"  file: {short(path)}")
    for remark in found.remarks:
        click.echo(f"  note: {visible(remark)}")
    click.echo()
    echo_text(found.text, under=INSIDE)


def _skills(config: Path | None) -> tuple[SkillDefinition, ...]:
    from lockgate.settings.loading import load

    return load(find_layers(config), os.environ).agent.skills


def _runs(skill: SkillDefinition) -> str:
    return "apart" if skill.forks else "inline"


def _askers(skill: SkillDefinition) -> str:
    if skill.by_model and skill.by_person:
        return "models, people"
    return "models" if skill.by_model else "people"


def _data(skill: SkillDefinition) -> dict[str, Any]:
    return {
        "name": skill.name,
        "description": skill.description,
        "runs": _runs(skill),
        "byModel": skill.by_model,
        "byPerson": skill.by_person,
        "tools": skill.tools,
        "model": skill.model,
        "argumentHint": skill.argument_hint,
        "hooks": [{"name": hook.name, "event": hook.event.value} for hook in skill.hooks],
        "file": None if skill.path is None else str(skill.path),
        "files": [str(path) for path in skill.files],
        "notes": skill.remarks,
    }
