"""What a found file would loosen, against what holds without it (B-13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from lockgate.agent.limits import TurnLimits
from lockgate.mcp.host.settings import AnnotationTrust, PinPolicy, SamplingSettings
from lockgate.rules.in_tree import IN_TREE
from lockgate.rules.pattern import PatternError, parse_pattern
from lockgate.settings.config import (
    AgentSettings,
    ApprovalSettings,
    ApproverProgram,
    AuditSettings,
    SessionSettings,
)
from lockgate.settings.entries import RuleText
from lockgate.settings.expansion import has_reference
from lockgate.settings.hook_telling import hook_calls
from lockgate.settings.reading import Draft, Given
from lockgate.settings.server_keys import IDENTIFIED_BY
from lockgate.settings.telling import beginning, word
from lockgate.traits import SideEffectLevel

_SHOWN_INSTRUCTIONS: Final = 300
_ASKED: Final[Mapping[SideEffectLevel | None, str]] = {
    None: "ask about every call",
    SideEffectLevel.READ_ONLY: "ask about no call that only reads",
    SideEffectLevel.MUTATING: "ask about destructive calls only",
}
_EXEMPT_ORDER: Final = (None, SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING)


def loosened(draft: Draft, own: Draft) -> tuple[str, ...]:
    """One sentence for each thing that the file of `draft` would trust, widen or let pass.

    `own` is what the person's own file says; what neither gives has its default. Each sentence
    completes "It would ...".
    """
    servers = _servers(draft)
    return (
        *_of_servers(servers, _servers(own)),
        *_of_credentials(_section(draft, "mcp"), _section(own, "mcp")),
        *_of_builtin(draft, own),
        *_of_roots(draft, own),
        *_of_files(draft, own),
        *_of_approvals(_section(draft, "approvals"), _section(own, "approvals")),
        *_of_agent(_section(draft, "agent"), _section(own, "agent")),
        *_of_audit(_section(draft, "audit"), _section(own, "audit")),
        *_of_sessions(_section(draft, "sessions"), _section(own, "sessions")),
        *_of_permissions(_section(draft, "permissions"), _section(own, "permissions")),
        *hook_calls(draft, own),
    )


def _of_servers(servers: Mapping[str, Given], own: Mapping[str, Given]) -> Iterator[str]:
    for name, given in servers.items():
        server: Draft = given.value
        if _value(server, "annotationTrust", None) is AnnotationTrust.TRUST:
            yield f"believe what {name} says of its own tools"
        if verdicts := _value(server, "verdicts", {}):
            yield f"take its own word on tools of {name}: {', '.join(map(word, verdicts))}"
        if _value(server, "pins", None) is PinPolicy.OFF:
            yield f"take no notice when tools of {name} change"
        if (sampling := _value(server, "sampling", None)) is not None:
            yield _sampling(name, sampling)
        if roots := _value(server, "roots", ()):
            folder = server["roots"].place.file.parent
            yield f"tell {name} of {', '.join(word(_place(root, folder)) for root in roots)}"
        if name in own and (changed := [key for key in server if key not in _TOLD]):
            yield f"change what your own configuration says of {name}: {', '.join(changed)}"


def _sampling(name: str, given: Draft) -> str:
    """What a server may have a model do, and whether somebody is asked."""
    default = SamplingSettings("")
    model = word(str(_value(given, "model", "no model")))
    most = _value(given, "maxTokens", default.max_tokens)
    often = _value(given, "perHour", default.per_hour)
    asked = "" if _value(given, "ask", default.ask) is not False else ", WITHOUT ASKING YOU"
    return (
        f"let {name} have {model} complete what it likes, {often} times an hour, up to {most}"
        f" tokens each{asked}"
    )


def _place(written: Path | str, folder: Path) -> str:
    """A directory as it would be told; as it is written where that depends on the environment."""
    real = _real(written, folder)
    return str(written) if real is None else str(real)


_TOLD: Final = frozenset({*IDENTIFIED_BY, "annotationTrust", "verdicts", "sampling", "roots"})
"""Keys of a server that the summary tells of in full."""


def _of_credentials(found: Draft, own: Draft) -> Iterator[str]:
    if _value(found, "credentials", None) == "file" and _value(own, "credentials", None) != "file":
        yield "keep logins in a file, and not in the keyring of your system"


def _of_builtin(found: Draft, own: Draft) -> Iterator[str]:
    have = _value(own, "builtin", ())
    if more := [name for name in _value(found, "builtin", ()) if name not in have]:
        yield f"bring tools: {', '.join(f'{name}, which {IN_TREE[name].doc}' for name in more)}"


def _of_roots(found: Draft, own: Draft) -> Iterator[str]:
    if "roots" not in found:
        return
    folder = found["roots"].place.file.parent.resolve()
    mine = own.get("roots")
    reached = [folder]
    if mine is not None:
        reached = [r for r in (_real(w, mine.place.file.parent) for w in mine.value) if r]
    for written in found["roots"].value:
        real = _real(written, folder)
        if real is None:
            yield f"let file tools reach {word(str(written))}"
        elif not any(real.is_relative_to(root) for root in reached):
            yield f"let file tools reach {word(str(real))}"


def _of_files(found: Draft, own: Draft) -> Iterator[str]:
    for key, what in (("notes", "keep notes"), ("knowledge", "keep what is to be searched")):
        if key in found:
            named = word(str(own[key].value)) if key in own else ""
            place = _place(found[key].value, found[key].place.file.parent)
            yield f"{what} in {word(place)}" + _against(own, key, f"names {named}")


def _real(written: Path | str, folder: Path) -> Path | None:
    """The directory that a root is; None if that depends on the environment."""
    text = str(written)
    if has_reference(text) or text.startswith("~"):
        return None
    return (folder / text).resolve()


def _of_approvals(found: Draft, own: Draft) -> Iterator[str]:
    default = ApprovalSettings()
    exempt = "exemptAtOrBelow"
    before = _value(own, exempt, default.exempt_at_or_below)
    after = _value(found, exempt, before)
    wider = _EXEMPT_ORDER.index(after) > _EXEMPT_ORDER.index(before)
    if wider or (exempt in found and after is SideEffectLevel.MUTATING):
        asks = _ASKED[before].replace("ask about", "asks about", 1)
        yield _ASKED[after] + _against(own, exempt, asks)
    for who in ("attended", "unattended"):
        asked = _value(own, who, getattr(default, who))
        more = [approver for approver in _value(found, who, ()) if approver not in asked]
        if more:
            names = (
                word(approver.command[0]) if isinstance(approver, ApproverProgram) else approver
                for approver in more
            )
            yield f"take answers in {who} runs from: {', '.join(names)}"


def _of_agent(found: Draft, own: Draft) -> Iterator[str]:
    default = AgentSettings()
    before = _value(own, "ceiling", default.ceiling)
    ceiling = _value(found, "ceiling", before)
    if ceiling is SideEffectLevel.MUTATING and before is not ceiling:
        yield "set the ceiling to mutating" + _against(own, "ceiling", f"has {before.value}")
    # A narrower offer loosens nothing; without one of the person's own every tool is offered.
    offered: tuple[str, ...] | None = _value(own, "offer", default.offer)
    if offered is not None:
        wider = [text for text in _value(found, "offer", ()) if not _offers(offered, text)]
        if wider:
            listed = ", ".join(map(word, wider))
            yield f"offer the agent what your own configuration does not: {listed}"
    yield from _of_limits(_section(found, "limits"), _section(own, "limits"))
    if (model := _value(found, "model", None)) is not None:
        yield f"run the model {word(model)}"
    for place in _value(found, "agents", ()):
        where = _place(place.path, place.place.file.parent)
        yield f"let a model start the sub-agents in {word(where)}, each once you have accepted it"
    for place in _value(found, "skills", ()):
        where = _place(place.path, place.place.file.parent)
        yield f"let a model follow the skills in {word(where)}, each once you have accepted it"
    if (instructions := _value(found, "instructions", None)) is not None:
        yield f"tell the model: {beginning(instructions, _SHOWN_INSTRUCTIONS)}"


def _of_limits(found: Draft, own: Draft) -> Iterator[str]:
    """Bounds that are wider than the person's own; of tokens none is the widest."""
    default = TurnLimits()
    for key, before, unit in (
        ("iterations", default.iterations, " replies of the model"),
        ("time", default.seconds, "s"),
        ("tokens", default.tokens, " tokens"),
    ):
        before = _value(own, key, before)
        after = _value(found, key, before)
        if before is not None and after is not None and after > before:
            whose = "your own configuration says" if key in own else "without it"
            yield f"let a turn go on for {after:g}{unit} ({whose} {before:g}{unit})"


