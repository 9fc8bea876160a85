"""What one decision costs, as rules and tools grow: it has to stay flat.

    python benchmarks/decide.py [--rounds 9] [--calls 20000] [--smoke]

The plain call is one that goes through: a read-only tool, within the ceiling, its arguments checked
against the schema, no question. Rules are bound to the snapshot and warm, as inside a turn.
Beside it stand calls that two hundred rules have to look at one by one: by arguments, by path and
by shell line. They include what is resolved for them: the file system is asked, the line is read.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from contest import Figures, conditions, ratio, spread, verdict
from lockgate.calls.call import Call
from lockgate.calls.decide import Facts, Run, Verdict, decide
from lockgate.calls.resolving import resolve
from lockgate.decision import Decision
from lockgate.policy.ceiling import whole
from lockgate.rules.bind import bind
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import RuleSet
from lockgate.tools.context import Environment, Execution, ToolContext
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.tools.registry import Registry
from lockgate.tools.result import ToolResult
from lockgate.tools.subject import Subject, SubjectKind
from lockgate.tools.tool import Tool, ToolDefinition
from lockgate.traits import SideEffectLevel

SIZES = ((1, 1), (200, 1), (1, 1000), (200, 1000))
"""(rules, tools)"""
MICROSECONDS = 15
"""The most that a plain decision may take with 200 rules."""

LINE_MILLISECONDS = 0.5
"""The most that a shell line of the length below may take."""
SPECIAL: Mapping[str, tuple[str, SubjectKind | None, dict[str, Any], str, str]] = {
    "arguments": (
        "look",
        None,
        {"path": "a/b", "limit": 3},
        "look(path=a*, limit=N)",
        "look(path=text:N*, limit=*)",
    ),
    "path": (
        "Read",
        SubjectKind.PATH,
        {"path": "docs/guide/first/steps.md"},
        "Read(./docs/N*/**/*.md)",
        "Read(**/.N/*.key)",
    ),
    "shell line": (
        "Bash",
        SubjectKind.COMMAND,
        {"command": 'git log -n 5 | head -3 && if [ -f a ]; then cat "$(ls | head -1)" > b; fi'},
        "Bash(tool-N:*)",
        "Bash(other-N x:*)",
    ),
}
"""What a call is about, and how its rules are written: the tool, its subject, its arguments, an
allow and a deny rule."""
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
    "required": ["path"],
    "additionalProperties": False,
}


class Look(Tool):
    """A read-only tool that is never run here."""

    def __init__(
        self, name: str, schema: dict[str, Any] = SCHEMA, subjects: tuple[Subject, ...] = ()
    ) -> None:
        origin = Origin("local", None, name, fingerprint({"name": name}))
        self._definition = ToolDefinition(name, "Looks.", schema, origin, subjects=subjects)

    @property
    def definition(self) -> ToolDefinition:
        return self._definition

    @property
    def side_effect_level(self) -> SideEffectLevel:
        return SideEffectLevel.READ_ONLY

    async def _run(self, arguments: Mapping[str, Any], context: ToolContext) -> ToolResult:
        return ToolResult.of("seen")


def decider(rules: int, tools: int) -> Callable[[], object]:
    """One decision in a world of that size."""
    registry = Registry()
    registry.register_all([Look(f"look_{number}") for number in range(tools)])
    snapshot = registry.snapshot()
    written = RuleSet(
        tuple(
            parse_rule(f"other_{number}" if number else "look_0", decision)
            for number, decision in enumerate(
                [Decision.ALLOW] + [Decision.ASK, Decision.DENY] * (rules // 2)
            )
        )[:rules]
    )
    execution = Execution(
        "benchmark", "api", whole(SideEffectLevel.MUTATING), True, Environment(Path("/"))
    )
    call = Call("1", "look_0", {"path": "a/b", "limit": 3}, execution)

    def once() -> object:
        facts = Facts(bind(written, snapshot), SideEffectLevel.READ_ONLY, ("terminal",))
        return decide(call, snapshot, facts)

    if not isinstance(once(), Run):
        raise SystemExit(f"the call was to go through: {once()}")
    return once


def special(kind: str) -> Callable[[], Verdict]:
    """One decision on a call that every rule has to be held against."""
    places = Places("/srv/project")
    name, subject, argument, allow, deny = SPECIAL[kind]
    schema: dict[str, Any] = {"type": "object", "properties": {n: {} for n in (*argument, "limit")}}
    subjects = () if subject is None else (Subject(subject, next(iter(argument))),)
    registry = Registry()
    registry.register_all([Look(name, schema, subjects)])
    snapshot = registry.snapshot()
    rules = RuleSet(
        tuple(
            parse_rule(text.replace("N", str(number)), decision, places=places, destructive=says)
            for text, decision, says in (
                (allow, Decision.ALLOW, subject is SubjectKind.COMMAND),
                (deny, Decision.DENY, False),
            )
            for number in range(100)
        )
    )
    place = Environment(Path("/srv/project"), (Path("/srv/project"),))
    execution = Execution("benchmark", "api", whole(SideEffectLevel.MUTATING), True, place)
    call = Call("1", name, argument, execution)
    tool = snapshot.entries[name]

    def once() -> Verdict:
        bound = bind(rules, snapshot)
        subjects = resolve(tool, bound.about(name), argument, place)
        facts = Facts(bound, SideEffectLevel.READ_ONLY, ("terminal",), subjects=subjects)
        return decide(call, snapshot, facts)

    once()
    return once


def measure(once: Callable[[], object], calls: int) -> Figures:
    """Microseconds of CPU a decision."""
    start = time.process_time()
    for _ in range(calls):
        once()
    return {"µs": (time.process_time() - start) / calls * 1e6}


def main() -> None:
    """Measure in turns and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--calls", type=int, default=20_000, help="decisions in each round")
    parser.add_argument("--smoke", action="store_true", help="one tiny round, to see that it runs")
    options = parser.parse_args()
    rounds, calls = (1, 10) if options.smoke else (options.rounds, options.calls)
    deciders = {f"{r} rules, {t} tools": decider(r, t) for r, t in SIZES}
    specials = {f"200 by {kind}": special(kind) for kind in SPECIAL}
    measured: dict[str, list[Figures]] = {name: [] for name in (*deciders, *specials)}
    for _ in range(rounds):
        for name, once in deciders.items():
            measured[name].append(measure(once, calls))
        for name, once in specials.items():
            measured[name].append(measure(once, max(1, calls // 50)))
    print(f"{rounds} rounds of {calls} decisions")
    print(conditions("lockgate", "jsonschema-rs", "tree-sitter-bash"))
    smallest, *_, largest = deciders
    for name in deciders:
        times = ratio(measured, "µs", name, smallest)
        print(f"  {name:22} {spread(measured, 'µs', name)} µs, {times}x the smallest")
    for name in specials:
        print(f"  {name:22} {spread(measured, 'µs', name)} µs")
    many = spread(measured, "µs", "200 rules, 1 tools").over(MICROSECONDS)
    print(verdict(f"200 rules against {MICROSECONDS} µs", many, 1.0))
    grown = ratio(measured, "µs", largest, smallest)
    line = spread(measured, "µs", "200 by shell line").over(LINE_MILLISECONDS * 1000)
    print(verdict(f"a shell line against {LINE_MILLISECONDS} ms", line, 1.0))
    print(verdict("the largest against the smallest", grown, 1.5))


if __name__ == "__main__":
    main()
