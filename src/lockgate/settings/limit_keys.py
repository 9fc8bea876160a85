"""The `agent.limits` section: how long a turn may go on, and how much of a result is shown."""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from lockgate.agent.limits import TurnLimits
from lockgate.settings.findings import Findings
from lockgate.settings.kinds import Duration, scalar_text
from lockgate.settings.nodes import Node
from lockgate.settings.reading import MISSING, At, Draft, Given, Key, Missing, Section

_NUMBER: Final = re.compile(r"[0-9]{1,12}")
_DEFAULT: Final = TurnLimits()


class Number(msgspec.Struct, frozen=True):
    """A whole number within bounds."""

    least: int
    most: int
    words: str = "number"

    def read(self, node: Node, at: At) -> int | Missing:
        """The number."""
        hint = f"write a whole number from {self.least} to {self.most}"
        found = scalar_text(node, at, wanted="a number", hint=hint)
        if isinstance(found, Missing):
            return MISSING
        if not _NUMBER.fullmatch(found[0]) or not self.least <= int(found[0]) <= self.most:
            return at.fault(node, f"{found[0][:40]!r} is no usable number", hint)
        return int(found[0])

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later


LIMITS: Final = Section(
    "agent.limits",
    "The bounds of one turn. Reaching one ends the turn without an answer, with one result for"
    " every call, and says which it was.",
    (
        Key(
            "iterations",
            Number(1, 10_000),
            _DEFAULT.iterations,
            str(_DEFAULT.iterations),
            "Replies of the model, each with the calls in it.",
        ),
        Key(
            "calls",
            Number(1, 1_000),
            _DEFAULT.calls,
            str(_DEFAULT.calls),
            "Calls of one reply that are made; the others are not, and the model is told.",
        ),
        Key(
            "time",
            Duration(),
            _DEFAULT.seconds,
            "1h",
            "Wall clock, waiting for a person included. When it is over, what runs is interrupted.",
        ),
        Key(
            "tokens",
            Number(1, 10**12),
            None,
            "none",
            "Tokens read and written, as the provider counts them, those of sub-agents included."
            " No call is made whose result nobody could read.",
        ),
        Key(
            "repeatedFailures",
            Number(1, 1_000),
            _DEFAULT.repeated_failures,
            str(_DEFAULT.repeated_failures),
            "How often the very same call may fail, and how many replies in a row may be cut off.",
        ),
        Key(
            "resultCharacters",
            Number(1_000, 10**9),
            _DEFAULT.result_characters,
            str(_DEFAULT.result_characters),
            "Characters of one result that the model is shown: of a longer one its head and tail.",
        ),
        Key(
            "batchCharacters",
            Number(1_000, 10**9),
            _DEFAULT.batch_characters,
            str(_DEFAULT.batch_characters),
            "Characters that all results of one reply may have together, at least as many.",
        ),
    ),
)


def limits_of(given: Given | None, findings: Findings) -> TurnLimits:
    """The bounds that the section gives, with the defaults of what it leaves out."""
    draft: Draft = {} if given is None else given.value

    def value(name: str) -> Any:
        return draft[name].value if name in draft else LIMITS[name].default

    one, together = value("resultCharacters"), value("batchCharacters")
    if given is not None and together < one:
        said = draft.get("batchCharacters", given)
        message = f"results of one reply may have {together:,} characters together, and one {one:,}"
        findings.add(
            said.place, said.path, message, "give batchCharacters no less than one may have"
        )
        together = one
    return TurnLimits(
        iterations=value("iterations"),
        calls=value("calls"),
        seconds=value("time"),
        tokens=value("tokens"),
        repeated_failures=value("repeatedFailures"),
        result_characters=one,
        batch_characters=together,
    )
