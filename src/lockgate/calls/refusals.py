"""Refusals, and what the model is told of each: what stopped the call, and what may help.

Seven causes look alike from a distance (a deny rule, the ceiling, nobody to ask, an unknown tool,
a server that is down, a person's no, an approver that failed) and need seven different next
steps, so each has its own kind or reason and its own advice (PB-148). No text holds a value of an
argument, except the invalid name that the caller wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lockgate.decision import Reason
from lockgate.policy.approval import Answer
from lockgate.schema.violation import Violation, key_text
from lockgate.tools.registry import Registered
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.tools.tool import Declared

MAX_NAME = 100
"""How much of a name that is no tool's is repeated."""

MAX_UNKNOWN = 10
"""Names of arguments that no schema knows which are listed."""


@dataclass(frozen=True, slots=True)
class Refuse:
    """The call is not made. Nothing was sent."""

    kind: ErrorKind
    code: str
    """The reason code of the result."""
    text: str
    """For the model: what stopped it and what may help."""
    reasons: tuple[Reason, ...]
    registered: Registered | None = None
    """The tool it was about; None if there is none of that name."""
    answer: Answer | None = None
    """The no that refused it, if somebody gave one."""

    def result(self) -> ToolResult:
        """The error result it becomes."""
        return ToolResult.error(self.kind, self.text, reason=self.code)


def unknown_tool(name: str, near: Sequence[str]) -> Refuse:
    """No tool has this name; `near` are names of tools this execution is shown."""
    shown = repr(name if len(name) <= MAX_NAME else name[:MAX_NAME] + "...")
    meant = " or ".join(near)
    advice = f" Did you mean {meant}?" if near else ""
    text = f"There is no tool named {shown}; names are matched exactly.{advice} Nothing was run."
    told = f"; did you mean {meant}?" if near else ""
    reason = Reason("unknown_tool", f"no tool of this name is registered{told}")
    return Refuse(ErrorKind.UNKNOWN_TOOL, "no_such_tool", text, (reason,))


def server_not_there(name: str, server: str) -> Refuse:
    """The name is one of a configured server that did not start, so nobody knows its tools.

    Why it did not start is for people, not for a model: it holds the server's own words.
    """
    shown = repr(name if len(name) <= MAX_NAME else name[:MAX_NAME] + "...")
    text = (
        f"The server {server} is not there, so no tool of it can be called, {shown} among them. "
        "Nothing was run. Go on without it, or report that the server has to be mended."
    )
    reason = Reason("server_not_there", f"the server {server} is not there, nor are its tools")
    return Refuse(ErrorKind.NOT_CONNECTED, "server_not_there", text, (reason,))


def not_offered(registered: Registered, reason: Reason) -> Refuse:
    """The tool exists and is not part of what this execution may use."""
    text = f"{reason.text}. Nothing was run. Use one of the tools you were given."
    return Refuse(ErrorKind.NOT_OFFERED, reason.code, text, (reason,), registered)


def undeclared(registered: Registered) -> Refuse:
    """A hook's own call of a tool that its declaration does not name."""
    text = f"No hook declares calls of {registered.tool.name}. Nothing was run."
    reason = Reason("undeclared", "no declaration of a hook names the tool")
    return Refuse(ErrorKind.NOT_OFFERED, "undeclared", text, (reason,), registered)


def by_hooks(registered: Registered, reasons: tuple[Reason, ...]) -> Refuse:
    """Hooks before the call denied it."""
    told = "; ".join(dict.fromkeys(reason.text for reason in reasons))
    text = (
        f"{registered.tool.name} is denied: {told}. Nothing was run. Do not look for a way around "
        "it; mend what the hook objects to, or tell the user what you wanted to do."
    )
    return Refuse(ErrorKind.DENIED, "hook", text, reasons, registered)


def above_ceiling(registered: Registered, reason: Reason) -> Refuse:
    """The tool can do more than this execution may (S0-05)."""
    text = (
        f"{reason.text}. Nothing was run, and no approval can change that for this execution. "
        "Use a tool within the allowed level, or say that this needs a higher ceiling."
    )
    return Refuse(ErrorKind.ABOVE_CEILING, reason.code, text, (reason,), registered)


