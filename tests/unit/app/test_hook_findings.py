"""What `check` says of declared hooks, starting nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lockgate.app.finding import Finding
from lockgate.app.findings import findings
from lockgate.app.known import known_findings
from lockgate.mcp.host.status import ServerState, ServerStatus
from lockgate.settings.config import Config
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.registry import Registry, Snapshot
from lockgate.traits import SideEffectLevel

TOOL: dict[str, Any] = {"type": "mcp_tool", "server": "guard", "tool": "check", "onError": "deny"}
GUARD = {"name": "guard", "command": "/bin/sh"}


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A home, and the programs of the system."""
    return {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}


def loaded(
    folder: Path,
    environ: dict[str, str],
    *handlers: dict[str, Any],
    event: str = "pre_tool",
    matcher: str | None = None,
    **sections: Any,
) -> Config:
    """A configuration with one group of hooks."""
    group = {"hooks": list(handlers)} | ({} if matcher is None else {"matcher": matcher})
    file = folder / "lockgate.yaml"
    file.write_text(json.dumps({"mcp": {"servers": [GUARD]}, "hooks": {event: [group]}} | sections))
    return load(locate(folder, environ, file), environ)


def only(found: tuple[Finding, ...]) -> Finding:
    """The one finding about hooks."""
    [one] = [finding for finding in found if "hooks." in finding.where]
    return one


def snapshot() -> Snapshot:
    """What the guard listed when it was last seen."""
    registry = Registry()
    registry.register(ScriptedTool("check", server="guard"))
    registry.register(ScriptedTool("look", server="guard", level=SideEffectLevel.READ_ONLY))
    return registry.snapshot()


def test_a_hook_that_may_decide_and_fails_soft(tmp_path: Path, environ: dict[str, str]) -> None:
    """Pointed at wherever it is; where `onError: allow` is written it is a note (decision 0007)."""
    said = {key: value for key, value in TOOL.items() if key != "onError"}
    unsaid = only(findings(loaded(tmp_path, environ, said), environ))
    assert "fails soft" in unsaid.text
    assert not unsaid.note
    assert "onError: deny" in (unsaid.hint or "")
    chosen = loaded(tmp_path, environ, said | {"onError": "allow"})
    assert only(findings(chosen, environ)).note
    told = loaded(tmp_path, environ, said, event="turn_stop")
    assert findings(told, environ) == ()
    assert findings(loaded(tmp_path, environ, TOOL), environ) == ()


@pytest.mark.parametrize("denies", ["allow", "deny"])
def test_a_program_that_is_not_there(tmp_path: Path, environ: dict[str, str], denies: str) -> None:
    """With what that means."""
    handler = {"type": "command", "command": "./check.py", "onError": denies}
    config = loaded(tmp_path, environ, handler)
    [found] = [f for f in findings(config, environ) if "check.py` was not found" in f.text]
    assert ("is refused" if denies == "deny" else "goes on without it") in (found.hint or "")
    (tmp_path / "check.py").write_text("#!/bin/sh\n")
    (tmp_path / "check.py").chmod(0o755)
    assert not any("was not found" in f.text for f in findings(config, environ))


@pytest.mark.parametrize(
    ("matcher", "sections", "what", "hint"),
    [
        ("Bash(git push:*)", {}, "Bash is not among `builtin`", "builtin: [Bash]"),
        ("Bash(git push:*)", {"builtin": ["Bash"]}, None, None),
        ("Bahs", {}, "for a local tool", "did you mean Bash"),
        ("deploy", {}, "for a local tool", "lockgate.open"),
    ],
)
def test_a_matcher_that_means_nothing(
    tmp_path: Path,
    environ: dict[str, str],
    matcher: str,
    sections: dict[str, Any],
    what: str | None,
    hint: str | None,
) -> None:
    """Local tools that are not there."""
    config = loaded(tmp_path, environ, TOOL, matcher=matcher, **sections)
    if what is None:
        assert findings(config, environ) == ()
        return
    found = only(findings(config, environ))
    assert what in found.text
    assert (hint or "") in (found.hint or "")


@pytest.mark.parametrize(
    ("matcher", "what"),
    [
        ("mcp__guard__chek", "matches no tool of server guard"),
        ("mcp__guard__check", None),
        ("mcp__guard__*", None),
    ],
)
def test_a_matcher_of_a_server_that_is_known(
    tmp_path: Path, environ: dict[str, str], matcher: str, what: str | None
) -> None:
    """By what it listed when it was last seen; `doctor` says the same of what it lists now."""
    config = loaded(tmp_path, environ, TOOL, matcher=matcher)
    status = ServerStatus("guard", ServerState.READY, required=False, transport="stdio")
    found = known_findings(config, snapshot(), (status,), None)
    if what is None:
        assert found == ()
    else:
        assert what in only(found).text
        assert "did you mean mcp__guard__check" in (only(found).hint or "")


@pytest.mark.parametrize(
    ("tool", "sections", "what"),
    [
        ("chek", {}, "has no such tool"),
        ("check", {"agent": {"ceiling": "read-only"}}, "every run is refused"),
        ("look", {"agent": {"ceiling": "read-only"}}, None),
        ("check", {}, None),
    ],
)
def test_a_tool_that_is_not_there_or_above_the_ceiling(
    tmp_path: Path, environ: dict[str, str], tool: str, sections: dict[str, Any], what: str | None
) -> None:
    """The first fails each time; the second is refused each time, and so is what it decides."""
    config = loaded(tmp_path, environ, TOOL | {"tool": tool}, **sections)
    found = known_findings(config, snapshot(), (), None)
    if what is None:
        assert found == ()
    else:
        assert what in only(found).text


def test_a_call_that_a_rule_denies(tmp_path: Path, environ: dict[str, str]) -> None:
    """It would refuse whatever it is about."""
    config = loaded(tmp_path, environ, TOOL, permissions={"deny": ["mcp__guard"]})
    assert 'is denied its call by the rule "mcp__guard"' in only(findings(config, environ)).text


def test_templates_that_lead_to_nothing(tmp_path: Path, environ: dict[str, str]) -> None:
    """A variable that is not set; the arguments of an event that is about no call."""
    args = {"a": "{{env.TEAM}}", "b": "{{tool_input.x}}"}
    config = loaded(
        tmp_path, environ, TOOL | {"args": args}, event="turn_stop", hookVariables=["TEAM"]
    )
    unset, about_none = findings(config, environ)
    assert "{{env.TEAM}}, which is not set" in unset.text
    assert "about no call" in about_none.text
    again = findings(config, environ | {"TEAM": "hunter2"})
    assert len(again) == 1
    assert "hunter2" not in str(again)


def test_headers_that_go_out_unencrypted(tmp_path: Path, environ: dict[str, str]) -> None:
    """Not to this machine; there nobody is in between."""
    for host, count in (("example.com", 1), ("localhost", 0)):
        handler = {
            "type": "http",
            "url": f"http://{host}/hook",
            "headers": {"X-Team": "us"},
            "onError": "deny",
        }
        found = findings(loaded(tmp_path, environ, handler), environ)
        assert ["unencrypted" in one.text for one in found] == [True] * count
