"""Forms that ask for secrets are known by what they ask for."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.bridges.secrecy import secret_asked_for
from lockgate.mcp.protocol.form import read_form


def _wanted(name: str, **raw: Any) -> str | None:
    return secret_asked_for(read_form({"properties": {name: {"type": "string", **raw}}}))


@pytest.mark.parametrize(
    "name",
    [
        *("password", "passwd", "userPassword", "db-password", "passphrase", "pass", "pwd"),
        *("apiKey", "api_key", "APIKEY", "secretKey", "ssh_key", "key", "client_secret"),
        *("token", "authToken", "github_token", "refreshToken", "session_id", "cookie", "pat"),
        *("pin", "otp", "cvv", "iban", "card_number", "creditCard", "recovery_phrase"),
        *("verification_code", "mfaCode", "connection_string", "credentials", "ssn"),
    ],
)
def test_by_its_name(name: str) -> None:
    """In whichever way it is written; it is told as it is named."""
    assert _wanted(name) == f'"{name}"'


@pytest.mark.parametrize(
    "words",
    [
        *("Your password", "Enter the API key", "Personal access token", "the one-time code"),
        *("Credit card number", "PIN", "your secret", "Security code on the back"),
    ],
)
def test_by_its_title_or_its_description(words: str) -> None:
    """A name can be anything."""
    assert _wanted("x", title=words) is not None
    assert _wanted("x", description=words) is not None


def test_by_its_format() -> None:
    """`password` is a format of other worlds."""
    assert _wanted("x", format="password") is not None


@pytest.mark.parametrize("name", ["pin", "cardNumber", "otp", "cvc"])
def test_numbers_can_be_secrets(name: str) -> None:
    """Those that open or pay for something."""
    assert _wanted(name, type="integer") is not None


@pytest.mark.parametrize(
    "name",
    [
        *("name", "email", "username", "github_login", "author", "issue_key", "primaryKey"),
        *("max_tokens", "tokenizer", "keyword", "monkey", "passport", "compass", "pattern"),
        *("sessionName", "zip", "code", "country_code", "spinner", "title", "address"),
    ],
)
def test_what_is_no_secret_is_none(name: str) -> None:
    """Contact and profile information is a person's to give (client/elicitation)."""
    assert _wanted(name) is None


def test_choices_and_switches_hold_no_secret() -> None:
    """Whether a token is to be made is not the token."""
    assert _wanted("token", type="boolean") is None
    assert _wanted("password", enum=["reset", "keep"]) is None
    assert _wanted("max_tokens", type="integer") is None
