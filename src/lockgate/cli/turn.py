"""One turn on the command line: shown as it happens, interrupted by Ctrl+C."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from lockgate.agent.agent import Agent
from lockgate.agent.events import Sink, ignore
from lockgate.agent.run import RunResult
from lockgate.bridges.voice import Voice
from lockgate.calls.call import Suspended
from lockgate.cli.display import Display
from lockgate.cli.output import error_columns, on_terminal
from lockgate.cli.results import result_data
from lockgate.tools.context import InterruptToken

_T = TypeVar("_T")


async def one_turn(agent: Agent, prompt: str, voice: Voice, *, show: bool) -> RunResult:
    """Run one turn. The first Ctrl+C interrupts it, the second ends the program.

    `voice` is the one that questions are asked with: what is shown waits for their answers. `show`
    shows the calls, and what the model says while it is written where standard output is a
    terminal (`written_on`); programs read the result.
    """
    return await watched(
        lambda token, sink: agent.run(prompt, interrupt=token, sink=sink), voice, show=show
    )


async def watched(
    work: Callable[[InterruptToken, Sink], Awaitable[_T]], voice: Voice, *, show: bool
) -> _T:
    """Do `work`, told and interrupted as a turn is."""
    token = InterruptToken()
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def pressed() -> None:
        if token.interrupted and task is not None:
            task.cancel()
            return
        voice.say("\ninterrupting; once more to leave")
        token.interrupt()

    display = Display(voice, error_columns, flows=show and written_on(), patient=False)
    before = signal.getsignal(signal.SIGINT)
    loop.add_signal_handler(signal.SIGINT, pressed)
    try:
        return await work(token, display if show else ignore)
    except asyncio.CancelledError:
        display.broken_off()
        if token.interrupted:
            raise KeyboardInterrupt from None
        raise
    finally:
        display.close()
        loop.remove_signal_handler(signal.SIGINT)
        if before is not None:  # asyncio's own, which ends the program with everything closed
            signal.signal(signal.SIGINT, before)


def written_on() -> bool:
    """Whether a person sees what the model writes on standard output as it comes.

    Into a pipe or a file goes the answer alone, once it is whole.
    """
    return on_terminal()


def turn_data(result: RunResult) -> dict[str, Any]:
    """One JSON object: the answer, the status, what it cost, and every call with its decision and
    result."""
    usage = result.usage
    return {
        "text": result.text,
        "status": result.status.value,
        "reason": result.reason,
        "execution": result.execution_id,
        "tokens": result.tokens,
        "usage": {"input": usage.input, "output": usage.output, "cached": usage.cached},
        "childTokens": result.child_tokens,
        "calls": [
            {
                "id": made.id,
                "tool": made.tool,
                "decision": made.decision.decision if made.decision else None,
                "approver": made.decision.approver if made.decision else None,
                "reasons": [r.text for r in made.decision.reasons] if made.decision else [],
                "result": {"ticket": made.result.ticket}
                if isinstance(made.result, Suspended)
                else result_data(made.result),
            }
            for made in result.calls
        ],
    }
