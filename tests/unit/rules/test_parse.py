"""Reading rules: what can be written, and that no fault in one passes silently."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.decision import Decision
from lockgate.errors import ConfigError, Problem
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import Rule

SERVERS = ("git", "files", "my-server2")
KNOWN = ("Bash", "Read", "Write")


def problem(text: object, decision: Decision = Decision.DENY, **options: Any) -> Problem:
    """The one problem that parsing ends in."""
    with pytest.raises(ConfigError) as refused:
        parse_rule(text, decision, **options)
    (found,) = refused.value.problems
    return found


@pytest.mark.parametrize(
    ("text", "server", "tool"),
    [
        ("Bash", None, "Bash"),
        ("my_tool-2", None, "my_tool-2"),
        ("mcp", None, "mcp"),
        ("mcp_x", None, "mcp_x"),
        ("mcp__git", "git", None),
        ("mcp__git__*", "git", None),
        ("mcp__my-server2", "my-server2", None),
        ("mcp__git__git_log", "git", "git_log"),
        ("mcp__git____init__", "git", "__init__"),
        ("mcp__git__a__b", "git", "a__b"),
        ("mcp__git__admin.tools.list", "git", "admin.tools.list"),
        ("mcp__git__한글 도구", "git", "한글 도구"),
    ],
)
@pytest.mark.parametrize("decision", list(Decision))
def test_every_form_is_read(
    decision: Decision, text: str, server: str | None, tool: str | None
) -> None:
    """A tool of ours, a server, all tools of a server, one tool by either of its names."""
    rule = parse_rule(text, decision, servers=SERVERS, source="lockgate.yaml: permissions.deny[0]")
    assert rule == Rule(
        decision, text, server, tool, "attended", "lockgate.yaml: permissions.deny[0]"
    )


@pytest.mark.parametrize(
    ("text", "position", "words"),
    [
        ("", None, "is empty"),
        (" Bash", 1, "begins or ends with a space"),
        ("Bash ", 5, "begins or ends with a space"),
        ("Bash git:*", 5, "has a ' '"),
        ("Bash(git:*", 5, "can not do yet"),
        ("Bash(git:*)", 5, "can not do yet"),
        ("Bash()", 5, "can not do yet"),
        ("Bash(git:*) # note", 5, "can not do yet"),
        ("Read(**/.env)", 5, "can not do yet"),
        ("*", 1, "stands for no server's tools"),
        ("Ba*", 3, "stands for no server's tools"),
        ("Bash\n", 5, "begins or ends with a space"),
        ("Ba\x00sh", 3, r"has a '\x00'"),
        ("한글", 1, "has a '한'"),
        ("x" * 65, 65, "longer than any tool's name"),
        ("MCP__git__git_log", 1, "lower case"),
        ("Mcp__git", 1, "lower case"),
        ("mcp__", 6, "names no server"),
        ("mcp____x", 6, "names no server"),
        ("mcp__*", 6, "for the server, which must be named"),
        ("mcp__*__git_log", 6, "for the server, which must be named"),
        ("mcp__Git__git_log", 6, "has a 'G', which no server's name can hold"),
        ("mcp__under_score__x", 11, "has a '_'"),
        ("mcp__-x__y", 6, "names no server"),
        ("mcp__git__", 11, "ends without a tool"),
        ("mcp__git__git_*", 15, "not the whole name of the tool"),
        ("mcp__git__git_log(repo=x)", 18, "can not do yet"),
        ("mcp__git(repo=x)", 9, "can not do yet"),
    ],
)
@pytest.mark.parametrize("decision", list(Decision))
def test_a_fault_stops_the_start_and_is_placed(
    decision: Decision, text: str, position: int | None, words: str
) -> None:
    """The rule, the character, what is wrong; a bad deny least of all starts silently (PB-177)."""
    found = problem(text, decision, source="permissions.deny[3]")
    assert words in found.message
    assert repr(text) in found.message
    assert found.path == "permissions.deny[3]"
    if position is not None:
        assert f"at character {position} " in found.message


@pytest.mark.parametrize("value", [5, None, True, ["Bash"], {"rule": "Bash"}, 1.5])
def test_a_rule_is_a_string(value: object) -> None:
    """What YAML made of it otherwise is told, with what to do."""
    found = problem(value)
    assert "a rule is a string, not" in found.message
    assert found.hint == "put it in quotes"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("mcp__gti__git_log", "did you mean git?"),
        ("mcp__file__read", "did you mean files?"),
        ("mcp__nosuch__*", "the servers are files, git, my-server2"),
        ("mcp__nosuch", "the servers are files, git, my-server2"),
    ],
)
def test_an_unknown_server_is_an_error_with_the_near_name(text: str, hint: str) -> None:
    """A rule about a server that is not configured never does what its author thinks (PB-177)."""
    found = problem(text, servers=SERVERS)
    assert "which is not configured" in found.message
    assert found.hint == hint


def test_with_no_servers_there_are_none_to_name() -> None:
    """An empty configuration knows no server; None asks for no check."""
    assert problem("mcp__git", servers=()).hint == "there are no servers"
    assert parse_rule("mcp__git", Decision.DENY, servers=None).server == "git"


@pytest.mark.parametrize(
    ("text", "hint"), [("Bsh", "did you mean Bash?"), ("bash", "did you mean Bash?")]
)
def test_an_unknown_tool_of_ours_is_an_error_where_they_are_known(text: str, hint: str) -> None:
    """Letter case counts (PB-177)."""
    found = problem(text, known_tools=KNOWN)
    assert "names no tool there is" in found.message
    assert found.hint == hint


@pytest.mark.parametrize("when", ["attended", "unattended", "any"])
def test_an_allow_rule_says_when_it_answers(when: Any) -> None:
    """Attended executions unless it says otherwise."""
    assert parse_rule("Bash", Decision.ALLOW, when=when).when == when
    assert parse_rule("Bash", Decision.ALLOW).when == "attended"


@pytest.mark.parametrize("decision", [Decision.ASK, Decision.DENY])
def test_other_rules_always_hold(decision: Decision) -> None:
    """An ask or deny that would only sometimes hold is refused."""
    assert "it always holds" in problem("Bash", decision, when="attended").message


@given(st.text(max_size=20) | st.text("mcp_git*()Bash- ", max_size=20))
def test_any_text_is_a_rule_or_an_error(text: str) -> None:
    """Nothing else is raised, and what is read names something."""
    try:
        rule = parse_rule(text, Decision.DENY, servers=SERVERS)
    except ConfigError:
        return
    assert rule.server in SERVERS or rule.tool == text
