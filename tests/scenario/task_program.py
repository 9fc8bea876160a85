"""A server over stdio whose tasks outlive it: what it has begun and cancelled stands in a file.

    python task_program.py FILE [STAGE ...]

Each look at a task takes the next STAGE that is not in the file yet: `work` is answered with a task
under way, `die` ends the process without an answer, `forget` with an error, and after the last one
it is completed.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

TASK = "a-task-of-the-program"
TOOL: dict[str, Any] = {"name": "build", "inputSchema": {"type": "object"}}
CAPABLE: dict[str, Any] = {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}


def note(file: Path, word: str) -> None:
    """Add a word to what has happened."""
    with file.open("a", encoding="utf-8") as log:
        log.write(f"{word}\n")


def noted(file: Path) -> list[str]:
    """What has happened, in order."""
    return file.read_text("utf-8").split() if file.exists() else []


def look(file: Path, stages: Sequence[str]) -> dict[str, Any]:
    """How the task stands; may end the process."""
    looks = noted(file).count("look")
    note(file, "look")
    stage = stages[looks] if looks < len(stages) else "end"
    if stage == "die":
        os._exit(1)
    if stage == "forget":
        return {"error": {"code": -32602, "message": "Task not found"}}
    task = {"taskId": TASK, "status": "working", "ttlMs": None, "pollIntervalMs": 200}
    if stage == "end":
        content = [{"type": "text", "text": f"begun {noted(file).count('begun')} times"}]
        task |= {"status": "completed", "result": {"content": content}}
    return {"result": {"resultType": "complete", **task}}


def answer(method: str, file: Path, stages: Sequence[str]) -> dict[str, Any]:
    """The members of the answer to one request."""
    if method == "server/discover":
        listed = {"supportedVersions": ["2026-07-28"], "capabilities": CAPABLE}
        return {"result": {"resultType": "complete", "serverInfo": {"name": "x"}, **listed}}
    if method == "tools/list":
        return {"result": {"resultType": "complete", "tools": [TOOL], "ttlMs": 3_600_000}}
    if method == "tools/call":
        note(file, "begun")
        task = {"taskId": TASK, "status": "working", "ttlMs": None, "pollIntervalMs": 200}
        return {"result": {"resultType": "task", **task}}
    if method == "tasks/get":
        return look(file, stages)
    if method == "tasks/cancel":
        note(file, "cancelled")
        return {"result": {"resultType": "complete"}}
    return {"error": {"code": -32601, "message": "Method not found"}}


def main(file: Path, stages: Sequence[str]) -> None:
    """Answer until the input ends."""
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" in message and "method" in message:
            told = {"jsonrpc": "2.0", "id": message["id"]}
            told |= answer(message["method"], file, stages)
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
