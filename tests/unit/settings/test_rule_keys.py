"""Rules that say more than their text, as a file has them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from lockgate.decision import Decision
from lockgate.errors import ConfigError, Problem
from lockgate.rules.path import PathPattern
from lockgate.rules.rule import Rule
from lockgate.settings.config import Config
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.tools.subject import ResolvedPath

Load: TypeAlias = Callable[[str], Config]
Problems: TypeAlias = Callable[[str], tuple[Problem, ...]]
PIN = "0123456789abcdef" * 4


def the_rule(load_text: Load, rule: str, word: str = "allow") -> Rule:
    """The one rule of a file that has it in the list `word`."""
    (found,) = load_text(f"permissions:\n  {word}:\n    - {rule}\n").rules.rules
    return found


def test_every_key_gets_into_the_rule(load_text: Load) -> None:
    """With the place where it stands."""
    rule = the_rule(
        load_text,
        f"{{rule: 'add(n=3)', reason: because, when: any, until: 2027-01-01, destructive: true,"
        f" pin: {PIN.upper()}, match: [{{n: 3.0}}], noMatch: [{{n: true}}, {{n: '3'}}]}}",
    )
    assert (rule.text, rule.decision, rule.when) == ("add(n=3)", Decision.ALLOW, "any")
    assert rule.until == datetime(2027, 1, 1, tzinfo=UTC).timestamp()
    assert (rule.destructive, rule.pin, rule.reason, rule.exact) == (True, PIN, "because", False)
    assert (rule.source or "").endswith("lockgate.yaml:3 permissions.allow[0]")


def test_an_exact_rule_without_arguments(load_text: Load) -> None:
    """As an answer for always is written down."""
    rule = the_rule(load_text, "{rule: 'drop()', exact: true, destructive: true}")
    assert rule.exact
    assert not rule.bare


@pytest.mark.parametrize("word", ["ask", "deny"])
def test_strict_rules_have_reasons_and_examples(load_text: Load, word: str) -> None:
    """And nothing that would make them hold less."""
    rule = the_rule(
        load_text,
        '{rule: "Bash(rm:*)", reason: use the bin, match: ["rm x", "ls; rm x"], noMatch: [rmdir]}',
        word,
    )
    assert rule.reason == "use the bin"


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("2027-01-01", datetime(2027, 1, 1, tzinfo=UTC)),
        ('"2027-01-01"', datetime(2027, 1, 1, tzinfo=UTC)),
        ("2027-01-01T08:30:00Z", datetime(2027, 1, 1, 8, 30, tzinfo=UTC)),
        ("2027-01-01t08:30:00z", datetime(2027, 1, 1, 8, 30, tzinfo=UTC)),
        ("2027-01-01T08:30:00+09:00", datetime(2026, 12, 31, 23, 30, tzinfo=UTC)),
        ("2027-01-01T08:30:00.5-00:30", datetime(2027, 1, 1, 9, 0, 0, 500_000, tzinfo=UTC)),
    ],
)
def test_an_end_is_a_day_or_a_moment(load_text: Load, written: str, expected: datetime) -> None:
    """A day is over when it begins, in UTC, whatever the clock of the machine says."""
    rule = the_rule(load_text, f"{{rule: add, until: {written}}}")
    assert rule.until == expected.timestamp()


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("rule", "path", "message", "hint"),
    [
        ("{rule: add, until: 2027}", ".until", "'2027' is no day", "write 2027-01-01"),
        ("{rule: add, until: 2027-02-30}", ".until", "is no day", "write 2027-01-01"),
        ("{rule: add, until: 2027-01-01T08:00:00}", ".until", "is no day", "+09:00"),
        ("{rule: add, until: 2027-W01-1}", ".until", "is no day", ""),
        ("{rule: add, until: tomorrow}", ".until", "is no day", ""),
        ("{rule: add, until: 2027-01-01T25:00:00Z}", ".until", "is no day", ""),
        ("{rule: add, until: [2027-01-01]}", ".until", "must be a day, not a list", ""),
        ("{rule: add, pin: abc}", ".pin", "is not 64 hexadecimal digits", "pins show"),
        ("{rule: add, destructive: yes}", ".destructive", "neither true nor false", ""),
        ("{rule: add, reason: ''}", ".reason", "is empty", ""),
        ("{rule: add, whne: any}", ".whne", "unknown key 'whne'", "did you mean when?"),
        ("{rule: add, no_match: [x]}", ".no_match", "unknown key", "did you mean noMatch?"),
        ("{rule: add, match: add}", ".match", "must be a list", ""),
        ("{rule: add, match: [[add]]}", ".match[0]", "must be an example, not a list", ""),
        ("{rule: add(n=3), match: [{n: .inf}]}", ".match[0].n", "is no number that JSON has", ""),
        ("{rule: mcp__s__*, destructive: true}", "", "names a whole server", "exactly one tool"),
        ("Bash(git:*)", "", "does not say destructive: true", 'rule: "Bash(git:*)", destructive'),
        ("{rule: Write(**), destructive: true}", "", "constrains nothing", "Write(./docs/**)"),
        ('{rule: "Bsh(git:*)"}', "", "at character 5 has brackets", "did you mean Bash(git:*)?"),
        ("mcp__s__add(x=./y)", "", "at character 15 looks like a path", "path:./y"),
    ],
)
def test_a_fault_is_told_with_its_place(
    problems_of: Problems, rule: str, path: str, message: str, hint: str
) -> None:
    """File, line, key path, what is wrong, and what to write."""
    server = "mcp: {servers: [{name: s, command: x}]}\n"
    (problem,) = problems_of(f"{server}permissions:\n  allow:\n    - {rule}\n")
    assert problem.path == f"permissions.allow[0]{path}"
    assert message in problem.message
    assert hint in (problem.hint or "")
    assert problem.line == 4


@pytest.mark.req("S0-14")
@pytest.mark.parametrize("key", ["when", "until", "destructive", "pin", "exact"])
@pytest.mark.parametrize("word", ["ask", "deny"])
def test_a_key_that_would_weaken_a_strict_rule_is_an_error(
    problems_of: Problems, word: str, key: str
) -> None:
    """It says that such a rule always holds."""
    (problem,) = problems_of(f"permissions: {{{word}: [{{rule: add, {key}: x}}]}}")
    assert problem.path == f"permissions.{word}[0].{key}"
    assert "always hold" in (problem.hint or "")


@pytest.mark.parametrize(
    ("word", "rule", "path", "message"),
    [
        (
            "deny",
            '{rule: "Bash(rm -rf:*)", match: ["rm -rf x", "rm -fr x"]}',
            "match[1]",
            "the example 'rm -fr x' of the rule 'Bash(rm -rf:*)' is not meant by the rule",
        ),
        ("deny", '{rule: "Bash(rm:*)", match: ["$X x"]}', "match[0]", "may be meant"),
        (
            "allow",
            '{rule: "Read(./docs/**)", noMatch: [docs/a]}',
            "noMatch[0]",
            "the example 'docs/a' of the rule 'Read(./docs/**)' is meant by the rule",
        ),
        ("allow", "{rule: add(n=3), match: [{n: '3'}]}", "match[0]", "the example of arguments"),
        ("allow", "{rule: add(n=3), match: [add]}", "match[0]", "is to be arguments"),
        ("allow", "{rule: add, match: [ad]}", "match[0]", "the example 'ad'"),
    ],
)
def test_an_example_that_fails_stops_the_start(
    problems_of: Problems, word: str, rule: str, path: str, message: str
) -> None:
    """It is named; of arguments not even a secret among them is shown."""
    (problem,) = problems_of(f"permissions:\n  {word}:\n    - {rule}\n")
    assert problem.path == f"permissions.{word}[0].{path}"
    assert message in problem.message


def test_examples_are_json_values(load_text: Load) -> None:
    """Numbers, switches and nothing are what they look like."""
    config = load_text(
        "permissions:\n"
        "  allow:\n"
        '    - rule: \'add(v=[1, 2.5, true, null, "yes", 16, {"a": 1000.0}])\'\n'
        "      match: [{v: [1, 2.5, true, null, yes, 0x10, {a: 1e3}]}]\n"
        "      noMatch: [{v: ['1', 2.5, true, null, yes, 16, {a: 1000}]}]\n"
    )
    assert len(config.rules.rules) == 1


def test_paths_start_from_the_project_and_the_home(
    project: Path, environ: dict[str, str], load_text: Load
) -> None:
    """Also those of the person's own file: rules are about the project that is worked on."""
    own = locate(project, environ).person
    own.parent.mkdir(parents=True)
    own.write_text('permissions: {deny: ["Read(./secret/**)", "Read(~/keys/**)"]}')
    rules = load_text("").rules.rules
    home = Path(environ["HOME"]).resolve()
    for rule, path in zip(rules, (project / "secret/a", home / "keys/a"), strict=True):
        pattern = rule.subject
        assert isinstance(pattern, PathPattern)
        assert pattern.catches(ResolvedPath(str(path), str(path), str(path), None))


