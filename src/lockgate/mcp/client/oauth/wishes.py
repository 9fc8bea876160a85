"""Which scopes are asked for, and what the documents of servers say. Pure.

Sources: 2026-07-28, basic/authorization: Scope Selection Strategy, Step-Up Authorization Flow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.client.oauth.store import Credentials, Place, Tokens
from lockgate.mcp.protocol.challenge import BearerChallenge, bearer_challenge
from lockgate.mcp.transport.tokens import Challenge
from lockgate.web.target import Target


def resource_of(target: Target) -> str:
    """The address of a server as tokens are bound to it: no user, no query, which may be secrets,
    and no slash that means nothing."""
    return target.shown if target.path != "/" else target.origin


def place_for(server: str, target: Target) -> Place:
    """Where the login of a server is kept: for its name, and for the whole of its address."""
    if target.query is None:
        return Place(server, resource_of(target))
    import hashlib

    digest = hashlib.sha256(target.query.encode()).hexdigest()[:24]
    return Place(server, resource_of(target), digest)


def said_in(challenge: Challenge) -> BearerChallenge:
    """What a refusal says as Bearer; nothing where it is of another kind."""
    return bearer_challenge(challenge.header) or BearerChallenge()


def scope_for(plan: OAuthPlan, held: Credentials, challenge: Challenge) -> str | None:
    """The scopes to ask for now; None for what the metadata of the server says.

    What the operator said goes before what the server says of the first request; what it lacks for
    a later one is added to all that was granted before. A server that lacks something and does not
    name it leaves its metadata to say, beside what is `kept_beside`.
    """
    said = said_in(challenge).scope
    if challenge.status == 403 and not said:
        return None
    first = " ".join(plan.scopes) or said
    parts = [first, held.wanted or ""]
    if challenge.status == 403 or plan.unattended:
        granted = held.tokens.scope if held.tokens is not None else None
        parts = [granted or "", *parts]
    if challenge.status == 403:
        parts.append(said)
    return joined(*parts) or None


def kept_beside(plan: OAuthPlan, held: Credentials) -> str:
    """What is asked for in any case, where the metadata of the server says what is missing."""
    granted = held.tokens.scope if held.tokens is not None else None
    return joined(granted or "", *plan.scopes)


def not_granted(held: Credentials, tokens: Tokens) -> str | None:
    """What the server had asked for before a login, and the new tokens are not good for; None if
    that is nothing, or if nobody said what they are good for: then it is what was asked for."""
    if tokens.scope is None:
        return None
    granted = set(tokens.scope.split())
    missing = (word for word in (held.wanted or "").split() if word not in granted)
    return " ".join(missing) or None


def joined(*scopes: str) -> str:
    """All the words of some scopes, each once, in their order."""
    return " ".join(dict.fromkeys(word for scope in scopes for word in scope.split()))


def document(body: bytes) -> dict[str, Any] | None:
    """A JSON object; None if it is none."""
    try:
        found: object = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def error_in(body: bytes) -> tuple[str, str]:
    """The error code of an answer of an authorization server, and its description."""
    said: Mapping[str, Any] = document(body) or {}
    code, description = said.get("error"), said.get("error_description")
    return (
        code if isinstance(code, str) else "",
        description if isinstance(description, str) else "",
    )