def denied(registered: Registered, reasons: tuple[Reason, ...]) -> Refuse:
    """A deny rule matched."""
    told = "; ".join(dict.fromkeys(reason.text for reason in reasons))
    text = (
        f"{registered.tool.name} is denied by a permission rule: {told}. Nothing was run. "
        "Do not try again or look for a way around it; tell the user what you wanted to do."
    )
    return Refuse(ErrorKind.DENIED, "deny_rule", text, reasons, registered)


def barred(registered: Registered, reasons: tuple[Reason, ...]) -> Refuse:
    """It reaches where no tool may."""
    told = "; ".join(dict.fromkeys(reason.text for reason in reasons))
    text = (
        f"{registered.tool.name} is denied: {told}. Nothing was run, and nothing can allow it. Do "
        "not look for a way around it."
    )
    return Refuse(ErrorKind.DENIED, reasons[0].code, text, reasons, registered)


def invalid_arguments(
    registered: Registered, violations: Sequence[Violation], unknown: Sequence[str] = ()
) -> Refuse:
    """The arguments do not fit the tool's schema; every violation is told at once.

    `unknown` are names that the schema does not mention and does not forbid: no fault of their
    own, but often the misspelt other half of one. Records do not hold names that are the caller's
    own.
    """
    listed = "\n".join(f"- {violation}" for violation in violations)
    hint = ""
    if unknown:
        names = ", ".join(map(key_text, unknown[:MAX_UNKNOWN]))
        more = f" and {len(unknown) - MAX_UNKNOWN} more" if len(unknown) > MAX_UNKNOWN else ""
        hint = f"Not {'a parameter' if len(unknown) == 1 else 'parameters'} of it: {names}{more}.\n"
    text = (
        f"The arguments do not fit the schema of {registered.tool.name}:\n{listed}\n{hint}"
        "Nothing was run. Mend all of these and call again."
    )
    reasons = tuple(Reason("invalid_arguments", violation.record) for violation in violations)
    return Refuse(ErrorKind.INVALID_ARGUMENTS, "schema", text, reasons, registered)


def unresolvable(registered: Registered, faults: Sequence[Violation]) -> Refuse:
    """What the call is about can not be used: a path that leads nowhere, an address that is none.

    The arguments fit the schema; `faults` name each argument and what is wrong, without the value.
    """
    listed = "\n".join(f"- {fault.path.removeprefix('$.')}: {fault.message}" for fault in faults)
    text = (
        f"{registered.tool.name} can not use what it was given:\n{listed}\n"
        "Nothing was run. Give another one."
    )
    reasons = tuple(Reason("unresolvable", str(fault)) for fault in faults)
    return Refuse(ErrorKind.INVALID_ARGUMENTS, "unresolvable", text, reasons, registered)


def nobody_to_ask(registered: Registered, reasons: tuple[Reason, ...]) -> Refuse:
    """It needs an answer, and no approver is there, or all passed it on (S0-09)."""
    told = "; ".join(reason.text for reason in reasons)
    # An allow rule answers for no destructive tool, beside no ask rule and over no open unknown.
    codes = {reason.code for reason in reasons}
    by_rule = codes <= {"not_exempt", "relative_path"}
    again = (
        "Call again with an absolute path, which rules may allow or refuse; else"
        if "relative_path" in codes
        else "Asking again will not help;"
    )
    no_rule = (
        "; of rules only one that says `destructive: true` and `when: any` answers this"
        if codes <= {"not_exempt", "destructive"}
        else "; no allow rule answers this"
    )
    text = (
        f"{registered.tool.name} needs an approval ({told}), and nobody is there to give one, "
        f"which counts as no. Nothing was run. {again} go on without it, or "
        "report that it needs a run with a person present"
        f"{' or a rule that allows it' if by_rule else no_rule}."
    )
    nobody = Reason("nobody_to_ask", "nobody is there to answer, which counts as no")
    return Refuse(ErrorKind.NOT_APPROVED, "nobody_to_ask", text, (*reasons, nobody), registered)


