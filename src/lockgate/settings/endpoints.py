"""How one configured server is reached, once all layers are joined."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from lockgate.mcp.endpoint import Endpoint, HttpEndpoint, SseEndpoint, StdioEndpoint
from lockgate.settings.findings import Findings
from lockgate.settings.reading import Draft, Given
from lockgate.settings.server_keys import CONNECTED_BY, STARTED_BY


def endpoint_of(
    name: str,
    given: Given,
    value: Callable[[str], Any],
    findings: Findings,
    project_dir: Path,
    *,
    bearer: str | None = None,
) -> Endpoint | None:
    """The endpoint of server `name`; None after a finding.

    `given` holds its draft, `value` gives a key of it or its default. `bearer` is the value of its
    `Authorization`, where `auth` says it.
    """
    draft: Draft = given.value
    transport: str = value("transport")
    foreign = [key for key in (*STARTED_BY, *CONNECTED_BY) if _is_foreign(key, transport, draft)]
    if "url" in foreign and "command" not in draft and "transport" not in draft:
        where = draft["url"]
        what = f'server "{name}" has a url and no transport'
        hint = "add transport: streamable-http, or sse for a server of before 2025"
        findings.add(where.place, where.path, what, hint)
        return None
    for key in foreign:
        belongs = "stdio" if key in STARTED_BY else "streamable-http and sse"
        what = f'server "{name}": {key} belongs to transport {belongs}, and this one is {transport}'
        hint = f"take {key} out, or change the transport"
        findings.add(draft[key].place, draft[key].path, what, hint)
    needed = "command" if transport == "stdio" else "url"
    if needed not in draft:
        hint = "add command: PROGRAM" if needed == "command" else "add url: https://<host>/<path>"
        findings.add(given.place, given.path, f'server "{name}" has no {needed}', hint)
        return None
    if foreign or not value(needed):
        return None
    if transport == "stdio":
        said = value("cwd")
        return StdioEndpoint(
            value("command"),
            value("args"),
            dict(value("env")),
            said or project_dir,
            cwd_said=said is not None,
            project=project_dir,
        )
    kind = SseEndpoint if transport == "sse" else HttpEndpoint
    tls: Draft = value("tls")
    files = {key: Path(one.value) for key, one in tls.items()}
    headers = dict(value("headers"))
    if bearer is not None:
        headers["Authorization"] = bearer
    try:
        return kind(
            value("url"),
            headers,
            files.get("caFile"),
            files.get("clientCert"),
            files.get("clientKey"),
            value("proxy"),
            project_dir,
        )
    except ValueError as error:
        findings.add(given.place, given.path, f'server "{name}": {error}')
        return None


def _is_foreign(key: str, transport: str, draft: Draft) -> bool:
    return key in draft and key not in (STARTED_BY if transport == "stdio" else CONNECTED_BY)
