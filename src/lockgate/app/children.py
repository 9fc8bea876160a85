"""The tools of a gate that have executions of their own work: sub-agents and skills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from lockgate.agent.definitions.folders import by_name
from lockgate.settings.config import Config
from lockgate.tools.tool import Tool

if TYPE_CHECKING:  # the loop of an agent: a gate without such tools needs none of it
    from lockgate.agent.children import Children
    from lockgate.agent.runtime import AgentRuntime


@dataclass(frozen=True, slots=True)
class ChildTools:
    """Tools, and what they start executions with: to be told of their runtime once it is there."""

    tools: tuple[Tool, ...] = ()
    children: Children | None = None

    def serve(self, runtime: AgentRuntime) -> None:
        """Executions run on `runtime`."""
        if self.children is not None:
            self.children.serve(runtime)


AGENT_TOOLS: Final = ("Task", "list_agents")
"""Of the tools that `builtin` may name, those that are made here; with sub-agents that are defined
they are there without being named."""
MADE_HERE: Final = (*AGENT_TOOLS, "Skill")
"""All that `builtin` may name and that is made here; `Skill` is there exactly with skills."""


def brought(config: Config) -> tuple[str, ...]:
    """The tools that are there because of what is defined, named under `builtin` or not."""
    agents = AGENT_TOOLS if config.agent.agents else ()
    return (*agents, "Skill") if config.agent.skills else agents


def child_tools(config: Config) -> ChildTools:
    """The tools that a configuration gives reason for.

    Raises `ConfigError` for two skills, or two sub-agents, of one name.
    """
    skills, agents = by_name(config.agent.skills), by_name(config.agent.agents)
    named = [name for name in AGENT_TOOLS if agents or name in config.builtin]
    if not skills and not named:
        return ChildTools()
    from lockgate.agent.children import Children
    from lockgate.agent.skills.forking import SkillForks
    from lockgate.agent.skills.tool import Skill
    from lockgate.agent.subagents.background import Background
    from lockgate.agent.subagents.listing import ListAgents
    from lockgate.agent.subagents.task import Task

    children = Children(model=config.agent.model, limits=config.agent.limits)
    background = Background(children)
    made: list[Tool] = []
    if "Task" in named:
        made.append(Task(agents, children, background))
    if "list_agents" in named:
        made.append(ListAgents(agents, background))
    if skills:
        made.append(Skill(skills, forked=SkillForks(children)))
    return ChildTools(tuple(made), children)
