"""Who asks where nobody logs in, or not here: programs, keyrings, terminals, other machines."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import socket
from urllib.parse import parse_qsl

import pytest

import lockgate
from lockgate import Challenge, Text, ToolResult
from lockgate.errors import LocalError
from lockgate.testing.login_bench import SECRETS, LoginBench
from lockgate.testing.project import Project
from lockgate.testing.terminal import AtTerminal, StartAtTerminal

KEYRING = """
import json, os
from keyring.backend import KeyringBackend

class Ring(KeyringBackend):
    priority = 5
    path = os.environ["TEST_KEYRING"]

    def _all(self):
        return json.load(open(self.path)) if os.path.exists(self.path) else {}

    def get_password(self, service, username):
        return self._all().get(service + "/" + username)

    def set_password(self, service, username, password):
        json.dump({**self._all(), service + "/" + username: password}, open(self.path, "w"))

    def delete_password(self, service, username):
        kept = self._all()
        del kept[service + "/" + username]
        json.dump(kept, open(self.path, "w"))
"""
"""A keyring in a file of the test's."""


# ------------------------------------------------------------------ where nobody logs in


async def test_a_program_that_is_the_client_needs_no_login(
    project: Project, bench: LoginBench
) -> None:
    """`login` says so and tries it once; calls get their tokens by themselves."""
    project.servers[0]["auth"] = {
        "grant": "client-credentials",
        "clientId": "me",
        "clientSecret": "${CLIENT_SECRET}",
        "issuer": bench.server.issuer,
    }
    secret = {"CLIENT_SECRET": "SEKRET-of-the-client"}
    done = await bench.run("mcp", "login", "notes", env=secret)
    assert done.returncode == 0, done.stderr
    assert "notes needs no login: the program itself is the client" in done.stderr
    assert '"hi"' in await bench.echoed(env=secret)
    assert {asked["grant_type"] for asked in bench.server.asked_for} == {"client_credentials"}
    (listed,) = (await bench.report("mcp", "list", env=secret))["servers"]
    assert listed["login"]["state"] == "not-needed"
    assert listed["auth"]["clientSecret"] == "${CLIENT_SECRET}"
    bench.server.refusal = (401, {"error": "invalid_client"})
    done = await bench.run("mcp", "login", "notes", env=secret)
    assert done.returncode == 1
    assert "SEKRET" not in done.stdout + done.stderr


async def test_a_token_in_a_file_that_changes(project: Project, bench: LoginBench) -> None:
    """It is read again when the server refuses, and nothing restarts."""
    token = project.root / "token"
    token.write_text("first-token\n")
    bench.server.valid["first-token"] = bench.server.valid["second-token"] = ""
    project.servers[0]["auth"] = {"type": "bearer", "tokenFile": "token"}
    async with lockgate.open(project.write(), attended=False) as gate:
        assert "hi" in await text_of(gate)
        del bench.server.valid["first-token"]
        token.write_text("second-token\n")
        assert "hi" in await text_of(gate)
    token.write_text("")
    assert "is empty" in await bench.echoed()


# ------------------------------------------------------------------ a keyring


async def test_a_keyring_keeps_it(project: Project, bench: LoginBench) -> None:
    """Then the file has no token, and another process finds it where it is."""
    modules = project.root / "modules"
    modules.mkdir()
    (modules / "ring_of_tests.py").write_text(KEYRING)
    ring = project.root / "ring.json"
    env = {
        **bench.browser,
        "PYTHONPATH": str(modules),
        "PYTHON_KEYRING_BACKEND": "ring_of_tests.Ring",
        "TEST_KEYRING": str(ring),
    }
    done = await bench.run("mcp", "login", "notes", env=env)
    assert "kept in: the keyring of this system" in done.stdout, done.stderr
    assert SECRETS.search(ring.read_text())
    assert not SECRETS.search(bench.file.read_text())
    assert '"hi"' in await bench.echoed(env=env)
    no_ring = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
    assert "the keyring, for the login of notes, can not be used" in await bench.echoed(env=no_ring)
    await bench.run("mcp", "logout", "notes", env=env)
    assert json.loads(ring.read_text()) == {}


# ------------------------------------------------------------------ at a terminal


def address_shown(shown: str) -> str:
    """The address that a person is to open."""
    (address,) = re.findall(r"^http://\S+/authorize\?\S+$", shown, re.MULTILINE)
    return str(address)


