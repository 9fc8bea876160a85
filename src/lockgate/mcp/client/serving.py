"""What a legacy server asks by itself, answered in the revision that was agreed upon.

Modern servers put what they ask into their answers (`rounds`), and ask nothing by themselves. A
question can be about what is open while it is asked: the time of that stands still meanwhile, and
once nothing of it is open any more nobody is to answer the question either.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from msgspec import structs

from lockgate.mcp.client.completions import Completions
from lockgate.mcp.client.inbound import Handler
from lockgate.mcp.client.pending import PendingRequests
from lockgate.mcp.client.services import Refusal, Services, common
from lockgate.mcp.protocol.eras import Revision
from lockgate.mcp.protocol.jsonrpc import INTERNAL_ERROR, METHOD_NOT_FOUND

MOOT: Final = "what this was asked for is over"
"""What a server is told whose request was answered, or given up, before its question was."""


class Serving:
    """Answers one server."""

    def __init__(self, peer: str, services: Services, pending: PendingRequests) -> None:
        """`pending` are the requests that it can ask about."""
        self.completions = Completions()
        """Which addresses it says to be over."""
        self._peer = peer
        self._services = services
        self._pending = pending
        self._revision: Revision | None = None
        self._agreed = asyncio.Event()

    def agree(self, revision: Revision) -> None:
        """This is spoken from now on; what was asked before is answered now."""
        self._services = self._services.of(revision)
        self._revision = revision
        self._agreed.set()

    def handlers(self) -> Mapping[str, Handler]:
        """What answers, by method."""
        return {method: self._handler(method) for method in self._services.methods}

    def _handler(self, method: str) -> Handler:
        async def handle(params: Any) -> Any:
            await self._agreed.wait()
            if self._revision is None or self._revision.modern:
                raise Refusal(METHOD_NOT_FOUND, f"Method not found: {method}")
            return await self._answer(method, params)

        return handle

    async def _answer(self, method: str, params: Any) -> dict[str, Any]:
        occasion = common(self._peer, self._pending.occasions(self._peer))
        occasion = structs.replace(occasion, waits=True, completions=self.completions)
        task = asyncio.current_task()
        moot = False

        def over() -> None:
            nonlocal moot
            if not moot and task is not None:
                moot = True
                task.cancel()

        with self._pending.held(over):
            try:
                return await self._services.answer(method, params, occasion)
            except asyncio.CancelledError:
                if not moot or task is None or task.uncancel():
                    raise
        raise Refusal(INTERNAL_ERROR, MOOT)
