"""Which files there are, from a directory and an environment alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.errors import ConfigError
from lockgate.settings.layers import locate


def test_the_usual_places(tmp_path: Path) -> None:
    """Person below .config, project in the working directory, answers and state elsewhere."""
    layers = locate(tmp_path, {"HOME": "/h"})
    assert layers.person == Path("/h/.config/lockgate/config.yaml")
    assert layers.project == tmp_path / "lockgate.yaml"
    assert not layers.named
    assert layers.project_dir == tmp_path
    assert layers.state_dir.parent == Path("/h/.local/state/lockgate")
    assert layers.answers == layers.state_dir / "answers.yaml"
    assert layers.accepted_dir == Path("/h/.local/state/lockgate/accepted")


def test_base_directories_of_the_environment(tmp_path: Path) -> None:
    """XDG directories take the place of those under HOME; a relative one counts as unset."""
    environ = {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "s"}
    layers = locate(tmp_path, environ)
    assert layers.person == Path("/c/lockgate/config.yaml")
    assert layers.accepted_dir == Path("/h/.local/state/lockgate/accepted")


@pytest.mark.parametrize("explicit", ["sub/other.yaml", Path("sub/other.yaml")])
def test_a_named_file_takes_the_place_of_the_projects(tmp_path: Path, explicit: str | Path) -> None:
    """-c is relative to the working directory; its own directory is the project's."""
    layers = locate(tmp_path, {"HOME": "/h"}, explicit)
    assert layers.project == tmp_path / "sub" / "other.yaml"
    assert layers.project_dir == tmp_path / "sub"
    assert layers.named


def test_each_project_has_its_own_state(tmp_path: Path) -> None:
    """Two projects of one name differ; one project seen through a link does not."""
    for name in ("one/app", "two/app"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "one/app")
    first, second, linked = (
        locate(tmp_path / name, {"HOME": "/h"}).state_dir for name in ("one/app", "two/app", "link")
    )
    assert first != second
    assert first == linked
    assert first.name.startswith("app-")


def test_a_strange_name_makes_a_plain_directory(tmp_path: Path) -> None:
    """A project's name never becomes more than one harmless path component."""
    folder = tmp_path / "..한글 $(x)"
    folder.mkdir()
    assert locate(folder, {"HOME": "/h"}).state_dir.name.replace("-", "").isalnum()


def test_a_home_is_needed(tmp_path: Path) -> None:
    """Without HOME the error says which variables would do."""
    with pytest.raises(ConfigError, match="HOME is not set"):
        locate(tmp_path, {})
    locate(tmp_path, {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"})


@pytest.mark.parametrize("home", ["home", "./x", ".", "~"])
def test_a_relative_home_is_refused(tmp_path: Path, home: str) -> None:
    """It would put what was accepted below the very project that wants to be."""
    with pytest.raises(ConfigError, match="HOME is not a full path"):
        locate(tmp_path, {"HOME": home})
    locate(tmp_path, {"HOME": home, "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"})


@pytest.mark.parametrize("name", ["lockgate.yml", "lockgate.json"])
def test_a_look_alike_is_not_overlooked(tmp_path: Path, name: str) -> None:
    """A file that would be ignored is an error: its deny rules would be out of force."""
    (tmp_path / name).touch()
    with pytest.raises(ConfigError, match=r"call it lockgate\.yaml"):
        locate(tmp_path, {"HOME": "/h"})
    (tmp_path / "lockgate.yaml").touch()
    locate(tmp_path, {"HOME": "/h"})
