"""A gate whose configuration is read again: what counts from when on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import lockgate
from lockgate.agent.model import ModelReply
from lockgate.app.build import Surroundings
from lockgate.calls.call import Suspended
from lockgate.calls.refusals import Refuse
from lockgate.decision import Decision
from lockgate.errors import ConfigError, LocalError
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.policy.approval import Answer, Later
from lockgate.settings.acceptance import AcceptedFiles, NotAccepted, digest_of
from lockgate.settings.layers import locate
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.model import FakeModel, asking
from lockgate.testing.tool import ScriptedTool, lost
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel


class Place:
    """A project and a person's home."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "lockgate.yaml"
        self.environ = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}
        self.tool = ScriptedTool("add", destructive=False)
        self.drop = ScriptedTool("drop")

    def write(self, **sections: Any) -> None:
        """Write the project's file."""
        self.file.write_text(json.dumps(sections))

    @asynccontextmanager
    async def opened(self, *, named: bool = True, **options: Any) -> AsyncGenerator[lockgate.Gate]:
        """A gate on it."""
        around = Surroundings(environ=self.environ, cwd=self.file.parent)
        options.setdefault("attended", False)
        source = self.file if named else None
        async with lockgate.open(
            source, tools=[self.tool, self.drop], surroundings=around, **options
        ) as gate:
            yield gate


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project whose file lets `add` run and asks about `drop`."""
    found = Place(tmp_path)
    found.write(approvals={"exemptAtOrBelow": "mutating"})
    return found


async def kind(gate: lockgate.Gate, name: str = "add") -> ErrorKind | None:
    """How one call ends."""
    result = await gate.call(name, {})
    assert isinstance(result, ToolResult)
    return result.kind


async def test_what_tightens_is_in_force_from_the_next_call_on(place: Place) -> None:
    """A deny rule, a lower ceiling, a narrower offer, more questions; each in turn."""
    async with place.opened() as gate:
        assert await kind(gate) is None
        for sections, expected in (
            ({"approvals": {"exemptAtOrBelow": "read-only"}}, ErrorKind.NOT_APPROVED),
            ({"agent": {"ceiling": "read-only"}}, ErrorKind.ABOVE_CEILING),
            ({"permissions": {"deny": ["add"]}}, ErrorKind.DENIED),
            ({"agent": {"offer": ["drop"]}}, ErrorKind.NOT_OFFERED),
        ):
            place.write(**sections)
            assert (await gate.reload()).taken
            assert await kind(gate) is expected
            assert gate.explain("add", {}).decision is Decision.DENY


async def test_what_loosens_is_not_taken_and_is_told(place: Place) -> None:
    """A deny rule that is gone holds until a restart; so does the ceiling."""
    place.write(permissions={"deny": ["add"]}, agent={"ceiling": "read-only"})
    async with place.opened() as gate:
        place.write(approvals={"exemptAtOrBelow": "mutating"})
        found = await gate.reload()
        assert found.taken == ()
        assert len(found.loosens) == 3
        assert await kind(gate) is ErrorKind.DENIED
        assert (await gate.reload()).loosens == found.loosens


async def test_a_session_that_has_begun_is_held_to_it(place: Place) -> None:
    """From its next turn on it is shown less, and its calls meet the new rules."""
    model = FakeModel([asking("add"), ModelReply("done"), asking("add"), ModelReply("done")])
    async with place.opened() as gate:
        agent = gate.agent(model=model)
        await agent.run("go")
        place.write(agent={"offer": ["drop"]})
        await gate.reload()
        result = await agent.run("again")
        assert model.seen[0].names == ("add", "drop")
        assert model.seen[-1].names == ("drop",)
        [made] = result.calls
        assert isinstance(made.result, ToolResult)
        assert made.result.kind is ErrorKind.NOT_OFFERED
    assert len(place.tool.runs) == 1


@pytest.mark.req("S0-06")
async def test_a_turn_that_has_begun_is_shown_what_is_left(place: Place) -> None:
    """What the model is shown and what it may call stay the same within one turn, too."""
    place.tool = ScriptedTool("add", destructive=False, hold=True)
    model = FakeModel([asking("add"), asking("add")])
    async with place.opened() as gate:
        turn = asyncio.ensure_future(gate.agent(model=model).run("go"))
        await place.tool.started.wait()
        place.write(agent={"offer": ["drop"]})
        await gate.reload()
        place.tool.release()
        result = await turn
    assert [seen.names for seen in model.seen] == [("add", "drop"), ("drop",), ("drop",)]
    kinds = [made.result.kind for made in result.calls if isinstance(made.result, ToolResult)]
    assert kinds == [None, ErrorKind.NOT_OFFERED]


async def test_no_tool_is_named_that_a_reload_took_away(place: Place) -> None:
    """Nor as one to look with, where nobody knows what a call has done."""
    place.drop = ScriptedTool("look", level=SideEffectLevel.READ_ONLY)
    lenient: dict[str, Any] = {"approvals": {"exemptAtOrBelow": "mutating"}}
    for narrower, names_it in (({}, True), ({"agent": {"offer": ["add"]}}, False)):
        place.tool = ScriptedTool("add", destructive=False, hold=True, replies=[lost()])
        place.write(**lenient)
        async with place.opened() as gate:
            call = asyncio.ensure_future(gate.call("add"))
            await place.tool.started.wait()
            place.write(**lenient, **narrower)
            await gate.reload()
            place.tool.release()
            result = await call
        assert isinstance(result, ToolResult)
        assert result.kind is ErrorKind.OUTCOME_UNKNOWN
        assert ("look" in result.text.split()[-1]) is names_it, result.text


@pytest.mark.parametrize(
    ("narrower", "expected"),
    [
        ({"agent": {"offer": ["drop"]}}, ErrorKind.NOT_OFFERED),
        ({"agent": {"ceiling": "read-only"}}, ErrorKind.ABOVE_CEILING),
        ({"permissions": {"deny": ["add"]}}, ErrorKind.DENIED),
    ],
)
async def test_an_answer_from_elsewhere_and_a_look_meet_it(
    place: Place, narrower: dict[str, Any], expected: ErrorKind
) -> None:
    """A call that was put off before the reload is not made after it, whatever its answer; and
    `explain` tells what `call` does."""
    place.write()
    place.tool = ScriptedTool("add")
    later = ScriptedApprover([Later()])
    async with place.opened(approvers=[later], attended=True) as gate:
        waiting = await gate.call("add", {})
        assert isinstance(waiting, Suspended)
        place.write(**narrower)
        await gate.reload()
        told = gate.explain("add", {}).verdict
        assert isinstance(told, Refuse)
        result = await gate.resume(waiting.ticket, True)
        assert isinstance(result, ToolResult)
        assert result.kind is told.kind is expected
    assert place.tool.runs == []


async def test_an_answer_meets_the_rules_of_its_time(place: Place) -> None:
    """A question that was put before the reload is decided after it, and a call under way ends."""
    approver = ScriptedApprover([Answer(True, "scripted")], hold=True)
    place.tool = ScriptedTool("add", destructive=False, hold=True)
    async with place.opened(approvers=[approver], attended=True) as gate:
        under_way = asyncio.ensure_future(kind(gate))
        await place.tool.started.wait()
        waiting = asyncio.ensure_future(kind(gate, "drop"))
        await approver.asked.wait()
        place.write(permissions={"deny": ["drop", "add"]})
        await gate.reload()
        approver.release()
        assert await waiting is ErrorKind.DENIED
        place.tool.release()
        assert await under_way is None
    assert place.drop.runs == []


async def test_hooks_hear_of_it_and_may_refuse_it(place: Place) -> None:
    """Nothing is taken then, and the reason is told."""
    heard: list[HookInput] = []

    async def refuse(told: HookInput) -> HookResult:
        heard.append(told)
        return HookResult(HookDecision.DENY, "not on a friday")

    async with place.opened(hooks=[Hook(HookEvent.CONFIG_RELOAD, refuse, "friday")]) as gate:
        place.write(permissions={"deny": ["add"]})
        found = await gate.reload()
        assert found.refused is not None
        assert "not on a friday" in str(found)
        assert await kind(gate) is None
    [told] = heard
    assert told.data()["taken"] == [
        'the deny rule "add" is new',
        "approvals.exemptAtOrBelow is read-only",
    ]


async def test_more_hooks_are_in_force_and_those_taken_out_stay(place: Place) -> None:
    """As declared, beside those of the program."""
    veto = {"type": "command", "command": ["/bin/sh", "-c", "exit 2"], "name": "veto"}
    async with place.opened() as gate:
        place.write(
            approvals={"exemptAtOrBelow": "mutating"}, hooks={"pre_tool": [{"hooks": [veto]}]}
        )
        assert (await gate.reload()).taken == ("the hook veto (pre_tool) is new",)
        assert await kind(gate) is ErrorKind.DENIED
        place.write(approvals={"exemptAtOrBelow": "mutating"})
        assert len((await gate.reload()).loosens) == 1
        assert await kind(gate) is ErrorKind.DENIED


async def test_what_a_new_hook_runs_is_part_of_the_configuration(place: Place) -> None:
    """From then on a tool of lockgate's that writes there is asked about."""
    allowed = {"rule": "Write(./**)", "destructive": True, "when": "any"}
    sections: dict[str, Any] = {"builtin": ["Write"], "permissions": {"allow": [allowed]}}
    place.write(**sections)
    call = {"path": "check.sh", "content": "exit 0"}
    async with place.opened() as gate:
        assert gate.explain("Write", call).decision is Decision.ALLOW
        hook = {"type": "command", "command": "./check.sh"}
        place.write(**sections, hooks={"pre_tool": [{"matcher": "drop", "hooks": [hook]}]})
        await gate.reload()
        assert gate.explain("Write", call).decision is Decision.DENY
        other = call | {"path": "other.sh"}
        assert gate.explain("Write", other).decision is Decision.ALLOW


