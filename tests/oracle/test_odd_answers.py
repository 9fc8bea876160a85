"""The official SDK's client on servers that answer as few do: the same, or why not.

Each answer is legal, or was met in the field. Where lockgate differs, the reason stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.protocol.eras import Era
from lockgate.testing.script import LEGACY, MODERN, ScriptedServer, When, tool
from lockgate.testing.steps import Answer, Send, Step
from oracle_clients import by_lockgate, by_sdk

HI = {"type": "text", "text": "hi"}
NOTE = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": 1}}
INVALID = {"error": "not valid"}
ODDITY = "[odd about this answer: "
READ_ON = "the tool has run: what can be read of its answer is worth more than an exception"


@dataclass(frozen=True, slots=True)
class Odd:
    """What a server says to one call."""

    steps: tuple[Step, ...]
    ours: tuple[str, ...] = ()
    """Where that differs, the beginnings of the texts that lockgate makes of it."""
    theirs: Any = None
    """And what the official client makes of it; None for a result."""
    why: str = ""


def said(*content: Any, **more: Any) -> Answer:
    """A result of these blocks."""
    return Answer(result={"content": list(content), "resultType": "complete", **more})


ODD: Mapping[str, Odd] = {
    "plain": Odd((said(HI),)),
    "nothing": Odd((said(),)),
    "told-between": Odd((Send(NOTE), said(HI), Send(NOTE))),
    "structure-beside": Odd((said(HI, structuredContent={"a": [1, None, "가"]}),)),
    "error-with-structure": Odd((said(HI, isError=True, structuredContent={"a": 1}),)),
    "known-members-and-more": Odd((said({**HI, "x-vendor": 1}, vendor=[1]),)),
    "annotated": Odd((said({**HI, "annotations": {"priority": 1.0}, "_meta": {"a": 1}}),)),
    "many-blocks": Odd((said(*[HI] * 500),)),
    "large-numbers": Odd((said(HI, structuredContent={"n": 2**70, "x": 1e300}),)),
    "an-unknown-error": Odd(
        (Answer(error={"code": -32000, "message": "no luck", "data": {"a": 1}}),),
        ("oracle answered with an error: no luck (code -32000)",),
        {"error": -32000},
        "an error of the protocol is told to the model as one of the tool, in the server's words",
    ),
    "a-future-block": Odd(
        (said(HI, {"type": "future", "x": 1}),),
        ("hi", "[content of unknown type 'future'", ODDITY),
        INVALID,
        READ_ON,
    ),
    "null-content": Odd((Answer(result={"content": None}),), (), INVALID, READ_ON),
    "a-null-block": Odd(
        (said(None, HI),), ("[content of unknown type 'null'", "hi", ODDITY), INVALID, READ_ON
    ),
    "a-number-for-a-text": Odd(
        (said({"type": "text", "text": 5}),), ("5", ODDITY), INVALID, READ_ON
    ),
    "a-word-for-is-error": Odd(
        (said(HI, isError="true"),),
        ("hi", ODDITY),
        None,
        "both take it for an error; that it was no boolean is said",
    ),
}
"""By tool."""


@pytest.mark.parametrize("era", Era)
async def test_odd_answers_are_read_the_same_or_better(era: Era, tmp_path: Path) -> None:
    """Both clients call each tool once; what is not the same has its reason."""
    tools = tuple(tool(name) for name in ODD)
    rules = tuple(When("tools/call", *odd.steps, tool=name) for name, odd in ODD.items())
    revisions = LEGACY if era is Era.LEGACY else MODERN
    endpoint = ScriptedServer(tools, rules, revisions).endpoint(file=tmp_path / "odd")
    calls: Sequence[tuple[str, Mapping[str, Any]]] = [(name, {}) for name in ODD]
    ours = await by_lockgate(endpoint, era, calls, tmp_path)
    theirs = await by_sdk(endpoint, era, calls)
    assert ours.tools == theirs.tools
    for (name, odd), mine, other in zip(ODD.items(), ours.answers, theirs.answers, strict=True):
        if not odd.why:
            assert mine == other, name
            continue
        texts: list[str] = [block["text"] for block in mine["content"]]
        assert len(texts) == len(odd.ours), (name, texts)
        assert all(map(str.startswith, texts, odd.ours)), (name, texts, odd.why)
        if odd.theirs is None:
            assert mine["isError"] == other["isError"], name
        else:
            assert other == odd.theirs, name
