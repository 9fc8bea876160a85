"""The part of a flow that a person plays: the address to open, and the answer that comes back."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlsplit

from mcp.client.auth import AuthorizationCodeResult
from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.auth.utils import validate_authorization_response_iss
from mcp.shared.auth import OAuthMetadata

from lockgate.mcp.client.oauth.guarded import Guarded
from lockgate.mcp.client.oauth.login import Login
from lockgate.mcp.client.oauth.sdk.requests import LONGEST
from lockgate.mcp.client.oauth.trouble import OAuthTrouble
from lockgate.process.hidden import Hidden, Learned

FIELDS = 50
"""Fields of one answer, at most."""


class Person:
    """Asks for one log-in, in a flow whose `context` knows by then who is asked."""

    def __init__(self, login: Login, guarded: Guarded, learned: Learned) -> None:
        self.context: OAuthContext | None = None
        """What the flow has found so far."""
        self._login = login
        self._guarded = guarded
        self._learned = learned
        self._address = ""

    @property
    def redirect_uri(self) -> str:
        """Where the answer comes back to."""
        return self._login.redirect_uri

    @property
    def _metadata(self) -> OAuthMetadata | None:
        """Of the authorization server; None for one that publishes none (2025-03-26)."""
        return None if self.context is None else self.context.oauth_metadata

    async def show(self, address: str) -> None:
        """Take the address that the flow made, if a person may be led there.

        Raises `OAuthTrouble`: without PKCE whoever sees the answer has the log-in (2026-07-28,
        Authorization Code Protection).
        """
        metadata = self._metadata
        if metadata is not None:
            if "S256" not in (metadata.code_challenge_methods_supported or ()):
                text = f"its authorization server {metadata.issuer} does not say that it does PKCE"
                raise OAuthTrouble(f"{text} with S256: nobody is sent there to log in")
            endpoint = str(metadata.authorization_endpoint)
            if urlsplit(endpoint).query and address.startswith(f"{endpoint}?"):
                address = f"{endpoint}&{address[len(endpoint) + 1 :]}"
        await self._guarded.examined(address)
        self._address = address

    async def answer(self) -> AuthorizationCodeResult:
        """Wait for the answer. Raises `OAuthTrouble` for a refusal, and for what is not ours."""
        wanted = dict(parse_qsl(urlsplit(self._address).query))
        state = wanted.get("state", "")
        issuer = "" if self._metadata is None else str(self._metadata.issuer)
        query = await self._login.answer(self._address, state, issuer=issuer)
        try:
            pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=FIELDS)
        except ValueError:
            raise OAuthTrouble("the answer to the log-in can not be read") from None
        fields = dict(pairs)
        self._learned.learn(fields.get("code", ""))
        if len(fields) != len(pairs):
            raise OAuthTrouble("the answer to the log-in says something twice")
        if fields.get("state") != state:
            raise OAuthTrouble("the answer to the log-in is the answer to another one (state)")
        if "error" in fields:
            validate_authorization_response_iss(fields.get("iss"), self._metadata)
            said = fields.get("error_description", "")
            text = fields["error"] + (f": {said}" if said else "")
            told = Hidden(learned=self._learned).line(text, LONGEST)
            raise OAuthTrouble(f"its authorization server refused the log-in: {told}")
        return AuthorizationCodeResult(
            code=fields.get("code", ""), state=fields["state"], iss=fields.get("iss")
        )
