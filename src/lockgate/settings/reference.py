"""The tables of docs/configuration.md, made from the keys themselves; a test compares the two."""

from __future__ import annotations

from collections.abc import Iterator

from lockgate.settings.asking_keys import SAMPLING
from lockgate.settings.audit_keys import AUDIT
from lockgate.settings.auth_keys import AUTH
from lockgate.settings.hook_keys import COMMAND_HOOK, GROUP, HOOKS, HTTP_HOOK, TOOL_HOOK
from lockgate.settings.keys import AGENT, APPROVALS, PERMISSIONS, ROOT
from lockgate.settings.limit_keys import LIMITS
from lockgate.settings.model_keys import MODEL_SETTINGS
from lockgate.settings.reading import Key, Section
from lockgate.settings.rule_keys import ALLOW_RULE, STRICT_RULE
from lockgate.settings.server_keys import MCP, SERVER, TLS, VERDICT
from lockgate.settings.session_keys import SESSIONS

SECTIONS: tuple[Section, ...] = (
    ROOT,
    MCP,
    SERVER,
    AUTH,
    TLS,
    SAMPLING,
    VERDICT,
    AGENT,
    LIMITS,
    MODEL_SETTINGS,
    APPROVALS,
    PERMISSIONS,
    ALLOW_RULE,
    STRICT_RULE,
    HOOKS,
    GROUP,
    COMMAND_HOOK,
    HTTP_HOOK,
    TOOL_HOOK,
    AUDIT,
    SESSIONS,
)
"""Every section of a file, in the order of the page."""


def key_tables() -> str:
    """All sections with their keys, as Markdown."""
    return "\n".join(line for section in SECTIONS for line in _table(section))


def _table(section: Section) -> Iterator[str]:
    yield f"### {f'`{section.title}`' if section.title else 'The file'}"
    yield ""
    yield section.doc
    yield ""
    yield "| key | value | default | `${VAR}` | |"
    yield "|---|---|---|---|---|"
    for key in section.keys:
        yield f"| {' | '.join(_cells(key))} |"
    yield ""


def _cells(key: Key) -> tuple[str, ...]:
    words = key.kind.words.replace("|", "\\|")
    return (f"`{key.name}`", words, key.shown, "yes" if key.expands else "", key.doc)
