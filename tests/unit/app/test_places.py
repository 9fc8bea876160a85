"""Where the calls of a gate are made: every directory by where it really is."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.agent.skills.definition import SkillDefinition
from lockgate.app.places import make_environment
from lockgate.calls.paths import resolve_path
from lockgate.hooks.declared.plan import CommandHandler, DeclaredHook
from lockgate.hooks.event import HookEvent
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import Config
from lockgate.settings.layers import locate
from lockgate.tools.context import Environment


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """Directories reached by way of a link, as `/tmp` is on some systems."""
    real = tmp_path.resolve() / "real"
    for name in ("home", "project/sub", "state"):
        (real / name).mkdir(parents=True)
    (tmp_path / "by-link").symlink_to("real")
    return tmp_path.resolve() / "by-link"


def environment(base: Path, config: Config) -> Environment:
    environ = {"HOME": str(base / "home")}
    return make_environment(config, base / "state", cwd=base / "project", environ=environ)


def test_directories_are_real(base: Path) -> None:
    """Paths are compared with them by where they really are."""
    config = Config(
        servers=(
            ServerSettings("one", StdioEndpoint("x", cwd=base / "project" / "sub", cwd_said=True)),
            ServerSettings("runs", StdioEndpoint("x", cwd=base / "project")),
            ServerSettings("two", StdioEndpoint("x", cwd=Path("~"), cwd_said=True)),
        ),
        roots=(base / "project",),
        project_dir=base / "project",
    )
    made = environment(base, config)
    real = base.resolve()
    assert (made.cwd, made.roots, made.home) == (real / "project", (made.cwd,), real / "home")
    assert made.server_dirs == {"one": real / "project" / "sub", "two": real / "home"}
    assert resolve_path("sub", made).root == str(real / "project")


def test_all_of_lockgates_state_and_the_persons_policy_are_barred(base: Path) -> None:
    """The state of other projects too, which holds their answers; by real path and by name."""
    made = environment(base, Config(project_dir=base / "project"))
    layers = locate(base / "project", {"HOME": str(base / "home")})
    for path in (
        base / "state" / "state.db",
        layers.answers,
        layers.accepted_dir / "x",
        layers.state_dir.parent / "another" / "answers.yaml",
        layers.person,
    ):
        assert resolve_path(str(path), made).barred, path
        assert resolve_path(str(path.parent.resolve() / path.name), made).barred, path
    assert not resolve_path("sub", made).barred
    assert not resolve_path("~/.config/other", made).barred


def test_the_files_in_force_are_control_files(base: Path) -> None:
    """Whatever they are called."""
    named = base / "project" / "own-name.yaml"
    made = environment(base, Config(sources=(named,), project_dir=base / "project"))
    assert resolve_path("own-name.yaml", made).control == "the configuration that is in force"
    assert resolve_path("lockgate.yaml", made).control == "the configuration that is in force"
    assert resolve_path("other.yaml", made).control is None


def test_what_hooks_run_are_control_files(base: Path) -> None:
    """Who writes there decides what a hook says: the program, and the script that it is handed."""
    project = base / "project"
    (project / "sub" / "check.py").write_text("")
    (project / "rules.txt").write_text("")
    handlers = (
        CommandHandler(str(project / "guard.sh")),
        CommandHandler("python3", ("sub/check.py", "--strict", "rules.txt", "word", "x\0y")),
    )
    hooks = tuple(DeclaredHook(HookEvent.PRE_TOOL, handler, "check") for handler in handlers)
    skill = SkillDefinition("s", "Does it.", "Do it.", hooks=hooks)
    for config in (
        Config(hooks=hooks, project_dir=project),
        Config(project_dir=project).with_skills([skill]),
    ):
        made = environment(base, config)
        for name in ("guard.sh", "sub/check.py", "rules.txt"):
            assert resolve_path(name, made).control is not None, name
        for name in ("word", "sub/other.py", "python3"):
            assert resolve_path(name, made).control is None, name


def test_what_a_skill_is_linked_to_is_a_control_file(base: Path) -> None:
    """Who writes there writes the skill."""
    project = base / "project"
    (project / "text.md").write_text("")
    (project / "sub" / "SKILL.md").symlink_to("../text.md")
    skill = SkillDefinition(
        "s", "Does it.", "Do it.", directory=project / "sub", path=project / "sub" / "SKILL.md"
    )
    made = environment(base, Config(project_dir=project).with_skills([skill]))
    assert resolve_path("text.md", made).control is not None
    assert resolve_path("other.md", made).control is None


def test_without_a_home_there_is_no_tilde_and_the_state_is_barred(base: Path) -> None:
    """A program without HOME names its state directory itself."""
    made = make_environment(Config(), base / "state", cwd=base / "project", environ={})
    assert made.home is None
    assert resolve_path(str(base / "state"), made).barred
    assert resolve_path("~/x", made).problem is not None
