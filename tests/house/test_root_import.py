"""`import lockgate` is for users: it gives the public names, and loads what is asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import lockgate

HEAVY = {
    *("aiohttp", "click", "rich", "ruamel", "starlette", "uvicorn", "mcp", "sqlite3", "asyncpg"),
    *("yarl", "publicsuffixlist", "html_to_markdown", "tree_sitter", "tree_sitter_bash"),
}
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


WITHOUT = """
import asyncio, json, pathlib, sys, lockgate
async def main():
    config = lockgate.Config(state_dir=pathlib.Path(sys.argv[1]), builtin=tuple(sys.argv[2:]))
    async with lockgate.open(config, attended=False) as gate:
        assert len(gate.tools()) == len(sys.argv) - 2
        print(json.dumps(sorted(sys.modules)))
asyncio.run(main())
"""


def loaded_by_a_gate(state: Path, *builtin: str) -> set[str]:
    """The modules of a fresh interpreter that has opened a gate with these tools of ours."""
    command = [sys.executable, "-I", "-c", WITHOUT, str(state), *builtin]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    return set(json.loads(done.stdout))


TOOLS_OF_OURS = {"aiohttp", "yarl", "publicsuffixlist", "html_to_markdown", "tree_sitter"}
"""What only they need."""


def test_a_gate_without_tools_of_ours_loads_none_of_them(tmp_path: Path) -> None:
    """Neither the tools nor what they are made with: no grammar, no client for the web (S3-12)."""
    loaded = loaded_by_a_gate(tmp_path)
    assert {name for name in loaded if name.startswith("lockgate.builtin")} == set()
    assert {name.split(".")[0] for name in loaded} & TOOLS_OF_OURS == set()


def test_a_gate_loads_the_tools_that_it_has(tmp_path: Path) -> None:
    """A reader brings no shell; and the shell's grammar is loaded by the first line, not before."""
    loaded = loaded_by_a_gate(tmp_path, "Read")
    assert {name for name in loaded if name.startswith("lockgate.builtin.shell")} == set()
    loaded = loaded_by_a_gate(tmp_path, "Bash")
    assert "lockgate.builtin.shell.bash" in loaded
    assert {name.split(".")[0] for name in loaded} & TOOLS_OF_OURS == set()
