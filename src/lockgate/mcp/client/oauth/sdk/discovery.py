"""The documents that a flow asks for, in its order, and what of them it is given.

2026-07-28, basic/authorization/authorization-server-discovery. The package takes the first
authorization server that a document lists, and every scope that it knows of; here is where an
operator's word, and what is kept, come first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec
from mcp.client.auth.utils import (
    build_protected_resource_metadata_discovery_urls,
    create_oauth_metadata_request,
    issuers_match,
)
from mcp.shared.auth import ProtectedResourceMetadata

from lockgate.mcp.client.oauth.guarded import Reply
from lockgate.mcp.client.oauth.sdk.requests import Requests
from lockgate.mcp.client.oauth.trouble import Need, OAuthTrouble
from lockgate.mcp.client.oauth.wishes import document

JSON = "application/json"


class Respelled(OAuthTrouble):
    """The authorization server writes its name with, or without, the slash at the end of an
    address without a path, and the server the other way round. Both name the same place and the
    same documents, so it is begun again with the name as its owner writes it."""

    def __init__(self, issuer: str) -> None:
        super().__init__(f"its authorization server is called {issuer}")
        self.issuer = issuer


class Discovery:
    """What one flow learns of where it has to go."""

    def __init__(
        self,
        named: str,
        resource: str,
        *,
        issuer: str | None,
        usual: Sequence[str],
        scoped: bool,
        beside: str = "",
    ) -> None:
        """`named` is the address that the refusal gave, if it did. `issuer` is the operator's word,
        `usual` are names of those that are known, by preference. `scoped`: it is known which scopes
        to ask for; if it is not, these `beside` those that the server says it has."""
        self.addresses = build_protected_resource_metadata_discovery_urls(named or None, resource)
        """Where the server's own document may be."""
        self.issuer: str | None = None
        """The authorization server that the server names and that is to be used."""
        self._resource = resource
        self._word = issuer
        self._usual = usual
        self._scoped = scoped
        self._beside = beside.split()
        self._left = len(self.addresses)
        self._unusable = ""

    @property
    def done(self) -> bool:
        """Whether the server's own document was found, or is not there."""
        return self.issuer is not None or self._left == 0

    def take(self, reply: Reply, address: str) -> Reply:
        """The answer to the next request for a document, as the flow is given it.

        Raises `OAuthTrouble` where it names what is not to be used, or is of no use.
        """
        return self._of_authorization_server(reply) if self.done else self._own(reply, address)

    def _own(self, reply: Reply, address: str) -> Reply:
        self._left -= 1
        found = document(reply.body) if reply.status == 200 else None
        servers = _servers(found)
        if found is not None and servers:
            self.issuer = self._chosen(servers)
            return _replied(
                {**found, "authorization_servers": [self.issuer], **self._scopes(found)}
            )
        if reply.status == 200:
            self._unusable = self._unusable or address
            reply = Reply(404, "", b"")
        if self._left:
            return reply
        if self._unusable:
            text = f"it needs authorization; what it says of that at {self._unusable} is not usable"
            raise OAuthTrouble(text)
        if reply.status >= 500 or reply.status == 429:
            text = f"it could not say where to be authorized (HTTP {reply.status})"
            raise OAuthTrouble(text, Need.TIME)
        if self._word is None:
            return reply
        # A server that publishes nothing: then what is configured counts.
        self.issuer = self._word
        return _replied({"resource": self._resource, "authorization_servers": [self._word]})

    def _scopes(self, found: Mapping[str, object]) -> Mapping[str, object]:
        """What of the server's own document is changed in its scopes."""
        known = found.get("scopes_supported")
        if not self._scoped and self._beside:
            more = cast("list[object]", known) if isinstance(known, list) else []
            known = [*self._beside, *(each for each in more if each not in self._beside)]
        self._scoped = self._scoped or known is not None
        return {} if known is None else {"scopes_supported": known}

    def _chosen(self, servers: list[str]) -> str:
        """The one to use; a name that is known is written as it is known."""
        if self._word is not None and not any(issuers_match(each, self._word) for each in servers):
            text = f"it names the authorization server {servers[0]}, and not {self._word}, which"
            raise OAuthTrouble(f"{text} is the issuer of its configuration: nothing was sent there")
        for known in self._usual:
            if any(issuers_match(each, known) for each in servers) and (
                self._word is None or issuers_match(known, self._word)
            ):
                return known
        return self._word or servers[0]

    def _of_authorization_server(self, reply: Reply) -> Reply:
        """Without the scopes that it knows, where nobody said which ones the server needs."""
        found = document(reply.body) if reply.status == 200 else None
        issuer = None if found is None else found.get("issuer")
        mine = self.issuer
        if isinstance(issuer, str) and mine not in (None, issuer) and issuers_match(issuer, mine):
            raise Respelled(issuer)
        if found is None or self._scoped:
            return reply
        return _replied({key: value for key, value in found.items() if key != "scopes_supported"})


async def named_by(requests: Requests, named: str, resource: str) -> list[str]:
    """The authorization servers that a server names now; none if it names none, or can not say.

    Raises `OAuthTrouble` where asking failed.
    """
    for address in build_protected_resource_metadata_discovery_urls(named or None, resource):
        reply = await requests.get(create_oauth_metadata_request(address))
        if reply.status == 200 and (servers := _servers(document(reply.body))):
            return servers
    return []


def _servers(found: object) -> list[str]:
    """The authorization servers of a document that is what it has to be; else none."""
    try:
        return [
            str(each)
            for each in ProtectedResourceMetadata.model_validate(found).authorization_servers
        ]
    except ValueError:
        return []


def _replied(found: dict[str, object]) -> Reply:
    return Reply(200, JSON, msgspec.json.encode(found))
