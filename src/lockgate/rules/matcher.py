"""What a rule may say of a call besides the tool's name: patterns for subjects and for arguments.

A pattern is asked two different questions. An allow rule asks whether *everything* is meant for
certain (`allows`); a deny or ask rule, how far *anything* may be meant (`catches`). Where the two
differ the strict answer counts on either side.
"""

from __future__ import annotations

import enum
from typing import Any, Protocol

import msgspec

from lockgate.tools.subject import Resolved, SubjectKind


class Match(enum.IntEnum):
    """How far a pattern means something. Ordered."""

    NO = 0
    MAYBE = 1
    """It depends on what is not known before it runs."""
    YES = 2


class SubjectPattern(Protocol):
    """What stands in `Tool(...)` for a path or an address."""

    @property
    def text(self) -> str:
        """As it was written."""
        ...

    @property
    def kind(self) -> SubjectKind:
        """The kind of subject it is a pattern for."""
        ...

    @property
    def constrains(self) -> bool:
        """False if it means everything there is, such as `*`."""
        ...

    def allows(self, resolved: Resolved) -> bool:
        """Whether the subject is meant for certain. Not for one with a `problem`."""
        ...

    def catches(self, resolved: Resolved) -> Match:
        """How far the subject is meant by a rule that has to hold. YES for one with a `problem`,
        MAYBE for a path that is `unplaced`."""
        ...


class ValuePattern(Protocol):
    """What stands after the `=` in `Tool(name=...)`."""

    @property
    def text(self) -> str:
        """As it was written."""
        ...

    @property
    def kind(self) -> SubjectKind | None:
        """PATH if the argument has to be resolved before it is judged, else None."""
        ...

    @property
    def constrains(self) -> bool:
        """False if it means every value, such as `*`."""
        ...

    def allows(self, value: Any, resolved: Resolved | None) -> bool:
        """Whether the whole value, every element of an array, is meant for certain."""
        ...

    def catches(self, value: Any, resolved: Resolved | None) -> Match:
        """How far any part of the value is meant."""
        ...


class Parameter(msgspec.Struct, frozen=True):
    """`name=pattern`: what a rule says of one argument. An absent one satisfies no allow rule."""

    name: str
    pattern: ValuePattern
