"""What the rules say where a call that was decided leads further: a redirect to another address."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from lockgate.decision import Decided
from lockgate.rules.about import AboutTool
from lockgate.tools.subject import ResolvedUrl, Subjects


class RulesOnward:
    """The rules about one tool, held against its call with another address in the place of the
    given one. An allow rule that ends one day does not answer here: a tool has no clock to ask."""

    def __init__(self, about: AboutTool, arguments: Mapping[str, Any], parameter: str) -> None:
        self._about = about
        self._arguments = dict(arguments)
        self._parameter = parameter

    def __call__(self, address: ResolvedUrl, *, attended: bool) -> Decided | None:
        """The rules' opinion; None if no rule says anything."""
        arguments = {**self._arguments, self._parameter: address.text}
        subjects = Subjects({self._parameter: address})
        opinion = self._about.judge(arguments, subjects, attended=attended, now=math.inf)
        return None if opinion.decision is None else Decided(opinion.decision, opinion.reasons)
