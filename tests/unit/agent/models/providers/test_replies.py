"""What a provider says, as the loop gets it, in each wire format and both ways of sending it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lockgate.agent.model import ModelReply, ModelRequest, ToolCall, Usage, UserMessage
from lockgate.agent.models.providers.model import ProviderModel
from lockgate.errors import Fault, PeerError
from lockgate.testing.provider_server import ProviderServer
from lockgate.testing.provider_steps import Said, SaidCall

NAMES = (
    "openai:gpt-5",
    "openai-chat:gpt-5",
    "anthropic:claude-sonnet-4-6",  # whose replies may be long: the library streams them by itself
)
WHOLE = "anthropic:claude-3-haiku-20240307"
"""Whose replies are short enough to come whole."""
GO = ModelRequest([UserMessage("go")])

pytestmark = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
every_wire = pytest.mark.parametrize("name", [*NAMES, WHOLE])


async def replied(
    model: ProviderModel, streamed: bool, request: ModelRequest = GO
) -> tuple[ModelReply, list[str]]:
    """The reply, and what was heard of it."""
    heard: list[str] = []
    return await model.reply(request, heard.append if streamed else None), heard


@every_wire
async def test_text_is_told_as_it_comes(
    name: str, streamed: bool, server: ProviderServer, ask: Callable[[str], ProviderModel]
) -> None:
    """What was heard is the text of the reply; without anybody who hears, it comes whole."""
    server.then(Said("Three commits this week."))
    reply, heard = await replied(ask(name), streamed)
    assert reply.text == "Three commits this week."
    assert not reply.cut_off
    assert "".join(heard) == (reply.text if streamed else "")
    assert len(heard) > 1 or not streamed


@every_wire
async def test_calls_of_one_id_are_two_calls(
    name: str, streamed: bool, server: ProviderServer, ask: Callable[[str], ProviderModel]
) -> None:
    """A careless provider gives an id twice; the loop gives ids of its own then."""
    server.then(Said(calls=(SaidCall("a", '{"n": 1}'), SaidCall("b", '{"n": 2}'))))
    reply, _ = await replied(ask(name), streamed)
    assert [(call.name, call.arguments["n"]) for call in reply.calls] == [("a", 1), ("b", 2)]


@every_wire
async def test_calls_come_side_by_side(
    name: str, streamed: bool, server: ProviderServer, ask: Callable[[str], ProviderModel]
) -> None:
    """Several calls in one reply keep their order, their ids and the exact values."""
    big = 2**70
    server.then(
        Said(
            "I look.",
            (
                SaidCall("a", f'{{"n": {big}, "deep": [{{"x": 1.5}}]}}', "c1"),
                SaidCall("b", "{}", "c2"),
            ),
        )
    )
    reply, _ = await replied(ask(name), streamed)
    assert reply.calls == (
        ToolCall("c1", "a", {"n": big, "deep": [{"x": 1.5}]}),
        ToolCall("c2", "b", {}),
    )


@every_wire
async def test_usage_counts_what_came_from_the_cache(
    name: str, streamed: bool, server: ProviderServer, ask: Callable[[str], ProviderModel]
) -> None:
    """`input` is everything that was read, `cached` a part of it, whatever the wire adds up."""
    server.then(Said("ok", input=120, output=7, cached=100))
    reply, _ = await replied(ask(name), streamed)
    assert reply.usage == Usage(120, 7, 100)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("written", ['{"a": ', "[1]", '"text"', "{'a': 1}", '{"a": NaN}'])
async def test_arguments_that_are_no_object_are_a_fault(
    name: str,
    streamed: bool,
    written: str,
    server: ProviderServer,
    ask: Callable[[str], ProviderModel],
) -> None:
    """Such a call is told with what is wrong with it, and never with what it might have meant."""
    server.then(Said(calls=(SaidCall("a", written),)))
    reply, _ = await replied(ask(name), streamed)
    (call,) = reply.calls
    assert (call.name, call.arguments) == ("a", {})
    assert call.fault is not None
    assert "no JSON object" in call.fault


@every_wire
async def test_a_reply_that_met_a_limit_is_cut_off(
    name: str, streamed: bool, server: ProviderServer, ask: Callable[[str], ProviderModel]
) -> None:
    """Its text is told, and that it is not whole."""
    server.then(Said("and then", finish="length"))
    reply, _ = await replied(ask(name), streamed)
    assert (reply.text, reply.cut_off) == ("and then", True)


@every_wire
async def test_what_a_filter_stopped_is_no_answer(
    name: str, streamed: bool, server: ProviderServer, ask: Callable[[str], ProviderModel]
) -> None:
    """A reply that the provider withholds fails, and is not asked for again."""
    server.then(Said("I can", finish="filter"))
    with pytest.raises(PeerError, match="filter") as caught:
        await replied(ask(name), streamed)
    assert caught.value.fault is Fault.REFUSED
    assert caught.value.final
    assert len(server.heard) == 1


@every_wire
async def test_a_reply_may_be_bounded(
    name: str, streamed: bool, server: ProviderServer, ask: Callable[[str], ProviderModel]
) -> None:
    """`max_tokens` is sent, in the wire's own word."""
    await replied(ask(name), streamed, ModelRequest([UserMessage("go")], max_tokens=99))
    words = ("max_tokens", "max_completion_tokens", "max_output_tokens")
    assert 99 in [server.heard[0].body.get(word) for word in words]


@every_wire
@pytest.mark.parametrize(
    "said",
    [Said("a" * 2000), Said(calls=(SaidCall("a", '{"x": "' + "a" * 2000 + '"}'),))],
    ids=["text", "arguments"],
)
async def test_a_reply_that_has_no_end_is_not_taken(
    name: str, streamed: bool, said: Said, server: ProviderServer, ask: Callable[..., ProviderModel]
) -> None:
    """Its characters are bounded, not only its time; nothing is asked again."""
    server.then(said)
    with pytest.raises(PeerError, match="more than 1,000 characters") as caught:
        await replied(ask(name, most=1000), streamed)
    assert caught.value.fault is Fault.MALFORMED
    assert len(server.heard) == 1
