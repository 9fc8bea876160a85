"""The keys of a server's `auth`: who asks, where a header of the operator's own does not say it.

Secrets are references, or stand in files of their own, as in headers (docs/decisions/0031). A later
file that says `auth` says all of it: half of one person's client with half of another's
authorization server would send a secret to whoever was named last.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from lockgate.mcp.client.oauth.plan import ALGORITHMS
from lockgate.settings.expansion import has_reference
from lockgate.settings.kinds import Choice, Directory, Many, Text, scalar_text
from lockgate.settings.nodes import Node, Scalar, Table, kind_of
from lockgate.settings.reading import MISSING, At, Draft, Given, Key, Missing, Section, read_section
from lockgate.settings.remote_kinds import Address
from lockgate.web.proxies import is_local
from lockgate.web.target import read_target

_NOTHING: Final = MappingProxyType[str, str]({})
_FORMS: Final = "write auth: oauth, or auth: {type: bearer, token: '${NAME}'}"
MAX_PORT: Final = 65_535


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that is never written down: at least a part of it is a reference."""

    words: str = "reference"

    def read(self, node: Node, at: At) -> str | Missing:
        """The text, never shown; as it was written while nothing is expanded."""
        found = scalar_text(node, at, wanted="text", many_lines=True)
        if isinstance(found, Missing):
            return MISSING
        name = at.path.rpartition(".")[2]
        if not isinstance(node, Scalar) or not has_reference(node.text):
            hint = f"put it into a variable of your environment: {name}: ${{NAME}}"
            if f"{name}File" in AUTH.names:
                hint += f", or into a file: {name}File: PATH"
            return at.fault(node, "holds a secret as it is", hint)
        if not found[0].strip():
            return at.fault(node, "is empty", "set the variable, or remove the key")
        return found[0]

    def merge(self, earlier: str, later: str) -> str:
        """The later."""
        del earlier
        return later


@dataclass(frozen=True, slots=True)
class Encrypted(Address):
    """The address of somebody who is handed secrets: https, but on this machine itself."""

    words: str = "https address"

    def read(self, node: Node, at: At) -> str | Missing:
        """The address, as it was written."""
        found = Address.read(self, node, at)
        if isinstance(found, Missing) or has_reference(found):
            return found
        target = read_target(found)
        if target.scheme != "https" and not is_local(target.host):
            return at.fault(node, "is not encrypted, and secrets go there", "write https://...")
        return found


@dataclass(frozen=True, slots=True)
class Port:
    """A port that a program may listen at."""

    words: str = "port"

    def read(self, node: Node, at: At) -> int | str | Missing:
        """The number; as text while variables are not expanded."""
        found = scalar_text(node, at, wanted="a port")
        if isinstance(found, Missing):
            return MISSING
        text, from_variable = found
        if from_variable and at.environ is None:
            return text
        port = int(text) if text.isdecimal() and text.isascii() and len(text) <= 5 else 0
        if not 0 < port <= MAX_PORT:
            return at.fault(node, "is no port", f"write a number from 1024 to {MAX_PORT}")
        return port

    def merge(self, earlier: int, later: int) -> int:
        """The later."""
        del earlier
        return later


@dataclass(frozen=True, slots=True)
class Auth:
    """`oauth`, or the section."""

    words: str = "`oauth` or section"

    def read(self, node: Node, at: At) -> Draft | Missing:
        """The keys that are given, with `type` among them."""
        if isinstance(node, Table):
            before = len(at.findings.problems)
            draft = dict(read_section(AUTH, node, at))
            draft.setdefault("type", Given("oauth", node.place, f"{at.path}.type"))
            if len(at.findings.problems) > before:
                return MISSING
            faults = list(_faults(draft))
            for key, message, hint in faults:
                inner = at.key(key) if key else at
                inner.fault(node.get(key) or node if key else node, message, hint)
            return MISSING if faults else draft
        if not isinstance(node, Scalar):
            return at.fault(node, f"must be a word or a mapping, not {kind_of(node)}", _FORMS)
        if node.text == "oauth":
            return {"type": Given("oauth", node.place, at.path)}
        if node.text == "bearer":
            return at.fault(node, "has no token", "write auth: {type: bearer, token: '${NAME}'}")
        # It may be the token itself, which some programs want here: nothing of it is shown.
        return at.fault(node, "is no way of authorization", _FORMS)

    def merge(self, earlier: Draft, later: Draft) -> Draft:
        """The later as a whole."""
        del earlier
        return later


