"""The import contracts of pyproject.toml hold, and each of them bites when it is broken."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]

PLANTED: dict[str, dict[str, str]] = {
    # contract id: {file: code to append}. Every file gets its own module, so that no two
    # violations lean on each other; the values below are what each contract exists to refuse.
    "layers": {
        "tools/planted_up.py": "from lockgate.rules.rule import Rule",
        "policy/planted_stranger.py": "from lockgate.mcp.endpoint import Endpoint",
        "schema/planted_type_only.py": (
            "from typing import TYPE_CHECKING\n"
            "if TYPE_CHECKING:\n"
            "    from lockgate.process import planted_empty\n"
        ),
        "process/planted_empty.py": "",
        "web/planted_stranger.py": "from lockgate.process import planted_empty",
        "calls/planted_door.py": "from lockgate.builtin.files import door",
    },
    "mcp-layers": {
        "mcp/client/planted_up.py": "from lockgate.mcp.host.settings import Verdict",
    },
    "no-cycles": {
        "stores/planted_one.py": "def f():\n    from lockgate.stores.planted_two import g",
        "stores/planted_two.py": "from lockgate.stores.planted_one import f\ndef g(): ...",
    },
    "remote-unknown": {
        "agent/planted_remote.py": "from lockgate.mcp.endpoint import StdioEndpoint",
    },
    "wire-without-opinion": {
        "mcp/transport/planted_opinion.py": "from lockgate.traits import SideEffectLevel",
    },
    "one-ruling": {
        "mcp/host/planted_ruling.py": "from lockgate.mcp.host import trust",
    },
    "pure": {
        "rules/planted_clock.py": "def f():\n    import time",
        "mcp/protocol/planted_path.py": "from os.path import join",
    },
    "permit": {
        "agent/planted_permit.py": "from lockgate.tools.permit import Permit",
    },
    "no-sdk": {
        "mcp/client/planted_sdk.py": "from mcp.client.session import ClientSession",
        "mcp/client/oauth/planted_sdk.py": "from mcp.client.auth import OAuthClientProvider",
    },
}


def contracts() -> dict[str, str]:
    """Id and name of every contract."""
    settings: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    listed: list[dict[str, str]] = settings["tool"]["importlinter"]["contracts"]
    return {contract["id"]: contract["name"] for contract in listed}


def lint(directory: Path) -> tuple[int, str]:
    """Run lint-imports over the `src` of a directory; its exit code and what it says."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache", "--no-logo"],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(directory / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )
    return done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout + done.stderr)


def copy_of_the_tree(to: Path) -> Path:
    """The package and its contracts, in a place where they may be broken."""
    shutil.copy(ROOT / "pyproject.toml", to)
    shutil.copytree(
        ROOT / "src" / "lockgate",
        to / "src" / "lockgate",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return to


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What lint-imports says of a copy of the tree in which every contract is broken."""
    tree = copy_of_the_tree(tmp_path_factory.mktemp("broken"))
    for files in PLANTED.values():
        for file, code in files.items():
            (tree / "src" / "lockgate" / file).write_text(f'"""Planted."""\n{code}\n', "utf-8")
    code, said = lint(tree)
    assert code == 1, said
    return said


def test_the_tree_keeps_its_contracts() -> None:
    """Every contract holds over src/lockgate."""
    code, said = lint(ROOT)
    assert code == 0, said


@pytest.mark.parametrize(
    "contract",
    [
        "layers",
        "no-cycles",
        "pure",
        "no-sdk",
        pytest.param("mcp-layers", marks=pytest.mark.req("S3-03")),
        pytest.param("wire-without-opinion", marks=pytest.mark.req("S3-03")),
        pytest.param("remote-unknown", marks=pytest.mark.req("S3-01")),
        pytest.param("one-ruling", marks=pytest.mark.req("S0-11")),
        pytest.param("permit", marks=pytest.mark.req("S0-17")),
    ],
)
def test_a_planted_import_breaks_its_contract(broken: str, contract: str) -> None:
    """Each contract reports the import that was planted against it, by module."""
    name = contracts()[contract]
    assert f"{name} BROKEN" in broken
    report = broken.split(f"\n{name}\n", 1)[1]
    report = re.split(r"\n\d\w?\. ", report, maxsplit=1)[0]
    for file in PLANTED[contract]:
        if not file.endswith("_empty.py"):
            assert Path(file).stem in report, report


def test_every_contract_is_planted_against() -> None:
    """A contract without a planted violation could hold nothing back without anyone seeing."""
    assert set(contracts()) == set(PLANTED)


def test_a_package_outside_the_line_is_refused(tmp_path: Path) -> None:
    """The layer line is exhaustive: a new package has to say where it stands."""
    tree = copy_of_the_tree(tmp_path)
    (tree / "src" / "lockgate" / "planted").mkdir()
    (tree / "src" / "lockgate" / "planted" / "__init__.py").write_text('"""Planted."""\n', "utf-8")
    code, said = lint(tree)
    assert code == 1
    assert "not listed as layers:\n\n- lockgate.planted" in said
