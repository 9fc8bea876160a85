"""Rules and offers that name no tool: told with what may be meant, and only where that is sure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from lockgate.app.unmatched import unmatched
from lockgate.decision import Decision
from lockgate.mcp.host.status import LeftOutTool, ServerState, ServerStatus
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.settings.config import AgentSettings, Config
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.registry import Registry, Snapshot


def a_snapshot(*local: str) -> Snapshot:
    """Server s with two tools, one under a changed name, and local tools."""
    registry = Registry()
    tools = [ScriptedTool("wipe", server="s"), ScriptedTool("a.b", server="s")]
    registry.register_all((*tools, *map(ScriptedTool, local)))
    return registry.snapshot()


STATUSES = (
    ServerStatus("s", ServerState.READY, False, "stdio", left_out=(LeftOutTool("odd", "is odd"),)),
    ServerStatus("dead", ServerState.FAILED, False, "stdio", reason="it is gone"),
)


def told(rules: Iterable[str] = (), offer: tuple[str, ...] | None = None, *local: str) -> list[str]:
    """What is found, as text and hint."""
    config = Config(
        rules=RuleSet(tuple(parse_rule(text, Decision.DENY, source="f:1") for text in rules)),
        agent=AgentSettings(offer=offer),
    )
    return [f"{f.text}; {f.hint}" for f in unmatched(config, a_snapshot(*local), STATUSES)]


@pytest.mark.parametrize("name", ["wipee", "Wipe", "w\u0131pe", "wip"])
def test_a_slip_is_told_with_what_may_be_meant(name: str) -> None:
    """PB-177: a deny rule that matches nothing protects nothing, so it does not stay unseen."""
    (rule,) = told([f"mcp__s__{name}"])
    assert rule == (
        f'the deny rule "mcp__s__{name}" matches no tool of server s; did you mean mcp__s__wipe?'
    )
    (offer,) = told(offer=(f"mcp__s__{name}", "mcp__s__*"))
    assert offer.startswith(f'the offer "mcp__s__{name}" matches no tool of server s; did you mean')


def test_where_nothing_is_near_it_says_where_to_look() -> None:
    """Never a guess."""
    assert told(["mcp__s__something"])[0].endswith("its tools: lockgate tools 'mcp__s__*'")


def test_nothing_is_said_where_nothing_is_sure() -> None:
    """What matches, by either name; servers that did not start; what was left out; whole servers;
    local tools where a program gave none."""
    registered = next(name for name in a_snapshot().entries if "a_b" in name)
    matching = ["mcp__s__wipe", "mcp__s__a.b", registered, "mcp__s", "mcp__s__*"]
    unsure = ["mcp__dead__x", "mcp__dead", "mcp__s__odd", "local"]
    assert told([*matching, *unsure], (*matching, *unsure)) == []


def test_a_local_tool_is_looked_for_where_there_are_some() -> None:
    """In a program that gives tools of its own."""
    assert told(["locl"], None, "local") == [
        'the deny rule "locl" matches no local tool; did you mean local?'
    ]


def test_an_answer_for_another_definition_is_told_with_how_to_take_it_back() -> None:
    """It answers nothing, and its tool is there."""
    rule = replace(parse_rule("mcp__s__wipe", Decision.ALLOW, source="f:1"), pin="0" * 64)
    (found,) = unmatched(Config(rules=RuleSet((rule,))), a_snapshot(), STATUSES)
    assert "is about another definition of mcp__s__wipe: it answers nothing" in found.text
    assert found.hint is not None
    assert "lockgate grants revoke" in found.hint
