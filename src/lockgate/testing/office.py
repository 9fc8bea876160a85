"""Sub-agents at work on a workbench: for trying definitions, and who asks whom for what."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockgate.agent.children import Children
from lockgate.agent.definitions.folders import by_name
from lockgate.agent.model import Hearing, ModelReply, ModelRequest, ToolCall, UserMessage
from lockgate.agent.subagents.background import Background
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.agent.subagents.listing import ListAgents
from lockgate.agent.subagents.task import Task
from lockgate.policy.approval import Approver
from lockgate.testing.model import FakeModel, Shown, Step
from lockgate.testing.workbench import Workbench
from lockgate.tools.tool import Tool


class PromptedModel:
    """Follows the script of the last prompt in the transcript; without one it says `"done"`.

    So a parent and its children, which share a model, have a script each, whatever runs first.
    """

    name = "prompted"

    def __init__(self, scripts: Mapping[str, Iterable[Step]]) -> None:
        """By prompt, as a person or a parent gives it."""
        self._models = {prompt: FakeModel(steps) for prompt, steps in scripts.items()}

    def seen(self, prompt: str) -> list[Shown]:
        """What was shown for a prompt, once for each reply."""
        return self._models[prompt].seen

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """The next step of the script."""
        prompts = [m.text for m in request.transcript if isinstance(m, UserMessage)]
        model = self._models.setdefault(prompts[-1], FakeModel())
        return await model.reply(request, heard)


@dataclass(frozen=True, slots=True)
class Office:
    """A workbench with `Task` and `list_agents`."""

    bench: Workbench
    children: Children
    background: Background


@asynccontextmanager
async def office(
    directory: Path,
    tools: Iterable[Tool] = (),
    definitions: Iterable[AgentDefinition] = (),
    *,
    approvers: Sequence[Approver] = (),
    grace: float = 5.0,
    **children: Any,
) -> AsyncGenerator[Office]:
    """A workbench in `directory`. `grace` is `Background`'s, `children` what `Children` takes."""
    started = Children(**children)
    background = Background(started, grace=grace)
    known = by_name(definitions)
    ours = Task(known, started, background), ListAgents(known, background)
    async with Workbench(directory, [*tools, *ours], approvers=approvers) as bench:
        started.serve(bench.runtime)
        yield Office(bench, started, background)


def task(agent: str, prompt: str = "do it", **more: Any) -> ModelReply:
    """A reply that starts a sub-agent."""
    return calling(("Task", {"agent": agent, "prompt": prompt, **more}))


def calling(*wanted: tuple[str, Mapping[str, Any]]) -> ModelReply:
    """A reply that makes these calls, each a tool with its arguments."""
    calls = (ToolCall(f"call-{n}", name, given) for n, (name, given) in enumerate(wanted))
    return ModelReply(calls=tuple(calls))
