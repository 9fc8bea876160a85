"""The person's answers for a project that hold for good: allow rules and verdicts, with a pin each.

They stand in the answers layer, outside of the project's tree, where nothing but a person's answer
puts them. What a person wrote there by hand has no pin, is no answer, and is left alone. Every
change is made under a lock and replaces the file whole, comments and layout kept; a file that can
not be read is never written to.
"""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec

from lockgate.errors import ConfigError, Problem
from lockgate.settings.atomic import write_atomically
from lockgate.settings.entry import quoted
from lockgate.settings.filelock import locked
from lockgate.settings.findings import Findings
from lockgate.settings.keys import ANSWERS
from lockgate.settings.nodes import Listing, Node, Place, Scalar, Table
from lockgate.settings.reading import At, read_section
from lockgate.settings.splice import Piece, append, content, cut_entry, cut_item, parsed, put
from lockgate.settings.yamlfile import decode
from lockgate.textfile import read_file

Word: TypeAlias = Literal["read-only", "additive"]

PATIENCE: Final = 2.0
"""Seconds to wait for another program that changes the file; a call waits meanwhile."""

_HEAD: Final = (
    "# What you answered for good in this project. lockgate grants list tells it in words, and",
    "# lockgate grants revoke takes it back.",
)
_ALLOW: Final = ("permissions", "allow")
_SERVERS: Final = ("mcp", "servers")
_SAID: Final[Mapping[tuple[tuple[str, str], ...], Word]] = {
    (("level", "read-only"),): "read-only",
    (("destructive", "false"),): "additive",
}
"""What the words on a tool are written as, beside the pin."""
_OWNER_WRITES: Final = 0o200


