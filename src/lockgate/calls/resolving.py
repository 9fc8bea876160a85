"""The subjects of a call, resolved before it is decided: the effect that `decide` does not have.

Each is resolved once and handed on: the decision, the question, the digest that an answer is bound
to and the tool itself see the same value. A call that is decided again, after an answer that took
time or in another process, is resolved again, and its digest then shows what has changed (B-01).
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import msgspec

from lockgate.calls.onward import RulesOnward
from lockgate.calls.paths import barred_below, is_relative, read_otherwise, resolve_path
from lockgate.policy.control import control_reason
from lockgate.rules.about import AboutTool
from lockgate.rules.url import resolve_url
from lockgate.tools.context import Environment
from lockgate.tools.registry import Registered
from lockgate.tools.subject import (
    NO_SUBJECTS,
    Onward,
    Resolved,
    ResolvedPath,
    Subject,
    SubjectKind,
    Subjects,
)

_Resolver: TypeAlias = Callable[[str, Environment], Resolved]

REDIRECTION: Final = "redirection"
"""What the files are called that a shell line redirects to: they are no argument of the call."""
INPUT: Final = "input redirection"
"""The same of those that it reads from."""
_UNKNOWN: Final = "is not known before the line runs"
_MOST: Final = 1000
"""Texts of one argument that are resolved: each asks the file system."""


def resolve(
    tool: Registered, about: AboutTool, arguments: Mapping[str, Any], environment: Environment
) -> Subjects:
    """What the arguments of a call are about. Does not look at values that are no text: the schema
    refuses those, or they are no subject."""
    declared = tool.definition.subjects
    if not declared and not about.paths:
        return NO_SUBJECTS
    wanted = {s.parameter: (s.kind, s.default) for s in declared}
    own = frozenset(wanted)
    for name in about.paths:
        wanted.setdefault(name, (SubjectKind.PATH, None))
    server = tool.definition.origin.server
    of_other: _Resolver = _servers_path
    if server is not None:
        start = environment.server_dirs.get(server)
        if start is None:
            of_other = _unplaced_path
        else:
            environment = msgspec.structs.replace(environment, cwd=start)
    found: dict[str, Resolved] = {}
    for name, (kind, default) in wanted.items():
        value = arguments.get(name, default)
        resolver = of_other if name not in own else _RESOLVERS.get(kind) or _url_within(declared)
        if isinstance(value, str):
            found[name] = resolver(value, environment)
        elif isinstance(value, list):
            texts = [t for t in cast("list[Any]", value) if isinstance(t, str)]
            found[name] = (
                *[resolver(text, environment) for text in texts[:_MOST]],
                *[_one_too_many(text) for text in texts[_MOST:]],
            )
    found.update(_redirections(declared, found, environment))
    subjects = Subjects(found, about.withheld, _onward(declared, about, arguments))
    barred = barred_below((path for _, path in subjects.paths), environment)
    if barred is not None and declared:
        subjects = replace(subjects, withheld=(*about.withheld, barred))
    return subjects


def _redirections(
    declared: tuple[Subject, ...], found: Mapping[str, Resolved], environment: Environment
) -> Mapping[str, Resolved]:
    """The files that a shell line redirects to and from, from the directory that it runs in."""
    line = next((found.get(s.parameter) for s in declared if s.kind is SubjectKind.COMMAND), None)
    if line is None:
        return {}
    from lockgate.rules.command.line import Analysis

    if not isinstance(line, Analysis):
        return {}
    places = (found.get(s.parameter) for s in declared if s.kind is SubjectKind.PATH)
    place = next((p for p in places if isinstance(p, ResolvedPath) and p.problem is None), None)
    if place is not None:
        environment = msgspec.structs.replace(environment, cwd=Path(place.real))
    written = [resolve_path(name, environment) for name in line.writes[:_MOST]]
    written += [ResolvedPath(word, "", "", None, problem=_UNKNOWN) for word in line.unknown[:_MOST]]
    # What reads a control file changes nothing.
    read = [replace(resolve_path(name, environment), control=None) for name in line.reads[:_MOST]]
    told = {REDIRECTION: tuple(written), INPUT: tuple(read)}
    return {name: paths for name, paths in told.items() if paths}


def _onward(
    declared: tuple[Subject, ...], about: AboutTool, arguments: Mapping[str, Any]
) -> Onward | None:
    """For a tool whose address may lead to another one."""
    parameter = next((s.parameter for s in declared if s.kind is SubjectKind.URL), None)
    return None if parameter is None else RulesOnward(about, arguments, parameter)


def _command(line: str, environment: Environment) -> Resolved:
    del environment
    # Late: the shell's grammar is only for those who have a tool that runs lines.
    from lockgate.rules.command.line import analyse

    return analyse(line)


def _servers_path(text: str, environment: Environment) -> Resolved:
    """A path for a server, which may read it in its own way: what it could take for another one is
    a problem."""
    resolved = resolve_path(text, environment)
    if resolved.problem is None and (problem := read_otherwise(text)) is not None:
        return replace(resolved, problem=problem)
    return resolved


def _unplaced_path(text: str, environment: Environment) -> Resolved:
    """A path for a server of which nobody said where relative paths start: it may serve another
    directory than it runs in. What it is called counts all the same."""
    resolved = _servers_path(text, environment)
    if not isinstance(resolved, ResolvedPath) or not is_relative(text):
        return resolved
    if not resolved.lexical or read_otherwise(text) is not None:
        return resolved  # no path to rely on, wherever it starts
    return replace(
        resolved,
        control=resolved.control or control_reason(resolved.lexical, resolved.lexical),
        lexical=posixpath.normpath(text),
        real="",
        root=None,
        directory=False,
        problem="is relative, and nobody said where relative paths of its server start",
        unplaced=True,
    )


def _one_too_many(text: str) -> Resolved:
    return ResolvedPath(text, "", "", None, problem=f"is one of more than {_MOST} in one argument")


def _url_within(declared: tuple[Subject, ...]) -> _Resolver:
    """For addresses of a tool that reaches only some."""
    reach = next((s.reach for s in declared if s.kind is SubjectKind.URL), None)
    return lambda text, _: resolve_url(text, reach)


_RESOLVERS: Mapping[SubjectKind, _Resolver] = {
    SubjectKind.COMMAND: _command,
    SubjectKind.PATH: resolve_path,
}
