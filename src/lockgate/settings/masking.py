"""What of a configuration may be shown: control characters made visible, secrets hidden.

Values of environment variables are never shown; of arguments, whatever looks like a secret is
replaced by its length. A pure reference such as `${TOKEN}` is no secret and stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from lockgate.showing import looks_secret, masked, visible

_KNOWN_TOKEN = re.compile(
    r"(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[a-z]|npm|pypi|hf|dop_v1|shpat|lin_api|ntn"
    r"|secret|tvly|fc|ctx7sk|figd|AKIA|ASIA|AIza|ya29|eyJ)[-_.A-Za-z0-9]{8,}"
)
_LONG_WORD = re.compile(r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9_+=]{20,200}")
_REFERENCE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")
_DEFAULTED = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*):-([^}]+)\}")
_ASSIGNED = re.compile(r"(-{0,2}[A-Za-z_][\w.-]*)(=|:\s*)(.*)", re.DOTALL)
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://)([^/?#@\s]*@)?([^?#\s]*)(\?[^#\s]*)?(#\S*)?")


def is_reference(value: str) -> bool:
    """Whether a value is nothing but `${NAME}`, which shows where a secret is, not what it is."""
    return _REFERENCE.fullmatch(value) is not None


def mask(value: str) -> str:
    """What is shown instead of a secret: a reference as it is, anything else as its length."""
    return value if is_reference(value) else masked(value)


def shown_arguments(arguments: Iterable[str]) -> tuple[str, ...]:
    """The arguments of a command as they may be shown, one for one."""
    shown: list[str] = []
    expects_secret = False
    for argument in arguments:
        if expects_secret and not argument.startswith("-"):
            shown.append(mask(argument))
            expects_secret = False
            continue
        shown.append(visible(_shown(argument)))
        expects_secret = argument.startswith("-") and "=" not in argument and looks_secret(argument)
    return tuple(shown)


def shown_command(command: str, arguments: Iterable[str]) -> str:
    """A whole command on one line, quoted where a shell would need it."""
    words = (visible(command), *shown_arguments(arguments))
    return " ".join(word if re.fullmatch(r"[^\s'\"]+", word) else f"'{word}'" for word in words)


def _shown(argument: str) -> str:
    assigned = _ASSIGNED.fullmatch(argument)
    if assigned and "://" not in assigned[1] + assigned[2] + assigned[3][:2]:
        name, sign, value = assigned.groups()
        if value and looks_secret(name):
            return f"{name}{sign}{mask(value)}"
        return f"{name}{sign}{_shown_value(value)}"
    return _shown_value(argument)


def _shown_value(value: str) -> str:
    if is_reference(value):
        return value
    if _KNOWN_TOKEN.fullmatch(value) or _LONG_WORD.fullmatch(value):
        return mask(value)
    value = _DEFAULTED.sub(_shown_default, value)
    return _URL.sub(_shown_url, value)


def _shown_default(match: re.Match[str]) -> str:
    name, default = match.groups()
    return f"${{{name}:-{mask(default)}}}" if looks_secret(name) else match.group()


def _shown_url(match: re.Match[str]) -> str:
    scheme, user, rest, query, fragment = match.groups(default="")
    user = f"{mask(user[:-1])}@" if user else ""
    # Any parameter may be a key: only the names are shown.
    query = re.sub(r"=[^&]+", lambda m: "=" + mask(m.group()[1:]), query)
    return f"{scheme}{user}{rest}{query}{'#' if fragment else ''}"
