"""`lockgate mcp login`: a person logs in to a server."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from lockgate.cli.options import config_option, find_layers, json_option, print_json, short

if TYPE_CHECKING:
    from lockgate.app.logins import Logins
    from lockgate.mcp.client.oauth.plan import AuthorizationCode, OAuthPlan
    from lockgate.mcp.host.settings import ServerSettings
    from lockgate.stores.credentials import KeptCredentials


SLOW: Final = 3.0
"""Seconds after which a person who sees nothing yet is told what is waited for."""


_KEYRING: Final = "Waiting for the keyring of your system: it may ask you to unlock it in a window."


@click.command("login")
@click.argument("name")
@click.option(
    "--no-browser",
    is_flag=True,
    help="Open none: print the address, and take the one you end at, from a browser elsewhere.",
)
@config_option
@json_option
def login(name: str, no_browser: bool, config: Path | None, as_json: bool) -> int:
    """Log in to a server that has auth: oauth.

    A browser is opened at the server's authorization server, and comes back to a page on this
    machine. Where your browser is on another machine, as over ssh, open the printed address there
    and paste the one that you end at. You have five minutes. The login is kept in the keyring of
    your system, or in a file that only you can read, and renewed by itself.

    The exit code is 0 if you are logged in, 1 if you are not, 2 if the configuration can not be
    used, 5 if the server or its authorization server was not reached.

    \b
    Examples:
      lockgate mcp login crm
      lockgate mcp login crm --no-browser
    """
    from lockgate.cli.opening import run_async, settled_config

    settings = settled_config(find_layers(config))

    async def work() -> int:
        import os
        import sys

        from lockgate.app.logins import Logins
        from lockgate.app.token_sources import credential_store
        from lockgate.cli.exit import Exit, of_error
        from lockgate.errors import Fault, PeerError
        from lockgate.mcp.client.oauth.plan import AuthorizationCode, OAuthPlan
        from lockgate.showing import visible, visible_error
        from lockgate.stores.system_keyring import PATIENCE, PATIENCE_WITH_A_PERSON

        attended = sys.stderr.isatty()
        store = credential_store(
            settings,
            os.environ,
            Path.cwd(),
            patience=PATIENCE_WITH_A_PERSON if attended else PATIENCE,
            anew=True,
            note=lambda text: click.echo(f"note: {visible(text)}", err=True),
            slow=lambda: click.echo(_KEYRING, err=True),
        )
        logins = Logins(settings, os.environ, store)
        server = logins.server(name)
        plan = server.auth
        if not isinstance(plan, OAuthPlan):
            raise TypeError("a server without a plan is refused above")
        try:
            if isinstance(plan.grant, AuthorizationCode):
                await _with_person(logins, server, plan.grant, browser=not no_browser)
            else:
                await _without(logins, server, plan)
        except PeerError as error:
            click.echo(f"error: {visible_error(error)}", err=True)
            return Exit.FAILED if error.fault is Fault.UNAUTHORIZED else of_error(error)
        _tell(store, server, as_json)
        return Exit.DONE

    return run_async(work)


async def _with_person(
    logins: Logins, server: ServerSettings, grant: AuthorizationCode, *, browser: bool
) -> None:
    """Let the person at the terminal log in. Raises what the flow raises."""
    import asyncio
    import os

    from lockgate.bridges.browser import has_browser, open_browser
    from lockgate.bridges.login import BrowserLogin
    from lockgate.bridges.redirect import RedirectListener
    from lockgate.bridges.redirect_page import Page
    from lockgate.bridges.tty import open_terminal
    from lockgate.errors import LockgateError

    async with RedirectListener(port=grant.redirect_port or 0) as listener:
        terminal = open_terminal()
        shown = Shown(server, pastes=terminal is not None)
        slow = asyncio.get_running_loop().call_later(SLOW, shown.say_slow)
        person = BrowserLogin(
            listener,
            show=shown,
            browse=open_browser if browser and has_browser(os.environ) else None,
            terminal=terminal,
            trusted=_written(server),
        )
        try:
            await logins.log_in(server, person)
        except LockgateError as error:
            listener.tell(Page.failed(f"{str(error).splitlines()[0].rstrip('.')}."))
            raise
        finally:
            slow.cancel()
            if terminal is not None:
                terminal.close()
        listener.tell(Page.worked(server.name))


def _written(server: ServerSettings) -> tuple[str, ...]:
    """The addresses that the configuration has: a page there surprises nobody."""
    from lockgate.mcp.client.oauth.plan import OAuthPlan
    from lockgate.mcp.endpoint import HttpEndpoint

    end, plan = server.endpoint, server.auth
    own = (end.target.shown,) if isinstance(end, HttpEndpoint) else ()
    issuer = plan.issuer if isinstance(plan, OAuthPlan) else None
    return own if issuer is None else (*own, issuer)


class Shown:
    """Shows the address to open, once, and then what is to be done with it."""

    def __init__(self, server: ServerSettings, *, pastes: bool) -> None:
        """`pastes`: whether the address that a browser ends at can be given here."""
        self._server = server
        self._pastes = pastes
        self._done = False

    def say_slow(self) -> None:
        """Say what is waited for, unless the person has something to do already."""
        if not self._done:
            text = "Still waiting: for the server, or for another login to it that is going on."
            click.echo(text, err=True)

    def __call__(self, address: str, opened: bool, marks: tuple[str, ...]) -> None:
        from urllib.parse import urlsplit

        from lockgate.mcp.endpoint import HttpEndpoint
        from lockgate.showing import visible

        if self._done:
            click.echo("No browser could be opened: open that address yourself.", err=True)
            self._say_where()
            return
        self._done = True
        host = urlsplit(address).netloc
        end = self._server.endpoint
        where = f" ({visible(end.target.shown)})" if isinstance(end, HttpEndpoint) else ""
        click.echo(
            f"Log in to {self._server.name}{where} at {click.style(host, bold=True)}:", err=True
        )
        click.echo(f"\n{address}\n", err=True)  # plain: terminals make a link of it
        for mark in marks:
            click.echo(f"CAREFUL: {visible(mark)}", err=True)
        what = "Your browser opens it." if opened else "Open that address in a browser."
        if marks:
            what = "It is not opened by itself: open it if that is right."
        click.echo(f"{what} This waits for five minutes; Ctrl+C gives up.", err=True)
        if not opened:
            self._say_where()

    def _say_where(self) -> None:
        if not self._pastes:
            text = "It waits for a browser on this machine: there is no terminal to paste at."
            click.echo(text, err=True)


async def _without(logins: Logins, server: ServerSettings, plan: OAuthPlan) -> None:
    """Get tokens for a server that needs no person, to see that it works."""
    how = type(plan.grant).__name__
    words = {
        "ClientCredentials": "the program itself is the client",
        "EnterpriseManaged": "your identity provider says who may",
    }
    click.echo(f"{server.name} needs no login: {words.get(how, how)}. Trying it once ...", err=True)
    await logins.try_once(server)


def _tell(store: KeptCredentials, server: ServerSettings, as_json: bool) -> None:
    import time

    from lockgate.app.logins import known_login, login_data, place_of
    from lockgate.cli.login_view import login_end
    from lockgate.showing import visible

    place, now = place_of(server), time.time()
    kept = None if place is None else store.login(place)
    known = known_login(kept, now)
    if as_json:
        data: dict[str, Any] = {"server": server.name, "resource": place and place.resource}
        print_json(data | login_data(known) | {"file": str(store.path)})
        return
    by = "" if known.issuer is None else f" at {visible(known.issuer)}"
    click.echo(f"Logged in to {server.name}{by}.")
    click.echo(f"  scopes: {visible(known.scope) if known.scope else 'not said'}")
    if known.wanted:
        click.echo(f"  not granted: {visible(known.wanted)}, which the server asked for")
    click.echo(f"  lasts: {login_end(known, now) or 'it does not say how long'}")
    if known.kept_in == "keyring":
        click.echo("  kept in: the keyring of this system")
    else:
        click.echo(f"  kept in: {short(store.path)}, which only you can read")
