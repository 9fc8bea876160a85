"""How a declared hook fails: one kind of error, whose text may be told."""

from __future__ import annotations

from lockgate.errors import LocalError


class HookFailure(LocalError):
    """A hook failed, or what it answered is none. The text is safe to log and to tell: it holds
    nothing that the hook said, and no argument."""


def failure_words(error: BaseException) -> str:
    """What may be told of whatever a hook raised: the text of ours, of all else its kind alone."""
    return str(error) if isinstance(error, HookFailure) else type(error).__name__
