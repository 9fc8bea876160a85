"""The last step from a merged draft to a `Config`: defaults, and the checks that need it whole."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

from lockgate.decision import Decision
from lockgate.errors import ConfigError
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import SamplingSettings, ServerSettings
from lockgate.rules.examples import example_fault
from lockgate.rules.parse import parse_rule
from lockgate.rules.pattern import PatternError, parse_pattern
from lockgate.rules.places import Places
from lockgate.rules.rule import Rule, RuleSet
from lockgate.schema.spelling import nearest
from lockgate.settings.asking_keys import SAMPLING
from lockgate.settings.audit_keys import AUDIT
from lockgate.settings.auth import Auth, BearerHeader, auth_of
from lockgate.settings.config import (
    AgentSettings,
    ApprovalSettings,
    AuditSettings,
    Config,
    CredentialSettings,
    SessionSettings,
)
from lockgate.settings.endpoints import endpoint_of
from lockgate.settings.entries import RuleText
from lockgate.settings.findings import Findings
from lockgate.settings.hook_assembly import HookAssembly
from lockgate.settings.keys import AGENT, APPROVALS, PERMISSIONS
from lockgate.settings.layers import Layers
from lockgate.settings.limit_keys import limits_of
from lockgate.settings.model_keys import tuning_of
from lockgate.settings.nodes import Place
from lockgate.settings.reading import Draft, Given, Section
from lockgate.settings.server_keys import IDENTIFIED_BY, MCP, SERVER
from lockgate.settings.session_keys import SESSIONS

SPAWN_ALLOWANCE: Final = 30.0
"""Seconds that starting may take beyond the longest request timeout (S3-08)."""


def servers_of(draft: Draft) -> Mapping[str, Given]:
    """The servers of a draft by name; the value of each is its own draft."""
    mcp: Draft = draft["mcp"].value if "mcp" in draft else {}
    return mcp["servers"].value if "servers" in mcp else {}


class Assembly:
    """Makes the values of a `Config` from the merged draft."""

    def __init__(
        self,
        layers: Layers,
        merged: Draft,
        findings: Findings,
        own_servers: Collection[str],
        *,
        home: str | None = None,
    ) -> None:
        """`home` is the real, absolute directory that `~` stands for in rules."""
        self._layers = layers
        self._merged = merged
        self._findings = findings
        self._own_servers = own_servers
        """The servers of the person's own file."""
        self._places = Places(os.path.realpath(layers.project_dir), home, _real)

    def config(self) -> Config:
        """The configuration; of no use if there are findings afterwards."""
        servers = tuple(
            server
            for name, given in servers_of(self._merged).items()
            if (server := self._server(name, given)) is not None
        )
        hooks = HookAssembly(
            self._merged,
            self._findings,
            rule=self.matcher,
            servers=servers_of(self._merged),
            strict=self._layers.project,
        )
        return Config(
            servers=servers,
            startup_budget=self._budget(servers),
            agent=self._agent(),
            approvals=self._approvals(),
            rules=RuleSet(self._rules()),
            audit=self._audit(),
            sessions=self._sessions(),
            credentials=CredentialSettings(
                _Values(MCP, self._section("mcp"))["credentials"], self._layers.credentials
            ),
            builtin=self._merged["builtin"].value if "builtin" in self._merged else (),
            roots=self._roots(),
            notes=self._kept("notes"),
            knowledge=self._kept("knowledge"),
            hooks=hooks.hooks(),
            hook_variables=hooks.variables,
            state_dir=self._layers.state_dir,
            project_dir=self._layers.project_dir,
        )

    def _server(self, name: str, given: Given) -> ServerSettings | None:
        draft: Draft = given.value
        reached = any(key in draft for key in IDENTIFIED_BY)
        if not reached and given.place.file == self._layers.answers:
            return None  # an answer about a server that is no longer configured says nothing
        value = _Values(SERVER, draft)
        auth = self._auth(name, draft)
        endpoint = endpoint_of(
            name,
            given,
            value.__getitem__,
            self._findings,
            self._layers.project_dir,
            bearer=auth.value if isinstance(auth, BearerHeader) else None,
        )
        if endpoint is None or isinstance(endpoint, StdioEndpoint):
            auth = None  # after a finding
        if endpoint is None:
            return None
        verdicts: Mapping[str, Given] = value["verdicts"]
        return ServerSettings(
            name,
            endpoint,
            request_timeout=value["requestTimeout"],
            progress_extends=self._at_most(draft, value["requestTimeout"]),
            annotation_trust=value["annotationTrust"],
            required=value["required"],
            expect_tools=value["expectTools"],
            lane=value["lane"],
            verdicts={tool: verdict.value for tool, verdict in verdicts.items()},
            pins=value["pins"],
            elicitation=value["elicitation"],
            sampling=self._sampling(name, draft),
            roots=self._real(draft["roots"], there=False) if "roots" in draft else (),
            auth=None if isinstance(auth, BearerHeader) else auth,
        )

    def _auth(self, name: str, draft: Draft) -> Auth | None:
        """What says who asks; None if nothing does, or after a finding."""
        given = draft.get("auth")
        if given is None:
            return None
        headers: Mapping[str, str] = draft["headers"].value if "headers" in draft else {}
        if any(header.lower() == "authorization" for header in headers):
            what = f'server "{name}": has auth, and a header Authorization'
            self._findings.add(given.place, given.path, what, "keep one of them")
            return None
        return auth_of(name, given, self._findings)

    def _sampling(self, name: str, draft: Draft) -> SamplingSettings | None:
        """What a server may have completed; None without it, and after a finding."""
        given = draft.get("sampling")
        if given is None:
            return None
        value = _Values(SAMPLING, given.value)
        if value["model"] is None:
            what = f'server "{name}" has sampling without a model'
            self._findings.add(given.place, given.path, what, "add model: scripted:PATH")
            return None
        return SamplingSettings(value["model"], value["maxTokens"], value["perHour"], value["ask"])

    def _at_most(self, draft: Draft, timeout: float) -> float | None:
        """`progressExtends`; None after a finding."""
        given = draft.get("progressExtends")
        if given is None or given.value >= timeout:
            return None if given is None else given.value
        if not any(p.path.endswith("requestTimeout") for p in self._findings.problems):
            self._findings.add(
                given.place,
                given.path,
                f"{given.value:g}s is below requestTimeout, which is {timeout:g}s",
                "it is how long a call may take in all; left out, progress extends nothing",
            )
        return None

    def _budget(self, servers: tuple[ServerSettings, ...]) -> float | None:
        given = self._section("mcp").get("startupBudget")
        if given is None or any(p.path.endswith("requestTimeout") for p in self._findings.problems):
            return None
        longest = max(
            (server.request_timeout for server in servers), default=SERVER["requestTimeout"].default
        )
        bound = longest + SPAWN_ALLOWANCE
        if given.value > bound:
            self._findings.add(
                given.place,
                given.path,
                f"{given.value:g}s is over the bound of {bound:g}s",
                "it can only shorten the start; the bound is the longest requestTimeout + 30s",
            )
        return given.value

    def _agent(self) -> AgentSettings:
        draft = self._section("agent")
        value = _Values(AGENT, draft)
        if (offer := draft.get("offer")) is not None:
            for index, text in enumerate(offer.value):
                self._check_offer(text, offer.place, f"{offer.path}[{index}]")
        return AgentSettings(
            value["model"],
            value["ceiling"],
            value["offer"],
            value["instructions"],
            limits_of(draft.get("limits"), self._findings),
            tuning=tuning_of(draft.get("modelSettings")),
        )

    def _check_offer(self, text: str, place: Place, path: str) -> None:
        known = set(servers_of(self._merged)) if place.file == self._layers.project else None
        try:
            parse_pattern(text, servers=known)
        except PatternError as error:
            message = f"{text!r} at character {error.position + 1} {error.message}"
            self._findings.add(place, path, message, error.hint)

    def _approvals(self) -> ApprovalSettings:
        value = _Values(APPROVALS, self._section("approvals"))
        return ApprovalSettings(
            value["exemptAtOrBelow"],
            value["attended"],
            value["unattended"],
            value["answerWithin"],
            value["ticketLifetime"],
        )

    def _audit(self) -> AuditSettings:
        value = _Values(AUDIT, self._section("audit"))
        return AuditSettings(
            value["content"], value["maxSegmentBytes"], value["maxSegmentAge"], value["keep"]
        )

    def _sessions(self) -> SessionSettings:
        value = _Values(SESSIONS, self._section("sessions"))
        return SessionSettings(value["keep"], value["maxCount"], value["maxBytes"])

    def _roots(self) -> tuple[Path, ...]:
        given = self._merged.get("roots")
        if given is None:
            return (self._layers.project_dir.resolve(),)
        return self._real(given, there=True)

    def _kept(self, key: str) -> Path | None:
        """The real path of a file that tools of ours write; None if no layer names one."""
        given = self._merged.get(key)
        if given is None or isinstance(given.value, str):  # read as it was written
            return None
        written: Path = given.value
        real, folder = written.resolve(), given.place.file.parent
        problem = None
        if real.is_dir():
            problem = "is a directory", "name a file in it"
        elif _by_letter(written).is_relative_to(_by_letter(folder)) and not real.is_relative_to(
            folder.resolve()
        ):
            problem = "leads out of here by a symbolic link", f"write {real}"
        if problem:
            self._findings.add(given.place, given.path, *problem)
        return real

    def _real(self, given: Given, *, there: bool) -> tuple[Path, ...]:
        """The directories that a list of roots means; `there` if they have to exist by now."""
        found: list[Path] = []
        for index, written in enumerate(given.value):
            if isinstance(written, str):  # read as it was written: nothing is looked up
                continue
            problem = None
            real = written.resolve()
            folder = given.place.file.parent
            inside = _by_letter(written).is_relative_to(_by_letter(folder))
            if there and not real.is_dir():
                problem = "is no directory", "make it, or leave it out"
            elif inside and not real.is_relative_to(folder.resolve()):
                # Whoever accepted the file saw a name below it; a link can be put there later.
                problem = "leads out of here by a symbolic link", f"write {real}"
            if problem:
                message, hint = problem
                self._findings.add(given.place, f"{given.path}[{index}]", message, hint)
            found.append(real)
        return tuple(dict.fromkeys(found))

    def _rules(self) -> tuple[Rule, ...]:
        value = _Values(PERMISSIONS, self._section("permissions"))
        lists = ((Decision.ALLOW, "allow"), (Decision.ASK, "ask"), (Decision.DENY, "deny"))
        found = (self._rule(rule, decision) for decision, name in lists for rule in value[name])
        return tuple(rule for rule in found if rule is not None)

    def matcher(self, written: RuleText) -> Rule | None:
        """The rule that a hook's matcher is; None after a finding."""
        return self._rule(written, Decision.ASK)

    def _rule(self, written: RuleText, decision: Decision) -> Rule | None:
        try:
            rule = self._parsed(written, decision, None)
            known = self._servers_known_to(rule, written.place.file)
            if known is not None:
                rule = self._parsed(written, decision, known)
        except ConfigError as error:
            for problem in error.problems:
                self._findings.add(written.place, written.path, problem.message, problem.hint)
            return None
        self._check_examples(rule, written)
        return rule

    def _parsed(
        self, written: RuleText, decision: Decision, servers: Collection[str] | None
    ) -> Rule:
        return parse_rule(
            written.text,
            decision,
            servers=servers,
            source=f"{written.place} {written.path}",
            when=written.when,
            until=written.until,
            destructive=written.destructive,
            pin=written.pin,
            exact=written.exact,
            reason=written.reason,
            places=self._places,
        )

    def _check_examples(self, rule: Rule, written: RuleText) -> None:
        for examples, meant in ((written.match, True), (written.no_match, False)):
            for example in examples:
                fault = example_fault(rule, example.value, meant=meant, places=self._places)
                if fault is not None:
                    given = example.value
                    shown = repr(given) if isinstance(given, str) else "of arguments"
                    what = f"the example {shown} of the rule {rule.text!r} {fault}"
                    self._findings.add(example.place, example.path, what)

    def _servers_known_to(self, rule: Rule, file: Path) -> Collection[str] | None:
        """The servers among which a rule must find its own; None if it may name any.

        The project's rules may name configured servers only. A person's own file and answers hold
        for many projects, so there a name counts as a slip only beside the file's own servers.
        """
        configured = set(servers_of(self._merged))
        if rule.server is None or rule.server in configured:
            return None
        if file == self._layers.project:
            return configured
        if file == self._layers.person and nearest(rule.server, self._own_servers):
            return configured | set(self._own_servers)
        return None

    def _section(self, name: str) -> Draft:
        return self._merged[name].value if name in self._merged else {}


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def _by_letter(path: Path) -> Path:
    return Path(os.path.normpath(path.absolute()))


class _Values:
    """A section's values, with the defaults of its keys for what no layer gives."""

    def __init__(self, section: Section, draft: Draft) -> None:
        self._section = section
        self._draft = draft

    def __getitem__(self, name: str) -> Any:
        given = self._draft.get(name)
        return self._section[name].default if given is None else given.value
