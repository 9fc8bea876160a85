"""Paths of servers' tools: where they start, what is judged, and what `explain` says of it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment
from lockgate.tools.result import ErrorKind
from path_road import READ, SCHEMA, MakeRoad, kind_of, reader, rules, writer


async def test_a_servers_relative_path_starts_from_where_it_runs(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """Judged from the project's directory, a server that runs elsewhere would be let through."""
    for server, given, kind in [
        ("files", "docs/a", None),
        ("elsewhere", "docs/a", ErrorKind.NOT_APPROVED),
        ("elsewhere", "../docs/a", None),
    ]:
        tool = ScriptedTool("w", server=server, input_schema=SCHEMA)
        text = f"{tool.name}(path=path:./docs/**)"
        held = rules(project, destructive=True, allow=[text])
        road = make_road([tool], rules=held, environment=environment, owner=server + given)
        assert await kind_of(road, road.call(tool.name, {"path": given})) is kind


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("secret/key", ErrorKind.NOT_APPROVED),
        ("key", ErrorKind.NOT_APPROVED),
        ("../project/secret/key", ErrorKind.NOT_APPROVED),
        (["docs/a", "key"], ErrorKind.NOT_APPROVED),
        ("{project}/secret/key", ErrorKind.DENIED),
        ("a/.env", ErrorKind.DENIED),
        (".env", ErrorKind.DENIED),
        ("x/../.env/b", ErrorKind.DENIED),
        ("{project}/docs/a", None),
        ("~/x", None),
    ],
)
async def test_where_nobody_said_where_a_server_starts_a_relative_path_is_asked_about(
    given: str | list[str],
    kind: ErrorKind | None,
    project: Path,
    environment: Environment,
    make_road: MakeRoad,
) -> None:
    """A server may start it at a directory that it serves: no allow rule means it, a deny rule may,
    and does where it goes by a name alone. The model is told to give an absolute one."""
    tool = ScriptedTool("w", server="serves", input_schema=SCHEMA, level=READ)
    here = str(project)
    given = given.format(project=here) if isinstance(given, str) else given
    held = rules(
        project,
        deny=["mcp__serves__w(path=path:./secret/**)", "mcp__serves__w(path=path:**/.env)"],
    )
    homely = msgspec.structs.replace(environment, home=project / "other")
    road = make_road([tool], rules=held, environment=homely)
    result = await road.invoke(road.call(tool.name, {"path": given}))
    assert result.kind is kind
    if kind is ErrorKind.NOT_APPROVED:
        assert result.reason == "nobody_to_ask"
        assert "Call again with an absolute path" in result.text
        assert "path is a relative path" in result.text
        assert "key" not in result.text
    allowed = rules(project, destructive=True, allow=["mcp__serves__w(path=path:./)"])
    writes = ScriptedTool("w", server="serves", input_schema=SCHEMA)
    road = make_road([writes], rules=allowed, environment=homely, owner="allows")
    inside = isinstance(given, str) and given.startswith(here)
    result = await road.invoke(road.call(tool.name, {"path": given}))
    assert (result.kind is None) is (inside or given == "~/x")


