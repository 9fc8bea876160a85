"""The options of `lockgate mcp add` for a server at a URL: headers, who asks, certificates."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from lockgate.errors import ConfigError, Problem
from lockgate.settings.entry import ServerEntry
from lockgate.settings.remote_kinds import secret_in_header
from lockgate.showing import visible

F = TypeVar("F", bound=Callable[..., Any])

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class AddressWords:
    """What was given for a server at a URL. Field by field the option of that name."""

    headers: tuple[str, ...] = ()
    auth: str | None = None
    token_env: str | None = None
    token_file: str | None = None
    client_id: str | None = None
    client_secret_env: str | None = None
    client_secret_file: str | None = None
    issuer: str | None = None
    oauth_scopes: tuple[str, ...] = ()
    redirect_port: int | None = None
    ca_file: str | None = None
    client_cert: str | None = None
    client_key: str | None = None
    proxy: str | None = None

    def given(self) -> tuple[str, ...]:
        """The options that were given, as they are written."""
        return tuple(
            _option(field.name)
            for field in fields(self)
            if getattr(self, field.name) not in ((), None)
        )

    def entry(
        self, name: str, url: str, transport: str, rebased: Callable[[str], str]
    ) -> ServerEntry:
        """The entry that says all this; `rebased` turns a typed path into one of the file."""
        kind = "sse" if transport == "sse" else "streamable-http"
        files = {
            "caFile": self.ca_file,
            "clientCert": self.client_cert,
            "clientKey": self.client_key,
        }
        return ServerEntry(
            name,
            transport=kind,
            url=url,
            headers=_headers(self.headers),
            auth=self._auth(rebased),
            tls={key: rebased(file) for key, file in files.items() if file is not None},
            proxy=self.proxy,
        )

    def _auth(
        self, rebased: Callable[[str], str]
    ) -> str | Mapping[str, str | tuple[str, ...]] | None:
        bearer = _of_env_or_file("token", self.token_env, self.token_file, rebased)
        client = _of_env_or_file(
            "clientSecret", self.client_secret_env, self.client_secret_file, rebased
        )
        oauth: dict[str, str | tuple[str, ...]] = {}
        if self.client_id is not None:
            oauth["clientId"] = self.client_id
        oauth |= client
        if self.issuer is not None:
            oauth["issuer"] = self.issuer
        if self.oauth_scopes:
            words = (word for scope in self.oauth_scopes for word in scope.split())
            oauth["scopes"] = tuple(dict.fromkeys(words))
        if self.redirect_port is not None:
            oauth["redirectPort"] = str(self.redirect_port)
        if self.auth is None and (bearer or oauth):
            kind = "bearer" if bearer else "oauth"
            raise click.UsageError(f"say --auth {kind} with that")
        if self.auth == "bearer":
            if oauth:
                raise click.UsageError("--auth bearer takes --token-env or --token-file alone")
            if not bearer:
                raise click.UsageError("--auth bearer needs --token-env NAME or --token-file FILE")
            return {"type": "bearer", **bearer}
        if bearer:
            raise click.UsageError("--token-env and --token-file are for --auth bearer")
        return {"type": "oauth", **oauth} if oauth else self.auth


def address_options(command: F) -> F:
    """Adds them to a command, which gets each under its name in `AddressWords`."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


_OPTIONS: Final = (
    click.option(
        "-H",
        "--header",
        "headers",
        multiple=True,
        metavar="'NAME: VALUE'",
        help="A header for a server at a URL; a secret as ${VARIABLE}, in single quotes.",
    ),
    click.option(
        "--auth",
        type=click.Choice(["oauth", "bearer"]),
        help="Who asks, at a URL: oauth, a login (lockgate mcp login NAME); bearer, a token that"
        " you were given.",
    ),
    click.option("--token-env", metavar="VARIABLE", help="The variable that holds it."),
    click.option("--token-file", metavar="FILE", help="Or the file."),
    click.option("--client-id", metavar="ID", help="Of a client registered by hand."),
    click.option("--client-secret-env", metavar="VARIABLE", help="The variable with its secret."),
    click.option("--client-secret-file", metavar="FILE", help="Or the file."),
    click.option(
        "--issuer", metavar="URL", help="The authorization server; needed beside a secret."
    ),
    click.option(
        "--oauth-scope",
        "oauth_scopes",
        multiple=True,
        metavar="SCOPE",
        help="What a login is to be good for; as often as needed.",
    ),
    click.option(
        "--redirect-port",
        type=click.IntRange(1, 65535),
        metavar="PORT",
        help="The port a browser comes back to, where the client's registration names one.",
    ),
    click.option("--ca-file", metavar="FILE", help="Certificates to trust beside the system's."),
    click.option("--client-cert", metavar="FILE", help="A certificate of your own."),
    click.option("--client-key", metavar="FILE", help="Its key, where it is another file."),
    click.option("--proxy", metavar="URL", help="The proxy to it; '' for none."),
)


def _of_env_or_file(
    key: str, variable: str | None, file: str | None, rebased: Callable[[str], str]
) -> dict[str, str]:
    if variable is not None and file is not None:
        raise click.UsageError("a variable and a file for one secret: give one of them")
    if file is not None:
        return {f"{key}File": rebased(file)}
    if variable is None:
        return {}
    if not _VARIABLE.fullmatch(variable):
        # It may be the secret itself: nothing of it is shown.
        raise click.UsageError("an --...-env option takes the name of a variable, not its value")
    _note_unset(variable)
    return {key: f"${{{variable}}}"}


def _headers(words: tuple[str, ...]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for word in words:
        name, colon, value = word.partition(":")
        name, value = name.strip(), value.strip()
        if not colon or not name or not value:
            raise click.UsageError("--header takes 'NAME: VALUE'")
        if any(name.lower() == other.lower() for other in headers):
            raise click.UsageError(f"--header {visible(name)[:60]} is given twice")
        if secret_in_header(name, value):
            message = f"the header {visible(name)[:60]} holds a secret as it is: nothing is written"
            scheme, blank, _ = value.partition(" ")
            start = f"{scheme} " if blank and scheme.isalpha() else ""
            hint = (
                "put it into a variable of your environment, and name that, in single quotes:"
                f" --header '{visible(name)[:60]}: {visible(start)}${{VARIABLE}}'"
            )
            raise ConfigError(Problem(message, hint=hint))
        for variable in _REFERENCE.findall(value):
            _note_unset(variable)
        headers[name] = value
    return headers


def _note_unset(variable: str) -> None:
    if variable not in os.environ:
        click.echo(f"note: {variable} is not set in your environment now", err=True)


def _option(name: str) -> str:
    words = {"headers": "header", "oauth_scopes": "oauth-scope"}
    return f"--{words.get(name, name.replace('_', '-'))}"


def typed_path(path: str, moved: bool) -> str:
    """A path as it is written into a file: what is relative is so to the file it stands in, not to
    where the command was typed; `moved` says that these differ."""
    plain = not path.startswith(("/", "~", "${")) and not re.match(r"[A-Za-z]:", path)
    return str(Path.cwd() / path) if moved and plain else path
