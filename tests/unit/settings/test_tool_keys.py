"""`builtin` and `roots`: which tools of lockgate's own there are, and where they reach."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from lockgate.errors import Problem
from lockgate.rules.in_tree import IN_TREE
from lockgate.settings.config import Config
from lockgate.settings.layers import locate
from lockgate.settings.loading import load, pending

Load: TypeAlias = Callable[[str], Config]
Problems: TypeAlias = Callable[[str], tuple[Problem, ...]]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("builtin:", ()),
        ("builtin: []", ()),
        ("builtin: [Read, Bash]", ("Read", "Bash")),
        ("builtin: all", tuple(IN_TREE)),
    ],
)
def test_a_gate_holds_only_the_tools_that_are_named(
    load_text: Load, text: str, names: tuple[str, ...]
) -> None:
    """Without the key there is none; `all` is every one."""
    assert load_text(text).builtin == names


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("text", "path", "message", "hint"),
    [
        ("builtin: [Raed]", "builtin[0]", "no tool of lockgate's is called 'Raed'", "mean Read?"),
        ("builtin: [read]", "builtin[0]", "'read'", "did you mean Read?"),
        ("builtin: [LS]", "builtin[0]", "'LS'", "the tools are: Read, Glob, Grep"),
        ("builtin: Read", "builtin", "must be a list or all", "write [Read]"),
        ("builtin: ALL", "builtin", "must be a list or all", "the word all"),
        ("builtin: [all]", "builtin[0]", "in the place of the list", "write builtin: all"),
        ("builtin: [Read, Read]", "builtin[1]", "stands twice", ""),
        ("builtin: [{Read: 1}]", "builtin[0]", "must be the name of a tool", ""),
        ("builtin: {Read: 1}", "builtin", "must be a list or all, not a mapping", ""),
        ("roots: []", "roots", "names no directory", "leave them out of builtin"),
        ("roots: .", "roots", "must be a list", "write [., ../shared]"),
        ("roots:", "roots", "has no value", "the project's directory"),
        ("roots: [., .]", "roots[1]", "stands twice", ""),
        ("roots: [nowhere]", "roots[0]", "is no directory", "make it"),
        ("roots: [lockgate.yaml]", "roots[0]", "is no directory", "make it"),
        ('roots: ["${NOT_SET}"]', "roots[0]", "NOT_SET", ""),
        ("roots: [{a: b}]", "roots[0]", "must be a path", ""),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    problems_of: Problems, text: str, path: str, message: str, hint: str
) -> None:
    """Every fault names its key and what to write."""
    (problem,) = problems_of(text)
    assert problem.path == path
    assert message in problem.message
    assert hint in (problem.hint or "")


def test_roots_are_real_absolute_directories(load_text: Load, project: Path) -> None:
    """By default the project's own; relative ones start from the file."""
    (project / "docs").mkdir()
    (project.parent / "shared").mkdir()
    (project.parent / "link").symlink_to("shared")
    assert load_text("").roots == (project.resolve(),)
    assert load_text("roots: [., docs, ../link]").roots == (
        project.resolve(),
        (project / "docs").resolve(),
        (project.parent / "shared").resolve(),
    )


def test_variables_and_home_expand_in_roots(project: Path, environ: dict[str, str]) -> None:
    """They are paths as any other."""
    home = Path(environ["HOME"])
    (home / "notes").mkdir(parents=True)
    file = project / "lockgate.yaml"
    file.write_text('roots: [~/notes, "${HERE}"]')
    config = load(locate(project, environ, file), {**environ, "HERE": str(project)})
    assert config.roots == ((home / "notes").resolve(), project.resolve())


@pytest.mark.req("B-13")
@pytest.mark.parametrize(
    "text", ["roots: [data]", "mcp: {servers: [{name: a, command: x, roots: [data]}]}"]
)
def test_a_root_below_the_file_does_not_lead_out_of_it(
    problems_of: Problems, project: Path, text: str
) -> None:
    """What was accepted as a directory of the project can be made a link later; so can one that a
    server is told of."""
    (project / "data").symlink_to(project.parent)
    (problem,) = problems_of(text)
    assert problem.path.endswith("roots[0]")
    assert "by a symbolic link" in problem.message
    assert problem.hint == f"write {project.parent.resolve()}"


@pytest.mark.req("B-13")
@pytest.mark.parametrize(
    ("own", "found", "told"),
    [
        ("", "builtin: [Bash, Read]", "bring tools: Bash, which runs programs, Read, which reads"),
        ("builtin: [Read]", "builtin: [Read, Write]", "bring tools: Write, which writes"),
        ("builtin: all", "builtin: all", None),
        ("builtin: [Read]", "builtin: []", None),
        ("", "roots: [..]", "let file tools reach PARENT"),
        ("", "roots: [/]", "let file tools reach /"),
        ("", "roots: [~/x]", "let file tools reach ~/x"),
        ("", 'roots: ["${X:-y}"]', "let file tools reach ${X:-y}"),
        ("", "roots: [.]", None),
        ("", "roots: [sub]", None),
        ("roots: [/]", "roots: [..]", None),
    ],
)
def test_a_found_file_is_told_by_what_it_brings(
    project: Path, environ: dict[str, str], own: str, found: str, told: str | None
) -> None:
    """Tools that the person's own file has not, and directories beyond what it reaches."""
    (project / "sub").mkdir()
    layers = locate(project, environ)
    layers.person.parent.mkdir(parents=True, exist_ok=True)
    layers.person.write_text(own)
    layers.project.write_text(found)
    waiting = pending(layers)
    assert waiting is not None
    text = " ".join(waiting.summary).replace("\n        | ", "")
    if told is None:
        assert "reach" not in text
        assert "bring" not in text
    else:
        assert told.replace("PARENT", str(project.parent.resolve())) in text
