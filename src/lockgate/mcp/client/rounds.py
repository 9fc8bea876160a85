"""Answers that ask for input first: the input is gathered, and the request made again.

2026-07-28, basic/patterns/mrtr: the new request has an id of its own, the answers by the server's
keys and its state untouched. How often a server may ask, and how much at once, is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

from msgspec import Raw

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.services import Occasion, Refusal, Services
from lockgate.mcp.protocol.input_required import (
    InputAnswers,
    InputRequest,
    asks_for_input,
    read_input_required,
)
from lockgate.mcp.protocol.jsontext import Unreadable

Again: TypeAlias = Callable[[InputAnswers], Awaitable[Raw]]
"""Makes the same request once more with these answers; returns the JSON text of its result."""

MAX_ROUNDS: Final = 10
"""How often one request may be answered with a question."""


async def settled(raw: Raw, again: Again, services: Services, occasion: Occasion) -> Raw:
    """The final result of a request whose first one is `raw`.

    Takes as long as whoever is asked; bounding that is theirs. Cancelled, nothing more is sent: a
    server waits for nothing between two rounds. Raises `PeerError`, with fate ANSWERED where the
    server asks for what is not handled here, or does not stop asking: it did not complete.
    """
    for _ in range(MAX_ROUNDS):
        if not asks_for_input(raw):
            return raw
        try:
            wanted = read_input_required(raw)
        except Unreadable as problem:
            raise _failed(occasion, Fault.MALFORMED, f"answered with {problem.reason}") from None
        raw = await again(await _answers(wanted.requests, wanted.state, services, occasion))
    if not asks_for_input(raw):
        return raw
    what = f"asked for input {MAX_ROUNDS} times and still does not answer"
    raise _failed(occasion, Fault.UNSUPPORTED, what)


async def _answers(
    requests: tuple[InputRequest, ...], state: str | None, services: Services, occasion: Occasion
) -> InputAnswers:
    if not requests:
        await asyncio.sleep(0)  # a server that answers like this at once has others go on
        return InputAnswers(state=state)
    responses: dict[str, Any] = {}
    for request in requests:  # one at a time: a person is asked one thing at a time
        try:
            responses[request.key] = await services.answer(request.method, request.params, occasion)
        except Refusal as refusal:
            wanted = f"{request.method[:80]!r}: {refusal.message}"
            what = f"asks for input that it does not get: {wanted}"
            raise _failed(occasion, Fault.UNSUPPORTED, what) from None
        except PeerError:
            raise
        except Exception as error:
            what = f"asks for input, and getting it failed here ({type(error).__name__})"
            raise _failed(occasion, Fault.UNSUPPORTED, what) from error
    return InputAnswers(responses, state)


def _failed(occasion: Occasion, fault: Fault, what: str) -> PeerError:
    name = occasion.server
    return PeerError(
        f"{name} {what}: the request was not completed",
        peer=name,
        phase=Phase.REQUEST,
        fault=fault,
        fate=Fate.ANSWERED,
    )
