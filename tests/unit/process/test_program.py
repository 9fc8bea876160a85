"""Finding a program: each way of not being there is an error of its own (PB-026)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.process.child import Child
from lockgate.process.program import Program, expand_home, find
from lockgate.testing.belongings import Belongings, left_since

SECRET = "hunter2-do-not-show"  # noqa: S105 - made up


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with a program, a file that is none, a directory, and a script without runner."""
    good = tmp_path / "good"
    good.write_text("#!/bin/sh\necho hello\n")
    good.chmod(0o755)
    (tmp_path / "plain").write_text("text")
    (tmp_path / "folder").mkdir()
    lost = tmp_path / "lost"
    lost.write_text("#!/no/such/interpreter\n")
    lost.chmod(0o755)
    empty = tmp_path / "binary"
    empty.write_bytes(b"\x00\x01\x02\x03")
    empty.chmod(0o755)
    return tmp_path


async def refusal(command: str, **more: Any) -> str:
    """Why a program can not be started."""
    more = {"env": {"PATH": "/usr/bin:/bin", "TOKEN": SECRET}, "args": (SECRET, "\udcff"), **more}
    program = Program("files", command, **more)
    before = Belongings.now()
    with pytest.raises(PeerError) as caught:
        await Child.start(program, None)  # pyright: ignore[reportArgumentType] - never reached
    error = caught.value
    assert (error.peer, error.phase) == ("files", Phase.SPAWN)
    assert (error.fault, error.fate) == (Fault.NOT_STARTED, Fate.NOT_SENT)
    assert SECRET not in _chain(error)
    assert SECRET not in f"{error!r}{program!r}"
    assert await left_since(before) == ()
    return str(error)


def _chain(error: BaseException | None) -> str:
    """The error and all that hangs on it, with what they hold."""
    shown = ""
    while error is not None:
        shown += f"{error!r} {vars(error)} {getattr(error, 'object', '')}\n"
        error = error.__cause__ or error.__context__
    return shown


async def test_a_bare_name_that_is_nowhere() -> None:
    """Not found in the PATH that it gets, with what to do."""
    text = await refusal("no-such-cmd")
    assert "`no-such-cmd` was not found in the PATH" in text
    assert "full path" in text


async def test_a_path_that_leads_nowhere(place: Path) -> None:
    """Not found, by the path that was looked at."""
    assert f"`{place}/nothing` was not found" in await refusal(str(place / "nothing"))


async def test_a_file_that_is_not_executable(place: Path) -> None:
    """Permission denied, by path and by name, with what to do."""
    for command, env in ((str(place / "plain"), {}), ("plain", {"PATH": f"/bin:{place}"})):
        text = await refusal(command, env=env)
        assert f"permission denied: `{place}/plain` is not executable" in text
        assert "chmod +x" in text


async def test_a_directory(place: Path) -> None:
    """Is a directory."""
    assert "is a directory, not a program" in await refusal(str(place / "folder"))


async def test_a_working_directory_that_is_missing_or_none(place: Path) -> None:
    """The working directory is named, and not mistaken for the program."""
    text = await refusal("true", cwd=Path("/nope"))
    assert "working directory (cwd) `/nope` does not exist" in text
    assert "is not a directory" in await refusal("true", cwd=place / "plain")


async def test_a_script_without_its_interpreter(place: Path) -> None:
    """The system says `not found` of a file that is there; we say what is missing."""
    assert "the interpreter that the first line" in await refusal(str(place / "lost"))


async def test_a_file_that_the_system_can_not_run(place: Path) -> None:
    """What is no program at all is said with the system's own reason."""
    assert "Exec format error" in await refusal(str(place / "binary"))


@pytest.mark.parametrize("bad", [{"A=B": "x"}, {"A": "x\0y"}])
async def test_an_environment_that_can_not_be_given(bad: dict[str, str]) -> None:
    """Said without showing the value."""
    assert "can not be given" in await refusal("/bin/true", env=bad)


@pytest.mark.parametrize("bad", [f"{SECRET}\0", f"{SECRET}\ud800"])
async def test_an_argument_that_can_not_be_given(bad: str) -> None:
    """The same, although the system's own error would hold it."""
    assert "can not be given" in await refusal("/bin/true", args=(bad,))


@pytest.mark.parametrize("command", ["", "a\0b"])
async def test_a_command_that_is_none(command: str) -> None:
    """Empty, or with a character that no path can have."""
    assert "its command is empty or holds a NUL" in await refusal(command)


def test_a_bare_name_is_found_as_a_shell_finds_it(place: Path) -> None:
    """The first executable file in the PATH that the child gets; what is none is passed over."""
    (place / "folder" / "plain").write_text("#!/bin/sh\n")
    (place / "folder" / "plain").chmod(0o755)
    env = {"PATH": f"{place}:{place}/folder"}
    assert find(Program("x", "good", env=env)) == f"{place}/good"
    assert find(Program("x", "plain", env=env)) == f"{place}/folder/plain"


def test_a_project_directory_decides_no_bare_name(place: Path) -> None:
    """Entries of PATH that start from the working directory are not searched."""
    for path in ("", ".", "folder", ":"):
        with pytest.raises(PeerError, match="not found in the PATH"):
            find(Program("x", "good", env={"PATH": path}, cwd=place))


def test_a_relative_path_starts_from_the_working_directory(place: Path) -> None:
    """That of the child, where it has one of its own."""
    assert find(Program("x", "./good", cwd=place)) == f"{place}/good"
    assert find(Program("x", "folder/../good", cwd=place)) == f"{place}/folder/../good"


def test_a_home_directory_is_expanded() -> None:
    """By the HOME of the environment that is handed in, never by our own."""
    env = {"HOME": "/home/someone"}
    assert expand_home("~/bin/srv", env) == "/home/someone/bin/srv"
    assert expand_home("~", env) == "/home/someone"
    assert expand_home("~root/x", env) == os.path.expanduser("~root/x")  # noqa: PTH111 - the same
    assert expand_home("/a/~/b", env) == "/a/~/b"
    assert expand_home("a~b", env) == "a~b"


async def test_a_home_directory_that_is_unknown_is_said() -> None:
    """Without HOME the path is not silently another one."""
    assert expand_home("~/bin/srv", {}) == "~/bin/srv"
    assert "`~` could not be expanded" in await refusal("~/bin/srv")
