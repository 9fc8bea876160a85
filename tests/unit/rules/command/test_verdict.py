"""The verdict on a line: examples and properties."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.decision import Decided, Decision
from lockgate.rules.command.line import analyse
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.command.verdict import caught, judge
from lockgate.rules.matcher import Match

NAMES = ("git", "ls", "rm", "cat", "touch", "npm")
PATTERNS = st.lists(
    st.sampled_from([CommandPattern.parse(t) for t in ("git:*", "rm:*", "ls -l:*", "cat a", "*")]),
    max_size=3,
)
SIGNS = "$(){}[]<>|&;`'\"\\ \n#=!*?~-@%:"
LINES = st.lists(
    st.sampled_from([*NAMES, *SIGNS, " ", " ", "if ", "then ", "fi"]), max_size=14
).map("".join)
WORDS = st.text("ab -$`'\"\\;|&<>(){}*?[]~#!=\n\té", max_size=6)


def patterns(text: str) -> list[CommandPattern]:
    """Patterns written with commas between them."""
    return [CommandPattern.parse(part) for part in text.split(",") if part]


def verdict(line: str, allow: str = "", deny: str = "", ask: str = "") -> Decided:
    """What lists, written with commas, say of a line."""
    return judge(analyse(line), patterns(allow), patterns(deny), patterns(ask))


def codes(decided: Decided) -> list[str]:
    """Of its reasons."""
    return [reason.code for reason in decided.reasons]


@pytest.mark.req("B-09")
def test_every_command_must_be_allowed() -> None:
    """One that no rule allows is enough to ask, and the reason says how many there are."""
    assert verdict("git log | head", "git:*,head:*").decision is Decision.ALLOW
    asked = verdict("git log | head", "git:*")
    assert asked.decision is Decision.ASK
    assert asked.reasons[0].text == "no allow rule matches 1 of 2 commands of the line: command 2"
    assert codes(verdict("ls", "git:*")) == ["not_allowed"]


def test_an_allow_names_the_rules_it_needed() -> None:
    """Each once, with its source."""
    rule = CommandPattern.parse("git:*", "lockgate.yaml rules.allow[0]")
    decided = judge(analyse("git log; git diff"), [rule, *patterns("ls:*")])
    assert [(r.code, r.source) for r in decided.reasons] == [("allow_rule", rule.source)]


def test_a_doubt_is_never_overruled() -> None:
    """Not even by a rule for every command."""
    assert codes(verdict("git log > x", "*")) == ["shell_redirection"]


def test_the_strictest_wins() -> None:
    """deny, then ask, then allow, wherever they are written."""
    assert verdict("git push", "git:*", "git push:*", "git:*").decision is Decision.DENY
    assert codes(verdict("git push", "git:*", "", "git push:*")) == ["ask_rule"]
    assert codes(verdict("r$x", "*", "rm:*")) == ["deny_rule_may_match", "shell_expansion"]
    assert verdict("(((", "*", "*").decision is Decision.DENY


def test_reasons_hold_no_word_of_the_line() -> None:
    """A reason is shown and kept; what was called may be a secret."""
    for line in ("secret x > secret", "curl secret", "bash -c 'secret; $secret'", "secret=1"):
        assert not any("secret" in str(reason) for reason in verdict(line, "git:*").reasons)


@given(LINES, PATTERNS, PATTERNS, PATTERNS, PATTERNS)
def test_a_deny_more_never_allows_more(
    line: str,
    allow: list[CommandPattern],
    deny: list[CommandPattern],
    ask: list[CommandPattern],
    more: list[CommandPattern],
) -> None:
    """Nor does an ask more, or an allow less."""
    analysis = analyse(line)
    before = judge(analysis, allow, deny, ask).decision
    assert judge(analysis, allow, deny + more, ask).decision >= before
    assert judge(analysis, allow, deny, ask + more).decision >= before
    assert judge(analysis, allow[1:], deny, ask).decision >= before


@given(LINES, PATTERNS)
def test_a_deny_is_never_overlooked(line: str, deny: list[CommandPattern]) -> None:
    """The verdict finds what each deny pattern by itself catches; perhaps is enough to ask."""
    analysis = analyse(line)
    match = max((caught(analysis, pattern) for pattern in deny), default=Match.NO)
    decision = judge(analysis, patterns("*"), deny).decision
    assert (decision is Decision.DENY) is (match is Match.YES)
    assert decision is not Decision.ALLOW or match is Match.NO


@given(LINES, PATTERNS, PATTERNS)
def test_the_order_of_rules_does_not_matter(
    line: str, allow: list[CommandPattern], deny: list[CommandPattern]
) -> None:
    """Wherever they are written."""
    analysis = analyse(line)
    there = judge(analysis, allow, deny).decision
    assert judge(analysis, allow[::-1], deny[::-1]).decision is there


@given(
    st.text(), st.sampled_from(["'", '"', "$(", "`", "${", "((", "if a; then", "(", "{ ", "a &&"])
)
def test_what_is_not_complete_is_never_allowed(text: str, opening: str) -> None:
    """A construct that is opened and not closed asks, whatever comes before it."""
    assert (
        judge(analyse(f"git '{text.replace(chr(39), '')}'; {opening}"), patterns("*")).decision > 0
    )


@given(st.lists(WORDS, min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_quoting_makes_no_difference(words: list[str], choose: random.Random) -> None:
    """Any way to quote the same words is the same command, and judged the same."""
    plain = analyse(" ".join(["git", "log", *(f"'{_single(word)}'" for word in words)]))
    other = analyse(" ".join(_quoted(word, choose) for word in ["git", "log", *words]))
    assert (other.commands, other.doubts) == (plain.commands, plain.doubts)


SYNTAX = (
    *("(X)", "{ X; }", "git log; X", "X\ngit log", "git log | X", "X && git log", "! X", "time X"),
    *("if X; then git log; fi", "if git log; then X; fi", "while X; do git log; done", "X #a"),
    *("git log $(X)", "git log `X`", 'git log "$(X)"', "git log <(X)", "A=$(X)", "f() { X; }"),
    *("for i in a; do X; done", "case a in a) X;; esac", "cat <<E\n$(X)\nE", "coproc X", "X &"),
    *("X > y", "A=1 X", "X # $(git log)"),
)
PROGRAMS = ("nice X", "env X", "timeout 5 X", "bash -c 'X'", "eval 'X'", "sudo X", "xargs X")


@given(
    st.lists(st.sampled_from(PROGRAMS), max_size=2), st.lists(st.sampled_from(SYNTAX), max_size=4)
)
def test_no_construct_allows_what_is_not(programs: list[str], constructs: list[str]) -> None:
    """A command that no rule allows is asked about inside of anything; a denied one never runs."""
    line = "touch x"
    for construct in programs + constructs:
        line = construct.replace("X", line)
    allow = "git:*,nice:*,env:*,timeout:*,bash:*,cat:*,eval:*,sudo:*,xargs:*"
    assert verdict(line, allow).decision is not Decision.ALLOW
    assert verdict(line, "*", "touch:*").decision is not Decision.ALLOW


def _single(word: str) -> str:
    return word.replace("'", "'\\''")


def _quoted(word: str, choose: random.Random) -> str:
    pieces: list[str] = ["''"] if not word else []
    for character in word:
        forms = [f"'{character}'" if character != "'" else "\\'"]
        if character not in '$`"\\':
            forms.append(f'"{character}"')
        else:
            forms.append(f'"\\{character}"')
        if character not in " \t\n":  # the grammar does not see a word in an escaped blank; it asks
            forms.append(f"\\{character}")
        if character < "\x7f":
            forms.append(f"$'\\x{ord(character):02x}'")
        if character.isalnum():
            forms.append(character)
        pieces.append(choose.choice(forms))
    return "".join(pieces)
