"""Every place in the source from which a call can be made, against the list of roads (S0-17).

A road is a function that makes an execution, holds the invoker, or makes a call through a gate. It
stands in `ROADS` with the entries that its calls are recorded under, or with the reason why it
makes none. `tests/scenario/test_entry_points.py` drives each entry to a question.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from lockgate.app.entries import Entry
from source_tree import Source, last_name

Entries: TypeAlias = tuple[Entry, ...]

HANDS_ON = "has the invoker to hand it on, and makes no call with it"

ROADS: Mapping[tuple[str, str], Entries | str] = MappingProxyType(
    {
        ("agent/agent.py", "Agent.__init__"): HANDS_ON,
        ("agent/agent.py", "Agent._execution"): (Entry.AGENT, Entry.CLI),
        ("agent/children.py", "Child._turn"): HANDS_ON,
        ("agent/children.py", "Children._standing"): (Entry.SUBAGENT, Entry.SKILL),
        ("agent/own_call.py", "own_call"): (Entry.CLI,),
        ("agent/executor.py", "Executor.__init__"): HANDS_ON,
        ("agent/executor.py", "Executor.run"): HANDS_ON,
        ("agent/loop.py", "TurnLoop.__init__"): HANDS_ON,
        ("agent/reply_calls.py", "ReplyCalls.__init__"): HANDS_ON,
        ("agent/reply_calls.py", "ReplyCalls._invoke"): (Entry.AGENT,),
        ("agent/runtime.py", "AgentRuntime.__init__"): HANDS_ON,
        ("agent/runtime.py", "AgentRuntime.invoker"): HANDS_ON,
        ("app/build.py", "open"): HANDS_ON,
        ("app/gate.py", "Gate.__init__"): HANDS_ON,
        ("app/gate.py", "Gate._call"): (Entry.API, Entry.CLI),
        ("app/gate.py", "Gate.call"): (Entry.API, Entry.CLI),
        ("app/gate.py", "Gate.explain"): "asks the invoker what it would do",
        ("app/gate.py", "Gate.resume"): (Entry.API, Entry.APPROVALS),
        ("app/reloading.py", "Reloader.__init__"): HANDS_ON,
        ("app/reloading.py", "Reloader.reload"): "has it decide by tighter rules",
        ("app/sync.py", "SyncGate.agent.agent"): (Entry.AGENT,),
        ("app/sync.py", "SyncGate.call"): (Entry.API,),
        ("app/sync.py", "SyncGate.resume"): (Entry.API,),
        ("bridges/hook_caller.py", "HookCaller.__call__"): (Entry.HOOK,),
        ("calls/limit.py", "Limit.over"): "narrows an execution that there is",
        ("calls/suspension.py", "Ticket.call"): (Entry.API, Entry.APPROVALS),
        ("cli/answering.py", "answer_ticket"): (Entry.APPROVALS,),
        ("cli/asked_skill.py", "_done"): (Entry.CLI,),
        ("cli/call.py", "call.work"): (Entry.CLI,),
        ("cli/run.py", "run.work"): (Entry.AGENT,),
    }
)
"""(file, function) to the entries of the calls it makes, or why it makes none."""

EDGE = ("app/", "cli/", "__init__.py", "__main__.py")
"""Where a gate can be had: everything to the left of `app` knows none."""
THROUGH_A_GATE = frozenset({"call", "resume", "agent"})
INVOKER = frozenset({"invoker", "_invoker"})
OF_THE_ROAD = frozenset({"Execution", "Invoker"})
OPENS = ("lockgate.app.build", "open")


@dataclass(frozen=True, slots=True)
class Place:
    """A function that can make a call."""

    path: str
    function: str
    """Its qualified name; empty for the module itself."""
    line: int
    what: str

    def __str__(self) -> str:
        where = self.function or "the module itself"
        return f"{self.path}:{self.line}: {where} {self.what}"


def unlisted(
    sources: Iterable[Source], roads: Mapping[tuple[str, str], Entries | str] = ROADS
) -> list[str]:
    """The places that no list has, and gates that are opened without saying for which entry."""
    found: list[str] = []
    for source in sources:
        if source.inside("testing/"):
            continue
        walk = _Walk(source)
        walk.visit(source.tree)
        found += [str(p) for p in walk.places if (p.path, p.function) not in roads]
        found += map(str, walk.nameless)
    return found


def places(sources: Iterable[Source]) -> Iterator[Place]:
    """Every place from which a call can be made."""
    for source in sources:
        if not source.inside("testing/"):
            walk = _Walk(source)
            walk.visit(source.tree)
            yield from walk.places


class _Walk(ast.NodeVisitor):
    """Looks through one file, and knows in which function it is."""

    def __init__(self, source: Source) -> None:
        self._path = source.path
        self._edge = source.inside(*EDGE)
        self._api = source.inside("app/")
        """Where a gate may be opened for programs, which is what no entry means."""
        self._inside: list[str] = []
        self._names = {name: name for name in OF_THE_ROAD}
        """What the file calls the classes of the road."""
        self._opens: set[str] = set()
        """What it calls the function that opens a gate."""
        self._replaces: set[str] = set()
        """What it calls the one that alters a struct, if it has a name for it."""
        self.places: list[Place] = []
        self.nameless: list[Place] = []

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name in OF_THE_ROAD:
                self._names[alias.asname or alias.name] = alias.name
            if (node.module, alias.name) == OPENS:
                self._opens.add(alias.asname or alias.name)
            if (node.module, alias.name) == ("msgspec.structs", "replace"):
                self._replaces.add(alias.asname or alias.name)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._enter(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._enter(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for base in node.bases:
            if last_name(base) in self._names:
                self._found(base, f"is a {self._names[last_name(base)]} of its own")
        self._enter(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = last_name(node.func)
        words = {keyword.arg for keyword in node.keywords}
        if name in self._names:
            self._found(node, f"makes an {self._names[name]}")
        elif self._alters(node.func) and words & {"entry", "bounds"}:
            self._found(node, "alters an Execution")
        elif name in THROUGH_A_GATE and self._edge and isinstance(node.func, ast.Attribute):
            self._found(node, f"makes a call: {name}")
        told = any(map(_names_an_entry, node.keywords))
        if name in self._opens and not told and not self._api:
            self.nameless.append(self._place(node, "opens a gate without entry=Entry.SOME"))
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if node.attr in INVOKER or node.attr == "invoke":
            self._found(node, "holds the invoker")
        elif node.attr in THROUGH_A_GATE and last_name(node.value).endswith("gate"):
            self._found(node, f"makes a call: {node.attr}")
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in INVOKER:
            self._found(node, "holds the invoker")

    def _alters(self, function: ast.expr) -> bool:
        """Whether it is `msgspec.structs.replace`: an Execution is a struct."""
        if isinstance(function, ast.Attribute):
            return function.attr == "replace" and last_name(function.value) == "structs"
        return last_name(function) in self._replaces

    def _enter(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> None:
        self._inside.append(node.name)
        self.generic_visit(node)
        self._inside.pop()

    def _found(self, node: ast.expr, what: str) -> None:
        self.places.append(self._place(node, what))

    def _place(self, node: ast.expr, what: str) -> Place:
        return Place(self._path, ".".join(self._inside), node.lineno, what)


def _names_an_entry(keyword: ast.keyword) -> bool:
    value = keyword.value
    return (
        keyword.arg == "entry"
        and isinstance(value, ast.Attribute)
        and last_name(value.value) == "Entry"
    )
