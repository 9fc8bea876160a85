"""`lockgate mcp logout`: forgets logins, and has them taken back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json, short
from lockgate.errors import ConfigError, Problem

if TYPE_CHECKING:
    from lockgate.app.logins import LoggedOut
    from lockgate.settings.config import Config
    from lockgate.settings.layers import Layers
    from lockgate.stores.credentials import KeptCredentials


@click.command("logout")
@click.argument("name", required=False)
@click.option("--all", "everything", is_flag=True, help="All logins, of every project of yours.")
@config_option
@json_option
def logout(name: str | None, everything: bool, config: Path | None, as_json: bool) -> int:
    """Forget the login to a server, and have its authorization server take the tokens back.

    It is forgotten here in any case. Where the authorization server can not be asked, you are told:
    the tokens are good there until they end. With --all, a file of logins that can not be used is
    removed.

    \b
    Examples:
      lockgate mcp logout crm
      lockgate mcp logout --all
    """
    if (name is None) != everything:
        raise click.UsageError("say which server, or --all")
    from lockgate.cli.opening import run_async

    layers = find_layers(config)

    async def work() -> int:
        import os
        from dataclasses import asdict

        from lockgate.app.logins import Logins
        from lockgate.app.token_sources import credential_store
        from lockgate.cli.exit import Exit
        from lockgate.showing import visible

        settings = _settings(layers)
        store = credential_store(
            settings,
            os.environ,
            Path.cwd(),
            note=lambda text: click.echo(f"note: {visible(text)}", err=True),
        )
        try:
            kept = store.logins()
        except ConfigError as error:
            if not everything:
                raise
            return _discarded(store, error, as_json)
        places = [each.place for each in kept if everything or each.server == name]
        if not places and name is not None:
            _check_known(name, settings)
        logins = Logins(settings, os.environ, store)
        done = [await logins.log_out(place) for place in places]
        if as_json:
            print_json({"loggedOut": [asdict(one) for one in done]})
        elif not done:
            what = "No login is kept." if name is None else f"Nobody is logged in to {name}."
            click.echo(what)
        else:
            for one in done:
                _tell(one)
        return Exit.DONE

    return run_async(work)


def _discarded(store: KeptCredentials, error: ConfigError, as_json: bool) -> int:
    """Remove a file of logins that can not be used: who wants all of them gone has no other way.

    Raises `ConfigError` if that can not be done.
    """
    from lockgate.cli.exit import Exit
    from lockgate.showing import visible_error

    click.echo(f"warning: {visible_error(error)}", err=True)
    removed = store.discard()
    if as_json:
        print_json({"loggedOut": [], "removed": str(store.path) if removed else None})
    elif removed:
        click.echo(f"Removed {short(store.path)}, with every login in it.")
        text = "Nothing was taken back: tokens are good at their servers until they end."
        click.echo(f"  {text} A keyring may hold entries of lockgate still.")
    return Exit.DONE


def _settings(layers: Layers) -> Config:
    """The configuration, as far as it can be used: who logs out needs none of it."""
    import os

    from lockgate.settings.config import Config, CredentialSettings
    from lockgate.settings.loading import load

    try:
        return load(layers, os.environ)
    except ConfigError:
        return Config(credentials=CredentialSettings(file=layers.credentials))


def _check_known(name: str, settings: Config) -> None:
    """Raise for a name that is nobody's, which is likely a slip."""
    from lockgate.settings.findings import spelling_hint
    from lockgate.showing import quoted

    names = [server.name for server in settings.servers]
    if names and name not in names:
        hint = spelling_hint(name, names, what="configured")
        raise ConfigError(Problem(f"no server called {quoted(name)} is configured", hint=hint))


def _tell(one: LoggedOut) -> None:
    from lockgate.showing import visible

    where = visible(f"{one.server} ({one.resource})")
    if one.revoked:
        click.echo(f"Logged out of {where}: forgotten here, and taken back there.")
        return
    click.echo(f"Logged out of {where}: forgotten here.")
    if one.problem is not None:
        why = f"{visible(one.problem)}: the tokens are good there until they end."
        click.echo(f"  Not taken back: {why}")