_GRANTS: Final = MappingProxyType(
    {grant: grant for grant in ("authorization-code", "client-credentials", "enterprise-managed")}
)
_CLIENT: Final = ("clientId", "clientSecret", "clientSecretFile", "secretMethod")
_OF_GRANT: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "authorization-code": frozenset({*_CLIENT, "clientMetadataUrl", "redirectPort"}),
        "client-credentials": frozenset({*_CLIENT, "privateKey", "privateKeyFile", "keyAlgorithm"}),
        "enterprise-managed": frozenset(
            {*_CLIENT, "identityProvider", "identityClientId", "identityClientSecret"}
            | {"identityToken", "identityTokenFile"}
        ),
    }
)
_OF_OAUTH: Final = frozenset({"type", "grant", "scopes", "issuer"})
_OF_BEARER: Final = frozenset({"type", "token", "tokenFile"})
_NEEDED: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = MappingProxyType(
    {
        "client-credentials": (
            ("clientId",),
            ("clientSecret", "clientSecretFile", "privateKey", "privateKeyFile"),
            ("issuer",),
        ),
        "enterprise-managed": (
            ("clientId",),
            ("clientSecret", "clientSecretFile"),
            ("issuer",),
            ("identityProvider",),
            ("identityClientId",),
            ("identityToken", "identityTokenFile"),
        ),
    }
)
"""Of each group exactly one key."""


def _faults(draft: Draft) -> Iterator[tuple[str, str, str | None]]:
    """What does not go together: a key (or none), what is wrong with it, and what to do."""
    if draft["type"].value == "bearer":
        for key in draft:
            if key not in _OF_BEARER:
                yield key, f"{key} belongs to type oauth", f"take {key} out, or write type: oauth"
        yield from _one_of(draft, ("token", "tokenFile"))
        return
    grant: str = draft["grant"].value if "grant" in draft else "authorization-code"
    for key in draft:
        if key in _OF_BEARER - {"type"}:
            yield key, f"{key} belongs to type bearer", "write type: bearer"
        elif key not in _OF_OAUTH | _OF_GRANT[grant]:
            owners = " and ".join(name for name, keys in _OF_GRANT.items() if key in keys)
            yield key, f"{key} belongs to grant {owners}", f"take {key} out, or change the grant"
    for keys in _NEEDED.get(grant, ()):
        yield from _one_of(draft, keys)
    if grant == "authorization-code":
        secrets = [key for key in ("clientSecret", "clientSecretFile") if key in draft]
        if len(secrets) > 1:
            yield secrets[1], f"says what {secrets[0]} says: keep one", None
        if secrets and "clientId" not in draft:
            yield secrets[0], "is of no use without a clientId", "add clientId: ID"
        if secrets and "issuer" not in draft:
            yield secrets[0], *_FOR_WHOM
        if "clientId" in draft and "clientMetadataUrl" in draft:
            yield "clientMetadataUrl", "stands beside a clientId: keep one", None


_FOR_WHOM: Final = (
    "does not say whom it is for, and the server would decide who gets it",
    "add issuer: https://<authorization server>, the one that the client is registered with",
)


def _one_of(draft: Draft, keys: tuple[str, ...]) -> Iterator[tuple[str, str, str | None]]:
    found = [key for key in keys if key in draft]
    if not found:
        if keys == ("issuer",):
            yield "", "has no issuer, and the server would decide who gets the secret", _FOR_WHOM[1]
        else:
            yield "", f"has no {' or '.join(keys)}", f"add {keys[0]}: ..."
    elif len(found) > 1:
        yield found[1], f"says what {found[0]} says: keep one", None


def _file(name: str, doc: str) -> Key:
    return Key(name, Directory(noun="file"), None, "none", doc, expands=True)


