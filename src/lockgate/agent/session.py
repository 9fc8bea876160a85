"""What one session knows, and what of it is kept for a later process."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

from lockgate.agent.awaited import told_of
from lockgate.agent.changes import Changes
from lockgate.agent.journal import Journal
from lockgate.agent.message_json import UnreadableMessage, decoded
from lockgate.agent.model import Message, ModelReply
from lockgate.agent.transcript import Transcript, unanswered
from lockgate.calls.waiting import Waiting
from lockgate.errors import LocalError, LockgateError
from lockgate.tools.tool import Tool

_log = logging.getLogger(__name__)


class Session:
    """The transcript of a session, what its model was shown, and its calls that wait.

    With a journal all of it is written down as it happens, and goes on from what is written there.
    """

    def __init__(self, journal: Journal | None = None) -> None:
        """Reads what the journal holds. Raises `LocalError` if a message can not be read."""
        self._journal = journal
        said = () if journal is None else _read(journal)
        self.resumed = bool(said)
        """Whether it goes on from an earlier process."""
        self.transcript = Transcript(said, journal)
        self._changes = Changes(journal.seen() if journal is not None and said else None)
        self._untold: tuple[str, ...] = ()
        self._noticed: tuple[Waiting, ...] = ()
        """The calls whose end is told with this turn."""
        self._began = len(said)
        """How much was said before this turn."""

    def news(
        self, shown: Sequence[Tool], missing: Sequence[str], others: Iterable[str]
    ) -> tuple[str, ...]:
        """What the model is to be told with the turn that begins: what changed (`Changes.since`),
        what became of calls that waited, `others`, and what it was not told yet because it never
        replied to it. Calls that waited are answered as far as that is known.

        Raises what the journal raises.
        """
        self._untold += (*self._changes.since(shown, missing), *others)
        if self._journal is not None and (seen := self._changes.news()) is not None:
            self._journal.note_seen(seen)
        answered = self._answered_since()
        self._began = len(self.transcript)
        return (*self._untold, *answered)

    def turn_ended(self) -> None:
        """What was told with this turn is told, if the model has replied to anything in it."""
        if not any(isinstance(said, ModelReply) for said in self.transcript[self._began :]):
            return
        self._untold = ()
        noticed, self._noticed = self._noticed, ()
        if self._journal is not None and noticed:
            try:
                self._journal.forget(noticed)
            except LockgateError as error:  # what the turn brought is not to be lost for it
                _log.warning("what became of calls that waited will be told again: %s", error)

    def _answered_since(self) -> tuple[str, ...]:
        """Answer the calls that waited, as far as that is known; the lines that tell of others."""
        if self._journal is None or not (waiting := self._journal.waiting()):
            return ()
        told = told_of(waiting, unanswered(self.transcript))
        for answer in told.answers:
            self.transcript.append(answer)
        self._journal.forget(told.over)
        self._noticed = told.noticed
        return told.notices

    def waiting(self) -> tuple[Waiting, ...]:
        """The calls that were put off and not told to their end. Raises what the journal raises."""
        return () if self._journal is None else self._journal.waiting()

    async def close(self) -> None:
        """Write down what is not written yet, and let another process go on. Raises what the
        journal raises; it is closed all the same."""
        if self._journal is not None:
            try:
                self.transcript.flush()
            finally:
                self._journal.close()


def _read(journal: Journal) -> list[Message]:
    messages: list[Message] = []
    for number, body in enumerate(journal.read(), 1):
        try:
            messages.append(decoded(body))
        except UnreadableMessage as error:
            raise LocalError(
                f"message {number} of the session can not be read ({error}): begin another session"
            ) from None
    return messages
