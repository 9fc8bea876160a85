"""The command line where a server asks something in the middle of a call, and a person answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lockgate.testing.project import Project
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Ask
from lockgate.testing.terminal import StartAtTerminal

READS = {"readOnlyHint": True}
FORM: dict[str, Any] = {
    "message": "Which one?",
    "requestedSchema": {
        "type": "object",
        "properties": {"size": {"type": "string", "enum": ["small", "large"]}},
        "required": ["size"],
    },
}
ERAS = pytest.mark.parametrize("modern", [False, True], ids=["legacy", "modern"])


def _server(method: str, params: dict[str, Any], *, modern: bool) -> ScriptedServer:
    """A server whose tool asks first, in the way of its era."""
    tools = (tool("order", annotations=READS),)
    if not modern:
        steps = (Ask(method, params), Answer(text="ordered"))
        rules = (When("tools/call", *steps, tool="order"),)
        return ScriptedServer(tools, rules, revisions=LEGACY)
    wanted = {"k": {"method": method, "params": params}}
    first = Answer({"resultType": "input_required", "inputRequests": wanted, "requestState": "s"})
    rules = (
        When("tools/call", first, tool="order", nth=1),
        When("tools/call", Answer(text="ordered"), tool="order"),
    )
    return ScriptedServer(tools, rules, revisions=MODERN)


@ERAS
def test_a_form_is_filled_in_on_the_terminal(
    project: Project, start: StartAtTerminal, modern: bool
) -> None:
    """Field by field, shown before it is sent; the call goes on with it, and it is on record."""
    server = _server("elicitation/create", FORM, modern=modern)
    project.add("shop", server, annotationTrust="trust")
    terminal = start("call", "mcp__shop__order")
    shown = terminal.until("value: ")
    assert "server     SHOP\n" in shown
    assert 'during     a call of its tool "order"\n' in shown
    assert "| Which one?\n" in shown
    terminal.type("large\n")
    assert '| 1        "size": "large"\n' in terminal.until("answer: ")
    terminal.type("send\n")
    assert "ordered" in terminal.end()
    assert terminal.process.returncode == 0
    received = (project.root / "shop.ledger").read_text()
    assert '{"action": "accept", "content": {"size": "large"}}' in received
    (call,) = [
        json.loads(line) for line in project.run("audit", "tail", "--json").stdout.splitlines()
    ]
    (told,) = project.json("audit", "show", call["call"])
    (asked,) = told["asked"]
    assert (asked["mode"], asked["action"], asked["server"]) == ("form", "accept", "shop")
    assert "asked       form, by shop: accept" in project.run("audit", "show", call["call"]).stdout
    assert project.run("audit", "verify").returncode == 0


@ERAS
def test_nobody_is_asked_where_nobody_is(project: Project, modern: bool) -> None:
    """S0-09: without a terminal nothing is declared, and the server is told so in its way."""
    project.add("shop", _server("elicitation/create", FORM, modern=modern), annotationTrust="trust")
    done = project.run("call", "mcp__shop__order")
    received = (project.root / "shop.ledger").read_text()
    assert '"elicitation"' not in received
    if modern:
        assert done.returncode == 1
        assert "elicitation/create" in done.stdout + done.stderr
    else:
        assert done.returncode == 0
        assert '"code": -32601' in received


def test_an_address_is_not_opened_without_a_yes(project: Project, start: StartAtTerminal) -> None:
    """The whole address and its host are shown; an empty line leaves it unanswered."""
    params = {"mode": "url", "message": "Log in", "url": "https://a.example.com/x?y=1"}
    server = _server("elicitation/create", {**params, "elicitationId": "e"}, modern=False)
    project.add("shop", server, annotationTrust="trust")
    terminal = start("call", "mcp__shop__order")
    shown = terminal.until("open it [cancel]: ")
    assert "HOST       a.example.com\n" in shown
    assert "https://a.example.com/x?y=1" in shown
    terminal.type("\n")
    assert "ordered" in terminal.end()
    assert '{"action": "cancel"}' in (project.root / "shop.ledger").read_text()


def test_ctrl_c_in_a_form_is_an_answer_and_not_the_end(
    project: Project, start: StartAtTerminal
) -> None:
    """It leaves the form, and the call goes on without it."""
    project.add("shop", _server("elicitation/create", FORM, modern=False), annotationTrust="trust")
    terminal = start("call", "mcp__shop__order")
    terminal.until("value: ")
    terminal.type("\x03")
    assert "ordered" in terminal.end()
    assert terminal.settings() == terminal.before
    assert '{"action": "cancel"}' in (project.root / "shop.ledger").read_text()


def test_a_model_completes_what_a_person_has_seen(project: Project, start: StartAtTerminal) -> None:
    """Off unless it is configured; then the request is shown, and the completion before it goes."""
    messages = [{"role": "user", "content": {"type": "text", "text": "Say something"}}]
    params = {"messages": messages, "maxTokens": 20}
    (project.root / "model.yaml").write_text('[{"text": "Something."}]')
    project.add(
        "shop",
        _server("sampling/createMessage", params, modern=False),
        annotationTrust="trust",
        sampling={"model": "scripted:model.yaml"},
    )
    terminal = start("call", "mcp__shop__order")
    shown = terminal.until("answer [no]: ")
    assert "| Say something\n" in shown
    assert "wants      20 tokens at most, on your account\n" in shown
    terminal.type("y\n")
    assert "| Something.\n" in terminal.until("answer [no]: ")
    terminal.type("y\n")
    assert "ordered" in terminal.end()
    assert '"text": "Something."' in (project.root / "shop.ledger").read_text()


def test_what_a_server_may_ask_is_shown_with_it(project: Project) -> None:
    """`lockgate mcp get`: how it may ask, which directories it is told of, which model it has."""
    sampling = {"model": "scripted:model.yaml", "ask": False}
    keys = {"elicitation": "forms", "roots": ["docs"], "sampling": sampling}
    project.add("shop", ScriptedServer(), **keys)
    shown = project.run("mcp", "get", "shop").stdout
    assert "  elicitation: forms\n" in shown
    assert "  root: docs\n" in shown
    assert "  sampling ask: false\n" in shown
    told = project.json("mcp", "get", "shop")
    assert (told["elicitation"], told["sampling"]["ask"]) == ("forms", False)
