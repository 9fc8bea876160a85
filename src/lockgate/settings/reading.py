"""The declarative reader: a section is a table of keys, and one table serves everything.

`read_section` follows it, spelling hints list it, `settings.reference` prints it. What a file gives
is a `Draft`: only the keys that stand in it, each value with its place, so that layers can be
merged before defaults come in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol, TypeAlias

import msgspec

from lockgate.settings.expansion import expand
from lockgate.settings.findings import Findings, spelling_hint
from lockgate.settings.nodes import Node, Place, Scalar, Table, is_null, kind_of

_NONE: Mapping[str, str] = MappingProxyType({})


class Missing:
    """What a kind returns after a finding: there is no value."""


MISSING: Final = Missing()


@dataclass(frozen=True, slots=True)
class Given:
    """A value that a file gives, and where."""

    value: Any = field(repr=False)
    place: Place
    path: str
    """Key path in that file."""


Draft: TypeAlias = Mapping[str, Given]
"""One section as one file, or several merged, give it."""


class At(msgspec.Struct, frozen=True):
    """Where a reader stands, and what it may use."""

    findings: Findings
    folder: Path
    """Of the file; relative paths start here."""
    environ: Mapping[str, str] | None
    """For `${NAME}`; None reads a file as it was written, for display and for its acceptance."""
    path: str = ""
    owner: str = ""
    """Put before messages: `server "git"`."""
    expands: bool = False
    """Whether the key that is read is one of those in which variables expand."""

    def key(self, name: str, *, expands: bool = False) -> At:
        """One key further in."""
        return msgspec.structs.replace(
            self, path=f"{self.path}.{name}" if self.path else name, expands=expands
        )

    def item(self, index: int) -> At:
        """One list item further in."""
        return msgspec.structs.replace(self, path=f"{self.path}[{index}]")

    def owned(self, owner: str) -> At:
        return msgspec.structs.replace(self, owner=owner)

    def fault(self, node: Node, message: str, hint: str | None = None) -> Missing:
        """Note a finding at `node`; returns `MISSING`."""
        text = f"{self.owner}: {message}" if self.owner else message
        self.findings.add(node.place, self.path, text, hint)
        return MISSING

    def text(self, node: Scalar, *, many_lines: bool = False) -> tuple[str, bool] | Missing:
        """The text of a scalar, expanded where the key allows it, and whether a variable was in it.

        A text that came from a variable must never be shown.
        """
        if not self.expands:
            return node.text, False
        expanded = expand(node.text, self.environ, many_lines=many_lines)
        for fault in expanded.faults:
            self.fault(node, fault.message, fault.hint)
        if expanded.faults:
            return MISSING
        return expanded.text, bool(expanded.variables)


class Kind(Protocol):
    """What a value may be: reads a node, merges two layers, and describes itself."""

    @property
    def words(self) -> str:
        """For the reference page, such as `duration` or `ignore | trust`."""
        ...

    def read(self, node: Node, at: At) -> Any:
        """The value, or `MISSING` after a finding."""
        ...

    def merge(self, earlier: Any, later: Any) -> Any:
        """The value of two layers that both give the key."""
        ...


class Key(msgspec.Struct, frozen=True):
    """One key of a section."""

    name: str
    kind: Kind
    default: Any
    """What holds when no layer gives it."""
    shown: str
    """The default as the reference page shows it."""
    doc: str
    """One or two sentences for the reference page."""
    expands: bool = False
    """Whether `${NAME}` is replaced in it."""
    empty: bool = False
    """Whether nothing behind the key (null) means empty rather than a mistake."""


class Section(msgspec.Struct, frozen=True):
    """One level of the file."""

    title: str
    """As it is called on the reference page: `mcp.servers[]`."""
    doc: str
    keys: tuple[Key, ...]
    also_called: Mapping[str, str] = msgspec.field(default_factory=lambda: _NONE)
    """Words of other programs, each with ours."""
    told: Mapping[str, str] = msgspec.field(default_factory=lambda: _NONE)
    """Unknown keys that deserve a sentence of their own."""
    stray_server: bool = False
    """Whether an unknown key with a command under it is a server in the wrong place."""

    def __getitem__(self, name: str) -> Key:
        """The key of that name; `KeyError` if there is none."""
        for key in self.keys:
            if key.name == name:
                return key
        raise KeyError(name)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(key.name for key in self.keys)


def read_section(section: Section, node: Node, at: At) -> Draft:
    """The keys that a mapping gives. Everything wrong with it goes to the findings."""
    if is_null(node):
        return {}
    if not isinstance(node, Table):
        at.fault(node, f"must be a mapping, not {kind_of(node)}", _list_hint(section))
        return {}
    given: dict[str, Given] = {}
    for word, value in node:
        key = next((key for key in section.keys if key.name == word.text), None)
        if key is None:
            at.key(word.text).fault(
                word, f"unknown key {word.text!r}", _unknown(section, word.text, value)
            )
            continue
        inner = at.key(key.name, expands=key.expands)
        if is_null(value) and not key.empty:
            inner.fault(
                value, "has no value", f"give one, or remove the key (default: {key.shown})"
            )
            continue
        found = key.kind.read(value, inner)
        if not isinstance(found, Missing):
            given[key.name] = Given(found, word.place, inner.path)
    return given


def merge_drafts(section: Section, earlier: Draft, later: Draft) -> Draft:
    """Two layers of one section, key by key; what the kind of a key can not join, the later wins.

    A joined value has the place of the later layer.
    """
    merged = dict(earlier)
    for name, given in later.items():
        before = merged.get(name)
        if before is None:
            merged[name] = given
        else:
            value = section[name].kind.merge(before.value, given.value)
            merged[name] = Given(value, given.place, given.path)
    return merged


def _unknown(section: Section, word: str, value: Node) -> str:
    if word in section.told:
        return section.told[word]
    if (
        section.stray_server
        and isinstance(value, Table)
        and (value.get("command") is not None or value.get("url") is not None)
    ):
        return f"a server stands in the list mcp.servers, with its name in it: - name: {word}"
    return spelling_hint(word, section.names, also_called=section.also_called)


def _list_hint(section: Section) -> str | None:
    if "servers" in section.names:
        return "servers stand in a list under mcp, servers"
    return f"keys: {', '.join(section.names)}"
