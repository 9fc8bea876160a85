"""`import lockgate` is for users: it gives the public names, and loads what is asked for."""

from __future__ import annotations

import json
import subprocess
import sys

import lockgate

HEAVY = {"aiohttp", "click", "rich", "ruamel", "starlette", "uvicorn", "mcp", "sqlite3", "asyncpg"}
HEAVY |= {"yarl", "publicsuffixlist", "html_to_markdown"}
"""Extras, HTTP, the command line, and what only a configured feature needs."""


def test_every_public_name_is_there() -> None:
    """`__all__` is the public interface: each name resolves, none is listed twice."""
    assert [name for name in lockgate.__all__ if not hasattr(lockgate, name)] == []
    assert len(lockgate.__all__) == len(set(lockgate.__all__))


def fresh(code: str) -> list[str]:
    """What a fresh interpreter prints, as JSON, after it imported lockgate."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import json, sys, lockgate; print(json.dumps({code}))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return json.loads(done.stdout)


def test_public_names_can_be_listed() -> None:
    """`dir()` shows what can be used before any of it was."""
    assert set(lockgate.__all__) <= set(fresh("dir(lockgate)"))


def test_the_root_loads_nothing_heavy() -> None:
    """The import loads no extra, no HTTP and no command line."""
    loaded = {name.split(".")[0] for name in fresh("sorted(sys.modules)")}
    assert sorted(loaded & HEAVY) == []
    assert "lockgate" in loaded
