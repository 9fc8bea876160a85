"""What check says of a configuration by what was last seen, and of trust without pins (B-05)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from lockgate.app.findings import findings
from lockgate.app.known import known_findings
from lockgate.app.servers import tools_last_seen
from lockgate.builtin.catalogue import unable
from lockgate.builtin.files.problem import FileProblem
from lockgate.mcp.client.tools import ListedTools
from lockgate.mcp.host.seen import SeenServer, sighted
from lockgate.mcp.protocol.results import ListedTool, ServerProfile, read_tool
from lockgate.process.hidden import NOTHING
from lockgate.settings.config import Config
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load
from lockgate.settings.pins import pin_of
from lockgate.settings.pins_file import change_pins
from lockgate.stores.last_seen import LastSeenFolder
from lockgate.testing.script import tool

SERVER = "mcp: {servers: [{name: s, command: sh%s}]}\n"
SCHEMA: dict[str, Any] = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
TOOLS = (
    tool("read", annotations={"readOnlyHint": True}),
    tool("drop", inputSchema=SCHEMA),
    tool("odd", annotations={"readOnlyHint": True, "destructiveHint": True}),
)


class Checked:
    """A project whose server was there once, and what check says of a configuration of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environ = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin"}

    def layers(self) -> Layers:
        """Its files."""
        return locate(self._folder, self._environ, self._folder / "lockgate.yaml")

    def load(self, text: str) -> Config:
        """Write the configuration and read it."""
        (self._folder / "lockgate.yaml").write_text(text, encoding="utf-8")
        return load(self.layers(), self._environ)

    def seen(self, config: Config, *tools: dict[str, Any]) -> SeenServer:
        """Let the server have been there with these tools."""
        listed = [one for raw in tools if isinstance(one := read_tool(raw), ListedTool)]
        (settings,) = config.servers
        seen = sighted(settings, ServerProfile(), ListedTools(tuple(listed)), 1.0)
        LastSeenFolder(self.layers().state_dir / "servers").keep(seen, NOTHING)
        return seen

    def pin(self, config: Config, seen: SeenServer) -> None:
        """Let all of it have been reviewed."""
        end = config.servers[0].endpoint
        tools = {one.name: pin_of(seen, end, one) for one in seen.tools}
        change_pins(self.layers(), lambda pins: pins.accepting("s", tools))

    def told(self, text: str) -> list[str]:
        """What is found by what was last seen."""
        config = self.load(text)
        known = tools_last_seen(config, self._environ, time=time.time, monotonic=time.monotonic)
        return [finding.text for finding in known_findings(config, *known)]

    def without_tools(self, text: str) -> list[str]:
        """What is found without looking at any tool."""
        return [finding.text for finding in findings(self.load(text), self._environ)]


@pytest.fixture
def checked(tmp_path: Path) -> Checked:
    """The project; its server has been there with TOOLS."""
    found = Checked(tmp_path)
    found.seen(found.load(SERVER % ""), *TOOLS)
    return found


def _with(keys: str = "", permissions: str = "") -> str:
    return SERVER % keys + (f"permissions: {permissions}\n" if permissions else "")


@pytest.mark.req("B-05")
@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("{deny: [mcp__s__raed]}", 'the deny rule "mcp__s__raed" matches no tool of server s'),
        (
            "{allow: ['mcp__s__*']}",
            'the allow rule "mcp__s__*" does not answer for mcp__s__read, mcp__s__drop, '
            "mcp__s__odd, which can destroy",
        ),
        (
            "{deny: ['mcp__s__drop(b=x)']}",
            'the deny rule "mcp__s__drop(b=x)" names arguments that mcp__s__drop has not (b): it '
            "holds for every call of it",
        ),
        (
            "{allow: [{rule: 'mcp__s__drop(b=x)', destructive: true}]}",
            'the allow rule "mcp__s__drop(b=x)" names arguments that mcp__s__drop has not (b): it '
            "answers nothing",
        ),
    ],
)
def test_rules_are_held_against_the_tools_last_seen(checked: Checked, rule: str, text: str) -> None:
    """Names that nobody has, arguments that a tool has not, allow rules for what can destroy."""
    assert text in checked.told(_with(permissions=rule))


