"""A server's tool as a tool like any other (S3-01): nothing past here can tell it is remote."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import msgspec

from lockgate.content import Content, JSONObject, Text
from lockgate.errors import Fate, LocalError, PeerError
from lockgate.mcp.client.making import Unwritable
from lockgate.mcp.client.mirroring import NOTHING, headers_of
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.client.tasks import AT_MOST as TASK_AT_MOST
from lockgate.mcp.host.line import Bond, Line
from lockgate.mcp.host.ruling import Ruling
from lockgate.mcp.host.settings import ServerSettings
from lockgate.mcp.host.tracing import CallTracing
from lockgate.mcp.protocol.results import CallResult, ListedTool
from lockgate.tools.context import ToolContext
from lockgate.tools.fingerprint import Fingerprint
from lockgate.tools.naming import server_tool_name
from lockgate.tools.origin import Origin
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.tool import Tool, ToolDefinition
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    InterruptBehavior,
    SideEffectLevel,
)

NOTED = 5
"""Oddities of one answer that are told; of more, how many there are."""


class McpTool(Tool):
    """One tool of one server, declared as its ruling says.

    Registered as `mcp__<server>__<tool>`; the wire gets the original name. Bound to its definition
    and its ruling by `bond`: if the server lists it otherwise by now, or no more, calls answer
    tool_changed and nothing is sent (B-06). While the server is not there they answer
    not_connected; so do all calls of one that was made from what was last seen of its server.
    """

    def __init__(
        self,
        settings: ServerSettings,
        line: Line,
        listed: ListedTool,
        fingerprint: Fingerprint,
        ruling: Ruling,
        tracing: CallTracing | None = None,
    ) -> None:
        """`line` is how its server is reached, if it is there; `fingerprint` the definition's
        `definition_fingerprint`. `tracing` gives what the requests carry of a trace; None where
        nothing is traced."""
        self.bond = Bond(fingerprint.digest, ruling)
        """What it was made from; to be in `line.bonds` for as long as that holds."""
        self._line = line
        self.offline = line.session is None
        """Whether it was made without a connection, and is of no use on one."""
        self._headers = NOTHING if line.session is None else headers_of(line.session, listed)
        self._tracing = tracing
        self._network = settings.endpoint.network
        self._server = settings.name
        self._original = listed.name
        self._ruling = ruling
        self._timeout = settings.request_timeout
        self._at_most = settings.progress_extends
        self._lane = f"server:{settings.name}" if settings.lane == "server" else None
        self._definition = ToolDefinition(
            name=server_tool_name(settings.name, listed.name),
            description=listed.description,
            input_schema=listed.input_schema,
            origin=Origin(
                source="mcp",
                server=settings.name,
                original_name=listed.name,
                fingerprint=fingerprint,
                claim=_object(listed.claims.raw),
                ruling=ruling.source,
                reasons={
                    **ruling.reasons,
                    "interruptible": "what is asked of a server is given up",
                },
                remarks=(*listed.remarks, *ruling.remarks),
                unreviewed=ruling.unreviewed,
            ),
            title=listed.title or listed.claims.title,
            output_schema=listed.output_schema,
        )

    @property
    def definition(self) -> ToolDefinition:
        return self._definition

    @property
    def side_effect_level(self) -> SideEffectLevel:
        return self._ruling.level

    @property
    def destructive_behavior(self) -> DestructiveBehavior:
        return self._ruling.destructive

    @property
    def idempotency_behavior(self) -> IdempotencyBehavior:
        return self._ruling.idempotent

    @property
    def concurrency_behavior(self) -> ConcurrencyBehavior:
        """As ruled; a lane for the whole server is stronger than a tool's own freedom."""
        if self._lane is not None:
            return ConcurrencyBehavior.SEQUENTIAL
        return self._ruling.concurrent

    @property
    def interrupt_behavior(self) -> InterruptBehavior:
        return InterruptBehavior.COOPERATIVE

    @property
    def lane(self) -> str:
        """Its own name, or one for all tools of the server; no tool's name holds a colon."""
        return self._lane or self._definition.name

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        line, timeout, at_most = self._line, self._timeout, self._at_most
        within = at_most
        if not line.agrees(self._original, self.bond):
            refused = await self._changed(context)
            if refused is not None:
                return Outcome(refused, Fate.NOT_SENT)
        client = line.client
        if client is None:
            return Outcome(self._not_started(), Fate.NOT_SENT)
        limit = context.limit
        deadline = context.deadline if limit is None else limit.at
        if at_most is not None and context.begun is not None:
            within = at_most = at_most + context.begun - asyncio.get_running_loop().time()
            if at_most <= 0:
                return _too_late()
            timeout = min(timeout, at_most)
        if deadline is not None:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return _too_late()
            timeout = min(timeout, left)
            at_most = None if at_most is None else min(at_most, left)
            within = min(TASK_AT_MOST if at_most is None else at_most, left)
        occasion = None
        if line.serves:
            there, id = context.execution.attended, context.call_id
            occasion = Occasion(self._server, self._original, id, there)
        tracing, carry, catalogue = self._tracing, None, line.catalogue
        begun = 0 if catalogue is None else catalogue.begun
        if tracing is not None:
            carry = tracing.carrier(context, line.revision, self._network)
        try:
            result = await client.call(
                self._original,
                arguments,
                timeout=timeout,
                carry=carry,
                headers=self._headers,
                progress=context.progress,
                at_most=at_most,
                renew=False,
                occasion=occasion,
                bound=limit,
                within=within,
            )
        except Unwritable as error:
            refused = ToolResult.error(ErrorKind.INVALID_ARGUMENTS, str(error))
            return Outcome(refused, Fate.NOT_SENT)
        except LocalError as error:
            misused = ToolResult.error(ErrorKind.INTERNAL, str(error), reason="misused")
            return Outcome(misused, Fate.NOT_SENT)
        except PeerError as error:
            # Also a session that has ended: reading the list opens a new one. As nothing was done
            # in the old one, the call is tried again once that was read (calls.replay).
            line.doubt(error, begun)
            if tracing is not None and error.code is not None:
                tracing.refused(context, error.code)
            raise
        return self._shown(result)

    async def _changed(self, context: ToolContext) -> ToolResult | None:
        """Why the call is not sent, once it is known what the server lists now."""
        bound = self._timeout
        deadline = context.ends
        if deadline is not None:
            bound = min(bound, deadline - asyncio.get_running_loop().time())
        reads_only = self._ruling.level is SideEffectLevel.READ_ONLY
        return await self._line.refusal(
            self._original, self.bond, bound=bound, reads_only=reads_only
        )

    def _not_started(self) -> ToolResult:
        text = f"{self._server} was not started: its tools are known from the last time only"
        return ToolResult.error(ErrorKind.NOT_CONNECTED, text, reason="not_started")

    def _shown(self, result: CallResult) -> ToolResult:
        """The server's answer as a result; an answer without content shows what else it has.

        What was odd about it is shown last: whoever reads it may have to judge what it means.
        """
        content: tuple[Content, ...] = result.content
        if not content and result.structured is not None:
            content = (Text(msgspec.json.encode(result.structured).decode()),)
        if not content and result.is_error:
            content = (Text(f"{self._server} reported an error without saying which"),)
        if result.remarks:
            content += (Text(_noted(result.remarks)),)
        if not result.is_error:
            return ToolResult(content, structured=result.structured, meta=result.meta)
        return ToolResult.error(
            ErrorKind.TOOL_ERROR,
            "",
            reason="reported",
            content=content,
            structured=result.structured,
            meta=result.meta,
        )


def _too_late() -> Outcome:
    text = "the time for this call was over before it was sent"
    return Outcome(ToolResult.error(ErrorKind.TIMEOUT, text), Fate.NOT_SENT)


def _noted(remarks: tuple[str, ...]) -> str:
    more = f"; and {len(remarks) - NOTED} more" if len(remarks) > NOTED else ""
    return f"[odd about this answer: {'; '.join(remarks[:NOTED])}{more}]"


def _object(raw: Any) -> JSONObject | None:
    return cast("JSONObject", raw) if isinstance(raw, dict) else None
