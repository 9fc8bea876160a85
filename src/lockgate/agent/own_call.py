"""One call that a person makes in a session, between two turns: the road of a model's call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

from lockgate.agent.events import CallDecided, CallFinished, CallStarted, guarded
from lockgate.agent.runtime import AgentRuntime
from lockgate.agent.underway import Standing
from lockgate.calls.call import Call, Suspended
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ToolResult


async def own_call(
    runtime: AgentRuntime,
    standing: Standing,
    name: str,
    arguments: Mapping[str, Any],
    interrupt: InterruptToken,
) -> ToolResult | Suspended:
    """Make the call within the execution of `standing`, whose sink is told of it."""
    execution = standing.execution
    snapshot = standing.snapshot or runtime.snapshot()
    emit = guarded(standing.sink)
    call = Call(runtime.make_id(), name, arguments, execution, None, interrupt)
    clock = asyncio.get_running_loop().time
    with ExitStack() as stack:
        stack.enter_context(runtime.under_way.begun(standing))
        if runtime.witness is not None:
            watching = runtime.witness.watching(
                execution.id, lambda record: emit(CallDecided(record))
            )
            stack.enter_context(watching)
        emit(CallStarted(call.id, name, arguments))
        began = clock()
        result = await runtime.invoker.invoke(call, snapshot)
        emit(CallFinished(call.id, name, result, clock() - began))
        return result
