"""Definitions in Markdown that a configuration names: read once, and accepted as it is (B-13).

What a found project's file names counts only once the person has accepted the content of each of
its definitions: a model obeys them. A changed one is asked about again, and so is one more. What
lies beside a definition is not part of that: it reaches a model through tools alone, which ask by
their own rules.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from lockgate.agent.definitions.document import Document, read_document
from lockgate.errors import ConfigError, Problem
from lockgate.settings.acceptance import Acceptance, AcceptedFiles, Part, Pending, digest_of
from lockgate.settings.definition_keys import DefinitionPlace
from lockgate.settings.findings import Findings
from lockgate.settings.layers import Layers
from lockgate.settings.starts import Start

_D = TypeVar("_D")


@dataclass(frozen=True, slots=True)
class Read(Generic[_D]):
    """One definition, and what it was read from."""

    definition: _D
    document: Document
    place: DefinitionPlace


class Definitions(Generic[_D]):
    """Reads definitions of one kind."""

    def __init__(
        self,
        files: Callable[[Path], tuple[Path, ...]],
        make: Callable[[Document], _D],
        tell: Callable[[_D], Iterable[str]],
        *,
        starts: Callable[[Document], Iterable[Start]] = lambda document: (),
        calls: Callable[[Document], Iterable[str]] = lambda document: (),
    ) -> None:
        """`files` says which files a path means, `make` makes a definition; both raise
        `ConfigError`. `tell` gives what it would do, each sentence completing "It would ...";
        `starts` the programs that its document would start, `calls` what that would do besides."""
        self._files = files
        self._make = make
        self._tell = tell
        self._starts = starts
        self._calls = calls

    def read(self, places: Iterable[DefinitionPlace], findings: Findings) -> tuple[Read[_D], ...]:
        """Every definition of `places`, in order. What is wrong goes to `findings`."""
        return tuple(self._read(places, findings))

    def waiting(
        self, read: Sequence[Read[_D]], layers: Layers, *, accepted_too: bool = False
    ) -> tuple[Pending, ...]:
        """What waits for the person's word, one for each path that the project's file gives.

        `accepted_too` gives those of which nothing waits as well. Nothing waits if the project's
        file was named: whoever names it has read it.
        """
        by_place: dict[Path, list[Read[_D]]] = {}
        for one in read:
            if one.place.place.file == layers.project and not layers.named:
                by_place.setdefault(Path(one.place.path), []).append(one)
        found = (self._pending(path, those, layers) for path, those in by_place.items())
        return tuple(p for p in found if accepted_too or p.acceptance is not Acceptance.ACCEPTED)

    def _read(self, places: Iterable[DefinitionPlace], findings: Findings) -> Iterator[Read[_D]]:
        seen: set[Path] = set()
        for place in places:
            try:
                paths = self._files(Path(place.path))
            except ConfigError as error:
                findings.include(_at(error, place))
                continue
            except OSError as error:  # of a directory that it is in
                what = f"can not be looked through: {error.strerror or type(error).__name__}"
                findings.include(_at(ConfigError(Problem(what, file=Path(place.path))), place))
                continue
            for path in paths:
                if (real := path.resolve()) in seen:
                    continue
                seen.add(real)
                try:
                    document = read_document(path)
                    yield Read(self._make(document), document, place)
                except ConfigError as error:
                    findings.include(error)

    def _pending(self, path: Path, read: Sequence[Read[_D]], layers: Layers) -> Pending:
        accepted = AcceptedFiles(layers.accepted_dir)
        states = {r.document.path: accepted.look_up(r.document.path, r.document.data) for r in read}
        waiting = [r for r in read if states[r.document.path] is not Acceptance.ACCEPTED]
        shown = waiting or list(read)
        documents = [r.document for r in shown]
        parts = tuple(Part(one.path, digest_of(one.data), one.data) for one in documents)
        whole = hashlib.sha256("".join(sorted(part.sha256 for part in parts)).encode()).hexdigest()
        return Pending(
            path,
            parts[0].sha256 if len(parts) == 1 else whole,
            _worst(states),
            tuple(start for r in shown for start in self._starts(r.document)),
            tuple(
                line
                for r in shown
                for line in (*self._tell(r.definition), *self._calls(r.document))
            ),
            parts=parts,
        )


def _worst(states: Mapping[Path, Acceptance]) -> Acceptance:
    for state in (Acceptance.DAMAGED, Acceptance.CHANGED, Acceptance.NEW):
        if state in states.values():
            return state
    return Acceptance.ACCEPTED


def _at(error: ConfigError, place: DefinitionPlace) -> ConfigError:
    """What is wrong with a path, told where the path is given."""
    where = place.place
    return ConfigError(
        *(
            problem
            if problem.file != Path(place.path)
            else Problem(
                f"{problem.file}: {problem.message}",
                place.key,
                where.file,
                where.line,
                where.column,
                problem.hint,
            )
            for problem in error.problems
        )
    )
