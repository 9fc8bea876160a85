"""From layers to one configuration: what wins, what joins, what is refused."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.decision import Decision
from lockgate.errors import ConfigError, Problem
from lockgate.mcp.host import manager
from lockgate.mcp.host.settings import AnnotationTrust, Verdict
from lockgate.settings import assembly
from lockgate.settings.config import AgentSettings, ApprovalSettings, Config
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load
from lockgate.testing.endpoints import program_of
from lockgate.traits import DestructiveBehavior, SideEffectLevel

Load = Callable[[str], Config]
Problems = Callable[[str], tuple[Problem, ...]]
Write = Callable[..., Config]


@pytest.fixture
def write(project: Path, environ: dict[str, str]) -> Write:
    """Writes the person's, the project's and the answers' file, and loads the three."""

    def write_it(person: str = "", named: str = "", answers: str = "") -> Config:
        layers = locate(project, environ, "lockgate.yaml")
        texts = {layers.person: person, layers.project: named, layers.answers: answers}
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return load(layers, environ)

    return write_it


def faults(write: Write, **texts: str) -> tuple[Problem, ...]:
    """The findings about three texts."""
    with pytest.raises(ConfigError) as caught:
        write(**texts)
    return caught.value.problems


def test_nothing_configured_is_the_defaults(
    project: Path, environ: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """No file at all: no server, the safe defaults, and the log says that there is none."""
    with caplog.at_level(logging.INFO, "lockgate.settings"):
        config = load(locate(project, environ), environ)
    assert config.servers == ()
    assert config.agent == AgentSettings()
    assert config.approvals == ApprovalSettings()
    assert config.rules.rules == ()
    assert config.project_dir == project
    assert "no MCP servers are configured (read: no file)" in caplog.text


def test_a_named_file_must_exist(project: Path, environ: dict[str, str]) -> None:
    """A file that was named and is not there is an error with its path."""
    with pytest.raises(ConfigError, match="there is no such file") as caught:
        load(locate(project, environ, "nope.yaml"), environ)
    assert caught.value.problems[0].file == project / "nope.yaml"


def test_the_whole_file(load_text: Load, environ: dict[str, str], project: Path) -> None:
    """Every section arrives in its value."""
    environ["LEVEL"] = "t"
    config = load_text(
        """
        mcp:
          startupBudget: 20s
          servers:
            - name: files
              transport: stdio
              command: npx
              args: [-y, "@modelcontextprotocol/server-filesystem", ./docs]
              env: {LOG_LEVEL: warn, SAID: "${LEVEL}"}
              cwd: sub
              requestTimeout: 5s
              annotationTrust: trust
              required: true
              expectTools: [read_text_file]
              lane: server
              verdicts:
                move_file: {destructive: true}
        agent:
          {model: "scripted:m.yaml", ceiling: read-only, offer: [Read], instructions: Be brief.}
        approvals: {exemptAtOrBelow: none, attended: [], unattended: []}
        permissions: {deny: [mcp__files]}
        """
    )
    (server,) = config.servers
    assert (server.name, program_of(server).command, program_of(server).cwd) == (
        "files",
        "npx",
        project / "sub",
    )
    assert program_of(server).args[-1] == "./docs"
    assert dict(program_of(server).env) == {"LOG_LEVEL": "warn", "SAID": "t"}
    assert (server.request_timeout, server.required, server.lane) == (5.0, True, "server")
    assert server.annotation_trust is AnnotationTrust.TRUST
    assert server.expect_tools == ("read_text_file",)
    assert server.verdicts == {"move_file": Verdict(destructive=DestructiveBehavior.DESTRUCTIVE)}
    assert config.startup_budget == 20.0
    assert config.agent == AgentSettings(
        f"scripted:{project}/m.yaml", SideEffectLevel.READ_ONLY, ("Read",), "Be brief."
    )
    assert config.approvals == ApprovalSettings(None, (), ())
    assert config.sources == (project / "lockgate.yaml",)
    assert config.state_dir is not None
    assert not config.state_dir.is_relative_to(project)


def test_a_server_runs_in_the_projects_directory(write: Write, project: Path) -> None:
    """Also one of the person's own, whose relative program is still relative to their file."""
    server = write("mcp: {servers: [{name: a, command: ./srv}]}").servers[0]
    assert program_of(server).cwd == project
    assert program_of(server).command.endswith("/.config/lockgate/srv")


def test_all_findings_of_all_files_at_once(write: Write) -> None:
    """Faults of every layer come together, each with its file."""
    found = faults(write, person="a: 1", named="b: 1\nmcp: {x: 1}", answers="agent: {}")
    assert [(problem.file.name if problem.file else "", problem.path) for problem in found] == [
        ("config.yaml", "a"),
        ("lockgate.yaml", "b"),
        ("lockgate.yaml", "mcp.x"),
        ("answers.yaml", "agent"),
    ]


def test_one_unreadable_file_does_not_hide_the_others(write: Write) -> None:
    """Broken YAML in one layer is told beside what is wrong in the next."""
    found = faults(write, person="a: [", named="b: 1")
    assert {problem.file.name for problem in found if problem.file} == {
        "config.yaml",
        "lockgate.yaml",
    }


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("text", "path", "hint"),
    [
        ("agnet: {}", "agnet", "did you mean agent?"),
        ("mcp: {startupbudget: 1s}", "mcp.startupbudget", "did you mean startupBudget?"),
        ("mcp: {servers: [{name: a, command: x, lanes: tool}]}", "mcp.servers[0].lanes", "lane?"),
        (
            "mcp: {servers: [{name: a, command: x, verdicts: {t: {distructive: true}}}]}",
            "mcp.servers[0].verdicts.t.distructive",
            "did you mean destructive?",
        ),
        ("agent: {celing: mutating}", "agent.celing", "did you mean ceiling?"),
        ("agent: {ceiling: mutatin}", "agent.ceiling", "did you mean mutating?"),
        ("agent: {xyz: 1}", "agent.xyz", "valid here: model, ceiling, offer, instructions"),
        (
            "approvals: {exempt_at_or_below: none}",
            "approvals.exempt_at_or_below",
            "exemptAtOrBelow",
        ),
        (
            "approvals: {exemptAtOrBelow: everything}",
            "approvals.exemptAtOrBelow",
            "one of: none, read-only, mutating",
        ),
        ("approvals: {attended: [terminl]}", "approvals.attended[0]", "did you mean terminal?"),
        ("permissions: {denny: [A]}", "permissions.denny", "did you mean deny?"),
        ("pins: warn", "pins", "valid here: mcp, builtin, roots, "),
    ],
)
def test_an_unknown_key_or_value_anywhere_stops_the_start(
    problems_of: Problems, project: Path, text: str, path: str, hint: str
) -> None:
    """File, line and key path are told, and the nearest valid spelling or the list of all."""
    (problem,) = problems_of(f"# first line\n{text}\n")
    assert (problem.file, problem.line, problem.path) == (project / "lockgate.yaml", 2, path)
    assert hint in (problem.hint or "")


