"""What can be said of a configuration without starting anything (B-05): for `lockgate check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from lockgate.app.agent_findings import agent_findings
from lockgate.app.children import brought
from lockgate.app.finding import Finding
from lockgate.app.hook_findings import hook_findings
from lockgate.app.logins import login_findings
from lockgate.app.models import check_model, model_fault
from lockgate.app.program_findings import untold
from lockgate.app.skill_findings import skill_findings
from lockgate.builtin.catalogue import unable
from lockgate.decision import Decision
from lockgate.errors import ConfigError, PeerError, Problem
from lockgate.mcp.endpoint import HttpEndpoint, StdioEndpoint
from lockgate.mcp.host.settings import AnnotationTrust, PinPolicy
from lockgate.process.environment import child_environment
from lockgate.process.program import Program, find
from lockgate.rules.in_tree import IN_TREE
from lockgate.rules.pattern import parse_pattern
from lockgate.rules.rule import Rule
from lockgate.settings.config import ApproverProgram, Config
from lockgate.showing import visible_error
from lockgate.tools.subject import SubjectKind
from lockgate.web.proxies import is_local, proxy_for
from lockgate.web.target import LocationError
from lockgate.web.tls import TlsFiles, TlsFilesError

_OF_FILES: Final = frozenset(
    {"cat", "head", "tail", "less", "more", "grep", "rg", "sed", "awk", "find", "cp", "mv", "tee"}
    | {"dd", "tar", "diff", "sort", "cut", "xxd", "od", "strings", "base64", "jq", "python"}
    | {"python3", "node", "perl", "ruby", "bash", "sh", "make", "npm", "env", "xargs", "install"}
)
"""Commands whose use is to read or write any file, or to run code that does."""


def findings(
    config: Config, environ: Mapping[str, str], *, now: float = 0.0
) -> tuple[Finding, ...]:
    """Everything found, in the order of the configuration. `environ` is the host's environment,
    `now` the Unix time that ends of rules are held against."""
    return (
        *_programs(config, environ),
        *_addresses(config, environ),
        *login_findings(config, now),
        *unable_tools(config, environ),
        *_model(config),
        *_rules(config),
        *_ended(config, now),
        *_past_the_shell(config),
        *_offers(config),
        *_unpinned(config),
        *hook_findings(config, environ),
        *untold(config, environ),
        *agent_findings(config, _absent, model_fault),
        *skill_findings(config, _absent, model_fault),
    )


def _programs(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Servers and approvers whose program is not there now."""
    for server in config.servers:
        end = server.endpoint
        if not isinstance(end, StdioEndpoint):
            continue
        env = child_environment(environ, end.env)
        try:
            find(Program(server.name, end.command, end.args, env, end.cwd))
        except PeerError as error:
            yield Finding(f"server {server.name}", str(error))
    lists = (
        ("attended", config.approvals.attended),
        ("unattended", config.approvals.unattended),
    )
    for name, approvers in lists:
        for approver in approvers:
            if isinstance(approver, ApproverProgram):
                command, *arguments = approver.command
                env = child_environment(environ, {})
                try:
                    find(Program("approver", command, tuple(arguments), env, config.project_dir))
                except PeerError as error:
                    hint = "until it can be started, every question that reaches it is a no"
                    yield Finding(f"approvals.{name}", str(error), hint)


