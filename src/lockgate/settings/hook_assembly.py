"""From the drafts of declared hooks to their values, with the checks that need the whole file."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path, PurePath
from typing import Any

from lockgate.hooks.declared.plan import (
    CommandHandler,
    DeclaredHook,
    Handler,
    HttpHandler,
    ToolHandler,
)
from lockgate.hooks.event import HookEvent
from lockgate.hooks.registry import MAX_TIMEOUT
from lockgate.rules.rule import Rule
from lockgate.settings.entries import RuleText
from lockgate.settings.findings import Findings, spelling_hint
from lockgate.settings.hook_keys import HANDLERS
from lockgate.settings.hook_kinds import HookText, TemplateText
from lockgate.settings.nodes import Place
from lockgate.settings.reading import Draft
from lockgate.showing import visible


class HookAssembly:
    """Makes the hooks of a configuration."""

    def __init__(
        self,
        draft: Draft,
        findings: Findings,
        *,
        rule: Callable[[RuleText], Rule | None],
        servers: Collection[str],
        strict: Path,
    ) -> None:
        """`draft` is that of the whole file. `rule` reads a matcher; None after a finding. Hooks of
        the file `strict` may name configured `servers` only; a person's own hooks hold for many
        projects, where one that is not there fails the hook when it runs (S3-13)."""
        self._draft = draft
        self._findings = findings
        self._rule = rule
        self._servers = servers
        self._strict = strict

    @property
    def variables(self) -> tuple[str, ...]:
        """What templates may use of the environment."""
        given = self._draft.get("hookVariables")
        return () if given is None else given.value

    def hooks(self) -> tuple[DeclaredHook, ...]:
        """The hooks, event by event in the order of the file; of no use after findings."""
        section: Draft = self._draft["hooks"].value if "hooks" in self._draft else {}
        written: list[HookText] = []
        for event in HookEvent:
            if event.value in section:
                written += section[event.value].value
        found = (self._hook(one) for one in written)
        return tuple(hook for hook in found if hook is not None)

    def _hook(self, text: HookText) -> DeclaredHook | None:
        matcher = None if text.matcher is None else self._rule(text.matcher)
        if text.matcher is not None and matcher is None:
            return None
        handler = self._handler(text)
        value = _Value(text)
        return DeclaredHook(
            text.event,
            handler,
            value["name"] or default_name(handler),
            matcher,
            value["onError"],
            "onError" in text.draft,
            self._timeout(text, value["timeout"]),
            f"{text.place} {text.path}",
            text.place.file,
        )

    def _handler(self, text: HookText) -> Handler:
        value = _Value(text)
        match text.kind:
            case "command":
                command, *inline = value["command"]
                if inline and value["args"]:
                    given = text.draft["args"]
                    what = "stands beside a command that is a list"
                    self._add(given.place, given.path, what, "put the arguments into one of them")
                return CommandHandler(command, (*inline, *value["args"]), dict(value["env"]))
            case "http":
                return HttpHandler(
                    value["url"], dict(value["headers"]), self._template(value["body"])
                )
            case _:
                self._check_server(text, value["server"])
                return ToolHandler(value["server"], value["tool"], self._template(value["args"]))

    def _template(self, text: TemplateText | None) -> Any:
        if text is None:
            return None
        for variable in text.variables:
            if variable.name not in self.variables:
                what = f"{{{{env.{variable.name}}}}} is no variable that hooks may use"
                hint = f"list it beside hooks: hookVariables: [{variable.name}]"
                self._add(variable.place, variable.path, what, hint)
        return text.template

    def _check_server(self, text: HookText, server: str) -> None:
        if server in self._servers or text.place.file != self._strict:
            return
        given = text.draft["server"]
        known = tuple(self._servers)
        hint = spelling_hint(server, known, what="servers") if known else "no server is configured"
        what = f'no server "{server}" is configured'
        self._add(given.place, given.path, what, hint)

    def _timeout(self, text: HookText, seconds: float | str) -> float:
        if isinstance(seconds, str):  # read as it was written: a variable will hold it
            return 1.0
        if seconds > MAX_TIMEOUT:
            given = text.draft["timeout"]
            what = f"{seconds:g}s is over the bound of {MAX_TIMEOUT:g}s"
            self._add(given.place, given.path, what, "write 1h or less")
        return seconds

    def _add(self, place: Place, path: str, message: str, hint: str | None) -> None:
        self._findings.add(place, path, message, hint)


def default_name(handler: Handler) -> str:
    """What a hook without a name is called: what it runs, without arguments, address or secrets."""
    match handler:
        case CommandHandler():
            return visible(PurePath(handler.command).name)[:60] or "command"
        case HttpHandler():
            authority = handler.url.partition("://")[2].partition("/")[0].partition("?")[0]
            return visible(authority.rpartition("@")[2])[:60] or "http"
        case ToolHandler():
            return visible(f"{handler.server}: {handler.tool}")[:60]


class _Value:
    """A handler's values, with the defaults of its keys."""

    def __init__(self, text: HookText) -> None:
        self._draft = text.draft
        self._section = HANDLERS[text.kind]

    def __getitem__(self, name: str) -> Any:
        given = self._draft.get(name)
        return self._section[name].default if given is None else given.value