async def test_a_hook_whose_path_leads_in_a_circle_is_in_force_all_the_same(place: Place) -> None:
    """What it names can not be looked up; everything else that was read is in force with it."""
    place.write()
    loop = place.file.parent / "loop"
    loop.symlink_to("loop")
    async with place.opened() as gate:
        hook = {"type": "command", "command": ["sh", "./loop"]}
        place.write(
            hooks={"pre_tool": [{"matcher": "drop", "hooks": [hook]}]},
            permissions={"deny": ["add"]},
        )
        assert len((await gate.reload()).taken) == 2
        assert await kind(gate) is ErrorKind.DENIED


async def test_what_can_not_be_used_changes_nothing(place: Place) -> None:
    """A fault in the file is raised; the old configuration stays in force."""
    async with place.opened() as gate:
        place.write(permissions={"deny": ["add"]}, agnt={})
        with pytest.raises(ConfigError, match="did you mean agent"):
            await gate.reload()
        assert await kind(gate) is None


async def test_a_found_file_has_to_be_accepted_again(place: Place) -> None:
    """What changed in it is not read into force by a reload (B-13)."""
    layers = locate(place.file.parent, place.environ)
    accepted = AcceptedFiles(layers.accepted_dir)
    accepted.accept(place.file, digest_of(place.file.read_bytes()))
    async with place.opened(named=False) as gate:
        place.write(permissions={"deny": ["add"]})
        with pytest.raises(NotAccepted):
            await gate.reload()
        accepted.accept(place.file, digest_of(place.file.read_bytes()))
        assert (await gate.reload()).taken
        assert await kind(gate) is ErrorKind.DENIED


async def test_there_has_to_be_a_file(tmp_path: Path) -> None:
    """A configuration that a program made is not read again, and a closed gate reads nothing."""
    async with lockgate.open(lockgate.Config(state_dir=tmp_path)) as gate:
        with pytest.raises(LocalError, match="made by the program"):
            await gate.reload()
    with pytest.raises(LocalError, match="closed"):
        await gate.reload()
