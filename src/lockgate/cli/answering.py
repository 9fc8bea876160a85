"""Giving a person's answer to a call that waits, and seeing the call through here."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from lockgate.app.build import open as open_gate
from lockgate.app.desk import open_desk
from lockgate.app.entries import Entry
from lockgate.app.gate import Gate
from lockgate.calls.call import Suspended
from lockgate.calls.suspension import Ticket, TicketGone
from lockgate.cli.exit import Exit, of_result
from lockgate.cli.opening import Progress, settled_config
from lockgate.cli.options import find_layers, print_json
from lockgate.cli.results import result_data
from lockgate.errors import ConfigError, Fate, Fault, LocalError, PeerError, Phase
from lockgate.policy.approval import Answer, Scope
from lockgate.settings.answers import AnsweredRule, kept_answers
from lockgate.settings.config import Config
from lockgate.showing import quoted, visible
from lockgate.tools.result import ToolResult


async def answer_ticket(id: str, answer: Answer, config: Path | None, *, as_json: bool) -> int:
    """Answer the ticket, print what came of its call, and return the exit code.

    Only the server of the call's tool is started, if it has one, and none for a no. Raises
    `TicketGone` for one that is used up, `LocalError` for a tool that can not be run from here, and
    `PeerError` if its server can not be started; in the last two cases the ticket stays open.
    """
    settings = settled_config(find_layers(config))
    ticket = _ticket(id, settings)
    if answer.scope is Scope.SESSION and ticket.question.session_id is None:
        raise LocalError("the call was made in no session: answer it once")
    if answer.scope is Scope.ALWAYS:
        _check_always(ticket, answer)
    runs = answer.approved and time.time() < ticket.expires
    servers = tuple(s for s in settings.servers if s.name == _server(ticket)) if runs else ()
    ours = _server(ticket) is None and ticket.tool in settings.builtin
    if runs and not servers and not ours:
        raise _elsewhere(ticket)
    narrowed = replace(settings, servers=servers, builtin=(ticket.tool,) if runs and ours else ())
    gate = open_gate(narrowed, tolerant=True, attended=False, entry=Entry.APPROVALS)
    with Progress(f"starting {_server(ticket) or ticket.tool} ..."):
        opened = await gate.__aenter__()
    try:
        if runs:
            _check_there(opened, ticket)
        result = await opened.resume(id, answer)
    finally:
        await gate.__aexit__(None, None, None)
    told: dict[str, Any] = {}
    if answer.scope is Scope.ALWAYS:
        told["kept"] = _is_kept(ticket, settings)
    return _told(id, answer, result, told, as_json=as_json)


def _ticket(id: str, settings: Config) -> Ticket:
    if settings.state_dir is None:
        raise LocalError("the configuration has no state directory")
    with open_desk(settings.state_dir, time.time) as desk:
        if desk is None:
            raise TicketGone(f"there is no ticket {quoted(id)}")
        if any(standing.id == id for standing in desk.unknowns()):
            raise LocalError(f"{id} is an open unknown: look what became of it, then say settled")
        return desk.ticket(id)


def _check_always(ticket: Ticket, answer: Answer) -> None:
    """Raise unless a yes for always is offered: nobody is to believe that it was kept."""
    if not answer.approved:
        raise LocalError("a no is given once or for the session; to refuse for good, write a rule")
    if ticket.always is None:
        why = "" if ticket.attended else ": it was made in an unattended run"
        raise LocalError(
            f"no rule would answer this call for you{why}. Answer it once, or for the session"
        )


def _is_kept(ticket: Ticket, settings: Config) -> bool:
    """Whether the rule that was answered stands in the file of answers; why not has been said."""
    try:
        kept = () if settings.answers is None else kept_answers(settings.answers)
    except ConfigError:
        return False
    rules = [one.answered for one in kept if isinstance(one.answered, AnsweredRule)]
    return any((rule.text, rule.pin) == (ticket.always, ticket.fingerprint) for rule in rules)


def _server(ticket: Ticket) -> str | None:
    return ticket.origin.server if ticket.origin is not None else None


def _elsewhere(ticket: Ticket) -> LocalError:
    """The error for a call that can not be made from the command line; it goes on waiting."""
    tool, server = visible(ticket.tool), _server(ticket)
    if server is None and ticket.origin is not None and ticket.origin.source == "builtin":
        why = "`builtin` in this configuration does not name it"
    elif server is None:
        why = "it is a tool of a program: answer it there, with gate.resume(ticket, True)"
    else:
        why = f"its server {visible(server)} is not in this configuration"
    return LocalError(f"{tool} can not be run from here: {why}. The ticket stays open")


def _check_there(gate: Gate, ticket: Ticket) -> None:
    """Raise unless the call's tool is there: a yes must not be used up for nothing."""
    if any(tool.name == ticket.tool for tool in gate.tools()):
        return
    server = _server(ticket) or ""
    reason = gate.failed.get(server)
    if reason is None:
        raise LocalError(
            f"{visible(server)} has no tool {visible(ticket.tool)} any more. The ticket stays "
            "open: answer it no"
        )
    raise PeerError(
        f"{reason}. The ticket stays open",
        peer=server,
        phase=Phase.CONNECT,
        fault=Fault.NOT_CONNECTED,
        fate=Fate.NOT_SENT,
    )


def _told(
    id: str,
    answer: Answer,
    result: ToolResult | Suspended,
    more: Mapping[str, Any],
    *,
    as_json: bool,
) -> int:
    word = "yes" if answer.approved else "no"
    if isinstance(result, Suspended):
        code = Exit.REFUSED
        data: dict[str, Any] = {"waiting": result.ticket}
        text = f"asked for more by now: waiting again, ticket {result.ticket}"
    else:
        taken = not answer.approved and result.reason == "said_no"
        code = Exit.DONE if taken else of_result(result)
        data = {"result": result_data(result)}
        text = "Answered no. The call is not made." if taken else result.text
    if as_json:
        print_json({"ticket": id, "answer": word, **more, **data})
    else:
        click.echo(text, err=code is not Exit.DONE)
    return code
