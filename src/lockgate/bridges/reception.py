"""What servers ask, received: refused where it must not be asked, bounded, and written down.

Whoever answers, a terminal or a program, is reached through here. A question that can not be
recorded is not answered: the server learns nothing that no record knows of (B-02).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final, Literal, TypeAlias

from lockgate.bridges.secrecy import secret_asked_for
from lockgate.bridges.visit import read_visit
from lockgate.calls.records import AskedRecord, Questions
from lockgate.mcp.client.services import Elicit, Occasion, Refusal, Sample
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation, Mode
from lockgate.mcp.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS
from lockgate.policy.approval import turn_of
from lockgate.showing import visible
from lockgate.web.location import LocationError

MAX_QUESTIONS: Final = 30
"""Questions to a person that one server may ask in `IN_SECONDS`; more are not put to anybody."""
IN_SECONDS: Final = 600.0
_HOUR: Final = 3600.0

RecordedMode: TypeAlias = Literal["form", "address", "sampling"]
RecordedAction: TypeAlias = Literal["accept", "decline", "cancel", "refuse", "withdrawn", "failed"]
_ACTIONS: Final[Mapping[Action, RecordedAction]] = {
    Action.ACCEPT: "accept",
    Action.DECLINE: "decline",
    Action.CANCEL: "cancel",
}


Counting: TypeAlias = Callable[[str, int, float], bool]
"""Whether a server (by name) asked so often in the hour before a Unix time; if not, it counts."""


class Reception:
    """Stands between servers and whoever answers them. One for each gate."""

    def __init__(
        self,
        questions: Questions,
        *,
        time: Callable[[], float],
        monotonic: Callable[[], float],
        within: float | None,
        tell: Callable[[str], None],
        sampled: Counting | None = None,
    ) -> None:
        """`questions` is where records go; `time` is Unix time; `within` the seconds that a person
        has for an answer, None for ever; `tell` says a line to whoever is there. `sampled`
        counts requests for a model where all processes do; None counts those of this one."""
        self._questions = questions
        self._time = time
        self._monotonic = monotonic
        self._within = within
        self._tell = tell
        self._sampled = sampled
        self._asked: dict[str, deque[float]] = {}

    def elicits(self, elicit: Elicit) -> Elicit:
        """`elicit`, behind the reception."""

        async def received(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
            about = _about(asked)
            wanted = None if asked.form is None else secret_asked_for(asked.form, asked.message)
            if wanted is not None:
                raise self._secret(wanted, occasion)
            if self.too_often(occasion.server, MAX_QUESTIONS, IN_SECONDS):
                self.note(occasion, action="cancel", reason="too_many", **about)
                return ElicitAnswer(Action.CANCEL)
            answer, reason = await self._answered(elicit, asked, occasion, about)
            action = _ACTIONS[answer.action]
            self.record(occasion, action=action, reason=reason, **about)
            return answer

        return received

    def samples(self, sample: Sample) -> Sample:
        """A program's own `sample`, written down; limits and questions are the program's."""

        async def received(params: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
            try:
                result = await sample(params, occasion)
            except asyncio.CancelledError:
                self.note(occasion, mode="sampling", action="withdrawn")
                raise
            except Refusal:
                self.note(occasion, mode="sampling", action="refuse")
                raise
            except Exception:
                self.note(occasion, mode="sampling", action="failed")
                raise
            self.record(occasion, mode="sampling", action="accept")
            return result

        return received

    def too_often(self, server: str, most: int, seconds: float) -> bool:
        """Whether this server has asked so often lately; if not, this question counts too."""
        now = self._monotonic()
        times = self._asked.setdefault(server, deque(maxlen=most))
        if len(times) == most and now - times[0] < seconds:
            return True
        times.append(now)
        return False

    def sampled_too_often(self, server: str, most: int) -> bool:
        """Whether this server has had so much completed in an hour; if not, this counts too."""
        if self._sampled is None:
            return self.too_often(f"{server} sampling", most, _HOUR)
        return self._sampled(server, most, self._time())

    def record(self, occasion: Occasion, **facts: Any) -> None:
        """Write down what came of a question. Raises `Refusal` if that can not be done."""
        record = AskedRecord(
            self._time(), occasion.server, tool=occasion.tool, call=occasion.call_id, **facts
        )
        try:
            self._questions.asked(record)
        except Exception as error:
            what = f"{occasion.server} asked something, and the answer could not be recorded"
            self._tell(f"{what}: it is not given ({type(error).__name__})")
            raise Refusal(INTERNAL_ERROR, "the answer could not be recorded") from error

    def note(self, occasion: Occasion, **facts: Any) -> None:
        """The same where nothing is given to the server: a record that fails is told, and harms
        nothing further."""
        with suppress(Refusal):
            self.record(occasion, **facts)

    async def _answered(
        self, elicit: Elicit, asked: Elicitation, occasion: Occasion, about: dict[str, Any]
    ) -> tuple[ElicitAnswer, str | None]:
        """What is said, and why nobody said anything; within the time, from when it can be put."""
        clock = asyncio.timeout(self._within)
        try:
            async with turn_of(elicit) as put, clock:
                return await put(asked, occasion), None
        except TimeoutError:
            if not clock.expired():
                self.note(occasion, action="failed", **about)
                raise
            return ElicitAnswer(Action.CANCEL), "expired"
        except asyncio.CancelledError:
            self.note(occasion, action="withdrawn", **about)
            raise
        except Refusal:
            self.note(occasion, action="refuse", **about)
            raise
        except Exception:
            self.note(occasion, action="failed", **about)
            raise

    def _secret(self, wanted: str, occasion: Occasion) -> Refusal:
        self._tell(
            f"{visible(occasion.server)} asks for what looks like a secret, in the field {wanted}"
            " of a form: refused, since servers must have secrets entered at an address of theirs"
        )
        self.note(occasion, mode="form", action="refuse", reason="secret")
        return Refusal(
            INVALID_PARAMS,
            f"a form must not ask for secrets, and the field {wanted} looks as if it did: use mode"
            " url (MCP, client/elicitation)",
        )


def _about(asked: Elicitation) -> dict[str, Any]:
    """What a record says of it: never its words."""
    if asked.mode is Mode.FORM:
        return {"mode": "form"}
    try:
        host = read_visit(asked.url or "").host
    except LocationError:
        host = None
    return {"mode": "address", "host": host}
