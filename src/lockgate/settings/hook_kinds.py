"""The kinds of values in a declared hook: templates, addresses, and lists of groups of handlers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from lockgate.hooks.declared.template import Template, TemplateError, parse_template, references
from lockgate.hooks.event import HookEvent
from lockgate.settings.entries import RuleText
from lockgate.settings.expansion import has_reference
from lockgate.settings.findings import spelling_hint
from lockgate.settings.kinds import Argument, Command, Many, scalar_text
from lockgate.settings.nodes import Listing, Node, Place, Scalar, Table, is_null, kind_of
from lockgate.settings.reading import MISSING, At, Draft, Missing, Section, read_section
from lockgate.settings.remote_kinds import Headers
from lockgate.settings.rule_keys import json_value
from lockgate.web.addresses import AddressRules
from lockgate.web.location import LocationError, locate

_LIST_HINT: Final = "write a list: - matcher: RULE, and below it hooks: with a list of handlers"
_HANDLER_HINT: Final = "write - type: command | http | mcp_tool, and the other keys below it"


class _LaterWins:
    """Kinds whose values are not joined across layers: a handler is one statement."""

    __slots__ = ()

    def merge(self, earlier: Any, later: Any) -> Any:
        """The later."""
        del earlier
        return later


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable that a template uses, and where."""

    name: str
    place: Place
    path: str


@dataclass(frozen=True, slots=True)
class TemplateText:
    """A template, parsed, with the variables that it uses."""

    template: Template
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class HookText:
    """One handler as it is written."""

    event: HookEvent
    matcher: RuleText | None
    kind: str
    """`command`, `http` or `mcp_tool`."""
    draft: Draft = field(repr=False)
    place: Place
    path: str


class TemplateKind(_LaterWins, msgspec.Struct, frozen=True):
    """Any value; texts in it may hold `{{...}}`."""

    words: str = "value with templates"
    object_only: bool = False
    """Whether it has to be a mapping."""

    def read(self, node: Node, at: At) -> TemplateText | Missing:
        """The template; each fault at the text that has it."""
        if self.object_only and not isinstance(node, Table):
            return at.fault(node, f"must be a mapping, not {kind_of(node)}", "write NAME: value")
        before = len(at.findings.problems)
        variables: list[Variable] = []
        _look_through(node, at, variables)
        value = json_value(node, at)
        if isinstance(value, Missing) or len(at.findings.problems) > before:
            return MISSING
        try:
            template = parse_template(value)
        except TemplateError as error:
            return at.fault(node, f"{error.where.lstrip('.')} {error}".strip(), error.hint)
        return TemplateText(template, tuple(variables))


def _look_through(node: Node, at: At, variables: list[Variable]) -> None:
    """Note every fault and every variable of the texts in `node`, at its own place."""
    match node:
        case Scalar():
            if node.type != "text":
                return
            try:
                found = parse_template(node.text)
            except TemplateError as error:
                at.fault(node, str(error), error.hint)
                return
            variables += [
                Variable(one.path[0], node.place, at.path)
                for one in references(found)
                if one.root == "env"
            ]
        case Listing():
            for index, item in enumerate(node.items):
                _look_through(item, at.item(index), variables)
        case Table():
            for name, value in node:
                inner = at.key(name.text)
                if "{{" in name.text:
                    hint = "only values are templates: write the name as it is"
                    inner.fault(name, "has a reference in the name of a member", hint)
                _look_through(value, inner, variables)


class HookAddress(_LaterWins, msgspec.Struct, frozen=True):
    """The address of an endpoint; one of this machine or the local network is fine."""

    words: str = "http or https address"

    def read(self, node: Node, at: At) -> str | Missing:
        """The address as it was written."""
        found = scalar_text(node, at, wanted="an address")
        if isinstance(found, Missing):
            return MISSING
        text, _ = found
        if "{{" in (node.text if isinstance(node, Scalar) else ""):
            hint = "only body is a template; of your environment write ${NAME}"
            return at.fault(node, "is no template", hint)
        if at.environ is None and has_reference(text):
            return text
        hint = "write https://<host>/<path>"
        try:
            objection = AddressRules(private=True).objection_to(locate(text))
        except LocationError as error:
            return at.fault(node, f"can not be used: {error}", hint)
        if objection is not None:
            return at.fault(node, f"can not be used: {objection}", hint)
        return text


class HookHeaders(Headers):
    """Headers of every post; values are never shown."""

    def read(self, node: Node, at: At) -> dict[str, str] | Missing:
        """Names and values; none is a template."""
        if isinstance(node, Table):
            for name, value in node:
                if isinstance(value, Scalar) and "{{" in value.text:
                    hint = "only body is a template; of your environment write ${NAME}"
                    at.key(name.text).fault(value, "is no template", hint)
        return super().read(node, at)


class HookProgram(_LaterWins, msgspec.Struct, frozen=True):
    """One program, or a list of it and its arguments. No shell reads either."""

    words: str = "program, or list of it and its arguments"

    def read(self, node: Node, at: At) -> tuple[str, ...] | Missing:
        """The program, its path made absolute, and what arguments stand with it."""
        if not isinstance(node, Listing):
            found = Command().read(node, at)
            return MISSING if isinstance(found, Missing) else (found,)
        if not node.items:
            return at.fault(node, "is empty", "name the program to start")
        program = Command().read(node.items[0], at.item(0))
        rest = [Argument().read(one, at.item(i)) for i, one in enumerate(node.items[1:], 1)]
        words = [word for word in (program, *rest) if not isinstance(word, Missing)]
        return tuple(words) if len(words) == len(node.items) else MISSING


