"""lockgate: one gate for every tool an agent can call.

    async with lockgate.open("lockgate.yaml") as gate:
        result = await gate.call("mcp__git__git_log", {"repo_path": "."})

What stands in `__all__` is the public interface. Everything is imported when it is first used, so
that `import lockgate` costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lockgate.agent.events import (
        CallAwaited,
        CallDecided,
        CallFinished,
        CallProgress,
        CallStarted,
        ChildEvent,
        ModelText,
        ModelWrites,
        TurnFinished,
        TurnStarted,
    )
    from lockgate.agent.limits import TurnLimits
    from lockgate.agent.model import Message, Model, ModelReply, ToolCall, Usage
    from lockgate.agent.models.scripted import ScriptedModel
    from lockgate.agent.run import RunResult, RunStatus
    from lockgate.agent.skills.definition import SkillContext, SkillDefinition
    from lockgate.agent.subagents.definition import AgentDefinition
    from lockgate.app.build import open
    from lockgate.app.gate import Gate
    from lockgate.app.reload import Reloaded
    from lockgate.app.sync import SyncGate, open_sync
    from lockgate.calls.call import Suspended
    from lockgate.calls.explain import Explanation
    from lockgate.content import Audio, EmbeddedResource, Image, ResourceLink, Text
    from lockgate.errors import (
        ConfigError,
        ContractError,
        Fate,
        LocalError,
        LockgateError,
        PeerError,
    )
    from lockgate.hooks.event import HookEvent, HookInput
    from lockgate.hooks.function import hook
    from lockgate.hooks.hook import Hook
    from lockgate.hooks.result import HookDecision, HookResult
    from lockgate.mcp.client.bearer import BearerFile
    from lockgate.mcp.client.handed import TokenFunction
    from lockgate.mcp.client.oauth.plan import (
        AuthorizationCode,
        ClientCredentials,
        EnterpriseManaged,
        OAuthPlan,
    )
    from lockgate.mcp.client.services import Occasion, Refusal, Root, Services
    from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint, StdioEndpoint
    from lockgate.mcp.host.prompts import Prompt, Prompts
    from lockgate.mcp.host.resources import Resource, Resources, ResourceTemplate
    from lockgate.mcp.host.settings import (
        AnnotationTrust,
        AskingPolicy,
        SamplingSettings,
        ServerSettings,
        Verdict,
    )
    from lockgate.mcp.host.watch import ResourceUpdate
    from lockgate.mcp.protocol.elicitation import ElicitAnswer, Elicitation
    from lockgate.mcp.transport.tokens import Challenge, TokenSource
    from lockgate.policy.approval import PASS, Answer, Approver, Later, Question, Scope
    from lockgate.settings.config import (
        AgentSettings,
        ApprovalSettings,
        ApproverProgram,
        Config,
        CredentialSettings,
    )
    from lockgate.tools.context import InterruptToken, ToolContext
    from lockgate.tools.function import tool
    from lockgate.tools.result import ErrorKind, Outcome, ToolResult
    from lockgate.tools.tool import Tool, ToolDefinition
    from lockgate.traits import (
        ConcurrencyBehavior,
        DestructiveBehavior,
        IdempotencyBehavior,
        InterruptBehavior,
        SideEffectLevel,
    )


__all__ = [
    "PASS",
    "AgentDefinition",
    "AgentSettings",
    "AnnotationTrust",
    "Answer",
    "ApprovalSettings",
    "Approver",
    "ApproverProgram",
    "AskingPolicy",
    "Audio",
    "AuthorizationCode",
    "BearerFile",
    "CallAwaited",
    "CallDecided",
    "CallFinished",
    "CallProgress",
    "CallStarted",
    "Challenge",
    "ChildEvent",
    "ClientCredentials",
    "ConcurrencyBehavior",
    "Config",
    "ConfigError",
    "ContractError",
    "CredentialSettings",
    "DestructiveBehavior",
    "ElicitAnswer",
    "Elicitation",
    "EmbeddedResource",
    "EnterpriseManaged",
    "ErrorKind",
    "Explanation",
    "Fate",
    "Gate",
    "Hook",
    "HookDecision",
    "HookEvent",
    "HookInput",
    "HookResult",
    "HttpEndpoint",
    "IdempotencyBehavior",
    "Image",
    "InterruptBehavior",
    "InterruptToken",
    "Later",
    "LocalError",
    "LockgateError",
    "Message",
    "Model",
    "ModelReply",
    "ModelText",
    "ModelWrites",
    "OAuthPlan",
    "Occasion",
    "Outcome",
    "PeerError",
    "Prompt",
    "Prompts",
    "Question",
    "Refusal",
    "Reloaded",
    "Resource",
    "ResourceLink",
    "ResourceTemplate",
    "ResourceUpdate",
    "Resources",
    "Root",
    "RunResult",
    "RunStatus",
    "SamplingSettings",
    "Scope",
    "ScriptedModel",
    "ServerSettings",
    "Services",
    "SideEffectLevel",
    "SkillContext",
    "SkillDefinition",
    "SseEndpoint",
    "StdioEndpoint",
    "Suspended",
    "SyncGate",
    "Text",
    "TokenFunction",
    "TokenSource",
    "Tool",
    "ToolCall",
    "ToolContext",
    "ToolDefinition",
    "ToolResult",
    "TurnFinished",
    "TurnLimits",
    "TurnStarted",
    "Usage",
    "Verdict",
    "hook",
    "open",
    "open_sync",
    "tool",
]

_HOME: Mapping[str, tuple[str, ...]] = {
    "lockgate.agent.events": (
        "CallAwaited",
        "CallDecided",
        "CallFinished",
        "CallProgress",
        "CallStarted",
        "ChildEvent",
        "ModelText",
        "ModelWrites",
        "TurnFinished",
        "TurnStarted",
    ),
    "lockgate.agent.limits": ("TurnLimits",),
    "lockgate.agent.model": (
        "Message",
        "Model",
        "ModelReply",
        "ToolCall",
        "Usage",
    ),
    "lockgate.agent.models.scripted": ("ScriptedModel",),
    "lockgate.agent.run": (
        "RunResult",
        "RunStatus",
    ),
    "lockgate.agent.skills.definition": ("SkillContext", "SkillDefinition"),
    "lockgate.agent.subagents.definition": ("AgentDefinition",),
    "lockgate.app.build": ("open",),
    "lockgate.app.gate": ("Gate",),
    "lockgate.app.reload": ("Reloaded",),
    "lockgate.app.sync": (
        "SyncGate",
        "open_sync",
    ),
    "lockgate.calls.call": ("Suspended",),
    "lockgate.calls.explain": ("Explanation",),
    "lockgate.content": (
        "Audio",
        "EmbeddedResource",
        "Image",
        "ResourceLink",
        "Text",
    ),
    "lockgate.errors": (
        "ConfigError",
        "ContractError",
        "Fate",
        "LocalError",
        "LockgateError",
        "PeerError",
    ),
    "lockgate.hooks.event": ("HookEvent", "HookInput"),
    "lockgate.hooks.function": ("hook",),
    "lockgate.hooks.hook": ("Hook",),
    "lockgate.hooks.result": ("HookDecision", "HookResult"),
    "lockgate.mcp.client.bearer": ("BearerFile",),
    "lockgate.mcp.client.handed": ("TokenFunction",),
    "lockgate.mcp.client.oauth.plan": (
        "AuthorizationCode",
        "ClientCredentials",
        "EnterpriseManaged",
        "OAuthPlan",
    ),
    "lockgate.mcp.client.services": (
        "Occasion",
        "Refusal",
        "Root",
        "Services",
    ),
    "lockgate.mcp.endpoint": ("HttpEndpoint", "SseEndpoint", "StdioEndpoint"),
    "lockgate.mcp.host.prompts": (
        "Prompt",
        "Prompts",
    ),
    "lockgate.mcp.host.resources": (
        "Resource",
        "ResourceTemplate",
        "Resources",
    ),
    "lockgate.mcp.host.settings": (
        "AnnotationTrust",
        "AskingPolicy",
        "SamplingSettings",
        "ServerSettings",
        "Verdict",
    ),
    "lockgate.mcp.transport.tokens": ("Challenge", "TokenSource"),
    "lockgate.mcp.protocol.elicitation": (
        "ElicitAnswer",
        "Elicitation",
    ),
    "lockgate.mcp.host.watch": ("ResourceUpdate",),
    "lockgate.policy.approval": (
        "PASS",
        "Answer",
        "Approver",
        "Later",
        "Question",
        "Scope",
    ),
    "lockgate.settings.config": (
        "AgentSettings",
        "ApprovalSettings",
        "ApproverProgram",
        "Config",
        "CredentialSettings",
    ),
    "lockgate.tools.context": ("InterruptToken", "ToolContext"),
    "lockgate.tools.function": ("tool",),
    "lockgate.tools.result": (
        "ErrorKind",
        "Outcome",
        "ToolResult",
    ),
    "lockgate.tools.tool": (
        "Tool",
        "ToolDefinition",
    ),
    "lockgate.traits": (
        "ConcurrencyBehavior",
        "DestructiveBehavior",
        "IdempotencyBehavior",
        "InterruptBehavior",
        "SideEffectLevel",
    ),
}


def __getattr__(name: str) -> object:
    """Import a public name when it is first asked for (PEP 562)."""
    from importlib import import_module  # noqa: TID251 - the one lazy door, names from a literal table

    for module, names in _HOME.items():
        if name in names:
            value = getattr(import_module(module), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'lockgate' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
