"""Logging in to servers, what the login is good for, and what does not work."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from lockgate.testing.listening import free_port, running
from lockgate.testing.login_bench import SECRETS, LoginBench, LoginServer
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, tool

PROGRAM = Path(__file__).with_name("oauth_program.py")


@pytest.mark.req("S3-16")
async def test_a_login_from_its_beginning_to_its_end(project: Project, bench: LoginBench) -> None:
    """Log in, call, outlive an expiry, and log out: then nothing is left, here or there."""
    refused = await bench.echoed()
    assert "nobody is logged in; log in with: lockgate mcp login notes" in refused
    assert bench.server.asked_for == []  # nothing asks for tokens by itself

    done = await bench.run("mcp", "login", "notes", env=bench.browser)
    assert done.returncode == 0, done.stderr
    assert f"Logged in to notes at {bench.server.issuer}." in done.stdout
    assert "renewed by itself" in done.stdout
    assert "which only you can read" in done.stdout
    assert f"at 127.0.0.1:{bench.server.port}:" in done.stderr
    assert "lockgate is logged in to notes. You can close this page." in bench.page
    assert stat.S_IMODE(bench.file.stat().st_mode) == 0o600

    assert '"text":"hi"' in (await bench.echoed()).replace(" ", "")
    bench.server.expire()
    assert '"text":"hi"' in (await bench.echoed()).replace(" ", "")
    grants = [asked["grant_type"] for asked in bench.server.asked_for]
    assert grants == ["authorization_code", "refresh_token"]

    files = [path for path in project.root.rglob("*") if path.is_file()]
    holding = {path for path in files if SECRETS.search(path.read_text("utf-8", "replace"))}
    assert holding == {bench.file}  # no record, no list, no file of what was last seen

    (listed,) = (await bench.report("mcp", "list"))["servers"]
    assert listed["login"]["state"] == "logged-in"
    assert listed["login"]["issuer"] == bench.server.issuer

    done = await bench.run("mcp", "logout", "notes")
    assert done.returncode == 0
    assert "forgotten here, and taken back there" in done.stdout
    assert [asked["token_type_hint"] for asked in bench.server.revoked] == [
        "refresh_token",
        "access_token",
    ]
    assert json.loads(bench.file.read_text())["logins"] == []
    assert "not logged in" in (await bench.run("mcp", "list")).stdout
    assert "nobody is logged in" in await bench.echoed()


async def test_a_real_authorization_server(project: Project) -> None:
    """FastMCP's: registration, the log-in, calls, renewing, and that it takes tokens back."""
    bench = LoginBench(project)
    port = free_port()
    project.add_url("guarded", f"http://127.0.0.1:{port}/mcp", auth="oauth")
    project.sections["permissions"] = {
        "allow": [{"rule": "mcp__guarded__add(...)", "when": "any", "destructive": True}]
    }
    async with running(sys.executable, str(PROGRAM), str(port), "3", port=port):
        done = await bench.run("mcp", "login", "guarded", env=bench.browser)
        assert done.returncode == 0, done.stderr
        assert "scopes: notes:read" in done.stdout
        for number in ("1", "2"):
            called = await bench.run("call", "mcp__guarded__add", f"number={number}")
            assert (called.returncode, called.stdout.strip()) == (0, number), called.stderr
        done = await bench.run("mcp", "logout", "guarded")
        assert "forgotten here, and taken back there" in done.stdout, done.stdout


async def test_two_processes_renew_once(project: Project, bench: LoginBench) -> None:
    """A refresh token is good for one use: who comes second takes what the first one got."""
    await bench.run("mcp", "login", "notes", env=bench.browser)
    bench.server.expire()
    answers = await asyncio.gather(*(bench.echoed() for _ in range(3)))
    assert all('"hi"' in answer for answer in answers), answers
    renewals = [each for each in bench.server.asked_for if each["grant_type"] == "refresh_token"]
    assert len(renewals) == 1


@pytest.mark.req("S3-08")
@pytest.mark.req("S3-10")
async def test_what_ran_out_for_good_is_told_and_the_others_start(
    project: Project, bench: LoginBench
) -> None:
    """The reason of that server says what a person has to do; nobody is asked at the start."""
    project.add("other", ScriptedServer(tools=(tool("look"),)))
    await bench.run("mcp", "login", "notes", env=bench.browser)
    bench.server.expire()
    bench.server.renewing.clear()
    found = await bench.report("doctor")
    states = {server["name"]: server for server in found["servers"]}
    assert states["other"]["state"] == "ready"
    assert states["notes"]["state"] == "failed"
    assert "lockgate mcp login notes" in states["notes"]["reason"]
    assert states["notes"]["login"]["state"] == "expired"
    again = await bench.run("mcp", "login", "notes", env=bench.browser)
    assert again.returncode == 0
    assert '"hi"' in await bench.echoed()


async def test_a_scope_that_nobody_granted_is_asked_for_at_the_next_login(
    project: Project, bench: LoginBench
) -> None:
    """Unattended it is an error that says so; lists show that more is wanted."""
    bench.server.challenge = {"scope": "read"}
    await bench.run("mcp", "login", "notes", env=bench.browser)
    bench.server.needed["tools/call"] = "read write"
    refused = await bench.echoed()
    assert "it wants the scope" in refused
    assert "lockgate mcp login notes" in refused
    shown = (await bench.run("mcp", "get", "notes")).stdout
    assert "wants more" in shown
    await bench.run("mcp", "login", "notes", env=bench.browser)
    assert '"hi"' in await bench.echoed()


