"""The call of a hook that is a tool: down the same road, answered by its declaration (S3-13)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lockgate.calls.batch import Invoke
from lockgate.calls.call import Call, Suspended
from lockgate.calls.declared import HOOK, DeclaredCall
from lockgate.hooks.declared.plan import ToolHandler
from lockgate.hooks.event import HookInput
from lockgate.hooks.failure import HookFailure
from lockgate.policy.ceiling import narrow, whole
from lockgate.tools.context import Environment, Execution
from lockgate.tools.naming import server_tool_name
from lockgate.tools.registry import Snapshot
from lockgate.tools.result import ToolResult
from lockgate.traits import SideEffectLevel


class HookCaller:
    """Makes such calls. A `hooks.declared.mcp_tool.Caller`.

    Each is an execution of its own, with nobody there to ask, within the ceiling of the one it is
    told about, and with exactly one tool: what the agent is offered says nothing of it. It belongs
    to no session, so nothing that was answered in one counts for it.
    """

    def __init__(
        self,
        invoke: Invoke,
        snapshot: Callable[[], Snapshot],
        *,
        ceiling: SideEffectLevel,
        environment: Environment,
        new_id: Callable[[], str],
    ) -> None:
        """`invoke` is the road, `snapshot` gives the tools of now."""
        self._invoke = invoke
        self._snapshot = snapshot
        self._ceiling = ceiling
        self._environment = environment
        self._new_id = new_id

    async def __call__(
        self,
        handler: ToolHandler,
        arguments: Mapping[str, Any],
        told: HookInput,
        *,
        name: str,
        timeout: float,
        source: str = "",
    ) -> ToolResult:
        """Make the call. Raises `HookFailure` if it came to wait for somebody."""
        tool = server_tool_name(handler.server, handler.tool)
        execution = Execution(
            self._new_id(),
            HOOK,
            narrow(whole(self._ceiling), whole(told.ceiling or self._ceiling, frozenset({tool}))),
            attended=False,
            environment=self._environment,
            agent=f"hook {name}",
        )
        call = Call(
            self._new_id(),
            tool,
            arguments,
            execution,
            parent_call=told.call_id,
            timeout=timeout,
            declared=DeclaredCall(handler.server, handler.tool, source),
        )
        result = await self._invoke(call, self._snapshot())
        if isinstance(result, Suspended):
            raise HookFailure("its call waits for an answer")
        return result
