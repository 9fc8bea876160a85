"""Forms that ask for what must not be given to a form: secrets that open or pay for something.

2026-07-28 and 2025-11-25, client/elicitation: servers must not ask for passwords, keys, tokens or
payment data in a form; an address is how they do it. Pure. docs/decisions/0034.
"""

from __future__ import annotations

import re
from typing import Final

from lockgate.bridges.lookalikes import as_seen, plain_words, run_together
from lockgate.mcp.protocol.form import Field, Form, Kind
from lockgate.showing import quoted

_TEXTS: Final = (
    r"pass ?(?:wor|w)d|pass ?(?:phrase|code|key)|secret(?!ar)|credential",
    r"(?:api|access|private|license|signing|encryption|ssh) ?keys?\b",
    r"(?:access|api|auth\w*|bearer|refresh|session|id) ?tokens?\b|\btoken\b",
    r"\bsession ?id\b|\bcookies?\b|\bpats?\b|connection ?string",
    r"\bmnemonics?\b|(?:seed|recovery|mnemonic) ?(?:phrase|code|word)|maiden name",
)
_CODES: Final = (
    r"\b(?:pin|otp|totp|cvv2?|cvc|iban|ssn)\b|social security",
    r"(?:one time|2fa|mfa|verification|security|authentication|access|login|sms|backup|unlock)"
    r" ?(?:code|pin)\b",
    r"code (?:that |which )?(?:we|i)(?: have| just| ve)* (?:sent|texted|e ?mailed)",
    r"(?:credit|debit|bank) ?card|card ?number",
)
"""What a number can be, too."""
_ABROAD: Final = (
    *("passwort", "kennwort", "zugangsdaten", "zugangscode", "privater schlüssel", "api schlüssel"),
    *("mot de passe", "motdepasse", "phrase secrète", "clé api", "clé privée", "clé secrète"),
    *("code d accès", "jeton d", "code secret"),
    *("contraseña", "clave secreta", "clave de acceso", "clave privada", "clave api"),
    *("código de acceso", "código de verificación"),
    *(" senha ", "palavra passe", "chave privada", "chave secreta", "chave api"),
    *("código de acesso", "código de verificação", "parola d ordine", "chiave privata"),
    *("chiave segreta", "chiave api", "wachtwoord", "toegangscode", "lösenord", "adgangskode"),
    *("kodeord", "passord", "salasana", " hasło ", " haslo ", " heslo ", " şifre", " jelszó"),
    *("mật khẩu", "kata sandi"),
    *("пароль", "пароля", "паролем", "токен", "секретный", "ключ api", "код доступа", "κωδικός"),
    *(
        "密码",
        "密碼",
        "口令",
        "密钥",
        "密鑰",
        "私钥",
        "私鑰",
        "验证码",
        "驗證碼",
        "助记词",
        "助記詞",
    ),
    *("令牌", "パスワード", "パスフレーズ", "秘密鍵", "合言葉", "トークン", "認証コード"),
    *("確認コード", "비밀번호", "암호", "패스워드", "인증번호", "인증 코드", "토큰", "개인키"),
    *("كلمة المرور", "كلمة السر", "סיסמה", "पासवर्ड", "รหัสผ่าน"),
)
"""The same in other languages; between blanks what is part of other words."""
_CODES_ABROAD: Final = (
    *("geheimzahl", "kreditkarte", "bankkarte", "carte bancaire", "carte de crédit"),
    *("tarjeta de crédito", "tarjeta de débito", "cartão de crédito", "carta di credito"),
    *("暗証番号", "クレジットカード", "信用卡", "银行卡", "신용카드", "카드번호"),
)


def _either(patterns: tuple[str, ...], abroad: tuple[str, ...]) -> re.Pattern[str]:
    """Any of them, in a text with a blank at either end. Plain already: figures mean figures."""
    # `plain_words` trims; what stands between blanks here has to find them.
    words = (
        f"{' ' * word.startswith(' ')}{re.escape(plain_words(word))}{' ' * word.endswith(' ')}"
        for word in abroad
    )
    return re.compile("|".join((*patterns, *words)))


