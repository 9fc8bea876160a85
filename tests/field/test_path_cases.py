"""Field cases about paths, with the tools that come with lockgate, on real files.

Only the case-insensitive half of PB-173 is not: no file system that folds case is at hand where
these tests run, so it is scripted, here and in tests/unit/calls/test_paths.py.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal

import pytest

from lockgate.builtin.catalogue import in_tree
from lockgate.calls.paths import real_path, resolve_path
from lockgate.decision import Decision
from lockgate.rules.matcher import Match
from lockgate.rules.parse import parse_rule
from lockgate.rules.path import PathPattern
from lockgate.rules.places import Places
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.filesystem import ScriptedFileSystem
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment
from lockgate.tools.result import ErrorKind, ToolResult

CONTENT = "TOKEN=hunter2-of-the-field"
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
FORMS: tuple[Literal["NFC"], Literal["NFD"]] = ("NFC", "NFD")
READING = ("Read", "Glob", "Grep", "Write", "Edit")


class Project:
    """A directory under rules, and somebody who refuses whatever is asked."""

    def __init__(self, base: Path, threads: ThreadPoolExecutor) -> None:
        self.folder = base / "project"
        self.folder.mkdir()
        self._state = base / "state"
        starts = {"files": self.folder}
        self._place = Environment(
            self.folder, roots=(self.folder,), threads=threads, server_dirs=starts
        )
        self._roads: list[Road] = []
        self.refuses = ScriptedApprover.always(False)
        self.server = ScriptedTool("read", server="files", input_schema=SCHEMA, destructive=False)

    def file(self, name: str, text: str = "x = 1\n") -> Path:
        """Make a file below it, or anywhere."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def under(self, *, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Road:
        """A road under these rules; reading is asked about too."""
        places = Places(str(self.folder), real=real_path)
        lists = {Decision.ALLOW: allow, Decision.DENY: deny}
        rules = [
            parse_rule(text, decision, places=places)
            for decision, texts in lists.items()
            for text in texts
        ]
        state = self._state / str(len(self._roads))
        state.mkdir(parents=True)
        road = Road(
            state,
            [*in_tree(READING, {}), self.server],
            rules=RuleSet(tuple(rules)),
            exempt=None,
            attended=[self.refuses],
            environment=self._place,
        )
        self._roads.append(road)
        return road

    def close(self) -> None:
        for road in self._roads:
            road.close()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with ThreadPoolExecutor(2) as threads:
        made = Project(tmp_path.resolve(), threads)
        yield made
        made.close()


async def call(road: Road, tool: str, **arguments: Any) -> ToolResult:
    return await road.invoke(road.call(tool, arguments))


ODD = (".env/", ".env/.", ".env.", ".env ", "sub\\.env", ".env\0", "\u202e.env", ".env::$DATA")


async def test_pb_173_an_alias_of_a_denied_file_is_denied(project: Project) -> None:
    """A link, a chain of links, a way around: each leads to the file that is denied."""
    project.file(".env", CONTENT)
    project.file("sub/.env", CONTENT)
    (project.folder / "notes.txt").symlink_to(".env")
    (project.folder / "more.txt").symlink_to("notes.txt")
    (project.folder / "way").symlink_to("sub")
    road = project.under(allow=("Read(./**)",), deny=("Read(**/.env)",))
    for given in (
        ".env", "./.env", "sub/../.env", "notes.txt", "more.txt", "way/.env", "way/../.env",
        str(project.folder / "notes.txt"),
    ):  # fmt: skip
        result = await call(road, "Read", path=given)
        assert result.kind is ErrorKind.DENIED, given
        assert CONTENT not in result.text


@pytest.mark.parametrize("odd", ODD)
async def test_pb_173_an_odd_form_does_not_read_the_file(odd: str, project: Project) -> None:
    """It is another name here, or no path at all; what is read is never what is denied."""
    project.file(".env", CONTENT)
    road = project.under(allow=("Read(./**)",), deny=("Read(**/.env)",))
    result = await call(road, "Read", path=odd)
    assert result.is_error
    assert CONTENT not in result.text


async def test_pb_173_case_counts_where_the_file_system_says_so(project: Project) -> None:
    """Here `.ENV` is another file, and no rule speaks of it."""
    if project.file(".env", CONTENT).with_name(".ENV").exists():
        pytest.skip("NOT CHECKED: this file system folds case")
    project.file(".ENV", "other")
    road = project.under(allow=("Read(./**)",), deny=("Read(**/.env)",))
    result = await call(road, "Read", path=".ENV")
    assert "other" in result.text
    assert (await call(road, "Read", path=".Env")).is_error


def test_pb_173_case_does_not_count_where_the_file_system_folds_it() -> None:
    """NOT ON A REAL FILE SYSTEM: `.ENV` and `.Env` are found to be `.env`, and are denied."""
    files = ScriptedFileSystem(folds_case=True)
    files.add("/p/sub/.env")
    rule = PathPattern.parse("**/.env", base="/p", home=None)
    for given in ("sub/.ENV", "SUB/.Env", "sub/.env", ".ENV"):
        found = resolve_path(given, Environment(Path("/p")), files)
        assert rule.catches(found) is Match.YES


