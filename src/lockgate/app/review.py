"""What a reviewer is shown of each tool of a server, and what would follow from a yes (B-06).

The claim is the server's, the suggestion is a guess by name and schema, the proposal is what both
leave in doubt taken strictly. None of them decides anything: only what a person accepts is written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, cast

from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.pins import PinState, Standing, pin_state, withheld
from lockgate.mcp.host.ruling import Ruling
from lockgate.mcp.host.seen import SeenServer, Sighting
from lockgate.mcp.host.settings import PinPolicy, ServerSettings, Verdict
from lockgate.mcp.host.suggestion import Suggestion, suggest
from lockgate.mcp.protocol.claims import Claims
from lockgate.mcp.protocol.results import ListedTool
from lockgate.settings.pins import PinnedTool, Pins, pin_of
from lockgate.traits import DestructiveBehavior, SideEffectLevel

_MUTATING: Final = SideEffectLevel.MUTATING
_DESTRUCTIVE: Final = DestructiveBehavior.DESTRUCTIVE

READS: Final = Verdict(SideEffectLevel.READ_ONLY)
ADDS: Final = Verdict(_MUTATING, DestructiveBehavior.NON_DESTRUCTIVE)
DESTROYS: Final = Verdict(_MUTATING, _DESTRUCTIVE)
"""The three things that a verdict can make of a tool, from the laxest to the strictest."""
_LADDER: Final = (READS, ADDS, DESTROYS)
_REVIEWED: Final = PinState(Standing.SAME)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What could be made of a tool."""

    verdict: Verdict | None
    """To be written; None: what is ruled without a new one is right, and the pin is all."""
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolReview:
    """One tool as a reviewer sees it."""

    listed: ListedTool
    now: PinnedTool
    """The definition as it is, as it would be pinned."""
    pinned: PinnedTool | None
    """As it was pinned."""
    state: PinState
    """How the two stand to each other, whatever `pins` says is done about it."""
    withheld: bool
    """Whether `pins: block` leaves it out."""
    ruling: Ruling
    """What is ruled on it now."""
    verdict: Verdict | None
    """The operator's own word on it, as configured."""
    suggestion: Suggestion
    proposal: Proposal
    after: Ruling
    """What would be ruled with the proposal and a pin."""
    sighting: Sighting | None

    @property
    def due(self) -> bool:
        """Whether there is anything to accept."""
        return self.state.standing is not Standing.SAME or self.proposal.verdict is not None

    @property
    def loosens(self) -> bool:
        """Whether accepting it as proposed lets anything pass that does not pass now."""
        return self.withheld or self.after.laxer_than(self.ruling)


@dataclass(frozen=True, slots=True)
class ServerReview:
    """All tools of a server, and what was pinned of it and is gone."""

    server: str
    seen: SeenServer
    tools: tuple[ToolReview, ...]
    gone: tuple[str, ...]
    """Names that are pinned and not listed any more, sorted."""


def review(manager: Manager, pins: Pins, settings: ServerSettings) -> ServerReview | None:
    """Look at every tool that a server lists, or listed when it was last there.

    None while nothing is known of the server.
    """
    seen = manager.seen(settings.name)
    if seen is None:
        return None
    held = pins.of(settings.name)
    tools = tuple(_reviewed(manager, held, settings, seen, listed) for listed in seen.tools)
    names = {listed.name for listed in seen.tools}
    return ServerReview(settings.name, seen, tools, tuple(sorted(held.keys() - names)))


def ruling_with(
    manager: Manager, settings: ServerSettings, tool: ToolReview, verdict: Verdict | None
) -> Ruling:
    """What would be ruled on `tool` if it were pinned with `verdict`; None: with the one it has."""
    said = tool.verdict if verdict is None else verdict
    return manager.rule(settings, tool.listed, tool.now.fingerprint, said, _REVIEWED)