def said_no(
    registered: Registered | None,
    reasons: tuple[Reason, ...],
    answer: Answer,
    name: str | None = None,
) -> Refuse:
    """Whoever was asked answered no; `name` is that of a tool which is not registered today."""
    note = f' They said: "{answer.note}"' if answer.note else ""
    text = (
        f"The approval of {_name(registered, name)} was asked for and refused by {answer.approver}."
        f"{note} Nothing was run. Do not repeat the call unless you are told to."
    )
    no = Reason("said_no", f"{answer.approver} said no")
    return Refuse(ErrorKind.NOT_APPROVED, "said_no", text, (*reasons, no), registered, answer)


def approver_failed(registered: Registered, reasons: tuple[Reason, ...], approver: str) -> Refuse:
    """An approver raised, or answered with something that is no answer; that counts as no."""
    text = (
        f"{registered.tool.name} needs an approval, and the approver {approver} failed, which "
        "counts as no. Nothing was run. This is no judgement of the call; report the failure."
    )
    failed = Reason("approver_failed", f"the approver {approver} failed")
    no = Answer(False, approver)
    return Refuse(
        ErrorKind.NOT_APPROVED, "approver_failed", text, (*reasons, failed), registered, no
    )


def expired(
    registered: Registered | None,
    reasons: tuple[Reason, ...],
    approver: str | None,
    name: str | None = None,
) -> Refuse:
    """Nobody answered in time; that counts as no. `name` as for `said_no`."""
    text = (
        f"{_name(registered, name)} needs an approval, and no answer came in time, which counts as "
        "no. Nothing was run. The call may be made again when somebody is there to answer."
    )
    late = Reason("expired", "no answer came in time")
    no = None if approver is None else Answer(False, approver)
    return Refuse(ErrorKind.NOT_APPROVED, "expired", text, (*reasons, late), registered, no)


def _name(registered: Registered | None, name: str | None) -> str:
    return (name or "")[:MAX_NAME] if registered is None else registered.tool.name


def keeps_changing(registered: Registered, reasons: tuple[Reason, ...]) -> Refuse:
    """Every answer came to find that the question had become another one."""
    text = (
        f"{registered.tool.name} needs an approval, and what it would be for changed while it was "
        "asked about, several times. Nothing was run. Look at the state of things before you try "
        "again."
    )
    return Refuse(ErrorKind.NOT_APPROVED, "question_changed", text, reasons, registered)


def tool_changed(registered: Registered, what: str) -> Refuse:
    """It is not the tool, or not the call, that was approved (B-01)."""
    text = (
        f"{what} of {registered.tool.name} changed after it was approved, so the approval does "
        "not count. Nothing was run. Look at the tool again before you repeat the call."
    )
    reason = Reason("tool_changed", f"{what} is not what was approved")
    return Refuse(ErrorKind.TOOL_CHANGED, "changed", text, (reason,), registered)


def redefined(registered: Registered) -> Refuse:
    """It is defined otherwise now than it was offered (S3-18)."""
    text = (
        f"The definition of {registered.tool.name} changed since it was offered, so the call was "
        "made for another one. Nothing was run. The new definition is offered from the next turn "
        "on."
    )
    reason = Reason("tool_changed", "the definition is not what was offered")
    return Refuse(ErrorKind.TOOL_CHANGED, "changed", text, (reason,), registered)


def withdrawn(registered: Registered) -> Refuse:
    """It was offered, and is not there any more (S3-18)."""
    text = (
        f"{registered.tool.name} was offered, and its server has withdrawn it since. Nothing was "
        "run. Go on without it."
    )
    reason = Reason("tool_gone", "the tool is not there any more")
    return Refuse(ErrorKind.TOOL_CHANGED, "gone", text, (reason,), registered)


