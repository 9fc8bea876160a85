"""The whole configuration as one frozen value, after every check that needs no server."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias

from lockgate.agent.limits import TurnLimits
from lockgate.agent.models.tuning import PLAIN, Tuning
from lockgate.agent.skills.definition import SkillDefinition
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.hooks.declared.plan import DeclaredHook
from lockgate.mcp.host.settings import ServerSettings
from lockgate.rules.rule import RuleSet
from lockgate.settings.pins import Pins
from lockgate.traits import SideEffectLevel

ApproverName = Literal["terminal", "queue"]


@dataclass(frozen=True, slots=True)
class ApproverProgram:
    """An approver that is a program: it gets each question as JSON and answers in JSON."""

    command: tuple[str, ...] = field(repr=False)
    """The program and its arguments; it runs in the project's directory."""


ApproverSettings: TypeAlias = ApproverName | ApproverProgram


@dataclass(frozen=True, slots=True)
class AgentSettings:
    """The `agent` section."""

    model: str | None = None
    """`provider:model`; of `scripted:path` the path is relative to the file that names it, and
    resolved when read."""
    ceiling: SideEffectLevel = SideEffectLevel.MUTATING
    offer: tuple[str, ...] | None = None
    """Tool names and `mcp__server__*` patterns; None is everything registered."""
    instructions: str | None = None
    """What the model is told before it is asked anything; None is lockgate's own text."""
    limits: TurnLimits = field(default_factory=TurnLimits)
    """The bounds of each turn."""
    skills: tuple[SkillDefinition, ...] = ()
    """With any, there is the tool `Skill`."""
    agents: tuple[AgentDefinition, ...] = ()
    """The sub-agents; with any, there are the tools `Task` and `list_agents`."""
    tuning: Tuning = PLAIN
    """Of the models that are named."""


@dataclass(frozen=True, slots=True)
class ApprovalSettings:
    """The `approvals` section."""

    exempt_at_or_below: SideEffectLevel | None = SideEffectLevel.READ_ONLY
    """None (`none` in the file): every call is asked about."""
    attended: tuple[ApproverSettings, ...] = ("terminal",)
    unattended: tuple[ApproverSettings, ...] = ()
    answer_within: float = 600.0
    """Seconds that one approver has for one question; after that the answer is no."""
    ticket_lifetime: float = 7 * 86_400.0
    """Seconds that a question in the queue waits; after that the answer is no."""


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """The `audit` section."""

    content: bool = False
    """Whether decisions hold the values of arguments, secrets masked."""
    max_segment_bytes: int = 64 * 1024 * 1024
    max_segment_age: float = 86_400.0
    """Seconds."""
    keep: float | None = 90 * 86_400.0
    """Seconds after its last record; None (`forever` in the file): nothing is deleted."""


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """The `sessions` section."""

    keep: float | None = 30 * 86_400.0
    """Seconds after its last message; None (`forever` in the file): no bound; 0 (`never`): what is
    said is not written down."""
    max_count: int = 200
    max_bytes: int = 256 * 1024 * 1024
    """Of the messages of all sessions together, and of one."""


@dataclass(frozen=True, slots=True)
class CredentialSettings:
    """Where the logins of servers are kept."""

    kept_in: Literal["keyring", "file"] | None = None
    """`keyring`: there or nowhere; None: there where it can be used, else in the file."""
    file: Path | None = None
    """None: `$XDG_STATE_HOME/lockgate/credentials.json`, one for all of a person's projects."""


@dataclass(frozen=True, slots=True)
class Config:
    """What `lockgate.open` takes."""

    servers: tuple[ServerSettings, ...] = ()
    startup_budget: float | None = None
    """Seconds; never above the safety bound (S3-20)."""
    agent: AgentSettings = AgentSettings()
    approvals: ApprovalSettings = ApprovalSettings()
    rules: RuleSet = field(default_factory=RuleSet)
    audit: AuditSettings = AuditSettings()
    sessions: SessionSettings = SessionSettings()
    credentials: CredentialSettings = CredentialSettings()
    builtin: tuple[str, ...] = ()
    """Names of the tools of ours that there are (`rules.in_tree`)."""
    roots: tuple[Path, ...] = ()
    """Real, absolute directories that file tools reach. A file that names none gives the project's;
    empty, as when the configuration is made by hand, is none at all."""
    notes: Path | None = None
    """The file of notes; None: `notes.md` in the state directory."""
    knowledge: Path | None = None
    """The database of knowledge; None: `knowledge.db` in the state directory."""
    hooks: tuple[DeclaredHook, ...] = ()
    """The declared ones, event by event, earlier layers first."""
    hook_variables: tuple[str, ...] = ()
    """The variables of the environment that templates of hooks may use."""
    pins: Pins = field(default_factory=Pins, repr=False)
    """The definitions that were reviewed."""
    sources: tuple[Path, ...] = ()
    """The files it was read from, in the order of the layers."""
    definitions: tuple[Path, ...] = ()
    """The directories and files that definitions were read from: writing there is asked about."""
    state_dir: Path | None = None
    """Where records, tickets and grants go; None: `$XDG_STATE_HOME/lockgate/<project>`."""
    answers: Path | None = None
    """The file of what a person answers for good, read as a layer if it is there; None, as when the
    configuration is made by hand: nothing is kept for good."""
    project_dir: Path | None = None
    """The directory relative paths and the file roots start from; None: the working directory."""

    def with_agents(self, agents: Iterable[AgentDefinition]) -> Config:
        """The same with a program's own sub-agents beside its own."""
        more = tuple(agents)
        if not more:
            return self
        return replace(self, agent=replace(self.agent, agents=(*self.agent.agents, *more)))

    @property
    def declared_hooks(self) -> tuple[DeclaredHook, ...]:
        """Those of the configuration, then those of its skills."""
        own = (hook for skill in self.agent.skills for hook in skill.hooks)
        return (*self.hooks, *(hook for hook in own if isinstance(hook, DeclaredHook)))

    def with_skills(self, skills: Iterable[SkillDefinition]) -> Config:
        """The same with a program's own `skills` beside its own."""
        more = tuple(skills)
        if not more:
            return self
        return replace(self, agent=replace(self.agent, skills=(*self.agent.skills, *more)))