def test_servers_merge_by_name_and_key(write: Write) -> None:
    """A later layer adds servers, replaces keys, joins variables and verdicts, and keeps order."""
    config = write(
        "mcp: {servers: [{name: a, command: x, args: [1], env: {P: 1, Q: 1}, required: true},"
        " {name: b, command: y}]}",
        "mcp: {servers: [{name: c, command: z}, {name: a, args: [2], env: {Q: 2}}]}",
    )
    assert [server.name for server in config.servers] == ["a", "b", "c"]
    server = config.servers[0]
    assert (program_of(server).command, program_of(server).args) == ("x", ("2",))
    assert dict(program_of(server).env) == {"P": "1", "Q": "2"}
    assert server.required


def test_settings_merge_key_by_key(write: Write) -> None:
    """A later layer wins where both speak; what it leaves out stays."""
    config = write(
        "agent: {ceiling: read-only, offer: [Read]}\napprovals: {exemptAtOrBelow: none}",
        "agent: {offer: [Write]}",
    )
    assert config.agent.ceiling is SideEffectLevel.READ_ONLY
    assert config.agent.offer == ("Write",)
    assert config.approvals.exempt_at_or_below is None


def test_permission_lists_are_joined(write: Write) -> None:
    """No layer takes a rule of another away."""
    config = write(
        "permissions: {deny: [A]}",
        "permissions: {deny: [B], allow: [A]}",
        "permissions: {allow: [C]}",
    )
    found = [(rule.decision, rule.text) for rule in config.rules.rules]
    assert sorted(found) == [
        (Decision.ALLOW, "A"),
        (Decision.ALLOW, "C"),
        (Decision.DENY, "A"),
        (Decision.DENY, "B"),
    ]


