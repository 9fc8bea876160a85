"""How logins are shown: what is known of them without asking anybody, and never a token."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from lockgate.app.logins import KnownLogin, LoginState, known_login, place_at
from lockgate.cli.waiting import when
from lockgate.errors import ConfigError
from lockgate.mcp.client.oauth.store import Place
from lockgate.settings.expansion import expand
from lockgate.settings.reading import Draft
from lockgate.settings.survey import WrittenServer
from lockgate.showing import visible, visible_error

if TYPE_CHECKING:
    from lockgate.stores.credentials_file import Login

_STATES: Final[Mapping[LoginState, str]] = {
    "none": "not logged in",
    "logged-in": "logged in",
    "expired": "expired",
    "more-wanted": "wants more",
    "not-needed": "needs no login",
}


class KeptLogins:
    """The logins that are kept; what is wrong with their file is a warning, once."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._logins: tuple[Login, ...] | None = None

    def known(self, place: Place | None, now: float, *, unattended: bool) -> KnownLogin:
        """What is known of one."""
        login = next((each for each in self._all() if each.place == place), None)
        return known_login(login, now, unattended=unattended)

    def has(self, server: str) -> bool:
        """Whether anything is kept under this name."""
        return any(each.server == server for each in self._all())

    def of_written(self, server: WrittenServer, now: float) -> KnownLogin | None:
        """The same of a server as it is written; None for one that nobody logs in to."""
        auth: Draft | None = server["auth"]
        if auth is None or auth["type"].value != "oauth" or server["url"] is None:
            return None
        url = expand(server["url"], os.environ)
        place = None if url.faults else place_at(server.name, url.text)
        grant = auth["grant"].value if "grant" in auth else "authorization-code"
        return self.known(place, now, unattended=grant != "authorization-code")

    def _all(self) -> tuple[Login, ...]:
        if self._logins is None:
            from lockgate.stores.credentials_file import CredentialsFile

            try:
                self._logins = CredentialsFile(self._path, new_id=str).read()
            except ConfigError as error:
                click.echo(f"warning: {visible_error(error)}", err=True)
                self._logins = ()
        return self._logins


def login_word(known: KnownLogin) -> str:
    """The state in a word or two."""
    return _STATES[known.state]


def login_lines(name: str, known: KnownLogin, now: float) -> Iterator[str]:
    """All that is known of a login, `visible`; what to do where something is to be done."""
    state = _STATES[known.state]
    issuer = "" if known.issuer is None else f" at {visible(known.issuer)}"
    if known.state == "none":
        yield f"{state}: lockgate mcp login {name}"
        return
    end = login_end(known, now)
    yield f"{state}{issuer}{f', {end}' if end else ''}"
    if known.scope:
        yield f"scopes: {visible(known.scope)}"
    if known.kept_in is not None:
        place = "the keyring of this system" if known.kept_in == "keyring" else "a file"
        yield f"kept in {place}"
    if known.state == "more-wanted":
        yield f"it asked for more: {visible(known.wanted or '')}: lockgate mcp login {name}"
    if known.state == "expired":
        yield f"log in again: lockgate mcp login {name}"


def login_end(known: KnownLogin, now: float) -> str | None:
    """When it ends, in words; None if that was not said."""
    at = known.expires_at
    if known.renewable:
        return "renewed by itself" if at is None or at <= now else f"renewed by itself {when(at)}"
    if at is None:
        return None
    return f"until {when(at)}" if at > now else f"ended {when(at)}"
