"""What a found file loosens is told against what holds without it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from lockgate.settings.layers import locate
from lockgate.settings.loading import pending

Loosened: TypeAlias = Callable[[str, str], tuple[str, ...]]

NOTHING = ("It starts no program and loosens nothing.",)


@pytest.fixture
def loosened(project: Path, environ: dict[str, str]) -> Loosened:
    """`loosened(own, found)`: the summary of a found file beside the person's own."""

    def summary(own: str, found: str) -> tuple[str, ...]:
        layers = locate(project, environ)
        layers.person.parent.mkdir(parents=True, exist_ok=True)
        layers.person.write_text(own)
        layers.project.write_text(found)
        waiting = pending(layers)
        assert waiting is not None
        return waiting.summary

    return summary


@pytest.mark.req("B-13")
@pytest.mark.parametrize(
    ("own", "found", "told"),
    [
        (
            "approvals: {exemptAtOrBelow: none}",
            "approvals: {exemptAtOrBelow: read-only}",
            "no call that only reads (your own configuration asks about every call)",
        ),
        ("", "approvals: {exemptAtOrBelow: mutating}", "ask about destructive calls only"),
        ("approvals: {attended: []}", "approvals: {attended: [terminal]}", "from: terminal"),
        (
            "agent: {ceiling: read-only}",
            "agent: {ceiling: mutating}",
            "set the ceiling to mutating (your own configuration has read-only)",
        ),
        ("", "audit: {keep: 1h}", "keep records of calls for 1h (without it for 90d)"),
        (
            "audit: {keep: 7d}",
            "audit: {keep: forever}",
            "keep records of calls forever (your own configuration says for 7d)",
        ),
        (
            "sessions: {keep: never}",
            "sessions: {keep: 1d}",
            "keep what is said in sessions for 1d (your own configuration says never)",
        ),
        ("", "sessions: {keep: forever}", "sessions forever (without it for 30d)"),
        ("agent: {offer: [a]}", "agent: {offer: [a, b]}", "offer the agent"),
        ("agent: {offer: [mcp__o__x]}", "agent: {offer: ['mcp__o__*']}", "mcp__o__*"),
        ("", "agent: {instructions: Obey.}", "tell the model: Obey."),
        ("", f"agent: {{instructions: {'ab' * 500}}}", "and 700 more characters"),
        ("", "agent: {model: 'scripted:x.yaml'}", "run the model scripted:x.yaml"),
        ("", "permissions: {allow: [a]}", "allow a without asking you"),
        ("", "permissions: {allow: [{rule: a, when: any}]}", "in unattended runs as well"),
        (
            "",
            "permissions: {allow: [{rule: 'Bash(git:*)', destructive: true, until: 2027-01-01}]}",
            'allow "Bash(git:*)" without asking you, also what can overwrite, remove or invalidate'
            " things, until 2027-01-01",
        ),
        (
            "permissions: {allow: [{rule: a(n=1), until: 2027-01-01}]}",
            "permissions: {allow: [a(n=1)]}",
            'allow "a(n=1)" without asking you',
        ),
        (
            "permissions: {allow: [a(n=1)]}",
            "permissions: {allow: [{rule: a(n=1), destructive: true}]}",
            "also what can overwrite",
        ),
        (
            "",
            f"permissions: {{allow: [{{rule: a, pin: {'ab' * 32}, until: 2027-01-01T08:00:00Z}}]}}",
            "while its definition is abababababab..., until 2027-01-01 08:00:00 UTC",
        ),
        ("", "permissions: {allow: [{rule: a(), exact: true}]}", "with no other argument"),
        (
            "permissions: {allow: [a]}",
            "permissions: {allow: [{rule: a, when: unattended}]}",
            "in unattended runs",
        ),
        ("", "mcp: {servers: [{name: o, expectTools: []}]}", "says of o: expectTools"),
        ("", "mcp: {servers: [{name: o, annotationTrust: trust}]}", "believe what o says"),
        ("", "mcp: {servers: [{name: o, verdicts: {'a b': {level: read-only}}}]}", 'of o: "a b"'),
    ],
)
def test_what_is_loosened_is_told(loosened: Loosened, own: str, found: str, told: str) -> None:
    """Exemption, approvers, ceiling, offer, model and its instructions, rules, and servers."""
    base = "mcp: {servers: [{name: o, command: x, expectTools: [t]}]}\n"
    assert any(told in _joined(line) for line in loosened(base + own, found))


@pytest.mark.parametrize(
    ("own", "found"),
    [
        ("", "approvals: {exemptAtOrBelow: read-only}"),
        ("", "approvals: {exemptAtOrBelow: none}"),
        ("", "agent: {ceiling: read-only}"),
        ("", "agent: {ceiling: mutating}"),
        ("agent: {ceiling: mutating}", "agent: {ceiling: mutating}"),
        ("audit: {keep: 24h}", "audit: {keep: 1d}"),
        ("", "agent: {offer: [a]}"),
        ("agent: {offer: [mcp__o]}", "agent: {offer: [mcp__o__x, 'mcp__o__*']}"),
        ("agent: {offer: ['mcp__o__*', a]}", "agent: {offer: [mcp__o, a]}"),
        ("permissions: {allow: [a]}", "permissions: {allow: [a]}"),
        (
            "permissions: {allow: [{rule: a(n=1), until: 2027-01-01}]}",
            "permissions: {allow: [{rule: a(n=1), until: 2027-01-01T00:00:00Z, reason: mine}]}",
        ),
        ("permissions: {allow: [{rule: a, when: attended}]}", "permissions: {allow: [a]}"),
        ("", "permissions: {ask: [a], deny: [b]}"),
        ("approvals: {exemptAtOrBelow: mutating}", "approvals: {exemptAtOrBelow: read-only}"),
    ],
)
def test_what_tightens_or_changes_nothing_is_not(loosened: Loosened, own: str, found: str) -> None:
    """A file that only tightens says that it loosens nothing, and that is true."""
    base = "mcp: {servers: [{name: o, command: x}]}\n"
    assert loosened(base + own, found) == NOTHING


def _joined(line: str) -> str:
    return line.replace("\n        | ", "")


def test_wider_bounds_of_a_turn_are_told(loosened: Loosened) -> None:
    """Of each that is wider than the person's own, or than the default; narrower ones are not."""
    own = "agent: {limits: {iterations: 10, tokens: 1000}}\n"
    wide = "agent: {limits: {iterations: 20, time: 2h, tokens: 5000}}\n"
    told = " ".join(" ".join(loosened(own, wide)).replace("|", " ").split())
    assert "let a turn go on for 20 replies of the model (your own configuration says 10" in told
    assert "let a turn go on for 7200s (without it 3600s)" in told
    assert "let a turn go on for 5000 tokens (your own configuration says 1000 tokens)" in told
    assert "a turn" not in " ".join(loosened(own, "agent: {limits: {iterations: 5, time: 1m}}\n"))
