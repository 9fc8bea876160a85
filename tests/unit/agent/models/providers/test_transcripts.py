"""What a model is sent of a transcript: images both ways, errors, tools, and what it wants back."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from lockgate.agent.model import (
    Message,
    ModelReply,
    ModelRequest,
    ToolAnswer,
    ToolCall,
    UserMessage,
)
from lockgate.agent.models.providers.model import ProviderModel
from lockgate.content import Audio, EmbeddedResource, Image, ResourceLink, Text
from lockgate.testing.anthropic_wire import SIGNATURE
from lockgate.testing.openai_responses_wire import ENCRYPTED
from lockgate.testing.provider_server import ProviderServer
from lockgate.testing.provider_steps import Said, SaidCall
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.result import ErrorKind, ToolResult

NAMES = ("openai:gpt-5", "openai-chat:gpt-5", "anthropic:claude-sonnet-4-6")
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 24).decode()
IMAGE = Image(PNG, "image/png")
CALL = ToolCall("c1", "look", {"at": "it"})

Ask = Callable[[str], ProviderModel]


def answered(*content: Any) -> list[Message]:
    """A transcript that ends with the result of a call."""
    result = ToolResult(tuple(content))
    return [UserMessage("go"), ModelReply("I look.", (CALL,)), ToolAnswer("c1", "look", result)]


async def body(
    model: ProviderModel, server: ProviderServer, transcript: list[Message], **more: Any
) -> Mapping[str, Any]:
    """What the provider was sent."""
    await model.reply(ModelRequest(transcript, **more))
    return server.heard[-1].body


def spread(value: object) -> str:
    """A body as text, to look for what is in it wherever the wire has it."""
    return json.dumps(value)


@pytest.mark.parametrize("name", NAMES)
async def test_a_person_shows_an_image(name: str, server: ProviderServer, ask: Ask) -> None:
    """It is sent as an image, after the text, byte for byte."""
    sent = spread(await body(ask(name), server, [UserMessage("What is this?", (IMAGE,))]))
    assert sent.index("What is this?") < sent.index(PNG)
    assert "image/png" in sent


@pytest.mark.parametrize("name", NAMES)
async def test_a_tool_gives_an_image(name: str, server: ProviderServer, ask: Ask) -> None:
    """It reaches the model as an image, beside what the tool said."""
    sent = spread(await body(ask(name), server, answered(Text("a chart"), IMAGE)))
    assert "a chart" in sent
    assert PNG in sent


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "block",
    [
        Image("not base64!", "image/png"),
        Image(PNG, "image/x-raw"),
        Audio(PNG, "audio/wav"),
        EmbeddedResource("file:///a.bin", blob=PNG, mime_type="application/zip"),
        ResourceLink("file:///a.txt", "a.txt"),
    ],
)
async def test_what_a_model_does_not_read_is_told_in_words(
    name: str, block: Any, server: ProviderServer, ask: Ask
) -> None:
    """Nothing is sent that the provider would refuse the whole request for."""
    words = json.dumps(block.as_text())[1:-1]
    sent = spread(await body(ask(name), server, answered(block)))
    assert words in sent
    assert PNG not in sent
    sent = spread(await body(ask(name), server, [UserMessage("See.", (block,))]))
    assert words in sent
    assert PNG not in sent


@pytest.mark.parametrize("name", NAMES)
async def test_a_document_is_sent_as_one(name: str, server: ProviderServer, ask: Ask) -> None:
    """A PDF that a person attached; a resource of text is text."""
    pdf = EmbeddedResource("file:///a.pdf", blob=PNG, mime_type="application/pdf")
    text = EmbeddedResource("file:///b.txt", text="its words", mime_type="text/plain")
    sent = spread(await body(ask(name), server, [UserMessage("Read.", (pdf, text))]))
    assert PNG in sent
    assert "its words" in sent


async def test_an_error_of_a_tool_is_told_as_one(server: ProviderServer, ask: Ask) -> None:
    """By the wire's own mark, where it has one."""
    denied = ToolResult.error(ErrorKind.DENIED, "a rule says no")
    transcript: list[Message] = [
        UserMessage("go"),
        ModelReply("", (CALL,)),
        ToolAnswer("c1", "look", denied),
    ]
    sent = await body(ask("anthropic:claude-sonnet-4-6"), server, transcript)
    (result,) = sent["messages"][-1]["content"]
    assert (result["is_error"], result["tool_use_id"]) == (True, "c1")
    assert "a rule says no" in spread(await body(ask("openai-chat:gpt-5"), server, transcript))


@pytest.mark.parametrize("name", NAMES)
async def test_turns_alternate_and_each_call_has_its_answer(
    name: str, server: ProviderServer, ask: Ask
) -> None:
    """Replies that say nothing are left out, and what follows one reply is one message: providers
    refuse anything else."""
    other = ToolCall("c2", "look", {})
    nothing = ToolResult()
    transcript: list[Message] = [
        UserMessage("one"),
        ModelReply(""),
        UserMessage("two"),
        ModelReply("  ", (CALL, other)),
        ToolAnswer("c1", "look", nothing),
        ToolAnswer("c2", "look", ToolResult.of("seen")),
        UserMessage("three"),
    ]
    sent = await body(ask(name), server, transcript)
    if name.startswith("anthropic"):
        roles = [message["role"] for message in sent["messages"]]
        assert roles == ["user", "assistant", "user"]
        kinds = [block["type"] for block in sent["messages"][2]["content"]]
        assert kinds == ["tool_result", "tool_result", "text"]
    elif name.startswith("openai-chat"):
        roles = [message["role"] for message in sent["messages"]]
        assert [r for r in roles if r != "user"] == ["assistant", "tool", "tool"]
        assert roles[-1] == "user"
    else:
        kinds = [item.get("type", item.get("role")) for item in sent["input"]]
        calls = ["function_call", "function_call", "function_call_output", "function_call_output"]
        assert [kind for kind in kinds if kind.startswith("function")] == calls


