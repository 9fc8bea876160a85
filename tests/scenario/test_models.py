"""A whole agent on models of providers: an agent's turns, its sessions and the command line."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import lockgate
from lockgate.agent.events import Event, ModelWrites, TurnStarted
from lockgate.agent.models.tuning import Tuning
from lockgate.agent.run import RunStatus
from lockgate.app.build import Surroundings
from lockgate.app.gate import Gate
from lockgate.content import Image
from lockgate.errors import ConfigError
from lockgate.testing.anthropic_wire import SIGNATURE
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.openai_responses_wire import ENCRYPTED
from lockgate.testing.project import Project
from lockgate.testing.provider_server import KEY, ProviderServer
from lockgate.testing.provider_steps import Held, Said, SaidCall, failed
from lockgate.testing.script import ScriptedServer
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ToolResult

NAMES = ["openai:gpt-5", "openai-chat:gpt-5", "anthropic:claude-sonnet-4-6"]
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 24).decode()

every_wire = pytest.mark.parametrize("name", NAMES)


@lockgate.tool(level="read-only")
def weather(city: str) -> str:
    """Say what the weather is."""
    return f"rain in {city}"


@lockgate.tool(level="read-only")
def chart() -> ToolResult:
    """Draw a chart."""
    return ToolResult((Image(PNG, "image/png"),))


@lockgate.tool(level="mutating", destructive=True)
def erase(path: str) -> str:
    """Erase it."""
    return f"{path} is gone"


@pytest.fixture
async def server() -> AsyncIterator[ProviderServer]:
    """The provider."""
    async with ProviderServer() as open_server:
        yield open_server


@asynccontextmanager
async def a_gate(server: ProviderServer, directory: Path, name: str) -> AsyncGenerator[Gate]:
    """A gate with the three tools, whose agents have the model of `name`; nobody is there."""
    environ = {**server.environ, "HOME": str(directory), "XDG_STATE_HOME": str(directory)}
    config = lockgate.Config(agent=lockgate.AgentSettings(model=name), state_dir=directory)
    around = Surroundings(environ=environ, cwd=directory)
    async with lockgate.open(
        config, tools=[weather, chart, erase], surroundings=around, attended=False
    ) as gate:
        yield gate


@every_wire
async def test_a_turn_with_calls_side_by_side(
    name: str, server: ProviderServer, tmp_path: Path
) -> None:
    """A model's calls go down the road like any other, and it reads what came of each: a result, an
    image, a refusal. Its text is told as it comes, what it cost is counted."""
    server.then(
        Said(
            "I look.",
            (
                SaidCall("weather", '{"city": "Oslo"}', "c1"),
                SaidCall("chart", "{}", "c2"),
                SaidCall("erase", '{"path": "/"}', "c3"),
            ),
            thinking="Hmm, well.",
            input=100,
            output=20,
        ),
        Said("It rains in Oslo.", input=150, output=10, cached=90),
    )
    seen: list[Event] = []
    async with a_gate(server, tmp_path, name) as gate:
        result = await gate.agent().run("What is it like?", sink=seen.append)
    assert (result.status, result.text) == (RunStatus.ANSWERED, "It rains in Oslo.")
    assert [made.tool for made in result.calls] == ["weather", "chart", "erase"]
    refused = result.calls[2].result
    assert isinstance(refused, ToolResult)
    assert refused.kind is lockgate.ErrorKind.NOT_APPROVED
    assert (result.usage.input, result.usage.output, result.usage.cached) == (250, 30, 90)
    told = "".join(event.text for event in seen if isinstance(event, ModelWrites))
    assert told == "I look.It rains in Oslo."
    first, second = (json.dumps(heard.body) for heard in server.heard)
    assert all(f'"{tool}"' in first for tool in ("weather", "chart", "erase"))
    assert "rain in Oslo" in second
    assert PNG in second
    assert second.index('"c1"') < second.index('"c2"') < second.index('"c3"')
    if name != "openai-chat:gpt-5":
        assert (SIGNATURE if name.startswith("anthropic") else ENCRYPTED) in second


@every_wire
async def test_names_that_a_model_made_up_end_no_session(
    name: str, server: ProviderServer, tmp_path: Path
) -> None:
    """No provider takes them back: it is sent others, and the model is told what it wrote. What was
    written stands in the result."""
    made_up = ["bad name!", "x" * 300, "", "a\nb", "look.now"]
    ids = ["c1", "functions.look:0", "i" * 200, "c4", "c5"]
    calls = tuple(SaidCall(tool, "{}", id) for tool, id in zip(made_up, ids, strict=True))
    server.then(Said("", calls, thinking="Hmm, well."), Said("No such tools."), Said("Still here."))
    async with a_gate(server, tmp_path, name) as gate:
        agent = gate.agent()
        result = await agent.run("Go.")
        assert (result.status, result.text) == (RunStatus.ANSWERED, "No such tools.")
        assert [made.tool for made in result.calls] == made_up
        assert (await agent.run("Are you there?")).text == "Still here."
    sent = json.dumps(server.heard[1].body)
    assert sent.count("no_such_tool") >= len(made_up)
    assert "bad name!" in sent
    if name != "openai-chat:gpt-5":
        assert (SIGNATURE if name.startswith("anthropic") else ENCRYPTED) in sent


@every_wire
async def test_a_session_that_is_kept_goes_on_in_another_gate(
    name: str, server: ProviderServer, tmp_path: Path
) -> None:
    """With what the provider wants back of it, which was written with the session."""
    if name == "openai-chat:gpt-5":
        server.then(Said("One.", thinking="Hmm, well."))
    else:
        server.then(Said("One.", thinking="Hmm, well."), Said("Two."))
    async with a_gate(server, tmp_path, name) as gate:
        agent = gate.agent()
        await agent.run("First.")
        session = agent.session_id
        await agent.close()
    async with a_gate(server, tmp_path, name) as gate:
        agent = gate.agent(session=session)
        assert (await agent.run("Second.")).answered
        await agent.close()
    sent = json.dumps(server.heard[-1].body)
    assert sent.index("First.") < sent.index("One.") < sent.index("Second.")
    if name != "openai-chat:gpt-5":
        assert (SIGNATURE if name.startswith("anthropic") else ENCRYPTED) in sent


@every_wire
@pytest.mark.parametrize(
    ("status", "code", "message", "reason", "words"),
    [
        (401, "invalid_api_key", f"Incorrect API key: {KEY}", "unauthorized", "_API_KEY"),
        (400, "context_length_exceeded", "prompt is too long: 9 tokens > 8", "too_large", "longer"),
    ],
)
async def test_a_provider_that_fails_ends_the_turn(
    name: str,
    status: int,
    code: str,
    message: str,
    reason: str,
    words: str,
    server: ProviderServer,
    tmp_path: Path,
) -> None:
    """With a reason for programs and words for people, and the session goes on after it."""
    code = "invalid_request_error" if name.startswith("anthropic") else code
    server.then(failed(status, message, code), Said("There."))
    async with a_gate(server, tmp_path, name) as gate:
        agent = gate.agent()
        result = await agent.run("Go.")
        assert (result.status, result.reason) == (RunStatus.MODEL_FAILED, reason)
        assert words in result.detail
        assert KEY not in result.detail
        assert (await agent.run("Again.")).text == "There."


@every_wire
async def test_a_reply_that_was_cut_off_is_no_answer(
    name: str, server: ProviderServer, tmp_path: Path
) -> None:
    """And none of its calls is made, however much of it can be read."""
    cut = Said("I", (SaidCall("weather", '{"city": "Os'),), finish="length")
    server.then(cut, Said("Shorter."))
    async with a_gate(server, tmp_path, name) as gate:
        result = await gate.agent().run("Go.")
    assert result.text == "Shorter."
    assert [made.result.kind for made in result.calls if isinstance(made.result, ToolResult)] == [
        lockgate.ErrorKind.SKIPPED
    ]


@every_wire
@pytest.mark.parametrize(
    "said",
    [
        Said("Half \ud83d.", thinking="a \ud83d"),
        Said("One.", thinking="half \ud83d"),
        Said("", (SaidCall("weather", '{"city": "\\ud83d"}'),)),
        Said("", (SaidCall("weather", '{"city": ' * 400 + "1" + "}" * 400),)),
        Said("", (SaidCall("weath\ud83d", "{}"),)),
        Said("", (SaidCall("weather", '{"city": "Oslo"}', "c\ud83d"),)),
    ],
)
async def test_what_no_request_can_hold_ends_no_session(
    name: str, said: Said, server: ProviderServer, tmp_path: Path
) -> None:
    """A model can write half a surrogate pair, or nest too deep, and no request can be made with
    that: it is replaced in what is sent from then on, also when the session goes on elsewhere."""
    server.then(said)
    async with a_gate(server, tmp_path, name) as gate:
        agent = gate.agent()
        assert (await agent.run("First \udcff.")).answered
        assert (await agent.run("Second.")).text == "done"
        await agent.close()
        assert (await gate.agent(session=agent.session_id).run("Third.")).text == "done"


@every_wire
async def test_an_interrupt_hangs_up_on_the_provider(
    name: str, server: ProviderServer, tmp_path: Path
) -> None:
    """Nothing of the gate is left when it is closed."""
    server.then(Held())
    before = Belongings.now()
    token = InterruptToken()
    async with a_gate(server, tmp_path, name) as gate:

        def begun(event: Event) -> None:
            if isinstance(event, TurnStarted):
                waiting.append(asyncio.ensure_future(_interrupt(server, token)))

        waiting: list[asyncio.Future[None]] = []
        result = await gate.agent().run("Go.", interrupt=token, sink=begun)
        assert result.status is RunStatus.INTERRUPTED
        await server.quiet()
        await asyncio.gather(*waiting)
    await server.left()
    assert await left_since(before) == ()


async def _interrupt(server: ProviderServer, token: InterruptToken) -> None:
    await server.asked(1)
    token.interrupt()


def test_a_run_without_a_key_says_what_to_set(project: Project) -> None:
    """Exit code 2, and nothing is started or asked."""
    ledger = project.add("s", ScriptedServer())
    for provider, key in (
        ("anthropic", "ANTHROPIC_API_KEY"),
        ("openai", "OPENAI_API_KEY"),
        ("azure", "AZURE_OPENAI_ENDPOINT"),
    ):
        done = project.run("run", "--model", f"{provider}:m", "hello")
        assert done.returncode == 2
        assert "set " in done.stderr
        assert key in done.stderr
    assert ledger.entries("start") == ()


def test_doctor_looks_at_the_model(project: Project) -> None:
    """At its key, and at what the provider's library knows; the provider is not asked."""
    for name, environ, words in (
        ("anthropic:m", {}, "ANTHROPIC_API_KEY"),
        ("openrouter:m", {"OPENROUTER_API_KEY": KEY}, "must be prefixed"),
        ("openrouter:a/m", {"OPENROUTER_API_KEY": KEY}, None),
    ):
        project.sections["agent"] = {"model": name}
        done = project.run("doctor", env=environ)
        assert done.returncode == (0 if words is None else 1), done.stdout
        assert ("PROBLEM  agent.model: " in done.stdout) == (words is not None)
        assert (words or "") in done.stdout
        assert KEY not in done.stdout + done.stderr
    project.add("s", ScriptedServer(), sampling={"model": "openrouter:m"})
    done = project.run("doctor", env={"OPENROUTER_API_KEY": KEY})
    assert done.returncode == 1
    assert "PROBLEM  server s: the model 'openrouter:m' can not be used here" in done.stdout