# ------------------------------------------------------------------ what does not work


async def test_who_says_no_is_not_logged_in(project: Project, bench: LoginBench) -> None:
    """The page and the terminal say so, and obey nothing of what the server says of it."""
    bench.server.declines = True
    done = await bench.run("mcp", "login", "notes", env=bench.browser)
    assert done.returncode == 1
    assert "refused the log-in: access_denied: n\\x1b[2Jo" in done.stderr
    page = bench.page
    assert "Not logged in" in page
    assert "access_denied" in page
    assert "\x1b" not in page + done.stderr
    assert not bench.file.exists() or not json.loads(bench.file.read_text())["logins"]


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({}, "has no auth: nobody logs in to it"),
        ({"headers": {"Authorization": "Bearer ${T:-x}"}}, "has a header Authorization"),
        ({"auth": {"type": "bearer", "token": "${T:-x}"}}, "or a token of its own"),
        ({"auth": {"type": "bearer", "tokenFile": "t"}}, "uses the token in"),
    ],
)
async def test_what_nobody_logs_in_to(project: Project, entry: dict[str, Any], told: str) -> None:
    """With what to do; the exit code is that of the configuration."""
    bench = LoginBench(project)
    project.add_url("far", "https://x.example/mcp", **entry)
    project.add("near", ScriptedServer())
    done = await bench.run("mcp", "login", "far")
    assert (done.returncode, told in done.stderr) == (2, True), done.stderr
    done = await bench.run("mcp", "login", "near")
    assert (done.returncode, "started as a program" in done.stderr) == (2, True)
    done = await bench.run("mcp", "login", "fra")
    assert (done.returncode, "did you mean far?" in done.stderr) == (2, True)


async def test_a_server_that_is_not_there(project: Project) -> None:
    """Another exit code than that of somebody who says no."""
    bench = LoginBench(project)
    project.add_url("gone", f"http://127.0.0.1:{free_port()}/mcp", auth="oauth")
    done = await bench.run("mcp", "login", "gone")
    assert done.returncode == 5, done.stderr
    assert "error: gone: " in done.stderr


async def test_a_port_that_is_taken(project: Project, bench: LoginBench) -> None:
    """Said before anybody is sent anywhere."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        project.servers[0]["auth"] = {"redirectPort": taken.getsockname()[1]}
        done = await bench.run("mcp", "login", "notes")
    assert done.returncode == 2
    assert "is in use" in done.stderr
    assert bench.server.heard == []


async def test_a_file_that_others_can_read_is_that_servers_trouble(
    project: Project, bench: LoginBench
) -> None:
    """Its reason says what to do; lists still work, and say it too."""
    await bench.run("mcp", "login", "notes", env=bench.browser)
    bench.file.chmod(0o644)
    done = await bench.run("doctor")
    assert done.returncode == 1
    assert "can be read by others" in done.stdout
    listed = await bench.run("mcp", "list")
    assert listed.returncode == 0
    assert "chmod 600" in listed.stderr
    bench.file.chmod(0o600)
    assert '"hi"' in await bench.echoed()


async def test_a_file_that_can_not_be_used_is_removed_by_logging_out_of_all(
    project: Project, bench: LoginBench
) -> None:
    """Said first; a logout from one server alone removes nothing."""
    bench.file.parent.mkdir(parents=True, exist_ok=True)
    for content, mode, why in (("{", 0o600, "is damaged"), ("{}", 0o644, "can be read by others")):
        bench.file.write_text(content)
        bench.file.chmod(mode)
        done = await bench.run("mcp", "logout", "notes")
        assert (done.returncode, bench.file.exists()) == (2, True)
        done = await bench.run("mcp", "logout", "--all")
        assert (done.returncode, bench.file.exists()) == (0, False), done.stderr
        assert why in done.stderr
        assert "Removed" in done.stdout
        assert "Nothing was taken back" in done.stdout


async def test_another_address_has_no_login(project: Project, bench: LoginBench) -> None:
    """A name that stands for another server now takes no token there."""
    await bench.run("mcp", "login", "notes", env=bench.browser)
    async with LoginServer() as other:
        project.servers[0]["url"] = other.url
        assert "nobody is logged in" in await bench.echoed()
        assert all("authorization" not in heard.headers for heard in other.heard)


async def test_logging_out_where_nobody_can_be_asked(project: Project, bench: LoginBench) -> None:
    """It is forgotten here all the same, and told; without a name to log out of, that is said."""
    await bench.run("mcp", "login", "notes", env=bench.browser)
    bench.server.metadata = {}
    rules = project.sections.pop("permissions")
    done = await bench.run("mcp", "remove", "notes")
    project.sections["permissions"] = rules
    assert "to forget it: lockgate mcp logout notes" in done.stderr
    done = await bench.run("mcp", "logout", "--all")
    assert done.returncode == 0
    assert "has no place to take tokens back" in done.stdout
    assert json.loads(bench.file.read_text())["logins"] == []
    assert "No login is kept." in (await bench.run("mcp", "logout", "--all")).stdout
    assert "Nobody is logged in to notes." in (await bench.run("mcp", "logout", "notes")).stdout
    assert (await bench.run("mcp", "logout", "ntoes")).returncode == 2
    assert (await bench.run("mcp", "logout")).returncode == 2
