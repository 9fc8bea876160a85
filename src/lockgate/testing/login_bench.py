"""A project with a server that people log in to, a browser without a window, and the commands.

async with LoginBench(project) as bench:
    await bench.run("mcp", "login", "notes", env=bench.browser)
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qsl

from lockgate.testing.http_heard import HttpExchange
from lockgate.testing.oauth_server import OAuthServer
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, tool
from lockgate.tools.naming import server_tool_name

SECRETS = re.compile(
    r"(?:access|refresh)-token-\d+-xyz|secret-of-client|code-number-\d|test_(?:access|refresh)_token_"
)
"""Everything secret that the servers of the tests give."""
TOOL = server_tool_name("notes", "echo")

_BROWSER = """
import sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=30) as answer:
    open(sys.argv[0] + ".page", "w").write(answer.read().decode())
"""


class LoginServer(OAuthServer):
    """A server with one tool, `echo`; it takes tokens back as well, and its person may say no."""

    def __init__(self) -> None:
        super().__init__(ScriptedServer(tools=(tool("echo"),)))
        self.revoked: list[dict[str, str]] = []
        """What was taken back: the fields of each request."""
        self.declines = False
        """Whether the person says no."""

    async def by_script(self, exchange: HttpExchange) -> None:
        """What the other one has, and this."""
        target = exchange.heard.target
        if target == "/revoke":
            self.revoked.append(dict(parse_qsl(exchange.heard.body.decode())))
            await exchange.answer(200)
        elif target.startswith("/authorize?") and self.declines:
            asked = dict(parse_qsl(target.partition("?")[2]))
            query = f"error=access_denied&error_description=n%1b[2Jo&state={asked['state']}"
            await exchange.answer(302, b"", {"location": f"{asked['redirect_uri']}?{query}"})
        else:
            await super().by_script(exchange)


class LoginBench:
    """The project, where the server is configured as `notes` and its tool may be called."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.server = LoginServer()

    async def __aenter__(self) -> Self:
        await self.server.__aenter__()
        self.server.metadata = {"revocation_endpoint": f"{self.server.origin}/revoke"}
        self.project.add_url("notes", self.server.url, auth="oauth")
        rule = {"rule": f"{TOOL}(...)", "when": "any", "destructive": True}
        self.project.sections["permissions"] = {"allow": [rule]}
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.server.__aexit__(kind, error, trace)

    @property
    def browser(self) -> Mapping[str, str]:
        """The environment of a person with a browser; it goes where it is sent."""
        program = self.project.root / "browser.py"
        program.write_text(_BROWSER)
        return {"BROWSER": f"{sys.executable} {program} %s"}

    @property
    def page(self) -> str:
        """The page that the browser ended at."""
        return (self.project.root / "browser.py.page").read_text()

    @property
    def file(self) -> Path:
        """The file of logins."""
        return self.project.state / "lockgate" / "credentials.json"

    @property
    def kept(self) -> list[Any]:
        """The logins in it."""
        return json.loads(self.file.read_text())["logins"] if self.file.exists() else []

    async def run(self, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command, while servers of this loop go on.

        AssertionError if what it says has a secret, or a fault of ours, in it.
        """
        done = await asyncio.to_thread(self.project.run, *words, **options)
        said = done.stdout + done.stderr
        if SECRETS.search(said) or "Traceback" in said or "internal error" in said:
            raise AssertionError(said)
        return done

    async def report(self, *words: str, **options: Any) -> Any:
        """What a command says with --json."""
        done = await self.run(*words, "--json", **options)
        if not done.stdout:
            raise AssertionError(done.stderr)
        return json.loads(done.stdout)

    async def echoed(self, **options: Any) -> str:
        """Call the tool; all that is said of it."""
        done = await self.run("call", TOOL, "text=hi", **options)
        return done.stdout + done.stderr
