"""What of a configuration may be shown: control characters made visible, secrets hidden.

Values of environment variables are never shown; of arguments, whatever looks like a secret is
replaced by its length. A pure reference such as `${TOKEN}` is no secret and stays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias, cast

from lockgate.showing import is_token, looks_secret, masked, visible

_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_DEFAULTED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):-([^}]+)\}")
_ANY_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_BARE_SCHEME = re.compile(r"[A-Za-z][A-Za-z-]{0,15} +")
_ASSIGNED = re.compile(r"(-{0,2}[A-Za-z_][\w.-]*)(=|:\s*)(.*)", re.DOTALL)
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^/?#@\s]*@)?([^?#\s]*)(\?[^#\s]*)?(#\S*)?")

_DIRECTORIES = frozenset({"PWD", "OLDPWD"})
"""Variables of every shell that are named as passwords are."""
_SCHEME = re.compile(r"[A-Za-z]+\s+(\S+)")

_Mask: TypeAlias = Callable[[str], str]
"""Is given each secret that is found, and returns what is shown for it."""


def is_reference(value: str) -> bool:
    """Whether a value is nothing but `${NAME}`, which shows where a secret is, not what it is."""
    return _REFERENCE.fullmatch(value) is not None


def mask(value: str) -> str:
    """What is shown instead of a secret: a reference as it is, anything else as its length."""
    return value if is_reference(value) else masked(value)


def shown_header(value: str) -> str:
    """The value of a header as it may be shown: references, and a scheme such as `Bearer`; of
    whatever stands beside them only the length."""
    shown: list[str] = []
    at = 0
    for reference in _ANY_REFERENCE.finditer(value):
        shown.append(_beside(value[at : reference.start()], first=not at))
        name, default = reference.groups()
        shown.append(f"${{{name}}}" if default is None else f"${{{name}:-{masked(default)}}}")
        at = reference.end()
    shown.append(_beside(value[at:], first=False))
    return "".join(shown)


def shown_auth(auth: Mapping[str, object]) -> dict[str, str | list[str]]:
    """The keys of an `auth` as they may be shown, `type` first: of secrets the references."""
    words = sorted(auth.items(), key=lambda pair: pair[0] != "type")
    return {
        key: [visible(str(one)) for one in cast("tuple[object, ...]", value)]
        if isinstance(value, tuple)
        else _shown_auth(key, str(value))
        for key, value in words
    }


def _shown_auth(key: str, value: str) -> str:
    if key in SECRETS_OF_AUTH:
        return shown_header(value)
    return shown_url(value)


SECRETS_OF_AUTH = frozenset(
    {"token", "clientSecret", "privateKey", "identityClientSecret", "identityToken"}
)
"""Keys of an `auth` whose values are secrets."""


def _beside(text: str, *, first: bool) -> str:
    return text if not text or (first and _BARE_SCHEME.fullmatch(text)) else masked(text)


def shown_url(url: str) -> str:
    """An address as it may be shown: what is secret-bearing in it by its length."""
    return visible(_shown_value(url, mask))


def shown_arguments(arguments: Iterable[str]) -> tuple[str, ...]:
    """The arguments of a command as they may be shown, one for one."""
    return _masked(arguments, mask)


def secrets_in(
    arguments: Iterable[str], env: Mapping[str, str], environ: Mapping[str, str]
) -> tuple[str, ...]:
    """The values that a started server is never to be shown with, references replaced.

    What `shown_arguments` masks; every value of its `env`; and what of `arguments` is the value of
    a variable of `environ` that is named like a secret. Of each, its secret part too: the password
    of an address, the token behind `Bearer`. They may be short, and come more than once.
    """
    found: list[str] = []

    def note(value: str) -> str:
        found.extend(_parts(value))
        return ""

    words = tuple(arguments)
    _masked(words, note)
    for name, value in env.items():
        found.append(value)
        _shown(f"{name}={value}" if looks_secret(name) else value, note)
    text = "\n".join(words)
    found.extend(
        value
        for name, value in environ.items()
        if value and value in text and looks_secret(name) and name not in _DIRECTORIES
    )
    return tuple(found)


def _parts(value: str) -> Iterator[str]:
    """A secret, and what is secret by itself in it."""
    yield value
    if scheme := _SCHEME.fullmatch(value):
        yield scheme[1]
    if "://" not in value:
        yield value.partition(":")[2]
    for url in _URL.finditer(value):
        yield (url[2] or "@")[:-1].partition(":")[2]
    for word in value.split():
        name, _, rest = word.partition("=")
        if looks_secret(name):
            yield rest


def _masked(arguments: Iterable[str], mask: _Mask) -> tuple[str, ...]:
    shown: list[str] = []
    expects_secret = False
    for argument in arguments:
        if expects_secret and not argument.startswith("-"):
            shown.append(mask(argument))
            expects_secret = False
            continue
        shown.append(visible(_shown(argument, mask)))
        expects_secret = argument.startswith("-") and "=" not in argument and looks_secret(argument)
    return tuple(shown)


def shown_command(command: str, arguments: Iterable[str]) -> str:
    """A whole command on one line, quoted where a shell would need it."""
    words = (visible(command), *shown_arguments(arguments))
    return " ".join(word if re.fullmatch(r"[^\s'\"]+", word) else f"'{word}'" for word in words)


def _shown(argument: str, mask: _Mask) -> str:
    assigned = _ASSIGNED.fullmatch(argument)
    if assigned and "://" not in assigned[1] + assigned[2] + assigned[3][:2]:
        name, sign, value = assigned.groups()
        if value and looks_secret(name):
            return f"{name}{sign}{mask(value)}"
        return f"{name}{sign}{_shown_value(value, mask)}"
    return _shown_value(argument, mask)


def _shown_value(value: str, mask: _Mask) -> str:
    if is_reference(value):
        return value
    if is_token(value):
        return mask(value)
    value = _DEFAULTED.sub(lambda match: _shown_default(match, mask), value)
    return _URL.sub(lambda match: _shown_url(match, mask), value)


def _shown_default(match: re.Match[str], mask: _Mask) -> str:
    name, default = match.groups()
    return f"${{{name}:-{mask(default)}}}" if looks_secret(name) else match.group()


def _shown_url(match: re.Match[str], mask: _Mask) -> str:
    scheme, user, rest, query, fragment = match.groups(default="")
    user = f"{mask(user[:-1])}@" if user else ""
    # Any parameter may be a key: only the names are shown.
    query = re.sub(r"=[^&]+", lambda m: "=" + mask(m.group()[1:]), query)
    if fragment:
        mask(fragment[1:])  # of this one, not even the length is shown
        fragment = "#"
    return f"{scheme}{user}{rest}{query}{fragment}"
