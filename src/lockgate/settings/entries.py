"""The kinds of values with an inside: sections, servers, environments, verdicts, rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

import msgspec

from lockgate.mcp.host.settings import Verdict
from lockgate.settings.kinds import scalar_text
from lockgate.settings.nodes import Listing, Node, Place, Scalar, Table, is_null, kind_of
from lockgate.settings.reading import (
    MISSING,
    At,
    Draft,
    Given,
    Missing,
    Section,
    merge_drafts,
    read_section,
)
from lockgate.settings.rule_keys import Example
from lockgate.settings.server_name import is_server_name, name_hint
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    SideEffectLevel,
)


class RuleText(msgspec.Struct, frozen=True):
    """One permission rule as it was written; `rules.parse` gives it its meaning."""

    text: str
    place: Place
    path: str
    when: Literal["attended", "unattended", "any"] | None = None
    until: float | None = None
    destructive: bool = False
    pin: str | None = None
    exact: bool = False
    reason: str | None = None
    match: tuple[Example, ...] = ()
    no_match: tuple[Example, ...] = ()

    @property
    def meaning(self) -> tuple[object, ...]:
        """All that decides what it allows: equal for rules that allow the same, wherever they
        stand and why."""
        when = self.when or "attended"
        return (self.text, when, self.until, self.destructive, self.pin, self.exact)


_SAID: Final[Mapping[str, str]] = {
    **{name: name for name in ("when", "until", "destructive", "pin", "exact", "reason", "match")},
    "noMatch": "no_match",
}
"""Keys of a rule beside its text, each with our name for it."""


class Nested(msgspec.Struct, frozen=True):
    """A section inside another."""

    section: Section
    words: str = "section"

    def read(self, node: Node, at: At) -> Draft:
        """What it gives."""
        return read_section(self.section, node, at)

    def merge(self, earlier: Draft, later: Draft) -> Draft:
        """Key by key."""
        return merge_drafts(self.section, earlier, later)


class Servers(msgspec.Struct, frozen=True):
    """The list of servers, held by name; the value of each is its `Draft` without the name."""

    section: Section
    words: str = "list of servers"

    def read(self, node: Node, at: At) -> dict[str, Given] | Missing:
        """The servers in order."""
        if is_null(node):
            return {}
        if isinstance(node, Table):
            first = node.entries[0][0].text if node.entries else "NAME"
            hint = f"write a list, each server with its name in it: - name: {first}"
            return at.fault(node, "must be a list, not a mapping", hint)
        if not isinstance(node, Listing):
            return at.fault(node, f"must be a list, not {kind_of(node)}", "- name: NAME")
        servers: dict[str, Given] = {}
        for index, item in enumerate(node.items):
            inner = at.item(index)
            if not isinstance(item, Table):
                hint = "write - name: NAME and the other keys below it"
                inner.fault(item, f"must be a mapping, not {kind_of(item)}", hint)
                continue
            name = self._name(item, inner)
            known = not isinstance(name, Missing)
            before = len(at.findings.problems)
            draft = read_section(
                self.section, item, inner.owned(f'server "{name}"' if known else "")
            )
            if isinstance(name, Missing):
                continue
            if name in servers:
                line = servers[name].place.line
                inner.key("name").fault(
                    item,
                    f'a server called "{name}" is there already',
                    f"the first is in line {line}",
                )
                continue
            rest = {key: given for key, given in draft.items() if key != "name"}
            if len(at.findings.problems) > before and "command" in self.section.names:
                # It may be what is misspelt: "has no command" on top would mislead.
                missing = Given("", item.place, inner.path)
                transport = rest.get("transport")
                if "url" in rest or (transport and transport.value != "stdio"):
                    rest.setdefault("url", missing)
                    rest.setdefault("transport", Given("sse", item.place, inner.path))
                else:
                    rest.setdefault("command", missing)
            servers[name] = Given(rest, item.place, inner.path)
        return servers

    def merge(self, earlier: dict[str, Given], later: dict[str, Given]) -> dict[str, Given]:
        """By name, each key by key."""
        merged = dict(earlier)
        for name, given in later.items():
            if before := merged.get(name):
                draft = merge_drafts(self.section, before.value, given.value)
                merged[name] = Given(draft, given.place, given.path)
            else:
                merged[name] = given
        return merged

    @staticmethod
    def _name(item: Table, at: At) -> str | Missing:
        node = item.get("name")
        if node is None:
            return at.fault(item, "a server needs a name", "add name: NAME")
        at = at.key("name")
        if not isinstance(node, Scalar):
            return at.fault(node, f"a name must be text, not {kind_of(node)}")
        if node.type not in ("text", "null"):
            hint = f'write it in quotes: "{node.text}"' if is_server_name(node.text) else None
            return at.fault(node, f"a name must be text, not {kind_of(node)}", hint)
        if is_server_name(node.text) and node.type == "text":
            return node.text
        name = node.text if node.type == "text" else ""
        return at.fault(node, f"{name!r} is no valid server name", name_hint(name))


class ServerName(msgspec.Struct, frozen=True):
    """The name; `Servers` has looked at it already."""

    words: str = "name"

    def read(self, node: Node, at: At) -> str | Missing:
        """The name, without findings of its own."""
        del at
        return node.text if isinstance(node, Scalar) else MISSING

    def merge(self, earlier: str, later: str) -> str:
        """Both are the same."""
        del earlier
        return later


class Environment(msgspec.Struct, frozen=True):
    """Variables for a program. Values are never shown."""

    words: str = "mapping of text"

    def read(self, node: Node, at: At) -> dict[str, str] | Missing:
        """Names and values."""
        if not isinstance(node, Table):
            return at.fault(node, f"must be a mapping, not {kind_of(node)}", "write NAME: value")
        values: dict[str, str] = {}
        for name, value in node:
            inner = at.key(name.text, expands=at.expands)
            if not name.text or "=" in name.text or not name.text.isprintable():
                at.fault(name, "holds a name that no variable can have", "write NAME: value")
                continue
            found = scalar_text(value, inner, wanted="text", many_lines=True)
            if isinstance(found, Missing):
                continue
            if "\0" in found[0]:
                inner.fault(value, "holds a NUL character", "no program can be handed one")
                continue
            values[name.text] = found[0]
        return values

    def merge(self, earlier: dict[str, str], later: dict[str, str]) -> dict[str, str]:
        """Variable by variable."""
        return {**earlier, **later}


class Verdicts(msgspec.Struct, frozen=True):
    """The operator's word on tools, by original name; each with its place."""

    section: Section
    words: str = "mapping of verdicts"

    def read(self, node: Node, at: At) -> dict[str, Given] | Missing:
        """The verdicts by tool."""
        if not isinstance(node, Table):
            hint = "write TOOL: {level: read-only}"
            return at.fault(node, f"must be a mapping, not {kind_of(node)}", hint)
        verdicts: dict[str, Given] = {}
        for tool, value in node:
            inner = at.key(tool.text)
            before = len(at.findings.problems)
            draft = read_section(self.section, value, inner)
            if len(at.findings.problems) > before:
                continue
            if not draft.keys() - {"pin"}:
                inner.fault(value, "says nothing", f"keys: {', '.join(self.section.names)}")
                continue
            try:
                verdict = _verdict(draft)
            except ValueError as error:
                inner.fault(value, str(error))
                continue
            verdicts[tool.text] = Given(verdict, tool.place, inner.path)
        return verdicts

    def merge(self, earlier: dict[str, Given], later: dict[str, Given]) -> dict[str, Given]:
        """Tool by tool: a verdict is one statement, two halves could contradict each other."""
        return {**earlier, **later}