def _addresses(config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Servers over HTTP that give something away, or can not be reached as they are written."""
    for server in config.servers:
        end = server.endpoint
        if not isinstance(end, HttpEndpoint):
            continue
        where = f"server {server.name}"
        target = end.target
        secure = target.scheme == "https"
        if not secure and not is_local(target.host):
            sent = "tokens" if server.auth is not None else "headers"
            if server.auth is not None or end.headers or target.userinfo:
                what = f"its {sent} go to {target.host} unencrypted: who is in between reads them"
                yield Finding(where, what, "write https in its url")
        try:
            proxy = proxy_for(target, environ, end.proxy)
            TlsFiles(end.ca_file, end.client_cert, end.client_key).context()
        except (TlsFilesError, LocationError) as error:
            yield Finding(where, str(error))
            continue
        given = (end.ca_file or end.client_cert) is not None
        if given and not secure and (proxy is None or proxy.scheme != "https"):
            yield Finding(where, "its tls says nothing: its url is http", "write https in its url")


def unable_tools(config: Config, environ: Mapping[str, str]) -> tuple[Finding, ...]:
    """Tools of ours that a configuration names and that can not work here."""
    return tuple(
        Finding("builtin", f"{name} can not work: {why}")
        for name, why in unable(config.builtin, environ).items()
    )


def unusable_models(config: Config, environ: Mapping[str, str]) -> tuple[Finding, ...]:
    """What keeps the models of the agent and of servers that borrow one from being used here: a
    key, a library, a form of a name that only the provider's library knows. Nobody is asked; a
    large library may be loaded."""
    named = [("agent.model", config.agent.model)]
    named += [(f"server {s.name}", s.sampling.model) for s in config.servers if s.sampling]
    return tuple(
        Finding(where, problem.message, problem.hint)
        for where, name in named
        if name is not None
        for problem in _lacks(name, environ)
    )


def _lacks(name: str, environ: Mapping[str, str]) -> tuple[Problem, ...]:
    try:
        check_model(name, environ, thoroughly=True)
    except ConfigError as error:
        return error.problems
    return ()


def _ended(config: Config, now: float) -> Iterator[Finding]:
    """Allow rules that say nothing any more."""
    for rule in config.rules.rules:
        if rule.until is not None and rule.until <= now:
            what = f'the allow rule "{rule.label}" has ended (until)'
            yield Finding(rule.source or "permissions.allow", what, "take it out, or move its end")


def _model(config: Config) -> Iterator[Finding]:
    if config.agent.model is None:
        return
    fault = model_fault(config.agent.model)
    if fault is not None:
        yield Finding("agent.model", visible_error(fault))


def _rules(config: Config) -> Iterator[Finding]:
    """Rules that can never decide anything."""
    rules = config.rules.rules
    for rule in rules:
        where = rule.source or "permissions"
        if rule.server is None and (absent := _absent(rule.tool, config)):
            what, hint = absent
            yield Finding(where, f'the rule "{rule.text}" names {what}', hint)
        stricter = next((other for other in rules if _covers(other, rule)), None)
        if stricter is not None:
            yield Finding(
                where,
                f'the rule "{rule.text}" ({rule.decision.name.lower()}) never decides: '
                f'"{stricter.text}" ({stricter.decision.name.lower()}) matches whatever it matches',
                f"the stricter one stands at {stricter.source}" if stricter.source else None,
            )
            continue
        wider = next((other for other in rules if _repeats(other, rule, rules)), None)
        if wider is not None:
            place = f"that one stands at {wider.source}" if wider.source else None
            yield Finding(where, f'the rule "{rule.text}" adds nothing to "{wider.text}"', place)


def _past_the_shell(config: Config) -> Iterator[Finding]:
    """A rule that keeps a tool of ours from files says nothing of the commands that are allowed."""
    rules = config.rules.rules
    allowed = [
        rule
        for rule in rules
        if rule.decision is Decision.ALLOW
        and _kind(rule) is SubjectKind.COMMAND
        and rule.tool in config.builtin
    ]
    if not allowed:
        return
    allow = min(allowed, key=_narrowness)  # the one that says it best
    for rule in rules:
        strict = rule.decision is not Decision.ALLOW
        if strict and rule.tool in config.builtin and _kind(rule) is SubjectKind.PATH:
            yield Finding(
                rule.source or "permissions",
                f'the rule "{rule.text}" holds for {rule.tool} alone: a command that '
                f'"{allow.text}" allows reads and writes whatever its user can',
                f"what commands reach is decided by what {allow.tool} is allowed to run",
                note=True,
            )
            return


def _narrowness(rule: Rule) -> int:
    """How little the commands that a rule allows are known for what they do with files."""
    from lockgate.rules.command.pattern import CommandPattern  # with rules of commands alone

    pattern = rule.subject
    if not isinstance(pattern, CommandPattern) or not pattern.base_name:
        return 0  # every command
    return 1 if pattern.base_name in _OF_FILES else 2


def _kind(rule: Rule) -> SubjectKind | None:
    return None if rule.subject is None else rule.subject.kind


def _offers(config: Config) -> Iterator[Finding]:
    """Offers of tools that no server has."""
    for text in config.agent.offer or ():
        pattern = parse_pattern(text)
        if pattern.server is None and (absent := _absent(pattern.tool, config)):
            what, hint = absent
            yield Finding("agent.offer", f'"{text}" names {what}', hint)


def _unpinned(config: Config) -> Iterator[Finding]:
    """Servers that are believed, whatever they list the next time; and ones that get nothing in."""
    for server in config.servers:
        if server.pins is PinPolicy.BLOCK and not config.pins.of(server.name):
            what = "pins is block, and nothing of it is pinned: none of its tools is let in"
            hint = f"look at them and pin them: lockgate review {server.name}"
            yield Finding(f"server {server.name}", what, hint)
            continue
        trusts = server.annotation_trust is AnnotationTrust.TRUST
        if trusts and server.pins is not PinPolicy.OFF and not config.pins.of(server.name):
            yield Finding(
                f"server {server.name}",
                "what it claims of its tools is believed, and none of them is pinned: a change of "
                "them would go unnoticed",
                f"look at them and pin them: lockgate review {server.name} (or say pins: off)",
            )


def _absent(tool: str | None, config: Config) -> tuple[str, str] | None:
    """Why a command of ours has no tool of that name, which is no server's, and what to do."""
    if tool is None or tool in config.builtin or tool in brought(config):
        return None
    if tool == "Skill":
        return "Skill, and there are no skills", "say where skills are: agent: {skills: [./skills]}"
    if tool in IN_TREE:
        listed = ", ".join((*config.builtin, tool))
        return f"{tool}, which is not among `builtin`", f"to have the tool: builtin: [{listed}]"
    return (
        "a local tool, and the command line has none",
        "it counts where a program gives tools of its own to lockgate.open",
    )


def _repeats(other: Rule, rule: Rule, rules: tuple[Rule, ...]) -> bool:
    """Whether `other` says all that `rule` says: of the same calls, in the same runs, as long."""
    if other is rule or other.decision is not rule.decision:
        return False
    same = replace(other, text=rule.text, source=rule.source, reason=rule.reason) == rule
    if same:
        return rules.index(other) < rules.index(rule)
    if other.decision is Decision.ALLOW and (
        (other.when, other.until, other.pin) != (rule.when, rule.until, rule.pin)
        # A wide rule does not answer for what can destroy: a narrow one may.
        or rule.destructive
    ):
        return False
    wider = other.tool is None and rule.tool is not None
    return (
        other.bare
        and other.server == rule.server
        and other.server is not None
        and (wider or (other.tool == rule.tool and not rule.bare))
    )


def _covers(other: Rule, rule: Rule) -> bool:
    """Whether `other` is stricter and matches every call that `rule` matches."""
    return (
        other.decision > rule.decision
        and other.bare
        and other.server == rule.server
        and (other.tool is None or other.tool == rule.tool)
    )
