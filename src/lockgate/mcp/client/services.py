"""What servers may ask of this side, in both eras: one table, one way to answer.

A legacy server sends a request of its own; a modern one puts it into its answer
(`protocol.input_required`). What is not handled here is not declared, and refused if it comes all
the same. Sampling and roots are handled only where the host says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import msgspec

from lockgate.mcp.protocol.capabilities import Capabilities
from lockgate.mcp.protocol.elicitation import (
    ELICIT,
    Action,
    ElicitAnswer,
    Elicitation,
    Mode,
    read_elicitation,
)
from lockgate.mcp.protocol.jsonrpc import INVALID_PARAMS, METHOD_NOT_FOUND
from lockgate.mcp.protocol.jsontext import Unreadable

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


@dataclass(frozen=True, slots=True)
class Occasion:
    """On what occasion a server asks."""

    server: str
    """Its configured name."""
    tool: str | None = None
    """The original name of the tool in whose call it asks; None where that can not be told."""
    call_id: str | None = None
    attended: bool | None = None
    """Whether a person is there for that call; None where that can not be told."""


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
    extensions: Mapping[str, Mapping[str, Any]] = field(
        default_factory=dict[str, Mapping[str, Any]]
    )
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

    async def answer(self, method: str, params: Any, occasion: Occasion) -> dict[str, Any]:
        """The result of one request of a server's. Raises `Refusal`, and what the host's own
        handler raises."""
        if method == ELICIT and self.elicit is not None:
            return await self._elicited(self.elicit, params, occasion)
        if method == SAMPLE and self.sample is not None:
            if not isinstance(params, dict):
                raise Refusal(INVALID_PARAMS, "the params are no object")
            return dict(await self.sample(params, occasion))  # pyright: ignore[reportUnknownArgumentType] - JSON
        if method == ROOTS and self.roots is not None:
            return {"roots": list(await self.roots(occasion))}
        raise Refusal(METHOD_NOT_FOUND, f"Method not found: {method[:200]}")

    async def _elicited(self, elicit: Elicit, params: Any, occasion: Occasion) -> dict[str, Any]:
        try:
            asked = read_elicitation(params)
        except Unreadable as problem:
            raise Refusal(INVALID_PARAMS, f"the params are {problem.reason}") from None
        if asked.mode not in self.modes:
            raise Refusal(INVALID_PARAMS, f"elicitation by {asked.mode.value} is not supported")
        if occasion.attended is False:
            return ElicitAnswer(Action.CANCEL).result()  # nobody is there (S0-09)
        answer = await elicit(asked, occasion)
        if answer.action is Action.ACCEPT and asked.schema is not None:
            _must_fit(answer, asked.schema)
        return answer.result()


def _must_fit(answer: ElicitAnswer, schema: Mapping[str, Any]) -> None:
    """Raise `ValueError` unless the values of a form are what its schema says."""
    from lockgate.schema.validate import SchemaError, compile_schema

    try:
        compiled = compile_schema(dict(schema))
    except SchemaError:
        return
    if compiled.violations(answer.content or {}):
        raise ValueError("the values of a form do not fit its schema")


SERVES_NOTHING: Final = Services()
"""Nothing may be asked for."""
