"""What servers may ask of this side, in both eras: one table, one way to answer.

A legacy server sends a request of its own; a modern one puts it into its answer
(`protocol.input_required`). What is not handled here is not declared, and refused if it comes all
the same. Sampling and roots are handled only where the host says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, cast

import msgspec

from lockgate.mcp.client.completions import Completions
from lockgate.mcp.protocol.capabilities import Capabilities
from lockgate.mcp.protocol.elicitation import (
    ELICIT,
    Action,
    ElicitAnswer,
    Elicitation,
    Mode,
    read_elicitation,
)
from lockgate.mcp.protocol.eras import Revision
from lockgate.mcp.protocol.jsonrpc import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND
from lockgate.mcp.protocol.jsontext import Unreadable
from lockgate.mcp.protocol.tasks import EXTENSION as TASKS

ROOTS: Final = "roots/list"
SAMPLE: Final = "sampling/createMessage"


class Refusal(Exception):
    """Raised by what answers a server, to refuse with a JSON-RPC error of its choosing.

    The text goes to the server: it must hold nothing that the server may not see.
    """

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Occasion(msgspec.Struct, frozen=True):
    """On what occasion a server asks."""

    server: str
    """Its configured name."""
    tool: str | None = None
    """The original name of the tool in whose call it asks; None where that can not be told."""
    call_id: str | None = None
    attended: bool | None = None
    """Whether a person is there for that call; None where that can not be told."""
    within: bool = True
    """Whether anything is under way that the server can ask for: a call, a resource, a prompt."""
    waits: bool = False
    """Whether the server is waiting for the answer; else it gets it with the request made again."""
    completions: Completions | None = None
    """Of a legacy server: what it says to be over."""
    resource: str | None = None
    """The URI of the resource in whose reading it asks."""
    prompt: str | None = None
    """The name of the prompt for which it asks."""

    def over(self, asked: Elicitation) -> asyncio.Event | None:
        """Set when the server says that what it wants opened is over; None if it never will."""
        if asked.id is None or self.completions is None:
            return None
        return self.completions.of(asked.id)


def common(peer: str, found: Sequence[Occasion]) -> Occasion:
    """The occasion of a request that a server sends by itself, from those that are open.

    Of several only what is the same for all is said; nobody is there only if that is so for all.
    With none the server asks for nothing that was wanted of it, and a person is not asked.
    """
    if not found:
        return Occasion(peer, attended=False, within=False)
    first = found[0]
    if all(one == first for one in found):
        return first
    tools, there = {one.tool for one in found}, {one.attended for one in found}
    return Occasion(
        peer,
        tool=first.tool if len(tools) == 1 else None,
        attended=True if True in there else None if None in there else False,
    )


class Root(msgspec.Struct, frozen=True, omit_defaults=True):
    """A directory that a server is told of; says nothing about access (client/roots)."""

    uri: str
    """`file://`."""
    name: str | None = None


Elicit: TypeAlias = Callable[[Elicitation, Occasion], Awaitable[ElicitAnswer]]
"""Asks a person. Cancelled when the server or the call gives up."""
Sample: TypeAlias = Callable[[Mapping[str, Any], Occasion], Awaitable[Mapping[str, Any]]]
"""Has a model complete something: `CreateMessageRequestParams` to `CreateMessageResult`, both as
JSON. Raises `Refusal`."""
ListRoots: TypeAlias = Callable[[Occasion], Awaitable[Sequence[Root]]]


@dataclass(frozen=True, slots=True)
class Services:
    """What one server may ask of this side. None: it may not."""

    elicit: Elicit | None = None
    modes: frozenset[Mode] = field(default_factory=lambda: frozenset(Mode))
    """The ways of asking a person that `elicit` knows."""
    sample: Sample | None = None
    sampling_tools: bool = False
    roots: ListRoots | None = None
    extensions: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {TASKS: {}})
    """Extensions that the client itself understands, by identifier."""

    @property
    def capabilities(self) -> Capabilities:
        """What is declared: exactly what is handled."""
        asked = self.elicit is not None
        return Capabilities(
            forms=asked and Mode.FORM in self.modes,
            addresses=asked and Mode.URL in self.modes,
            sampling=self.sample is not None,
            sampling_tools=self.sample is not None and self.sampling_tools,
            roots=self.roots is not None,
            extensions=self.extensions,
        )

    @property
    def methods(self) -> frozenset[str]:
        """What `answer` answers."""
        table = {ELICIT: self.elicit, SAMPLE: self.sample, ROOTS: self.roots}
        return frozenset(method for method, held in table.items() if held is not None)

    def of(self, revision: Revision) -> Services:
        """What of it a server of that revision may ask: what is declared there, and no more."""
        if self is SERVES_NOTHING:
            return self
        told = self.capabilities.declared(revision)
        modes = {mode for mode in self.modes if mode is Mode.FORM or revision.elicits_by_url}
        return replace(
            self,
            elicit=self.elicit if "elicitation" in told else None,
            modes=frozenset(modes),
            sampling_tools=self.sampling_tools and revision.samples_with_tools,
            extensions=told.get("extensions", {}),
        )

    async def answer(self, method: str, params: Any, occasion: Occasion) -> dict[str, Any]:
        """The result of one request of a server's. Raises `Refusal`, and what the host's own
        handler raises."""
        if method == ELICIT and self.elicit is not None:
            return (await self.elicited(params, occasion)).result()
        if method == SAMPLE and self.sample is not None:
            return dict(await self._sampled(self.sample, params, occasion))
        if method == ROOTS and self.roots is not None:
            return {"roots": list(await self.roots(occasion))}
        raise Refusal(METHOD_NOT_FOUND, f"Method not found: {method[:200]}")

    async def elicited(self, params: Any, occasion: Occasion) -> ElicitAnswer:
        """What a person says to `elicitation/create`. Raises as `answer` does."""
        if self.elicit is None:
            raise Refusal(METHOD_NOT_FOUND, f"Method not found: {ELICIT}")
        try:
            asked = read_elicitation(params)
        except Unreadable as problem:
            raise Refusal(INVALID_PARAMS, f"the params are {problem.reason}") from None
        if asked.mode not in self.modes:
            raise Refusal(INVALID_PARAMS, f"elicitation by {asked.mode.value} is not supported")
        if occasion.attended is False:
            return ElicitAnswer(Action.CANCEL)  # nobody is there (S0-09)
        occasion.over(asked)  # from now on: the server may say it before the answer is sent
        answer = await self.elicit(asked, occasion)
        if answer.action is Action.ACCEPT and asked.schema is not None:
            _must_fit(answer, asked)
        return answer

    async def _sampled(self, sample: Sample, params: Any, occasion: Occasion) -> Mapping[str, Any]:
        if not isinstance(params, dict):
            raise Refusal(INVALID_PARAMS, "the params are no object")
        held = cast("dict[str, Any]", params)
        if not self.sampling_tools and any(key in held for key in ("tools", "toolChoice")):
            raise Refusal(INVALID_PARAMS, "sampling with tools is not supported")
        if not occasion.within:
            raise Refusal(INVALID_REQUEST, "nothing is under way that this can be asked for")
        return await sample(held, occasion)


def _must_fit(answer: ElicitAnswer, asked: Elicitation) -> None:
    """Raise `ValueError` unless the values of a form are what its schema says."""
    from lockgate.schema.validate import SchemaError, compile_schema

    values = answer.content or {}
    if asked.form is not None and asked.form.faults(values):
        raise ValueError("the values of a form are not what was asked for")
    try:
        compiled = compile_schema(dict(asked.schema or {}))
    except SchemaError:
        return
    if compiled.violations(values):
        raise ValueError("the values of a form do not fit its schema")


SERVES_NOTHING: Final = Services()
"""Nothing may be asked for."""
