"""What is made of a provider's failures: which kind, what to do, and no secret."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable

import pytest

from lockgate.agent.model import ModelRequest, UserMessage
from lockgate.agent.models.named import look_up
from lockgate.agent.models.patience import Patience
from lockgate.agent.models.providers.making import is_known, make_model
from lockgate.agent.models.providers.model import ProviderModel
from lockgate.errors import Fate, Fault, LocalError, PeerError
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.listening import free_port
from lockgate.testing.provider_server import KEY, ProviderServer
from lockgate.testing.provider_steps import Dropped, Held, Refused, Said, Step, failed

NAMES = ("openai:gpt-5", "openai-chat:gpt-5", "anthropic:claude-sonnet-4-6")
PROMPT = "the plan that nobody else is to know of"
GO = ModelRequest([UserMessage(PROMPT)])

Ask = Callable[..., ProviderModel]
every_wire = pytest.mark.parametrize("name", NAMES)


async def failing(model: ProviderModel, *, streamed: bool = False) -> PeerError:
    """The error of one reply, which holds neither a key nor a prompt, nor points to who does."""
    with pytest.raises(PeerError) as caught:
        await model.reply(GO, (lambda text: None) if streamed else None)
    told = "".join(traceback.format_exception(caught.value, chain=True))
    assert KEY not in told
    assert PROMPT not in told
    assert caught.value.__cause__ is None
    assert caught.value.peer == model.name
    return caught.value


@every_wire
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("status", "code", "message", "fault", "text"),
    [
        (401, "invalid_api_key", f"Incorrect API key provided: {KEY}", "unauthorized", "_API_KEY"),
        (403, "permission_denied", "no", "unauthorized", "may not use this model"),
        (404, "model_not_found", "no such model", "refused", "has no model"),
        (400, "invalid_request_error", "temperature is not supported", "refused", "temperature is"),
        (400, "invalid_request_error", f"can not read: {PROMPT}", "refused", "repeat what it was"),
        (400, "invalid_request_error", f"bad key {KEY}", "refused", "HTTP 400"),
        (402, "billing_error", "pay", "rate_limited", "quota or credit"),
        (413, "request_too_large", "too large", "refused", "too large"),
    ],
)
async def test_what_will_not_pass_is_told_at_once(
    name: str,
    streamed: bool,
    status: int,
    code: str,
    message: str,
    fault: str,
    text: str,
    server: ProviderServer,
    ask: Ask,
    waits: list[float],
) -> None:
    """Nobody is asked twice for what would be refused again."""
    server.then(failed(status, message, code))
    error = await failing(ask(name), streamed=streamed)
    assert (error.fault.value, error.code, error.fate) == (fault, status, Fate.ANSWERED)
    assert text in str(error)
    assert (len(server.heard), waits) == (1, [])


@pytest.mark.parametrize(
    ("name", "message", "code"),
    [
        ("openai:gpt-5", "Your input exceeds the context window", "context_length_exceeded"),
        ("openai-chat:gpt-5", "maximum context length is 8192", "context_length_exceeded"),
        (
            "anthropic:claude-sonnet-4-6",
            "prompt is too long: 250000 tokens > 200000 maximum",
            "invalid_request_error",
        ),
    ],
)
async def test_a_conversation_that_is_too_long_is_told_as_such(
    name: str, message: str, code: str, server: ProviderServer, ask: Ask
) -> None:
    """With what to do, and a kind of its own: nothing else helps."""
    server.then(failed(400, message, code))
    error = await failing(ask(name))
    assert error.fault is Fault.TOO_LARGE
    assert "longer than this model reads" in str(error)


@every_wire
@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    "step", [failed(500, "oops"), failed(503, "busy"), failed(529, "overloaded"), Dropped()]
)
async def test_what_may_pass_is_asked_for_again(
    name: str, streamed: bool, step: Step, server: ProviderServer, ask: Ask, waits: list[float]
) -> None:
    """After a wait that doubles; the library's own client makes one try only."""
    server.then(step, step, Said("there"))
    reply = await ask(name).reply(GO, (lambda text: None) if streamed else None)
    assert reply.text == "there"
    assert waits == [0.5, 1.0]
    assert len(server.heard) == 3


@every_wire
async def test_a_provider_says_when_it_wants_to_be_asked(
    name: str, server: ProviderServer, ask: Ask, waits: list[float]
) -> None:
    """`retry-after` counts, up to what anybody would wait."""
    server.then(failed(429, "slow down", "rate_limit_exceeded", retry_after="7"), Said("there"))
    assert (await ask(name).reply(GO)).text == "there"
    assert waits == [7.0]
    server.then(failed(429, "slow down", "rate_limit_exceeded", retry_after="3600"))
    error = await failing(ask(name))
    assert (error.fault, error.retry_after) == (Fault.RATE_LIMITED, 3600.0)
    assert len(waits) == 1


@every_wire
async def test_a_provider_that_does_not_say_when_is_asked_again_all_the_same(
    name: str, server: ProviderServer, ask: Ask, waits: list[float]
) -> None:
    """Many send no `retry-after`, or none that can be read."""
    server.then(failed(429, "slow down"), failed(429, "no", retry_after="soon"), Said("there"))
    assert (await ask(name).reply(GO)).text == "there"
    assert waits == [0.5, 1.0]
    server.then(failed(429, "slow down"))
    error = await failing(ask(name, Patience(tries=1)))
    assert (error.fault, error.retry_after) == (Fault.RATE_LIMITED, None)
    assert str(error).endswith("too many requests")


