"""Servers whose tokens are got by a client of the operator's."""

from __future__ import annotations

import time
from pathlib import Path

from lockgate.app.servers import make_manager
from lockgate.app.token_sources import TokenSources
from lockgate.mcp.client.oauth.plan import ClientCredentials, OAuthPlan
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import Config
from lockgate.testing.oauth_bench import oauth_bench
from lockgate.tools.registry import Registry

SECRET = "the-secret-of-client"  # noqa: S105 - of a scripted server


async def test_a_grant_that_is_an_extension_is_declared(tmp_path: Path) -> None:
    """extensions/auth/oauth-client-credentials: a client says in each request that it has it. The
    server is ready, its secrets are hidden."""
    async with oauth_bench() as bench:
        plan = OAuthPlan(ClientCredentials("program", SECRET), issuer=bench.server.issuer)
        server = ServerSettings("notes", bench.server.endpoint(), auth=plan)
        config = Config((server,))
        tokens = TokenSources(config, {}, lambda: bench.store, time=time.time)
        manager = make_manager(
            config, tmp_path, environ={}, time=time.time, monotonic=time.monotonic, tokens=tokens
        )
        assert manager is not None
        report = await manager.start(Registry())
        await manager.close()
        assert report.failed == ()
        (asked,) = (
            heard.message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
            for heard in bench.server.told("server/discover")[-1:]
        )
        assert asked["extensions"]["io.modelcontextprotocol/oauth-client-credentials"] == {}
        assert SECRET in tokens.learned("notes")