def _of_audit(found: Draft, own: Draft) -> Iterator[str]:
    if _value(found, "content", False) is not False:
        yield "write the values of arguments into the record of calls"
    before = _value(own, "keep", AuditSettings().keep)
    after = _value(found, "keep", before)
    if after != before:
        whose = "your own configuration says" if "keep" in own else "without it"
        yield f"keep records of calls {_time(after)} ({whose} {_time(before)})"


def _of_sessions(found: Draft, own: Draft) -> Iterator[str]:
    """Only longer than by your own word: what is not kept loosens nothing."""
    before = _value(own, "keep", SessionSettings().keep)
    after = _value(found, "keep", before)
    if before is not None and (after is None or after > before):
        whose = "your own configuration says" if "keep" in own else "without it"
        told = "never" if before == 0 else _time(before)
        yield f"keep what is said in sessions {_time(after)} ({whose} {told})"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "forever"
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds % size == 0:
            return f"for {seconds / size:.0f}{unit}"
    return f"for {seconds:g}s"


def _of_permissions(found: Draft, own: Draft) -> Iterator[str]:
    allowed = {rule.meaning for rule in _rules(own)}
    for rule in _rules(found):
        if rule.meaning not in allowed:
            yield f"allow {word(rule.text)} without asking you{_terms(rule)}"