AUTH: Final = Section(
    "mcp.servers[].auth",
    "Who asks. `auth: oauth` alone is enough for most servers: log in with `lockgate mcp login"
    " NAME`. Secrets are references (`${NAME}`) or files, never texts. In place of `auth` a header"
    " can say it. A later file that says `auth` says all of it.",
    (
        Key(
            "type",
            Choice(
                MappingProxyType({"oauth": "oauth", "bearer": "bearer"}), _NOTHING, "oauth | bearer"
            ),
            "oauth",
            "oauth",
            "Tokens that an authorization server gives, or one that you were given.",
        ),
        Key("token", Secret(), None, "none", "Of `bearer`: the token.", expands=True),
        _file("tokenFile", "Of `bearer`: the file that holds it; read again when it changes."),
        Key(
            "grant",
            Choice(_GRANTS, _NOTHING, " | ".join(_GRANTS)),
            "authorization-code",
            "authorization-code",
            "How tokens are got: a person logs in with a browser, once; the program itself is the"
            " client; or your organisation's identity provider says who may.",
        ),
        Key(
            "scopes",
            Many(Text(), "list of scopes"),
            None,
            "what the server asks for",
            "What the tokens are to be good for.",
        ),
        Key(
            "issuer",
            Encrypted(),
            None,
            "the one that the server names",
            "The authorization server, and no other. Needed beside a secret or a key, which goes"
            " to nobody else.",
            expands=True,
        ),
        Key(
            "clientId",
            Text(),
            None,
            "lockgate registers itself",
            "Of a client that was registered by hand.",
            expands=True,
        ),
        Key("clientSecret", Secret(), None, "none", "The secret of that client.", expands=True),
        _file("clientSecretFile", "The file that holds it."),
        Key(
            "secretMethod",
            Choice(
                MappingProxyType({"basic": "client_secret_basic", "post": "client_secret_post"}),
                MappingProxyType(
                    {"client_secret_basic": "write basic", "client_secret_post": "write post"}
                ),
                "basic | post",
            ),
            None,
            "basic; post for `enterprise-managed`",
            "Whether the secret is presented in a header or in the form.",
        ),
        Key(
            "clientMetadataUrl",
            Encrypted(),
            None,
            "none",
            "In place of `clientId`: where the description of the client is (client ID metadata"
            " document).",
            expands=True,
        ),
        Key(
            "redirectPort",
            Port(),
            None,
            "any that is free",
            "The port of 127.0.0.1 that the browser comes back to, where the registration of the"
            " client names one: `http://127.0.0.1:PORT/callback`.",
            expands=True,
        ),
        Key(
            "privateKey",
            Secret(),
            None,
            "none",
            "Of `client-credentials`, in place of a secret: the key (PEM) that signs.",
            expands=True,
        ),
        _file("privateKeyFile", "The file that holds it."),
        Key(
            "keyAlgorithm",
            Choice(MappingProxyType({name: name for name in ALGORITHMS}), _NOTHING, "name of JOSE"),
            "RS256",
            "RS256",
            "What is signed with: RS, PS or ES with 256, 384 or 512, or EdDSA.",
        ),
        Key(
            "identityProvider",
            Encrypted(),
            None,
            "none",
            "Of `enterprise-managed`: the token endpoint of your identity provider.",
            expands=True,
        ),
        Key("identityClientId", Text(), None, "none", "The client there.", expands=True),
        Key("identityClientSecret", Secret(), None, "none", "Its secret.", expands=True),
        Key(
            "identityToken",
            Secret(),
            None,
            "none",
            "What your log-in there gave: an OpenID Connect ID token.",
            expands=True,
        ),
        _file("identityTokenFile", "The file that holds it; read each time."),
    ),
    also_called=MappingProxyType(
        {
            "scope": "scopes: [...]",
            "bearer": "type: bearer and token",
            "CLIENT_ID": "clientId",
            "CLIENT_SECRET": "clientSecret",
            "callbackPort": "redirectPort",
            "redirectUri": "redirectPort",
            "authServerMetadataUrl": "issuer",
            "authorizationUrl": "issuer",
            "tokenUrl": "issuer",
            "clientIdMetadataUrl": "clientMetadataUrl",
            "audience": "nothing: the address of the server is the audience (RFC 8707)",
            "resource": "nothing: the address of the server is the resource (RFC 8707)",
        }
    ),
)