def _verdict(draft: Draft) -> Verdict:
    def told(key: str, yes: Any, no: Any) -> Any:
        given = draft.get(key)
        return None if given is None else yes if given.value else no

    level: SideEffectLevel | None = draft["level"].value if "level" in draft else None
    return Verdict(
        level=level,
        destructive=told(
            "destructive", DestructiveBehavior.DESTRUCTIVE, DestructiveBehavior.NON_DESTRUCTIVE
        ),
        idempotent=told(
            "idempotent", IdempotencyBehavior.IDEMPOTENT, IdempotencyBehavior.NON_IDEMPOTENT
        ),
        concurrent=told(
            "concurrent", ConcurrencyBehavior.CONCURRENT_SAFE, ConcurrencyBehavior.SEQUENTIAL
        ),
        pin=draft["pin"].value if "pin" in draft else None,
    )


class Rules(msgspec.Struct, frozen=True):
    """A list of permission rules, each a text or a mapping with `rule` in it."""

    section: Section
    words: str = "list of rules"

    def read(self, node: Node, at: At) -> tuple[RuleText, ...] | Missing:
        """The rules in order."""
        if is_null(node):
            return ()
        if not isinstance(node, Listing):
            return at.fault(node, f"must be a list, not {kind_of(node)}", "write one rule a line")
        rules: list[RuleText] = []
        for index, item in enumerate(node.items):
            inner = at.item(index)
            draft: Mapping[str, Given] = {}
            if isinstance(item, Table):
                draft = read_section(self.section, item, inner)
                if item.get("rule") is None:
                    inner.fault(item, "has no rule", "add rule: TOOL")
                if "rule" not in draft:
                    continue
                text = str(draft["rule"].value)
            elif isinstance(item, Scalar) and item.text.strip() and not is_null(item):
                text = item.text
            else:
                is_text = isinstance(item, Scalar) and item.type == "text"
                kind = "an empty text, which names no tool" if is_text else kind_of(item)
                hint = "name a tool, or all tools of a server"
                inner.fault(item, f"must be a rule, not {kind}", hint)
                continue
            said = {name: draft[key].value for key, name in _SAID.items() if key in draft}
            rules.append(RuleText(text, item.place, inner.path, **said))
        return tuple(rules)

    def merge(
        self, earlier: tuple[RuleText, ...], later: tuple[RuleText, ...]
    ) -> tuple[RuleText, ...]:
        """Joined: the strictest rule that matches decides, wherever it stands."""
        return (*earlier, *later)
