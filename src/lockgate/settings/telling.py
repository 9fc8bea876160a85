"""How a command that nobody has accepted yet is told: whole, argument by argument.

The text is a stranger's, who may want something overlooked. So nothing is cut, control characters
are visible, long runs are written as counts, and lines are folded here: what a terminal folds
begins at its left edge, where it could pass for a line of ours. The one thing hidden is the value
of a secret, and only where it can be no part of what runs: a single plain word behind the name of
a secret, never in front of what a runner is told to run, and never beside code on the command line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, cast

from lockgate.settings.masking import SECRETS_OF_AUTH, is_reference, mask, shown_header
from lockgate.showing import looks_secret, quoted, visible, widest

ROOM: Final = 72
"""Columns of a told line, so that it fits a terminal of 80 with what stands before it."""
_MORE: Final = "  | "
"""Begins the rest of a line that was folded."""

_BARE: Final = re.compile(r"[^\s'\"\\`;|&<>()*?!#]+")
_RUN: Final = re.compile(r"(.)\1{24,}", re.DOTALL)
_PLAIN_VALUE: Final = re.compile(r"[A-Za-z0-9_+=@%,^-][A-Za-z0-9_+=@%,^./:-]*")
_FLAG: Final = re.compile(r"--?[A-Za-z][\w.-]*")
_ASSIGNED: Final = re.compile(r"(-{0,2}[A-Za-z_][\w.-]*)=(.+)", re.DOTALL)
_PASSWORD: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*://[\w.%-]*:)([\w.%~+=-]+)(@\S*)")

_INTERPRETER: Final = re.compile(
    r"(?:(?:ba|da|z|k|mk|c|tc|a|fi|pw|power)?sh(?:ell)?|python[\d.]*w?|pypy[\d.]*|node(?:js)?|deno|bun"
    r"|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua(?:jit)?[\d.]*|osascript|cmd|[gmn]?awk|tclsh|expect|rscript"
    r"|busybox|su|script|xargs|find|watch|ssh)(?:\.exe)?",
    re.IGNORECASE,
)
_RUNNER: Final = re.compile(
    r"(?:npx|npm|pnpm|pnpx|yarn|bunx|uvx?|pipx|poetry|hatch|pdm|env|nice|nohup|timeout|time|sudo|doas"
    r"|exec|setsid|stdbuf|docker|podman|nerdctl|go|cargo|java|dotnet|make|just|mise|direnv|nix|conda"
    r"|[mu]icromamba|flatpak|snap|systemd-run|chroot|unshare|firejail|bwrap)(?:\.exe)?",
    re.IGNORECASE,
)
_CODE_FLAG: Final = re.compile(r"-[A-Za-z]*[cCeEpr].*|--(?:eval|print|command|run|call|exec).*")

_DECIDES: Final = re.compile(
    r"PATH|(?:LD|DYLD|PYTHON|NODE|GIT|PERL|RUBY|GEM|BUNDLE|LUA|PHP|JAVA|JDK|_JAVA|NPM_CONFIG|YARN|PNPM"
    r"|BUN|DENO|UV|PIP|PIPX|CONDA|VIRTUAL_ENV|CARGO|RUST|GO|DOTNET|CORECLR|DOCKER|SSH|GCONV|MALLOC"
    r"|LOCPATH|BASH|GLIBC|XDG|npm_config).*|CLASSPATH|ENV|ZDOTDIR|IFS|PS4|PROMPT_COMMAND|SHELL|SHELLOPTS"
    r"|HOME|TMPDIR|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN|LESSCLOSE|COMSPEC|PATHEXT|SYSTEMROOT"
    r"|.*_(?:PATH|COMMAND|CMD|OPTIONS|OPTS|ARGS|FLAGS|PRELOAD|PROGRAM|EXECUTABLE|BIN|SCRIPT|SHELL"
    r"|ASKPASS|EDITOR|PAGER|PROXY|REGISTRY|INDEX|INDEX_URL|PLUGIN|PLUGINS|MODULE|MODULES|HOOK|HOOKS"
    r"|CONF|CONFIG|PROFILE|ENVIRON|INIT|STARTUP|HOME|DIR|DIRS|FILE|FILES|ROOT|PREFIX|LIB|LIBS|ENGINES)"
    r"|(?:HTTPS?|ALL|FTP)_PROXY"
    # Programs of many kinds take orders from these: places of files, and options.
    r"|KUBECONFIG|M(?:AKE)?FLAGS|GNUMAKEFLAGS|MAKEFILES|[A-Z]+FLAGS|(?:[A-Z_]+)?RC(?:FILE)?"
    r"|OPENSSL_.*|R_.*|CONFIG|CONFIG_SITE|CC|CXX|CPP|LD|AR|MAKE",
    re.IGNORECASE,
)
_HOLDS_SECRET: Final = re.compile(r".*(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE)", re.IGNORECASE)


def word(text: str) -> str:
    """A stranger's text as one word: bare where nothing can be misread, else in double quotes."""
    if _BARE.fullmatch(text) and visible(text) == text and not _RUN.search(text):
        return text
    return quoted(text)


def beginning(text: str, most: int) -> str:
    """The first `most` characters of a long text as one word, and where the rest is to be read."""
    rest = len(text) - most
    more = f" and {rest} more characters: lockgate config accept --show" if rest > 0 else ""
    return f"{word(text[:most])}{more}"


