"""Rules about tools of ours that have no subject: by their arguments alone."""

from __future__ import annotations

import pytest

from lockgate.decision import Decision
from lockgate.errors import ConfigError
from lockgate.rules.examples import example_fault
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places

PLACES = Places("/project", "/home/you")


@pytest.mark.req("S3-19")
@pytest.mark.parametrize(
    ("text", "meant", "other"),
    [
        ("ReadResource", {"server": "docs", "uri": "x:1"}, None),
        ("ReadResource(server=docs)", {"server": "docs", "uri": "x:1"}, {"server": "doc"}),
        (
            "ReadResource(server=docs, uri=text:x:/a/*)",
            {"server": "docs", "uri": "x:/a/b"},
            {"server": "docs", "uri": "x:/b"},
        ),
        ("ListResources(server=docs)", {"server": "docs"}, {}),
    ],
)
def test_arguments_are_named(
    text: str, meant: dict[str, str], other: dict[str, str] | None
) -> None:
    """As for a server's tool."""
    rule = parse_rule(text, Decision.ALLOW, places=PLACES)
    if rule.bare:
        assert example_fault(rule, "ReadResource", meant=True, places=PLACES) is None
        return
    assert example_fault(rule, meant, meant=True, places=PLACES) is None
    assert other is not None
    assert example_fault(rule, other, meant=False, places=PLACES) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("ReadResource(x:1)", "brackets without name=pattern"),
        ("ReadResource(*)", "brackets without name=pattern"),
        ("ReadResource(sever=docs)", "did you mean server"),
        ("ReadResource(uri=file:///a)", "text:"),
    ],
)
def test_what_can_not_be_meant_says_what_to_write(text: str, why: str) -> None:
    """With the names of the arguments."""
    with pytest.raises(ConfigError, match=why):
        parse_rule(text, Decision.ALLOW, places=PLACES)


def test_a_rule_that_says_destructive_and_nothing_else_is_refused() -> None:
    """The tool destroys nothing; what is said is held to what it says all the same."""
    with pytest.raises(ConfigError, match="constrains nothing"):
        parse_rule("ReadResource", Decision.ALLOW, destructive=True, places=PLACES)
