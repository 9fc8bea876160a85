"""What holds for every test: a state of its own, and loud answers to what is missing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

# A deadline per example would measure the neighbours on a shared machine; pytest-timeout bounds
# the whole test. The blob and the printed seed repeat a random failure exactly.
hypothesis.settings.register_profile("house", deadline=None, print_blob=True)
hypothesis.settings.load_profile("house")

PERSONAL = ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
"""Where programs keep what is a person's own. Caches are not: tests may use and fill them."""


@pytest.fixture(scope="session", autouse=True)
def nobodys_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """No test reads or writes the configuration, state or answers of whoever runs it."""
    home = tmp_path_factory.mktemp("nobody")
    if not os.environ.get("HOME"):  # git and npm want one; tests that look at it set their own
        os.environ["HOME"] = str(home)
    for name in PERSONAL:
        os.environ[name] = str(home / name)
        (home / name).mkdir(mode=0o700)
    return home


@pytest.fixture(scope="session")
def package_registry(tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether a package can be had from outside; asked once, for a small one."""
    target = tmp_path_factory.mktemp("registry")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-cache-dir"),
            *("--retries", "0", "--timeout", "15", "--dest", str(target), "iniconfig"),
        ],
        capture_output=True,
        timeout=50,
        check=False,
    )
    return done.returncode == 0


@pytest.fixture(autouse=True)
def needs_network(request: pytest.FixtureRequest) -> None:
    """Tests marked `network` are skipped without a registry, saying so; in CI they fail."""
    if request.node.get_closest_marker("network") is None:  # pyright: ignore[reportUnknownMemberType] - untyped in pytest
        return
    if not request.getfixturevalue("package_registry"):
        message = "no package registry can be reached, so this test was not run"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)


@pytest.fixture(scope="session")
def node_server() -> Callable[[str], Path]:
    """Finds the program of a server written for Node, such as `mcp-server-filesystem`.

    scripts/setup installs them where Node is. Where they are missing the test is skipped and says
    so; in CI, where Node is there, that is a failure.
    """

    def find(name: str) -> Path:
        program = Path(sys.prefix) / "node" / "node_modules" / ".bin" / name
        if not program.exists():
            message = f"{name} is not installed, so this test was not run: scripts/setup dev"
            if os.environ.get("CI") and shutil.which("npx"):
                pytest.fail(message)
            pytest.skip(message)
        return program

    return find
