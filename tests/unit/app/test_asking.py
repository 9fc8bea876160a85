"""Who answers servers, and what of it is on record: the program, a model, the configuration."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.app.build import Surroundings
from lockgate.app.build import open as open_gate
from lockgate.errors import ConfigError, LocalError
from lockgate.mcp.transport.base import Transport
from lockgate.stores.audit_reader import asked_in, read_calls
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.clock import passing
from lockgate.testing.loop_server import LoopServer
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, tool
from lockgate.testing.steps import Answer, Ask

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
FORM: dict[str, Any] = {"message": "Who?", "requestedSchema": SCHEMA}
SECRET: dict[str, Any] = {
    "message": "Enter it",
    "requestedSchema": {"properties": {"password": {"type": "string"}}},
}
SAMPLE: dict[str, Any] = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "Say it"}}],
    "maxTokens": 50,
}


def _asking(method: str, params: dict[str, Any], *, modern: bool = False) -> LoopServer:
    """A server whose tool asks for something first."""
    server = LoopServer(
        ScriptedServer((tool("ask"),), revisions=MODERN if modern else LEGACY, name="s")
    )
    if not modern:
        return server.on("tools/call", Ask(method, params), Answer(text="done"), tool="ask")
    wanted = {"k": {"method": method, "params": params}}
    first = Answer({"resultType": "input_required", "inputRequests": wanted})
    server.on("tools/call", Answer(text="done"), tool="ask")
    return server.on("tools/call", first, tool="ask", nth=1)


def _told(server: LoopServer) -> dict[str, Any]:
    """What the server got for what it asked."""
    for message in server.received:
        if "method" not in message:
            return message.get("result") or message["error"]
        answers = message.get("params", {}).get("inputResponses")
        if answers is not None:
            return answers["k"]
    raise AssertionError("the server got no answer")


@dataclass
class Asked:
    """Answers as it is told to, and keeps what it was asked."""

    answer: lockgate.ElicitAnswer
    seconds: float = 0.0
    seen: list[tuple[lockgate.Elicitation, lockgate.Occasion]] = field(
        default_factory=list[tuple[lockgate.Elicitation, lockgate.Occasion]]
    )

    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def __call__(
        self, asked: lockgate.Elicitation, occasion: lockgate.Occasion
    ) -> lockgate.ElicitAnswer:
        self.seen.append((asked, occasion))
        self.begun.set()
        await passing(self.seconds)
        return self.answer

    @property
    def services(self) -> Mapping[str, lockgate.Services]:
        return {"s": lockgate.Services(elicit=self)}


YES = lockgate.ElicitAnswer.accept({"name": "Ada"})


@asynccontextmanager
async def _gate(
    server: LoopServer,
    folder: Path,
    *,
    settings: Mapping[str, Any] | None = None,
    config: Mapping[str, Any] | None = None,
    said: Callable[[str], None] | None = None,
    **more: Any,
) -> AsyncGenerator[lockgate.Gate]:
    """A gate with that server, where every call is approved."""
    entry = lockgate.ServerSettings("s", lockgate.StdioEndpoint("run"), **(settings or {}))
    held = lockgate.Config(servers=(entry,), state_dir=folder / "state", **(config or {}))

    def connect(of: lockgate.ServerSettings) -> Transport:
        return server.transport(peer=of.name)

    around = replace(Surroundings(), connect=connect)
    options: dict[str, Any] = {"approvers": [ScriptedApprover.always(True)], **more}
    async with open_gate(held, surroundings=around, **options) as gate:
        yield gate


async def _call(gate: lockgate.Gate, **more: Any) -> lockgate.ToolResult:
    result = await gate.call("mcp__s__ask", {}, **more)
    assert isinstance(result, lockgate.ToolResult)
    return result


def _records(folder: Path) -> list[dict[str, Any]]:
    """What is on record of servers' questions, without times."""
    lines = [
        json.loads(line)
        for segment in sorted((folder / "state" / "audit").glob("*.jsonl"))
        for line in segment.read_text().splitlines()
    ]
    kept = ("server", "mode", "action", "reason", "tool", "call", "host", "model", "tokens")
    return [{k: r[k] for k in kept if r.get(k)} for r in lines if r.get("record") == "asked"]


