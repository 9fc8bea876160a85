"""Programs that start the command in their arguments, and where it begins.

Only a few forms are followed without a doubt: `nohup CMD`, `nice [-n N] CMD`, `timeout [options]
N CMD`, `stdbuf -oL CMD`, `env CMD`, and `sh -c 'LINE'` with everything known. The wrapper still has
to be allowed itself, and so has what it starts. All others are read as well as can be, so that a
deny sees what is inside, and are asked about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lockgate.rules.command.command import Command
from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.git_command import inside_git
from lockgate.rules.command.inside import (
    Inside,
    readings,
    script_of,
    started,
    with_more,
)
from lockgate.rules.command.plain import is_assignment
from lockgate.rules.command.programs import inside_program
from lockgate.rules.command.shell_builtins import inside_builtin
from lockgate.rules.command.words import OPEN, Word

_SHELLS: Final = frozenset(
    {"sh", "bash", "dash", "ash", "zsh", "ksh", "ksh93", "mksh", "rbash", "fish", "csh", "tcsh"}
    | {"yash", "posh", "pwsh"}
)
_TRANSPARENT: Final[Mapping[str, re.Pattern[str]]] = {
    # The options, each followed by a space, that stand between the name and the command.
    "nohup": re.compile(r"(?:-- )?"),
    "nice": re.compile(r"(?:-n -?\d+ |-n-?\d+ |-\d+ |--adjustment=-?\d+ )?(?:-- )?"),
    "timeout": re.compile(
        r"(?:--foreground |--preserve-status |-v |--verbose |-k \S+ |--kill-after=\S+ "
        r"|-s \w+ |--signal=\w+ )*(?:-- )?\d+(?:\.\d+)?[smhd]? "
    ),
    "stdbuf": re.compile(r"(?:-[ioe](?:L|0|\d+[KMG]?) )+(?:-- )?"),
    "env": re.compile(r"(?:-- )?"),
}
_TAKES_VALUE: Final[Mapping[str, str]] = {
    # Letters of short options whose value is the next word, by program.
    "sudo": "ugpCThDrtUR",
    "doas": "uC",
    "env": "uCS",
    "xargs": "nPILsEda",
    "nice": "n",
    "ionice": "cnpPu",
    "timeout": "ks",
    "stdbuf": "ioe",
    "exec": "a",
    "time": "of",
    "strace": "eopsPuaESXIOb",
    "ltrace": "eopsulanFxAD",
    "watch": "nq",
    "flock": "wE",
    "unshare": "SGRw",
    "nsenter": "tSG",
    "runuser": "uglGsw",
    "parallel": "jNnLIaPS",
    "systemd-run": "pMHuEG",
    "caffeinate": "tw",
    "taskset": "",
    "setpriv": "",
    "prlimit": "p",
    "xvfb-run": "aefnps",
    "bwrap": "",
}
_OPERANDS_FIRST: Final[Mapping[str, int]] = {
    "timeout": 1, "chroot": 1, "taskset": 1, "chrt": 1, "flock": 1, "faketime": 1, "arch-chroot": 1,
}  # fmt: skip
"""How many operands stand before the command."""
_ELSEWHERE: Final = frozenset(
    {"doas", "sudo", "ionice", "chrt", "taskset", "chroot", "watch", "strace", "ltrace", "time"}
    | {
        "setsid",
        "unshare",
        "nsenter",
        "flock",
        "parallel",
        "busybox",
        "toybox",
        "fakeroot",
        "xargs",
    }
    | {
        "proot",
        "systemd-run",
        "runuser",
        "su",
        "script",
        "entr",
        "unbuffer",
        "rlwrap",
        "caffeinate",
    }
    | {"xvfb-run", "dbus-run-session", "setpriv", "prlimit", "bwrap", "firejail", "faketime"}
    | {"daemonize", "start-stop-daemon", "at", "batch"}
    | {"valgrind", "nohup", "nice", "timeout", "stdbuf"}
    | {"env", "catchsegv", "setarch", "linux32", "linux64", "pkexec", "gosu", "su-exec", "tini"}
    | {
        "dumb-init",
        "runcon",
        "chpst",
        "softlimit",
        "torsocks",
        "proxychains",
        "ld.so",
        "arch-chroot",
    }
)
"""Programs that start another one by design, with rights, input or arguments of their own."""
_FIND_STARTS: Final = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_WRITES: Final = frozenset(
    {"-delete", "-fprint", "-fprint0", "-fprintf", "-fls", "-files0-from"}
)
_SCRIPT_ARGUMENT: Final = frozenset({"su", "script", "runuser", "flock", "watch"})
"""Programs that hand an argument to a shell as a line."""


def inside(command: Command) -> Inside:
    """What `command` starts besides itself, and why it has to be asked about."""
    words = command.words
    builtin = inside_builtin(words)
    if builtin is not None:
        return builtin
    base = command.base_name
    if base is None:
        return Inside(frozenset({Doubt.EXPANSION}))
    if base.startswith("ld-linux") or base.startswith("ld-musl"):
        return readings(words, 1, Doubt.WRAPPER)
    if base in _SHELLS:
        return _shell(base, words)
    if base == "git":
        return inside_git(words)
    if base == "find":
        return _find(words)
    if base in _TRANSPARENT:
        found = _transparent(base, words)
        if found is not None:
            return found
    if base in _ELSEWHERE:
        return _wrapper(base, words)
    return inside_program(base, words)


def _shell(base: str, words: tuple[Word, ...]) -> Inside:
    """`sh -c 'LINE' [name [argument ...]]` is read again; scripts in files and input are not."""
    options = 1
    while options < len(words) and words[options].text.startswith(("-", "+")):
        if "c" in words[options].text and not words[options].text.startswith("--"):
            break
        options += 1 + (words[options].text in {"-o", "-O", "+o", "+O", "--rcfile", "--init-file"})
    at = options + 1
    while at < len(words) and words[at].text.startswith("-"):
        at += 1
    script = words[at].literal if at < len(words) else None
    if script is None or options >= len(words):
        return Inside(frozenset({Doubt.UNSEEN}), (), script_of(words[at : at + 1]))
    exact = (
        options == 1 and at == 2 and words[1].literal == "-c" and words[0].text in {"sh", "bash"}
    )
    known = all(word.closed for word in words)
    # sh may be dash, to which $'...' is a dollar and `time` a program.
    same = base == "bash" or not ("$'" in script or re.search(r"\btime\b", script))
    sure = exact and known and same
    return Inside(frozenset() if sure else frozenset({Doubt.UNSEEN}), (), (script,))


def _find(words: tuple[Word, ...]) -> Inside:
    found: list[Command] = []
    doubts: set[Doubt] = set()
    at = 1
    while at < len(words):
        text = words[at].text
        if text in _FIND_STARTS:
            doubts.add(Doubt.WRAPPER)
            end = at + 1
            while end < len(words) and words[end].text not in {";", "+"}:
                end += 1
            argument = tuple([OPEN if "{}" in w.text else w for w in words[at + 1 : end]])
            found.extend(started(argument))
            at = end
        elif text in _FIND_WRITES:
            doubts.add(Doubt.PROGRAM_OPTION)
        at += 1
    return Inside(frozenset(doubts), tuple(found))


def _transparent(base: str, words: tuple[Word, ...]) -> Inside | None:
    """A form that is followed without a doubt, or None."""
    if words[0].text != base or not all(word.closed for word in words):
        return None
    line = "".join([word.text.replace(" ", "\0") + " " for word in words[1:]])
    options = _TRANSPARENT[base].match(line)
    if options is None:
        return None
    rest = words[1 + options[0].count(" ") :]
    if not rest:
        return Inside() if base == "env" else None
    if rest[0].text.startswith(("-", "+")) or is_assignment(rest[0].text):
        return None
    if base == "env" and "=" in rest[0].text:
        return None
    return Inside(frozenset(), started(rest))


def _wrapper(base: str, words: tuple[Word, ...]) -> Inside:
    values = _TAKES_VALUE.get(base, "")
    operands = _OPERANDS_FIRST.get(base, 0)
    at = 1
    while at < len(words):
        text = words[at].text
        if text == "--":
            at += 1
            break
        if text.startswith("-") and len(text) > 1:
            at += 2 if len(text) == 2 and text[1] in values else 1
        elif "=" in text and base in {"env", "sudo", "doas"}:
            at += 1
        else:
            break
    at += operands
    rest = words if base != "xargs" else with_more(words)
    found = readings(rest, at, Doubt.WRAPPER)
    scripts: tuple[str, ...] = ()
    if base in _SCRIPT_ARGUMENT or (base == "env" and any(w.text[:2] == "-S" for w in words)):
        scripts = tuple([word.text for word in words[1:] if word.closed and " " in word.text])
        scripts += script_of(words[at:])
    return Inside(found.doubts, found.commands, scripts)
