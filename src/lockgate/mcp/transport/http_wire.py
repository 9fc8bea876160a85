"""What all exchanges with one server over HTTP share: where it is, who we are, how to ask."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Final, TypeAlias

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol import http_fate
from lockgate.mcp.protocol.challenge import bearer_challenge
from lockgate.mcp.protocol.http_fate import Odd, Verdict
from lockgate.mcp.protocol.jsonrpc import Outgoing
from lockgate.mcp.transport.http_words import one_line
from lockgate.mcp.transport.tokens import Challenge, TokenSource
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
_SENDABLE: Final = re.compile(r"[\t\x20-\x7e]+")
"""Credentials that are one header (RFC 9110, 5.5)."""
RENEWALS: Final = 2
"""How often one message is sent again with other credentials: once for those that have run out,
once for those that are good for too little."""
_REFUSING: Final = frozenset({401, 403})
_REPEATED: Final = frozenset({307, 308})
_REDIRECTED: Final = frozenset({301, 302, 303, 307, 308})

Fields: TypeAlias = list[tuple[str, str]]
Pairs: TypeAlias = tuple[tuple[str, str], ...]


class HttpWire:
    """One server as long as a link to it is open."""

    def __init__(
        self,
        endpoint: HttpEndpoint,
        peer: str,
        pool: Pool,
        hidden: Hidden,
        tokens: TokenSource | None = None,
    ) -> None:
        """`tokens` gives the credentials, where the headers of the endpoint do not."""
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
        self._tokens = tokens
        self._sendable: str | None = None
        """The last credentials, which were looked at."""
        self._with_session: tuple[object, object, object, Pairs] = (None, None, None, ())
        """The last headers, session and credentials, and all of them together."""

    def _head(self, method: str, target: Target) -> Head:
        return Head(method, target, self._fields[method])

    async def send(self, message: Outgoing, session: str | None) -> Sent:
        """Write one message; see `Pool.write`. Cancelled, nothing was written.

        Raises `HttpFailure`, and `PeerError` when the link was left meanwhile or there are no
        credentials.
        """
        used = None if self._tokens is None else await self._credentials(self._tokens)
        headers = self._headers_of(message, session, used)
        connection = await self._pool.connect(self._posted)
        if self.left:
            connection.close()
            raise self.closed(Fate.NOT_SENT, text="nothing was sent: ")
        sent = self._pool.write(connection, self._posted, headers, message.payload)
        sent.authorization = used
        return sent

    def _headers_of(self, message: Outgoing, session: str | None, used: str | None) -> Pairs:
        """The headers of a message; the same object again for what has the same."""
        headers = message.headers or self.usual
        if session is None and used is None:
            return headers
        known, of, by, all_ = self._with_session
        if known is not headers or of is not session or by is not used:
            all_ = _authorized(headers, used)
            if session is not None:
                all_ = (*all_, (SESSION, session))
            self._with_session = headers, session, used, all_
        return all_

    async def answered(self, sent: Sent, message: Outgoing, session: str | None) -> Answer:
        """The answer to a message, after redirects, and after other credentials where those that
        it carried are refused: then it is sent again, since it was not acted on.

        Raises `HttpFailure`, and `PeerError` for a redirect that is not followed, and where there
        are no credentials to be had.
        """
        tries = 0
        while True:
            answer = await sent.answer()
            used = sent.authorization
            if answer.status in _REDIRECTED:
                headers = self._headers_of(message, session, used)
                answer = await self._redirected("POST", answer, headers, message.payload)
            if self._tokens is None:
                return answer
            if not await self._wants_others(answer, used, tries, message.headers or self.usual):
                return answer
            tries += 1
            sent = await self.send(message, session)

    async def get(self, last_id: str | None) -> Answer:
        """Ask for a stream, from `last_id` on if there is one. Raises the same."""
        headers = self.usual
        if self.session is not None:
            headers = (*headers, (SESSION, self.session))
        if last_id is not None:
            # Whatever the id is, it goes back byte for byte, but never as more than one header.
            id = re.sub(r"[\x00-\x1f\x7f]", "", last_id).encode().decode("latin-1")
            headers = (*headers, ("Last-Event-ID", id))
        tries = 0
        while True:
            used = None if self._tokens is None else await self._credentials(self._tokens)
            answer = await self._ask("GET", _authorized(headers, used))
            if not await self._wants_others(answer, used, tries, headers):
                return answer
            tries += 1

    async def delete(self, session: str) -> None:
        """Say that the session is over. Raises the same."""
        used = None if self._tokens is None else await self._credentials(self._tokens)
        headers = (*_authorized(self.usual, used), (SESSION, session))
        (await self._ask("DELETE", headers)).close()

    async def _credentials(self, tokens: TokenSource) -> str | None:
        """What is sent now. Raises `PeerError`, as `TokenSource` does; a source may be anybody's,
        so also for what would be another header, or none."""
        used = await tokens.authorization()
        if used is None or used is self._sendable:
            return used
        text = used if isinstance(used, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance] - a program's own source may return anything
        if not text.strip() or not _SENDABLE.fullmatch(text):
            what = f"its token source ({type(tokens).__name__}) gave what no header can hold"
            raise PeerError(
                f"{self.peer}: {what}, such as a line end",
                peer=self.peer,
                phase=Phase.CONNECT,
                fault=Fault.UNAUTHORIZED,
                fate=Fate.NOT_SENT,
            )
        self._sendable = used
        return used

    async def _wants_others(
        self, answer: Answer, used: str | None, tries: int, headers: Pairs
    ) -> bool:
        """Whether an answer refuses the credentials, and there are others now.

        Then it is of no more use; else it is as it came. Raises `PeerError` as `TokenSource` does.
        """
        tokens = self._tokens
        if tokens is None or answer.status not in _REFUSING or tries >= RENEWALS:
            return False
        header = answer.every("WWW-Authenticate")
        if answer.status == 403:
            wanted = bearer_challenge(header)
            if wanted is None or not wanted.lacks_scope:
                return False
        try:
            challenge = Challenge(answer.status, header, used, _revision(headers), tries > 0)
            others = await tokens.challenged(challenge)
        except BaseException:
            answer.close()
            raise
        if others:
            await self.beginning(answer)  # read, its connection is used again
        return others

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
        advice = _ADVICE if self._tokens is None else _ADVICE_WITH_TOKENS
        told = f"answered {status} with {what}{advice.get(status, '')}"
        if answer is not None and status in _REFUSING:
            told += self._wanted(answer)
        pause = None
        if answer is not None and status in (429, 503):
            pause = http_fate.retry_after(answer.header("Retry-After"), answer.header("Date"))
            if pause is not None:
                told += f"; it asks to be left alone for {pause:g} s"
        return self.error(http_fate.by_status(status), told, retry_after=pause)

    def _wanted(self, answer: Answer) -> str:
        """What a server that refuses says that it wants; the end of a sentence."""
        said = bearer_challenge(answer.every("WWW-Authenticate"))
        if said is None:
            return ""
        told = f"; it says: {one_line(said.description)}" if said.description else ""
        if said.scope:
            told += f"; it wants the scope {one_line(said.scope)}"
        if self._tokens is None and said.resource_metadata:
            told += "; it can be logged in to: set auth of this server to oauth"
        return told

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


def _authorized(headers: Pairs, used: str | None) -> Pairs:
    return headers if used is None else (*headers, ("Authorization", used))


def _revision(headers: Pairs) -> str | None:
    return next((value for name, value in headers if name.lower() == "mcp-protocol-version"), None)


_ADVICE: Final[Mapping[int, str]] = {
    401: ": it wants to know who asks, and does not accept what was sent; check the headers",
    403: ": it does not let this one in; check the headers and what they are allowed",
    404: ": check the path of the url",
    405: ": it takes no messages there; check the path of the url",
    407: ": the proxy wants to know who asks; check the proxy",
    429: ": too many requests",
}
"""What to do about a status; the end of a sentence."""
_ADVICE_WITH_TOKENS: Final[Mapping[int, str]] = {
    **_ADVICE,
    401: ": it does not accept the token that was got for it; look at its auth, or ask who runs it",
    403: ": it does not let this one in with the token that was got for it; ask who runs it",
}
"""The same where credentials are got, and stand in no header of the operator's."""