async def test_a_relative_path_nobody_knows_where_is_a_control_file_by_its_name(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """Wherever it starts: what says so is its name. So is one that leads nowhere from here."""
    (project / "circle").symlink_to("circle")
    tool = ScriptedTool("w", server="serves", input_schema=SCHEMA)
    held = rules(project, ask=["mcp__serves__w(path=path:./nowhere)"])
    approver = ScriptedApprover.always(False)
    road = make_road([tool], rules=held, attended=[approver], environment=environment)
    for given in (".git/hooks/x", "circle/.git/config"):
        await road.invoke(road.call(tool.name, {"path": given}))
        codes = {reason.code for reason in approver.questions[-1].reasons}
        assert {"control_file", "relative_path", "ask_rule"} <= codes, given


@pytest.mark.parametrize(
    "given",
    [
        "file:///etc/passwd",
        " /etc/passwd",
        "docs/a\n",
        "$HOME/x",
        "${HOME}/x",
        "%APPDATA%/x",
        "~me/x",
    ],
)
async def test_what_a_server_could_read_in_its_own_way_is_not_let_through(
    given: str, project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """To the kernel each is a file in the project; a server may think otherwise. A tool of ours
    opens what the kernel does."""
    tool = ScriptedTool("w", server="files", input_schema=SCHEMA)
    held = rules(project, destructive=True, allow=["mcp__files__w(path=path:./**)"])
    road = make_road([tool], rules=held, environment=environment)
    result = await kind_of(road, road.call(tool.name, {"path": given}))
    assert result is ErrorKind.NOT_APPROVED
    denied = rules(project, deny=["mcp__files__w(path=path:./elsewhere)"])
    road = make_road([tool], rules=denied, environment=environment, owner="denies")
    assert await kind_of(road, road.call(tool.name, {"path": given})) is ErrorKind.DENIED
    assert await kind_of(road, road.call(tool.name, {"path": "docs/$a b"})) is not ErrorKind.DENIED


async def test_no_array_of_paths_is_too_long(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """Only so many are looked up; the others let nothing through."""
    tool = ScriptedTool("w", server="files", input_schema=SCHEMA)
    held = rules(project, destructive=True, allow=["mcp__files__w(path=path:./**)"])
    road = make_road([tool], rules=held, environment=environment)
    assert await kind_of(road, road.call(tool.name, {"path": ["docs/a"] * 1000})) is None
    many = road.call(tool.name, {"path": ["docs/a"] * 1001})
    assert await kind_of(road, many) is ErrorKind.NOT_APPROVED


async def test_explain_says_what_was_judged_and_what_overrules_a_rule(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """The path stands beside the reasons, which hold no value of an argument; what a search leaves
    out is named by the rule's pattern."""
    held = rules(project, destructive=True, allow=["Write(./**)"])
    road = make_road(
        [writer()], rules=held, attended=[ScriptedApprover([])], environment=environment
    )
    explained = road.invoker.explain(road.call("Write", {"path": ".git/config"}), road.snapshot)
    assert [path.real for _, path in explained.subjects.paths] == [str(project / ".git" / "config")]
    gate = next(step for step in explained.steps if step.name == "gate")
    assert {"control_file", "overruled"} <= {reason.code for reason in gate.reasons}
    assert ".git/config" not in str(explained)

    searching = make_road(
        [reader("Grep")],
        rules=rules(project, deny=["Read(**/.env)"]),
        environment=environment,
        owner="searches",
    )
    for given, told in (("docs", True), ("docs/a", False)):
        call = searching.call("Grep", {"path": given})
        found = searching.invoker.explain(call, searching.snapshot)
        arguments = next(step for step in found.steps if step.name == "arguments")
        texts = [reason.text for reason in arguments.reasons]
        assert ("files that **/.env means are left out" in texts) is told


async def test_explain_keeps_one_order_and_sets_rules_that_do_not_count_apart(
    project: Path, environment: Environment, make_road: MakeRoad
) -> None:
    """Of arguments, by name; of rules, those that decide before those that do not count here."""
    names = ("zeta", "path", "alpha", "to", "mid")
    tool = ScriptedTool(
        "w",
        server="files",
        destructive=False,
        input_schema={"type": "object", "properties": {name: {} for name in names}},
    )
    told = ", ".join(f"{name}=path:./**" for name in names)
    held = rules(project, allow=[f"mcp__files__w({told})"])
    road = make_road([tool], rules=held, environment=environment)
    call = road.call(tool.name, dict.fromkeys(names, "docs/a"), attended=False)
    explained = road.invoker.explain(call, road.snapshot)
    assert [name for name, _ in explained.subjects.paths] == sorted(names)
    step = next(step for step in explained.steps if step.name == "rules")
    codes = [reason.code for reason in step.reasons]
    assert codes == ["no_rule", "do_not_count", "rule_dormant"]
    assert step.reasons[0].text == "no rule decides"
