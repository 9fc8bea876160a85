"""A file that was found starts nothing until the person has accepted its content (B-13).

What is remembered is the hash of the exact bytes for the exact path, one small file for each, so
that damage to one loosens nothing and costs one question.
"""

from __future__ import annotations

import enum
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.host.settings import AnnotationTrust
from lockgate.settings.atomic import write_atomically
from lockgate.settings.config import ApproverProgram
from lockgate.settings.masking import shown_command
from lockgate.settings.reading import Draft, Given
from lockgate.showing import visible
from lockgate.traits import SideEffectLevel


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
class Start:
    """One program that a file would start."""

    server: str
    """The server it is, or what else it is for."""
    command: str
    """With its arguments, as it may be shown: one line, secrets masked."""
    env: tuple[str, ...]
    """Names of the variables it would get."""

    def __str__(self) -> str:
        env = f"  (env: {', '.join(self.env)})" if self.env else ""
        return f"{self.server}: {self.command}{env}"


@dataclass(frozen=True, slots=True)
class Pending:
    """A content that waits for the person's word: what it is and what it would do."""

    path: Path
    sha256: str
    acceptance: Acceptance
    starts: tuple[Start, ...]
    loosens: tuple[str, ...]
    """One sentence for each thing that the file would trust or let pass."""

    @property
    def summary(self) -> tuple[str, ...]:
        """The lines that a person reads before accepting."""
        lines = [f"It would start {start}" for start in self.starts]
        lines.extend(f"It would {what}" for what in self.loosens)
        return tuple(lines) or ("It starts no program and loosens nothing.",)


class NotAccepted(ConfigError):
    """A configuration was found in the working directory and its content is not accepted."""

    def __init__(self, pending: Pending) -> None:
        message = {
            Acceptance.CHANGED: "has changed since you accepted it",
            Acceptance.DAMAGED: "is not accepted: what was noted about it is damaged",
        }.get(pending.acceptance, "is not accepted yet")
        ending = (
            "Nothing was started. Read the file, then run: lockgate config accept",
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

    def _record(self, path: Path) -> Path:
        name = hashlib.sha256(os.fsencode(_key(path))).hexdigest()[:32]
        return self._folder / f"{name}.json"


def digest_of(data: bytes) -> str:
    """What stands for a content."""
    return hashlib.sha256(data).hexdigest()


def pending_of(path: Path, data: bytes, acceptance: Acceptance, draft: Draft) -> Pending:
    """Describe a content from its draft, read as it was written (no variables expanded)."""
    mcp = _section(draft, "mcp")
    servers: Mapping[str, Given] = mcp["servers"].value if "servers" in mcp else {}
    starts = (
        *(_start(name, given.value) for name, given in servers.items()),
        *_approvers(_section(draft, "approvals")),
    )
    return Pending(path, digest_of(data), acceptance, starts, tuple(_loosens(draft, servers)))


def _start(name: str, server: Draft) -> Start:
    command = _value(server, "command", "(the program your own configuration names)")
    names = tuple(visible(variable) for variable in _value(server, "env", {}))
    return Start(name, shown_command(command, _value(server, "args", ())), names)


def _approvers(approvals: Draft) -> Iterator[Start]:
    """The programs that would answer questions: they say yes in the person's place."""
    for name in ("attended", "unattended"):
        for approver in _value(approvals, name, ()):
            if isinstance(approver, ApproverProgram):
                command, *arguments = approver.command
                label = f"a program that answers in your place (approvals.{name})"
                yield Start(label, shown_command(command, arguments), ())


def _loosens(draft: Draft, servers: Mapping[str, Given]) -> list[str]:
    lines: list[str] = []
    for name, given in servers.items():
        if _value(given.value, "annotationTrust", None) is AnnotationTrust.TRUST:
            lines.append(f"believe what {name} says of its own tools")
        if verdicts := _value(given.value, "verdicts", {}):
            tools = ", ".join(visible(tool) for tool in verdicts)
            lines.append(f"take its own word on tools of {name}: {tools}")
    approvals = _section(draft, "approvals")
    if _value(approvals, "exemptAtOrBelow", None) is SideEffectLevel.MUTATING:
        lines.append("ask about destructive calls only")
    if _value(_section(draft, "agent"), "ceiling", None) is SideEffectLevel.MUTATING:
        lines.append("set the ceiling to mutating")
    if _value(_section(draft, "audit"), "content", False) is not False:
        lines.append("write the values of arguments into the record of calls")
    if "keep" in _section(draft, "audit"):
        lines.append("change how long records of calls are kept")
    for rule in _value(_section(draft, "permissions"), "allow", ()):
        lines.append(f"allow {visible(rule.text)} without asking you")
    return lines


def _section(draft: Draft, name: str) -> Draft:
    return draft[name].value if name in draft else {}


def _value(draft: Draft, name: str, default: Any) -> Any:
    return draft[name].value if name in draft else default


def _key(path: Path) -> Path:
    # The directory decides what its relative paths mean: a link to the file is another file.
    return path.parent.resolve() / path.name
