"""The tools of one runtime: who may enter, and the immutable view that a turn works on.

Nothing is ever replaced: a name that is held refuses the newcomer, so no tool can slip in behind a
name that rules, answers and people already rely on.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeVar

import msgspec

from lockgate.errors import LocalError
from lockgate.schema.validate import CompiledSchema, SchemaError, compile_schema
from lockgate.tools.naming import NAME, is_reserved, is_tool_name
from lockgate.tools.origin import Origin
from lockgate.tools.tool import Tool, ToolDefinition
from lockgate.traits import ConcurrencyBehavior, InterruptBehavior, SideEffectLevel

T = TypeVar("T")

MAX_DERIVED: Final = 256
"""Things worked out of one snapshot that are kept; with more all are worked out anew."""


class Registered(msgspec.Struct, frozen=True):
    """One tool that passed, with its schemas compiled and its declaration read, once for all."""

    tool: Tool
    schema: CompiledSchema
    """Of the arguments."""
    output_schema: CompiledSchema | None
    """Of the structured content; None if the tool declares none, or one that is no schema."""
    remarks: tuple[str, ...]
    """What is left unchecked of either schema, one sentence each."""
    name: str
    definition: ToolDefinition
    side_effect_level: SideEffectLevel
    is_read_only: bool
    is_destructive: bool
    is_idempotent: bool
    lane: str | None
    """The lane that its calls hold, one after the other; None if they may overlap."""
    interruptible: bool
    """Whether an interrupt of the turn cancels a call that runs."""


class Snapshot:
    """The tools at one moment. Immutable; the same object for as long as nothing changes."""

    __slots__ = ("_by_name", "_derived", "generation", "tools")

    def __init__(self, by_name: Mapping[str, Registered], generation: int) -> None:
        self._by_name = by_name
        self._derived: dict[Hashable, Any] = {}
        self.generation = generation
        """Rises with every change of the registry; 0 is the empty one it starts with."""
        self.tools: tuple[Tool, ...] = tuple(entry.tool for entry in by_name.values())
        """In the order of registration."""

    def get(self, name: str) -> Registered | None:
        """The tool registered under exactly `name`, or None."""
        return self._by_name.get(name)

    @property
    def entries(self) -> Mapping[str, Registered]:
        """Everything registered, by name, in the order of registration. Read-only."""
        return MappingProxyType(self._by_name)

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` works out of this snapshot, kept under `key` for as long as it lives.

        For pure functions of the snapshot and the key alone. At most `MAX_DERIVED` are kept.
        """
        found = self._derived.get(key)
        if found is None:
            if len(self._derived) >= MAX_DERIVED:
                self._derived.clear()
            found = self._derived[key] = make()
        return found

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __repr__(self) -> str:
        return f"<Snapshot {self.generation}, {len(self)} tools>"


class NameRefused(LocalError):
    """A tool may not be registered under its name: invalid, reserved, or held by another tool."""


class Registry:
    """What is registered now. Owned by one runtime and used on its event loop only."""

    def __init__(self) -> None:
        self._entries: dict[str, Registered] = {}
        self._snapshot = Snapshot({}, 0)
        self._stale = False

    def register(self, tool: Tool) -> None:
        """Let `tool` in.

        Raises `NameRefused` for a name that is invalid, reserved or held (both origins are told),
        and `SchemaError` for an input schema that is none. An output schema that is none does not
        keep the tool out: its results go unchecked, and a remark says so.
        """
        self.register_all((tool,))

    def register_all(self, tools: Iterable[Tool]) -> None:
        """Let all of `tools` in, or none: raises as `register` does, for the first that fails."""
        entries: dict[str, Registered] = {}
        for tool in tools:
            definition = tool.definition
            name = definition.name
            if not is_tool_name(name):
                raise NameRefused(
                    f"{name!r} of {_whence(definition.origin)} is no tool name: it must match "
                    f"{NAME.pattern}"
                )
            if definition.origin.server is None and is_reserved(name):
                raise NameRefused(
                    f"the name {name} of {_whence(definition.origin)} is kept for tools of servers"
                )
            held = self._entries.get(name) or entries.get(name)
            if held is not None:
                raise NameRefused(
                    f"the name {name} of {_whence(definition.origin)} is held by "
                    f"{_whence(held.tool.definition.origin)} and is never replaced"
                )
            entries[name] = _compiled(tool)
        self._entries.update(entries)
        self._stale = self._stale or bool(entries)

    def withdraw(self, names: Iterable[str]) -> None:
        """Let tools go, such as those of a server that is closed. Names nobody holds are ignored.

        Snapshots taken before keep them.
        """
        for name in names:
            if self._entries.pop(name, None) is not None:
                self._stale = True

    def snapshot(self) -> Snapshot:
        """What is registered now; the same object until something is registered or withdrawn."""
        if self._stale:
            self._snapshot = Snapshot(dict(self._entries), self._snapshot.generation + 1)
            self._stale = False
        return self._snapshot

    def __repr__(self) -> str:
        return f"<Registry {len(self._entries)} tools>"


def _compiled(tool: Tool) -> Registered:
    definition = tool.definition
    schema = compile_schema(definition.input_schema)
    remarks = [f"input schema: {remark}" for remark in schema.remarks]
    output: CompiledSchema | None = None
    if definition.output_schema is not None:
        try:
            output = compile_schema(definition.output_schema, root="any")
        except SchemaError as error:
            remarks.append(f"output schema: {error}: results are not checked against it")
        else:
            remarks.extend(f"output schema: {remark}" for remark in output.remarks)
    sequential = tool.concurrency_behavior is ConcurrencyBehavior.SEQUENTIAL
    return Registered(
        tool=tool,
        schema=schema,
        output_schema=output,
        remarks=tuple(remarks),
        name=definition.name,
        definition=definition,
        side_effect_level=tool.side_effect_level,
        is_read_only=tool.is_read_only,
        is_destructive=tool.is_destructive,
        is_idempotent=tool.is_idempotent,
        lane=tool.lane if sequential else None,
        interruptible=tool.interrupt_behavior is InterruptBehavior.COOPERATIVE,
    )


def _whence(origin: Origin) -> str:
    if origin.server is None:
        return f"the {origin.source} tool {origin.original_name!r}"
    return f"the tool {origin.original_name!r} of server {origin.server!r}"
