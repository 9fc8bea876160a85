"""What happened, or is about to, as hooks are told it."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from lockgate.traits import SideEffectLevel

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class HookEvent(enum.StrEnum):
    """When hooks run. Closed."""

    SESSION_START = "session_start"
    SESSION_END = "session_end"
    TURN_START = "turn_start"
    """A person's or an event's prompt is about to be worked on."""
    TURN_STOP = "turn_stop"
    PRE_TOOL = "pre_tool"
    """A call is within its bounds and no rule denies it by name; nothing was sent yet."""
    POST_TOOL = "post_tool"
    """A call that was made has its result."""
    PERMISSION_REQUEST = "permission_request"
    """A question is about to be put to approvers."""
    PERMISSION_DENIED = "permission_denied"
    """A call is refused by a rule, a hook or an answer."""
    SUBAGENT_START = "subagent_start"
    SUBAGENT_STOP = "subagent_stop"
    CONFIG_RELOAD = "config_reload"
    """The configuration was read again and is about to be in force."""

    @property
    def decides(self) -> bool:
        """Whether the word of a hook counts here; elsewhere it is told and no more."""
        return self in _DECIDING

    @property
    def is_about_a_call(self) -> bool:
        """Whether it has a tool, and so can be matched by a rule."""
        return self in _OF_CALLS


_OF_CALLS: Final = frozenset(
    {
        HookEvent.PRE_TOOL,
        HookEvent.POST_TOOL,
        HookEvent.PERMISSION_REQUEST,
        HookEvent.PERMISSION_DENIED,
    }
)
_DECIDING: Final = frozenset(
    {
        HookEvent.TURN_START,
        HookEvent.PRE_TOOL,
        HookEvent.POST_TOOL,
        HookEvent.PERMISSION_REQUEST,
        HookEvent.SUBAGENT_START,
        HookEvent.CONFIG_RELOAD,
    }
)


class HookInput(msgspec.Struct, frozen=True):
    """What a hook is told. Nothing in it is a secret of lockgate's; arguments and results are those
    of the call, whole."""

    event: HookEvent
    execution_id: str | None = None
    session_id: str | None = None
    agent: str | None = None
    """The sub-agent or skill it is the work of; None: the agent itself."""
    cwd: str | None = None
    attended: bool = False
    tool_name: str | None = None
    """As registered."""
    tool_input: Mapping[str, Any] | None = None
    """The arguments."""
    call_id: str | None = None
    tool_response: Mapping[str, Any] | None = None
    """Of POST_TOOL: `text`, `isError`, `kind`, `reason`, `structured`."""
    ceiling: SideEffectLevel | None = None
    """How far the execution reaches that it is about: a call that the hook itself makes stays
    within that. Not part of `data`."""
    details: Mapping[str, Any] = _NOTHING
    """What is the event's own: `prompt`, `status`, `answer`, `reasons`, ...; plain JSON."""

    def data(self) -> dict[str, Any]:
        """As one JSON object, under the names people know from other hosts' hooks."""
        known: dict[str, Any] = {
            "hook_event_name": self.event.value,
            "session_id": self.session_id,
            "execution_id": self.execution_id,
            "agent": self.agent,
            "cwd": self.cwd,
            "attended": self.attended,
            "tool_name": self.tool_name,
            "tool_input": self.tool_input,
            "call_id": self.call_id,
            "tool_response": self.tool_response,
        }
        told = {key: value for key, value in known.items() if value is not None}
        return {**self.details, **told}

    def __repr__(self) -> str:
        return f"<HookInput {self.event.value} {self.tool_name or ''}>"