def test_answers_hold_verdicts_and_rules_alone(write: Write) -> None:
    """Whatever could start or loosen more is an unknown key in that layer."""
    named = (
        "mcp: {servers: [{name: a, command: x,"
        " verdicts: {t: {destructive: true}, u: {level: mutating}}}]}"
    )
    config = write(
        named=named, answers="mcp: {servers: [{name: a, verdicts: {t: {level: read-only}}}]}"
    )
    assert dict(config.servers[0].verdicts) == {
        "t": Verdict(level=SideEffectLevel.READ_ONLY),
        "u": Verdict(level=SideEffectLevel.MUTATING),
    }
    for answers in (
        "mcp: {servers: [{name: a, command: evil}]}",
        "mcp: {servers: [{name: a, annotationTrust: trust}]}",
        "mcp: {startupBudget: 1s}",
        "agent: {ceiling: mutating}",
        "approvals: {exemptAtOrBelow: mutating}",
    ):
        (problem,) = faults(write, named=named, answers=answers)
        assert "unknown key" in problem.message


def test_answers_about_a_server_that_is_gone_say_nothing(write: Write) -> None:
    """Taking a server out of the file does not stop the start."""
    config = write(
        answers="mcp: {servers: [{name: gone, verdicts: {t: {level: read-only}}}]}\n"
        "permissions: {allow: [mcp__gone__t]}"
    )
    assert config.servers == ()
    assert [rule.text for rule in config.rules.rules] == ["mcp__gone__t"]


@pytest.mark.req("S0-12")
@pytest.mark.parametrize(
    "change", ["command: evil", "args: [-m, evil]", "env: {LD_PRELOAD: x}", "cwd: /"]
)
def test_trust_in_one_program_is_not_trust_in_another(write: Write, change: str) -> None:
    """A layer that changes what is started says itself that it trusts it."""
    person = "mcp: {servers: [{name: a, command: x, annotationTrust: trust}]}"
    (problem,) = faults(write, person=person, named=f"mcp: {{servers: [{{name: a, {change}}}]}}")
    assert problem.file is not None
    assert problem.file.name == "lockgate.yaml"
    assert "annotationTrust" in (problem.hint or "")
    for own in ("trust", "ignore"):
        text = f"mcp: {{servers: [{{name: a, {change}, annotationTrust: {own}}}]}}"
        assert write(person=person, named=text).servers[0].annotation_trust.value == own


def test_a_verdict_on_one_program_is_no_verdict_on_another(write: Write) -> None:
    """The same for the operator's word on single tools."""
    person = "mcp: {servers: [{name: a, command: x, verdicts: {t: {level: read-only}}}]}"
    (problem,) = faults(write, person=person, named="mcp: {servers: [{name: a, command: y}]}")
    assert "(t)" in (problem.hint or "")
    named = "mcp: {servers: [{name: a, command: y, verdicts: {t: {level: mutating}}}]}"
    assert write(person=person, named=named).servers[0].verdicts["t"].level is not None


def test_other_keys_leave_trust_alone(write: Write) -> None:
    """A layer that starts nothing else may add to a trusted server."""
    person = "mcp: {servers: [{name: a, command: x, annotationTrust: trust}]}"
    server = write(person, "mcp: {servers: [{name: a, required: true}]}").servers[0]
    assert (server.annotation_trust, server.required) == (AnnotationTrust.TRUST, True)


