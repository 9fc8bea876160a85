"""Who is asked: the approvers of a gate, and who answers its servers."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from lockgate.app.asking import Answerers
from lockgate.app.surroundings import Surroundings
from lockgate.bridges.queue import QueueApprover
from lockgate.bridges.reception import Reception
from lockgate.bridges.tty import open_terminal
from lockgate.policy.approval import Approver
from lockgate.process.environment import child_environment
from lockgate.process.program import Program
from lockgate.settings.config import ApproverName, ApproverProgram, ApproverSettings, Config
from lockgate.stores.audit import AuditLog
from lockgate.stores.samplings import SqliteSamplings
from lockgate.stores.state import StateDatabase

_log = logging.getLogger(__name__)


def approvers_of(
    configured: Sequence[ApproverSettings],
    given: Sequence[Approver] | None,
    config: Config,
    around: Surroundings,
) -> Sequence[Approver]:
    """The approvers that a program gave, else those of the configuration."""
    if given is not None:
        return tuple(given)

    def terminal() -> Approver:
        # Late, as all that only some gates ask with.
        from lockgate.bridges.terminal import TerminalApprover

        return TerminalApprover(voice=around.voice)

    makers: dict[ApproverName, Callable[[], Approver]] = {
        "terminal": terminal,
        "queue": QueueApprover,
    }

    def made(settings: ApproverSettings) -> Approver:
        if not isinstance(settings, ApproverProgram):
            return makers[settings]()
        from lockgate.bridges.command import CommandApprover

        command, *arguments = settings.command
        environment = child_environment(around.environ, {})
        where = config.project_dir or around.cwd
        program = Program("approver", command, tuple(arguments), environment, where)
        return CommandApprover(program)

    return tuple(made(settings) for settings in configured)


def answerers_of(
    config: Config,
    around: Surroundings,
    attended: bool,
    approvers: Sequence[Approver] | None,
    audit: AuditLog,
    state: StateDatabase,
) -> Answerers:
    """Who answers servers. On the terminal are asked those whom the gate asks there."""
    settings, environ = config.approvals, around.environ
    on_terminal = attended and approvers is None and "terminal" in settings.attended
    reception = Reception(
        audit,
        time=around.time,
        monotonic=around.monotonic,
        within=settings.answer_within,
        tell=around.voice.say if on_terminal else _log.warning,
        sampled=SqliteSamplings(state).too_often,
    )
    if not on_terminal:
        return Answerers(attended, reception, settings.answer_within)
    from lockgate.bridges.browser import has_browser, open_browser
    from lockgate.bridges.elicitation import TerminalElicitation
    from lockgate.bridges.sampling import TerminalConsent

    elicit = TerminalElicitation(
        around.voice, browse=open_browser if has_browser(environ) else None
    )
    consent = TerminalConsent(around.voice)
    return Answerers(attended, reception, settings.answer_within, elicit, consent)


def has_terminal() -> bool:
    """Whether the program has a terminal that somebody can be asked on."""
    terminal = open_terminal()
    if terminal is None:
        return False
    terminal.close()
    return True
