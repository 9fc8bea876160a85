"""What servers answer about prompts: a list of them, and the messages of one. No I/O.

2026-07-28, server/prompts. One bad entry costs itself only; what was odd is remarked upon.
"""

from __future__ import annotations

from typing import Any, Final, Literal, cast

import msgspec

from lockgate.content import Content, JSONObject
from lockgate.mcp.protocol.content import MAX_BLOCKS, parse_block, read_object
from lockgate.mcp.protocol.jsontext import (
    MAX_DEPTH,
    Unreadable,
    decode_noted,
    deeper_than,
    kind_of,
)
from lockgate.mcp.protocol.pages import LeftOut, Page, read_page, text_of

LIST_PROMPTS: Final = "prompts/list"
GET_PROMPT: Final = "prompts/get"
PROMPTS_CHANGED: Final = "notifications/prompts/list_changed"

MAX_ARGUMENTS: Final = 200
"""Arguments of one prompt that are looked at."""


class PromptArgument(msgspec.Struct, frozen=True):
    """One argument of a prompt; its value is always a text."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool = False


class ListedPrompt(msgspec.Struct, frozen=True, kw_only=True):
    """One prompt, as its server describes it. All words are the server's."""

    name: str
    """By which it is asked for; not empty, otherwise anything."""
    title: str | None = None
    description: str | None = None
    arguments: tuple[PromptArgument, ...] = ()
    """In the server's order, each name once."""
    meta: JSONObject | None = None
    remarks: tuple[str, ...] = ()

    @property
    def required(self) -> tuple[str, ...]:
        """The names of the arguments that it needs."""
        return tuple(argument.name for argument in self.arguments if argument.required)


class PromptMessage(msgspec.Struct, frozen=True):
    """One message of a prompt: a stranger's words, whoever is to speak them."""

    role: Literal["user", "assistant"]
    content: Content


class PromptResult(msgspec.Struct, frozen=True):
    """The answer to `prompts/get`."""

    messages: tuple[PromptMessage, ...] = ()
    description: str | None = None
    remarks: tuple[str, ...] = ()
    meta: JSONObject | None = None


def parse_prompts_page(raw: bytes | msgspec.Raw, most: int | None = None) -> Page[ListedPrompt]:
    """Read the answer to `prompts/list`, of its entries the first `most`.

    A prompt is left out if it is no object, has no name, or nests too deeply. Of its arguments one
    without a name does not count, with a remark. Raises `Unreadable` if there is no list in it.
    """
    return read_page(raw, "prompts", "prompts", _prompt, most)


def parse_prompt_result(raw: bytes | msgspec.Raw) -> PromptResult:
    """Read the answer to `prompts/get`. Raises `Unreadable` if there are no messages in it.

    A message of several blocks becomes several messages of its role. A role that is neither `user`
    nor `assistant` counts as `user`: no server speaks with more authority than that.
    """
    value, remarks = decode_noted(raw)
    if not isinstance(value, dict):
        raise Unreadable(f"{kind_of(value)} where an object has to be")
    result = cast("dict[str, Any]", value)
    held = result.get("messages")
    if not isinstance(held, list):
        fault = f"{kind_of(held)} as its messages" if "messages" in result else "no messages"
        raise Unreadable(f"a prompt with {fault}")
    given, noted = cast("list[Any]", held), list(remarks)
    messages: list[PromptMessage] = []
    for position, message in enumerate(given):
        if len(messages) >= MAX_BLOCKS:
            noted.append(f"the messages after the first {MAX_BLOCKS} are not taken")
            break
        messages += _messages(message, position, noted)
    return PromptResult(
        tuple(messages[:MAX_BLOCKS]),
        text_of(result, "description", noted),
        tuple(noted),
        read_object(result, "_meta", "the result", noted),
    )


def _messages(value: Any, position: int, remarks: list[str]) -> list[PromptMessage]:
    where = f"messages[{position}]"
    role, content = "user", value
    if isinstance(value, dict):
        fields = cast("dict[str, Any]", value)
        role, content = fields.get("role"), fields.get("content")
    else:
        remarks.append(f"{where} is {kind_of(value)}, not an object")
    if role not in ("user", "assistant"):
        what = f"{role[:40]!r}" if isinstance(role, str) else kind_of(role)
        remarks.append(f"{where} has {what} as its role: counts as user")
    spoken: Literal["user", "assistant"] = "assistant" if role == "assistant" else "user"
    blocks = [content]
    if isinstance(content, list):
        remarks.append(f"{where} has an array of contents: a message for each")
        blocks = cast("list[Any]", content)[:MAX_BLOCKS]
    said: list[str] = []
    found = [PromptMessage(spoken, parse_block(b, n, said)) for n, b in enumerate(blocks)]
    remarks += [f"{where}.{text}" for text in said]
    return found


def _prompt(value: Any, position: int) -> ListedPrompt | LeftOut:
    place = f"prompt {position}"
    if not isinstance(value, dict):
        return LeftOut(place, f"is {kind_of(value)}, not an object")
    fields = cast("dict[str, Any]", value)
    name = fields.get("name")
    if not isinstance(name, str):
        return LeftOut(place, "has no name" if name is None else f"has {kind_of(name)} as its name")
    if not name:
        return LeftOut(place, "has an empty name")
    if deeper_than(fields, MAX_DEPTH):
        return LeftOut(name, f"is nested deeper than {MAX_DEPTH} levels")
    remarks: list[str] = []
    return ListedPrompt(
        name=name,
        title=text_of(fields, "title", remarks),
        description=text_of(fields, "description", remarks),
        arguments=_arguments(fields.get("arguments"), remarks),
        meta=read_object(fields, "_meta", "the prompt", remarks),
        remarks=tuple(remarks),
    )


def _arguments(value: Any, remarks: list[str]) -> tuple[PromptArgument, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        remarks.append(f"arguments is {kind_of(value)}, not an array: none")
        return ()
    given = cast("list[Any]", value)
    if len(given) > MAX_ARGUMENTS:
        remarks.append(f"of {len(given)} arguments the first {MAX_ARGUMENTS} are looked at")
    found: dict[str, PromptArgument] = {}
    for number, entry in enumerate(given[:MAX_ARGUMENTS], 1):
        fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
        name = fields.get("name")
        if not isinstance(name, str) or not name:
            remarks.append(f"argument {number} has no name: does not count")
            continue
        if name in found:
            remarks.append(f"argument {number} has the name of another: does not count")
            continue
        required = fields.get("required", False)
        if type(required) is not bool:
            remarks.append(f"required of argument {number} is {kind_of(required)}: counts as false")
        found[name] = PromptArgument(
            name,
            text_of(fields, "title", remarks),
            text_of(fields, "description", remarks),
            required is True,
        )
    return tuple(found.values())
