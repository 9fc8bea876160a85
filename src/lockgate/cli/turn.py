"""One turn on the command line: shown as it happens, interrupted by Ctrl+C."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import click

from lockgate.agent.agent import Agent
from lockgate.agent.events import CallDecided, CallFinished, CallStarted, Event, ModelText
from lockgate.agent.run import RunResult
from lockgate.calls.call import Suspended
from lockgate.calls.records import DecisionRecord
from lockgate.cli.results import result_data
from lockgate.showing import looks_secret, masked, quoted, visible
from lockgate.tools.context import InterruptToken
from lockgate.tools.result import ToolResult

SHOWN = 200
"""Characters of a result, or of an argument, that are shown."""


async def one_turn(agent: Agent, prompt: str, *, show: bool) -> RunResult:
    """Run one turn. The first Ctrl+C interrupts it, the second ends the program."""
    token = InterruptToken()
    loop, task = asyncio.get_running_loop(), asyncio.current_task()

    def pressed() -> None:
        if token.interrupted and task is not None:
            task.cancel()
            return
        click.echo("\ninterrupting; once more to leave", err=True)
        token.interrupt()

    loop.add_signal_handler(signal.SIGINT, pressed)
    try:
        return await agent.run(prompt, interrupt=token, sink=_show if show else _silent)
    except asyncio.CancelledError:
        if token.interrupted:
            raise KeyboardInterrupt from None
        raise
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _silent(event: Event) -> None:
    """Programs read the result."""


def _show(event: Event) -> None:
    match event:
        case CallStarted():
            given = ", ".join(f"{visible(k)}={_value(k, v)}" for k, v in event.arguments.items())
            click.echo(f"* {visible(event.tool)}({given})", err=True)
        case CallDecided():
            click.echo(f"  {decided(event.record)}", err=True)
        case CallFinished(result=Suspended(ticket=ticket)):
            click.echo(f"  waiting for an answer, ticket {ticket}", err=True)
        case CallFinished(result=ToolResult() as result):
            word = f"{result.kind.value}: " if result.kind else ""
            click.echo(f"  {visible(event.tool)} -> {word}{_cut(visible(result.text))}", err=True)
        case ModelText():
            # The text of the last reply is the answer, which goes to standard output.
            return
        case _:
            return


def decided(record: DecisionRecord) -> str:
    """One line about a decision: what, by whom, why."""
    words = {"run": "runs", "refuse": "refused", "suspend": "waits"}
    why = "; ".join(visible(reason.text) for reason in record.reasons)
    by = ""
    if record.approver is not None:
        by = f" ({'yes' if record.approved else 'no'} by {record.approver})"
    return f"{words[record.decision]}{by}: {why}"


def turn_data(result: RunResult) -> dict[str, Any]:
    """One JSON object: the answer, the status, and every call with its decision and result."""
    return {
        "text": result.text,
        "status": result.status.value,
        "reason": result.reason,
        "execution": result.execution_id,
        "tokens": result.tokens,
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


def _value(key: str, value: Any) -> str:
    if looks_secret(key):
        return masked(value)
    return quoted(_cut(value)) if isinstance(value, str) else _cut(visible(str(value)))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} ... ({len(text)} characters)"
