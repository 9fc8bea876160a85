"""The tools of a gate that have executions of their own work: skills."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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


def child_tools(config: Config) -> ChildTools:
    """The tools that a configuration gives reason for.

    Raises `ConfigError` for two skills of one name.
    """
    skills = by_name(config.agent.skills)
    if not skills:
        return ChildTools()
    from lockgate.agent.children import Children
    from lockgate.agent.skills.forking import SkillForks
    from lockgate.agent.skills.tool import Skill

    children = Children(model=config.agent.model)
    forks = SkillForks(children)
    return ChildTools((Skill(skills, forked=forks, by_person=forks.by_person),), children)