def skipped(registered: Registered | None, name: str) -> Refuse:
    """The turn was interrupted before the call began."""
    text = f"{name} was not run: the turn was interrupted before it began."
    reason = Reason("interrupted", "the turn was interrupted before the call began")
    return Refuse(ErrorKind.SKIPPED, "interrupted", text, (reason,), registered)


def cancelled(registered: Registered | None, name: str) -> Refuse:
    """The task that wanted the call was cancelled while it waited, for an answer or its lane."""
    text = f"{name} was not run: it was cancelled before it began."
    reason = Reason("cancelled", "the call was cancelled before it began")
    return Refuse(ErrorKind.SKIPPED, "cancelled", text, (reason,), registered)


def unrecorded(registered: Registered, what: str) -> Refuse:
    """The decision could not be written down, so a mutating call is not made (B-02)."""
    text = (
        f"{registered.tool.name} was not run: {what}, and without a record no call that changes "
        "something is made. Repeating it will not help; the operator has to mend it."
    )
    reason = Reason("no_record", what)
    return Refuse(ErrorKind.INTERNAL, "no_record", text, (reason,), registered)


def undecided(registered: Registered | None, name: str, error: BaseException) -> Refuse:
    """Deciding itself failed: a fault of ours, and no way to run the call."""
    text = (
        f"{name[:MAX_NAME]} was not run: deciding about it failed ({type(error).__name__}). This "
        "is a fault of the program, not of the call."
    )
    reason = Reason("internal", f"deciding failed with {type(error).__name__}")
    return Refuse(ErrorKind.INTERNAL, "undecided", text, (reason,), registered)


_ONLY_READS = "It only reads, so nothing was changed by it; it may be called again."


def outcome_unknown(
    tool: Declared,
    cause: str,
    detail: str,
    sent: int,
    look: Sequence[str],
    unsent: str = "",
) -> ToolResult:
    """A call that may have taken effect: what was sent, what is not known, how to look (B-03).

    `cause` is the reason code; `detail` is what ended it, in words; `sent` is how many tries may
    have arrived; `look` are names of tools that may show what became of it; `unsent` is what kept
    a further try from being sent, if there was one.
    """
    server = tool.definition.origin.server
    where = f" at the server {server}" if server is not None else ""
    times = "once" if sent <= 1 else f"{sent} times"
    told = f"it is not known what became of it: {_clause(detail)}."
    if unsent:
        told += f" A further try was not sent: {_clause(unsent)}."
    how = f"Look first, for example with {', '.join(look)}." if look else "Look first."
    if tool.is_read_only:
        advice = _ONLY_READS
    elif tool.is_idempotent:
        advice = (
            "It may have taken effect: do not assume it failed. It is declared idempotent, so the "
            f"same call with the same arguments may be made again. {how}"
        )
    else:
        advice = (
            "It may have taken effect: do not assume it failed, and do not simply call it again. "
            + how
        )
    text = f"The outcome of {tool.name} is unknown. The call was begun {times}{where}, and {told}"
    return ToolResult.error(ErrorKind.OUTCOME_UNKNOWN, f"{text} {advice}", reason=cause)


def read_lost(kind: ErrorKind, reason: str | None, detail: str, unsent: str) -> ToolResult:
    """A call that only reads, and got no answer: it has no outcome that somebody must look for.

    `kind` and `reason` are of its last try, `detail` is what ended the one that was sent, `unsent`
    what kept the last one from being sent, if that is another thing.
    """
    further = f" A further try was not sent: {_clause(unsent)}." if unsent else ""
    text = f"{_clause(detail)}.{further} {_ONLY_READS}"
    return ToolResult.error(kind, text, reason=reason)


def answer_unread(result: ToolResult) -> ToolResult:
    """A call that was answered, by an answer that nobody could read; the tool may change things."""
    text = (
        f"{_clause(result.text)}. It was answered all the same, so it may well have taken effect: "
        "look before it is called again."
    )
    return ToolResult.error(result.kind or ErrorKind.TOOL_ERROR, text, reason=result.reason)


def _clause(text: str) -> str:
    """Somebody's words, without the stop at their end."""
    return text.strip().rstrip(".")
