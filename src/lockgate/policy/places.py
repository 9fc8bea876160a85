"""Where a call reaches, as far as its paths tell: what is barred, and what is always asked about.

Nothing written in a configuration changes these: lockgate's own state is out of reach for tools, as
are addresses that a tool never asks; files that decide what programs may do are asked about before
they are written (B-13), and what lies outside the file roots is asked about unless a rule says so.
"""

from __future__ import annotations

from collections.abc import Sequence

from lockgate.decision import Reason
from lockgate.rules.rule import Rule
from lockgate.tools.subject import Subjects
from lockgate.tools.tool import Declared


def barred(subjects: Subjects) -> tuple[Reason, ...]:
    """Why a call is refused for where it reaches; empty if it is not."""
    found = [
        Reason("barred_path", f"{name} lies in lockgate's own state, which no tool reaches")
        for name, path in subjects.paths
        if path.barred
    ]
    found += [
        Reason("address_refused", f"{name} is never reached: {address.barred}")
        for name, address in subjects.urls
        if address.barred is not None
    ]
    return tuple(found)


def control_files(tool: Declared, subjects: Subjects) -> tuple[Reason, ...]:
    """Why a call is asked about over every rule: it names a control file to be written (B-13)."""
    if tool.is_read_only:
        return ()
    reading = {s.parameter for s in tool.definition.subjects if not s.writes}
    return tuple(
        Reason("control_file", f"{name} is {path.control}")
        for name, path in subjects.paths
        if path.control is not None and name not in reading
    )


def unplaced(subjects: Subjects) -> tuple[Reason, ...]:
    """What to know of a call that is asked about: no rule can say where a path of it lies."""
    names = dict.fromkeys(name for name, path in subjects.paths if path.unplaced)
    return tuple(
        Reason(
            "relative_path",
            f"{name} is a relative path, and nobody said where those of its server start: "
            "rules can judge an absolute one",
        )
        for name in names
    )


def outside(tool: Declared, subjects: Subjects) -> tuple[Reason, ...]:
    """Why a call of a tool of ours is asked about: a path of it lies outside of every file root."""
    ours = {s.parameter for s in tool.definition.subjects}
    return tuple(
        Reason("outside_roots", f"{name} lies outside of the file roots")
        for name, path in subjects.paths
        if path.root is None and name in ours
    )


def unspoken(tool: Declared, subjects: Subjects, rules: Sequence[Rule]) -> bool:
    """Whether a path of a tool of ours lies outside of every file root, and none of the allow
    `rules` that match says where it may lie: then none of them answers."""
    declared = tool.definition.subjects
    first = declared[0].parameter if declared else ""
    ours = {s.parameter for s in declared}
    return any(
        path.root is None and name in ours and not any(r.speaks_of(name, first) for r in rules)
        for name, path in subjects.paths
    )