@pytest.mark.req("S3-20")
def test_a_budget_over_the_bound_is_an_error(load_text: Load, problems_of: Problems) -> None:
    """The bound is the longest request timeout plus 30 s; a budget can only be lower."""
    servers = (
        "servers: [{name: a, command: x, requestTimeout: 5s},"
        " {name: b, command: x, requestTimeout: 40s}]"
    )
    assert load_text(f"mcp: {{startupBudget: 70s, {servers}}}").startup_budget == 70
    assert load_text(f"mcp: {{startupBudget: 1s, {servers}}}").startup_budget == 1
    (problem,) = problems_of(f"mcp:\n  startupBudget: 71s\n  {servers}\n")
    assert (problem.line, problem.path) == (2, "mcp.startupBudget")
    assert "70s" in problem.message
    (problem,) = problems_of("mcp: {startupBudget: 61}")
    assert "60s" in problem.message


def test_progress_extends_no_less_than_the_request_timeout(
    load_text: Load, problems_of: Problems
) -> None:
    """It is all the time that a call may take; absent, progress extends nothing."""
    server = "mcp: {{servers: [{{name: a, command: x, {}}}]}}"
    assert load_text(server.format("lane: tool")).servers[0].progress_extends is None
    for keys in ("progressExtends: 30s", "requestTimeout: 5s, progressExtends: '30'"):
        assert load_text(server.format(keys)).servers[0].progress_extends == 30
    for keys in ("progressExtends: 29s", "requestTimeout: 31s, progressExtends: 30s"):
        (problem,) = problems_of(server.format(keys))
        assert problem.path == "mcp.servers[0].progressExtends"
        assert "is below requestTimeout, which is 3" in problem.message
    (problem,) = problems_of(server.format("requestTimeout: 99h, progressExtends: 5s"))
    assert problem.path == "mcp.servers[0].requestTimeout"


def test_a_persons_rule_may_name_a_server_of_another_project(write: Write) -> None:
    """It holds for many projects; near one of the file's own servers it is a slip."""
    own = "mcp: {servers: [{name: files, command: x}]}\n"
    assert write(own + "permissions: {deny: [mcp__git]}").rules.rules[0].server == "git"
    (problem,) = faults(write, person=own + "permissions: {deny: [mcp__fils]}")
    assert problem.hint == "did you mean files?"


def test_the_projects_rule_may_not(write: Write) -> None:
    """Its servers are all here, also those of the person's file."""
    own = "mcp: {servers: [{name: files, command: x}]}"
    assert write(own, "permissions: {deny: [mcp__files]}").rules.rules
    (problem,) = faults(write, person=own, named="permissions: {deny: [mcp__git]}")
    assert problem.path == "permissions.deny[0]"


def test_offers_are_read_when_loaded(load_text: Load, problems_of: Problems) -> None:
    """An empty offer is nothing, no offer everything; a pattern must be one, its server known."""
    assert load_text("agent: {offer: []}").agent.offer == ()
    assert load_text("agent: {}").agent.offer is None
    for bad in ("mcp__gti", "mcp__git__(", "${X}"):
        (problem,) = problems_of(
            f"mcp: {{servers: [{{name: git, command: x}}]}}\nagent: {{offer: [Read, '{bad}']}}"
        )
        assert (problem.line, problem.path) == (2, "agent.offer[1]")


def test_the_persons_file_may_be_named(environ: dict[str, str], project: Path) -> None:
    """Named with -c it is read once, not laid over itself."""
    layers: Layers = locate(project, environ)
    layers.person.parent.mkdir(parents=True)
    layers.person.write_text("permissions: {deny: [A]}")
    config = load(locate(project, environ, layers.person), environ)
    assert [rule.text for rule in config.rules.rules] == ["A"]


def test_no_repr_shows_a_value(load_text: Load) -> None:
    """Neither a configuration nor the error about one shows arguments or variables."""
    config = load_text("mcp: {servers: [{name: a, command: x, args: [SEKRET], env: {T: SEKRET}}]}")
    assert "SEKRET" not in repr(config)


def test_importing_the_settings_is_cheap() -> None:
    """The YAML library is loaded when a file is read, not before."""
    code = "import sys, lockgate.settings.loading; sys.exit('ruamel.yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=30, check=False).returncode == 0


@pytest.mark.req("S3-20")
def test_the_bound_is_the_managers() -> None:
    """What a budget is held against when it is read is what the start is held to."""
    assert assembly.SPAWN_ALLOWANCE == manager.SPAWN_ALLOWANCE
