"""Servers, their names and variables, verdicts and rules."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockgate.decision import Decision
from lockgate.errors import Problem
from lockgate.mcp.host.settings import Verdict
from lockgate.settings.config import Config
from lockgate.testing.endpoints import program_of
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    SideEffectLevel,
)

Load = Callable[[str], Config]
Problems = Callable[[str], tuple[Problem, ...]]


@pytest.mark.req("S3-11")
@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("Atlassian Rovo", "atlassian-rovo"),
        ("UPPER", "upper"),
        ("under_score", "under-score"),
        ("a__b", "a-b"),
        ("-lead", "lead"),
        ("trail-", "trail"),
        ("''", "my-server"),
        ("한글", "my-server"),
        ("Café", "cafe"),
        ('"git\\n"', "git"),
    ],
)
def test_a_bad_name_is_refused_with_a_suggestion(
    problems_of: Problems, name: str, suggestion: str
) -> None:
    """The pattern, the place and a valid name are told; nothing is renamed in silence."""
    (problem,) = problems_of(f"mcp:\n  servers:\n    - name: {name}\n      command: x\n")
    assert (problem.line, problem.path) == (3, "mcp.servers[0].name")
    assert problem.hint == (
        f"names match ^[a-z0-9]([a-z0-9-]*[a-z0-9])?$, for instance {suggestion}"
    )


@pytest.mark.parametrize("name", ["git", "a", "0", "a-b-c", "mcp", "x1", '"1234"'])
def test_good_names(load_text: Load, name: str) -> None:
    """Letters, digits, dashes between them; also a number, if it is written as text."""
    if name == "0":
        name = '"0"'
    assert load_text(f"mcp: {{servers: [{{name: {name}, command: x}}]}}").servers


def test_a_number_is_no_name(problems_of: Problems) -> None:
    """1234 is a number to YAML: it is refused, and the hint shows the quotes."""
    (problem,) = problems_of("mcp: {servers: [{name: 1234, command: x}]}")
    assert problem.hint == 'write it in quotes: "1234"'


def test_a_server_needs_a_name(problems_of: Problems) -> None:
    """An entry without one is refused where it stands."""
    (problem,) = problems_of("mcp:\n  servers:\n    - command: x\n")
    assert (problem.line, problem.message) == (3, "a server needs a name")


@pytest.mark.req("S3-11")
def test_a_duplicate_server_is_refused(problems_of: Problems) -> None:
    """Two servers of one name in one file are an error before anything starts."""
    (problem,) = problems_of(
        "mcp:\n  servers:\n    - {name: a, command: x}\n    - {name: a, command: y}\n"
    )
    assert (problem.line, problem.hint) == (4, "the first is in line 3")


def test_a_server_needs_a_command(problems_of: Problems) -> None:
    """An entry that starts nothing is refused, unless its command is merely misspelt."""
    (problem,) = problems_of("mcp: {servers: [{name: a}]}")
    assert problem.message == 'server "a" has no command'
    (problem,) = problems_of("mcp: {servers: [{name: a, comand: x}]}")
    assert problem.hint == "did you mean command?"


def test_variables_are_text(load_text: Load) -> None:
    """Numbers and switches are the text that was written."""
    (server,) = load_text(
        "mcp: {servers: [{name: a, command: x, env: {P: 8080, D: true, E: '', V: 0x50, W: off}}]}"
    ).servers
    assert dict(program_of(server).env) == {
        "P": "8080",
        "D": "true",
        "E": "",
        "V": "0x50",
        "W": "off",
    }


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    "env",
    [
        *("[A=SEKRET]", "SEKRET", "{A: [SEKRET]}", "{A: {SEKRET: x}}", "{A: }", '{"A=SEKRET": x}'),
        *('{A: "SEKRET\\0"}', "{A: 'SEKRET${'}"),
    ],
)
def test_bad_variables_are_refused_unseen(problems_of: Problems, env: str) -> None:
    """A wrong shape, no value, a name that can be none, NUL: refused without showing a value."""
    problems = problems_of(f"mcp: {{servers: [{{name: a, command: x, env: {env}}}]}}")
    assert problems
    assert all("SEKRET" not in str(problem) for problem in problems)


def test_verdicts(load_text: Load) -> None:
    """Each axis that is said is set, the rest says nothing."""
    (server,) = load_text(
        "mcp: {servers: [{name: a, command: x, verdicts: {"
        "r: {level: read-only}, w: {destructive: false, idempotent: true}, c: {concurrent: true},"
        " d: {level: mutating, destructive: true, idempotent: false, concurrent: false}}}]}"
    ).servers
    assert dict(server.verdicts) == {
        "r": Verdict(level=SideEffectLevel.READ_ONLY),
        "w": Verdict(
            destructive=DestructiveBehavior.NON_DESTRUCTIVE,
            idempotent=IdempotencyBehavior.IDEMPOTENT,
        ),
        "c": Verdict(concurrent=ConcurrencyBehavior.CONCURRENT_SAFE),
        "d": Verdict(
            SideEffectLevel.MUTATING,
            DestructiveBehavior.DESTRUCTIVE,
            IdempotencyBehavior.NON_IDEMPOTENT,
            ConcurrencyBehavior.SEQUENTIAL,
        ),
    }


@pytest.mark.req("S0-13")
def test_a_read_only_tool_can_not_be_destructive(problems_of: Problems) -> None:
    """An operator's contradiction is a configuration error, with its place."""
    (problem,) = problems_of(
        "mcp:\n  servers:\n    - name: a\n      command: x\n      verdicts:\n"
        "        t: {level: read-only, destructive: true}\n"
    )
    assert (problem.line, problem.path) == (6, "mcp.servers[0].verdicts.t")
    assert "read-only" in problem.message


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        ("{t: {}}", "says nothing"),
        ("{t: read-only}", "must be a mapping"),
        ("{t: {level: readonly}}", "unknown value"),
        ("{t: {readOnlyHint: true}}", "unknown key"),
        ("{t: {destructive: maybe}}", "neither true nor false"),
        ("[t]", "must be a mapping"),
    ],
)
def test_bad_verdicts(problems_of: Problems, verdicts: str, word: str) -> None:
    """A verdict that says nothing, or something else, is refused."""
    (problem,) = problems_of(f"mcp: {{servers: [{{name: a, command: x, verdicts: {verdicts}}}]}}")
    assert word in problem.message


