"""What the operator says about a server: how far to believe it, and what to expect of it."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lockgate.mcp.client.bearer import BearerFile
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.endpoint import Endpoint, StdioEndpoint
from lockgate.mcp.protocol.elicitation import Mode
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    SideEffectLevel,
)

SERVER_NAME = re.compile(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?")
"""What a server may be called (S3-11); to be matched in full."""


class AnnotationTrust(enum.Enum):
    """Whether the claims of one server are believed. Never carries to another (S0-12)."""

    IGNORE = "ignore"
    TRUST = "trust"


class PinPolicy(enum.Enum):
    """What is done about a tool that is not what was reviewed (B-06)."""

    OFF = "off"
    """Nothing: pins are not looked at."""
    WARN = "warn"
    """It is told, and what would loosen does not count for that tool."""
    BLOCK = "block"
    """It is left out, and so is a tool that nobody has reviewed."""


class AskingPolicy(enum.Enum):
    """How a server may ask the person something."""

    BOTH = "both"
    FORMS = "forms"
    ADDRESSES = "addresses"
    NONE = "none"

    @property
    def modes(self) -> frozenset[Mode]:
        """The ways that are left."""
        forms = {Mode.FORM} if self in (AskingPolicy.BOTH, AskingPolicy.FORMS) else set[Mode]()
        if self in (AskingPolicy.BOTH, AskingPolicy.ADDRESSES):
            forms.add(Mode.URL)
        return frozenset(forms)


@dataclass(frozen=True, slots=True)
class SamplingSettings:
    """A model that one server may have complete something."""

    model: str
    """By name, as in `agent.model`."""
    max_tokens: int = 2000
    """A request that asks for more is refused."""
    per_hour: int = 20
    """Requests an hour."""
    ask: bool = True
    """Whether a person is shown each request, and each completion before the server gets it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The operator's own word about one tool, over claim and trust. None says nothing.

    A `destructive` or `idempotent` without a level makes the tool MUTATING (S0-13).
    """

    level: SideEffectLevel | None = None
    destructive: DestructiveBehavior | None = None
    idempotent: IdempotencyBehavior | None = None
    concurrent: ConcurrencyBehavior | None = None
    pin: str | None = None
    """Digest of the one definition it was given for; under another one it loosens nothing (B-06).
    """

    def __post_init__(self) -> None:
        if (
            self.level is SideEffectLevel.READ_ONLY
            and self.destructive is DestructiveBehavior.DESTRUCTIVE
        ):
            raise ValueError("a read-only tool can not be destructive: say one or the other")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """One entry of `mcp.servers`."""

    name: str
    endpoint: Endpoint
    request_timeout: float = 30.0
    """Seconds that one request may take, queueing and writing included (S3-21)."""
    progress_extends: float | None = None
    """Seconds that a call may take in all while the server reports progress, which gives it
    `request_timeout` anew each time, or when it takes the call as a task. None: progress extends
    nothing, and a task may take `client.tasks.AT_MOST`."""
    annotation_trust: AnnotationTrust = AnnotationTrust.IGNORE
    required: bool = False
    expect_tools: tuple[str, ...] = ()
    """Original names that must be listed (B-07)."""
    lane: Literal["tool", "server"] = "tool"
    """`server`: one call at a time for the whole server."""
    verdicts: Mapping[str, Verdict] = field(default_factory=dict[str, Verdict])
    """By original name."""
    pins: PinPolicy = PinPolicy.WARN
    auth: OAuthPlan | BearerFile | None = None
    """Where the credentials of a server over HTTP come from; None: its headers hold what is needed.
    """

    elicitation: AskingPolicy = AskingPolicy.BOTH
    """How it may ask whoever is there."""
    sampling: SamplingSettings | None = None
    """None: no model completes anything for it."""
    roots: tuple[Path, ...] = ()
    """Directories that it is told of; none: it is told that there is no such answer."""

    def __post_init__(self) -> None:
        if not SERVER_NAME.fullmatch(self.name):
            raise ValueError(
                f"server name {self.name!r} does not match ^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
            )
        if self.auth is not None and isinstance(self.endpoint, StdioEndpoint):
            raise ValueError("auth is for a server over HTTP, and this one is started as a program")
        if self.auth is not None and _says_who_asks(self.endpoint):
            raise ValueError("auth, and a header Authorization or a user name in the url: keep one")
        if not 0 < self.request_timeout <= 86_400:
            raise ValueError("requestTimeout must be over 0 and at most 24h")
        if self.progress_extends is not None and not (
            self.request_timeout <= self.progress_extends <= 86_400
        ):
            raise ValueError("progressExtends must be at least requestTimeout and at most 24h")


def _says_who_asks(endpoint: Endpoint) -> bool:
    """Whether the headers of a server, or its address, hold credentials already."""
    if isinstance(endpoint, StdioEndpoint):
        return False
    named = any(name.lower() == "authorization" for name in endpoint.headers)
    return named or endpoint.target.userinfo is not None
