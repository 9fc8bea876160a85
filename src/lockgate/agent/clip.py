"""What a model is shown of a result that is too long: its head and its tail, and how much is gone.

A result within the limits is handed on as it is, the very same object. The whole of a longer one
reaches only those who watch the turn (`events.CallFinished`); the transcript and the run's result
hold what the model was shown, so a long run does not hoard what nobody will read again.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import msgspec

from lockgate.agent.limits import TurnLimits
from lockgate.content import Audio, Content, EmbeddedResource, Image, Text, UnknownContent
from lockgate.tools.result import ToolResult


def clip_batch(results: Sequence[ToolResult], limits: TurnLimits) -> tuple[ToolResult, ...]:
    """Each result as the model is shown it, and all of them together within the batch's limit."""
    clipped = tuple(clip(r, limits.result_characters, limits.media_characters) for r in results)
    sizes = [len(r.text) for r in clipped]
    if sum(sizes) <= limits.batch_characters:
        return clipped
    cap = fair_cap(sizes, limits.batch_characters)
    return tuple(
        clip(result, cap, limits.media_characters) if size > cap else short
        for result, short, size in zip(results, clipped, sizes, strict=True)
    )


def clip(result: ToolResult, characters: int, media_characters: int) -> ToolResult:
    """`result` with at most `characters` of text and `media_characters` of base64.

    A note in the place of what is left out names the original size. What a model does not read
    (structured content, `_meta`, a block of an unknown type) stays with the result for programs
    unless it is over the limit by itself.
    """
    content = _bounded(result.content, characters, media_characters)
    structured = _within(result.structured, characters)
    meta = _within(result.meta, characters)
    text = "\n".join(block.as_text() for block in content)
    if len(text) > characters:
        media = tuple(block for block in content if _base64(block) is not None)
        content = (Text(cut(text, characters)), *media)
    same = content is result.content and structured is result.structured
    if same and meta is result.meta:
        return result
    return msgspec.structs.replace(result, content=content, structured=structured, meta=meta)


def cut(text: str, characters: int) -> str:
    """Head and tail of `text`, `characters` in all, with a note between that says what is missing.

    A surrogate pair, which text from a careless peer may hold, is never cut in two.
    """
    if len(text) <= characters:
        return text
    head, tail = characters - characters // 2, characters // 2
    if _is_high(text[head - 1]):
        head -= 1
    begin = len(text) - tail
    if tail and _is_low(text[begin]):
        begin += 1
    gone = begin - head
    note = f"\n[... {gone:,} of {len(text):,} characters left out here ...]\n"
    return text[:head] + note + text[begin:]


def fair_cap(sizes: Sequence[int], total: int) -> int:
    """The largest cap under which `sizes` fit into `total`: what the short ones leave is shared."""
    remaining, waiting = total, len(sizes)
    for size in sorted(sizes):
        if size * waiting > remaining:
            return remaining // waiting
        remaining -= size
        waiting -= 1
    return max(sizes, default=total)


def _bounded(content: tuple[Content, ...], characters: int, media: int) -> tuple[Content, ...]:
    """Images, sound and files as long as they fit, in order, with a line of text in the place of
    the others; what is of no known type as its text, if it is long."""
    used = 0
    kept: list[Content] = []
    for block in content:
        data = _base64(block)
        if data is not None:
            if used + len(data) > media:
                kept.append(Text(f"{block.as_text()} (left out: too large to be shown)"))
                continue
            used += len(data)
        elif isinstance(block, UnknownContent) and _size_of(block.raw) > characters:
            block = Text(block.as_text())
        kept.append(block)
    return content if all(a is b for a, b in zip(content, kept, strict=True)) else tuple(kept)


def _base64(block: Content) -> str | None:
    """What a block holds beside text; None if nothing."""
    if isinstance(block, Image | Audio):
        return block.data
    return block.blob if isinstance(block, EmbeddedResource) else None


def _within(value: Any, characters: int) -> Any:
    return None if value is not None and _size_of(value) > characters else value


def _size_of(structured: Any) -> int:
    """About how many characters a value takes as JSON."""
    try:
        return len(msgspec.json.encode(structured, enc_hook=str))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return sys.maxsize  # whatever it is, it is no JSON that a program could want


def _is_high(character: str) -> bool:
    return "\ud800" <= character <= "\udbff"


def _is_low(character: str) -> bool:
    return "\udc00" <= character <= "\udfff"
