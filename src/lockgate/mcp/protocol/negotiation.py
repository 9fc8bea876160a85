"""Which revision to speak with a server: a table from what was found to what to do next. No I/O.

Follows 2026-07-28, basic/transports/stdio: Backward Compatibility. A server is probed with
`server/discover`; whatever is not a modern answer means a legacy server, which is then initialized
on the same link. The server's answer is checked, never assumed: a version that is not known here
is refused by name.

One value (`Negotiation`) says how far things are, one (`Finding`) what was found, `advance` gives
the next value and the `Step` to take. A list of versions that a server sends with a refusal is
used for one retry (PB-041), also where it names but the version that was refused.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec

from lockgate.mcp.protocol.eras import REVISIONS, Era, Revision
from lockgate.mcp.protocol.jsonrpc import Failure
from lockgate.mcp.protocol.profile import Discovered, Initialized

UNSUPPORTED_PROTOCOL_VERSION = -32022
"""2026-07-28, UnsupportedProtocolVersionError; counts as such only with its `data.supported`."""
HEADER_MISMATCH = -32020
MISSING_CLIENT_CAPABILITY = -32021
"""The other errors by which a modern server can be known."""


class Stage(enum.Enum):
    """Which request is open."""

    PROBING = "probing"
    """`server/discover`."""
    INITIALIZING = "initializing"
    """`initialize`."""


class Found(enum.Enum):
    """What came of it, or came in between."""

    DISCOVERED = "discovered"
    """`server/discover` was answered with a result. May come late, while initializing."""
    INITIALIZED = "initialized"
    """`initialize` was answered with a result."""
    UNSUPPORTED = "unsupported"
    """Refused, with a list of the versions that are supported."""
    MODERN_ERROR = "modern error"
    """Refused, with an error that only a modern server has and no list."""
    ERROR = "error"
    """Refused in any other way."""
    MALFORMED = "malformed"
    """Answered, but with something that can not be read."""
    SILENT = "silent"
    """Not answered within the bound that the caller keeps (short for a probe)."""
    EXITED = "exited"
    """The link ended."""
    BARRED = "barred"
    """It can not be reached, or does not let us in: no revision would change that."""


class Common(enum.Enum):
    """What a list of versions has in common with ours: the newest of them counts."""

    MODERN = "modern"
    LEGACY = "legacy"
    FOREIGN = "foreign"
    """Versions are named, and none is known here."""
    NOTHING = "nothing"
    """None is named."""


class Finding(msgspec.Struct, frozen=True):
    """What was found, with what the server named and said."""

    found: Found
    versions: tuple[str, ...] = ()
    detail: str = ""
    """The server's own words, or what was wrong; goes into messages."""

    @classmethod
    def discovered(cls, answer: Discovered) -> Finding:
        return cls(Found.DISCOVERED, answer.versions)

    @classmethod
    def initialized(cls, answer: Initialized) -> Finding:
        return cls(Found.INITIALIZED, () if answer.version is None else (answer.version,))

    @classmethod
    def refused(cls, failure: Failure) -> Finding:
        """Any error answer. A list of versions counts whatever the code is (PB-041)."""
        detail = f"{failure.message[:200]} ({failure.code})"
        data = failure.data
        supported = cast("dict[str, Any]", data).get("supported") if isinstance(data, dict) else 0
        if isinstance(supported, list):
            members = cast("list[Any]", supported)
            versions = tuple(v for v in members if isinstance(v, str))
            if versions:
                return cls(Found.UNSUPPORTED, versions, detail)
        if failure.code in (HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY):
            return cls(Found.MODERN_ERROR, (), detail)
        return cls(Found.ERROR, (), detail)


class Probe(msgspec.Struct, frozen=True):
    """Send `server/discover` in this revision."""

    revision: Revision


class Initialize(msgspec.Struct, frozen=True):
    """Send `initialize`, offering this revision."""

    revision: Revision
    new_link: bool = False
    """The link is gone: open another first."""


class Use(msgspec.Struct, frozen=True):
    """Agreed: speak this revision. A legacy one wants `notifications/initialized` first."""

    revision: Revision


class Wait(msgspec.Struct, frozen=True):
    """Nothing to do: the open request decides."""


class GiveUp(msgspec.Struct, frozen=True):
    """Nothing can be agreed upon. The message is the end of a sentence about the server."""

    message: str


Step: TypeAlias = Probe | Initialize | Use | Wait | GiveUp


class Negotiation(msgspec.Struct, frozen=True):
    """How far the negotiation with one server is."""

    stage: Stage
    offered: Revision
    retried: bool = False
    """The one retry from a server's list is used up."""
    heard: Revision | None = None
    """The modern revision that a late answer to the probe named."""
    probed: bool = True
    """The link in use has carried a probe, which may be what a server died of."""
    revisions: tuple[Revision, ...] = REVISIONS
    """What is spoken here, the newest first."""


