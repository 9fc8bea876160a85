"""One request for something that a server offers beside its tools, with whatever it asks first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Raw

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.failures import unknown_type
from lockgate.mcp.client.pending import Answer
from lockgate.mcp.client.rounds import opened, settled
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.standing import Bound
from lockgate.mcp.protocol.input_required import InputAnswers, asks_for_input, result_type
from lockgate.mcp.protocol.results import COMPLETE


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of it."""

    result: Raw
    """The JSON text of the final result."""
    rounds: bool
    """Whether the server asked for input first: then the result is good for this once and is not
    to be kept (2026-07-28, Caching: Cache Key)."""


async def ask(
    session: ServerSession,
    method: str,
    params: Mapping[str, Any],
    *,
    name: str,
    occasion: Occasion,
    timeout: float | None = None,
    bound: Bound | None = None,
) -> Asked:
    """Make a request and wait for its final result; `name` is what `Mcp-Name` mirrors.

    `timeout` in seconds bounds each round, and so does the server's request timeout; what a person
    takes is not counted, and `bound`, the caller's own, stands still then. Raises `PeerError`.
    """
    connection = session.connection
    dialect = connection.dialect
    if timeout is not None:
        timeout = min(timeout, connection.request_timeout)

    async def exchange(answers: InputAnswers | None = None) -> Answer:
        return await connection.exchange(
            lambda id: dialect.request(id, method, params, name=name, answers=answers),
            timeout=timeout,
            about=occasion,
            bound=bound,
        )

    async def again(answers: InputAnswers) -> Raw:
        return connection.result_of(await exchange(answers))

    answer = await opened(await exchange(), exchange, session, occasion, bound)
    raw = connection.result_of(answer)
    rounds = session.revision.reads_result_type and asks_for_input(raw)
    if rounds:
        raw = await settled(raw, again, session.services, occasion, bound)
    return Asked(final(session, raw), rounds)


def final(session: ServerSession, raw: Raw) -> Raw:
    """The same result. Raises `PeerError` (MALFORMED) if by its type it is none that is known."""
    if session.revision.reads_result_type:
        told = result_type(raw)
        if told is not None and told != COMPLETE:
            raise unknown_type(session.name, told, session.connection.hidden)
    return raw


def require(session: ServerSession, capability: str) -> None:
    """Raise `PeerError` (UNSUPPORTED, NOT_SENT) unless the server declares the capability."""
    if session.profile.can(capability):
        return
    raise PeerError(
        f"{session.name} has no {capability}: nothing was asked of it",
        peer=session.name,
        phase=Phase.REQUEST,
        fault=Fault.UNSUPPORTED,
        fate=Fate.NOT_SENT,
    )
