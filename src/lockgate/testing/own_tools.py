"""Every tool that comes with lockgate, for tests and documents that go over all of them."""

from __future__ import annotations

from typing import Any, cast

from lockgate.agent.skills.tool import Skill
from lockgate.agent.subagents.listing import ListAgents
from lockgate.agent.subagents.task import Task
from lockgate.builtin.catalogue import in_tree
from lockgate.rules.in_tree import IN_TREE
from lockgate.tools.tool import Tool

_NOBODY: Any = cast("Any", None)
"""In the place of what starts executions: these tools are looked at and never run."""


def own_tools() -> tuple[Tool, ...]:
    """One of each, as they are without a configuration; not to be run."""
    agents = (Task({}, _NOBODY, _NOBODY), ListAgents({}, _NOBODY), Skill({}, forked=_NOBODY))
    apart = {tool.name for tool in agents}
    return (*in_tree([name for name in IN_TREE if name not in apart], {}), *agents)