@pytest.mark.parametrize("form", FORMS)
async def test_pb_173_both_forms_of_a_name_are_denied(
    form: Literal["NFC", "NFD"], project: Project
) -> None:
    """A rule and a file may each hold either: nobody can see which."""
    name = unicodedata.normalize(form, "비밀.txt")
    project.file(name, CONTENT)
    for written in FORMS:
        rule = f"Read({unicodedata.normalize(written, '비밀.txt')})"
        road = project.under(allow=("Read(./**)",), deny=(rule,))
        assert (await call(road, "Read", path=name)).kind is ErrorKind.DENIED
        other = unicodedata.normalize("NFD" if form == "NFC" else "NFC", name)
        assert CONTENT not in (await call(road, "Read", path=other)).text


async def test_pb_174_a_search_of_the_whole_tree_skips_the_denied_file(project: Project) -> None:
    """Nobody is asked, nothing is refused, and the file is not there: not its content, its name,
    nor that something was left out. It is the same by any name of the file."""
    project.file(".env", CONTENT)
    project.file("src/app.py", "print('of-the-field')\n")
    (project.folder / "alias").symlink_to(".env")
    road = project.under(allow=("Grep(./)", "Glob(./)"), deny=("Read(./.env)",))
    for path in ({}, {"path": "."}, {"path": str(project.folder)}, {"path": "src/.."}):
        text = (await call(road, "Grep", pattern="of-the-field", **path)).text
        assert "app.py" in text
        assert ".env" not in text
        assert CONTENT not in text
        for pattern in ("*", "**/*", ".*", ".env", "**/*.py"):
            named = (await call(road, "Glob", pattern=pattern, **path)).text
            assert ".env\n" not in f"{named}\n" or pattern == ".env"
            assert "hunter2" not in named
    everything = await call(road, "Glob", pattern="**/*", include_ignored=True)
    assert "app.py" in everything.text
    assert ".env" not in everything.text
    assert project.refuses.questions == []


async def test_pb_174_nothing_is_asked_about_a_directory_beside_it(project: Project) -> None:
    """`src` holds nothing that is denied, and naming the file itself is a refusal."""
    project.file(".env", CONTENT)
    project.file("src/app.py")
    road = project.under(allow=("Grep(./)", "Glob(./)", "Read(./)"), deny=("Read(./.env)",))
    for tool, arguments in {
        "Grep": {"pattern": "x", "path": "src"},
        "Glob": {"pattern": "**/*.py", "path": "src"},
        "Read": {"path": "src/app.py"},
    }.items():
        assert not (await call(road, tool, **arguments)).is_error
    for tool, arguments in {
        "Grep": {"pattern": "x", "path": ".env"},
        "Glob": {"pattern": "*", "path": ".env"},
        "Read": {"path": ".env"},
        "Edit": {"path": ".env", "old": "TOKEN", "new": "x", "stamp": "x"},
    }.items():
        assert (await call(road, tool, **arguments)).kind is ErrorKind.DENIED, tool
    assert project.refuses.questions == []


async def test_pb_174_a_server_that_is_handed_the_tree_is_asked_about_once(
    project: Project,
) -> None:
    """Its tool can not be told to leave a file out. `.` may hold what is denied and is asked about,
    `src` can not and is not, and the file itself is denied."""
    project.file(".env", CONTENT)
    project.file("src/app.py")
    name = project.server.name
    road = project.under(allow=(f"{name}(path=path:./)",), deny=(f"{name}(path=path:./.env)",))
    assert not (await call(road, name, path="src")).is_error
    assert not (await call(road, name, path="src/app.py")).is_error
    assert (await call(road, name, path="./.env")).kind is ErrorKind.DENIED
    assert project.refuses.questions == []
    assert (await call(road, name, path=".")).kind is ErrorKind.NOT_APPROVED
    [question] = project.refuses.questions
    assert "deny_rule_may_match" in [reason.code for reason in question.reasons]
    assert [run["path"] for run in project.server.runs] == ["src", "src/app.py"]


async def test_pb_175_a_deny_on_the_target_beats_an_allow_on_the_name(project: Project) -> None:
    """`/cfg/mcp.yaml` is allowed and leads to `/secret/key`, which is denied."""
    base = project.folder
    project.file("secret/key", CONTENT)
    project.file("cfg/other.yaml", "fine")
    (base / "cfg" / "mcp.yaml").symlink_to(base / "secret" / "key")
    road = project.under(
        allow=(f"Read({base}/cfg/mcp.yaml)", f"Read({base}/cfg/other.yaml)"),
        deny=(f"Read({base}/secret/**)",),
    )
    result = await call(road, "Read", path=str(base / "cfg" / "mcp.yaml"))
    assert result.kind is ErrorKind.DENIED
    assert CONTENT not in result.text
    assert "fine" in (await call(road, "Read", path="cfg/other.yaml")).text
    assert project.refuses.questions == []


async def test_pb_175_without_the_deny_an_allow_on_the_name_is_not_enough(
    project: Project,
) -> None:
    """The link leads to what no rule speaks of: that is asked about."""
    project.file("secret/key", CONTENT)
    (project.folder / "cfg").mkdir()
    (project.folder / "cfg" / "mcp.yaml").symlink_to("../secret/key")
    road = project.under(allow=("Read(./cfg/mcp.yaml)",))
    result = await call(road, "Read", path="cfg/mcp.yaml")
    assert result.kind is ErrorKind.NOT_APPROVED
    assert len(project.refuses.questions) == 1
