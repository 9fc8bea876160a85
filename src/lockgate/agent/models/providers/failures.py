"""What went wrong with a provider, in our own words.

Nothing of the library's error is passed on: its texts and its cause hold requests with their keys
and prompts. A provider's own words are told where they are the only clue, cut, and not if they say
again what was sent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)

from lockgate.agent.model import ModelReply, ModelRequest, UserMessage
from lockgate.agent.models.named import NamedModel
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.showing import visible
from lockgate.web.target import LocationError, Target, read_target

MAX_WORDS: Final = 300
"""Characters of a provider's own words."""
_REPEATED: Final = 24
"""Characters in a row that count as a repetition of what was sent."""
_ASKS_AGAIN: Final = frozenset({408, 409, 425})


@dataclass(frozen=True, slots=True)
class Failure:
    """One request that came to nothing."""

    error: PeerError
    again: bool
    """Whether the same may be asked once more."""


def failure(error: Exception, named: NamedModel, request: ModelRequest) -> Failure:
    """What `error` of the library means; `request` is what was sent."""
    teller = _Teller(named, request)
    match error:
        case PeerError():
            return Failure(error, again=error.fault is Fault.CLOSED)
        case ModelAPIError():
            return _of_provider(error, teller)
        case ContentFilterError():
            what = "the provider's filter refused the request; put it in other words"
            return Failure(teller.error(what, Fault.REFUSED, final=True), again=False)
        case UnexpectedModelBehavior():
            what = "the provider's answer can not be read; see whether its address is right"
            return Failure(teller.error(what, Fault.MALFORMED), again=False)
        case UserError() | NotImplementedError():
            what = "the request is one that this model can not be sent"
            text = f"{what}{teller.quoted(str(error))}"
            return Failure(teller.error(text, Fault.UNSUPPORTED, Fate.NOT_SENT), again=False)
        case _:
            what = f"talking to the provider failed ({type(error).__name__})"
            return Failure(teller.error(what, Fault.MALFORMED, Fate.UNKNOWN), again=False)


def broke_off(named: NamedModel) -> PeerError:
    """A stream that ended before the provider said that the reply is whole."""
    return _of_reply(named, "the reply broke off before its end", Fault.CLOSED, Fate.UNKNOWN)


def too_long(named: NamedModel, most: int) -> PeerError:
    """A reply beyond the bound; the rest of it was not read."""
    what = f"the reply has more than {most:,} characters, and is not taken"
    return _of_reply(named, what, Fault.MALFORMED, Fate.ANSWERED)


def too_late(named: NamedModel, seconds: float) -> PeerError:
    """No whole reply within the bound."""
    return _of_reply(named, f"no whole reply within {seconds:g} s", Fault.TIMEOUT, Fate.UNKNOWN)


def _of_reply(named: NamedModel, what: str, fault: Fault, fate: Fate) -> PeerError:
    text = f"{named.name}: {what}"
    return PeerError(text, peer=named.name, phase=Phase.REQUEST, fault=fault, fate=fate)


def _of_provider(error: ModelAPIError, teller: _Teller) -> Failure:
    named = teller.named
    match error:
        case ModelAuthenticationError():
            where = f" in {named.key_from}" if named.key_from else ""
            what = (
                f"the provider refused the key{where}, or it may not use this model"
                if named.key
                else f"the provider wants a key: set {named.key_from or 'its credentials'}"
            )
            return Failure(teller.error(what, Fault.UNAUTHORIZED, of=error), again=False)
        case ModelQuotaExceededError():
            what = "the account's quota or credit is used up; waiting does not help"
            return Failure(teller.error(what, Fault.RATE_LIMITED, of=error), again=False)
        case ModelRateLimitError():
            after = error.retry_after
            wait = "" if after is None else f"; it wants to be asked again in {after:g} s"
            what = f"too many requests{wait}"
            return Failure(teller.error(what, Fault.RATE_LIMITED, of=error), again=True)
        case ModelContextWindowExceededError():
            what = (
                "the conversation is longer than this model reads; begin a new one, have tools "
                "give shorter results, or use a model with a larger context"
            )
            return Failure(teller.error(what, Fault.TOO_LARGE, of=error), again=False)
        case ModelNotFoundError():
            return Failure(teller.error(_not_found(error, named), Fault.REFUSED, of=error), False)
        case ModelTimeoutError():
            return Failure(_unconnected(error, teller, Fault.TIMEOUT), again=True)
        case ModelConnectionError():
            return Failure(_unconnected(error, teller, Fault.CLOSED), again=True)
        case ModelUnavailableError() | ModelServerError():
            what = f"the provider can not answer now{_status(error)}"
            return Failure(teller.error(what, Fault.REFUSED, of=error), again=True)
        case ModelRequestRejectedError():
            what = f"the provider refused the request{_status(error)}{teller.quoted(_said(error))}"
            again = isinstance(error, ModelHTTPError) and error.status_code in _ASKS_AGAIN
            return Failure(teller.error(what, Fault.REFUSED, of=error), again)
        case _:
            what = f"the provider failed{_status(error)}{teller.quoted(_said(error))}"
            again = isinstance(error, ModelHTTPError) and error.status_code in _ASKS_AGAIN
            return Failure(teller.error(what, Fault.REFUSED, of=error), again)