@pytest.mark.parametrize("modern", [False, True])
async def test_a_programs_handler_answers(tmp_path: Path, modern: bool) -> None:
    """It is told the server, the tool and the call, and what it says goes to the server."""
    server, person = _asking("elicitation/create", FORM, modern=modern), Asked(YES)
    async with _gate(server, tmp_path, services=person.services) as gate:
        assert not (await _call(gate)).is_error
    assert _told(server) == {"action": "accept", "content": {"name": "Ada"}}
    ((asked, occasion),) = person.seen
    assert (asked.message, occasion.server, occasion.tool) == ("Who?", "s", "ask")
    (call,) = read_calls(tmp_path / "state" / "audit").calls
    assert occasion.call_id == call.decision.call


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.req("B-02")
async def test_every_question_is_on_record_without_its_words(tmp_path: Path, modern: bool) -> None:
    """Server, tool, call, mode and action; no message, no value."""
    server = _asking("elicitation/create", FORM, modern=modern)
    async with _gate(server, tmp_path, services=Asked(YES).services) as gate:
        await _call(gate)
    reading = read_calls(tmp_path / "state" / "audit")
    (call,) = reading.calls
    assert reading.faults == ()
    facts = {"server": "s", "mode": "form", "action": "accept", "tool": "ask"}
    assert _records(tmp_path) == [{**facts, "call": call.decision.call}]
    (kept,) = asked_in(call)
    assert (kept.mode, kept.action) == ("form", "accept")
    for segment in (tmp_path / "state" / "audit").glob("*.jsonl"):
        assert "Ada" not in segment.read_text()
        assert "Who?" not in segment.read_text()


async def test_services_can_be_a_function_of_the_name(tmp_path: Path) -> None:
    """None leaves it to the configuration."""
    person = Asked(YES)
    for found in (lockgate.Services(elicit=person), None):
        server = _asking("elicitation/create", FORM)

        def of(name: str, services: lockgate.Services | None = found) -> lockgate.Services | None:
            return services if name == "s" else None

        async with _gate(server, tmp_path, services=of) as gate:
            await _call(gate)
        assert ("action" in _told(server)) is (found is not None)
    assert len(person.seen) == 1


async def test_services_of_a_server_that_is_not_there_are_a_slip(tmp_path: Path) -> None:
    """By name, before anything is started; and so is what is no `Services`."""
    server = _asking("elicitation/create", FORM)
    with pytest.raises(LocalError, match="no server is called that"):
        async with _gate(server, tmp_path, services={"t": lockgate.Services()}):
            pass
    with pytest.raises(LocalError, match="must be a Services"):
        async with _gate(server, tmp_path, services={"s": 3}):
            pass
    assert server.connections == 0


@pytest.mark.req("S0-09")
async def test_a_gate_that_nobody_attends_declares_nothing(tmp_path: Path) -> None:
    """Also if the program has a handler: nobody is there whom it could ask."""
    server, person = _asking("elicitation/create", FORM), Asked(YES)
    approvers = [ScriptedApprover.always(True)]
    async with _gate(
        server,
        tmp_path,
        services=person.services,
        attended=False,
        unattended_approvers=approvers,
    ) as gate:
        await _call(gate)
    assert server.heard("initialize")[0]["params"]["capabilities"] == {}
    assert _told(server)["code"] == -32601
    assert person.seen == []


