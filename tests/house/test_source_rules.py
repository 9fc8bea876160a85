"""The rules of the house hold over the real tree, and each of them bites when it is broken."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from source_rules import CHECKS, EXCEPTIONS, GENERATED, MAX_LINES, findings
from source_tree import read_tree

PACKAGE = Path(__file__).parents[2] / "src" / "lockgate"

PLANTED: list[tuple[str, str, str]] = [
    # (check that must see it, file it is planted in, code)
    ("permit_made_on_the_road", "agent/executor.py", "allowed = Permit(context)"),
    ("permit_made_on_the_road", "calls/lanes.py", "allowed = permit.Permit(context=context)"),
    (
        "permit_made_on_the_road",
        "gateway/service.py",
        "from lockgate.tools.permit import Permit as Pass",
    ),
    ("permit_made_on_the_road", "agent/pass.py", "class Mine(Permit): ..."),
    ("bounds_made_by_the_ceiling", "agent/runtime.py", "wide = Bounds(level, None)"),
    ("bounds_made_by_the_ceiling", "policy/gate.py", "wide = context.Bounds(level, None)"),
    ("declared_calls_come_from_settings", "app/hooks.py", "told = DeclaredCall(a, b, c)"),
    ("declared_calls_come_from_settings", "app/hooks.py", "class Mine(DeclaredCall): ..."),
    ("declared_calls_come_from_settings", "bridges/hook_caller.py", "ToolHandler(a, b)"),
    ("tools_run_on_the_road", "agent/executor.py", "await tool.execute(arguments, permit)"),
    ("tools_run_on_the_road", "cli/call.py", "tool.execute(arguments, permit=my)"),
    ("tools_run_on_the_road", "hooks/run.py", "tool.execute({}, Permit(context))"),
    ("remote_prefix_in_two_places", "agent/executor.py", 'remote = name.startswith("mcp__")'),
    ("remote_prefix_in_two_places", "cli/tools.py", 'title = f"mcp__{server}"'),
    ("remote_prefix_in_two_places", "stores/grants.py", 'key = b"mcp__x"'),
    ("no_module_state", "stores/cache.py", "_seen = {}"),
    ("no_module_state", "stores/cache.py", "_seen: dict[str, int] = dict()"),
    ("no_module_state", "stores/cache.py", "_seen: Final[list[str]] = []"),
    ("no_module_state", "stores/cache.py", "try:\n    _names = [n for n in x]\nfinally: ..."),
    ("no_module_state", "stores/cache.py", "_lock = threading.Lock()"),
    ("no_module_state", "stores/cache.py", "@functools.lru_cache(maxsize=9)\ndef _f(): ..."),
    ("no_module_state", "stores/cache.py", "def _f():\n    global _n\n    _n = 1"),
    ("no_context_variables", "calls/invoke.py", "from contextvars import ContextVar"),
    ("no_context_variables", "calls/invoke.py", "import contextvars"),
    ("no_wait_for", "mcp/client/connection.py", "await asyncio.wait_for(x, 1)"),
    ("no_wait_for", "mcp/client/connection.py", "from asyncio import wait_for"),
    ("no_hidden_import", "app.py", "importlib.import_module(name)"),
    ("no_hidden_import", "app.py", "from importlib import import_module"),
    ("no_hidden_import", "app.py", "__import__(name)"),
    ("no_hidden_import", "app.py", "exec(code)"),
    ("no_assert", "tools/registry.py", "assert tool"),
    ("root_is_for_users", "app.py", "import lockgate"),
    ("root_is_for_users", "app.py", "import lockgate.tools.tool"),
    ("root_is_for_users", "app.py", "from lockgate import Tool"),
    ("root_is_for_users", "app.py", "if TYPE_CHECKING:\n    from lockgate import Tool"),
    ("root_is_for_users", "app.py", "from .tools import tool"),
    ("only_declared_dependencies", "app.py", "def _f():\n    import requests"),
    ("only_declared_dependencies", "app.py", "from yaml import safe_load"),
    ("only_declared_dependencies", "mcp/client/oauth/source.py", "import mcp.client.auth"),
    ("terminal_only_at_the_edge", "app.py", "import click"),
    ("terminal_only_at_the_edge", "calls/explain.py", "from rich.table import Table"),
    ("http_only_in_web", "builtin/web/fetch.py", "def _f():\n    import aiohttp"),
    ("http_only_in_web", "mcp/client/auth.py", "from aiohttp.web import Request"),
    ("http_only_in_web", "app/build.py", "from urllib import request"),
    ("http_only_in_web", "app/build.py", "import http.client"),
    ("http_only_in_web", "mcp/client/oauth/guarded.py", "import httpx2"),
    ("http_only_in_web", "mcp/client/oauth/sdk/flow.py", "import httpx2\nhttpx2.AsyncClient()"),
    ("http_only_in_web", "mcp/client/oauth/sdk/flow.py", "from httpx2 import Client"),
    ("pure_reads_nothing", "rules/load.py", "text = path.read_text()"),
    ("pure_reads_nothing", "policy/gate.py", "now = datetime.now()"),
    ("pure_reads_nothing", "mcp/protocol/frames.py", "print(frame)"),
    ("no_drawers", "tools/utils.py", ""),
    ("no_drawers", "shared/__init__.py", ""),
    ("no_drawers", "mcp/_common.py", ""),
    ("no_long_file", "tools/registry.py", "x = 1\n" * (MAX_LINES + 1)),
    ("public_names_are_explained", "tools/registry.py", "class Registry:\n    x: int"),
    ("public_names_are_explained", "tools/registry.py", "async def find():\n    x = 1"),
    (
        "public_names_are_explained",
        "tools/registry.py",
        "class Registry:\n    '''Tools.'''\n    def find(self):\n        x = 1\n        return x",
    ),
]

PERMITTED: list[tuple[str, str]] = [
    # (file, code): near misses, which no check may object to
    ("calls/invoke.py", "allowed = Permit(context)"),
    ("calls/invoke_resume.py", "allowed = Permit(context)"),
    ("policy/ceiling.py", "wide = Bounds(level, None)"),
    ("stores/database.py", "_db.execute('SELECT 1', parameters)"),
    ("rules/parse.py", 'prefix = "mcp__"'),
    ("agent/executor.py", 'def find():\n    """Names such as mcp__git__git_log."""'),
    ("tools/registry.py", "TABLE: Mapping[str, int] = {}"),
    ("tools/registry.py", "TABLE: Final[Mapping[str, int]] = {}"),
    ("tools/registry.py", "__all__ = ['x']"),
    ("tools/registry.py", "async def _f():\n    async with asyncio.timeout(1): ..."),
    ("tools/registry.py", "from lockgate.tools.tool import Tool"),
    ("cli/tools.py", "from rich.table import Table"),
    (
        "stores/tickets.py",
        "class Tickets(Protocol):\n    'Kept.'\n    def put(self):\n        'Keep one.'\n"
        "class SqliteTickets:\n    'Kept.'\n    def put(self):\n        x = 1\n        return x",
    ),
    (GENERATED + "v2026.py", "x = 1\n" * (MAX_LINES + 1)),
]


def plant(root: Path, file: str, code: str) -> None:
    """Write `code` into a tree of its own."""
    target = root / file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(f'"""Planted."""\n{dedent(code)}\n', encoding="utf-8")


def test_the_tree_keeps_the_rules() -> None:
    """Every check holds over src/lockgate."""
    assert [str(found) for found in findings(read_tree(PACKAGE), CHECKS)] == []


@pytest.mark.parametrize(
    ("check", "file", "code"), PLANTED, ids=[f"{check}-{file}" for check, file, _ in PLANTED]
)
def test_a_planted_violation_is_seen(tmp_path: Path, check: str, file: str, code: str) -> None:
    """Each rule, broken in a tree of its own, is reported by the check that is meant for it."""
    plant(tmp_path, file, code)
    assert check in {found.check for found in findings(read_tree(tmp_path), CHECKS)}


@pytest.mark.parametrize(("file", "code"), PERMITTED, ids=[file for file, _ in PERMITTED])
def test_a_near_miss_is_no_violation(tmp_path: Path, file: str, code: str) -> None:
    """What only looks like a violation is let through: a rule that cries wolf is switched off."""
    plant(tmp_path, file, code)
    assert [str(found) for found in findings(read_tree(tmp_path), CHECKS)] == []


def test_every_check_is_planted_against() -> None:
    """A check without a planted violation could have stopped working without anyone seeing."""
    assert {check.__name__ for check in CHECKS} == {check for check, _, _ in PLANTED}


@pytest.mark.parametrize(("check", "file"), list(EXCEPTIONS))
def test_an_exception_is_still_needed(check: str, file: str) -> None:
    """A listed exception names a file that still breaks the rule, and gives its reason."""
    function = next(c for c in CHECKS if c.__name__ == check)
    sources = [source for source in read_tree(PACKAGE) if source.path == file]
    assert sources, f"{file} is gone; remove its exception"
    assert list(function(sources[0])), f"{file} keeps {check} now; remove its exception"
    assert EXCEPTIONS[check, file]
