"""Forms that ask for secrets are known by what they ask for."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.bridges.secrecy import secret_asked_for, speaks_of_secret
from lockgate.mcp.protocol.form import read_form


def _wanted(name: str, message: str = "", **raw: Any) -> str | None:
    return secret_asked_for(read_form({"properties": {name: {"type": "string", **raw}}}), message)


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


@pytest.mark.parametrize(
    "name",
    [
        *(
            "p\u0430ssword",
            "pass\u200bword",
            "pass\u00adword",
            "p a s s w o r d",
            "p.a.s.s.w.o.r.d",
        ),
        *(
            "pA\u0455SwOrD",
            "\uff50assword",
            "passw0rd",
            "pa$$word",
            "p\u1d00ssword",
            "pa\u0301ssword",
        ),
        *("\u03c1\u03b1ssword", "passw\u00f8rd", "to\u200dken", "\u043aey", "pa\u3164ssword"),
    ],
)
def test_however_its_name_is_disguised(name: str) -> None:
    """Letters that look like others, invisible ones, and words that are spelt out or figured."""
    assert _wanted(name) is not None


@pytest.mark.parametrize(
    "words",
    [
        *("mnemonic", "access code", "Passwort", "Kennwort", "contraseña", "mot de passe"),
        *("senha", "wachtwoord", "lösenord", "hasło", "şifre", "mật khẩu", "пароль", "пароля"),
        *(
            "パスワード",
            "暗証番号",
            "密码",
            "驗證碼",
            "비밀번호",
            "كلمة المرور",
            "סיסמה",
            "clé API",
        ),
        *("the code we have just sent", "carte bancaire", "Kreditkarte", "code d'accès"),
    ],
)
def test_in_the_words_of_many_languages(words: str) -> None:
    """In small letters or large, with or without marks."""
    for said in (words, words.upper()):
        assert _wanted("x", description=f"({said})") is not None
        assert _wanted(said) is not None
        assert speaks_of_secret(f"Now: {said}.")


@pytest.mark.parametrize("field", [{}, {"title": "Your answer"}, {"description": "Enter it here"}])
@pytest.mark.parametrize("name", ["x", "value", "answer1", "your_input", "code"])
def test_where_a_field_says_nothing_the_words_over_it_speak(
    name: str, field: dict[str, str]
) -> None:
    """There is nothing else by which a person could know what to enter."""
    assert _wanted(name, "Please enter your GitHub password below", **field) == f'"{name}"'
    assert _wanted(name, "Which ticket is it?", **field) is None


def test_where_a_field_says_something_the_words_over_it_are_theirs() -> None:
    """Whoever is asked for a user's name after "your password was reset" gives no secret."""
    assert _wanted("username", "Your password was reset. Who are you?") is None
    assert _wanted("x", "Your password was reset.", title="Your city") is None
    assert _wanted("x", "Your password was reset.", enum=["yes", "no"]) is None
    assert speaks_of_secret("Your password was reset. Who are you?")


@pytest.mark.parametrize(
    ("name", "words", "refused"),
    [
        ("key", "Issue key, as in ABC-1", False),
        ("key", "Sort key of the row", False),
        ("pin", "Where the map pin goes", False),
        ("pin", "Pins on the board", False),
        ("key", "", True),
        ("key", "Paste it here", True),
        ("key", "Issue key, and your API key", True),
        ("pin", "Map pin and card PIN", True),
    ],
)
def test_keys_and_pins_of_things(name: str, words: str, refused: bool) -> None:
    """Only where it is said what they are of, and nothing else speaks for a secret."""
    assert (_wanted(name, title=words) is not None) is refused


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
        *("secretary", "desenha", "sandia", "haslock", "пожалуйста", "имя", "ハスキー", "nombre"),
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