GIT = "mcp: {servers: [{name: git, command: x}]}\n"


def test_rules(load_text: Load) -> None:
    """Text or mapping, in three lists, each with its place as its source."""
    config = load_text(
        GIT + "permissions:\n  allow:\n    - Read\n    - {rule: mcp__git__log, when: any}\n"
        "  ask: [mcp__git]\n  deny: ['mcp__git__*', {rule: Write}]\n"
    )
    rules = [(rule.decision, rule.text, rule.when) for rule in config.rules.rules]
    assert rules == [
        (Decision.ALLOW, "Read", "attended"),
        (Decision.ALLOW, "mcp__git__log", "any"),
        (Decision.ASK, "mcp__git", "attended"),
        (Decision.DENY, "mcp__git__*", "attended"),
        (Decision.DENY, "Write", "attended"),
    ]
    assert (config.rules.rules[1].source or "").endswith("lockgate.yaml:5 permissions.allow[1]")


@pytest.mark.parametrize(
    ("permissions", "path", "word"),
    [
        ("deny: [mcp__gti]", "permissions.deny[0]", "gti"),
        ("deny: ['']", "permissions.deny[0]", "must be a rule"),
        ("deny: ['']", "permissions.deny[0]", "not an empty text, which names no tool"),
        ("deny: [null]", "permissions.deny[0]", "must be a rule"),
        ("deny: [[Read]]", "permissions.deny[0]", "must be a rule"),
        ("deny: Read", "permissions.deny", "must be a list"),
        ("deny: [{when: any}]", "permissions.deny[0].when", "unknown key"),
        ("allow: [{rule: Read, when: never}]", "permissions.allow[0].when", "unknown value"),
        ("allow: [{tool: Read}]", "permissions.allow[0].tool", "unknown key"),
        ("alow: [Read]", "permissions.alow", "unknown key"),
        ("ask: ['mcp__git__(']", "permissions.ask[0]", "rule"),
        ("ask: ['${RULE}']", "permissions.ask[0]", "rule"),
    ],
)
def test_bad_rules(problems_of: Problems, permissions: str, path: str, word: str) -> None:
    """A rule that can not be read, or names no server, stops the start at its place."""
    problems = problems_of(GIT + f"permissions: {{{permissions}}}\n")
    assert {problem.line for problem in problems} == {2}
    assert [word in problem.message for problem in problems if problem.path == path] == [True]


def test_commented_out_lists_are_empty(load_text: Load) -> None:
    """A section or list whose every line is commented out is empty, not a mistake."""
    config = load_text("mcp:\n  servers:\npermissions:\n  allow:\n  deny:\nagent:\napprovals:\n")
    assert config.servers == ()
    assert config.rules.rules == ()