class _Do(enum.Enum):
    """The cells of the table."""

    USE = enum.auto()
    PROBE_NAMED = enum.auto()
    INITIALIZE = enum.auto()
    INITIALIZE_NAMED = enum.auto()
    INITIALIZE_ANEW = enum.auto()
    NOTE = enum.auto()
    WAIT = enum.auto()
    FALL_BACK_OR_REFUSED = enum.auto()
    FALL_BACK_OR_PROBE = enum.auto()
    FOREIGN = enum.auto()
    NO_VERSION = enum.auto()
    WRONG_ERA = enum.auto()
    REFUSED = enum.auto()
    MALFORMED = enum.auto()
    SILENT = enum.auto()
    INITIALIZE_ANEW_OR_EXITED = enum.auto()
    BARRED = enum.auto()


_P, _I = Stage.PROBING, Stage.INITIALIZING
_ANY = None

TABLE: Mapping[tuple[Stage, Found, Common | None], _Do] = {
    (_P, Found.DISCOVERED, Common.MODERN): _Do.USE,
    (_P, Found.DISCOVERED, Common.LEGACY): _Do.INITIALIZE_NAMED,
    (_P, Found.DISCOVERED, Common.FOREIGN): _Do.FOREIGN,
    (_P, Found.DISCOVERED, Common.NOTHING): _Do.INITIALIZE,
    (_P, Found.UNSUPPORTED, Common.MODERN): _Do.PROBE_NAMED,
    (_P, Found.UNSUPPORTED, Common.LEGACY): _Do.INITIALIZE_NAMED,
    (_P, Found.UNSUPPORTED, Common.FOREIGN): _Do.FOREIGN,
    (_P, Found.UNSUPPORTED, Common.NOTHING): _Do.REFUSED,
    (_P, Found.MODERN_ERROR, _ANY): _Do.REFUSED,
    (_P, Found.ERROR, _ANY): _Do.INITIALIZE,
    (_P, Found.MALFORMED, _ANY): _Do.INITIALIZE,
    (_P, Found.SILENT, _ANY): _Do.INITIALIZE,
    (_P, Found.EXITED, _ANY): _Do.INITIALIZE_ANEW,
    (_P, Found.BARRED, _ANY): _Do.BARRED,
    (_I, Found.INITIALIZED, Common.LEGACY): _Do.USE,
    (_I, Found.INITIALIZED, Common.MODERN): _Do.WRONG_ERA,
    (_I, Found.INITIALIZED, Common.FOREIGN): _Do.FOREIGN,
    (_I, Found.INITIALIZED, Common.NOTHING): _Do.NO_VERSION,
    (_I, Found.UNSUPPORTED, Common.MODERN): _Do.PROBE_NAMED,
    (_I, Found.UNSUPPORTED, Common.LEGACY): _Do.INITIALIZE_NAMED,
    (_I, Found.UNSUPPORTED, Common.FOREIGN): _Do.FOREIGN,
    (_I, Found.UNSUPPORTED, Common.NOTHING): _Do.FALL_BACK_OR_REFUSED,
    (_I, Found.MODERN_ERROR, _ANY): _Do.FALL_BACK_OR_PROBE,
    (_I, Found.ERROR, _ANY): _Do.FALL_BACK_OR_REFUSED,
    (_I, Found.MALFORMED, _ANY): _Do.MALFORMED,
    (_I, Found.SILENT, _ANY): _Do.SILENT,
    (_I, Found.EXITED, _ANY): _Do.INITIALIZE_ANEW_OR_EXITED,
    (_I, Found.BARRED, _ANY): _Do.BARRED,
    # A server that starts slowly answers the probe when initialize is already on its way. What it
    # says is noted, and counts if it then refuses to be initialized.
    (_I, Found.DISCOVERED, Common.MODERN): _Do.NOTE,
    (_I, Found.DISCOVERED, Common.LEGACY): _Do.WAIT,
    (_I, Found.DISCOVERED, Common.FOREIGN): _Do.WAIT,
    (_I, Found.DISCOVERED, Common.NOTHING): _Do.WAIT,
}
"""(open request, what was found, what the named versions have in common with ours) to what to do.

Every pair that can occur is here; `Found.INITIALIZED` while probing can not."""

_VERSIONED = frozenset({Found.DISCOVERED, Found.INITIALIZED, Found.UNSUPPORTED})


