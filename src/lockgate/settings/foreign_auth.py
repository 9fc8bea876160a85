"""What other programs' files say of who asks: logins and tokens, in many spellings, made ours.

Most of those programs log in to any server that wants it without being told so, and keep the tokens
elsewhere; none of their tokens is taken over. A secret that stands in a file is not copied.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias, cast
from urllib.parse import urlsplit

from lockgate.showing import visible

AUTH_KEYS: Final = ("auth", "oauth", "bearer_token_env_var", "scopes", "oauth_resource")
"""Keys of a server there that are about it. `auth`: Cursor, FastMCP. `oauth`: Claude Code, VS Code,
Gemini, Codex. `bearer_token_env_var`: Codex."""

Note: TypeAlias = Callable[[str], None]
Words: TypeAlias = "dict[str, str | tuple[str, ...]]"

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REFERENCES: Final = re.compile(r"(?:\$\{[A-Za-z_][A-Za-z0-9_]*\})+")
"""What can be taken over: beside a reference, and as its default, may stand the secret itself."""
_WELL_KNOWN: Final = re.compile(
    r"/\.well-known/(?:oauth-authorization-server|openid-configuration)"
)
_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("clientid",), "clientId"),
    **dict.fromkeys(("clientsecret",), "clientSecret"),
    **dict.fromkeys(("callbackport", "redirectport"), "redirectPort"),
    **dict.fromkeys(("scopes", "scope"), "scopes"),
    **dict.fromkeys(("issuer",), "issuer"),
    **dict.fromkeys(("authservermetadataurl", "metadataurl"), "metadata"),
    **dict.fromkeys(("clientmetadataurl", "clientidmetadataurl"), "clientMetadataUrl"),
    **dict.fromkeys(("enabled",), "enabled"),
    **dict.fromkeys(("authorizationurl", "tokenurl", "registrationurl", "redirecturi"), "found"),
}
"""Their words, in small letters without marks between, each with what it means here."""


class Unusable(Exception):
    """Why one entry can not be taken over; never leaves `settings.foreign`."""


def foreign_auth(
    name: str,
    server: Mapping[str, Any],
    headers: Mapping[str, str],
    text: Callable[[str], str],
    note: Note,
) -> str | Words | None:
    """The `auth` of an entry, or None. `text` turns references into ours, `note` is told what was
    changed or left behind. Raises `Unusable`."""
    found = _bearer(name, server, text, note) or _oauth(name, server, text, note)
    if found is not None and any(header.lower() == "authorization" for header in headers):
        note("its header Authorization says who asks; what else it says of that is not taken over")
        return None
    return found


def variable_headers(raw: object) -> dict[str, str]:
    """Headers whose values are names of variables (Codex). Raises `Unusable`."""
    if raw is None:
        return {}
    if not isinstance(raw, dict):
        raise Unusable("its env_http_headers are no table")
    headers: dict[str, str] = {}
    for header, variable in cast("dict[str, object]", raw).items():
        headers[header] = _reference(variable, f"its header {visible(header)[:40]}")
    return headers


def variable_for(server: str, what: str) -> str:
    """The name of the variable that a secret of a server is to be put into."""
    variable = f"{server}_{what}".replace("-", "_").upper()
    return variable if not variable[0].isdigit() else f"_{variable}"


def _bearer(
    name: str, server: Mapping[str, Any], text: Callable[[str], str], note: Note
) -> Words | None:
    if (variable := server.get("bearer_token_env_var")) is not None:
        return {"type": "bearer", "token": _reference(variable, "its bearer_token_env_var")}
    auth = server.get("auth")
    if not isinstance(auth, str) or auth in ("", "oauth"):
        return None
    token = text(auth.removeprefix("Bearer ").strip())
    if not REFERENCES.fullmatch(token):
        variable = variable_for(name, "TOKEN")
        note(f"the token in its auth was not copied: set {variable} to it in your environment")
        token = f"${{{variable}}}"
    return {"type": "bearer", "token": token}


def _oauth(
    name: str, server: Mapping[str, Any], text: Callable[[str], str], note: Note
) -> str | Words | None:
    key = "oauth" if "oauth" in server else "auth"
    raw = server.get(key)
    if raw is None and "scopes" in server:
        raw = {}
    if raw is None or raw is False:
        return None
    if raw is True or raw == "oauth":
        return "oauth"
    if not isinstance(raw, dict):
        raise Unusable(f"its {key} is nothing that lockgate knows")
    said = dict(_words(cast("dict[str, Any]", raw), key, note))
    if said.get("enabled") is False:
        return None
    if "scopes" not in said and "scopes" in server:
        said["scopes"] = server["scopes"]
    words: Words = {}
    if (client := said.get("clientId")) not in (None, ""):
        words["clientId"] = text(str(client))
    if issuer := _issuer(said, note):
        words["issuer"] = text(issuer)
    if (secret := said.get("clientSecret")) not in (None, ""):
        words |= _secret(name, text(str(secret)), note, issued="issuer" in words)
    if scopes := _scopes(said.get("scopes")):
        words["scopes"] = scopes
    if (port := said.get("redirectPort")) is not None:
        words["redirectPort"] = str(port)
    if (document := said.get("clientMetadataUrl")) is not None and "clientId" not in words:
        words["clientMetadataUrl"] = text(str(document))
    return {"type": "oauth", **words} if words else "oauth"


def _words(raw: Mapping[str, Any], key: str, note: Note) -> Iterator[tuple[str, Any]]:
    for word, value in raw.items():
        ours = _NAMES.get(re.sub(r"[-_]", "", word).lower())
        if ours is None:
            note(f"{key}.{visible(word)[:40]} is not taken over")
        elif ours == "found":
            note(f"its {visible(word)[:40]} is not taken over: it is found out from the server")
        else:
            yield ours, value


def _secret(name: str, secret: str, note: Note, *, issued: bool) -> Words:
    if not issued:
        note(
            "its client secret is not taken over: lockgate sends one to a named authorization"
            " server alone; add clientSecret and issuer to its auth"
        )
        return {}
    if REFERENCES.fullmatch(secret):
        return {"clientSecret": secret}
    variable = variable_for(name, "CLIENT_SECRET")
    note(f"its client secret was not copied: set {variable} to it in your environment")
    return {"clientSecret": f"${{{variable}}}"}


def _issuer(said: Mapping[str, Any], note: Note) -> str | None:
    if isinstance(issuer := said.get("issuer"), str) and issuer:
        return issuer
    document = said.get("metadata")
    if not isinstance(document, str) or not document:
        return None
    try:
        parts = urlsplit(document)
    except ValueError:
        raise Unusable("where its authorization server describes itself is no address") from None
    path, count = _WELL_KNOWN.subn("", parts.path)
    if count != 1 or parts.query or parts.username is not None:
        note("where its authorization server describes itself is not taken over: say issuer")
        return None
    note("its issuer is taken from where its authorization server describes itself")
    return f"{parts.scheme}://{parts.netloc}{path.rstrip('/')}"


def _scopes(raw: object) -> tuple[str, ...]:
    if isinstance(raw, str):
        return tuple(raw.split())
    if isinstance(raw, list):
        return tuple(str(scope) for scope in cast("list[object]", raw))
    return ()


def _reference(variable: object, what: str) -> str:
    if not isinstance(variable, str) or not _VARIABLE.fullmatch(variable):
        raise Unusable(f"{what} names no variable")
    return f"${{{variable}}}"