class Variables(msgspec.Struct, frozen=True):
    """Names of environment variables; the lists of all layers are joined."""

    words: str = "list of names"

    def read(self, node: Node, at: At) -> tuple[str, ...] | Missing:
        """The names in order."""
        if is_null(node):
            return ()
        hint = "write the names alone: [NAME, OTHER]"
        found = Many(Argument(), self.words, hint=hint).read(node, at)
        if isinstance(found, Missing):
            return MISSING
        for name in found:
            if not name.isascii() or not name.replace("_", "a").isalnum() or name[:1].isdigit():
                return at.fault(node, f"{name[:40]!r} is no name of a variable", hint)
        return found

    def merge(self, earlier: tuple[str, ...], later: tuple[str, ...]) -> tuple[str, ...]:
        """Both, each name once."""
        return tuple(dict.fromkeys((*earlier, *later)))


class Groups(msgspec.Struct, frozen=True):
    """The hooks of one event: a list of groups, each a matcher and its handlers."""

    event: HookEvent
    group: Section
    handlers: Mapping[str, Section]
    """By type."""
    words: str = "list of groups"

    def read(self, node: Node, at: At) -> tuple[HookText, ...] | Missing:
        """Every handler, in order."""
        if is_null(node):
            return ()
        if not isinstance(node, Listing):
            return at.fault(node, f"must be a list, not {kind_of(node)}", _LIST_HINT)
        found: list[HookText] = []
        for index, item in enumerate(node.items):
            inner = at.item(index)
            if not isinstance(item, Table):
                inner.fault(item, f"must be a mapping, not {kind_of(item)}", _LIST_HINT)
                continue
            found += self._group(item, inner)
        return tuple(found)

    def merge(
        self, earlier: tuple[HookText, ...], later: tuple[HookText, ...]
    ) -> tuple[HookText, ...]:
        """Joined: a later layer adds hooks and takes none away."""
        return (*earlier, *later)

    def _group(self, item: Table, at: At) -> list[HookText]:
        if item.get("hooks") is None and item.get("type") is not None:
            at.fault(item, "is a handler outside of a group", _LIST_HINT)
            return []
        draft = read_section(self.group, item, at)
        if item.get("hooks") is None:
            at.fault(item, "has no hooks", "add hooks: with a list of handlers")
            return []
        matcher = self._matcher(draft, item, at)
        if "hooks" not in draft:
            return []
        found: list[HookText] = []
        listing: Listing = draft["hooks"].value
        for index, one in enumerate(listing.items):
            inner = at.key("hooks").item(index)
            handler = self._handler(one, inner)
            if not isinstance(handler, Missing) and not isinstance(matcher, Missing):
                kind, of = handler
                found.append(HookText(self.event, matcher, kind, of, one.place, inner.path))
        return found

    def _matcher(self, draft: Draft, item: Table, at: At) -> RuleText | Missing | None:
        given = draft.get("matcher")
        if given is None:
            return MISSING if item.get("matcher") is not None else None
        node = item.get("matcher") or item
        if not self.event.is_about_a_call:
            hint = "take it out: only hooks about a call can be matched by tool"
            return at.key("matcher").fault(node, f"{self.event.value} is about no tool", hint)
        if given.value.strip() in ("*", ".*"):
            return at.key("matcher").fault(
                node, "is no rule", "leave it out: then the hooks are about every call"
            )
        return RuleText(given.value, node.place, given.path)

    def _handler(self, node: Node, at: At) -> tuple[str, Draft] | Missing:
        if not isinstance(node, Table):
            return at.fault(node, f"must be a mapping, not {kind_of(node)}", _HANDLER_HINT)
        word = node.get("type")
        if not isinstance(word, Scalar):
            return at.fault(node, "has no type", _HANDLER_HINT)
        section = self.handlers.get(word.text)
        if section is None:
            hint = spelling_hint(word.text, self.handlers, also_called=_ALSO, what="one of")
            return at.key("type").fault(word, f"unknown type {word.text[:40]!r}", hint)
        before = len(at.findings.problems)
        draft = read_section(section, node, at)
        for key in (key.name for key in section.keys if key.shown == "required"):
            if node.get(key) is None:
                at.fault(node, f"a hook of type {word.text} needs {key}")
        return MISSING if len(at.findings.problems) > before else (word.text, draft)


_ALSO: Final[Mapping[str, str]] = {
    "program": "command",
    "shell": "command",
    "webhook": "http",
    "https": "http",
    "url": "http",
    "mcp": "mcp_tool",
    "tool": "mcp_tool",
}


class Handlers(msgspec.Struct, frozen=True):
    """The list of handlers of a group, as it is written: `Groups` reads them by their type."""

    words: str = "list of handlers"

    def read(self, node: Node, at: At) -> Listing | Missing:
        """The list."""
        if not isinstance(node, Listing):
            return at.fault(node, f"must be a list, not {kind_of(node)}", _HANDLER_HINT)
        if not node.items:
            return at.fault(node, "is empty", _HANDLER_HINT)
        return node

    def merge(self, earlier: Listing, later: Listing) -> Listing:
        """Never called: lists of groups are joined as wholes."""
        del earlier
        return later
