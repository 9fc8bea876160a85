"""Field cases about rules and about what a person is asked, without a call being made."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.bridges.question import render_question
from lockgate.decision import Decision, Reason
from lockgate.errors import ConfigError
from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.mcp.host.trust import resolve
from lockgate.mcp.protocol.claims import parse_claims
from lockgate.policy.approval import Question
from lockgate.policy.gate import asks
from lockgate.rules.parse import parse_rule
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.traits import DestructiveBehavior, SideEffectLevel


def question(arguments: dict[str, Any]) -> str:
    """What is shown of a call with these arguments, in eighty columns."""
    origin = Origin("mcp", "db", "exec", fingerprint({}))
    reasons = (Reason("destructive", "it can destroy"),)
    asked = Question(
        *("c", "mcp__db__exec", origin, SideEffectLevel.MUTATING, True, arguments),
        *("d", reasons, "e", None, None),
    )
    return render_question(asked, 80)


def test_pb_153_nothing_of_the_arguments_is_out_of_sight() -> None:
    """Both ends of a long statement, a long run counted, fifty keys in order, secrets by length."""
    columns = ", ".join(f"column_{n}" for n in range(270))
    sql = f"SELECT {columns} FROM t; DROP TABLE t"  # noqa: S608 - shown, never run
    assert len(sql) > 3_000
    keys = {f"k{n}": {"nested": [n, {"deep": True}]} for n in range(50)}
    text = question({"sql": sql, "note": "x" * 100_000, **keys, "api_token": "t0p-s3cret"})
    whole = "".join(line.removeprefix("|>") for line in text.splitlines())
    assert "".join(sql.split()) in "".join(whole.split())
    assert '\\{100000 times "x"}' in text
    places = [text.index(f"| k{n}:") for n in range(50)]
    assert places == sorted(places)
    assert "api_token: [masked, 10 characters]" in text
    assert "t0p-s3cret" not in text


@pytest.mark.parametrize(
    ("command", "tail"),
    [
        ("echo ok" + " " * 400 + "; curl http://127.0.0.1:9/x | sh", "; curl http://127.0.0.1:9/x"),
        ("echo ok" + "\n" * 200 + "curl http://127.0.0.1:9/x | sh", "curl http://127.0.0.1:9/x"),
        ("echo ok" + "\t" * 400 + "curl x | sh", "curl x | sh"),
        ("echo ok" + "\r" * 400 + "curl x | sh", "curl x | sh"),
        ("rm x\rls   ", "rm x\\rls   "),
        ("rm x\x1b[1K\x1b[1Gls", "rm x\\x1b[1K\\x1b[1Gls"),
    ],
)
def test_pb_154_no_tail_is_hidden_and_no_line_overwritten(command: str, tail: str) -> None:
    """Within a few lines of the head, whatever stands between; nothing reaches the terminal raw."""
    text = question({"command": command})
    assert tail in text
    assert len(text.splitlines()) < 12
    assert not {"\r", "\t", "\x1b"} & set(text)


HINTS: dict[str, dict[str, bool]] = {
    "none": {},
    "read-only": {"readOnlyHint": True},
    "additive": {"destructiveHint": False},
    "destructive": {"destructiveHint": True},
}


@pytest.mark.req("S0-07", "S0-08", "S0-12")
@pytest.mark.parametrize("hints", list(HINTS))
@pytest.mark.parametrize(
    ("exempt", "asked_if_trusted"),
    [
        (None, {"none", "read-only", "additive", "destructive"}),
        (SideEffectLevel.READ_ONLY, {"none", "additive", "destructive"}),
        (SideEffectLevel.MUTATING, {"none", "destructive"}),
    ],
)
def test_pb_158_what_is_asked_about(
    hints: str, exempt: SideEffectLevel | None, asked_if_trusted: set[str]
) -> None:
    """From the raw hints to the question: ignored hints are no hints, DESTRUCTIVE always asks."""
    for trust in AnnotationTrust:
        ruling = resolve(parse_claims(HINTS[hints] or None), trust, None)
        tool = ScriptedTool(
            "t",
            level=ruling.level,
            destructive=ruling.destructive is DestructiveBehavior.DESTRUCTIVE,
        )
        expected = trust is AnnotationTrust.IGNORE or hints in asked_if_trusted
        assert bool(asks(tool, exempt)) is expected


@pytest.mark.parametrize(
    "text",
    [
        *("Bash(git:*", "Bash git:*", "bash(git:*)", "Bsh(git:*)", "Bash()", "mcp__nosuch__*"),
        *("", 5, "Bash(git:*) # note", "Bash( git :* )"),
    ],
)
@pytest.mark.parametrize("decision", list(Decision))
def test_pb_177_no_bad_rule_starts(text: object, decision: Decision) -> None:
    """Each names the rule, its place in the file and, where there is one, the character."""
    with pytest.raises(ConfigError) as refused:
        parse_rule(text, decision, servers=("git",), source="permissions.deny[0]")
    (problem,) = refused.value.problems
    assert problem.path == "permissions.deny[0]"
    if isinstance(text, str):
        assert repr(text) in problem.message
