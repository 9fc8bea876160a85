"""Skills that configurations name: where they are looked for, joined over layers, accepted."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from lockgate.errors import ConfigError, Problem
from lockgate.hooks.declared.plan import CommandHandler
from lockgate.settings.acceptance import Acceptance, AcceptedFiles, NotAccepted
from lockgate.settings.config import Config
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load, pending, pending_definitions

Load: TypeAlias = Callable[[str], Config]
Problems: TypeAlias = Callable[[str], tuple[Problem, ...]]

HOOKED = (
    "hooks:\n  pre_tool:\n    - hooks: [{{type: command, command: {0}, env: {{T: '${{T}}'}}}}]\n"
)


def skill(folder: Path, name: str, front: str = "", text: str = "Do it.") -> Path:
    """Write one skill."""
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: Does {name}.\n{front}---\n{text}\n")
    return path


def accept_all(layers: Layers, environ: dict[str, str]) -> None:
    """The person's yes to all there is."""
    first = pending(layers)
    for one in (first, *pending_definitions(layers, environ)):
        if one is not None:
            AcceptedFiles(layers.accepted_dir).accept_all(one)


def test_the_places_of_all_layers_are_joined(project: Path, environ: dict[str, str]) -> None:
    """A person has their own everywhere, and a project adds to them; only the project's wait."""
    person = Path(environ["HOME"]) / ".config" / "lockgate"
    skill(person / "skills", "mine")
    (person / "config.yaml").write_text("agent: {skills: [./skills]}")
    skill(project / "skills", "ours")
    (project / "lockgate.yaml").write_text("agent: {skills: [./skills]}")
    layers = locate(project, environ)
    accept_all(layers, environ)
    config = load(layers, environ)
    assert [one.name for one in config.agent.skills] == ["mine", "ours"]
    assert config.definitions == (person / "./skills", project / "./skills")
    (waited,) = pending_definitions(layers, environ)
    assert [part.path.parent.name for part in waited.parts] == ["ours"]


def test_who_names_no_definitions_needs_no_reader_of_them(
    project: Path, environ: dict[str, str]
) -> None:
    """What reads skills and sub-agents is loaded with the first configuration that names some."""
    code = (
        "import os, pathlib, sys; from lockgate.settings.layers import locate;"
        "from lockgate.settings.loading import load; where = pathlib.Path();"
        "load(locate(where, os.environ, 'lockgate.yaml'), os.environ);"
        "sys.exit('lockgate.agent.definitions.document' in sys.modules)"
    )
    skill(project / "skills", "s")
    for text, loaded in (("builtin: [Read]", 0), ("agent: {skills: [./skills]}", 1)):
        (project / "lockgate.yaml").write_text(text)
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=project, env=environ, timeout=30, check=False)
        assert done.returncode == loaded, text


def test_no_line_hides_the_hooks_of_a_skill(project: Path, environ: dict[str, str]) -> None:
    """Front matter ends where it ends for the rest of it: hooks make stricter, and do not get lost
    behind a line that only looks like its end."""
    front = 'argument-hint: "a\n---\u00a0\nb"\n' + HOOKED.format("x")
    skill(project / "skills", "careful", front)
    (project / "lockgate.yaml").write_text("agent: {skills: [./skills]}")
    layers = locate(project, environ, "lockgate.yaml")
    (found,) = load(layers, {**environ, "T": "t"}).agent.skills
    assert len(found.hooks) == 1


def test_one_name_in_two_layers_is_told_with_both_files(
    project: Path, environ: dict[str, str]
) -> None:
    """A project's skill does not take the place of a person's in silence."""
    person = Path(environ["HOME"]) / ".config" / "lockgate"
    first = skill(person / "skills", "same")
    (person / "config.yaml").write_text("agent: {skills: [./skills]}")
    second = skill(project / "skills", "same")
    file = project / "lockgate.yaml"
    file.write_text("agent: {skills: [./skills]}")
    with pytest.raises(ConfigError) as caught:
        load(locate(project, environ, file), environ)
    (problem,) = caught.value.problems
    assert (problem.file, "'same' stands twice" in problem.message) == (second, True)
    assert str(first) in str(problem.hint)