def _terms(rule: RuleText) -> str:
    """What a rule says besides its text."""
    told = {"unattended": " in unattended runs", "any": ", in unattended runs as well"}
    text = told.get(rule.when or "", "")
    if rule.destructive:
        text += ", also what can overwrite, remove or invalidate things"
    if rule.exact:
        text += ", with no other argument"
    if rule.pin is not None:
        text += f", while its definition is {rule.pin[:12]}..."
    if rule.until is not None:
        end = datetime.fromtimestamp(rule.until, UTC)
        text += f", until {end:%Y-%m-%d}" + (f" {end:%H:%M:%S} UTC" if rule.until % 86_400 else "")
    return text


def _offers(patterns: tuple[str, ...], text: str) -> bool:
    try:
        wanted = parse_pattern(text)
        offered = [parse_pattern(pattern) for pattern in patterns]
    except PatternError:
        return text in patterns
    return any(
        pattern.server == wanted.server and pattern.tool in (None, wanted.tool)
        for pattern in offered
    )


def _against(own: Draft, key: str, said: str) -> str:
    return f" (your own configuration {said})" if key in own else ""


def _rules(permissions: Draft) -> tuple[RuleText, ...]:
    return _value(permissions, "allow", ())


def _servers(draft: Draft) -> Mapping[str, Given]:
    return _value(_section(draft, "mcp"), "servers", {})


def _section(draft: Draft, name: str) -> Draft:
    return draft[name].value if name in draft else {}


def _value(draft: Draft, name: str, default: Any) -> Any:
    return draft[name].value if name in draft else default
