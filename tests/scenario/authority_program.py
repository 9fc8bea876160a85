"""An authorization server and an identity provider of Authlib's making, and a server of FastMCP's
that takes their tokens: for the grants that need no person.

    authority_program.py PORT SERVER_PORT PUBLIC_KEY SCOPES

The client `program` has the secret below, the client `signer` the key in the file PUBLIC_KEY (PEM).
SCOPES is what the server at SERVER_PORT needs; tokens are JWTs for its address. The identity
provider is at `/identity`; it knows one person, and the employer's client.
"""

# Authlib's types are not those of what it calls.
# pyright: basic, reportArgumentType=false, reportCallIssue=false, reportReturnType=false

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from uuid import uuid4

import jwt
import uvicorn
from authlib.oauth2.rfc6749 import AuthorizationServer, ClientMixin, OAuth2Request
from authlib.oauth2.rfc6749.grants import ClientCredentialsGrant
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion, JWTBearerGrant
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

PORT, SERVER_PORT = int(sys.argv[1]), int(sys.argv[2])
SCOPES = sys.argv[4].split()
ISSUER, SERVER = f"http://127.0.0.1:{PORT}", f"http://127.0.0.1:{SERVER_PORT}/mcp"
SECRET = "secret-of-the-program"  # noqa: S105 - of a server on loopback
ASSERTION = "urn:ietf:params:oauth:token-type:id-jag"
BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
signing = rsa.generate_private_key(65537, 2048)
identity = ec.generate_private_key(ec.SECP256R1())
asked: list[dict[str, str]] = []
called: list[int] = []
seen: set[str] = set()


def public(key) -> str:
    """The public half, PEM."""
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


class Client(ClientMixin):
    """One that is registered here."""

    def __init__(self, name: str, method: str, grants: tuple[str, ...]) -> None:
        self.name, self.method, self.grants = name, method, grants

    def get_client_id(self) -> str:
        return self.name

    def get_allowed_scope(self, scope: str) -> str:
        return scope or ""

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == SECRET

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return method == self.method

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in self.grants


CLIENTS = {
    "program": Client("program", "client_secret_basic", ("client_credentials",)),
    "signer": Client("signer", "client_assertion_jwt", ("client_credentials",)),
    "employer": Client("employer", "client_secret_post", (BEARER,)),
}


class FormRequest(OAuth2Request):
    """A request as Authlib takes it."""

    def __init__(self, request: Request, fields: dict[str, str]) -> None:
        super().__init__(request.method, str(request.url), headers=request.headers)
        self.payload = BasicOAuth2Payload(fields)
        self._fields = fields

    @property
    def args(self) -> dict[str, str]:
        return {}

    @property
    def form(self) -> dict[str, str]:
        return self._fields


class Authority(AuthorizationServer):
    """Authlib's server, with what it leaves to a framework."""

    def query_client(self, client_id: str) -> Client | None:
        return CLIENTS.get(client_id)

    def save_token(self, token, request) -> None:
        """They speak for themselves."""

    def send_signal(self, name, *args, **kwargs) -> None:
        """Nobody listens."""

    def create_oauth2_request(self, request):
        return request

    def handle_response(self, status, body, headers) -> JSONResponse:
        return JSONResponse(body, status, dict(headers))


class Signed(JWTBearerClientAssertion):
    """A client that signs."""

    def get_audiences(self) -> list[str]:
        return [ISSUER]

    def validate_jti(self, claims, jti: str) -> bool:
        new = jti not in seen
        seen.add(jti)
        return new

    def resolve_client_public_key(self, client: Client):
        return Path(sys.argv[3]).read_text()


class Organisation(JWTBearerGrant):
    """What the identity provider asserts."""

    def get_audiences(self) -> list[str]:
        return [ISSUER]

    def resolve_issuer_client(self, issuer: str) -> Client | None:
        return CLIENTS["employer"] if issuer == f"{ISSUER}/identity" else None

    def resolve_client_public_key(self, client: Client) -> str:
        return public(identity)

    def authenticate_user(self, subject: str) -> str:
        return subject

    def has_granted_permission(self, client: Client, user: str) -> bool:
        return user == "somebody"


def made(grant_type, client, user=None, scope=None, **more) -> dict[str, object]:
    """A token: a JWT that the server can check."""
    claims = {"iss": ISSUER, "aud": SERVER, "sub": user or client.get_client_id(), "scope": scope}
    claims |= {
        "client_id": client.get_client_id(),
        "exp": int(time.time()) + 60,
        "jti": uuid4().hex,
    }
    token = jwt.encode(claims, signing, algorithm="RS256")
    return {"access_token": token, "token_type": "Bearer", "expires_in": 60, "scope": scope or ""}


authority = Authority()
authority.register_token_generator("default", made)
authority.register_client_auth_method("client_assertion_jwt", Signed())
authority.register_grant(
    type(
        "Credentials",
        (ClientCredentialsGrant,),
        {"TOKEN_ENDPOINT_AUTH_METHODS": ["client_secret_basic", "client_assertion_jwt"]},
    )
)
authority.register_grant(Organisation)


async def token(request: Request) -> JSONResponse:
    """Tokens, by Authlib."""
    fields = {name: str(value) for name, value in (await request.form()).items()}
    asked.append(fields)
    return authority.create_token_response(FormRequest(request, fields))


async def assertion(request: Request) -> JSONResponse:
    """The identity provider: the identity token of the one person, for an assertion."""
    fields = {name: str(value) for name, value in (await request.form()).items()}
    asked.append(fields)
    if fields.get("subject_token") != "somebody-is-here":
        return JSONResponse({"error": "invalid_grant"}, 400)
    claims = {
        "iss": f"{ISSUER}/identity",
        "sub": "somebody",
        "aud": fields["audience"],
        "resource": fields["resource"],
        "client_id": "employer",
        "exp": int(time.time()) + 60,
        "jti": uuid4().hex,
    }
    made_of = jwt.encode(claims, identity, algorithm="ES256", headers={"typ": "oauth-id-jag+jwt"})
    return JSONResponse(
        {"access_token": made_of, "issued_token_type": ASSERTION, "token_type": "N_A"}
    )


async def metadata(request: Request) -> JSONResponse:
    """RFC 8414."""
    return JSONResponse(
        {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize",
            "token_endpoint": f"{ISSUER}/token",
            "grant_types_supported": ["client_credentials", BEARER],
        }
    )


async def counts(request: Request) -> JSONResponse:
    """What was asked for and called so far."""
    return JSONResponse({"asked": asked, "called": called})


server = FastMCP(
    "guarded",
    auth=RemoteAuthProvider(
        JWTVerifier(public_key=public(signing), issuer=ISSUER, audience=SERVER),
        [AnyHttpUrl(ISSUER)],
        f"http://127.0.0.1:{SERVER_PORT}",
        scopes_supported=SCOPES,
        required_scopes=SCOPES,
    ),
)


@server.tool
def add(number: int) -> int:
    """Count a call."""
    called.append(number)
    return number


async def main() -> None:
    """Serve both."""
    app = Starlette(
        routes=[
            Route("/.well-known/oauth-authorization-server", metadata),
            Route("/token", token, methods=["POST"]),
            Route("/identity", assertion, methods=["POST"]),
            Route("/counts", counts),
        ]
    )
    serving = uvicorn.Server(uvicorn.Config(app, port=PORT, log_level="error"))
    await asyncio.gather(
        server.run_http_async(port=SERVER_PORT, show_banner=False, log_level="ERROR"),
        serving.serve(),
    )


if __name__ == "__main__":
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    asyncio.run(main())
