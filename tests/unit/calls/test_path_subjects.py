"""Paths on the road of a call: resolved once, decided on, asked about, and used as resolved."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.policy.approval import PASS, Answer, Later, Question, Reply, Scope
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.tools.subject import ResolvedPath
from path_road import SCHEMA, MakeRoad, kind_of, reader, rules, writer


async def test_the_tool_is_handed_what_was_decided_on(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """The resolved path reaches the tool, which need not look it up again."""
    (project / "link").symlink_to("docs")
    tool = reader()
    road = make_road([tool], environment=environment)
    assert await kind_of(road, road.call("Read", {"path": "link/a"})) is None
    [context] = tool.contexts
    path = context.subjects.get("path")
    assert isinstance(path, ResolvedPath)
    assert path.real == str(project / "docs" / "a")


async def test_a_path_that_leads_nowhere_is_no_valid_argument(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """Of a tool of ours; the reason is told without the path."""
    (project / "circle").symlink_to("circle")
    tool = reader()
    road = make_road([tool], environment=environment)
    result = await road.invoke(road.call("Read", {"path": "circle"}))
    assert (result.kind, result.reason) == (ErrorKind.INVALID_ARGUMENTS, "unresolvable")
    assert "- path: " in result.text
    assert "circle" in result.text
    assert "schema" not in result.text
    denied = make_road(
        [tool], rules=rules(project, deny=["Read(**/.env)"]), environment=environment, owner="deny"
    )
    result = await denied.invoke(denied.call("Read", {"path": "circle"}))
    assert (result.kind, result.reason) == (ErrorKind.DENIED, "deny_rule")
    assert "Read(**/.env)" in result.text
    assert tool.runs == []


@pytest.mark.parametrize(
    "given", ["docs/link", "secret/key", "docs/../secret/key", "secret/../secret/key"]
)
async def test_a_deny_on_the_target_beats_an_allow_on_the_name(
    given: str, project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """Whichever way the target is reached."""
    (project / "docs" / "link").symlink_to("../secret/key")
    held = rules(project, allow=["Read(./docs/**)"], deny=["Read(./secret/**)"])
    tool = reader()
    road = make_road([tool], rules=held, exempt=None, environment=environment)
    assert await kind_of(road, road.call("Read", {"path": given})) is ErrorKind.DENIED
    assert await kind_of(road, road.call("Read", {"path": "docs/a"})) is None
    assert len(tool.runs) == 1


async def test_a_deny_on_the_name_holds_too(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """What is denied by a name is denied wherever the name leads."""
    (project / "docs" / "link").symlink_to("../secret/key")
    held = rules(project, deny=["Read(./docs/link)"])
    road = make_road([reader()], rules=held, environment=environment)
    assert await kind_of(road, road.call("Read", {"path": "docs/link"})) is ErrorKind.DENIED


@pytest.mark.parametrize("server", [None, "files"])
async def test_a_servers_parameter_and_a_subject_are_resolved_alike(
    server: str | None, project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """The same rule in its two spellings lets the same paths through."""
    (project / "docs" / "link").symlink_to("../secret/key")
    tool = writer() if server is None else ScriptedTool("w", server=server, input_schema=SCHEMA)
    text = "Write(./docs/**)" if server is None else "mcp__files__w(path=path:./docs/**)"
    held = rules(project, destructive=True, allow=[text])
    road = make_road([tool], rules=held, environment=environment)
    for given, kind in {
        "docs/a": None,
        str(project / "docs" / "new"): None,
        "docs": ErrorKind.NOT_APPROVED,
        "docs/link": ErrorKind.NOT_APPROVED,
        "docs/../secret/key": ErrorKind.NOT_APPROVED,
        "docs/.git/config": ErrorKind.NOT_APPROVED,
    }.items():
        assert await kind_of(road, road.call(tool.name, {"path": given})) is kind, given


async def test_of_an_array_all_have_to_be_allowed_and_one_denied_is_enough(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """An array of paths is no way around a rule."""
    tool = ScriptedTool("w", server="files", input_schema=SCHEMA)
    held = rules(
        project,
        destructive=True,
        allow=["mcp__files__w(path=path:./docs/**)"],
        deny=["mcp__files__w(path=path:./secret/**)"],
    )
    road = make_road([tool], rules=held, environment=environment)
    for given, kind in [
        (["docs/a", "docs/b"], None),
        (["docs/a", "other/b"], ErrorKind.NOT_APPROVED),
        (["docs/a", "docs/../secret/b"], ErrorKind.DENIED),
    ]:
        assert await kind_of(road, road.call(tool.name, {"path": given})) is kind, given


async def test_a_directory_that_may_hold_what_is_denied_is_asked_about(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """A server that is handed a directory may reach into it: over an allow rule, for directories
    above what is denied and for no others."""
    tool = ScriptedTool("w", server="files", input_schema=SCHEMA)
    held = rules(
        project,
        destructive=True,
        allow=["mcp__files__w(path=path:./)"],
        deny=["mcp__files__w(path=path:./secret/key)"],
    )
    road = make_road([tool], rules=held, environment=environment)
    for given, kind in [
        ("docs", None),
        ("docs/a", None),
        ("secret/key", ErrorKind.DENIED),
        ("secret", ErrorKind.NOT_APPROVED),
        (".", ErrorKind.NOT_APPROVED),
        (["docs", "."], ErrorKind.NOT_APPROVED),
    ]:
        assert await kind_of(road, road.call(tool.name, {"path": given})) is kind, given


@pytest.mark.parametrize("tool", [reader(), writer()], ids=["read", "write"])
async def test_no_tool_reaches_lockgates_own_state(
    tool: ScriptedTool, project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """Not by a rule and not by an answer."""
    (project / "link").symlink_to("../state")
    held = rules(project, destructive=not tool.is_read_only, allow=[f"{tool.name}(...)"])
    approver = ScriptedApprover.always(True)
    road = make_road([tool], rules=held, attended=[approver], environment=environment)
    for given in ("../state/state.db", "link/x", str(project.parent / "state")):
        assert await kind_of(road, road.call(tool.name, {"path": given})) is ErrorKind.DENIED
    assert (tool.runs, approver.questions) == ([], [])


async def test_a_search_is_told_to_leave_lockgates_own_state_out(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """It may start above it."""
    tool = reader("Grep")
    road = make_road([tool], attended=[ScriptedApprover.always(True)], environment=environment)
    assert await kind_of(road, road.call("Grep", {"path": ".."})) is None
    subjects = tool.contexts[0].subjects
    inside = str(project.parent / "state" / "state.db")
    assert subjects.withholds(ResolvedPath(inside, inside, inside, None))
    beside = str(project / "docs" / "a")
    assert not subjects.withholds(ResolvedPath(beside, beside, beside, str(project)))


@pytest.mark.req("B-13")
@pytest.mark.parametrize("given", ["my.yaml", ".git/hooks/x", ".claude/settings.json", "link"])
async def test_a_control_file_is_asked_about_over_an_allow_rule(
    given: str, project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """Before it is written; reading one is like reading any file."""
    (project / "link").symlink_to(".git/config")
    held = rules(project, destructive=True, allow=["Write(./**)"])
    approver = ScriptedApprover.always(True)
    road = make_road([writer(), reader()], rules=held, attended=[approver], environment=environment)
    assert await kind_of(road, road.call("Write", {"path": given})) is None
    [question] = approver.questions
    assert "control_file" in [reason.code for reason in question.reasons]
    assert await kind_of(road, road.call("Read", {"path": given})) is None
    assert await kind_of(road, road.call("Write", {"path": "docs/a"})) is None
    assert len(approver.questions) == 1


async def test_a_question_shows_where_paths_lead(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """Each on a line of its own, whatever is in its name; one that leads nowhere shows nothing."""
    (project / "link").symlink_to("docs")
    (project / "circle").symlink_to("circle")
    approver = ScriptedApprover.always(False)
    tool = ScriptedTool("w", server="files", input_schema=SCHEMA)
    held = rules(project, ask=["mcp__files__w(path=path:./nowhere)"])
    road = make_road([tool], rules=held, attended=[approver], environment=environment)
    given = ["link/a", "circle", "docs/two\nlines", str(project / "docs" / "a")]
    assert await kind_of(road, road.call(tool.name, {"path": given})) is ErrorKind.NOT_APPROVED
    [question] = approver.questions
    assert question.resolved == {"path": f"{project}/docs/a\n{project}/docs/two\\nlines"}


class Switching:
    """Says yes, after it has pointed a link elsewhere."""

    name = "switching"
    scopes = frozenset({Scope.ONCE})

    def __init__(self, link: Path, target: str) -> None:
        self._link = link
        self._target = target
        self.questions: list[Question] = []

    async def __call__(self, question: Question) -> Reply:
        self.questions.append(question)
        if len(self.questions) > 1:
            return PASS
        self._link.unlink()
        self._link.symlink_to(self._target)
        return Answer(True, self.name)


@pytest.mark.req("B-01")
async def test_a_link_that_is_switched_while_it_is_asked_about_runs_nothing(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """The answer was to where the link led; the question showed it."""
    link = project / "link"
    link.symlink_to("docs")
    tool, approver = writer(), Switching(link, "secret")
    road = make_road([tool], attended=[approver], environment=environment)
    assert await kind_of(road, road.call("Write", {"path": "link/a"})) is ErrorKind.TOOL_CHANGED
    assert tool.runs == []
    assert approver.questions[0].resolved == {"path": str(project / "docs" / "a")}


@pytest.mark.req("B-14")
async def test_what_is_barred_and_in_force_today_counts_for_a_resumed_call(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """And its file roots are those that were its own and are today's."""
    tool = writer()
    later = ScriptedApprover([Later()] * 3)
    asks = make_road([tool], attended=[later], environment=environment, owner="asks")
    tickets = [
        (await asks.suspend(asks.call("Write", {"path": path}))).ticket
        for path in ("docs/a", "docs/b", "docs/c")
    ]
    barred = Environment(project, (project,), barred=(project / "docs",))
    control = Environment(project, (project,), control=(project / "docs",))
    nowhere = Environment(project, (project / "other",))
    resumes = make_road([tool], owner="resumes")
    for ticket, today, kind in zip(
        tickets,
        (barred, control, nowhere),
        (ErrorKind.DENIED, ErrorKind.NOT_APPROVED, ErrorKind.NOT_APPROVED),
        strict=True,
    ):
        result = await resumes.invoker.resume(
            ticket, Answer(True, "person"), resumes.snapshot, environment=today
        )
        assert isinstance(result, ToolResult)
        assert result.kind is kind
    assert tool.runs == []
