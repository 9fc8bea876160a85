"""Which files are control files, by name."""

from __future__ import annotations

import pytest

from lockgate.policy.control import control_reason


@pytest.mark.req("B-13")
@pytest.mark.parametrize(
    "path",
    [
        ".devcontainer/devcontainer.json",
        ".devcontainer.json",
        "mise.toml",
        "mise.local.toml",
        ".mise.staging.local.toml",
        ".config/mise/conf.d/a.toml",
        ".hg/hgrc",
        ".jj/repo/config.toml",
        "lefthook.yml",
        ".lefthook-local.yaml",
        ".envrc",
        ".direnvrc",
        ".cargo/config.toml",
        ".npmrc",
        ".gdbinit",
        ".tmux.conf",
        "lib/sitecustomize.py",
        "AGENTS.md",
        "sub/Claude.MD",
        ".clinerules/a.md",
        ".cursorrules",
        ".amazonq/rules/a.md",
        ".github/copilot-instructions.md",
    ],
)
def test_what_runs_or_is_obeyed_by_itself_is_one(path: str) -> None:
    """Wherever it lies, whatever the case."""
    assert control_reason(f"/srv/p/{path}") is not None
    assert control_reason(f"/srv/p/x/{path.upper()}") is not None


@pytest.mark.req("B-13")
@pytest.mark.parametrize(
    "path",
    ["Makefile", "package.json", "mise.py", "promise.toml", "Cargo.toml", "docs/agents.rst",
     ".github/workflows/a.yml", ".cargo/registry/x", "config.toml", "README.md"],
)  # fmt: skip
def test_what_a_person_runs_is_none(path: str) -> None:
    """Asking about these would be asking about most of what an agent is for."""
    assert control_reason(f"/srv/p/{path}") is None
