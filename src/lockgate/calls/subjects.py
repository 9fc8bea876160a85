"""What a decision says of resolved subjects: what is wrong, where they lie. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lockgate.calls.resolving import INPUT, REDIRECTION
from lockgate.decision import Reason
from lockgate.policy.places import unplaced
from lockgate.rules.path import PathPattern
from lockgate.schema.violation import Violation
from lockgate.tools.registry import Registered
from lockgate.tools.subject import ResolvedPath, ResolvedUrl, Subjects

_NOTHING: Final[Mapping[str, str]] = {}


def unresolved(tool: Registered, subjects: Subjects) -> tuple[Violation, ...]:
    """What is wrong with the subjects of a tool of ours: it could not use them either.

    An argument of a server's tool is none of ours: rules that look at it find the problem. Nor is
    anything told of what was found outside of the file roots before that was asked about.
    """
    return tuple(
        Violation(f"$.{subject.parameter}", resolved.problem)
        for subject in tool.definition.subjects
        for resolved in _each(subjects, subject.parameter)
        if isinstance(resolved, ResolvedPath | ResolvedUrl)
        and resolved.problem is not None
        and not (isinstance(resolved, ResolvedPath) and resolved.lexical and resolved.root is None)
    )


def resolutions(subjects: Subjects) -> tuple[Reason, ...]:
    """Where the paths of a call lie, without the paths, for the steps of `explain`."""
    left_out = tuple(
        Reason("withheld", f"files that {pattern.text} means are left out", pattern.source)
        for pattern in subjects.withheld
        if isinstance(pattern, PathPattern) and any(path.directory for _, path in subjects.paths)
    )
    lying = tuple(
        Reason(
            "resolved",
            f"{name} lies {'outside of the file roots' if path.root is None else 'in a file root'}"
            + (", by way of a symbolic link" if path.real != path.lexical else ""),
        )
        for name, path in subjects.paths
        if path.problem is None
    )
    return (*lying, *unplaced(subjects), *left_out)


def real_paths(subjects: Subjects, arguments: Mapping[str, Any]) -> Mapping[str, str]:
    """By argument, what its paths and addresses really are, where that is not what is written.

    Of an address the host counts: letters of other scripts can look like those of another name.
    Of what a shell line redirects, also what only the shell will know.
    """
    found: dict[str, str] = {}
    for name, resolved in subjects.by_name.items():
        if isinstance(resolved, ResolvedUrl) and resolved.host not in resolved.given.lower():
            found[name] = resolved.text
    for name, path in subjects.paths:
        beside = name in (REDIRECTION, INPUT)
        if name not in arguments and not beside:
            continue  # its default, of which nobody wrote anything else
        real = path.real
        if beside and path.problem is not None:
            real = f"({path.problem}) {path.given}"
        if real and real != path.given:
            real = real.replace("\n", "\\n")  # or one path would be shown as two
            found[name] = f"{found[name]}\n{real}" if name in found else real
    return found or _NOTHING


def _each(subjects: Subjects, name: str) -> tuple[object, ...]:
    resolved = subjects.get(name)
    return resolved if isinstance(resolved, tuple) else (resolved,)  # pyright: ignore[reportUnknownVariableType] - a tuple of anything
