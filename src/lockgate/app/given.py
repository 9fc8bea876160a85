"""What a program hands to `lockgate.open`, looked at before anything is started."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, cast

from lockgate.agent.models.named import read_name
from lockgate.agent.skills.definition import SkillDefinition
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.errors import ConfigError, LocalError
from lockgate.tools.tool import Tool

_T = TypeVar("_T")


def given_tools(tools: object) -> tuple[Tool, ...]:
    """The tools of a program. Raises `LocalError` for what is none."""
    return _each("tools", tools, Tool, "a Tool; lockgate.tool makes one of a function")


def given_agents(agents: object) -> tuple[AgentDefinition, ...]:
    """Its sub-agents. Raises `LocalError` for what is none, and for a model that none is called."""
    found = _each("agents", agents, AgentDefinition, "a lockgate.AgentDefinition")
    for agent in found:
        _check_model(f"the sub-agent {agent.name}", agent.model)
    return found


def given_skills(skills: object) -> tuple[SkillDefinition, ...]:
    """Its skills. Raises as `given_agents` does."""
    found = _each("skills", skills, SkillDefinition, "a lockgate.SkillDefinition")
    for skill in found:
        _check_model(f"the skill {skill.name}", skill.model)
    return found


def check_approvers(name: str, approvers: object) -> None:
    """Raise `LocalError` for what can not be asked."""
    if approvers is None:
        return
    for one in _listed(name, approvers):
        named = isinstance(getattr(one, "name", None), str)
        if not (callable(one) and named and hasattr(one, "scopes")):
            what = "an approver: an object with name, scopes and async __call__(question)"
            raise LocalError(f"each of {name} must be {what}, not {type(one).__name__}")


def _check_model(whose: str, model: str | None) -> None:
    if model is None:
        return
    try:
        read_name(model)
    except ConfigError as error:
        raise LocalError(f"the model of {whose} is no name of one: {error}") from None


def _each(name: str, given: object, kind: type[_T], wanted: str) -> tuple[_T, ...]:
    found = _listed(name, given)
    for one in found:
        if not isinstance(one, kind):
            raise LocalError(f"each of {name} must be {wanted}, not {type(one).__name__}")
    return cast("tuple[_T, ...]", found)


def _listed(name: str, given: object) -> tuple[Any, ...]:
    if not isinstance(given, Iterable) or isinstance(given, str | bytes):
        raise LocalError(f"{name} must be a list, not {type(given).__name__}")
    return tuple(cast("Iterable[Any]", given))
