"""Who is asked: words and programs, in order, with their limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.errors import Problem
from lockgate.settings.acceptance import NotAccepted
from lockgate.settings.config import ApproverProgram, Config
from lockgate.settings.layers import locate
from lockgate.settings.loading import load

Load = Callable[[str], Config]
Problems = Callable[[str], tuple[Problem, ...]]


def test_the_defaults(load_text: Load) -> None:
    """A terminal where a person is, nobody elsewhere, ten minutes for an answer, a week to wait."""
    approvals = load_text("{}").approvals
    assert (approvals.attended, approvals.unattended) == (("terminal",), ())
    assert (approvals.answer_within, approvals.ticket_lifetime) == (600, 7 * 86_400)


def test_words_and_programs_in_order(load_text: Load, project: Path) -> None:
    """A path is relative to the file, arguments are handed on as they are."""
    approvals = load_text(
        """
        approvals:
          attended: [terminal, queue]
          unattended:
            - command: [./approve.py, --strict, "", ./x]
            - queue
          answerWithin: 30s
          ticketLifetime: 2d
        """
    ).approvals
    assert approvals.attended == ("terminal", "queue")
    program = ApproverProgram((str(project / "approve.py"), "--strict", "", "./x"))
    assert approvals.unattended == (program, "queue")
    assert (approvals.answer_within, approvals.ticket_lifetime) == (30, 172_800)


def test_variables_expand_in_programs_alone(
    load_text: Load, problems_of: Problems, environ: dict[str, str]
) -> None:
    """A program may be named by the environment, an approver's word may not."""
    environ["DIR"] = "/opt"
    approvals = load_text("approvals: {attended: [{command: ['${DIR}/ask', '${DIR}']}]}").approvals
    assert approvals.attended == (ApproverProgram(("/opt/ask", "/opt")),)
    (problem,) = problems_of("approvals: {attended: ['${DIR}']}")
    assert "do not expand" in problem.message


@pytest.mark.parametrize(
    ("written", "path", "part"),
    [
        ("attended: [terminal, qeue]", "attended[1]", "did you mean queue?"),
        ("unattended: [terminal]", "unattended[0]", "nobody sits at the terminal"),
        ("unattended: queue", "unattended", "must be a list"),
        ("attended: [queue, terminal]", "attended", "queue is not the last"),
        ("attended: [queue, queue]", "attended[1]", "stands twice"),
        ("attended: [{}]", "attended[0]", "names no approver"),
        ("attended: [{command: ./x}]", "attended[0].command", "must be a list"),
        ("attended: [{command: []}]", "attended[0].command", "is empty"),
        ("attended: [{command: ['']}]", "attended[0].command[0]", "is empty"),
        ("attended: [{command: [a b]}]", "attended[0].command[0]", "white space"),
        ("attended: [{command: [x], timeout: 3}]", "attended[0].timeout", "unknown key"),
        ("attended: [{comand: [x]}]", "attended[0].comand", "did you mean command?"),
        ("answerWithin: 0", "answerWithin", "no usable duration"),
        ("answerWithin: 2d", "answerWithin", "no usable duration"),
        ("ticketLifetime: 91d", "ticketLifetime", "at most 90d"),
        ("ticketLifetime: never", "ticketLifetime", "no usable duration"),
    ],
)
def test_mistakes(problems_of: Problems, written: str, path: str, part: str) -> None:
    """Each is told with its place and what to do."""
    problems = problems_of(f"approvals: {{{written}}}")
    told = [f"{problem.path} {problem.message} {problem.hint}" for problem in problems]
    assert any(line.startswith(f"approvals.{path} ") and part in line for line in told), told


@pytest.mark.req("B-13")
def test_a_found_file_does_not_start_an_approver_unseen(
    project: Path, environ: dict[str, str]
) -> None:
    """The program is named before the file is accepted, with its arguments and no secret."""
    text = "approvals: {unattended: [{command: [./yes.sh, --api-key=SEKRET]}]}"
    (project / "lockgate.yaml").write_text(text)
    with pytest.raises(NotAccepted) as caught:
        load(locate(project, environ), environ)
    told = "\n".join(caught.value.pending.summary)
    assert "start a program that answers in your place (approvals.unattended)" in told
    assert "./yes.sh" in told
    assert "SEKRET" not in told
