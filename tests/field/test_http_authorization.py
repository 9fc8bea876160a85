"""Field cases of servers over HTTP that want to be authorized, and say where to ask for that."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.testing.fleet import Fleet
from lockgate.testing.http_faults import page, status
from lockgate.testing.http_server import HttpServer
from lockgate.testing.script import ScriptedServer

TOKEN = "abcdef-0123456789"  # noqa: S105 - what nobody else may be sent
METADATA = "/.well-known/oauth-protected-resource"


@pytest.mark.req("S3-10")
@pytest.mark.parametrize("what", ["a page", "nothing in it", "elsewhere", "a megabyte"])
async def test_pb_083_metadata_of_no_use_costs_its_own_server(tmp_path: Path, what: str) -> None:
    """The server is reported failed, in a line that says it did not let us in; the one beside it
    is there and answers; what the answer points to gets no token of ours."""
    documents = {
        "a page": page("Sign in"),
        "nothing in it": status(200, {}),
        "elsewhere": status(200, {"authorization_servers": ["http://127.0.0.1:9"]}),
        "a megabyte": status(200, "[" + "1," * 500_000 + "1]"),
    }
    async with HttpServer(ScriptedServer()) as barred, HttpServer(ScriptedServer()) as foreign:
        origin = foreign.origin if what == "elsewhere" else barred.origin
        challenge = f'Bearer resource_metadata="{origin}{METADATA}"'
        barred.on(status(401, headers={"www-authenticate": challenge}))
        for server in (barred, foreign):
            server.on(documents[what], method="GET")
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with Fleet(tmp_path) as fleet:
            fleet.add("barred", barred.endpoint(headers=headers))
            fleet.add("good", ScriptedServer())
            report = await fleet.start()
            assert report.failed == ("barred",)
            reason = report.errors["barred"]
            assert "401" in reason
            assert "\n" not in reason
            assert TOKEN not in reason
            assert (await fleet.call("mcp__good__echo", a=1)).text == '{"a": 1}'
        assert all("authorization" not in heard.headers for heard in foreign.heard)
        assert len(barred.told("server/discover")) == 1
