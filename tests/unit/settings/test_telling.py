"""A command that nobody accepted is told whole: only a secret's own value may be hidden."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.settings.telling import folded, told_arguments, told_command, told_variables, word
from lockgate.showing import widest


@pytest.mark.parametrize(
    "words",
    [
        ("sh", "-c", "TOKEN=1; touch PWNED; exec server"),
        ("/bin/bash", "-lc", "server --token PWNED"),
        ("python3", "-c", "--key", "import os; PWNED"),
        ("python3.11", "-cTOKEN=PWNED"),
        ("sh", "-c", '"$1"', "--token", "PWNED"),
        ("env", "A=1", "sh", "-c", "x", "--key", "PWNED"),
        ("node", "-e", "x", "--api-key", "PWNED"),
        ("npx", "--key", "PWNED"),
        ("npx", "--package", "a", "--key", "PWNED"),
        ("uvx", "--token", "PWNED"),
        ("docker", "run", "--secret", "PWNED"),
        ("python3", "--token", "PWNED"),
        ("x", "--token", "./PWNED"),
        ("x", "--token", "$(PWNED)"),
        ("x", "--token", "a PWNED"),
        ("x", "--token=a;PWNED"),
        ("x", "TOKEN=a|PWNED"),
        ("x", "--password", "PWNED\n"),
        ("x", "https://token@PWNED/?key=PWNED"),
        ("x", "${TOKEN:-PWNED}"),
        ("x", "ghp_PWNED1234567890"),
    ],
)
def test_nothing_that_may_run_is_hidden(words: tuple[str, ...]) -> None:
    """Code, programs behind a runner's flags, and whatever is more than one plain word."""
    assert "PWNED" in told_command(words[0], words[1:])


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    "words",
    [
        ("x", "--token", "SEKRET"),
        ("./server.py", "--api-key=SEKRET"),
        ("npx", "-y", "some-server", "--token", "SEKRET"),
        ("uvx", "some-server", "--api-key=SEKRET"),
        ("python3", "-m", "server", "--password", "SEKRET"),
        ("docker", "run", "-i", "--rm", "-e", "API_TOKEN=SEKRET", "image"),
        ("x", "postgresql://me:SEKRET@host/db"),
        ("x", "--url=postgresql://me:SEKRET@host/db"),
    ],
)
def test_a_secret_as_one_plain_word_is_hidden(words: tuple[str, ...]) -> None:
    """Behind the name of a secret, or as the password of an address."""
    told = told_command(words[0], words[1:])
    assert "SEKRET" not in told
    assert "[masked, 6 characters]" in told


def test_arguments_stay_apart() -> None:
    """One for one; what is shown bare has no white space, and a quote in it is escaped."""
    told = told_arguments("x", ["a b", "", 'c" "d', "e\\n", "f", "'g'"])
    assert told == ('"a b"', '""', '"c\\" \\"d"', '"e\\\\n"', "f", "\"'g'\"")


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("PATH", "/evil:/bin", "PATH=/evil:/bin"),
        ("LD_PRELOAD", "./a b.so", 'LD_PRELOAD="./a b.so"'),
        ("NODE_OPTIONS", "--require x", 'NODE_OPTIONS="--require x"'),
        ("PYTHONPATH", "x", "PYTHONPATH=x"),
        ("GIT_CONFIG_KEY_0", "core.pager", "GIT_CONFIG_KEY_0=core.pager"),
        ("GIT_SSH_COMMAND", "evil", "GIT_SSH_COMMAND=evil"),
        ("BASH_ENV", "x.sh", "BASH_ENV=x.sh"),
        ("npm_config_registry", "http://evil", "npm_config_registry=http://evil"),
        ("OPENSSL_CONF", "./evil.cnf", "OPENSSL_CONF=./evil.cnf"),
        ("R_PROFILE", "x.R", "R_PROFILE=x.R"),
        ("MAKEFLAGS", "--eval=x", "MAKEFLAGS=--eval=x"),
        ("CFLAGS", "-fplugin=x.so", "CFLAGS=-fplugin=x.so"),
        ("KUBECONFIG", "k.yaml", "KUBECONFIG=k.yaml"),
        ("AWS_CONFIG_FILE", "./aws", "AWS_CONFIG_FILE=./aws"),
        ("CURL_HOME", "/x", "CURL_HOME=/x"),
        ("INPUTRC", "/x", "INPUTRC=/x"),
        ("ANY", "${AWS_SECRET}", "ANY=${AWS_SECRET}"),
        ("ANY", "value", "ANY"),
        ("API_TOKEN", "SEKRET", "API_TOKEN"),
        ("GIT_TOKEN", "SEKRET", "GIT_TOKEN=[masked, 6 characters]"),
        ("PIP_INDEX_URL", "https://me:SEKRET@h/", "'PIP_INDEX_URL=https://me:[masked, 6 c"),
    ],
)
def test_variables_that_decide_what_runs_have_their_value(name: str, value: str, told: str) -> None:
    """Others are named alone, since they may be secrets; references show what is handed on."""
    (found,) = told_variables({name: value})
    assert found.replace("'", "").startswith(told.replace("'", ""))
    assert "SEKRET" not in found


@given(st.text())
def test_a_word_is_one_visible_line(text: str) -> None:
    """Whatever it is, it can neither end a line nor begin another."""
    told = word(text)
    assert told
    assert len(told.splitlines()) == 1
    assert all(char.isprintable() for char in told)


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=300))
def test_folding_loses_nothing(text: str) -> None:
    """Every line fits, and the lines together are the text."""
    first, *rest = folded(text, room=20)
    assert all(widest(line) <= 20 for line in (first, *rest))
    assert all(line.startswith("  | ") for line in rest)
    assert first + "".join(line.removeprefix("  | ") for line in rest) == text


def test_no_terminal_folds_a_line_by_itself() -> None:
    """Greek, among others, is drawn wide by some: what such a terminal folds would begin at its
    left edge, and could pass for a line of ours."""
    lines = folded(word("\u03b1" * 20 + " Accepted. It would start nothing."), room=30)
    assert all(2 * line.count("\u03b1") + len(line) - line.count("\u03b1") <= 30 for line in lines)


def test_names_are_not_broken_where_a_line_has_room() -> None:
    """A word goes to the next line whole, unless it is longer than half of one."""
    told = folded("bring tools: alpha, beta, gamma-delta, and epsilon", room=24)
    assert told == ("bring tools: alpha, ", "  | beta, gamma-delta, ", "  | and epsilon")
    assert folded("a " + "b" * 40, room=20)[0] == "a " + "b" * 18
