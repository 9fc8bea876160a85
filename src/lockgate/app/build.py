"""The composition root: the only place that names concrete classes and says who closes what."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lockgate.agent.identity import agent_id
from lockgate.agent.ownership import Ownership
from lockgate.agent.runtime import AgentRuntime, new_id
from lockgate.agent.skills.definition import SkillDefinition
from lockgate.agent.subagents.definition import AgentDefinition
from lockgate.agent.threads import WorkerThreads
from lockgate.agent.witness import Witness
from lockgate.app.answers import AnswersFile
from lockgate.app.asking import GivenServices, services_of
from lockgate.app.children import MADE_HERE, child_tools
from lockgate.app.entries import Entry
from lockgate.app.gate import Gate, GatePlan
from lockgate.app.given import check_approvers, given_agents, given_skills, given_tools
from lockgate.app.hooking import HookMaker
from lockgate.app.models import model_book
from lockgate.app.opening import opens
from lockgate.app.own_hooks import own_hooks
from lockgate.app.people import answerers_of, approvers_of, has_terminal
from lockgate.app.places import make_environment
from lockgate.app.reloading import Reloader
from lockgate.app.servers import demand, make_manager, warn
from lockgate.app.surroundings import Surroundings
from lockgate.app.token_sources import Handed, TokenSources, credential_store
from lockgate.app.unmatched import unmatched_hooks
from lockgate.calls.invoke import Invoker
from lockgate.calls.lanes import Lanes
from lockgate.calls.records import Ledger
from lockgate.errors import ConfigError, LocalError, Problem
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.registry import Hooks
from lockgate.mcp.client.inbound import Listener
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.tracing import CallTracing
from lockgate.policy.approval import Approver
from lockgate.settings.config import Config
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.stores.audit import AuditLog, Keeping, kept_key
from lockgate.stores.grants import SqliteGrants
from lockgate.stores.intents import SqliteUnknowns
from lockgate.stores.state import StateDatabase, open_state
from lockgate.stores.tickets import SqliteTickets
from lockgate.tools.registry import Registry
from lockgate.tools.tool import Tool

if TYPE_CHECKING:  # an extra: a program without it never hands in a tracer
    from opentelemetry.trace import Tracer

    from lockgate.app.sessions import SessionKeeper

_log = logging.getLogger(__name__)


@opens
async def open(
    source: Config | str | Path | None = None,
    *,
    tools: Iterable[Tool] = (),
    approvers: Sequence[Approver] | None = None,
    unattended_approvers: Sequence[Approver] | None = None,
    attended: bool | None = None,
    listeners: Sequence[Listener] = (),
    token_sources: Mapping[str, Handed] | None = None,
    tolerant: bool = False,
    recall: bool = False,
    entry: Entry = Entry.API,
    surroundings: Surroundings | None = None,
    services: GivenServices | None = None,
    tracer: Tracer | None = None,
    hooks: Sequence[Hook] = (),
    skills: Iterable[SkillDefinition] = (),
    agents: Iterable[AgentDefinition] = (),
    name: str = "main",
) -> AsyncGenerator[Gate]:
    """Open a gate: read the configuration, start its servers, rule on their tools.

    `source` is a configuration file, a `Config`, or None for the files that are found (a project's
    file must then have been accepted, B-13). `tools` are local ones, beside those of the servers.
    `approvers` are asked in turn when a person is there, by default those of the configuration;
    `unattended_approvers` when nobody is. `attended` says which: by default whether `approvers`
    are given or the program has a terminal. `listeners` hear the notifications of every server.
    `token_sources` are the program's own credentials for servers over HTTP, by name, over what
    `auth` says there: a `TokenSource`, or an async function (`TokenFunction`). Logins that are kept
    are used without one; nobody is asked to log in.
    `services` answer what servers ask in the middle of a call, by the server's name: a mapping, or
    a function of the name; without them a person is asked on the terminal, if they are there, and
    what the configuration says. `tracer` is one of OpenTelemetry: each call becomes a span.
    `hooks` are the program's own (`lockgate.hook`), before those of the configuration; `skills` and
    `agents`, its own skills and sub-agents, are there beside those of the configuration.
    `name`, or `name:discriminator`, is what the gate's runtime is called, also after a restart: a
    kept session goes on in a gate of the name that it was made by.

    Raises `LocalError` for a name that can be none and for what is not what it is given as,
    `ConfigError` before anything is started,
    `ContractError` for an expected tool that is missing, `PeerError` for a required server that can
    not be reached; `tolerant` turns the last two off, for looking at what is wrong. With `recall` a
    server that is known from the last time is not started: its tools can be looked at and
    explained, and not called (B-05). Everything is closed on the way out.
    """
    around = surroundings or Surroundings()
    tools, skills, agents = given_tools(tools), given_skills(skills), given_agents(agents)
    check_approvers("approvers", approvers)
    check_approvers("unattended_approvers", unattended_approvers)

    def whole(found: Config) -> Config:
        return found.with_skills(skills).with_agents(agents)

    config = whole(_config(source, around))
    reread = around.reread
    if reread is None and not isinstance(source, Config):
        reread = partial(_config, source, around)
    named = [tool.name for tool in tools]
    hooks = own_hooks(hooks, config, cwd=around.cwd, environ=around.environ, tools=named)
    identity = _identity(name)
    if attended is None:
        attended = approvers is not None or has_terminal()
    state_dir = config.state_dir or locate(around.cwd, around.environ).state_dir
    registry = Registry()
    async with Ownership() as made:
        state = open_state(state_dir / "state.db", secrets.token_hex(8))
        made.own("state database", _closing(state.close))
        digests = _key(state_dir / "digest.key")
        audit = AuditLog(
            state_dir / "audit",
            key=_key(state_dir / "audit.key"),
            time=around.time,
            new_id=secrets.token_hex,
            keeping=Keeping(
                config.audit.max_segment_bytes, config.audit.max_segment_age, config.audit.keep
            ),
        )
        made.own("audit log", _closing(audit.close))
        ledger: Ledger = audit
        tracing: CallTracing | None = None
        if tracer is not None:
            from lockgate.app.tracing import TracedLedger

            ledger = tracing = traced = TracedLedger(audit, tracer)
            made.own("spans", _closing(traced.close))
        witness = Witness(ledger)
        threads = WorkerThreads()
        made.own("threads", threads.close)
        models = model_book(around.environ, threads, config.agent.tuning)
        made.own("models", models.close)
        # Nothing of the agent's but the names is used for servers.
        lent = model_book(around.environ, threads)
        made.own("models of servers", lent.close)
        answered_by = services_of(
            config,
            services,
            answerers_of(config, around, attended, approvers, audit, state),
            lent,
        )
        manager, report = (
            make_manager(
                config,
                state_dir,
                environ=around.environ,
                time=around.time,
                monotonic=around.monotonic,
                connect=around.connect,
                listeners=listeners,
                tracing=tracing,
                services=answered_by,
                tokens=TokenSources(
                    config,
                    around.environ,
                    lambda: credential_store(config, around.environ, around.cwd),
                    time=around.time,
                    handed=token_sources,
                ),
            ),
            None,
        )
        working = child_tools(config)
        registry.register_all((*_in_tree(config, around, manager), *working.tools, *tools))
        if manager is not None:
            made.own("mcp servers", manager.close)
            report = await manager.start(registry, recall=recall)
            if entry not in (Entry.CLI, Entry.APPROVALS):  # which tell it in their own words
                warn(report)
                for found in unmatched_hooks(hooks, registry.snapshot(), report.servers):
                    _log.warning("%s", found)
            if not tolerant:
                demand(report)
        registered = Hooks(hooks)
        environment = make_environment(
            config, state_dir, cwd=around.cwd, environ=around.environ, threads=threads
        )
        invoker = Invoker(
            rules=config.rules,
            exempt=config.approvals.exempt_at_or_below,
            attended=approvers_of(config.approvals.attended, approvers, config, around),
            unattended=approvers_of(
                config.approvals.unattended, unattended_approvers, config, around
            ),
            ledger=witness,
            grants=SqliteGrants(state),
            unknowns=SqliteUnknowns(state),
            tickets=SqliteTickets(state),
            lanes=Lanes(),
            current=registry.snapshot,
            failed=lambda: manager.failed if manager is not None else (),
            time=around.time,
            monotonic=around.monotonic,
            new_id=lambda: secrets.token_hex(12),
            answer_within=config.approvals.answer_within,
            ticket_lifetime=config.approvals.ticket_lifetime,
            digest_key=digests,
            record_content=config.audit.content,
            answers=None if config.answers is None else AnswersFile(config.answers, around.voice),
            hooks=registered,
        )
        make_hooks = HookMaker(
            around.environ,
            config.project_dir or around.cwd,
            invoker.invoke,
            registry.snapshot,
            environment,
        )
        registered.replace((*hooks, *make_hooks(config)))
        plan = GatePlan(
            config=replace(config, state_dir=state_dir),
            environment=environment,
            attended=attended,
            session_id=None if entry is Entry.CLI else new_id(),
            keeper=lambda: _keeper(identity, state, state_dir, config, around),
            entry=entry,
            report=report,
            reloader=Reloader(
                None if reread is None else lambda: whole(reread()),
                make_hooks=make_hooks,
                hooks=registered,
                own=hooks,
                invoker=invoker,
                told=HookInput(
                    HookEvent.CONFIG_RELOAD, cwd=str(environment.cwd), attended=attended
                ),
            ),
        )
        runtime = AgentRuntime(
            id=identity,
            registry=registry,
            invoker=invoker,
            servers=manager,
            witness=witness,
            models=models,
            hooks=registered,
            owned=made.release(),
        )
    async with runtime:
        working.serve(runtime)
        yield Gate(runtime, manager, plan)


def _config(source: Config | str | Path | None, around: Surroundings) -> Config:
    if isinstance(source, Config):
        return source
    if not isinstance(source, str | Path | None):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may give anything
        raise LocalError(f"source must be a Config, a path or None, not {type(source).__name__}")
    return load(locate(around.cwd, around.environ, source), around.environ)


def _identity(name: object) -> str:
    if not isinstance(name, str):
        raise LocalError(f"name must be str, not {type(name).__name__}")
    first, mark, rest = name.partition(":")
    return agent_id(first, rest if mark else None)


def _keeper(
    runtime: str, state: StateDatabase, state_dir: Path, config: Config, around: Surroundings
) -> SessionKeeper:
    # Late, with the first agent.
    from lockgate.app.sessions import SessionKeeper, session_about, session_store

    return SessionKeeper(
        session_store(state, state_dir, config.sessions, around.time),
        session_about(runtime, config, config.project_dir or around.cwd),
        keeps=config.sessions.keep != 0,
    )


def _in_tree(config: Config, around: Surroundings, manager: Manager | None) -> tuple[Tool, ...]:
    """The tools of ours that the configuration names; see `child_tools` for some of them."""
    names = [name for name in config.builtin if name not in MADE_HERE]
    if not names:
        return ()
    from lockgate.app.served import ServedResources
    from lockgate.builtin.catalogue import in_tree

    resources = None if manager is None else ServedResources(manager)
    return in_tree(names, around.environ, resources=resources, time=around.time)


def _key(path: Path) -> bytes:
    try:
        return kept_key(path, secrets.token_bytes)
    except OSError as error:
        what = f"a key of the records can not be kept: {error.strerror or type(error).__name__}"
        hint = "it needs a directory that this user may write to"
        raise ConfigError(Problem(what, file=path, hint=hint)) from error


def _closing(close: Callable[[], None]) -> Callable[[], Awaitable[None]]:
    async def closed() -> None:
        close()

    return closed
