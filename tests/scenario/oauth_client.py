"""A program of its own that calls a server with a login that is kept in a file.

    oauth_client.py URL FILE COUNT

Prints what came of COUNT calls that were begun at once, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import sys
from pathlib import Path

from lockgate.errors import PeerError
from lockgate.mcp.client.connect import connect
from lockgate.mcp.client.oauth.plan import OAuthPlan
from lockgate.mcp.client.oauth.source import OAuthTokens
from lockgate.mcp.client.tools import ToolClient
from lockgate.mcp.endpoint import HttpEndpoint
from lockgate.mcp.protocol.outgoing import ClientIdentity
from lockgate.mcp.transport.streamable_http import StreamableHttpTransport
from lockgate.stores.credentials import KeptCredentials
from lockgate.stores.system_keyring import SystemKeyring


async def main(url: str, file: Path, count: int) -> list[object]:
    """Call it; what came."""
    endpoint = HttpEndpoint(url)
    store = KeptCredentials(
        file, new_id=lambda: secrets.token_hex(8), keyring=SystemKeyring(), kept_in="file"
    )
    tokens = OAuthTokens(endpoint, OAuthPlan(), peer="notes", store=store, environ={})
    transport = StreamableHttpTransport(endpoint, peer="notes", environ={}, tokens=tokens)
    session = await connect(transport, peer="notes", client=ClientIdentity("test", "1"))
    try:
        client = ToolClient(session)
        calls = (client.call("add", {"number": number}) for number in range(count))
        return [result.structured for result in await asyncio.gather(*calls)]
    finally:
        await session.close()


if __name__ == "__main__":
    try:
        print(json.dumps(asyncio.run(main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))))
    except PeerError as error:
        print(json.dumps(str(error)))
