"""Keeping what a person answers for good: in the answers file, and said on the terminal."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from lockgate.bridges.voice import Voice
from lockgate.decision import Decision
from lockgate.errors import LocalError, LockgateError
from lockgate.policy.approval import Answer, Question, Scope
from lockgate.rules.parse import parse_rule
from lockgate.settings.answers import Answered, AnsweredRule, AnsweredVerdict, keep_answer
from lockgate.showing import visible, visible_error

_log: Final = logging.getLogger(__name__)


class AnswersFile:
    """The `policy.approval.AnswerBook` that is a file, outside of the project's tree (PB-157)."""

    def __init__(self, path: Path, voice: Voice) -> None:
        """`path` is that of the answers layer; `voice` says on the terminal what came of it."""
        self._path = path
        self._voice = voice

    def keep(self, question: Question, answer: Answer) -> None:
        """Write the answer down and say so. Raises `LockgateError` after saying that it is not."""
        try:
            keep_answer(self._path, _answered(question, answer))
        except LockgateError as error:
            why = visible_error(error)
            _log.error("an answer could not be kept: %s", why)
            self._voice.say(f"NOT KEPT, it counts for this call only: {why}")
            raise
        place = visible(str(self._path))
        if answer.scope is Scope.ALWAYS:
            said = f"kept for attended runs in {place}"
        else:
            said = f"kept in {place}; it counts from the next start on"
        self._voice.say(f"{said}. To take it back: lockgate grants list")


def _answered(question: Question, answer: Answer) -> Answered:
    """What is written down. Raises `LockgateError` for what was not offered."""
    origin = question.origin
    pin = origin.fingerprint.digest
    if not answer.approved or not question.offers(answer.scope):
        raise LocalError("this answer was not offered")
    match answer.scope:
        case Scope.ALWAYS if question.always is not None:
            text, destructive = question.always, question.destructive
            # What is written has to be read again at the next start, or nothing would start.
            parse_rule(text, Decision.ALLOW, destructive=destructive, pin=pin, exact=True)
            return AnsweredRule(text, destructive, pin)
        case Scope.READ_ONLY | Scope.ADDITIVE if origin.server is not None:
            word = "read-only" if answer.scope is Scope.READ_ONLY else "additive"
            return AnsweredVerdict(origin.server, origin.original_name, word, pin)
        case _:
            raise LocalError("such an answer is not kept for good")
