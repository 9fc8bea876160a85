"""One command that a line runs or may run."""

from __future__ import annotations

from dataclasses import dataclass, field

from lockgate.rules.command.words import Word


@dataclass(frozen=True, slots=True)
class Command:
    """A program or builtin with its arguments. Values of arguments: `repr` hides them."""

    words: tuple[Word, ...] = field(repr=False)
    """The name and the arguments; never empty."""
    certain: bool = True
    """False for a reading that is only possible: `git` in `sudo -Z git`, where -Z is not known."""

    @property
    def name(self) -> str | None:
        """The word it is called by, or None if an expansion decides it."""
        return self.words[0].literal

    @property
    def base_name(self) -> str | None:
        """The last part of the name: `rm` for `/bin/rm`."""
        name = self.name
        return None if name is None else name.rpartition("/")[2]

    @property
    def literal(self) -> tuple[str, ...] | None:
        """All words, or None if one of them is not known."""
        texts = tuple([word.text for word in self.words if word.closed])
        return texts if len(texts) == len(self.words) else None
