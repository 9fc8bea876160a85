"""What a call is about: the argument that says so, and what it was resolved to.

A tool of ours names its subjects in its definition; permission rules speak of them, as in
`Read(./docs/**)`. Before a decision each is resolved once, by an effect (`calls.resolving`); the
decision is made on the result, and the tool uses the result and never resolves again.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias, cast

from lockgate.decision import Decided

if TYPE_CHECKING:  # its tables are only for those who have a tool that goes there
    from lockgate.web.addresses import AddressRules


class SubjectKind(enum.Enum):
    """How a subject is read."""

    COMMAND = "command"
    """A shell line; every command in it counts."""
    PATH = "path"
    """A file or directory; its real, absolute path counts."""
    URL = "url"
    """An address in the web; its normalised form counts."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One argument of a tool that rules can speak of."""

    kind: SubjectKind
    parameter: str
    """Name of the argument: a string, or an array of strings."""
    writes: bool = False
    """For a path: whether the call changes what is there."""
    default: str | None = None
    """What stands for the argument when it is absent; None: then there is no such subject."""
    reach: AddressRules | None = None
    """For an address: what the tool reaches; None: nothing is said of that."""


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A path, looked up in the file system once. What a tool opens is `real` and nothing else."""

    given: str
    """As the caller wrote it."""
    lexical: str
    """Absolute, with `.` and `..` folded by the letter; symbolic links as they stand."""
    real: str
    """Absolute, every symbolic link resolved; of what does not exist yet, the part that does."""
    root: str | None
    """The file root that `real` lies in, or `lexical` where there is a `problem`; None: outside of
    all of them."""
    folds_case: bool = False
    """Whether the file system it lies in takes `A` and `a` for the same name."""
    directory: bool = False
    """Whether it is a directory now."""
    control: str | None = None
    """Why it is one of the files that decide what programs may do (B-13), or None."""
    barred: bool = False
    """Whether it lies in lockgate's own state, which no tool reaches."""
    problem: str | None = None
    """Why it could not be resolved, without the path; `real` is then of no use."""
    unplaced: bool = False
    """Whether it is relative to a directory that nobody has named: `problem` says so, `lexical` is
    then how it goes on from there, and whatever has to hold only may hold."""


@dataclass(frozen=True, slots=True)
class ResolvedUrl:
    """An address, taken apart once."""

    given: str
    """As the caller wrote it."""
    text: str
    """Normalised."""
    scheme: str
    """Lower case."""
    host: str
    """Lower case, IDNA-encoded, without a trailing dot; an IPv6 address without brackets."""
    port: int | None
    """The scheme's own if the address names none; None if the scheme has none."""
    path: str
    """Dot segments folded, escapes of unreserved characters undone; `/` at least."""
    problem: str | None = None
    """Why it is no address that rules could judge, without the address."""
    barred: str | None = None
    """Why its tool never reaches it, as far as the address says by itself; None: it may. What the
    name leads to is looked at where the connection is made."""


Resolved: TypeAlias = object
"""A `ResolvedPath`, a `ResolvedUrl`, a command line's analysis (`rules.command.line.Analysis`), or
a tuple of them for an array."""


@dataclass(frozen=True, slots=True)
class Subjects:
    """What a call is about, resolved for one decision and used by the tool as it is."""

    by_name: Mapping[str, Resolved] = field(default_factory=dict[str, Resolved])
    """By argument."""
    withheld: tuple[Withheld, ...] = ()
    """Files that a tool which searches leaves out, whatever it comes upon."""
    onward: Onward | None = field(default=None, compare=False)
    """What the rules say of an address that the given one leads to; None: nothing is known of
    it, and the tool goes nowhere else."""

    def get(self, name: str) -> Resolved | None:
        """What the argument `name` was resolved to; None if it is no subject, or absent."""
        return self.by_name.get(name)

    @property
    def paths(self) -> Iterator[tuple[str, ResolvedPath]]:
        """Every path, with the name of its argument."""
        for name, resolved in self.by_name.items():
            if isinstance(resolved, ResolvedPath):
                yield name, resolved
            elif isinstance(resolved, tuple):
                for one in cast("tuple[Resolved, ...]", resolved):
                    if isinstance(one, ResolvedPath):
                        yield name, one

    @property
    def urls(self) -> Iterator[tuple[str, ResolvedUrl]]:
        """Every address, with the name of its argument."""
        for name, resolved in self.by_name.items():
            several = cast("tuple[Resolved, ...]", resolved)
            for one in several if isinstance(resolved, tuple) else (resolved,):
                if isinstance(one, ResolvedUrl):
                    yield name, one

    @property
    def as_written(self) -> bool:
        """Whether every path is what it says: there, and without a symbolic link on the way."""
        return all(path.problem is None and path.real == path.lexical for _, path in self.paths)

    def withholds(self, path: ResolvedPath) -> bool:
        """Whether a file is to be left out."""
        return any(pattern.catches(path) for pattern in self.withheld)


class Onward(Protocol):
    """The rules of a call, held against an address that its own address redirects to."""

    def __call__(self, address: ResolvedUrl, *, attended: bool) -> Decided | None:
        """Their opinion; None if no rule says anything."""
        ...


class Withheld(Protocol):
    """A pattern of files that are not to be read, of a deny or ask rule."""

    def catches(self, resolved: Resolved) -> int:
        """Not 0 if the file is, or may be, meant."""
        ...


NO_SUBJECTS: Final = Subjects()
"""Those of a call that has none."""