class AnsweredRule(msgspec.Struct, frozen=True):
    """Exactly this call, in attended runs."""

    text: str
    destructive: bool
    pin: str
    """Digest of the tool's definition; with another one the answer says nothing."""

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about; a later answer about the same takes its place."""
        return "rule", self.text


class AnsweredVerdict(msgspec.Struct, frozen=True):
    """A word on one tool of a server, by its original name."""

    server: str
    tool: str
    word: Word
    pin: str

    @property
    def key(self) -> tuple[str, ...]:
        """What it is about."""
        return "verdict", self.server, self.tool


Answered: TypeAlias = AnsweredRule | AnsweredVerdict


class KeptAnswer(msgspec.Struct, frozen=True):
    """An answer, where it stands, and the word by which it is taken back."""

    id: str
    """`a` and 10 hexadecimal digits, of what it says."""
    answered: Answered
    place: Place


def keep_answer(path: Path, answered: Answered) -> None:
    """Write an answer into the file, making it (0600) if it is missing.

    One that says the same about the same is replaced; one that is there as it is costs nothing.
    Raises `ConfigError`, and writes nothing, if the file can not be read, changed or written.
    """

    def change(text: str) -> str:
        standing = [kept for kept in _found(text, path) if kept.answered.key == answered.key]
        if [kept.answered for kept in standing] == [answered]:
            return text
        text, _ = _without_all(text, path, lambda kept: kept.answered.key == answered.key)
        return _with(text, answered, path)

    _change(path, change)


def kept_answers(path: Path) -> tuple[KeptAnswer, ...]:
    """Every answer in the file, rules first; none if there is no file. Raises `ConfigError` for a
    file that can not be used."""
    data = read_file(path)
    if data is None:
        return ()
    text = decode(data, path)
    _check(text, path)
    return tuple(_found(text, path))


def take_back(path: Path, ids: frozenset[str] | None) -> frozenset[str]:
    """Take those answers (None: all) out of the file; returns which were there.

    Raises `ConfigError`, and writes nothing, if the file can not be read, changed or written.
    """
    gone: set[str] = set()

    def change(text: str) -> str:
        text, out = _without_all(text, path, lambda kept: ids is None or kept.id in ids)
        gone.update(out)
        return text

    if read_file(path) is not None:
        _change(path, change)
    return frozenset(gone)


def _change(path: Path, change: Callable[[str], str]) -> None:
    with locked(path, patience=PATIENCE):
        before = read_file(path)
        text = decode(before or b"", path)
        changed = change(text)
        if changed == text:
            return
        _check(changed, path)
        if before is not None and not path.stat().st_mode & _OWNER_WRITES:
            # Replacing it needs no permission of its own; who took it away meant it.
            hint = "give yourself the permission to write it, if it is to change"
            raise ConfigError(Problem("is read-only", file=path, hint=hint))
        mark = codecs.BOM_UTF8 if (before or b"").startswith(codecs.BOM_UTF8) else b""
        write_atomically(path, mark + changed.encode(), mode=0o600)


def _check(text: str, path: Path) -> None:
    """Raise unless the file can be used."""
    root = parsed(text, path)
    findings = Findings()
    if root is not None:
        read_section(ANSWERS, root, At(findings, path.parent, None))
    findings.raise_any()


def _with(text: str, answered: Answered, path: Path) -> str:
    text = text or append("", _HEAD)
    root = parsed(text, path)
    if isinstance(answered, AnsweredRule):
        new = put(text, root, _ALLOW, _rule_piece(answered))
    else:
        new = _with_verdict(text, root, answered)
    if new is None or not _holds(new, answered, path):
        message = "is laid out in a way that an answer can not be put in"
        raise ConfigError(Problem(message, file=path, hint="lay it out in lines, not in brackets"))
    return new


def _with_verdict(text: str, root: Node | None, answered: AnsweredVerdict) -> str | None:
    name, verdict = quoted(answered.tool), f"{{{', '.join(_verdict_keys(answered))}}}"
    entry = Piece((f"{name}: {verdict}",), f"{name}: {verdict}", item=False)
    server = _server(root, answered.server)
    if server is not None:
        verdicts = server.get("verdicts")
        place = next((k.place for k, _ in _entries(verdicts) if k.text == answered.tool), None)
        if place is not None:
            message = f"says something of the tool {quoted(answered.tool)} already"
            hint = "it was written by hand: change it there"
            raise ConfigError(Problem(message, "", place.file, place.line, place.column, hint))
        return put(text, server, ("verdicts",), entry)
    block = (f"- name: {quoted(answered.server)}", "  verdicts:", f"    {name}: {verdict}")
    flow = f"{{name: {quoted(answered.server)}, verdicts: {{{name}: {verdict}}}}}"
    return put(text, root, _SERVERS, Piece(block, flow))


def _entries(node: Node | None) -> tuple[tuple[Scalar, Node], ...]:
    return node.entries if isinstance(node, Table) else ()


def _rule_piece(answered: AnsweredRule) -> Piece:
    keys = [f"rule: {quoted(answered.text)}", "exact: true"]
    if answered.destructive:
        keys.append("destructive: true")
    keys.append(f"pin: {quoted(answered.pin)}")
    return Piece((f"- {keys[0]}", *(f"  {key}" for key in keys[1:])), f"{{{', '.join(keys)}}}")


def _verdict_keys(answered: AnsweredVerdict) -> tuple[str, ...]:
    said = next(said for said, word in _SAID.items() if word == answered.word)
    return *(f"{key}: {value}" for key, value in said), f"pin: {quoted(answered.pin)}"


def _holds(text: str, answered: Answered, path: Path) -> bool:
    """Whether the text says it, and nothing is there twice."""
    if content(text, path) is None:
        return False
    return [k.answered for k in _found(text, path) if k.answered.key == answered.key] == [answered]


def _without_all(
    text: str, path: Path, meant: Callable[[KeptAnswer], bool]
) -> tuple[str, frozenset[str]]:
    """The text without every answer that is `meant`, and which those were."""
    gone: set[str] = set()
    # One at a time: each cut moves what stands behind it.
    while kept := next(filter(meant, _found(text, path)), None):
        text = _without(text, kept, path)
        gone.add(kept.id)
    return text, frozenset(gone)


def _without(text: str, kept: KeptAnswer, path: Path) -> str:
    root = parsed(text, path)
    wanted = [one.answered for one in _found(text, path) if one != kept]
    answered = kept.answered
    if isinstance(answered, AnsweredRule):
        allow = _at(root, _ALLOW)
        new = text
        if isinstance(allow, Listing):
            places = [item.place for item in allow.items]
            new = cut_item(text, allow, places.index(kept.place))
    else:
        new = _without_verdict(text, root, answered)
    if [one.answered for one in _found(new, path)] != wanted:
        hint = f"take the one in line {kept.place.line} out yourself"
        message = "is laid out in a way that an answer can not be taken out"
        raise ConfigError(Problem(message, file=path, hint=hint))
    return new


def _without_verdict(text: str, root: Node | None, answered: AnsweredVerdict) -> str:
    servers, server = _at(root, _SERVERS), _server(root, answered.server)
    verdicts = server.get("verdicts") if server is not None else None
    if server is None or not isinstance(servers, Listing) or not isinstance(verdicts, Table):
        return text
    names = [key.text for key, _ in verdicts]
    if len(names) > 1:
        return cut_entry(text, verdicts, names.index(answered.tool))
    # Nothing else is said of the server: an empty mapping would be a fault.
    return cut_item(text, servers, servers.items.index(server))


def _found(text: str, path: Path) -> Iterator[KeptAnswer]:
    """The answers in a text. Raises `ConfigError` for what is not valid."""
    root = parsed(text, path)
    allow, servers = _at(root, _ALLOW), _at(root, _SERVERS)
    for item in allow.items if isinstance(allow, Listing) else ():
        said = _words(item)
        if said.keys() - {"destructive"} == {"rule", "exact", "pin"} and said["exact"] == "true":
            destructive = said.get("destructive") == "true"
            yield _kept(AnsweredRule(said["rule"], destructive, said["pin"]), item.place)
    for server in servers.items if isinstance(servers, Listing) else ():
        yield from _verdicts(server)


def _verdicts(server: Node) -> Iterator[KeptAnswer]:
    name = server.get("name") if isinstance(server, Table) else None
    verdicts = server.get("verdicts") if isinstance(server, Table) else None
    if not isinstance(name, Scalar) or not isinstance(verdicts, Table):
        return
    for tool, verdict in verdicts:
        said = _words(verdict)
        pin = said.pop("pin", "")
        word = _SAID.get(tuple(said.items()))
        if pin and word is not None:
            yield _kept(AnsweredVerdict(name.text, tool.text, word, pin), tool.place)


def _words(node: Node) -> dict[str, str]:
    """A mapping of single words; nothing if it is anything else."""
    said = {
        key.text: value.text
        for key, value in (node if isinstance(node, Table) else ())
        if isinstance(value, Scalar)
    }
    return said if isinstance(node, Table) and len(said) == len(node.entries) else {}


def _kept(answered: Answered, place: Place) -> KeptAnswer:
    said = "\0".join((*answered.key, answered.pin))
    return KeptAnswer(f"a{hashlib.sha256(said.encode()).hexdigest()[:10]}", answered, place)


def _server(root: Node | None, name: str) -> Table | None:
    servers = _at(root, _SERVERS)
    for server in servers.items if isinstance(servers, Listing) else ():
        said = server.get("name") if isinstance(server, Table) else None
        if isinstance(server, Table) and isinstance(said, Scalar) and said.text == name:
            return server
    return None


def _at(root: Node | None, path: tuple[str, ...]) -> Node | None:
    node = root
    for name in path:
        node = node.get(name) if isinstance(node, Table) else None
    return node