def _reviewed(
    manager: Manager,
    held: Mapping[str, PinnedTool],
    settings: ServerSettings,
    seen: SeenServer,
    listed: ListedTool,
) -> ToolReview:
    now = pin_of(seen, settings.endpoint, listed)
    marks = {name: tool.fingerprint for name, tool in held.items()}
    state = pin_state(PinPolicy.WARN, marks, listed.name, now.fingerprint)
    counted = pin_state(settings.pins, marks, listed.name, now.fingerprint)
    verdict = settings.verdicts.get(listed.name)
    mark = now.fingerprint
    # One that was given for another definition says nothing of this one.
    held_to = verdict is not None and verdict.pin not in (None, mark.digest)
    suggestion = suggest(listed.name, listed.input_schema, listed.description, server=settings.name)
    pinned = manager.rule(settings, listed, mark, None if held_to else verdict, _REVIEWED)
    proposal = propose(listed.claims, None if held_to else verdict, suggestion, pinned)
    said = verdict if proposal.verdict is None else proposal.verdict
    return ToolReview(
        listed=listed,
        now=now,
        pinned=held.get(listed.name),
        state=state,
        withheld=withheld(settings.pins, counted, settings.name) is not None,
        ruling=manager.rule(settings, listed, mark, verdict, counted),
        verdict=verdict,
        suggestion=suggestion,
        proposal=proposal,
        after=manager.rule(settings, listed, mark, said, _REVIEWED),
        sighting=seen.sightings.get(listed.name),
    )


def propose(
    claims: Claims, verdict: Verdict | None, suggestion: Suggestion, ruling: Ruling
) -> Proposal:
    """A verdict for a tool: the stricter of what it claims and what it seems, if it seems anything.

    The operator's own word on what a tool can do stands as it is. `ruling` is what is ruled
    without a new verdict, once the tool is pinned: where that is what would be proposed, nothing
    is to be written. Pure.
    """
    seems = _rung(suggestion.level, suggestion.destructive)
    if verdict is not None and (verdict.level or verdict.destructive):
        against = seems > _rung(ruling.level, ruling.destructive)
        doubt = tuple(f"but {reason}" for reason in suggestion.reasons) if against else ()
        return Proposal(None, ("your verdict stands", *doubt))
    claimed, why = _claimed(claims)
    if claimed is None:
        rung, reasons = seems, suggestion.reasons
    elif not suggestion.known:
        rung, reasons = claimed, (why, "and its name says nothing")
    else:
        rung = max(seems, claimed)
        reasons = (*(suggestion.reasons if seems == rung else ()), *((why,) * (claimed == rung)))
    wanted = _LADDER[rung]
    if rung == _rung(ruling.level, ruling.destructive):
        return Proposal(None, reasons)
    idempotent = None if verdict is None or wanted is READS else verdict.idempotent
    concurrent = None if verdict is None else verdict.concurrent
    return Proposal(Verdict(wanted.level, wanted.destructive, idempotent, concurrent), reasons)


def _rung(level: SideEffectLevel, destructive: DestructiveBehavior) -> int:
    if level is SideEffectLevel.READ_ONLY:
        return 0
    return 2 if destructive is _DESTRUCTIVE else 1


def claim_word(claims: Claims) -> str:
    """What a tool claims, in a word; `nothing` for nothing."""
    if claims.read_only and claims.destructive:
        return "contradictory"
    rung, _ = _claimed(claims)
    return "nothing" if rung is None else ("read-only", "non-destructive", "destructive")[rung]


def _claimed(claims: Claims) -> tuple[int | None, str]:
    """Which rung a tool claims for itself, and the claim in words; None: it claims nothing."""
    if claims.read_only and claims.destructive:
        return 2, "it claims to be read-only and destructive at once"
    if claims.read_only:
        return 0, "it claims to be read-only"
    if claims.destructive is False:
        return 1, "it claims not to destroy"
    if claims.destructive or claims.read_only is False:
        return 2, "it claims to change things"
    return None, ""


def hints(claims: Claims) -> Iterator[str]:
    """What a tool claims, one hint each, as its server wrote it."""
    for name, value in (
        ("readOnlyHint", claims.read_only),
        ("destructiveHint", claims.destructive),
        ("idempotentHint", claims.idempotent),
        ("openWorldHint", claims.open_world),
    ):
        if value is not None:
            yield f"{name}: {str(value).lower()}"


def claims_all(claims: Claims) -> bool:
    """Whether `hints` tells all that there is in the annotations."""
    told = sum(1 for _ in hints(claims))
    return isinstance(claims.raw, dict) and len(cast("dict[str, object]", claims.raw)) == told
