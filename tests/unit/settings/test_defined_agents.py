"""Sub-agents that configurations name: whose they are, how lists join, what is accepted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.errors import ConfigError, Problem
from lockgate.settings.acceptance import Acceptance, AcceptedFiles, NotAccepted
from lockgate.settings.config import Config
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load, pending, pending_definitions

TEXT = "---\nname: {name}\ndescription: Does {name}.\n---\nYou do {name}.\n"


def define(folder: Path, *names: str) -> None:
    """A definition for each name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / f"{name}.md").write_text(TEXT.format(name=name))


def found(project: Path, environ: dict[str, str], text: str, *, accept: bool = True) -> Layers:
    """The layers of a project whose file was found, and accepted by itself."""
    layers = locate(project, environ)
    layers.project.write_text(text)
    waiting = pending(layers)
    assert waiting is not None
    if accept:
        AcceptedFiles(layers.accepted_dir).accept(waiting.path, waiting.sha256)
    return layers


def test_a_named_file_brings_its_sub_agents(
    project: Path, load_text: Callable[[str], Config]
) -> None:
    """From directories and single files, relative to it, in order; and where they lie is kept, for
    what is asked about."""
    define(project / "agents", "b", "a")
    define(project / "more", "c", "d")
    config = load_text("agent: {agents: [./agents, more/c.md]}")
    assert [agent.name for agent in config.agent.agents] == ["a", "b", "c"]
    assert config.definitions == (project / "agents", project / "more" / "c.md")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agent: {agents: ./agents}", "must be a list"),
        ("agent: {agents: [./none]}", "there is no such file or directory"),
        ("agent: {agents: [./agents, ./agents]}", "stands twice"),
        ("agent: {agents: [./agents, ./twin]}", "the name 'a' stands twice"),
        ("agent: {agents: [./broken]}", "descripton: unknown key"),
        ("agent: {agent: [./agents]}", "did you mean agents?"),
    ],
)
def test_faults_stop_the_start(
    project: Path, problems_of: Callable[[str], tuple[Problem, ...]], text: str, said: str
) -> None:
    """Each with its place."""
    define(project / "agents", "a")
    define(project / "twin", "a")
    define(project / "broken", "x")
    (project / "broken" / "x.md").write_text(
        TEXT.format(name="x").replace("description", "descripton")
    )
    problems = problems_of(text)
    assert said in "\n".join(map(str, problems))
    assert all(problem.file is not None for problem in problems)


@pytest.mark.req("B-13")
def test_a_found_projects_definitions_wait_for_the_persons_word(
    project: Path, environ: dict[str, str]
) -> None:
    """Each content once, a changed one again, and so one more; what is taken away asks nothing."""
    define(project / "agents", "a", "b")
    layers = found(project, environ, "agent: {agents: [./agents]}")
    with pytest.raises(NotAccepted) as caught:
        load(layers, environ)
    told = "\n".join(caught.value.pending.loosens)
    assert "let a model start the sub-agent a with every tool" in told
    assert "You do b." in told
    accepted = AcceptedFiles(layers.accepted_dir)
    for waiting in pending_definitions(layers, environ):
        accepted.accept_all(waiting)
    assert len(load(layers, environ).agent.agents) == 2
    (project / "agents" / "b.md").write_text(TEXT.format(name="b") + "And more.\n")
    with pytest.raises(NotAccepted) as caught:
        load(layers, environ)
    assert caught.value.pending.acceptance is Acceptance.CHANGED
    assert "sub-agent a" not in "\n".join(caught.value.pending.loosens)
    define(project / "agents", "b", "c")
    with pytest.raises(NotAccepted):
        load(layers, environ)
    (project / "agents" / "c.md").unlink()
    (project / "agents" / "a.md").unlink()
    assert [agent.name for agent in load(layers, environ).agent.agents] == ["b"]


def test_the_file_itself_says_that_it_would_bring_some(
    project: Path, environ: dict[str, str]
) -> None:
    """Who accepts it is told, before what they are."""
    define(project / "agents", "a")
    layers = found(project, environ, "agent: {agents: [./agents]}", accept=False)
    waiting = pending(layers)
    assert waiting is not None
    assert "let a model start the sub-agents in" in "\n".join(waiting.loosens)


def test_a_persons_own_need_no_word_and_join_the_projects(
    project: Path, environ: dict[str, str]
) -> None:
    """The lists are joined; a project can not take the place of one of the person's."""
    layers = locate(project, environ)
    layers.person.parent.mkdir(parents=True)
    layers.person.write_text("agent: {agents: [./agents]}")
    define(layers.person.parent / "agents", "mine")
    assert [a.name for a in load(layers, environ).agent.agents] == ["mine"]
    define(project / "agents", "theirs", "mine")
    layers = found(project, environ, "agent: {agents: [./agents/theirs.md]}")
    for waiting in pending_definitions(layers, environ):
        AcceptedFiles(layers.accepted_dir).accept_all(waiting)
    assert [a.name for a in load(layers, environ).agent.agents] == ["mine", "theirs"]
    layers = found(project, environ, "agent: {agents: [./agents]}")
    with pytest.raises(ConfigError, match="the name 'mine' stands twice"):
        load(layers, environ)
