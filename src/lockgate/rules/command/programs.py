"""Programs that are often allowed, and the options by which they start another one or write a file.

A short table by hand: an allow rule for a program allows what the program does, and this only names
the options that turn a reader into something else. A program that takes code as an operand (an
interpreter, awk, make, a build tool) is what its rule says: allowing it allows everything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.inside import Inside, doubtful
from lockgate.rules.command.words import Word


@dataclass(frozen=True, slots=True)
class _Options:
    short: str = ""
    """Letters, alone or in a bundle."""
    long: tuple[str, ...] = ()
    """Long options; each beginning of one counts too."""
    starts: tuple[str, ...] = ()
    """Beginnings of any other operand."""
    bundle: bool = False
    """Whether the first operand is a bundle of short options without the dash."""


_FD: Final = _Options("xX", ("--exec", "--exec-batch"))
_PAGER: Final = _Options(
    "oO", ("--log-file", "--LOG-FILE", "--lesskey-file", "--lesskey-src"), ("+",)
)
_EDITOR: Final = _Options("cSsuWwn", ("--cmd",), ("+",))
_TABLE: Final[Mapping[str, _Options]] = {
    "rg": _Options("", ("--pre", "--hostname-bin")),
    "fd": _FD,
    "fdfind": _FD,
    "ag": _Options("", ("--pager",)),
    "ack": _Options("", ("--pager", "--ackrc")),
    "bat": _Options("", ("--pager", "--map-syntax", "--config-file")),
    "sort": _Options("oT", ("--output", "--compress-program", "--temporary-directory")),
    "tar": _Options(
        "IFcxruA",
        (
            *("--to-command", "--checkpoint-action", "--use-compress-program", "--rsh-command"),
            *("--info-script", "--new-volume-script", "--rmt-command", "--extract", "--create"),
        ),
        bundle=True,
    ),
    "man": _Options("PHC", ("--pager", "--html", "--config-file", "--preprocessor", "--browser")),
    "less": _PAGER,
    "more": _PAGER,
    "vim": _EDITOR,
    "vi": _EDITOR,
    "nvim": _EDITOR,
    "ex": _EDITOR,
    "view": _EDITOR,
    "ssh": _Options("oF"),
    "scp": _Options("oFSD"),
    "sftp": _Options("oFSDb"),
    "rsync": _Options("e", ("--rsh", "--rsync-path", "--config", "--files-from")),
    "split": _Options("", ("--filter",)),
    "zip": _Options("TOb", ("--unzip-command", "--output-file")),
    "tree": _Options("oR", ("--output",)),
    "date": _Options("s", ("--set",)),
    "file": _Options("C", ("--compile",)),
    "sed": _Options("iewf", ("--in-place", "--expression", "--file")),
    "curl": _Options("oOKTDc", ("--output", "--config", "--upload-file", "--remote-name")),
    "wget": _Options("eOoP", ("--execute", "--use-askpass", "--output-document", "--config")),
    "ip": _Options("b", ("--batch", "-batch")),
    "npm": _Options("", ("--script-shell", "--node-options", "--prefix", "--git", "--shell")),
    "pnpm": _Options("C", ("--script-shell", "--dir", "--shell-emulator")),
    "yarn": _Options("", ("--cwd", "--use-yarnrc", "--script-shell")),
    "cargo": _Options("C", ("--config",)),
    "go": _Options("C", ("-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool")),
    "pytest": _Options("pc", ("--rootdir", "--confcutdir", "--config-file", "--override-ini")),
}


_SED_READS: Final = re.compile(r"(\d+|\$)?(,(\d+|\$))?[pdq=]|s/[^/\\\n]*/[^/\\\n]*/[gpiI0-9]*")
"""Scripts of sed that only print; among the others, `e` runs a program and `w` writes a file."""


def inside_program(base_name: str, words: tuple[Word, ...]) -> Inside:
    """Whether an option of a listed program starts another one; an unlisted one has none."""
    options = _TABLE.get(base_name)
    if options is None:
        return Inside()
    arguments = [word.text for word in words[1:]]
    if options.bundle and arguments and not arguments[0].startswith("-"):
        arguments[0] = "-" + arguments[0]
    if any(_matches(options, text) for text in arguments):
        return doubtful(Doubt.PROGRAM_OPTION)
    if base_name == "sed":
        script = next((word.text for word in words[1:] if not word.text.startswith("-")), "")
        if not _SED_READS.fullmatch(script):
            return doubtful(Doubt.PROGRAM_OPTION)
    return Inside()


def _matches(options: _Options, text: str) -> bool:
    if text.startswith("-") and len(text) > 2:
        name = text.partition("=")[0]
        if len(name) > 2 and any(option.startswith(name) for option in options.long):
            return True
    if text.startswith("--"):
        return False
    if text.startswith("-"):
        return any(letter in text[1:] for letter in options.short)
    return bool(options.starts) and text.startswith(options.starts)
