"""The echo server for machines without a C compiler: the same frames, at a higher cost of its own.

It is a process of its own, so its cost is not in a client's CPU time; it is in the wall time.
Its options are those of `echo_server.c`.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
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


def answer(known: dict[str, str], line: bytes) -> str | None:
    """The answer to one frame, without an end of line; None if it is none to answer."""
    frame: dict[str, Any] = json.loads(line)
    if "id" not in frame or "method" not in frame:
        return None
    result = known.get(frame["method"])
    error = '"error":{"code":-32601,"message":"Method not found"}'
    body = f'"result":{result}' if result is not None else error
    return f'{{"jsonrpc":"2.0","id":{json.dumps(frame["id"])},{body}}}'


def serve_http(known: dict[str, str], kind: str) -> None:
    """Listen on a loopback port, say which, and serve until the input ends."""
    connections = 0
    streams: dict[str, BufferedIOBase] = {}
    streaming = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            nonlocal connections
            connections += 1
            super().setup()

        def reply(self, status: int, kind: str = "text/plain", body: str = "") -> None:
            data = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            nonlocal connections
            if self.path == "/connections":
                connections -= 1  # who asks does not count
                self.reply(200, body=str(connections))
            elif self.path == "/sse" and kind == "sse":
                self.stream()
            else:
                self.reply(405)

        def stream(self) -> None:
            """Begin a stream for all answers, and hold it until the client is gone."""
            self.close_connection = True
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            address = f"/sse?{connections}"
            with streaming:
                self.wfile.write(f"event: endpoint\r\ndata: {address}\r\n\r\n".encode())
                streams[address] = self.wfile
            self.rfile.read(1)
            with streaming:
                del streams[address]

        def do_DELETE(self) -> None:
            self.reply(405)

        def do_POST(self) -> None:
            frame = self.rfile.read(int(self.headers["Content-Length"]))
            text = answer(known, frame)
            if text is None:
                self.reply(202)
            elif kind == "sse":
                self.reply(202)
                with streaming:
                    if self.path in streams:
                        event = f"event: message\r\ndata: {text}\r\n\r\n"
                        streams[self.path].write(event.encode())
            elif kind == "events" and json.loads(frame)["method"] == "tools/call":
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                event = f"event: message\r\ndata: {text}\r\n\r\n".encode()
                self.wfile.write(b"%x\r\n%b\r\n0\r\n\r\n" % (len(event), event))
            else:
                self.reply(200, "application/json", text)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_port, flush=True)
        sys.stdin.read()
        server.shutdown()


def main() -> None:
    """Answer every frame until the input ends."""
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=False))
    time.sleep(int(options.get("--sleep", "0")) / 1000)
    payload = "x" * int(options["--payload"]) if "--payload" in options else "ok"
    known = {
        method: json.dumps(result, separators=(",", ":"))
        for method, result in answers(options.get("--era") == "modern", payload).items()
    }
    if "--http" in options:
        serve_http(known, options["--http"])
        return
    for line in sys.stdin.buffer:
        if (text := answer(known, line)) is not None:
            sys.stdout.buffer.write(text.encode() + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
