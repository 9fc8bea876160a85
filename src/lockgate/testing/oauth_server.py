"""A scripted MCP server that wants tokens, and its authorization server at the same origin.

async with OAuthServer(ScriptedServer()) as server:
    server.metadata["code_challenge_methods_supported"] = ["plain"]
    tokens = OAuthTokens(server.endpoint(), OAuthPlan(), peer="x", ..., login=PageLogin())

It checks what a strict one checks: PKCE, the address of the redirect, the resource. What it hears
and gives is kept for tests.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from lockgate.testing.http_heard import JSON, HttpExchange
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import ScriptedServer

RESOURCE = "/.well-known/oauth-protected-resource"
METADATA = "/.well-known/oauth-authorization-server"
ASSERTION = "urn:ietf:params:oauth:token-type:id-jag"


class OAuthServer(HttpServer):
    """Serves one script to whoever has a token that it gave, or that `valid` holds."""

    def __init__(self, script: ScriptedServer, **more: Any) -> None:
        """`more` are options of `HttpServer`."""
        super().__init__(script, **more)
        self.resource: dict[str, Any] | None = {}
        """More of the server's own document; None if it has none."""
        self.metadata: dict[str, Any] | None = {}
        """More of the document of the authorization server; None if it has none. A key whose value
        is None is left out."""
        self.challenge: dict[str, str] = {}
        """More of what a refusal says."""
        self.lasts: int | None = 3600
        """Seconds that a token is good for, as it says."""
        self.needed: dict[str, str] = {}
        """The scope that a message with this method needs."""
        self.names_scopes = True
        """Whether a refusal for that says which."""
        self.valid: dict[str, str] = {}
        """Every token that is accepted, with its scope."""
        self.renewing: dict[str, str] = {}
        """Every refresh token that is accepted, with its scope."""
        self.rotates = True
        """Whether a refresh token is good for one use."""
        self.asked_for: list[dict[str, str]] = []
        """Every request for a token: its fields."""
        self.registered: list[dict[str, Any]] = []
        """Every client that wanted to be registered."""
        self.refusal: tuple[int, Mapping[str, Any]] | None = None
        """What a request for a token is answered with instead."""
        self._codes: dict[str, dict[str, str]] = {}
        self._given = 0

    @property
    def issuer(self) -> str:
        """Who gives the tokens, as its document says."""
        return f"{self.origin}/"

    def expire(self) -> None:
        """Every token has run out."""
        self.valid.clear()

    async def by_script(self, exchange: HttpExchange) -> None:
        """Documents, pages and tokens; what is left is the script's, for those with a token."""
        heard = exchange.heard
        path = heard.target.partition("?")[0]
        if path == self._path:
            await self._guarded(exchange)
        elif path in (f"{RESOURCE}{self._path}", RESOURCE):
            await self._document(exchange, self.resource, self._own())
        elif path == METADATA:
            await self._document(exchange, self.metadata, self._of_issuer())
        elif path == "/authorize":
            await self._authorize(exchange)
        elif path == "/token":
            await self._token(exchange)
        elif path == "/register":
            await self._register(exchange)
        else:
            await super().by_script(exchange)

    # -------------------------------------------------------------- the server

    async def _guarded(self, exchange: HttpExchange) -> None:
        heard = exchange.heard
        token = heard.headers.get("authorization", "").removeprefix("Bearer ")
        said = {"resource_metadata": f"{self.origin}{RESOURCE}{self._path}", **self.challenge}
        if token not in self.valid:
            await self._refuse(exchange, 401, said)
            return
        needed = self.needed.get(str(heard.message.get("method")), "")
        if not set(needed.split()) <= set(self.valid[token].split()):
            named = needed if self.names_scopes else ""
            said = {**said, "error": "insufficient_scope", "scope": named}
            await self._refuse(exchange, 403, said)
            return
        await super().by_script(exchange)

    async def _refuse(self, exchange: HttpExchange, status: int, said: Mapping[str, str]) -> None:
        words = ", ".join(f'{name}="{value}"' for name, value in said.items() if value)
        await exchange.answer(status, b"", {"www-authenticate": f"Bearer {words}".strip()})

    # -------------------------------------------------------------- documents

    def _own(self) -> dict[str, Any]:
        return {"resource": self.url, "authorization_servers": [self.issuer]}

    def _of_issuer(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.origin}/authorize",
            "token_endpoint": f"{self.origin}/token",
            "registration_endpoint": f"{self.origin}/register",
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        }

    async def _document(
        self, exchange: HttpExchange, more: dict[str, Any] | None, usual: dict[str, Any]
    ) -> None:
        if more is None:
            await exchange.answer(404)
            return
        found = {key: value for key, value in {**usual, **more}.items() if value is not None}
        await self._json(exchange, 200, found)

    async def _json(self, exchange: HttpExchange, status: int, found: Mapping[str, Any]) -> None:
        await exchange.answer(status, json.dumps(found).encode(), {"content-type": JSON})

    # -------------------------------------------------------------- the authorization server

    async def _register(self, exchange: HttpExchange) -> None:
        wanted = json.loads(exchange.heard.body)
        self.registered.append(wanted)
        named = {"client_id": f"client-{len(self.registered)}"}
        secret = {"client_secret": f"secret-of-client-{len(self.registered)}"}
        await self._json(exchange, 201, {**wanted, **named, **secret})

    async def _authorize(self, exchange: HttpExchange) -> None:
        asked = dict(parse_qsl(urlsplit(exchange.heard.target).query))
        code = f"code-number-{len(self._codes) + 1}"
        self._codes[code] = asked
        answer = urlencode({"code": code, "state": asked["state"]})
        await exchange.answer(302, b"", {"location": f"{asked['redirect_uri']}?{answer}"})

    async def _token(self, exchange: HttpExchange) -> None:
        fields = dict(parse_qsl(exchange.heard.body.decode(), keep_blank_values=True))
        self.asked_for.append(fields)
        await self._tell()
        if self.refusal is not None:
            await self._json(exchange, *self.refusal)
            return
        scope = self._scope(fields)
        if scope is None:
            await self._json(exchange, 400, {"error": "invalid_grant"})
            return
        await self._json(exchange, 200, self._gives(fields, scope))

    def _scope(self, fields: Mapping[str, str]) -> str | None:
        """What a request is good for; None for nothing."""
        kind = fields.get("grant_type", "").rpartition(":")[2]
        if kind == "authorization_code":
            asked = self._codes.pop(fields.get("code", ""), None)
            digest = hashlib.sha256(fields.get("code_verifier", "").encode()).digest()
            proof = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if asked is None or asked["code_challenge"] != proof:
                return None
            same = ("redirect_uri", "client_id", "resource")
            good = all(asked.get(name) == fields.get(name) for name in same)
            return asked.get("scope", "") if good else None
        if kind == "refresh_token":
            token = fields.get("refresh_token", "")
            return self.renewing.pop(token, None) if self.rotates else self.renewing.get(token)
        return fields.get("scope", "")

    def _gives(self, fields: Mapping[str, str], scope: str) -> dict[str, Any]:
        self._given += 1
        kind = fields.get("grant_type", "").rpartition(":")[2]
        token = f"access-token-{self._given}-xyz"
        if kind == "token-exchange":
            return {"access_token": token, "issued_token_type": ASSERTION, "token_type": "N_A"}
        self.valid[token] = scope
        given: dict[str, Any] = {"access_token": token, "token_type": "Bearer", "scope": scope}
        if self.lasts is not None:
            given["expires_in"] = self.lasts
        if kind in ("authorization_code", "refresh_token"):
            renewing = f"refresh-token-{self._given}-xyz"
            if kind == "authorization_code" or self.rotates:
                given["refresh_token"] = renewing
                self.renewing[renewing] = scope
        return given
