"""The kind of an approver list: words, and programs of the operator."""

from __future__ import annotations

from typing import Any

import msgspec

from lockgate.settings.config import ApproverProgram
from lockgate.settings.findings import spelling_hint
from lockgate.settings.kinds import Argument, Choice, Command, Many
from lockgate.settings.nodes import Listing, Node, Table, kind_of
from lockgate.settings.reading import MISSING, At, Missing

_HINT = "write - command: [PROGRAM, ARGUMENT, ...]"


class Approver(msgspec.Struct, frozen=True):
    """One approver: a word, or `command: [PROGRAM, ARGUMENT, ...]`."""

    names: Choice
    words: str = "approver"

    def read(self, node: Node, at: At) -> Any:
        """The word, or an `ApproverProgram`, its path made absolute."""
        if not isinstance(node, Table):
            return self.names.read(node, at)
        for word, _ in node:
            if word.text != "command":
                hint = spelling_hint(word.text, ("command",))
                return at.key(word.text).fault(word, f"unknown key {word.text!r}", hint)
        command = node.get("command")
        if command is None:
            return at.fault(node, "names no approver", _HINT)
        return self._program(command, at.key("command", expands=True))

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later

    @staticmethod
    def _program(node: Node, at: At) -> ApproverProgram | Missing:
        if not isinstance(node, Listing):
            return at.fault(node, f"must be a list, not {kind_of(node)}", _HINT)
        if not node.items:
            return at.fault(node, "is empty", _HINT)
        kinds = (Command(), *(Argument() for _ in node.items[1:]))
        read = [
            kind.read(item, at.item(i))
            for i, (kind, item) in enumerate(zip(kinds, node.items, strict=True))
        ]
        found = tuple(word for word in read if not isinstance(word, Missing))
        return ApproverProgram(found) if len(found) == len(read) else MISSING


class Approvers(msgspec.Struct, frozen=True):
    """A list of them, asked in turn."""

    names: Choice
    words: str

    def read(self, node: Node, at: At) -> tuple[Any, ...] | Missing:
        """The approvers in order. The queue puts every question off, so nothing comes after it."""
        found = Many(Approver(self.names), self.words).read(node, at)
        if not isinstance(found, Missing) and "queue" in found[:-1]:
            hint = "put queue last: whoever stands after it would never be asked"
            return at.fault(node, "queue is not the last", hint)
        return found

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later
