"""What `lockgate check` says of sub-agents: what can not be in force, and what is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.app.children import AGENT_TOOLS
from lockgate.app.finding import Finding
from lockgate.app.unmatched import unmatched_tool
from lockgate.errors import ConfigError
from lockgate.mcp.host.status import ServerStatus
from lockgate.rules.pattern import parse_pattern
from lockgate.schema.spelling import nearest
from lockgate.settings.config import Config
from lockgate.tools.registry import Snapshot
from lockgate.traits import SideEffectLevel


def agent_findings(
    config: Config,
    absent: Callable[[str | None, Config], tuple[str, str] | None],
    model_fault: Callable[[str], ConfigError | None],
) -> Iterator[Finding]:
    """Everything about sub-agents that needs no server. `absent` says why there is no tool of a
    name, `model_fault` what is wrong with the name of a model."""
    agents, agent = config.agent.agents, config.agent
    if not agents:
        return
    if agent.offer is not None and AGENT_TOOLS[0] not in agent.offer:
        what = "does not name Task, so no model can start the sub-agents"
        yield Finding("agent.offer", what, "add Task, or take out agent.agents")
    for one in agents:
        yield from _of_one(one, config, absent, model_fault)


def known_agent_findings(
    config: Config, snapshot: Snapshot, statuses: Sequence[ServerStatus]
) -> Iterator[Finding]:
    """The tools of sub-agents that no server has which is known."""
    for one in config.agent.agents:
        for text in one.tools or ():
            yield from unmatched_tool(
                text, f'its tools name "{text}", which', where_of(one), snapshot, statuses
            )


def where_of(agent: AgentDefinition) -> str:
    """How a sub-agent is named in a finding: by its file, where it has one."""
    return f"sub-agent {agent.name}" if agent.path is None else f"{agent.path} (sub-agent)"


def _of_one(
    agent: AgentDefinition,
    config: Config,
    absent: Callable[[str | None, Config], tuple[str, str] | None],
    model_fault: Callable[[str], ConfigError | None],
) -> Iterator[Finding]:
    where = where_of(agent)
    servers = {server.name for server in config.servers}
    for text in agent.tools or ():
        pattern = parse_pattern(text)
        if pattern.server is None:
            if (missing := absent(pattern.tool, config)) is not None:
                what, hint = missing
                yield Finding(where, f'its tools name "{text}": {what}', hint)
        elif pattern.server not in servers:
            near = nearest(pattern.server, servers, limit=1)
            hint = f"did you mean {near[0]}?" if near else None
            yield Finding(where, f'its tools name "{text}", of a server that is not there', hint)
    if agent.model is not None and (fault := model_fault(agent.model)) is not None:
        yield Finding(where, f"its model {agent.model} can not be used: {fault}")
    if (
        agent.ceiling is SideEffectLevel.MUTATING
        and config.agent.ceiling is SideEffectLevel.READ_ONLY
    ):
        what = "its ceiling is mutating, and that of the agent read-only, which counts"
        yield Finding(where, what, note=True)