def _not_found(error: ModelNotFoundError, named: NamedModel) -> str:
    near = error.suggested_model_id if isinstance(error, ModelHTTPError) else None
    meant = f"; did you mean {near}?" if near else ""
    return f"the provider has no model {visible(named.model)!r}{_at(named)}{meant}"


def _at(named: NamedModel) -> str:
    """Where it was asked for; whoever may ask there, and a query, are left out."""
    target = _target(named)
    return "" if target is None else f" at {target.shown}"


def _target(named: NamedModel) -> Target | None:
    try:
        return None if named.address is None else read_target(named.address)
    except LocationError:  # the library reads it in its own way
        return None


def _unconnected(error: ModelConnectionError, teller: _Teller, fault: Fault) -> PeerError:
    if error.phase in ("connect", "pool"):
        what = f"the provider can not be reached{_at(teller.named)}"
        return teller.error(what, Fault.NOT_CONNECTED, Fate.NOT_SENT, phase=Phase.CONNECT)
    what = (
        "the provider did not answer in time"
        if fault is Fault.TIMEOUT
        else "the connection to the provider broke off"
    )
    return teller.error(what, fault, Fate.UNKNOWN)


def _status(error: ModelAPIError) -> str:
    return f" (HTTP {error.status_code})" if isinstance(error, ModelHTTPError) else ""


def _said(error: ModelAPIError) -> str:
    """The provider's own message, where it has the usual place."""
    body = error.body
    for _ in range(2):
        if not isinstance(body, Mapping):
            break
        found = cast("Mapping[str, object]", body)
        if isinstance(message := found.get("message"), str):
            return message
        body = found.get("error")
    return body if isinstance(body, str) else ""


class _Teller:
    """Makes errors of one model's provider."""

    def __init__(self, named: NamedModel, request: ModelRequest) -> None:
        self.named = named
        self._request = request

    def error(
        self,
        what: str,
        fault: Fault,
        fate: Fate = Fate.ANSWERED,
        *,
        phase: Phase = Phase.REQUEST,
        final: bool = False,
        of: ModelAPIError | None = None,
    ) -> PeerError:
        return PeerError(
            f"{self.named.name}: {what}",
            peer=self.named.name,
            phase=phase,
            fault=fault,
            fate=fate,
            code=of.status_code if isinstance(of, ModelHTTPError) else None,
            retry_after=None if of is None else of.retry_after,
            final=final,
        )

    def quoted(self, words: str) -> str:
        """Someone's own words, to be put behind ours; nothing if they hold what is secret."""
        words = " ".join(words.split())
        if not words or any(secret in words for secret in self._secrets()):
            return ""
        if self._repeats(words):
            return ", in words that repeat what it was sent"
        cut = words if len(words) <= MAX_WORDS else f"{words[:MAX_WORDS]}…"
        return f": {visible(cut)}"

    def _secrets(self) -> Iterator[str]:
        if self.named.key:
            yield self.named.key
        if (target := _target(self.named)) is not None:
            yield from target.secrets()

    def _repeats(self, words: str) -> bool:
        parts = [words[at : at + _REPEATED] for at in range(max(1, len(words) - _REPEATED + 1))]
        return any(
            part in sent for sent in self._sent() for part in parts if len(part) >= _REPEATED
        )

    def _sent(self) -> Iterator[str]:
        yield " ".join(self._request.instructions.split())
        for message in self._request.transcript:
            text = (
                message.text
                if isinstance(message, UserMessage | ModelReply)
                else (message.result.text)
            )
            yield " ".join(text.split())
