"""What a person is told while they log in."""

from __future__ import annotations

import pytest

from lockgate.cli.mcp_login import Shown
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.host.settings import ServerSettings

SERVER = ServerSettings("crm", HttpEndpoint("https://crm.example/mcp?key=secret"), auth=OAuthPlan())
ADDRESS = "https://login.example/authorize?state=s1"
ALONE = "a browser on this machine: there is no terminal to paste at"


@pytest.mark.parametrize(
    ("opened", "pastes", "alone"),
    [(True, True, False), (True, False, False), (False, True, False), (False, False, True)],
)
def test_it_is_said_what_is_waited_for(
    opened: bool, pastes: bool, alone: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """At once, and to whoever reads along: without a terminal nothing can be pasted."""
    shown = Shown(SERVER, pastes=pastes)
    shown(ADDRESS, opened, ())
    said = capsys.readouterr()
    assert said.out == ""
    assert "secret" not in said.err
    assert f"\n{ADDRESS}\n" in said.err
    assert "at login.example:" in said.err
    assert "waits for five minutes" in said.err
    assert "CAREFUL" not in said.err
    assert (ALONE in said.err) is alone
    shown(ADDRESS, False, ())  # the browser did not open
    said = capsys.readouterr()
    assert "open that address yourself" in said.err
    assert (ALONE in said.err) is not pastes


def test_what_may_deceive_stands_before_what_is_to_be_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line each, under the address, on one line whatever it holds."""
    Shown(SERVER, pastes=True)(ADDRESS, False, ("one", "two\n\x1b[2J"))
    said = capsys.readouterr().err
    assert "CAREFUL: one\nCAREFUL: two" in said
    assert "\x1b[2J" not in said
    assert said.index(ADDRESS) < said.index("CAREFUL") < said.index("It is not opened by itself")
