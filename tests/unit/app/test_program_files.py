"""Files that the programs of a configuration are: who writes them decides what is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.app.findings import findings
from lockgate.app.places import make_environment
from lockgate.app.program_files import CommandLine, program_files
from lockgate.calls.paths import resolve_path
from lockgate.hooks.declared.plan import CommandHandler, DeclaredHook
from lockgate.hooks.event import HookEvent
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import ApprovalSettings, ApproverProgram, Config


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with some programs in it."""
    for name in ("guard.sh", "guard.py", "rules.json", "hooks/guard.sh", "hooks/guard.py"):
        path = tmp_path.resolve() / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
        path.chmod(0o755)
    return tmp_path.resolve()


def controlled(config: Config, project: Path, name: str) -> bool:
    environ = {"HOME": str(project / "home"), "PATH": f"{project / 'hooks'}:/usr/bin:/bin"}
    made = make_environment(config, project / "state", cwd=project, environ=environ)
    return resolve_path(name, made).control is not None


@pytest.mark.req("B-13")
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("./guard.sh",), "guard.sh"),
        (("sh", "guard.sh"), "guard.sh"),
        (("sh", "-c", "./hooks/guard.sh --strict"), "hooks/guard.sh"),
        (("sh", "-c", "exec ./hooks/guard.sh"), "hooks/guard.sh"),
        (("bash", "-lc", "true && sh guard.sh"), "guard.sh"),
        (("sh", "-c", "cd hooks; ./guard.sh"), "hooks/guard.sh"),
        (("sh", "-c", "sh < guard.sh"), "guard.sh"),
        (("env", "X=1", "guard.sh"), "hooks/guard.sh"),
        (("guard.sh",), "hooks/guard.sh"),
        (("sh",), "hooks/sh"),
        (("python3", "-m", "guard"), "guard.py"),
        (("python3", "-m", "hooks.guard"), "hooks/guard.py"),
        (("python3", "-m", "hooks.guard"), "hooks/__init__.py"),
        (("python3", "-Wignore", "guard.py"), "guard.py"),
        (("grep", "-q", "--file=rules.json", "x"), "rules.json"),
        (("grep", "-frules.json", "x"), "rules.json"),
        (("./missing.sh",), "missing.sh"),
    ],
)
def test_what_a_command_line_names_is_a_control_file(
    words: tuple[str, ...], name: str, project: Path
) -> None:
    """The same for hooks, for programs that answer questions, and for servers."""
    command, *args = words
    hook = DeclaredHook(HookEvent.PRE_TOOL, CommandHandler(command, tuple(args)), "check")
    server = ServerSettings("one", StdioEndpoint(command, tuple(args)))
    for config in (
        Config(hooks=(hook,), project_dir=project),
        Config(approvals=ApprovalSettings(unattended=(ApproverProgram(words),))),
        Config(servers=(server,), project_dir=project),
    ):
        assert controlled(config, project, name)
        assert not controlled(config, project, "other.txt")


@pytest.mark.req("B-13")
def test_what_a_server_is_to_serve_is_no_control_file(project: Path) -> None:
    """A directory among its words is mostly that, and so is one that is not there yet."""
    args = ("-y", "files", ".", str(project), "./hooks", "./data", "--log=/dev/null")
    config = Config(servers=(ServerSettings("one", StdioEndpoint("npx", args)),))
    for name in ("rules.json", "hooks/guard.sh", "data/x", "/dev/null"):
        assert not controlled(config, project, name), name


@pytest.mark.req("B-13")
def test_a_server_is_looked_for_where_it_runs(project: Path) -> None:
    """Its directory is where its relative paths begin."""
    endpoint = StdioEndpoint("python3", ("guard.py",), cwd=project / "hooks")
    config = Config(servers=(ServerSettings("one", endpoint),), project_dir=project)
    assert controlled(config, project, "hooks/guard.py")
    assert not controlled(config, project, "guard.py")


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        (("sh", "-c", "./guard.sh --strict"), True),
        (("python3", "guard.py", "-v"), True),
        (("sh", "-c", "$HERE/guard.sh"), False),
        (("sh", "-c", 'eval "$(cat guard.sh)"'), False),
        (("python3", "-c", "import guard"), False),
        (("node", "-e", "require('./x')"), False),
    ],
)
def test_check_points_at_what_can_not_be_told(
    words: tuple[str, ...], whole: bool, project: Path
) -> None:
    """An expansion decides what runs, or code in the command line does."""
    assert program_files(CommandLine("it", None, words, project, {})).whole is whole
    hook = DeclaredHook(HookEvent.TURN_START, CommandHandler(words[0], words[1:]), "check")
    config = Config(hooks=(hook,), project_dir=project)
    told = [one.text for one in findings(config, {"PATH": "/usr/bin"}) if one.note]
    assert any("the hook check runs what" in text for text in told) is not whole


@pytest.mark.parametrize("words", [("",), ("x\0y", "a\0b"), ("sh", "-c", "(((("), ("a" * 20_000,)])
def test_no_command_line_fails(words: tuple[str, ...], project: Path) -> None:
    """What can not be read names nothing."""
    assert program_files(CommandLine("it", None, words, project, {})).files == ()