@every_wire
async def test_tries_are_bounded(
    name: str, server: ProviderServer, ask: Ask, waits: list[float]
) -> None:
    """The last failure is told."""
    server.then(*[failed(500, "oops")] * 9)
    error = await failing(ask(name, Patience(tries=3)))
    assert (error.fault, error.code) == (Fault.REFUSED, 500)
    assert (len(server.heard), len(waits)) == (3, 2)


@every_wire
@pytest.mark.parametrize("broken", ["reset", "end"])
async def test_a_stream_that_breaks_off_is_no_reply(
    name: str, broken: str, server: ProviderServer, ask: Ask
) -> None:
    """Not even when the connection ends as if that were all. Once text was told it is not asked for
    again: it would be told twice."""
    steps = {"openai:gpt-5": 5, "openai-chat:gpt-5": 3, "anthropic:claude-sonnet-4-6": 4}
    said = Said("One. Two. Three. Four. Five.", broken_after=steps[name])
    server.then(Said(said.text, broken_after=said.broken_after, broken=broken))  # pyright: ignore[reportArgumentType] - one of the two words
    heard: list[str] = []
    with pytest.raises(PeerError, match="broke off") as caught:
        await ask(name).reply(GO, heard.append)
    assert caught.value.fault is Fault.CLOSED
    assert 0 < len("".join(heard)) < len(said.text)
    assert len(server.heard) == 1


@every_wire
@pytest.mark.parametrize("broken", ["reset", "end"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_stream_that_breaks_off_before_any_text_is_asked_for_again(
    name: str, broken: str, streamed: bool, server: ProviderServer, ask: Ask
) -> None:
    """Nobody has seen anything of it. What the library streams by itself is held to the same."""
    server.then(Said("One.", broken_after=1, broken=broken), Said("Whole."))  # pyright: ignore[reportArgumentType] - one of the two words
    heard: list[str] = []
    reply = await ask(name).reply(GO, heard.append if streamed else None)
    whole_at_once = not streamed and name.startswith("openai")
    assert reply.text == ("One." if whole_at_once else "Whole.")
    assert "".join(heard) == ("Whole." if streamed else "")


async def test_a_provider_that_is_not_there_was_sent_nothing(waits: list[float]) -> None:
    """The address is told: it may be the wrong one."""
    environ = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"http://127.0.0.1:{free_port()}/v1"}
    named = look_up("openai-chat:gpt-5", environ, is_known)
    model = make_model(named, patience=Patience(tries=1))
    error = await failing(model)
    await model.close()
    assert (error.fault, error.fate) == (Fault.NOT_CONNECTED, Fate.NOT_SENT)
    assert environ["OPENAI_BASE_URL"] in str(error)


@pytest.mark.parametrize("name", ["openai-chat:gpt-5", "anthropic:claude-sonnet-4-6"])
async def test_what_is_secret_in_an_address_is_not_told(name: str, server: ProviderServer) -> None:
    """Who may ask there: neither where the address is told, nor in the provider's own words."""
    hidden = "hunter2-of-the-proxy"
    there = server.address.replace("//", f"//me:{hidden}@")
    nowhere = f"http://me:{hidden}@127.0.0.1:{free_port()}"
    server.then(failed(404, "no such model"), failed(400, f"what is {hidden}?"))
    for address, words in ((there, server.address), (there, "HTTP 400"), (nowhere, "reached at")):
        environ = {"OPENAI_BASE_URL": f"{address}/v1", "ANTHROPIC_BASE_URL": address}
        environ |= {"ANTHROPIC_API_KEY": KEY}
        model = make_model(look_up(name, environ, is_known), patience=Patience(tries=1))
        error = await failing(model)
        await model.close()
        assert words in str(error)
        assert hidden not in str(error)


@every_wire
async def test_an_answer_that_can_not_be_read_is_malformed(
    name: str, server: ProviderServer, ask: Ask
) -> None:
    """Such as that of a server which is no provider."""
    server.then(*[Refused(200, {"hello": "world"})] * 4)
    error = await failing(ask(name, Patience(tries=1)))
    assert error.fault in (Fault.MALFORMED, Fault.CLOSED)


@every_wire
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_reply_has_its_time(
    name: str, streamed: bool, server: ProviderServer, ask: Ask
) -> None:
    """All tries together; the connection is closed."""
    server.then(Held())
    error = await failing(ask(name, Patience(within=0.2)), streamed=streamed)
    assert error.fault is Fault.TIMEOUT
    assert "0.2 s" in str(error)
    await server.quiet()


@every_wire
@pytest.mark.parametrize("streamed", [False, True])
async def test_a_cancellation_closes_the_connection(
    name: str, streamed: bool, server: ProviderServer, ask: Ask
) -> None:
    """It passes, and the provider writes for nobody."""
    server.then(Held())
    asking = asyncio.ensure_future(ask(name).reply(GO, (lambda text: None) if streamed else None))
    await server.asked(1)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    await server.quiet()


@every_wire
async def test_what_is_closed_leaves_nothing(name: str, server: ProviderServer) -> None:
    """Connections are kept between requests, and no longer than the model."""
    before = Belongings.now()
    model = make_model(look_up(name, server.environ, is_known))
    await model.reply(GO)
    await model.reply(GO, lambda text: None)
    assert server.connections == 1
    await model.close()
    await model.close()
    await server.left()
    assert await left_since(before) == ()
    with pytest.raises(LocalError, match="closed"):
        await model.reply(GO)


async def test_many_may_ask_at_once(server: ProviderServer, ask: Ask) -> None:
    """One model serves an agent and its children."""
    model = ask("openai-chat:gpt-5")
    replies = await asyncio.gather(*(model.reply(GO) for _ in range(5)))
    assert [reply.text for reply in replies] == ["done"] * 5
