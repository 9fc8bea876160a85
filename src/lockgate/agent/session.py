"""What one session knows, and what of it is kept for a later process."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from lockgate.agent.awaited import told_of
from lockgate.agent.changes import Changes
from lockgate.agent.journal import Journal
from lockgate.agent.message_json import UnreadableMessage, decoded
from lockgate.agent.model import Message
from lockgate.agent.run import RunResult
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

    def changed(self, shown: Sequence[Tool], missing: Sequence[str]) -> tuple[str, ...]:
        """The lines that tell what changed since the last turn (`Changes.since`), kept as seen."""
        lines = self._changes.since(shown, missing)
        if self._journal is not None and (news := self._changes.news()) is not None:
            self._journal.note_seen(news)
        return lines

    def answered_since(self) -> tuple[str, ...]:
        """Answer the calls that waited, as far as that is known; the lines that tell of others.

        To be called when a turn begins. Raises what the journal raises.
        """
        if self._journal is None or not (waiting := self._journal.waiting()):
            return ()
        told = told_of(waiting, unanswered(self.transcript))
        for answer in told.answers:
            self.transcript.append(answer)
        self._journal.forget(told.over)
        return told.notices

    def waiting(self) -> tuple[Waiting, ...]:
        """The calls that were put off and not told to their end. Raises what the journal raises."""
        return () if self._journal is None else self._journal.waiting()

    def turn_ended(self, result: RunResult) -> None:
        """Note which calls of the turn wait for an answer elsewhere."""
        if self._journal is None or not result.waiting:
            return
        waiting = [
            Waiting(call.id, call.name, suspended.ticket)
            for call, suspended in zip(unanswered(self.transcript), result.waiting, strict=False)
        ]
        try:
            self._journal.note_waiting(waiting)
        except LockgateError as error:  # the turn is over; what it brought is not to be lost
            _log.warning("which calls of the session wait is not written down: %s", error)

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
