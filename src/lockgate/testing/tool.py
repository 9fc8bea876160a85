"""A tool that does what a script says, with whatever traits and origin a test needs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from lockgate.content import JSONObject
from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.tools.context import ToolContext
from lockgate.tools.declared import DeclaredTool
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.naming import server_tool_name
from lockgate.tools.origin import Origin
from lockgate.tools.result import Outcome, ToolResult
from lockgate.tools.subject import Subject
from lockgate.tools.tool import ToolDefinition
from lockgate.traits import SideEffectLevel

ANY_OBJECT: JSONObject = {"type": "object"}


class ScriptedTool(DeclaredTool):
    """Traits are the worst case unless given. Replies come in order; after the last one `"ok"`.

    A scripted `BaseException` is raised. With `server`, it is called and described as that server's
    tool. With `hold`, a run waits until `release` is called.
    """

    def __init__(
        self,
        name: str,
        *,
        server: str | None = None,
        level: SideEffectLevel = SideEffectLevel.MUTATING,
        destructive: bool = True,
        idempotent: bool = False,
        concurrent: bool = False,
        interruptible: bool = False,
        input_schema: JSONObject = ANY_OBJECT,
        output_schema: JSONObject | None = None,
        description: str = "",
        replies: Iterable[ToolResult | Outcome | BaseException | str] = (),
        hold: bool = False,
        subjects: tuple[Subject, ...] = (),
    ) -> None:
        """`name` is the original one where there is a server, else the registered one."""
        registered = name if server is None else server_tool_name(server, name)
        fields = {"name": name, "description": description, "input_schema": input_schema}
        source = "local" if server is None else "mcp"
        super().__init__(
            ToolDefinition(
                registered,
                description,
                input_schema,
                Origin(source, server, name, fingerprint(fields)),
                output_schema=output_schema,
                subjects=subjects,
            ),
            level=level,
            destructive=destructive,
            idempotent=idempotent,
            concurrent=concurrent,
            interruptible=interruptible,
        )
        self._replies = list(replies)
        self._released = asyncio.Event()
        if not hold:
            self._released.set()
        self.runs: list[Mapping[str, Any]] = []
        """The arguments of every run that was begun, in order."""
        self.contexts: list[ToolContext] = []
        """Their contexts."""
        self.started = asyncio.Event()
        """Set once the first run has begun."""

    def release(self) -> None:
        """Let held runs go on."""
        self._released.set()

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        self.runs.append(arguments)
        self.contexts.append(context)
        self.started.set()
        await self._released.wait()
        reply = self._replies.pop(0) if self._replies else "ok"
        if isinstance(reply, BaseException):
            raise reply
        return ToolResult.of(reply) if isinstance(reply, str) else reply


def lost(fate: Fate = Fate.UNKNOWN, fault: Fault = Fault.CLOSED) -> PeerError:
    """A server that fails in the middle of a request: a reply of a `ScriptedTool`."""
    return PeerError("the server went away", peer="x", phase=Phase.REQUEST, fault=fault, fate=fate)
