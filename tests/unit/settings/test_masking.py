"""What may be shown: nothing a terminal obeys, nothing that looks like a secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.process.hidden import MARK, Hidden
from lockgate.settings.masking import mask, secrets_in, shown_arguments, shown_command
from lockgate.showing import looks_secret, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 한글 é", "plain 한글 é"),
        ("a\x1b[2J", "a\\x1b[2J"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\x85\u2028\udc80", "\\x85\\u2028\\udc80"),
    ],
)
def test_what_a_terminal_obeys_or_hides_is_visible(text: str, shown: str) -> None:
    """Control, direction and zero-width characters are escapes; letters of any script stay."""
    assert visible(text) == shown


@given(st.text())
def test_shown_text_is_one_printable_line(text: str) -> None:
    """Whatever comes in, one line comes out that can move no cursor."""
    assert all(char.isprintable() or char.isspace() for char in visible(text))
    assert len(visible(text).splitlines()) <= 1


WITH_A_SECRET = [
    ["--api-key=SEKRET"],
    ["--api-key", "SEKRET"],
    ["--token", "SEKRET", "x"],
    ["-H", "Authorization: Bearer SEKRET"],
    ["--header", "X-Api-Key:SEKRET"],
    ["-e", "GITHUB_TOKEN=SEKRET"],
    ["postgresql://me:SEKRET@host/db"],
    ["https://host/mcp?a=1&key=SEKRET"],
    ["https://host/mcp#SEKRET"],
    ["--url=https://SEKRET@host"],
    ["--dsn=host=x password=SEKRET"],
    ["ghp_SEKRET1234567890"],
    ["${API_TOKEN:-SEKRET}"],
    ["aB3SEKRETxyz9876543210aB3SEKRETxyz98"],
]


@pytest.mark.req("S0-14")
@pytest.mark.parametrize("arguments", WITH_A_SECRET)
def test_secrets_in_arguments_are_masked(arguments: list[str]) -> None:
    """Behind a secret's flag, name or header, in addresses, and where it looks like a token."""
    assert "SEKRET" not in shown_command("npx", arguments)
    assert len(shown_arguments(arguments)) == len(arguments)


@pytest.mark.req("S0-14")
@pytest.mark.parametrize("arguments", WITH_A_SECRET)
def test_what_is_masked_is_known_as_a_secret(arguments: list[str]) -> None:
    """So that it can be hidden where somebody else prints it, with what stands around it or
    without."""
    found = Hidden(secrets_in(arguments, {}, {}))
    for argument in arguments:
        assert "SEKRET" not in found.hide(f"unrecognized arguments: {argument}")
    if not arguments[0].startswith(("ghp_", "aB3")):  # there, it is a part of the secret
        assert found.hide("rejected: SEKRET") == f"rejected: {MARK}"


def test_values_of_variables_are_secrets() -> None:
    """Of every variable that is set for the server, and of the host's own where an argument holds
    the value of one that is named like a secret."""
    environ = {
        "PWD": "host/db",
        "DB_PASSWORD": "hunter22",
        "PAGER": "serve-it",
        "GH_TOKEN": "not-used",
    }
    env = {"MODE": "production", "AUTH": "Bearer abc123", "DATABASE_URL": "pg://me:s3cret@host/db"}
    hidden = Hidden(secrets_in(["serve-it", "x-hunter22", "host/db"], env, environ))
    for said in ("hunter22", "production", "Bearer abc123", "abc123", "s3cret"):
        assert hidden.hide(f"<{said}>") == f"<{MARK}>"
    for said in ("serve-it", "not-used", "host/db"):
        assert hidden.hide(said) == said


@pytest.mark.parametrize(
    "arguments",
    [
        ["-y", "@modelcontextprotocol/server-filesystem", "./docs"],
        ["mcp-server-git==2025.1.14", "--repository", "."],
        ["--api-key=${API_KEY}", "--token", "${TOKEN}"],
        ["-e", "GITHUB_TOKEN", "ghcr.io/github/github-mcp-server"],
        ["--port", "8080", "C:\\x", "http://localhost:3000/mcp"],
        ["--keyboard", "us", "--author", "me"],
    ],
)
def test_ordinary_arguments_stay_readable(arguments: list[str]) -> None:
    """A person can see what would be started; references show where a secret is, not what."""
    assert list(shown_arguments(arguments)) == arguments


def test_a_mask_tells_the_length() -> None:
    """The length of a secret shows, so that an empty or cut one is noticed."""
    assert mask("abc") == "[masked, 3 characters]"
    assert mask("a") == "[masked, 1 character]"
    assert mask("${A}") == "${A}"
    assert mask("x${A}") == "[masked, 5 characters]"


@pytest.mark.parametrize(
    "name", ["apiKey", "API_KEY", "--api-key", "authToken", "DB_PASSWORD", "pat"]
)
def test_names_of_secrets(name: str) -> None:
    """Names are split in any casing before they are judged."""
    assert looks_secret(name)


@pytest.mark.parametrize("name", ["path", "PORT", "--keyboard", "author", "LOG_LEVEL", "monkey"])
def test_names_of_other_things(name: str) -> None:
    """A word that merely contains another is no secret."""
    assert not looks_secret(name)
