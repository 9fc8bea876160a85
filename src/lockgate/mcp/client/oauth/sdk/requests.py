"""The requests that the `mcp` package makes, sent by our own client; its errors, told in ours."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Final
from urllib.parse import parse_qs

import httpx2
from mcp.client.auth import OAuthFlowError
from pydantic import ValidationError

from lockgate.mcp.client.oauth.guarded import Guarded, Reply
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble
from lockgate.mcp.client.oauth.wishes import document, error_in
from lockgate.process.hidden import Hidden, Learned

LONGEST: Final = 400
"""Characters of what is told of an error."""
_SENT: Final = (
    *("code", "code_verifier", "client_secret", "refresh_token"),
    *("assertion", "client_assertion"),
)
"""Fields of a request for tokens that are hidden from then on."""
_CAME: Final = (
    *("access_token", "refresh_token", "id_token"),
    *("client_secret", "registration_access_token"),
)
_HEADERS: Final = ("content-type", "authorization", "mcp-protocol-version")
_LOGGERS: Final = ("mcp.client.auth.oauth2",)


class Requests:
    """Sends the requests of one flow."""

    def __init__(self, guarded: Guarded, learned: Learned) -> None:
        self._guarded = guarded
        self._learned = learned
        self._busy = False
        """Whether the last answer was that it may be another one in a while."""

    async def get(self, request: httpx2.Request) -> Reply:
        """A document; whatever comes is the answer. Raises `OAuthTrouble`."""
        reply = await self._guarded.ask("GET", str(request.url), _headers(request))
        self._busy = _is_busy(reply)
        return reply

    async def post(self, request: httpx2.Request) -> Reply:
        """Tokens, or a registration. Raises `OAuthTrouble` also for a server that is busy."""
        fields = parse_qs(request.content.decode("utf-8", "replace"))
        self._learned.learn(*(value for name in _SENT for value in fields.get(name, ())))
        self._learned.learn(request.headers.get("authorization", "").partition(" ")[2])
        reply = await self._guarded.ask(
            "POST", str(request.url), _headers(request), request.content
        )
        if _is_busy(reply):
            origin = f"{request.url.scheme}://{request.url.netloc.decode('ascii', 'replace')}"
            raise OAuthTrouble(f"{origin} could not answer (HTTP {reply.status})", Need.TIME)
        came = document(reply.body) or {}
        values = (came.get(name) for name in _CAME)
        self._learned.learn(*(value for value in values if isinstance(value, str)))
        return reply

    def usable(self, reply: Reply, request: httpx2.Request) -> Reply:
        """The answer to a POST, if the package may read it; it shows whole answers in its errors,
        and tokens are in them.

        Raises `OAuthTrouble`, which holds of the answer only what RFC 6749, 5.2 calls an error.
        """
        url = request.url
        place = f"{url.scheme}://{url.netloc.decode('ascii', 'replace')}{url.path}"
        if reply.status not in (200, 201):
            said = ": ".join(filter(None, error_in(reply.body)))
            what = f"refused what {place} was asked for (HTTP {reply.status})"
            text = what + (f": {self.told(said, LONGEST)}" if said else "")
            raise OAuthTrouble(f"its authorization server {text}", self.need)
        if document(reply.body) is None:
            text = f"its authorization server answered at {place} with what can not be used"
            raise OAuthTrouble(f"{text}: it is no JSON object", self.need)
        return reply

    @property
    def need(self) -> Need:
        """What has to happen where the last answer was of no use."""
        return Need.TIME if self._busy else Need.OPERATOR

    def told(self, text: str, limit: int) -> str:
        """What somebody said, on one line of at most `limit` characters, without what was sent or
        came: a part of that too, where the line is cut."""
        return Hidden(learned=self._learned).line(text, limit)

    @contextmanager
    def translated(self) -> Generator[None, None, None]:
        """Raise `OAuthTrouble` for whatever the package raises, and keep its log for ourselves:
        both hold what servers said."""
        task = asyncio.current_task()

        def of_others(_: logging.LogRecord) -> bool:
            try:
                return asyncio.current_task() is not task
            except RuntimeError:  # another thread, without a loop
                return True

        for name in _LOGGERS:
            logging.getLogger(name).addFilter(of_others)
        try:
            yield
        except OAuthTrouble:
            raise
        except StopAsyncIteration:
            raise OAuthTrouble("the flow ended without a token") from None
        except Exception as error:  # noqa: BLE001 - the package raises what its parsers do
            raise OAuthTrouble(self.told(_what(error), LONGEST), self.need) from None
        finally:
            for name in _LOGGERS:
                logging.getLogger(name).removeFilter(of_others)


def response(reply: Reply, request: httpx2.Request) -> httpx2.Response:
    """An answer as the package takes it."""
    fields = {"content-type": reply.media_type} if reply.media_type else None
    return httpx2.Response(reply.status, headers=fields, content=reply.body, request=request)


def _what(error: Exception) -> str:
    """What is told of an error of the package's.

    The texts of its own checks name addresses and methods, and nothing else that came once `usable`
    has seen each answer. The text of a parser holds pieces of what came, cut in the middle: of
    tokens too, and a piece is known by nobody as one. So of those it is told which field was wrong.
    """
    found = error if isinstance(error, ValidationError) else error.__context__
    if isinstance(found, ValidationError):
        wrong = (
            f"{'.'.join(map(str, each['loc']))} ({each['type'].replace('_', ' ')})"
            for each in found.errors(include_url=False, include_context=False, include_input=False)
        )
        return f"its authorization server answered with what can not be used: {', '.join(wrong)}"
    if found is None and isinstance(error, OAuthFlowError):
        return " ".join(str(error).split()) or type(error).__name__
    return f"its authorization server answered with what can not be used ({type(error).__name__})"


def _headers(request: httpx2.Request) -> tuple[tuple[str, str], ...]:
    return tuple((name, request.headers[name]) for name in _HEADERS if name in request.headers)


def _is_busy(reply: Reply) -> bool:
    return reply.status >= 500 or reply.status == 429
