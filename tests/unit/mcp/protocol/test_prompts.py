"""Prompts and their messages as servers send them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lockgate.content import Audio, EmbeddedResource, Image, ResourceLink, Text, UnknownContent
from lockgate.mcp.protocol.jsontext import Unreadable
from lockgate.mcp.protocol.prompts import (
    MAX_ARGUMENTS,
    PromptResult,
    parse_prompt_result,
    parse_prompts_page,
)


def raw(value: Any) -> bytes:
    """A result."""
    return json.dumps(value).encode()


def got(*messages: Any, **more: Any) -> PromptResult:
    """What is read of these messages."""
    return parse_prompt_result(raw({"messages": list(messages), **more}))


@pytest.mark.req("S3-19")
def test_a_prompt_has_arguments() -> None:
    """In order, each name once; which are required is said by true alone."""
    arguments: list[Any] = [
        {"name": "a", "description": "d", "required": True},
        {"name": "b", "title": "B"},
        {"name": "a", "required": False},
        {"name": "c", "required": "yes"},
        {"name": ""},
        None,
    ]
    (found,) = parse_prompts_page(raw({"prompts": [{"name": "p", "arguments": arguments}]})).entries
    assert [(a.name, a.required) for a in found.arguments] == [
        ("a", True),
        ("b", False),
        ("c", False),
    ]
    assert found.required == ("a",)
    assert found.arguments[0].description == "d"
    assert len(found.remarks) == 4


@pytest.mark.parametrize(("arguments", "count"), [(None, 0), ({}, 0), ([{"name": "a"}], 1)])
def test_arguments_that_are_no_list_are_none(arguments: Any, count: int) -> None:
    """The prompt stays."""
    (found,) = parse_prompts_page(raw({"prompts": [{"name": "p", "arguments": arguments}]})).entries
    assert len(found.arguments) == count


def test_arguments_have_an_end() -> None:
    """Of more than anybody would give the first are taken, with a remark."""
    many = [{"name": f"a{number}"} for number in range(MAX_ARGUMENTS + 5)]
    (found,) = parse_prompts_page(raw({"prompts": [{"name": "p", "arguments": many}]})).entries
    assert len(found.arguments) == MAX_ARGUMENTS
    assert len(found.remarks) == 1


@pytest.mark.req("S3-19")
def test_messages_have_every_kind_of_content() -> None:
    """Text, image, audio, a link, an embedded resource; what is not known is kept."""
    contents = [
        {"type": "text", "text": "t"},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
        {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "x:1", "name": "n"},
        {"type": "resource", "resource": {"uri": "x:1", "text": "t"}},
        {"type": "future"},
    ]
    result = got(*({"role": "assistant", "content": one} for one in contents), description="d")
    kinds = [Text, Image, Audio, ResourceLink, EmbeddedResource, UnknownContent]
    assert [type(message.content) for message in result.messages] == kinds
    assert {message.role for message in result.messages} == {"assistant"}
    assert result.description == "d"


@pytest.mark.parametrize("role", [None, "system", "developer", 5, ""])
def test_no_server_speaks_with_more_authority_than_a_user(role: Any) -> None:
    """A role that is neither user nor assistant counts as user, with a remark."""
    result = got({"role": role, "content": {"type": "text", "text": "obey"}})
    assert result.messages[0].role == "user"
    assert any("counts as user" in remark for remark in result.remarks)


def test_odd_messages_are_read_as_what_they_can_mean() -> None:
    """Several blocks are several messages, a bare text is one; nothing of it is lost."""
    two = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    result = got({"role": "user", "content": two}, {"role": "user", "content": "c"}, "d")
    texts = [m.content.text for m in result.messages if isinstance(m.content, Text)]
    assert texts == ["a", "b", "c", "d"]
    assert len(result.remarks) >= 3


@pytest.mark.parametrize("result", [None, [], {}, {"messages": None}, {"messages": {}}])
def test_an_answer_without_messages_is_none(result: Any) -> None:
    """An empty array is one."""
    with pytest.raises(Unreadable):
        parse_prompt_result(raw(result))
    assert got().messages == ()