def begin(
    era: Era | None = None, revisions: Sequence[Revision] = REVISIONS
) -> tuple[Negotiation, Step]:
    """The first step with a server: probe it, unless it is remembered to be a legacy one.

    `revisions` are those that are spoken here, the newest first. Raises ValueError without one of
    each era.
    """
    spoken = tuple(revisions)
    modern, legacy = _newest(spoken, Era.MODERN), _newest(spoken, Era.LEGACY)
    if era is Era.LEGACY:
        return Negotiation(_I, legacy, probed=False, revisions=spoken), Initialize(legacy)
    return Negotiation(_P, modern, revisions=spoken), Probe(modern)


def advance(now: Negotiation, finding: Finding) -> tuple[Negotiation, Step]:
    """What to do next. Raises KeyError for an answer to a request that is not open."""
    # A refusal that names what was just offered contradicts itself, or a part of the server came up
    # late: any other that it names is tried first, that one only where it is the only one.
    refused = now.offered if finding.found is Found.UNSUPPORTED else None
    common, named = _in_common(now.revisions, finding.versions, besides=refused)
    key = common if finding.found in _VERSIONED else _ANY
    do = TABLE[now.stage, finding.found, key]
    theirs = ", ".join(v[:40] for v in finding.versions[:10])
    ours = ", ".join(revision.name for revision in now.revisions)
    match do, named:
        case _Do.USE, Revision():
            return now, Use(named)
        case ((_Do.PROBE_NAMED | _Do.INITIALIZE_NAMED), _) if now.retried:
            return now, GiveUp(f"refuses every version that it lists ({theirs}): {finding.detail}")
        case _Do.PROBE_NAMED, Revision():
            after = Negotiation(_P, named, retried=True, revisions=now.revisions)
            return after, Probe(named)
        case _Do.INITIALIZE_NAMED, Revision():
            return msgspec.structs.replace(now, stage=_I, offered=named, retried=True), Initialize(
                named
            )
        case _Do.INITIALIZE, _:
            return _initialize(now, new_link=False)
        case _Do.INITIALIZE_ANEW, _:
            return _initialize(now, new_link=True)
        case _Do.INITIALIZE_ANEW_OR_EXITED, _ if now.probed:
            return _initialize(now, new_link=True)
        case _Do.NOTE, _:
            return msgspec.structs.replace(now, heard=named), Wait()
        case ((_Do.FALL_BACK_OR_REFUSED | _Do.FALL_BACK_OR_PROBE), _) if now.heard is not None:
            return now, Use(now.heard)
        case _Do.FALL_BACK_OR_PROBE, _ if not now.retried:
            # It is modern, and was only slow to answer the probe, or remembered for what it was.
            modern = _newest(now.revisions, Era.MODERN)
            return Negotiation(_P, modern, retried=True, revisions=now.revisions), Probe(modern)
        case _Do.WAIT, _:
            return now, Wait()
        case _:
            text = _REASONS[do].format(
                theirs=theirs, ours=ours, offered=now.offered.name, detail=finding.detail
            )
            return now, GiveUp(text)


_REASONS: Mapping[_Do, str] = {
    _Do.FOREIGN: "speaks protocol version {theirs}, which is not known here (known: {ours})",
    _Do.NO_VERSION: "answered initialize without a protocol version",
    _Do.WRONG_ERA: "answered initialize with protocol version {theirs}, which has no initialize",
    _Do.REFUSED: "refuses protocol version {offered}: {detail}",
    _Do.FALL_BACK_OR_REFUSED: "refuses to be initialized with {offered}: {detail}",
    _Do.FALL_BACK_OR_PROBE: "refuses to be initialized with {offered}: {detail}",
    _Do.MALFORMED: "answered initialize with something that can not be read: {detail}",
    _Do.SILENT: "did not answer initialize in time",
    _Do.INITIALIZE_ANEW_OR_EXITED: "ended before it answered initialize",
    _Do.BARRED: "can not be spoken to: {detail}",
}


def _initialize(now: Negotiation, *, new_link: bool) -> tuple[Negotiation, Step]:
    legacy = _newest(now.revisions, Era.LEGACY)
    after = Negotiation(
        _I, legacy, retried=now.retried, probed=not new_link, revisions=now.revisions
    )
    return after, Initialize(legacy, new_link)


def _newest(revisions: Sequence[Revision], era: Era) -> Revision:
    for revision in revisions:
        if revision.era is era:
            return revision
    raise ValueError(f"revisions: none of the {era.value} era is among them")


def _in_common(
    spoken: Sequence[Revision], versions: tuple[str, ...], *, besides: Revision | None
) -> tuple[Common, Revision | None]:
    if not versions:
        return Common.NOTHING, None
    shared = [revision for revision in spoken if revision.name in versions]
    if not shared:
        return Common.FOREIGN, None
    revision = next((one for one in shared if one is not besides), shared[0])
    return (Common.MODERN if revision.era is Era.MODERN else Common.LEGACY), revision