@pytest.mark.parametrize(
    ("policy", "offered"),
    [
        ("both", {"form": {}, "url": {}}),
        ("forms", {"form": {}}),
        ("addresses", {"url": {}}),
        ("none", None),
    ],
)
async def test_the_configuration_says_how_a_server_may_ask(
    tmp_path: Path, policy: str, offered: Any
) -> None:
    """A handler of the program's is not asked in a way that the operator has switched off."""
    server, person = _asking("elicitation/create", FORM), Asked(YES)
    settings = {"elicitation": lockgate.AskingPolicy(policy)}
    async with _gate(server, tmp_path, settings=settings, services=person.services) as gate:
        await _call(gate)
    capabilities = server.heard("initialize")[0]["params"]["capabilities"]
    assert capabilities.get("elicitation") == offered
    assert bool(person.seen) is (offered is not None and "form" in offered)


@pytest.mark.parametrize("modern", [False, True])
async def test_a_form_that_asks_for_a_secret_is_refused(
    tmp_path: Path, modern: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """client/elicitation: servers must not; nobody is asked, and everybody is told why."""
    server, person = _asking("elicitation/create", SECRET, modern=modern), Asked(YES)
    async with _gate(server, tmp_path, services=person.services) as gate:
        result = await _call(gate)
    assert person.seen == []
    assert 'asks for what looks like a secret, in the field "password"' in caplog.text
    assert _records(tmp_path)[0]["reason"] == "secret"
    if modern:
        assert result.is_error
        assert "must not ask for secrets" in str(result.content)
    else:
        assert _told(server)["code"] == -32602
        assert "must not ask for secrets" in _told(server)["message"]


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.req("S0-09")
async def test_nobody_waits_for_a_person_for_ever(tmp_path: Path, modern: bool) -> None:
    """After `answerWithin` the server is told that nobody answered."""
    server = _asking("elicitation/create", FORM, modern=modern)
    config = {"approvals": lockgate.ApprovalSettings(answer_within=0.1)}
    services = Asked(YES, seconds=30).services
    async with _gate(server, tmp_path, config=config, services=services) as gate:
        assert not (await _call(gate)).is_error
    assert _told(server) == {"action": "cancel"}
    assert _records(tmp_path)[0]["reason"] == "expired"


@pytest.mark.parametrize("modern", [False, True])
@pytest.mark.req("S3-21")
async def test_time_with_a_person_is_not_the_calls(tmp_path: Path, modern: bool) -> None:
    """A call with a quarter of a second may be about a question of half a second."""
    server = _asking("elicitation/create", FORM, modern=modern)
    services = Asked(YES, seconds=0.7).services
    async with _gate(server, tmp_path, services=services) as gate:
        assert not (await _call(gate, timeout=0.25)).is_error


@pytest.mark.parametrize("modern", [False, True])
async def test_a_call_that_is_cancelled_withdraws_its_question(
    tmp_path: Path, modern: bool
) -> None:
    """Whoever is asked is asked no more, and that is on record."""
    server, person = _asking("elicitation/create", FORM, modern=modern), Asked(YES, seconds=30)
    async with _gate(server, tmp_path, services=person.services) as gate:
        call = asyncio.create_task(_call(gate))
        async with asyncio.timeout(5):
            await person.begun.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    assert _records(tmp_path)[0]["action"] == "withdrawn"


async def test_a_server_that_asks_without_end_is_not_put_through(tmp_path: Path) -> None:
    """After 30 questions in ten minutes nobody is asked; a program is nobody's inbox."""
    server = LoopServer(ScriptedServer((tool("ask"),), revisions=LEGACY, name="s"))
    server.on("tools/call", *[Ask("elicitation/create", FORM)] * 32, Answer(text="done"))
    person = Asked(YES)
    async with _gate(server, tmp_path, services=person.services) as gate:
        await _call(gate)
    assert len(person.seen) == 30
    told = [m["result"]["action"] for m in server.received if "method" not in m]
    assert told == ["accept"] * 30 + ["cancel"] * 2
    assert _records(tmp_path)[-1]["reason"] == "too_many"


# ------------------------------------------------------------------ roots and models


async def test_roots_are_what_the_configuration_says(tmp_path: Path) -> None:
    """As file:// addresses, those that are there; without any, no such thing is declared."""
    (tmp_path / "a b").mkdir()
    server = _asking("roots/list", {})
    roots = (tmp_path / "a b", tmp_path / "gone")
    async with _gate(server, tmp_path, settings={"roots": roots}) as gate:
        await _call(gate)
    assert _told(server) == {"roots": [{"uri": f"file://{tmp_path}/a%20b", "name": "a b"}]}
    other = _asking("roots/list", {})
    async with _gate(other, tmp_path) as gate:
        await _call(gate)
    assert _told(other)["code"] == -32601
    assert "roots" not in other.heard("initialize")[0]["params"]["capabilities"]


def _model(folder: Path, *replies: Any) -> str:
    path = folder / "model.yaml"
    path.write_text(json.dumps(list(replies)))
    return f"scripted:{path}"


async def test_sampling_is_off_unless_it_is_switched_on(tmp_path: Path) -> None:
    """Nothing is declared, and what is asked all the same is refused."""
    server = _asking("sampling/createMessage", SAMPLE)
    async with _gate(server, tmp_path) as gate:
        await _call(gate)
    assert _told(server)["code"] == -32601


@pytest.mark.parametrize("modern", [False, True])
async def test_a_model_completes_within_its_limits(tmp_path: Path, modern: bool) -> None:
    """The operator said that nobody is asked: the text, the model's name, and on record."""
    server = _asking("sampling/createMessage", SAMPLE, modern=modern)
    name = _model(tmp_path, {"text": "It."})
    sampling = lockgate.SamplingSettings(name, ask=False)
    async with _gate(server, tmp_path, settings={"sampling": sampling}) as gate:
        await _call(gate)
    told = _told(server)
    assert (told["role"], told["content"]) == ("assistant", {"type": "text", "text": "It."})
    assert told["stopReason"] == "endTurn"
    (record,) = _records(tmp_path)
    assert (record["mode"], record["action"]) == ("sampling", "accept")
    assert record["model"] == told["model"]


async def test_the_hour_of_a_server_is_that_of_all_gates(tmp_path: Path) -> None:
    """Each `lockgate call` is a gate of its own, and a limit of each would be none."""
    sampling = lockgate.SamplingSettings(_model(tmp_path, {"text": "It."}), per_hour=1, ask=False)
    for code in (None, -32000):
        server = _asking("sampling/createMessage", SAMPLE)
        async with _gate(server, tmp_path, settings={"sampling": sampling}) as gate:
            await _call(gate)
        assert _told(server).get("code") == code


async def test_a_model_that_has_to_be_asked_about_needs_somebody(tmp_path: Path) -> None:
    """Where nobody can be asked it is not declared: a program asks in its own way."""
    server = _asking("sampling/createMessage", SAMPLE)
    sampling = lockgate.SamplingSettings(_model(tmp_path, {"text": "It."}))
    async with _gate(server, tmp_path, settings={"sampling": sampling}) as gate:
        await _call(gate)
    assert _told(server)["code"] == -32601


async def test_a_model_that_is_not_there_stops_the_start(tmp_path: Path) -> None:
    """Before a server is started."""
    server = _asking("sampling/createMessage", SAMPLE)
    sampling = lockgate.SamplingSettings(f"scripted:{tmp_path}/none.yaml", ask=False)
    with pytest.raises(ConfigError):
        async with _gate(server, tmp_path, settings={"sampling": sampling}):
            pass
    assert server.connections == 0


async def test_a_programs_own_sampling_is_on_record(tmp_path: Path) -> None:
    """What it does is its own; that it was asked is not."""

    async def sample(params: Mapping[str, Any], occasion: lockgate.Occasion) -> Mapping[str, Any]:
        raise lockgate.Refusal(-1, "no")

    server = _asking("sampling/createMessage", SAMPLE)
    services = {"s": lockgate.Services(sample=sample)}
    async with _gate(server, tmp_path, services=services) as gate:
        await _call(gate)
    assert _told(server) == {"code": -1, "message": "no"}
    assert _records(tmp_path)[0]["action"] == "refuse"
