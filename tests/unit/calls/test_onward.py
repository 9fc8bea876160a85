"""A redirect of an allowed call is judged by the same rules, with the new address in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.calls.resolving import resolve
from lockgate.decision import Decision
from lockgate.rules.about import AboutTool
from lockgate.rules.rule import Rule
from lockgate.rules.url import UrlPattern, resolve_url
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment
from lockgate.tools.registry import Registered, Registry
from lockgate.tools.subject import ResolvedUrl, Subject, SubjectKind


def rule(decision: Decision, pattern: str, **more: object) -> Rule:
    """One rule about the tool's address."""
    return Rule(
        decision,
        f"Fetcher({pattern})",
        None,
        "Fetcher",
        subject=UrlPattern.parse(pattern),
        **more,  # pyright: ignore[reportArgumentType] - keywords of Rule
    )


@pytest.fixture
def registered() -> Registered:
    """The tool, as decisions read it."""
    registry = Registry()
    subjects = (Subject(SubjectKind.URL, "url"),)
    registry.register(ScriptedTool("Fetcher", destructive=False, subjects=subjects))
    found = registry.snapshot().get("Fetcher")
    assert found is not None
    return found


def test_an_address_is_resolved_once(registered: Registered) -> None:
    """The normalised form is a subject of the call."""
    about = AboutTool(registered, ())
    found = resolve(registered, about, {"url": "HTTPS://A.de/x/../y"}, Environment(Path("/")))
    resolved = found.get("url")
    assert isinstance(resolved, ResolvedUrl)
    assert resolved.text == "https://a.de/y"


@pytest.mark.parametrize(
    ("address", "decision"),
    [
        ("https://a.de/x", Decision.ALLOW),
        ("https://a.de/private/x", Decision.DENY),
        ("https://b.de/", Decision.ASK),
        ("https://later.de/", None),
        ("https://c.de/", None),
    ],
)
def test_rules_are_held_against_where_it_leads(
    registered: Registered, address: str, decision: Decision | None
) -> None:
    """Deny, ask and allow as for a call of its own; a rule that ends one day does not allow."""
    about = AboutTool(
        registered,
        (
            rule(Decision.ALLOW, "domain:a.de"),
            rule(Decision.DENY, "https://a.de/private/**"),
            rule(Decision.ASK, "domain:b.de"),
            rule(Decision.ALLOW, "domain:later.de", until=4e9),
        ),
    )
    subjects = resolve(registered, about, {"url": "https://a.de/"}, Environment(Path("/")))
    assert subjects.onward is not None
    said = subjects.onward(resolve_url(address), attended=True)
    assert (None if said is None else said.decision) is decision
    assert said is None or said.reasons


def test_a_rule_for_attended_runs_does_not_lead_an_unattended_one_on(
    registered: Registered,
) -> None:
    """`when` counts at a redirect as it does at the call."""
    about = AboutTool(registered, (rule(Decision.ALLOW, "domain:a.de", when="attended"),))
    subjects = resolve(registered, about, {"url": "https://b.de/"}, Environment(Path("/")))
    assert subjects.onward is not None
    address = resolve_url("https://a.de/")
    assert subjects.onward(address, attended=True) is not None
    assert subjects.onward(address, attended=False) is None