@pytest.mark.parametrize("name", NAMES)
async def test_tools_are_shown_with_their_schemas(
    name: str, server: ProviderServer, ask: Ask
) -> None:
    """The owner's schema as it is: nothing is required or forbidden that it does not (S3-05)."""
    schema = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "pattern": "^/", "default": "/"},
            "depth": {"type": "integer", "minimum": 0, "maximum": 9},
            "kind": {"oneOf": [{"const": "a"}, {"const": "b"}]},
            "title": {"type": "string"},
        },
        "required": ["path"],
        "additionalProperties": True,
    }
    before = json.dumps(schema)
    tool = ScriptedTool("list_files", description="Lists them.", input_schema=schema)
    sent = await body(ask(name), server, [UserMessage("go")], tools=(tool.definition,))
    (shown,) = sent["tools"]
    shown = shown.get("function", shown)
    assert (shown["name"], shown["description"]) == ("list_files", "Lists them.")
    assert shown.get("parameters", shown.get("input_schema")) == schema
    assert not shown.get("strict")
    assert json.dumps(schema) == before


@pytest.mark.parametrize("name", ["openai:gpt-5", "anthropic:claude-sonnet-4-6"])
@pytest.mark.parametrize("streamed", [False, True])
async def test_what_was_thought_goes_back_as_it_came(
    name: str, streamed: bool, server: ProviderServer, ask: Ask
) -> None:
    """Also from another process: a reply's state is JSON, and is given back before the text."""
    mark = SIGNATURE if name.startswith("anthropic") else ENCRYPTED
    server.then(Said("I look.", (SaidCall("look", '{"at": "it"}', "c1"),), thinking="Hmm, well."))
    heard: list[str] = []
    first = await ask(name).reply(
        ModelRequest([UserMessage("go")]), heard.append if streamed else None
    )
    assert first.text == "I look."  # and nothing of what was thought
    assert "Hmm" not in "".join(heard)
    kept = replace(first, state=msgspec.json.decode(msgspec.json.encode(first.state)))
    transcript: list[Message] = [
        UserMessage("go"),
        kept,
        ToolAnswer("c1", "look", ToolResult.of("seen")),
    ]
    sent = spread(await body(ask(name), server, transcript))
    assert sent.index(mark) < sent.index("I look.") < sent.index("c1")
    assert "Hmm, well." in sent
    assert sent.count("I look.") == 1


@pytest.mark.parametrize("name", ["openai:gpt-5", "anthropic:claude-sonnet-4-6"])
@pytest.mark.parametrize(
    ("said", "state"),
    [
        ({"text": "I have looked."}, {}),
        ({"calls": (ToolCall("c1", "look", {"at": "that"}),)}, {}),
        ({"calls": (ToolCall("c1", "leave", {"at": "it"}),)}, {}),
        ({}, {"by": "openai:other"}),
        ({}, {"form": 99}),
        ({}, {"response": {"parts": 1}}),
    ],
    ids=["text", "arguments", "tool", "model", "form", "damaged"],
)
async def test_a_state_that_is_not_of_this_reply_is_left_aside(
    name: str, said: dict[str, Any], state: dict[str, Any], server: ProviderServer, ask: Ask
) -> None:
    """The transcript is what was decided about; another model's thoughts are no use to this one."""
    server.then(Said("I look.", (SaidCall("look", '{"at": "it"}', "c1"),), thinking="Hmm, well."))
    first = await ask(name).reply(ModelRequest([UserMessage("go")]))
    reply = replace(first, **said, state={**(first.state or {}), **state})
    transcript: list[Message] = [
        UserMessage("go"),
        reply,
        ToolAnswer("c1", reply.calls[0].name, ToolResult.of("seen")),
    ]
    sent = spread(await body(ask(name), server, transcript))
    assert "Hmm" not in sent
    assert reply.text in sent


@pytest.mark.parametrize("name", NAMES)
async def test_ids_that_the_loop_gave_are_the_ones_sent(
    name: str, server: ProviderServer, ask: Ask
) -> None:
    """A model may use an id twice; the answer is then under the one that the loop made of it."""
    server.then(Said(calls=(SaidCall("look", "{}", "c1"),), thinking="Hmm."))
    reply = await ask(name).reply(ModelRequest([UserMessage("go")]))
    renamed = replace(reply, calls=(replace(reply.calls[0], id="call-7-0"),))
    transcript: list[Message] = [
        UserMessage("go"),
        renamed,
        ToolAnswer("call-7-0", "look", ToolResult.of("seen")),
    ]
    sent = spread(await body(ask(name), server, transcript))
    assert '"c1"' not in sent
    assert sent.count('"call-7-0"') == 2


@pytest.mark.parametrize("name", NAMES)
async def test_arguments_that_could_not_be_read_are_not_sent_back(
    name: str, server: ProviderServer, ask: Ask
) -> None:
    """A provider would refuse them; what was wrong stands in the answer."""
    server.then(Said(calls=(SaidCall("look", '{"at": ', "c1"),), thinking="Hmm."))
    reply = await ask(name).reply(ModelRequest([UserMessage("go")]))
    fault = ToolResult.error(ErrorKind.INVALID_ARGUMENTS, reply.calls[0].fault or "")
    transcript: list[Message] = [UserMessage("go"), reply, ToolAnswer("c1", "look", fault)]
    sent = spread(await body(ask(name), server, transcript))
    assert "INVALID" not in sent
    assert "no JSON object" in sent
