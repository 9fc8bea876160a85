"""What all tools of ours have in common: nothing undeclared, nothing open, nothing surprising."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import jsonschema_rs
import pytest

import lockgate
from lockgate.builtin.catalogue import NAMES, in_tree
from lockgate.errors import LocalError
from lockgate.rules.in_tree import IN_TREE
from lockgate.testing.own_tools import own_tools
from lockgate.tools.tool import Tool
from lockgate.traits import ConcurrencyBehavior, InterruptBehavior, SideEffectLevel

READ_ONLY, MUTATING = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING

DECLARED = {
    "Read": (READ_ONLY, False, False),
    "Glob": (READ_ONLY, False, False),
    "Grep": (READ_ONLY, False, False),
    "Write": (MUTATING, True, True),
    "Edit": (MUTATING, True, False),
    "Bash": (MUTATING, True, False),
    "WebFetch": (MUTATING, False, True),
    "ListResources": (READ_ONLY, False, False),
    "ReadResource": (MUTATING, False, True),
    "append_note": (MUTATING, False, False),
    "read_notes": (READ_ONLY, False, False),
    "knowledge_search": (READ_ONLY, False, False),
    "knowledge_add": (MUTATING, False, True),
    "knowledge_replace": (MUTATING, True, True),
    "knowledge_remove": (MUTATING, True, True),
    "todo": (READ_ONLY, False, False),
    "Task": (READ_ONLY, False, False),
    "list_agents": (READ_ONLY, False, False),
    "Skill": (READ_ONLY, False, False),
}
"""Level, destructive, idempotent; the last two as they are derived."""

AXES = {"level", "destructive", "idempotent", "concurrent", "interruptible"}


@pytest.fixture(params=sorted(DECLARED))
def tool(request: pytest.FixtureRequest) -> Tool:
    """Each of them."""
    return {made.name: made for made in own_tools()}[request.param]


def test_the_table_is_all_there_is() -> None:
    """A new tool is declared here too, on purpose."""
    assert set(DECLARED) == {tool.name for tool in own_tools()}
    assert set(IN_TREE) <= set(DECLARED)
    assert set(NAMES) <= set(IN_TREE)


@pytest.mark.req("S0-16")
def test_no_tool_of_ours_is_left_out() -> None:
    """Every class of tools that the sources define is one that these tests walk over, unless it is
    there for others to be made of."""
    bases: defaultdict[str, set[str]] = defaultdict(set)
    for file in Path(lockgate.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases[node.name] |= {base.id for base in node.bases if isinstance(base, ast.Name)}
    kinds = {"BuiltinTool"}
    while more := {name for name, above in bases.items() if above & kinds} - kinds:
        kinds |= more
    made_of = set[str]().union(*(bases[name] for name in kinds))
    assert kinds - made_of == {type(tool).__name__ for tool in own_tools()}


@pytest.mark.req("S0-20")
@pytest.mark.parametrize("destructive", [True, False])
@pytest.mark.parametrize("idempotent", [True, False])
def test_every_cell_of_what_a_change_can_be_has_a_tool(
    *, destructive: bool, idempotent: bool
) -> None:
    """No combination of the two axes is there on paper alone."""
    cells = {
        (True, True): {"Write", "knowledge_replace", "knowledge_remove"},
        (True, False): {"Edit", "Bash"},
        (False, True): {"WebFetch", "ReadResource", "knowledge_add"},
        (False, False): {"append_note"},
    }
    found = {
        tool.name
        for tool in own_tools()
        if not tool.is_read_only
        and (tool.is_destructive, tool.is_idempotent) == (destructive, idempotent)
    }
    assert found == cells[destructive, idempotent]
    assert found


@pytest.mark.req("S0-16")
def test_every_axis_has_a_reason(tool: Tool) -> None:
    """Whoever wonders why a call is asked about, or is not, can read it."""
    origin = tool.definition.origin
    assert (origin.source, origin.server, origin.ruling) == ("builtin", None, "declared")
    assert set(origin.reasons) == AXES
    assert all(len(reason.split()) >= 3 for reason in origin.reasons.values())


@pytest.mark.req("S0-16")
@pytest.mark.req("S0-20")
def test_the_declaration_is_the_one_that_was_thought_through(tool: Tool) -> None:
    """A change of a tool's traits is a change of this table."""
    derived = (tool.side_effect_level, tool.is_destructive, tool.is_idempotent)
    assert derived == DECLARED[tool.name]


@pytest.mark.req("S0-21")
def test_the_schema_is_closed_and_valid(tool: Tool) -> None:
    """Nothing is taken that is not named, and everything that is named is explained."""
    schema = dict(tool.definition.input_schema)
    assert schema["additionalProperties"] is False
    jsonschema_rs.meta.validate({"$schema": jsonschema_rs_dialect(), **schema})
    for name, parameter in schema["properties"].items():
        assert parameter.get("description", "").endswith("."), name
    assert set(schema["required"]) <= set(schema["properties"])


def jsonschema_rs_dialect() -> str:
    """The dialect that schemas are read in."""
    return "https://json-schema.org/draft/2020-12/schema"


def test_rules_know_the_tool_as_it_is(tool: Tool) -> None:
    """What rules are checked against when a configuration is loaded is the tool's own."""
    if tool.name not in NAMES:  # the agent's own: rules speak of their arguments as of any tool's
        return
    known = IN_TREE[tool.name]
    subjects = [(subject.parameter, subject.kind) for subject in tool.definition.subjects]
    assert list(known.subjects.items()) == subjects
    assert not subjects or known.subject is subjects[0][1]
    assert known.parameters == set(tool.definition.input_schema["properties"])
    assert known.destructive is tool.is_destructive


def test_every_subject_is_a_parameter(tool: Tool) -> None:
    """A rule that speaks of it speaks of something that calls have."""
    properties = tool.definition.input_schema["properties"]
    for subject in tool.definition.subjects:
        assert properties[subject.parameter]["type"] == "string"
        assert subject.writes <= (tool.side_effect_level is MUTATING)


def test_what_reads_may_overlap_and_what_writes_files_takes_turns() -> None:
    """Reading waits for nobody; Write and Edit hold one lane."""
    read, glob, grep, write, edit = in_tree(["Read", "Glob", "Grep", "Write", "Edit"], {})
    for tool in (read, glob, grep):
        assert tool.concurrency_behavior is ConcurrencyBehavior.CONCURRENT_SAFE
        assert tool.interrupt_behavior is InterruptBehavior.COOPERATIVE
    for tool in (write, edit):
        assert tool.concurrency_behavior is ConcurrencyBehavior.SEQUENTIAL
        assert tool.interrupt_behavior is InterruptBehavior.NON_INTERRUPTIBLE
    assert write.lane == edit.lane == "files"


def test_the_same_tool_has_the_same_fingerprint_each_time(tool: Tool) -> None:
    """Else every start would be a change to review."""
    again = {made.name: made for made in own_tools()}[tool.name]
    assert again.definition == tool.definition


def test_a_name_that_is_none_is_refused() -> None:
    """By name, so that it can be mended."""
    with pytest.raises(LocalError, match="no tool of lockgate's is called 'Raed'"):
        in_tree(["Raed"], {})


def test_tools_that_are_not_used_cost_nothing() -> None:
    """The catalogue alone imports none of them, and nothing that they need."""
    code = (
        "import sys; import lockgate.builtin.catalogue as c; "
        "print([m for m in sys.modules if m.startswith(('lockgate.builtin.', 'tree_sitter', "
        "'aiohttp'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout.strip() == "['lockgate.builtin.catalogue']"