async def ended_at(address: str) -> str:
    """Where a browser elsewhere ends: the address, which does not load there."""
    host, port = address.split("/")[2].split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    path = "/" + address.split("/", 3)[3]
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    writer.close()
    (found,) = re.findall(r"^location: (\S+)", head, re.MULTILINE)
    return str(found)


PASTE = "Or paste the address that your browser ends at: "


async def test_a_browser_on_another_machine(
    project: Project, bench: LoginBench, start: StartAtTerminal
) -> None:
    """The address is printed, with its host; the one that it ends at is pasted. Others are not
    taken, and the state of the terminal is as before."""
    terminal: AtTerminal = start("mcp", "login", "notes", "--no-browser")
    shown = await asyncio.to_thread(terminal.until, PASTE)
    assert "Open that address in a browser." in shown
    terminal.type("https://x.example/?code=1\n")
    again = await asyncio.to_thread(terminal.until, PASTE)
    assert "that is not the address it ends at" in again
    terminal.type(f"{await ended_at(address_shown(shown))}\n")
    end = await asyncio.to_thread(terminal.end)
    assert "Logged in to notes at " in end
    assert SECRETS.search(end.partition("Logged in")[2]) is None
    assert terminal.process.returncode == 0
    assert terminal.settings() == terminal.before
    assert '"hi"' in await bench.echoed()


@pytest.mark.parametrize("how", ["key", "signal"])
async def test_giving_up(
    project: Project, bench: LoginBench, start: StartAtTerminal, how: str
) -> None:
    """Ctrl+C ends it at once: nothing listens, nothing is kept, the terminal is as it was."""
    terminal: AtTerminal = start("mcp", "login", "notes", "--no-browser")
    shown = await asyncio.to_thread(terminal.until, PASTE)
    uri = dict(parse_qsl(address_shown(shown).partition("?")[2]))["redirect_uri"]
    if how == "key":
        terminal.type("\x03")
    else:
        terminal.process.send_signal(signal.SIGINT)
    await asyncio.to_thread(terminal.end)
    assert terminal.process.returncode == 130
    assert terminal.settings() == terminal.before
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(uri.split(":")[2].split("/")[0]))) != 0
    assert bench.server.asked_for == []


# ------------------------------------------------------------------ from Python


async def text_of(gate: lockgate.Gate) -> str:
    """What the tool answers."""
    result = await gate.call("mcp__notes__echo", {"text": "hi"})
    assert isinstance(result, ToolResult)
    return "".join(block.text for block in result.content if isinstance(block, Text))


async def test_programs_use_logins_that_are_kept(
    project: Project, bench: LoginBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`lockgate.open` finds what `lockgate mcp login` left, and renews it."""
    await bench.run("mcp", "login", "notes", env=bench.browser)
    for name, value in project.environ().items():
        monkeypatch.setenv(name, value)
    async with lockgate.open(project.write(), attended=False) as gate:
        assert "hi" in await text_of(gate)
        bench.server.expire()
        assert "hi" in await text_of(gate)
        assert "access-token" not in repr(gate.config) + repr(gate.mcp)


async def test_a_program_hands_in_its_own(project: Project, bench: LoginBench) -> None:
    """One function, asked at first and after a refusal; what it gives goes over `auth`."""
    asked: list[int | None] = []
    given = iter(("Bearer first", "Bearer second"))
    bench.server.valid["second"] = ""

    async def token(refused: Challenge | None) -> str | None:
        asked.append(None if refused is None else refused.status)
        return next(given)

    sources = {"notes": token}
    async with lockgate.open(project.write(), attended=False, token_sources=sources) as gate:
        assert "hi" in await text_of(gate)
    assert asked == [None, 401]
    with pytest.raises(LocalError, match="token_sources names 'ntoes'"):
        async with lockgate.open(project.file, token_sources={"ntoes": token}):
            pytest.fail("it opened")


async def test_what_a_programs_own_source_raises_fails_the_server_alone(
    project: Project, bench: LoginBench
) -> None:
    """By its kind: its text may hold what it got."""

    async def token(refused: Challenge | None) -> str | None:
        raise RuntimeError("SEKRET")

    async with lockgate.open(
        project.write(), attended=False, token_sources={"notes": token}
    ) as gate:
        assert gate.report is not None
        reason = gate.report.errors["notes"]
    assert "handed in failed (RuntimeError)" in reason
    assert "SEKRET" not in reason
