"""What the loop asks of a model, in the shapes of the library."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic_ai.messages import (
    BinaryContent,
    InstructionPart,
    ModelMessage,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserContent,
    UserPromptPart,
)
from pydantic_ai.messages import ModelRequest as RequestMessage
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.tools import ToolDefinition as LibraryTool

from lockgate.agent.model import Message, ModelReply, ModelRequest, ToolAnswer, UserMessage
from lockgate.agent.models.providers.kept import restored
from lockgate.content import Audio, Content, EmbeddedResource, Image
from lockgate.errors import LocalError
from lockgate.tools.naming import is_tool_name
from lockgate.tools.tool import ToolDefinition

_IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What every provider of those that read images reads; others are told of in words."""
_AUDIO: Final = frozenset({"audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3"})
_DOCUMENTS: Final = frozenset({"application/pdf"})
_NOTHING: Final = "(no output)"
"""For a result that holds nothing: some providers refuse an empty one."""
_NOTHING_SAID: Final = "(nothing)"
_NO_NAME: Final = "no_such_tool"
"""For a name that a model made up and providers would refuse. The answer says what it wrote."""
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What every provider takes back as the id of a call."""


@dataclass(frozen=True, slots=True)
class Reads:
    """Which files a model reads. What it does not is told in words (`Content.as_text`)."""

    images: bool
    audio: bool
    documents: bool

    @classmethod
    def of(cls, model: LibraryModel) -> Reads:
        """What the library knows of `model`."""
        profile: ModelProfile = model.profile
        return cls(
            images=profile.get("supports_image_input", True),
            audio=profile.get("supports_audio_file_input", True),
            documents=profile.get("supports_document_input", True)
            and "application/pdf"
            in profile.get("supported_document_media_types", frozenset({"application/pdf"})),
        )

    def file(self, block: Content) -> BinaryContent | None:
        """`block` as a file to be sent; None for what is told in words."""
        kind = getattr(block, "mime_type", None)
        match block:
            case Image() if self.images and kind in _IMAGES:
                pass
            case Audio() if self.audio and kind in _AUDIO:
                pass
            case EmbeddedResource(text=None) if self.images and kind in _IMAGES:
                pass
            case EmbeddedResource(text=None) if self.documents and kind in _DOCUMENTS:
                pass
            case _:
                return None
        try:
            return BinaryContent(block.decoded(), media_type=kind)
        except LocalError:
            return None  # no base64, or too much of it


def parameters(request: ModelRequest) -> ModelRequestParameters:
    """Tools and instructions. Schemas are sent as they are, and no model is held to them by its
    provider (`strict`), which would need them rewritten."""
    said = _whole(request.instructions)
    instructions = [InstructionPart(said)] if said.strip() else []
    return ModelRequestParameters(
        function_tools=[_tool(definition) for definition in request.tools],
        instruction_parts=instructions,
    )


def _tool(definition: ToolDefinition) -> LibraryTool:
    return LibraryTool(
        name=definition.name,
        description=_whole(definition.description).strip() or definition.name,
        parameters_json_schema=dict(definition.input_schema),
        strict=False,
    )


def messages(transcript: Sequence[Message], reads: Reads, name: str) -> list[ModelMessage]:
    """The transcript. `name` is the model's: what it wanted back itself is given back to it alone.

    Turns alternate: what follows one reply, results first, is one message; a reply that says
    nothing is none. Half a surrogate pair, which nothing can be sent with, is U+FFFD; names and
    ids of calls that a provider would not take back are replaced, the same ones alike.
    """
    made: list[ModelMessage] = []
    for message in transcript:
        if isinstance(message, ModelReply):
            if (said := _said(message, name)) is not None:
                made.append(said)
            continue
        part = _answer(message, reads) if isinstance(message, ToolAnswer) else _user(message, reads)
        if made and isinstance(made[-1], RequestMessage):
            made[-1] = RequestMessage([*made[-1].parts, part])
        else:
            made.append(RequestMessage([part]))
    return made


def _said(reply: ModelReply, name: str) -> ModelResponse | None:
    if not reply.text.strip() and not reply.calls:
        return None
    # What was mended is not what a kept state says, which is then left aside.
    reply = _whole_reply(reply)
    before = restored(reply, name)
    if before is not None:
        return replace(before, parts=[_called(part) for part in before.parts])
    parts: list[ModelResponsePart] = [TextPart(reply.text)] if reply.text.strip() else []
    parts.extend(
        ToolCallPart(_name(call.name), dict(call.arguments), call.id) for call in reply.calls
    )
    return ModelResponse(parts)


def _called(part: ModelResponsePart) -> ModelResponsePart:
    if isinstance(part, ToolCallPart):
        return replace(part, tool_name=_name(part.tool_name))
    return part


def _name(name: str) -> str:
    return name if is_tool_name(name) else _NO_NAME


def _id(id: str) -> str:
    """`id`, or one made of it: what asks and what answers have to agree."""
    if _ID.fullmatch(id):
        return id
    return f"call_{hashlib.sha256(id.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def _answer(answer: ToolAnswer, reads: Reads) -> ModelRequestPart:
    words: list[str] = []
    files: list[BinaryContent] = []
    for block in answer.result.content:
        file = reads.file(block)
        if file is None:
            words.append(block.as_text())
        else:
            files.append(file)
    text = _whole("\n".join(words))
    if not text.strip() and not files:
        text = _NOTHING
    outcome = "failed" if answer.result.is_error else "success"
    content = [*([text] if text.strip() else []), *files] if files else text
    return ToolReturnPart(_name(answer.name), content, _id(answer.call_id), outcome=outcome)


def _user(message: UserMessage, reads: Reads) -> ModelRequestPart:
    if not message.attached:
        return UserPromptPart(_whole(message.text) if message.text.strip() else _NOTHING_SAID)
    return UserPromptPart(list(_shown(message, reads)) or _NOTHING_SAID)


def _shown(message: UserMessage, reads: Reads) -> Iterator[UserContent]:
    if message.text.strip():
        yield _whole(message.text)
    for block in message.attached:
        shown = reads.file(block) or _whole(block.as_text())
        if not isinstance(shown, str) or shown.strip():
            yield shown


def _whole_reply(reply: ModelReply) -> ModelReply:
    calls = tuple(
        replace(
            call,
            id=_id(call.id),
            name=_whole(call.name),
            arguments=_whole_arguments(call.arguments),
        )
        for call in reply.calls
    )
    return replace(reply, text=_whole(reply.text), calls=calls)


def _whole_arguments(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    try:
        written = json.dumps(arguments, ensure_ascii=False)
        return arguments if written == (whole := _whole(written)) else json.loads(whole)
    except (ValueError, TypeError, RecursionError):  # of a program's own model, and no JSON
        return arguments


def _whole(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair that has not its other half."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
