"""Servers that misbehave in every way that was ever seen, each beside a good one.

The rule for all of them: a clear error or a named partial result, the good server unharmed, nothing
left running, and never a hang.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import Any

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing.project import Project
from lockgate.testing.script import LEGACY, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Ask, Exit, Raw, Shape, Sleep, Spawn, Stderr


@dataclass(frozen=True)
class Bad:
    """A server, and what is to be said about it."""

    server: ScriptedServer | StdioEndpoint
    says: tuple[str, ...]
    """Words of the reason."""
    keys: dict[str, Any] = field(default_factory=dict[str, Any])


def _answers(method: str, **result: Any) -> When:
    return When(method, Answer(result=result))


HANDSHAKE = ("server/discover", "initialize")

FAILS = {
    "command not found": Bad(StdioEndpoint("no-such-program-here"), ("was not found",)),
    "command is a directory": Bad(StdioEndpoint("/tmp"), ("is a directory",)),  # noqa: S108 - only looked at
    "exits at once": Bad(
        ScriptedServer(opening=(Stderr("no configuration\n"), Exit(3))),
        ("exit code 3", "no configuration"),
    ),
    "never answers": Bad(
        ScriptedServer(rules=tuple(When(m) for m in HANDSHAKE)),
        ("1.5 s",),
        {"requestTimeout": "1.5s"},
    ),
    "answers an unknown version": Bad(
        ScriptedServer(
            revisions=LEGACY,
            rules=(
                _answers(
                    "initialize",
                    protocolVersion="2099-01-01",
                    capabilities={},
                    serverInfo={"name": "x", "version": "1"},
                ),
            ),
        ),
        ("2099-01-01", "2025-11-25"),
    ),
    "tools/list is an error": Bad(
        ScriptedServer(
            rules=(When("tools/list", Answer(error={"code": -32603, "message": "no"})),)
        ),
        ("-32603",),
    ),
    "tools/list is invalid UTF-8": Bad(
        ScriptedServer(
            rules=(
                When(
                    "tools/list",
                    Answer(
                        result={"tools": [], "x": "HERE"}, shape=Shape(swap=((b"HERE", b"\x97"),))
                    ),
                ),
            )
        ),
        ("UTF-8",),
    ),
}


@pytest.mark.req("S3-10")
@pytest.mark.parametrize("name", FAILS)
def test_a_server_that_can_not_be_used_is_named_with_its_reason(
    project: Project, name: str
) -> None:
    """It fails alone, by name and reason; the other is ready and nothing is left running."""
    bad = FAILS[name]
    project.add("good", ScriptedServer())
    project.add("bad", bad.server, **bad.keys)
    told = project.json("doctor")
    good, failed = told["servers"]
    assert (good["state"], good["tools"]) == ("ready", ["mcp__good__echo"])
    assert failed["state"] == "failed"
    for word in bad.says:
        assert word in failed["reason"]
    assert project.left_running() == []


ODD = {
    "garbage before and between frames": ScriptedServer(
        opening=(Raw(b"Server version : 1.2\n\n   \n{}\n42\nnull\n"),),
        rules=(When("tools/list", Raw(b"[MCP] list_tools requested\n"), Answer()),),
    ),
    "a byte order mark and CRLF": ScriptedServer(
        rules=tuple(
            When(m, Answer(shape=Shape(prefix=b"\xef\xbb\xbf", ending=b"\r\n")))
            for m in (*HANDSHAKE, "tools/list")
        )
    ),
    "a grandchild that holds the pipes": ScriptedServer(opening=(Spawn(),)),
    "floods stderr": ScriptedServer(opening=(Stderr("x" * 999 + "\n", times=5000),)),
    "ignores SIGTERM": ScriptedServer(ignores_sigterm=True, ignores_eof=True),
    "asks roots/list and waits": ScriptedServer(
        rules=(When("tools/list", Ask("roots/list"), Answer()),)
    ),
    "pings before it answers": ScriptedServer(rules=(When("initialize", Ask("ping"), Answer()),)),
    "is slow, within its time": ScriptedServer(rules=(When("tools/list", Sleep(0.3), Answer()),)),
}


@pytest.mark.req("S3-22")
@pytest.mark.req("S3-23")
@pytest.mark.parametrize("name", ODD)
def test_a_server_that_is_odd_is_used_all_the_same(project: Project, name: str) -> None:
    """What does not keep it from working costs nothing, and nothing of it is left running."""
    project.add("odd", ODD[name])
    told = project.json("doctor")
    assert [s["state"] for s in told["servers"]] == ["ready"]
    assert told["servers"][0]["tools"] == ["mcp__odd__echo"]
    assert project.left_running() == []


BAD_TOOLS: tuple[Any, ...] = (
    None,
    {"description": "without a name", "inputSchema": {"type": "object"}},
    {"name": 5, "inputSchema": {"type": "object"}},
    tool("null-schema", inputSchema=None),
    tool("true-schema", inputSchema=True),
    tool("array-schema", inputSchema=[]),
    tool("text-schema", inputSchema="object"),
    tool("wrong-type", inputSchema={"type": "string"}),
)


@pytest.mark.req("S3-10")
@pytest.mark.req("S3-05")
def test_malformed_tools_are_left_out_by_name(project: Project) -> None:
    """A tool that can not be used is left out by its name or place; the rest stays."""
    project.add("s", ScriptedServer(tools=(tool("good"), *BAD_TOOLS, tool("also-good"))))
    told = project.json("doctor")["servers"][0]
    assert told["state"] == "ready"
    assert told["tools"][0] == "mcp__s__good"
    assert told["tools"][-1] == "mcp__s__also-good"
    named = {out["tool"] for out in told["leftOut"]}
    assert {"true-schema", "array-schema", "text-schema", "wrong-type"} <= named
    assert all(out["reason"] for out in told["leftOut"])


def test_a_listing_3000_deep_leaves_out_what_is_too_deep(project: Project) -> None:
    """Depth is refused where it stands, with a word on depth; nothing overflows, nobody hangs."""
    deep = Shape(swap=((b'"HERE"', b"[" * 3000 + b"]" * 3000),))
    tools = [tool("good"), tool("deep", inputSchema={"type": "object", "default": "HERE"})]
    project.add(
        "s", ScriptedServer(rules=(When("tools/list", Answer({"tools": tools}, shape=deep)),))
    )
    told = project.json("doctor")["servers"][0]
    assert told["state"] == "ready"
    assert told["tools"] == ["mcp__s__good"]
    assert [out["tool"] for out in told["leftOut"]] == ["deep"]
    assert "deep" in told["leftOut"][0]["reason"]


@pytest.mark.req("S3-02")
def test_long_foreign_and_repeated_names(project: Project) -> None:
    """Every name the model sees is one it can use; the server gets its own; repeats count once."""
    long, korean = "a" * 200, "한글도구"
    server = ScriptedServer(tools=(tool(long), tool(korean), tool("twice"), tool("twice")))
    ledger = project.add(
        "s", server, annotationTrust="trust", verdicts={korean: {"level": "read-only"}}
    )
    told = project.json("doctor")["servers"][0]
    assert told["state"] == "ready"
    assert len(told["tools"]) == 3
    assert all(len(name) <= 64 and name.isascii() for name in told["tools"])
    done = project.run("call", told["tools"][1])
    assert done.returncode == 0, done.stderr
    assert ledger.called == (korean,)


@pytest.mark.req("S0-10")
def test_annotations_of_the_wrong_type_count_as_absent_and_are_told(project: Project) -> None:
    """Only JSON booleans are claims: "true" and 1 make no tool read-only, and it is said."""
    odd = {"readOnlyHint": "true", "destructiveHint": 0, "idempotentHint": [True]}
    project.add("s", ScriptedServer(tools=(tool("t", annotations=odd),)), annotationTrust="trust")
    (told,) = project.json("tools")["tools"]
    assert (told["level"], told["destructive"], told["idempotent"]) == ("mutating", True, False)
    assert told["claim"] == odd
    assert len(told["remarks"]) == 3


@pytest.mark.req("S3-04")
@pytest.mark.req("B-03")
def test_death_in_the_middle_of_a_call_is_an_unknown_outcome(project: Project) -> None:
    """The call may have taken effect: it is told so, once, and the program ends with 1."""
    server = ScriptedServer(
        tools=(tool("t"),), rules=(When("tools/call", Stderr("oops\n"), Exit(9)),)
    )
    ledger = project.add("s", server, verdicts={"t": {"destructive": False}})
    project.sections["approvals"] = {"exemptAtOrBelow": "mutating"}
    done = project.run("call", "mcp__s__t", "--json")
    assert done.returncode == 1
    assert '"outcome_unknown"' in done.stdout
    assert "do not assume it failed" in done.stdout
    assert ledger.called == ("t",)
    assert project.left_running() == []


RESULTS: dict[str, tuple[dict[str, Any], str]] = {
    "without content": ({}, ""),
    "with unknown content": ({"content": [{"type": "future", "x": 1}, None, {}]}, "future"),
    "with text that is none": ({"content": [{"type": "text", "text": 5}]}, ""),
}


@pytest.mark.req("S3-04")
@pytest.mark.parametrize("name", RESULTS)
def test_odd_results_are_results(project: Project, name: str) -> None:
    """A result is taken as far as it can be read; nothing raises."""
    result, word = RESULTS[name]
    server = ScriptedServer(tools=(tool("t"),), rules=(_answers("tools/call", **result),))
    project.add("s", server, verdicts={"t": {"level": "read-only"}})
    done = project.run("call", "mcp__s__t")
    assert done.returncode == 0, done.stderr
    assert word in done.stdout
    assert "Traceback" not in done.stderr


def test_a_result_of_50_mb_comes_whole(project: Project) -> None:
    """Below the limit of a frame a result of any size is delivered."""
    size = 50_000_000
    server = ScriptedServer(tools=(tool("t"),), rules=(When("tools/call", Answer(size=size)),))
    project.add("s", server, verdicts={"t": {"level": "read-only"}})
    done = project.run("call", "mcp__s__t")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) == size + 1


def test_a_frame_over_the_limit_is_refused_by_its_length(project: Project) -> None:
    """Over the limit the call fails with an error that names it."""
    server = ScriptedServer(
        tools=(tool("t"),), rules=(When("tools/call", Answer(size=70_000_000)),)
    )
    project.add("s", server, verdicts={"t": {"level": "read-only"}})
    done = project.run("call", "mcp__s__t")
    assert done.returncode == 1
    assert "64 MiB" in done.stderr


@pytest.mark.req("S3-21")
def test_a_call_that_is_never_answered_ends_with_its_time(project: Project) -> None:
    """The time-out of a call whose fate is unknown is told as an unknown outcome, in time."""
    server = ScriptedServer(tools=(tool("t"),), rules=(When("tools/call"),))
    ledger = project.add("s", server, requestTimeout="1s", verdicts={"t": {"level": "read-only"}})
    done = project.run("call", "mcp__s__t", timeout=20)
    assert done.returncode == 1
    assert "1 s" in done.stderr
    sent = [e.facts["method"] for e in ledger.entries("received")]
    assert "notifications/cancelled" in sent


@pytest.mark.req("S3-08")
def test_five_slow_servers_start_together(project: Project) -> None:
    """Five servers that each need two seconds take under 1.5 times as long as one."""
    slow = (When("tools/list", Sleep(2), Answer()),)
    project.add("one", ScriptedServer(rules=slow))
    alone = project.json("doctor")["servers"][0]["seconds"]
    for name in ("two", "three", "four", "five"):
        project.add(name, ScriptedServer(rules=slow))
    together = project.json("doctor")["servers"]
    assert [(s["state"], len(s["tools"])) for s in together] == [("ready", 1)] * 5
    assert alone >= 2
    assert max(s["seconds"] for s in together) < 1.5 * alone


@pytest.mark.req("S3-20")
@pytest.mark.req("S3-08")
def test_one_that_hangs_is_given_up_at_the_operators_budget(project: Project) -> None:
    """The budget ends the waiting for all; who is ready by then is there, who is not is named."""
    project.add("good", ScriptedServer())
    silent = ScriptedServer(rules=tuple(When(m) for m in HANDSHAKE))
    project.add("hangs", silent, requestTimeout="60s")
    project.sections["mcp"] = {"servers": project.servers, "startupBudget": "2s"}
    good, hangs = project.json("doctor", timeout=20)["servers"]
    assert good["state"] == "ready"
    assert hangs["state"] == "failed"
    assert "within 2 s" in hangs["reason"]
    assert project.left_running() == []


def test_the_interpreter_is_the_one_of_the_suite() -> None:
    """Scripted servers run on this interpreter: nothing of this suite depends on another."""
    assert ScriptedServer().endpoint().command == sys.executable
