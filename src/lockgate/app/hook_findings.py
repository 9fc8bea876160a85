"""What can be said of declared hooks without starting anything: for `lockgate check`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from lockgate.app.finding import Finding
from lockgate.app.hooking import program_of
from lockgate.decision import Decision
from lockgate.errors import PeerError
from lockgate.hooks.declared.plan import DeclaredHook, HttpHandler, ToolHandler
from lockgate.hooks.declared.template import Template, references
from lockgate.process.program import find
from lockgate.rules.in_tree import IN_TREE
from lockgate.schema.spelling import nearest
from lockgate.settings.config import Config
from lockgate.tools.registry import Snapshot
from lockgate.web.location import locate
from lockgate.web.proxies import is_local

_SOFT: Final = "say onError: deny if it guards something, or onError: allow if it does not"


def hook_findings(config: Config, environ: Mapping[str, str]) -> tuple[Finding, ...]:
    """Everything found about the hooks of `config`, in its order."""
    return tuple(found for hook in config.declared_hooks for found in _of(hook, config, environ))


def known_hook_findings(config: Config, snapshot: Snapshot) -> Iterator[Finding]:
    """Hooks that call what their server, as it was last seen, has not, or what it may not.

    `snapshot` holds the tools that are known; of servers that are not, nothing is said.
    """
    names = {
        (origin.server, origin.original_name): entry
        for entry in snapshot.entries.values()
        if (origin := entry.definition.origin).server is not None
    }
    for hook in config.declared_hooks:
        handler = hook.handler
        if not isinstance(handler, ToolHandler):
            continue
        known = [tool for server, tool in names if server == handler.server]
        entry = names.get((handler.server, handler.tool))
        if entry is None:
            if known:
                near = nearest(handler.tool, known)
                hint = f"did you mean {' or '.join(near)}?" if near else None
                what = f"calls {handler.tool}, and {handler.server} has no such tool"
                yield _found(hook, f"{what}: every run fails", hint)
        elif not config.agent.ceiling.permits(entry.side_effect_level):
            level, ceiling = entry.side_effect_level.value, config.agent.ceiling.value
            yield _found(
                hook,
                f"calls {handler.tool}, which is {level}, and agent.ceiling is {ceiling}: every "
                "run is refused, and with it what it decides about",
                f"lockgate review {handler.server}",
            )


def _of(hook: DeclaredHook, config: Config, environ: Mapping[str, str]) -> Iterator[Finding]:
    if hook.event.decides and not hook.denies_on_error:
        yield _found(
            hook,
            f"may decide at {hook.event.value} and fails soft: when it can not be run, or says "
            "nothing that can be read, things go on without it",
            None if hook.says_on_error else _SOFT,
            note=hook.says_on_error,
        )
    program = program_of(hook, environ, config.project_dir)
    if program is not None:
        try:
            find(program)
        except PeerError as error:
            meant = "is refused" if hook.denies_on_error else "goes on without it"
            yield _found(hook, str(error), f"until it can be started, what it is about {meant}")
    handler = hook.handler
    template: Template | None = None
    if isinstance(handler, HttpHandler):
        template = handler.body
        at = locate(handler.url)
        if at.scheme == "http" and handler.headers and not is_local(at.host):
            what = f"sends headers to {at.host} unencrypted: who is in between reads them"
            yield _found(hook, what, "write https in its url")
    elif isinstance(handler, ToolHandler):
        template = handler.args
        yield from _of_tool(hook, handler, config)
    for one in () if template is None else references(template):
        if one.root == "env" and one.path[0] not in environ:
            yield _found(hook, f"uses {one}, which is not set: every run fails", None)
        elif one.root == "tool_input" and not hook.event.is_about_a_call:
            what = f"uses {one}, and {hook.event.value} is about no call: every run fails"
            yield _found(hook, what, "what the event tells is under context")
    yield from _of_matcher(hook, config)


def _of_tool(hook: DeclaredHook, handler: ToolHandler, config: Config) -> Iterator[Finding]:
    if handler.server not in {server.name for server in config.servers}:
        what = f"calls a tool of {handler.server}, which is not configured here: every run fails"
        yield _found(hook, what, None)
    for rule in config.rules.rules:
        bare = rule.decision is Decision.DENY and rule.bare
        if bare and rule.server == handler.server and rule.tool in (None, handler.tool):
            yield _found(
                hook,
                f'is denied its call by the rule "{rule.text}": every run is refused, and with it '
                "what it decides about",
                f"the rule stands at {rule.source}" if rule.source else None,
            )
            return


def _of_matcher(hook: DeclaredHook, config: Config) -> Iterator[Finding]:
    rule = hook.matcher
    if rule is None or rule.server is not None or rule.tool is None or rule.tool in config.builtin:
        return
    if rule.tool in IN_TREE:
        listed = ", ".join((*config.builtin, rule.tool))
        yield _found(
            hook,
            f'has the matcher "{rule.text}", and {rule.tool} is not among `builtin`: no call is '
            "meant",
            f"to have the tool: builtin: [{listed}]",
        )
        return
    near = nearest(rule.tool, IN_TREE)
    yield _found(
        hook,
        f'has the matcher "{rule.text}" for a local tool, and the command line has none',
        f"did you mean {' or '.join(near)}?"
        if near
        else "it counts where a program gives tools of its own to lockgate.open",
    )


def _found(hook: DeclaredHook, what: str, hint: str | None, *, note: bool = False) -> Finding:
    return Finding(hook.source or "hooks", f"the hook {hook.name} {what}", hint, note=note)