_SECRETS: Final = _either((*_TEXTS, *_CODES), (*_ABROAD, *_CODES_ABROAD))
_NUMBERS: Final = _either(_CODES, _CODES_ABROAD)
_DISGUISED: Final = re.compile(
    r"password|passphrase|passcode|passwort|kennwort|contrasena|motdepasse|wachtwoord|mnemonic"
    r"|secretkey|apikey|accesstoken|privatekey|creditcard|cardnumber|credential|accesscode"
)
"""What is looked for in a name that is run together."""
_NAMES: Final = frozenset({"key", "auth", "pass", "pw", "pwd", "authorization", "dsn", "clave"})
"""Names that say it by themselves; `issue_key` does not."""
_FORMATS: Final = frozenset({"password", "secret", "token", "credential"})

_HARMLESS: Final = re.compile(
    r"\b(?:issue|ticket|project|primary|sort|partition|foreign|object|cache|map|dictionary|json|row"
    r"|record|setting|config\w*|translation|message|shortcut|musical|sheet) keys?\b"
    r"|\b(?:map|location|drop|push) pins?\b|\bpins? (?:on|in|to) (?:a|the) (?:map|board)\b"
    r"|\bpostal pin(?: code)?\b"
)
"""Keys and pins of which it is said what they are of."""

_FILLERS: Final = (
    "a above an and answer arg argument as below box code content data digits enter entry field"
    " fill for form goes here in info information input is it item key line message my number of"
    " on one only out param parameter paste phrase please prompt provide put question reply"
    " requested required response result string text that the this to type user value what word"
    " words write you your"
)
"""Words that do not say what is wanted."""
_SAYS_NOTHING: Final = frozenset(_FILLERS.split())


def secret_asked_for(form: Form, message: str = "") -> str | None:
    """The first field that looks as if it wanted a secret, shown as it is named; None if none does.

    A field of choices or of yes and no holds none, and a number only where it says PIN, card
    number or the like. Of a field that does not say what it wants, `message`, the words over the
    form, do.
    """
    return next((quoted(f.name[:80]) for f in form.fields if _wants_secret(f, message)), None)


def speaks_of_secret(text: str) -> bool:
    """Whether words that stand over a form speak of a secret: a field may be called anything."""
    return _holds(_SECRETS, plain_words(text))


def _wants_secret(field: Field, message: str) -> bool:
    if field.kind not in (Kind.TEXT, Kind.NUMBER, Kind.INTEGER):
        return False
    patterns = _SECRETS if field.kind is Kind.TEXT else _NUMBERS
    name = plain_words(field.name)
    told = [plain_words(text) for text in (field.title, field.description) if text]
    said = [name, *told]
    if _silent(said):
        said.append(plain_words(message))
    # `key` and `pin` are many things; where it is said which, the name alone says no more.
    if as_seen(name) in ("key", "pin") and any(map(_HARMLESS.search, told)):
        said.remove(name)
    elif field.kind is Kind.TEXT and (
        as_seen(name) in _NAMES
        or (field.format or "").lower() in _FORMATS
        or _DISGUISED.search(run_together(field.name))
    ):
        return True
    return any(_holds(patterns, words) for words in said)


def _silent(said: list[str]) -> bool:
    """Whether nothing in there says what is wanted."""
    words = (word.rstrip("0123456789") for text in said for word in text.split())
    return all(len(word) < 2 or word in _SAYS_NOTHING for word in words)


def _holds(patterns: re.Pattern[str], words: str) -> bool:
    """As written, and as seen: look-alikes stand for others only in Latin words."""
    seen = (f" {form} " for form in {words, as_seen(words)})
    return any(patterns.search(_HARMLESS.sub(" ", form)) for form in seen)
