"""A resolver of names that says what a test tells it."""

from __future__ import annotations

from typing import TypeAlias

Answer: TypeAlias = tuple[str, ...] | OSError
"""The addresses of a name, or what is raised instead."""


class ScriptedLookup:
    """A `Lookup`: each name has its answers, one after the other; the last one stays.

    A name without any is not known.
    """

    def __init__(self) -> None:
        self.asked: list[str] = []
        """Every name that was looked up, in order."""
        self._answers: dict[str, list[Answer]] = {}

    def on(self, host: str, *answers: Answer) -> None:
        """What `host` leads to: the first time, the second time, ..."""
        self._answers[host] = list(answers)

    async def __call__(self, host: str) -> tuple[str, ...]:
        """The next answer."""
        self.asked.append(host)
        answers = self._answers.get(host, [OSError("unknown name")])
        found = answers.pop(0) if len(answers) > 1 else answers[0]
        if isinstance(found, OSError):
            raise found
        return found
