"""A scripted server's tasks: what they come to, what was asked of them, how often work was begun.

    book = TaskBook(working("compiling"), completed("done"))
    server = LoopServer(ScriptedServer(revisions=MODERN, rules=book.rules()))

Only for servers in the event loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lockgate.testing.script import When
from lockgate.testing.steps import Answer, Do, JsonObject, Message, Step

HANDLE = "handle-of-a-task"
"""The handle of every task."""
CAPABLE: Mapping[str, Any] = {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}
"""What such a server declares."""


def working(words: str | None = None, **more: Any) -> dict[str, Any]:
    """A task under way, with the server's `words`."""
    return {"status": "working", **({} if words is None else {"statusMessage": words}), **more}


def completed(text: str = "done", **more: Any) -> dict[str, Any]:
    """One that came to a result of this text."""
    result = {"content": [{"type": "text", "text": text}], "resultType": "complete"}
    return {"status": "completed", "result": result, **more}


def asking(**requests: JsonObject) -> dict[str, Any]:
    """One that wants to know something: requests, by key."""
    return {"status": "input_required", "inputRequests": requests}


class TaskBook:
    """Keeps the tasks of one server, which are all the same one."""

    def __init__(
        self, *stages: JsonObject | Step, created: Mapping[str, Any] | None = None
    ) -> None:
        """`stages` are what the looks at it see, in order; the last one for good. Members of a
        task, `{"error": {...}}`, or a step, such as `Exit`. `created` are members of the handle."""
        self.begun = 0
        """How often a call was taken as a task."""
        self.looks = 0
        self.given: list[dict[str, Any]] = []
        """The answers it got, one for each update."""
        self.cancelled = 0
        self.names: list[Any] = []
        """The handles that were asked for."""
        self._stages = list(stages) or [completed()]
        self._created = {"pollIntervalMs": 200, **(created or {})}

    def rules(self) -> tuple[When, ...]:
        """What the server does."""
        return (
            When("tools/call", Do(self._call)),
            When("tasks/get", Do(self._get)),
            When("tasks/update", Do(self._update)),
            When("tasks/cancel", Do(self._cancel)),
        )

    def then(self, *stages: JsonObject | Step) -> None:
        """From now on looks see this."""
        self._stages = list(stages)

    async def _call(self, message: Message) -> Step:
        self.begun += 1
        return Answer(result=self._task({"status": "working", **self._created}, "task"))

    async def _get(self, message: Message) -> Step:
        self.looks += 1
        self.names.append(message["params"].get("taskId"))
        stage = self._stages.pop(0) if len(self._stages) > 1 else self._stages[0]
        if not isinstance(stage, Mapping):
            return stage
        if "error" in stage and "status" not in stage:
            return Answer(error=stage["error"])
        polled = {"pollIntervalMs": self._created.get("pollIntervalMs")}
        return Answer(result=self._task({**polled, **stage}, "complete"))

    async def _update(self, message: Message) -> Step:
        self.given.append(message["params"].get("inputResponses"))
        return Answer(result={"resultType": "complete"})

    async def _cancel(self, message: Message) -> Step:
        self.cancelled += 1
        return Answer(result={"resultType": "complete"})

    def _task(self, members: Mapping[str, Any], kind: str) -> dict[str, Any]:
        made = "2026-07-28T10:00:00Z"
        return {
            "resultType": kind,
            "taskId": HANDLE,
            "createdAt": made,
            "lastUpdatedAt": made,
            "ttlMs": None,
            **{name: value for name, value in members.items() if value is not None},
        }
