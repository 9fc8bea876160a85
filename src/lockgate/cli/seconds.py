"""A number of seconds on the command line."""

from __future__ import annotations

import math
from typing import Final

import click


class Seconds(click.ParamType[float]):
    """A finite number over 0: with any other, no call ends when it should."""

    name = "seconds"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Read it, or say what is wrong with it."""
        try:
            seconds = float(str(value))
        except ValueError:
            seconds = math.nan
        if not 0 < seconds < math.inf:
            self.fail(f"{str(value)!r} is no number of seconds over 0", param, ctx)
        return seconds


SECONDS: Final = Seconds()
"""The type of an option in seconds."""
