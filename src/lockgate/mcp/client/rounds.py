"""Answers that ask for input first: the input is gathered, and the request made again.

Modern servers answer with what they want (2026-07-28, basic/patterns/mrtr): the new request has an
id of its own, the answers by the server's keys and its state untouched. Those of 2025-11-25 can
only refuse with the addresses that have to be opened first (client/elicitation: URL Elicitation
Required). How often a server may ask, and how much at once, is bounded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias, TypeVar

from msgspec import Raw, structs

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.making import Unwritable
from lockgate.mcp.client.services import Occasion, Refusal, Services
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.standing import Bound, standing
from lockgate.mcp.protocol.elicitation import ADDRESS_REQUIRED, Action, read_required
from lockgate.mcp.protocol.input_required import (
    MAX_INPUTS,
    InputAnswers,
    InputRequest,
    asks_for_input,
    read_input_required,
)
from lockgate.mcp.protocol.jsonrpc import Failure
from lockgate.mcp.protocol.jsontext import Unreadable

_T = TypeVar("_T")

Again: TypeAlias = Callable[[InputAnswers], Awaitable[Raw]]
"""Makes the same request once more with these answers; returns the JSON text of its result."""
Repeat: TypeAlias = Callable[[], Awaitable[Raw | Failure]]
"""Makes the same request once more as it was; returns its answer."""

MAX_ROUNDS: Final = 10
"""How often one request may be answered with a question."""
MAX_REFUSALS: Final = 3
"""How often one request may be refused for addresses to be opened first."""
COMPLETION_PATIENCE: Final = 300.0
"""Seconds in which a server that wanted an address opened says that it is over, before the request
is made again all the same."""


async def settled(
    raw: Raw, again: Again, services: Services, occasion: Occasion, bound: Bound | None = None
) -> Raw:
    """The final result of a request whose first one is `raw`.

    Takes as long as whoever is asked; bounding that is theirs, and `bound`, the caller's own,
    stands still meanwhile. Cancelled, nothing more is sent: a server waits for nothing between two
    rounds. Raises `PeerError`, with fate ANSWERED where the server asks for what is not handled
    here, does not stop asking, or can not be told any more: it did not complete.
    """
    for _ in range(MAX_ROUNDS):
        if not asks_for_input(raw):
            return raw
        try:
            wanted = read_input_required(raw)
        except Unreadable as problem:
            raise _failed(occasion, Fault.MALFORMED, f"answered with {problem.reason}") from None
        with standing(bound):
            answers = await _answers(wanted.requests, wanted.state, services, occasion)
        raw = await _once_more(again(answers), occasion)
    if not asks_for_input(raw):
        return raw
    what = f"asked for input {MAX_ROUNDS} times and still does not answer"
    raise _failed(occasion, Fault.UNSUPPORTED, what)


async def opened(
    answer: Raw | Failure,
    repeat: Repeat,
    session: ServerSession,
    occasion: Occasion,
    bound: Bound | None = None,
) -> Raw | Failure:
    """The answer to a request after the addresses were opened that its server refused it for.

    Any answer but such a refusal is returned as it is, as is the refusal where no person can be
    asked. The request is made again once the server or the person says that all is done, or after
    `COMPLETION_PATIENCE`. Raises `PeerError` with fate ANSWERED where a person does not want to.
    """
    for _ in range(MAX_REFUSALS):
        if not isinstance(answer, Failure) or not wants_addresses(answer, session):
            return answer
        try:
            wanted = read_required(answer.data, MAX_INPUTS)
        except Unreadable as problem:
            what = f"answered with an error that {problem.reason}"
            raise _failed(occasion, Fault.MALFORMED, what) from None
        with standing(bound):
            for params in wanted:
                await _visited(params, session, occasion)
        answer = await _once_more(repeat(), occasion)
    return answer


def wants_addresses(answer: Failure, session: ServerSession) -> bool:
    """Whether a refusal is for addresses that somebody here can be asked to open."""
    revision = session.revision
    legacy = revision.elicits_by_url and not revision.modern
    return answer.code == ADDRESS_REQUIRED and legacy and session.services.elicit is not None


async def _visited(params: Any, session: ServerSession, occasion: Occasion) -> None:
    """Have a person open one address; returns when that is over. Raises `PeerError`."""
    completions = session.connection.serving.completions
    over = completions.of(params["elicitationId"])
    occasion = structs.replace(occasion, completions=completions)
    try:
        said = await session.services.elicited(params, occasion)
    except Refusal as refusal:
        what = f"wants an address opened, which is refused: {refusal.message}"
        raise _failed(occasion, Fault.UNSUPPORTED, what) from None
    except PeerError:
        raise
    except Exception as error:
        what = f"wants an address opened, and asking failed here ({type(error).__name__})"
        raise _failed(occasion, Fault.UNSUPPORTED, what) from error
    if said.action is not Action.ACCEPT:
        how = "a person said no" if said.action is Action.DECLINE else "nobody said yes"
        raise _failed(occasion, Fault.REFUSED, f"wants an address opened first, and {how}")
    if not said.finished:
        try:
            async with asyncio.timeout(COMPLETION_PATIENCE):
                await over.wait()
        except TimeoutError:
            return  # it may be over all the same: the server says so, or refuses again


async def _once_more(again: Awaitable[_T], occasion: Occasion) -> _T:
    """A further round. What was not sent of it is no more unsent than the first one: it was heard,
    and whoever would make the request anew would have the person asked anew."""
    try:
        return await again
    except Unwritable:
        what = "asks for input, and what it was to get has no JSON form"
        raise _failed(occasion, Fault.UNSUPPORTED, what) from None
    except PeerError as error:
        if error.fate is not Fate.NOT_SENT:
            raise
        what = f"asked for input, and was not told: {error}"
        raise _failed(occasion, error.fault, what) from error


async def _answers(
    requests: tuple[InputRequest, ...], state: str | None, services: Services, occasion: Occasion
) -> InputAnswers:
    if not requests:
        await asyncio.sleep(0)  # a server that answers like this at once has others go on
        return InputAnswers(state=state)
    return InputAnswers(await gathered(requests, services, occasion), state)


async def gathered(
    requests: tuple[InputRequest, ...], services: Services, occasion: Occasion
) -> dict[str, Any]:
    """What a server asks for, by its keys. Raises `PeerError` with fate ANSWERED for what is not
    handled here."""
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
    return responses


def _failed(occasion: Occasion, fault: Fault, what: str) -> PeerError:
    name = occasion.server
    return PeerError(
        f"{name} {what}: the request was not completed",
        peer=name,
        phase=Phase.REQUEST,
        fault=fault,
        fate=Fate.ANSWERED,
    )
