"""What of one server's list is registered, and how it follows the list (S3-10, S3-18).

Registering is one step without a pause: whoever takes a snapshot sees the tools of one list, the
old one or the new one. A tool that is the same in both stays the very same object. Only names of
this server come and go, and a name that somebody else holds is never replaced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from lockgate.mcp.host.adapter import McpTool
from lockgate.mcp.host.expectations import unused
from lockgate.mcp.host.line import Line
from lockgate.mcp.host.pins import PinState, Standing, pin_state, withheld
from lockgate.mcp.host.ruling import Ruling
from lockgate.mcp.host.seen import SeenServer
from lockgate.mcp.host.settings import PinPolicy, ServerSettings, Verdict
from lockgate.mcp.host.status import LeftOutTool
from lockgate.mcp.host.tracing import CallTracing
from lockgate.mcp.protocol.results import ListedTool
from lockgate.schema.error import SchemaError
from lockgate.tools.fingerprint import Fingerprint
from lockgate.tools.registry import NameRefused, Registry

TOLD: Final = 10
"""Names of one kind that a sentence about a change has room for."""


class Rule(Protocol):
    """`Manager.rule`: the one place where a definition is ruled on (S0-11)."""

    def __call__(
        self,
        settings: ServerSettings,
        listed: ListedTool,
        fingerprint: Fingerprint,
        verdict: Verdict | None,
        pin: PinState,
    ) -> Ruling: ...


@dataclass(frozen=True, slots=True)
class Change:
    """Registered names that are new, gone, or mean another definition than before."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __str__(self) -> str:
        kinds = (("new", self.added), ("gone", self.removed), ("changed", self.changed))
        return "; ".join(f"{word}: {_listed(names)}" for word, names in kinds if names)


class Admission:
    """The registered tools of one server."""

    def __init__(self, settings: ServerSettings, line: Line, tracing: CallTracing | None) -> None:
        self.tools: Mapping[str, McpTool] = {}
        """By original name, in the server's order."""
        self.left_out: tuple[LeftOutTool, ...] = ()
        self.changed: tuple[str, ...] = ()
        """Tools that are not what was pinned, with the fields in which they differ."""
        self.remarks: tuple[str, ...] = ()
        self._settings = settings
        self._line = line
        self._tracing = tracing

    @property
    def names(self) -> tuple[str, ...]:
        """The registered names."""
        return tuple(tool.name for tool in self.tools.values())

    def admit(
        self, seen: SeenServer, pinned: Mapping[str, Fingerprint], rule: Rule, registry: Registry
    ) -> Change:
        """Have `registry` hold what the server lists by `seen`, ruled on by `rule`."""
        settings = self._settings
        left_out = [LeftOutTool(out.tool, out.reason) for out in seen.left_out]
        unpinned: list[str] = []
        wanted: dict[str, McpTool] = {}
        for listed in seen.tools:
            fingerprint = seen.fingerprints[listed.name]
            pin = pin_state(settings.pins, pinned, listed.name, fingerprint)
            if pin.standing is Standing.CHANGED:
                unpinned.append(f"{listed.name} ({', '.join(pin.changed)})")
            reason = withheld(settings.pins, pin, settings.name)
            if reason is not None:
                left_out.append(LeftOutTool(listed.name, reason))
                continue
            verdict = settings.verdicts.get(listed.name)
            ruling = rule(settings, listed, fingerprint, verdict, pin)
            held = self.tools.get(listed.name)
            if held is None or held.offline or not held.bond.holds(fingerprint.digest, ruling):
                held = McpTool(settings, self._line, listed, fingerprint, ruling, self._tracing)
            wanted[listed.name] = held
        before = self.tools
        left_out.extend(self._register(wanted, registry))
        self.left_out, self.changed = tuple(left_out), tuple(unpinned)
        self.remarks = self._remarks(seen, pinned)
        return _change(before, self.tools)

    def _register(self, wanted: Mapping[str, McpTool], registry: Registry) -> list[LeftOutTool]:
        """Let go of what is not wanted any more, and let in what is new."""
        before = self.tools
        kept = {name for name, tool in wanted.items() if before.get(name) is tool}
        registry.withdraw(tool.name for name, tool in before.items() if name not in kept)
        registered: dict[str, McpTool] = {}
        left_out: list[LeftOutTool] = []
        for name, tool in wanted.items():
            try:
                if name not in kept:
                    registry.register(tool)
            except (NameRefused, SchemaError) as error:
                left_out.append(LeftOutTool(name, str(error)))
            else:
                registered[name] = tool
        self.tools = registered
        self._line.bonds = {name: tool.bond for name, tool in registered.items()}
        return left_out

    def _remarks(self, seen: SeenServer, pinned: Mapping[str, Fingerprint]) -> tuple[str, ...]:
        remarks = [*seen.remarks, *unused(self._settings, seen.fingerprints)]
        names = {listed.name for listed in seen.tools}
        if self._settings.pins is not PinPolicy.OFF and (gone := sorted(pinned.keys() - names)):
            remarks.append(f"pinned, and not listed any more: {', '.join(gone)}")
        return tuple(remarks)

    def __repr__(self) -> str:
        return f"<Admission {self._settings.name}, {len(self.tools)} tools>"


def _change(before: Mapping[str, McpTool], after: Mapping[str, McpTool]) -> Change:
    was = {tool.name: tool for tool in before.values()}
    now = {tool.name: tool for tool in after.values()}
    return Change(
        added=tuple(name for name in now if name not in was),
        removed=tuple(name for name in was if name not in now),
        changed=tuple(name for name, tool in now.items() if name in was and was[name] is not tool),
    )


def _listed(names: tuple[str, ...]) -> str:
    more = f" and {len(names) - TOLD} more" if len(names) > TOLD else ""
    return ", ".join(names[:TOLD]) + more