def masked_arguments(command: str, arguments: Sequence[str]) -> tuple[str | None, ...]:
    """For each argument of `command` what is shown in its place; None: it is shown itself."""
    words = [_program(text) for text in (command, *arguments)]
    runs_code = any(_INTERPRETER.fullmatch(text) for text in words) and any(
        _CODE_FLAG.fullmatch(text) for text in arguments
    )
    if runs_code:
        return (None,) * len(arguments)
    # In front of what a runner runs, a word behind a flag may be that very program.
    awaited = _is_runner(words[0])
    found: list[str | None] = []
    before = ""
    for argument in arguments:
        is_flag = argument.startswith("-")
        named = _FLAG.fullmatch(before) is not None and looks_secret(before)
        if named and not is_flag and not awaited and _PLAIN_VALUE.fullmatch(argument):
            found.append(mask(argument))
        else:
            found.append(None if awaited and is_flag else _masked(argument))
        if awaited and not is_flag and "=" not in argument:
            awaited = (
                _is_runner(_program(argument))
                or argument in _SUBCOMMANDS
                or (before.startswith("-") and before not in _SWITCHES)
            )
        before = argument
    return tuple(found)


def told_arguments(command: str, arguments: Sequence[str]) -> tuple[str, ...]:
    """The arguments of `command`, one for one, each one word; what is masked in single quotes."""
    masks = masked_arguments(command, arguments)
    return tuple(
        word(argument) if masked is None else f"'{masked}'"
        for argument, masked in zip(arguments, masks, strict=True)
    )


def told_command(command: str, arguments: Sequence[str]) -> str:
    """A whole command on one line."""
    return " ".join((word(command), *told_arguments(command, arguments)))


def told_variables(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Variables by name; with their value those that decide what runs, and pure references.

    The others may be secrets.
    """
    return tuple(_variable(name, value) for name, value in variables.items())


def told_url(url: str) -> str:
    """An address whole, as one word; of its query what is a plain secret is masked."""
    head, mark, query = url.partition("?")
    return word(f"{head}{mark}{'&'.join(map(_parameter, query.split('&')))}")


def _parameter(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if equals and looks_secret(name) and _PLAIN_VALUE.fullmatch(value):
        return f"{name}={mask(value)}"
    return pair


def told_headers(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Headers by name, each with the variables that its value is made of, and no other value."""
    return tuple(f"{word(name)}: {shown_header(value)}" for name, value in headers.items())


def told_auth(auth: Mapping[str, object] | None) -> tuple[str, ...]:
    """The keys of an `auth`, whole: where secrets come from, and who is handed them."""
    if auth is None:
        return ()
    kind = f"auth: {auth.get('type', 'oauth')}"
    rest = (f"auth {key}: {_told_auth(key, value)}" for key, value in auth.items() if key != "type")
    return (kind, *rest)


def _told_auth(key: str, value: object) -> str:
    if key in SECRETS_OF_AUTH:
        return shown_header(str(value))
    if isinstance(value, tuple):
        return ", ".join(word(str(one)) for one in cast("tuple[object, ...]", value))
    return told_url(str(value)) if "://" in str(value) else word(str(value))


def folded(text: str, *, room: int = ROOM) -> tuple[str, ...]:
    """`text` in lines of at most `room` columns, on whatever terminal; all but the first begin with
    a mark.

    Where a word is not half a line long, it is not broken.
    """
    lines: list[str] = []
    line, width = "", 0
    for char in text:
        taken = widest(char)
        if width + taken > room:
            end = line.rfind(" ") + 1
            if char == " " or end <= room // 2:
                end = len(line)
            lines.append(line[:end])
            line = _MORE + line[end:]
            width = widest(line)
        line += char
        width += taken
    return (*lines, line)


def folded_all(texts: Iterable[str]) -> tuple[str, ...]:
    """The lines of several texts, each folded by itself."""
    return tuple(line for text in texts for line in folded(text))


def _masked(argument: str) -> str | None:
    assigned = _ASSIGNED.fullmatch(argument)
    if assigned is not None:
        name, value = assigned.groups()
        if looks_secret(name) and _PLAIN_VALUE.fullmatch(value):
            return f"{name}={mask(value)}"
    address = _PASSWORD.fullmatch(assigned[2] if assigned else argument)
    if address is not None and word(address[3]) == address[3]:
        head = f"{assigned[1]}=" if assigned else ""
        return f"{head}{address[1]}{mask(address[2])}{address[3]}"
    return None


def _variable(name: str, value: str) -> str:
    if is_reference(value):
        return f"{word(name)}={value}"
    if not _DECIDES.fullmatch(name):
        return word(name)
    if _HOLDS_SECRET.fullmatch(name) and _PLAIN_VALUE.fullmatch(value):
        return f"{word(name)}={mask(value)}"
    masked = _masked(value)
    return f"{word(name)}={word(value) if masked is None else masked}"


def _program(text: str) -> str:
    return re.split(r"[/\\]", text)[-1]


def _is_runner(program: str) -> bool:
    return bool(_RUNNER.fullmatch(program) or _INTERPRETER.fullmatch(program))


_SUBCOMMANDS: Final = frozenset(
    {"run", "exec", "x", "dlx", "tool", "start", "create", "compose", "develop", "shell"}
)
_SWITCHES: Final = frozenset(
    {"-y", "--yes", "-q", "--quiet", "-i", "-t", "-it", "--rm", "-u", "-B", "-I", "-s", "-m", "--"}
)
"""Flags of runners behind which the program stands, and not a value."""