@pytest.mark.req("B-05")
def test_an_offer_of_a_tool_that_is_not_there_is_told(checked: Checked) -> None:
    """By the same look as at rules."""
    told = checked.told(_with() + "agent: {offer: [mcp__s__raed]}\n")
    assert 'the offer "mcp__s__raed" matches no tool of server s' in told


@pytest.mark.req("B-05")
def test_what_is_right_is_not_told(checked: Checked) -> None:
    """Rules for what is there, and a verdict on the tool that contradicts itself."""
    keys = ", verdicts: {odd: {level: mutating}, read: {level: read-only}}"
    rules = "{allow: [mcp__s__read], ask: [mcp__s__drop], deny: ['mcp__s__drop(a=x)']}"
    assert checked.told(_with(keys, rules)) == []


@pytest.mark.req("B-05")
@pytest.mark.parametrize("trust", ["ignore", "trust"])
def test_claims_that_contradict_each_other_are_told(checked: Checked, trust: str) -> None:
    """PB-131: whoever trusts the server has it count as read-only; whoever may, is told before."""
    counts = ", and counts as read-only" if trust == "trust" else ""
    told = checked.told(_with(f", annotationTrust: {trust}"))
    assert told == [f'"odd" claims to be read-only and destructive at once{counts}']


@pytest.mark.req("B-05")
def test_verdicts_and_promises_about_no_tool_are_told(checked: Checked) -> None:
    """A slip in a name leaves a tool at its worst, or a start that fails."""
    told = checked.told(_with(", verdicts: {raed: {level: read-only}}, expectTools: [gone]"))
    assert 'the verdict for "raed" is about no tool that it lists' in told
    assert 'the expected tool "gone" is not listed by it' in told


@pytest.mark.req("B-05")
@pytest.mark.req("B-06")
def test_pins_that_do_not_hold_are_told(checked: Checked) -> None:
    """Changed since, and gone."""
    config = checked.load(_with())
    checked.pin(config, checked.seen(config, *TOOLS))
    assert checked.told(_with(", verdicts: {odd: {level: mutating}}")) == []
    checked.seen(config, tool("read", "new"), TOOLS[1])
    assert checked.told(_with()) == [
        '"read" changed since it was pinned (annotations, description)',
        '"odd" is pinned, and not listed any more',
    ]
    assert '"read" changed' not in "".join(checked.told(_with(", pins: off")))


@pytest.mark.req("B-05")
def test_nothing_is_said_of_servers_that_were_never_there(tmp_path: Path) -> None:
    """Nor of one that is started otherwise since."""
    fresh = Checked(tmp_path)
    assert fresh.told(_with(permissions="{deny: [mcp__s__raed]}")) == []
    fresh.seen(fresh.load(_with()), *TOOLS)
    assert fresh.told(_with(", args: [x]", "{deny: [mcp__s__raed]}")) == []


@pytest.mark.req("B-05")
@pytest.mark.req("B-06")
def test_trust_without_pins_is_told(checked: Checked) -> None:
    """What is believed can change; who turned pins off has said that it may."""
    told = checked.without_tools(_with(", annotationTrust: trust"))
    assert any("none of them is pinned" in text for text in told)
    assert checked.without_tools(_with(", annotationTrust: trust, pins: off")) == []
    assert checked.without_tools(_with()) == []
    config = checked.load(_with())
    checked.pin(config, checked.seen(config, *TOOLS))
    assert checked.without_tools(_with(", annotationTrust: trust")) == []


@pytest.mark.req("B-06")
def test_block_without_pins_is_told(checked: Checked) -> None:
    """It reads like care, and lets nothing in."""
    (text,) = checked.without_tools(_with(", pins: block, annotationTrust: trust"))
    assert text == "pins is block, and nothing of it is pinned: none of its tools is let in"


