"""What all exchanges with one server over HTTP share: where it is, who we are, how to ask."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol import http_fate
from lockgate.mcp.protocol.http_fate import Odd, Verdict
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.process.hidden import Hidden
from lockgate.web.answer import Answer
from lockgate.web.failure import HttpFailure, Stage
from lockgate.web.pool import USER_AGENT, Head, Pool
from lockgate.web.sent import Sent
from lockgate.web.target import LocationError, Target

SESSION: Final = "Mcp-Session-Id"
JSON: Final = "application/json"
EVENTS: Final = "text/event-stream"
REDIRECTS: Final = 5
"""How many are followed for one message."""
SUMMARISED: Final = 64 * 1024
"""Bytes that are read of a body which is no message."""
PATIENCE: Final = 5.0
"""Seconds that such a body may take."""
_SESSION_ID: Final = re.compile(r"[\x21-\x7e]+")
_REPEATED: Final = frozenset({307, 308})
_REDIRECTED: Final = frozenset({301, 302, 303, 307, 308})

Fields: TypeAlias = list[tuple[str, str]]
Pairs: TypeAlias = tuple[tuple[str, str], ...]


class HttpWire:
    """One server as long as a link to it is open."""

    def __init__(self, endpoint: HttpEndpoint, peer: str, pool: Pool, hidden: Hidden) -> None:
        self.peer = peer
        self.target = endpoint.target
        self.session: str | None = None
        """The session that messages belong to; None where there is none."""
        self.usual: tuple[tuple[str, str], ...] = ()
        """The headers of what has none of its own, once a session has begun."""
        self.left = False
        """Whether nothing new is sent any more."""
        self._pool = pool
        self._hidden = hidden
        always: Fields = [("User-Agent", USER_AGENT), ("Accept-Encoding", "identity")]
        always += endpoint.headers.items()
        if self.target.authorization is not None:
            always.append(("Authorization", self.target.authorization))
        self._fields: Mapping[str, Fields] = {
            "POST": [("Accept", f"{JSON}, {EVENTS}"), ("Content-Type", JSON), *always],
            "GET": [("Accept", EVENTS), ("Cache-Control", "no-store"), *always],
            "DELETE": always,
        }
        self._posted = self._head("POST", self.target)
        self._with_session: tuple[object, object, Pairs] = (None, None, ())
        """The last headers and session, and both together."""

    def _head(self, method: str, target: Target) -> Head:
        return Head(method, target, self._fields[method])

    async def send(self, message: Outgoing, session: str | None) -> Sent:
        """Write one message; see `Pool.write`. Cancelled, nothing was written.

        Raises `HttpFailure`, and `PeerError` when the link was left meanwhile.
        """
        headers = message.headers or self.usual
        if session is not None:
            known, of, both = self._with_session
            if known is not headers or of is not session:
                both = (*headers, (SESSION, session))
                self._with_session = headers, session, both
            headers = both
        connection = await self._pool.connect(self._posted)
        if self.left:
            connection.close()
            raise self.closed(Fate.NOT_SENT, text="nothing was sent: ")
        return self._pool.write(connection, self._posted, headers, message.payload)

    async def answered(self, sent: Sent, message: Outgoing, session: str | None) -> Answer:
        """The answer to a message, after redirects. Raises `HttpFailure`, and `PeerError` for a
        redirect that is not followed."""
        answer = await sent.answer()
        if answer.status not in _REDIRECTED:
            return answer
        headers = message.headers or self.usual
        if session is not None:
            headers = (*headers, (SESSION, session))
        return await self._redirected("POST", answer, headers, message.payload)

    async def get(self, last_id: str | None) -> Answer:
        """Ask for a stream, from `last_id` on if there is one. Raises the same."""
        headers = self.usual
        if self.session is not None:
            headers = (*headers, (SESSION, self.session))
        if last_id is not None:
            # Whatever the id is, it goes back byte for byte, but never as more than one header.
            id = re.sub(r"[\x00-\x1f\x7f]", "", last_id).encode().decode("latin-1")
            headers = (*headers, ("Last-Event-ID", id))
        return await self._ask("GET", headers)

    async def delete(self, session: str) -> None:
        """Say that the session is over. Raises the same."""
        (await self._ask("DELETE", (*self.usual, (SESSION, session)))).close()

    async def _ask(self, method: str, headers: Pairs) -> Answer:
        answer = await self._pool.ask(self._head(method, self.target), headers)
        if answer.status not in _REDIRECTED:
            return answer
        return await self._redirected(method, answer, headers, None)

    async def _redirected(
        self, method: str, answer: Answer, headers: Pairs, body: bytes | None
    ) -> Answer:
        """Follow redirects within the origin that keep the method, and no others."""
        target = self.target
        seen = {target.address}
        while answer.status in _REDIRECTED:
            where = answer.header("Location")
            answer.close()
            try:
                following = target.joined(where) if where else None
            except LocationError:
                following = None
            if following is None:
                raise self.refused(answer.status, "a redirect that leads nowhere")
            if answer.status not in _REPEATED or following.origin != self.target.origin:
                raise self._elsewhere(answer.status, following)
            if following.address in seen or len(seen) > REDIRECTS:
                raise self.refused(answer.status, "a redirect in a circle, or one too many")
            seen.add(following.address)
            target = following
            answer = await self._pool.ask(self._head(method, target), headers, body)
        return answer

    def take_session(self, answer: Answer) -> None:
        """Let what follows belong to the session that this answer opens, if it opens one.

        Raises `PeerError` for one that can not be named in a header as it is.
        """
        offered = answer.header(SESSION)
        if offered and not _SESSION_ID.fullmatch(offered):
            what = "opened a session whose id is not visible ASCII"
            raise self.odd(Odd.NO_SESSION, what)
        self.session = offered or None

    # -------------------------------------------------------------- what is said of failures

    def broken(self, failure: HttpFailure) -> PeerError:
        """The error for an exchange that was stopped on its way."""
        verdict = http_fate.BROKEN[failure.stage, failure.trouble]
        phase = Phase.CONNECT if failure.stage is Stage.CONNECTING else Phase.REQUEST
        return self.error(verdict, f"{failure}", phase)

    def odd(self, odd: Odd, what: str) -> PeerError:
        """The error for an exchange that ended well, and is no use."""
        return self.error(http_fate.ODD[odd], what)

    def refused(self, status: int, what: str, answer: Answer | None = None) -> PeerError:
        """The error for a status that is no success; `what` is the body in one line."""
        told = f"answered {status} with {what}{_ADVICE.get(status, '')}"
        pause = None
        if answer is not None and status in (429, 503):
            pause = http_fate.retry_after(answer.header("Retry-After"), answer.header("Date"))
            if pause is not None:
                told += f"; it asks to be left alone for {pause:g} s"
        return self.error(http_fate.by_status(status), told, retry_after=pause)

    def error(
        self,
        verdict: Verdict,
        what: str,
        phase: Phase = Phase.REQUEST,
        retry_after: float | None = None,
    ) -> PeerError:
        """An error about this server; `what` follows its address."""
        fault, fate = verdict
        return PeerError(
            f"{self.peer}: {self._hidden.hide(f'{self.target.shown} {what}')}",
            peer=self.peer,
            phase=phase,
            fault=fault,
            fate=fate,
            retry_after=retry_after,
        )

    def closed(self, fate: Fate, phase: Phase = Phase.REQUEST, text: str = "") -> PeerError:
        """The error for a link that is gone."""
        text = f"{text}the connection was closed"
        return PeerError(text, peer=self.peer, phase=phase, fault=Fault.CLOSED, fate=fate)

    def _elsewhere(self, status: int, where: Target) -> PeerError:
        what = f"a redirect to {where.shown}, which is not followed"
        advice = "set the url of this server to that, if it is the right one"
        return self.refused(status, f"{what}: {advice}")

    async def beginning(self, answer: Answer) -> bytes:
        """The beginning of a body that is no message, as far as it comes soon; ends the answer."""
        data = bytearray()
        try:
            async with asyncio.timeout(PATIENCE):
                while len(data) < SUMMARISED and (piece := await answer.piece()):
                    data += piece
        except (TimeoutError, HttpFailure):
            pass  # what there is has to do
        finally:
            answer.close()
        return bytes(data)


_ADVICE: Final[Mapping[int, str]] = {
    401: ": it wants to know who asks, and does not accept what was sent; check the headers",
    403: ": it does not let this one in; check the headers and what they are allowed",
    404: ": check the path of the url",
    405: ": it takes no messages there; check the path of the url",
    407: ": the proxy wants to know who asks; check the proxy",
    429: ": too many requests",
}
"""What to do about a status; the end of a sentence."""
