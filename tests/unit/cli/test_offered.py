"""What `lockgate resources` and `lockgate prompts` say is wrong, and with which code they end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lockgate.cli.exit import Exit
from lockgate.cli.main import main
from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.testing.project import Project
from lockgate.testing.script import ScriptedServer, When
from lockgate.testing.steps import Answer

ABLE: dict[str, Any] = {"resources": {}, "prompts": {}}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """One server that works, one that is not there, one without anything, one that fails."""
    made = Project(tmp_path)
    arguments = [{"name": "code", "description": "The code.", "required": True}]
    prompts = [{"name": "review", "arguments": arguments}]
    works = (
        When("prompts/list", Answer(result={"resultType": "complete", "prompts": prompts})),
        When("resources/read", Answer(result={"contents": [{"uri": "x:1", "text": "t"}]})),
    )
    failing = {"code": -32603, "message": "oops"}
    fails = (
        When("resources/list", Answer(error=failing)),
        When("prompts/list", Answer(error=failing)),
        When("resources/read", Answer(error={"code": -32602, "message": "no such resource"})),
    )
    made.add("docs", ScriptedServer((), works, capabilities=ABLE))
    made.add("gone", StdioEndpoint("/nowhere/at/all"))
    made.add("plain", ScriptedServer())
    made.add("broken", ScriptedServer((), fails, capabilities=ABLE))
    made.write()
    for name, value in made.environ().items():
        monkeypatch.setenv(name, value)
    return made


@pytest.mark.req("S3-19")
@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("resources", "list", "dcs"), Exit.USAGE, "did you mean docs?"),
        (("resources", "list", "gone"), Exit.UNREACHABLE, "gone is not there"),
        (("resources", "list", "broken"), Exit.FAILED, "oops"),
        (("resources", "list", "plain"), Exit.DONE, "plain has none"),
        (("resources", "read", "gone", "x:1"), Exit.UNREACHABLE, "gone is not there"),
        (("resources", "read", "plain", "x:1"), Exit.FAILED, "has no resources"),
        (("resources", "read", "broken", "x:1"), Exit.USAGE, "no such resource"),
        (("resources", "read", "docs", "x:{a"), Exit.USAGE, "not closed"),
        (("resources", "read", "docs", "x:{abc}"), Exit.USAGE, "needs values: abc=..."),
        (("resources", "read", "docs", "x:{abc}", "acb=1"), Exit.USAGE, "did you mean abc?"),
        (("resources", "read", "docs", "x:1", "a=1"), Exit.USAGE, "takes no values"),
        (("resources", "read", "docs", "x:{a}", "a"), Exit.USAGE, "is not NAME=VALUE"),
        (("resources", "read", "docs", "x:{a}", "a=1", "a=2"), Exit.USAGE, "given twice"),
        (("resources", "read", "docs", "x:///{a}", "a=.."), Exit.USAGE, "makes a step"),
        (("resources", "read", "docs", "x:1", "--complete", "a"), Exit.USAGE, "takes no values"),
        (("resources", "read", "docs", "x:1", "--content", "2"), Exit.USAGE, "no content 2"),
        (("prompts", "get", "docs", "reveiw"), Exit.USAGE, "did you mean review?"),
        (("prompts", "get", "docs", "review"), Exit.USAGE, "code=...  The code."),
        (("prompts", "get", "docs", "review", "cod=1"), Exit.USAGE, "did you mean code?"),
        (("prompts", "get", "plain", "review"), Exit.USAGE, "there is none"),
        (("prompts", "get", "gone", "review"), Exit.UNREACHABLE, "gone is not there"),
        (("prompts", "get", "broken", "review"), Exit.FAILED, "oops"),
    ],
)
def test_what_is_wrong_is_said_with_the_code_of_its_kind(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: Exit,
    told: str,
) -> None:
    """Where a name is nearly right, the right one; nothing on standard output."""
    assert main(["-c", str(project.file), *words]) == code
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out == ""