def test_a_strict_rule_means_where_its_directory_leads(project: Path, load_text: Load) -> None:
    """A link that is there when the file is loaded is no way around it."""
    (project / "real").mkdir()
    (project / "alias").symlink_to("real")
    rule = the_rule(load_text, "Read(./alias/**)", "deny")
    real = str((project / "real" / "x").resolve())
    assert isinstance(rule.subject, PathPattern)
    assert rule.subject.catches(ResolvedPath(real, real, real, None))


def test_without_a_home_a_rule_with_one_is_an_error(project: Path, environ: dict[str, str]) -> None:
    """It would mean nothing, and its author believe it does."""
    file = project / "lockgate.yaml"
    file.write_text('permissions: {deny: ["Read(~/keys/**)"]}')
    bases = {"XDG_CONFIG_HOME": environ["HOME"], "XDG_STATE_HOME": environ["HOME"]}
    with pytest.raises(ConfigError, match="no home directory"):
        load(locate(project, bases, file), bases)


def test_the_rest_of_a_file_says_what_it_said(load_text: Load) -> None:
    """A plain text and a mapping with nothing but the rule are the same rule."""
    texts: tuple[Any, ...] = ("add", "{rule: add}")
    first, second = (the_rule(load_text, text) for text in texts)
    assert first == second