async def test_a_run_on_the_command_line(project: Project, server: ProviderServer) -> None:
    """The answer of a live model on standard output; its key and address from the environment."""
    server.then(Said("Hello to you."))
    done = await asyncio.to_thread(
        project.run,
        "run",
        "--model",
        "anthropic:claude-sonnet-4-6",
        "hello",
        env=server.environ,
        named=False,
    )
    assert (done.returncode, done.stdout) == (0, "Hello to you.\n")
    assert any(KEY in value for value in server.heard[0].headers.values())
    assert KEY not in done.stderr


async def test_a_provider_that_fails_on_the_command_line(
    project: Project, server: ProviderServer
) -> None:
    """Exit code 5, and the words of it."""
    server.then(failed(401, "no", "authentication_error"))
    done = await asyncio.to_thread(
        project.run, "run", "--model", "openai:gpt-5", "hello", env=server.environ, named=False
    )
    assert done.returncode == 5
    assert "OPENAI_API_KEY" in done.stderr


def test_the_library_is_loaded_for_those_who_name_such_a_model_alone(tmp_path: Path) -> None:
    """Neither an agent on a script nor a look at a name with its key costs its second, nor an agent
    that was asked nothing yet."""
    code = """
        import asyncio, sys
        import lockgate
        from lockgate.app.models import check_model

        async def main():
            async with lockgate.open(lockgate.Config()) as gate:
                await gate.agent(model=lockgate.ScriptedModel([])).run("go")
                gate.agent(model="ollama:m")
            check_model("anthropic:m", {"ANTHROPIC_API_KEY": "k"})

        asyncio.run(main())
        print(sorted({"pydantic_ai", "openai", "anthropic", "httpx2"} & set(sys.modules)))
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        cwd=tmp_path,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "OLLAMA_BASE_URL": "http://localhost:1/v1",
        },
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


async def test_what_only_a_providers_library_knows_is_told_with_the_first_reply(
    tmp_path: Path,
) -> None:
    """To a program, whose loop is not held up before; `lockgate run` looks before it starts."""
    environ = {"OPENROUTER_API_KEY": KEY, "HOME": str(tmp_path)}
    around = Surroundings(environ=environ, cwd=tmp_path)
    async with lockgate.open(
        lockgate.Config(state_dir=tmp_path), surroundings=around, attended=False
    ) as gate:
        with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
            gate.agent(model="openai:m")
        result = await gate.agent(model="openrouter:m").run("Go.")
    assert (result.status, result.reason) == (RunStatus.MODEL_FAILED, "unsupported")
    assert "must be prefixed" in result.detail


async def test_what_models_are_to_write_is_in_the_configuration(
    server: ProviderServer, tmp_path: Path
) -> None:
    """For each model that an agent names."""
    settings = lockgate.AgentSettings(model="anthropic:claude-haiku-4-5", tuning=Tuning(5000))
    around = Surroundings(environ={**server.environ, "HOME": str(tmp_path)}, cwd=tmp_path)
    config = lockgate.Config(agent=settings, state_dir=tmp_path)
    async with lockgate.open(config, surroundings=around, attended=False) as gate:
        await gate.agent().run("go")
        await gate.agent(model="openai-chat:gpt-4o").run("go")
    assert [
        heard.body.get("max_tokens") or heard.body.get("max_completion_tokens")
        for heard in server.heard
    ] == [5000, 5000]
