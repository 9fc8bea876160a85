"""What can go wrong with a request, in words: fault, fate, and what to know about it (B-03)."""

from __future__ import annotations

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.protocol.jsonrpc import Failure, Outgoing
from lockgate.process.hidden import NOTHING, Hidden

MAX_WORDS = 4000
"""Characters of a peer's own words that go into a message of ours."""


class Failures:
    """Makes the errors of one connection."""

    __slots__ = ("_hidden", "peer")

    def __init__(self, peer: str, hidden: Hidden = NOTHING) -> None:
        """`hidden` is what no text of an error may hold: a peer may say it back."""
        self.peer = peer
        self._hidden = hidden

    def refused(self, answer: Failure) -> PeerError:
        """The peer answered with an error of its own."""
        cut = len(answer.message) > MAX_WORDS
        words = self._hidden.hide(answer.message[:MAX_WORDS], cut_after=cut)
        text = f"{self.peer} answered with an error: {words}"
        return self._error(f"{text} (code {answer.code})", Fault.REFUSED, Fate.ANSWERED, answer)

    def unusable(self, reason: PeerError | None) -> PeerError:
        """There was no connection to send on; `reason` is why, None before there was one."""
        text = f"{self.peer} is not connected yet" if reason is None else str(reason)
        return self._error(f"nothing was sent: {text}", Fault.NOT_CONNECTED, Fate.NOT_SENT)

    def timed_out(
        self, message: Outgoing, limit: float, last_words: str, stray: str | None, *, sent: bool
    ) -> PeerError:
        """Time was over; `stray` is what came meanwhile and answered nothing."""
        what = f"{message.method} within {limit:g} s (timeout)"
        if not sent:
            text = f"{self.peer} does not read: no room for {what}, nothing was sent"
            return self._error(text, Fault.TIMEOUT, Fate.NOT_SENT)
        text = f"{self.peer} did not answer {what}"
        if stray:
            text += f"; {stray}"
        if last_words:
            text += f"; the end of its standard error:\n{last_words}"
        return self._error(text, Fault.TIMEOUT, Fate.UNKNOWN)

    def unanswered(self, method: str, reason: PeerError) -> PeerError:
        """The connection ended while the answer was waited for."""
        return self._error(f"no answer to {method}: {reason}", reason.fault, Fate.UNKNOWN)

    def unusable_answer(
        self, method: str, fault: Fault, why: str, *, cut: bool = False
    ) -> PeerError:
        """The answer came, and is no use; of one that is `cut` short nobody knows what it was
        going to say."""
        text = f"the answer of {self.peer} to {method} can not be used: it is {why}"
        return self._error(text, fault, Fate.UNKNOWN if cut else Fate.ANSWERED)

    def mistaken_id(self, method: str, theirs: str, ours: int) -> PeerError:
        """The answer came under an id of another type (PB-038)."""
        text = (
            f"{self.peer} answered {method} with the id {theirs!r}, a string, where {ours}, a "
            "number, was asked: the answer is not used"
        )
        return self._error(text, Fault.MALFORMED, Fate.ANSWERED)

    def closed(self, text: str = "the connection was closed") -> PeerError:
        """The connection ended on our side."""
        return self._error(text, Fault.CLOSED, Fate.UNKNOWN)

    def _error(
        self, text: str, fault: Fault, fate: Fate, answer: Failure | None = None
    ) -> PeerError:
        return PeerError(
            self._hidden.hide(text),
            peer=self.peer,
            phase=Phase.REQUEST,
            fault=fault,
            fate=fate,
            code=None if answer is None else answer.code,
            data=None if answer is None else answer.data,
        )


def unknown_type(peer: str, told: object, hidden: Hidden = NOTHING) -> PeerError:
    """2026-07-28, basic: a `resultType` that is not known makes the result an invalid one; so does
    one of an extension for a request that it does not know."""
    words = hidden.hide(str(told)[:MAX_WORDS], cut_after=len(str(told)) > MAX_WORDS)[:40]
    return PeerError(
        f"{peer} answered with a result of a type that is not known here: {words!r}",
        peer=peer,
        phase=Phase.REQUEST,
        fault=Fault.MALFORMED,
        fate=Fate.ANSWERED,
    )
