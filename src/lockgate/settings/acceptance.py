"""A file that was found starts nothing until the person has accepted its content (B-13).

What is remembered is the hash of the exact bytes for the exact path, one small file for each, so
that damage to one loosens nothing and costs one question.
"""

from __future__ import annotations

import enum
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from lockgate.errors import ConfigError, Problem
from lockgate.settings.assembly import servers_of
from lockgate.settings.atomic import write_atomically
from lockgate.settings.hook_telling import hook_starts
from lockgate.settings.loosening import loosened
from lockgate.settings.reading import Draft
from lockgate.settings.starts import Start, approver_starts, starts_of
from lockgate.settings.telling import folded

_LINES_IN_SIGHT: Final = 16
"""Lines that a terminal of 24 still shows together with the question below them."""


class Acceptance(enum.Enum):
    """What is known about one content of one file."""

    ACCEPTED = "accepted"
    NEW = "new"
    """Nothing was ever accepted there."""
    CHANGED = "changed"
    """Another content was accepted."""
    DAMAGED = "damaged"
    """The record can not be read, which counts as nothing accepted."""


class _Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One accepted content, on disk."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Part:
    """One file of several that are accepted together."""

    path: Path
    sha256: str
    data: bytes = field(default=b"", repr=False)
    """What it holds, as it was read."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A content that waits for the person's word: what it is and what it would do."""

    path: Path
    sha256: str
    acceptance: Acceptance
    starts: tuple[Start, ...]
    loosens: tuple[str, ...]
    """One sentence for each thing that the file would trust or let pass."""
    parts: tuple[Part, ...] = ()
    """The files that are accepted in the place of `path`, which is then where they are."""
    data: bytes = field(default=b"", repr=False)
    """What `path` holds, as it was read; empty with `parts`."""

    @property
    def accepted(self) -> tuple[Part, ...]:
        """Each file that is accepted, with what it holds."""
        return self.parts or (Part(self.path, self.sha256, self.data),)

    @property
    def summary(self) -> tuple[str, ...]:
        """What a person reads before accepting; what is long goes on in lines of its own."""
        told = [start.sentence for start in self.starts]
        told.extend("\n      ".join(folded(f"It would {what}")) for what in self.loosens)
        lines = sum(one.count("\n") + 1 for one in told)
        if lines > _LINES_IN_SIGHT:
            told.append(f"(These are {lines} lines: scroll up to the first.)")
        return tuple(told) or ("It starts no program and loosens nothing.",)


class NotAccepted(ConfigError):
    """A configuration was found in the working directory and its content is not accepted."""

    def __init__(self, pending: Pending) -> None:
        message = {
            Acceptance.CHANGED: "has changed since you accepted it",
            Acceptance.DAMAGED: "is not accepted: what was noted about it is damaged",
        }.get(pending.acceptance, "is not accepted yet")
        what = "the files in it" if pending.parts else "the file"
        ending = (
            f"Nothing was started. Read {what}, then run: lockgate config accept",
            "(or name the file yourself: -c FILE)",
        )
        hint = "\n  ".join((*pending.summary, *ending))
        super().__init__(Problem(message, file=pending.path, hint=hint))
        self.pending = pending


class AcceptedFiles:
    """The contents that a person has accepted, in a directory that only they can read."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def look_up(self, path: Path, data: bytes) -> Acceptance:
        """Whether exactly these bytes were accepted for this path."""
        try:
            with self._record(path).open("rb") as file:
                record = msgspec.json.decode(file.read(65_536), type=_Record)
        except FileNotFoundError:
            return Acceptance.NEW
        except (OSError, msgspec.DecodeError):
            return Acceptance.DAMAGED
        return Acceptance.ACCEPTED if record.sha256 == digest_of(data) else Acceptance.CHANGED

    def accept(self, path: Path, sha256: str) -> None:
        """Remember a content in place of what was accepted for `path` before.

        Raises `ConfigError` if that can not be written.
        """
        shown = os.fsencode(_key(path)).decode("utf-8", "replace")
        data = msgspec.json.encode(_Record(shown, sha256))
        write_atomically(self._record(path), data, mode=0o600)

    def accept_all(self, pending: Pending) -> None:
        """Remember what was shown as `pending`, whatever files hold by now. Raises as `accept`."""
        for part in pending.accepted:
            self.accept(part.path, part.sha256)

    def _record(self, path: Path) -> Path:
        name = hashlib.sha256(os.fsencode(_key(path))).hexdigest()[:32]
        return self._folder / f"{name}.json"


def digest_of(data: bytes) -> str:
    """What stands for a content."""
    return hashlib.sha256(data).hexdigest()


def pending_of(
    path: Path, data: bytes, acceptance: Acceptance, draft: Draft, own: Draft
) -> Pending:
    """Describe a content from its draft, read as it was written (no variables expanded).

    `own` is the draft of the person's own file: what the content loosens is measured against it.
    """
    starts = (
        *starts_of(servers_of(draft), servers_of(own)),
        *approver_starts(draft),
        *hook_starts(draft),
    )
    loosens = loosened(draft, own)
    return Pending(path, digest_of(data), acceptance, starts, loosens, data=data)


def _key(path: Path) -> Path:
    # The directory decides what its relative paths mean: a link to the file is another file.
    return path.parent.resolve() / path.name