@pytest.mark.req("B-13")
def test_what_waits_is_named_by_its_content(project: Path, environ: dict[str, str]) -> None:
    """New, then accepted, then changed; only what changed is told again."""
    one, two = skill(project / "skills", "one"), skill(project / "skills", "two")
    (project / "lockgate.yaml").write_text("agent: {skills: [./skills]}")
    layers = locate(project, environ)
    with pytest.raises(NotAccepted) as caught:
        load(layers, environ)
    assert caught.value.pending.path == layers.project
    first = pending(layers)
    assert first is not None
    assert any("follow the skills in" in line for line in first.loosens)
    AcceptedFiles(layers.accepted_dir).accept_all(first)
    with pytest.raises(NotAccepted) as caught:
        load(layers, environ)
    waiting = caught.value.pending
    assert waiting.acceptance is Acceptance.NEW
    assert [part.path for part in waiting.parts] == [project / "skills/one/SKILL.md", two]
    accept_all(layers, environ)
    assert len(load(layers, environ).agent.skills) == 2
    one.write_text(one.read_text() + "More.\n")
    with pytest.raises(NotAccepted) as caught:
        load(layers, environ)
    waiting = caught.value.pending
    assert waiting.acceptance is Acceptance.CHANGED
    assert [part.path for part in waiting.parts] == [one]
    assert "has changed since you accepted it" in str(caught.value)


@pytest.mark.req("B-13")
def test_what_was_shown_is_what_is_accepted(project: Path, environ: dict[str, str]) -> None:
    """A file that changes between the question and the answer asks again."""
    path = skill(project / "skills", "one")
    (project / "lockgate.yaml").write_text("agent: {skills: [./skills]}")
    layers = locate(project, environ)
    (shown,) = pending_definitions(layers, environ)
    path.write_text(path.read_text() + "Changed behind your back.\n")
    first = pending(layers)
    assert first is not None
    for one in (first, shown):
        AcceptedFiles(layers.accepted_dir).accept_all(one)
    with pytest.raises(NotAccepted):
        load(layers, environ)


@pytest.mark.req("B-13")
def test_programs_of_hooks_are_told_as_they_are_written(
    project: Path, environ: dict[str, str]
) -> None:
    """No variable is put in, and none has to be set, before the person has read it."""
    skill(project / "skills", "one", HOOKED.format("./guard"))
    (project / "lockgate.yaml").write_text("agent: {skills: [./skills]}")
    layers = locate(project, environ)
    environ["T"] = "SEKRET-VALUE"
    (waiting,) = pending_definitions(layers, environ)
    (start,) = waiting.starts
    assert "guard" in start.command
    assert start.env == ("T",)
    assert "SEKRET" not in str(waiting.summary)
    accept_all(layers, environ)
    config = load(layers, environ)
    (hook,) = config.declared_hooks
    assert isinstance(hook.handler, CommandHandler)
    assert hook.handler.command == str(project / "skills" / "one" / "./guard")
    assert "SEKRET" not in repr(config)


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ("agent: {skills: ./skills}", "agent.skills", "must be a list, not text"),
        ("agent: {skills: [./skills, ./skills]}", "agent.skills[1]", "stands twice"),
        ("agent: {skills: [{a: b}]}", "agent.skills[0]", "must be a path, not a mapping"),
        ("agent: {skills: [./gone]}", "agent.skills[0]", "there is no such file or directory"),
        ("agent: {skills: ['${NOT_SET}']}", "agent.skills[0]", "NOT_SET"),
        ("agent: {skill: [./skills]}", "agent.skill", "unknown key"),
    ],
)
@pytest.mark.req("S0-14")
def test_what_is_wrong_with_a_place_is_told_where_it_stands(
    project: Path, problems_of: Problems, text: str, path: str, message: str
) -> None:
    """In the configuration's own file, with its key path."""
    skill(project / "skills", "one")
    (problem,) = problems_of(text)
    assert (problem.path, problem.file) == (path, project / "lockgate.yaml")
    assert message in problem.message


def test_faults_of_several_skills_are_told_at_once(project: Path, problems_of: Problems) -> None:
    """Each with its own file."""
    for name in ("one", "two"):
        skill(project / "skills", name, "frobnicate: 1\n")
    problems = problems_of("agent: {skills: [./skills]}")
    assert [problem.file and problem.file.parent.name for problem in problems] == ["one", "two"]


def test_a_skill_that_two_places_reach_is_one(project: Path, load_text: Load) -> None:
    """Named by its directory and by the one around it."""
    skill(project / "skills", "one")
    config = load_text("agent: {skills: [./skills, ./skills/one, ./skills/one/SKILL.md]}")
    assert [one.name for one in config.agent.skills] == ["one"]
