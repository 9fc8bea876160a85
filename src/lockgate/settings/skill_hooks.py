"""The hooks that a skill declares in its front matter, in the shape of the configuration's `hooks`.

They are for the calls of the skill's own execution, and of what that brings about. So they are
about calls: what happens to sessions, turns and configurations is none of a skill's business. Paths
of programs are relative to the skill.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from lockgate.agent.definitions.document import FENCE, Document
from lockgate.hooks.declared.plan import DeclaredHook
from lockgate.hooks.event import HookEvent
from lockgate.rules.rule import Rule
from lockgate.settings.entries import RuleText
from lockgate.settings.findings import Findings
from lockgate.settings.hook_assembly import HookAssembly
from lockgate.settings.hook_keys import HOOKS
from lockgate.settings.hook_telling import hook_calls, hook_starts
from lockgate.settings.nodes import Table
from lockgate.settings.reading import At, Draft, Given, Section, read_section
from lockgate.settings.starts import Start
from lockgate.settings.yamlfile import parse

_ABOUT_CALLS: Final = tuple(key for key in HOOKS.keys if HookEvent(key.name).is_about_a_call)
_OTHERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{
            key.name: "a skill's hooks are about calls; declare this one in lockgate.yaml"
            for key in HOOKS.keys
            if not HookEvent(key.name).is_about_a_call
        },
        "Stop": "a skill's hooks are about calls; turn_stop stands in lockgate.yaml",
    }
)
SKILL_HOOKS: Final = Section(
    "hooks",
    HOOKS.doc,
    _ABOUT_CALLS,
    also_called=MappingProxyType({"PreToolUse": "pre_tool", "PostToolUse": "post_tool"}),
    told=_OTHERS,
)


class SkillHooks:
    """Reads the hooks of skills."""

    def __init__(
        self,
        merged: Draft,
        *,
        rule: Callable[[RuleText, Findings], Rule | None],
        servers: Collection[str],
        environ: Mapping[str, str] | None,
        project_dir: Path,
    ) -> None:
        """`merged` is the configuration's draft: which variables templates may use. `rule` reads a
        matcher. Skills below `project_dir` may call tools of configured `servers` only."""
        self._merged = merged
        self._rule = rule
        self._servers = servers
        self._environ = environ
        self._project_dir = project_dir.resolve()

    def __call__(self, document: Document) -> tuple[DeclaredHook, ...]:
        """The hooks of a skill. Raises `ConfigError` with everything that is wrong with them."""
        findings = Findings()
        draft = self._draft(document, findings, self._environ)
        inside = document.path.resolve().is_relative_to(self._project_dir)
        found = HookAssembly(
            draft,
            findings,
            rule=lambda text: self._rule(text, findings),
            servers=self._servers,
            strict=document.path if inside else Path(),
        ).hooks()
        findings.raise_any()
        return found

    def starts(self, document: Document) -> tuple[Start, ...]:
        """The programs and endpoints of its hooks, as they are written."""
        return hook_starts(self._draft(document, Findings(), None))

    def calls(self, document: Document) -> Iterator[str]:
        """What else its hooks would do; each completes "It would ..."."""
        draft = self._draft(document, Findings(), None)
        return hook_calls({"hooks": draft["hooks"]} if "hooks" in draft else {}, {})

    def _draft(
        self, document: Document, findings: Findings, environ: Mapping[str, str] | None
    ) -> Draft:
        """The document's hooks as a part of a configuration."""
        root = parse(_front_matter(document), document.path, findings)
        node = root.get("hooks") if isinstance(root, Table) else None
        if node is None:
            return {}
        at = At(findings, document.path.parent, environ).key("hooks")
        given = {"hooks": Given(read_section(SKILL_HOOKS, node, at), node.place, "hooks")}
        if "hookVariables" in self._merged:
            given["hookVariables"] = self._merged["hookVariables"]
        return given


def _front_matter(document: Document) -> str:
    """The front matter, its lines where they are in the file. It has been read before."""
    text = document.data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    end = next(n for n, line in enumerate(lines[1:], 1) if FENCE.fullmatch(line))
    return "\n".join(["", *lines[1:end]])