@pytest.mark.req("B-05")
@pytest.mark.parametrize(
    ("rules", "repeated"),
    [
        ("{deny: ['mcp__s__*', mcp__s__drop]}", "mcp__s__drop"),
        ("{deny: [mcp__s__drop, 'mcp__s__drop(a=x)']}", "mcp__s__drop(a=x)"),
        ("{ask: [mcp__s__drop, mcp__s__drop]}", "mcp__s__drop"),
        ("{allow: ['mcp__s__*', mcp__s__read]}", "mcp__s__read"),
        ("{allow: ['mcp__s__*', {rule: mcp__s__read, when: any}]}", None),
        ("{allow: ['mcp__s__*', {rule: 'mcp__s__drop(a=x)', destructive: true}]}", None),
        ("{deny: [mcp__s__drop], ask: [mcp__s__read]}", None),
    ],
)
def test_a_rule_that_adds_nothing_is_told(
    checked: Checked, rules: str, repeated: str | None
) -> None:
    """A wider one of the same list says all that it says; not if it holds at other times, or
    answers for what the wider one does not."""
    told = [text for text in checked.without_tools(_with(permissions=rules)) if "adds" in text]
    assert [f'the rule "{repeated}" adds nothing' in text for text in told] == (
        [] if repeated is None else [True]
    )


def test_a_name_of_a_stranger_is_on_its_line(checked: Checked) -> None:
    """Whatever a tool is called: nothing of it begins a line of its own or reaches a terminal."""
    config = checked.load(_with())
    odd = tool("a\nb\x1b[2J", annotations={"readOnlyHint": True, "destructiveHint": True})
    checked.seen(config, odd)
    (text,) = checked.told(_with())
    assert text.startswith('"a\\nb\\x1b[2J" claims to be')


FILES = (
    tool("read_file", inputSchema={"type": "object", "properties": {"path": {"type": "string"}}}),
    tool("now", annotations={"readOnlyHint": True}),
)


@pytest.mark.req("B-05")
@pytest.mark.parametrize(
    ("entry", "lists", "told"),
    [
        ("", "deny: ['Read(.env)']", False),  # it is asked about
        (", verdicts: {read_file: {level: read-only}}", "deny: ['Read(.env)']", True),
        ("", "deny: ['Read(.env)'], allow: [mcp__s__read_file]", True),
        ("", "ask: ['Read(.env)'], allow: [mcp__s__read_file]", True),
        (
            ", verdicts: {read_file: {level: read-only}}",
            "deny: ['Read(.env)', 'mcp__s__read_file(path=path:.env)']",
            False,
        ),
        (", verdicts: {read_file: {level: read-only}}", "deny: [Write]", False),
    ],
)
def test_a_servers_tool_that_reads_past_a_rule_of_ours_is_noted(
    tmp_path: Path, entry: str, lists: str, told: bool
) -> None:
    """Roots and rules of `Read` say nothing of it. A note: it may be meant, and does not fail."""
    checked = Checked(tmp_path)
    text = SERVER % entry + f"builtin: [Read, Write]\npermissions: {{{lists}}}\n"
    config = checked.load(text)
    checked.seen(config, *FILES)
    known = tools_last_seen(config, {}, time=time.time, monotonic=time.monotonic)
    notes = [f.text for f in known_findings(config, *known) if f.note]
    assert any("mcp__s__read_file may read the same files" in note for note in notes) is told


@pytest.mark.req("B-05")
def test_a_rule_that_has_ended_is_found(tmp_path: Path) -> None:
    """It says nothing any more, and looks as if it did."""
    checked = Checked(tmp_path)
    config = checked.load(
        SERVER % "" + "permissions: {allow: [{rule: mcp__s__a, until: 2027-01-01}]}\n"
    )
    day = 1_798_761_600.0
    for now, ended in ((day - 1, False), (day, True)):
        found = [f.text for f in findings(config, {"PATH": "/usr/bin:/bin"}, now=now)]
        assert any("has ended" in text for text in found) is ended


@pytest.mark.req("B-05")
def test_a_tool_of_ours_that_can_not_work_is_found() -> None:
    """Before a call of it fails; the others need nothing."""

    def nowhere(path: str) -> str:
        raise FileProblem("no_ripgrep", f"not installed, nor in {path!r}")

    assert set(unable(("Read", "Glob", "Grep"), {"PATH": "/x"}, nowhere)) == {"Glob", "Grep"}
    assert unable(("Read", "Bash"), {}, nowhere) == {}
    assert unable(("Glob",), {}, lambda path: f"{path}/rg") == {}
