"""The echo server for machines without a C compiler: the same frames, at a higher cost of its own.

It is a process of its own, so its cost is not in a client's CPU time; it is in the wall time.
"""

from __future__ import annotations

import json
import sys
from typing import Any

TOOL = {
    "name": "echo",
    "description": "Answers a fixed text.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
    "annotations": {"readOnlyHint": True},
}
INFO = {"name": "echo", "version": "1"}
KEEP = {"resultType": "complete", "cacheScope": "private", "ttlMs": 3_600_000}


def answers(modern: bool, payload: str) -> dict[str, dict[str, Any]]:
    """The result of every method this server knows."""
    call: dict[str, Any] = {"content": [{"type": "text", "text": payload}], "isError": False}
    listing: dict[str, Any] = {"tools": [TOOL]}
    if not modern:
        hello: dict[str, Any] = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": INFO,
        }
        return {"tools/call": call, "tools/list": listing, "initialize": hello, "ping": {}}
    found: dict[str, Any] = {
        "supportedVersions": ["2026-07-28"],
        "capabilities": {"tools": {}},
        "serverInfo": INFO,
        "_meta": {"io.modelcontextprotocol/serverInfo": INFO},
    }
    return {
        "tools/call": {"resultType": "complete", **call},
        "tools/list": {**KEEP, **listing},
        "server/discover": {**KEEP, **found},
        "ping": {},
    }


def main() -> None:
    """Answer every frame until the input ends."""
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
    payload = "x" * int(options["--payload"]) if "--payload" in options else "ok"
    known = {
        method: json.dumps(result, separators=(",", ":"))
        for method, result in answers(options.get("--era") == "modern", payload).items()
    }
    error = '"error":{"code":-32601,"message":"Method not found"}'
    for line in sys.stdin.buffer:
        frame: dict[str, Any] = json.loads(line)
        if "id" in frame and "method" in frame:
            result = known.get(frame["method"])
            body = f'"result":{result}' if result is not None else error
            text = f'{{"jsonrpc":"2.0","id":{json.dumps(frame["id"])},{body}}}\n'
            sys.stdout.buffer.write(text.encode())
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
