"""git: a program with commands inside it, and with many ways to start another program.

What the line says is judged: options that name a program, and settings handed over. What the
repository's own configuration and hooks start is not in the line; the runner of the line removes
the `GIT_*` variables. git accepts long options shortened, so every beginning of one counts.
gitcli(7), git(1), and the page of each subcommand.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from lockgate.rules.command.doubt import Doubt
from lockgate.rules.command.inside import Inside, doubtful, script_of, started
from lockgate.rules.command.words import Word

_SAFE_GLOBAL: Final = frozenset(
    {"--version", "-v", "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"}
    | {"--no-replace-objects", "--no-lazy-fetch", "--glob-pathspecs", "--noglob-pathspecs"}
)
_DIRECTORY: Final = ("-C", "--git-dir", "--work-tree")
_KNOWN: Final = frozenset({
    "inal", "add", "am", "annotate", "apply", "archive", "bisect", "blame", "branch", "bundle",
    "cat-file", "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "checkout",
    "checkout-index", "cherry", "cherry-pick", "clean", "clone", "commit", "commit-tree",
    "config", "count-objects", "describe", "diff", "diff-files", "diff-index", "diff-tree",
    "fetch", "for-each-ref", "format-patch", "fsck", "gc", "grep", "hash-object", "init", "log",
    "ls-files", "ls-remote", "ls-tree", "merge", "merge-base", "merge-file", "merge-tree", "mv",
    "name-rev", "notes", "prune", "pull", "push", "range-diff", "read-tree", "rebase", "reflog",
    "remote", "reset", "restore", "rev-list", "rev-parse", "revert", "rm", "shortlog", "show",
    "show-branch", "show-ref", "sparse-checkout", "stash", "status", "stripspace", "submodule",
    "switch", "symbolic-ref", "tag", "update-index", "update-ref", "var", "verify-commit",
    "verify-tag", "version", "whatchanged", "worktree", "write-tree",
})  # fmt: skip
"""Commands of git itself, which an alias can not replace. Others may be aliases or programs. A few
of its own are left out because they start programs: difftool, filter-branch, send-email ..."""
_STARTERS: Final = (
    "--upload-pack", "--receive-pack", "--exec", "--open-files-in-pager", "--extcmd", "--tool",
    "--ext-diff", "--textconv", "--config", "--config-env", "--template", "--separate-git-dir",
    "--output", "--output-directory", "--exec-path", "--interactive", "--edit", "--gpg-sign",
    "--edit-todo", "--paginate", "--edit-description", "--show-signature", "--verify-signatures",
    "--filters", "--strategy", "--pager",
)  # fmt: skip
"""Options of subcommands that start a program, or write a file, of the caller's choice."""
_SHORT: Final[Mapping[str, str]] = {
    "rebase": "xis", "clone": "uc", "grep": "O", "fetch": "u", "ls-remote": "u", "archive": "o",
    "format-patch": "o", "init": "", "commit": "eS", "merge": "eSs", "pull": "eSs", "tag": "esu",
    "cherry-pick": "eSs", "revert": "eS", "am": "iS", "add": "ie", "checkout": "", "push": "",
}  # fmt: skip
"""By subcommand: letters of short options that do the same, alone or in a bundle."""
_CHECKS_SIGNATURES: Final = re.compile(r"%[-+ ]?G|%\(\*?signature|(?:^|=)-?\*?signature(?::|$)")
"""What in a format, or in a key to sort by, has git start `gpg.program` as `--show-signature` does:
`%GG`, `%(signature:grade)`. git-log(1), "Pretty formats"; git-for-each-ref(1), "Field names"."""
_CONFIG_READS: Final = frozenset(
    {"--get", "--get-all", "--get-regexp", "--list", "-l", "get", "list", "--get-urlmatch"}
)


def inside_git(words: tuple[Word, ...]) -> Inside:
    """What a call of git starts besides itself."""
    at = 1
    while at < len(words):
        text = words[at].text
        if not text.startswith("-"):
            break
        if text.startswith(_DIRECTORY):
            return doubtful(Doubt.DIRECTORY)
        if text == "-c" or text.startswith("-c"):
            return _setting(words, at)
        if text not in _SAFE_GLOBAL:
            return doubtful(Doubt.PROGRAM_OPTION)
        at += 1
    if at == len(words):
        return Inside()
    name = words[at].literal
    if name is None:
        return doubtful(Doubt.EXPANSION)
    rest = words[at + 1 :]
    found = _nested(name, rest)
    if found is not None:
        return found
    if name not in _KNOWN:
        return doubtful(Doubt.ALIAS)
    if name == "config" and not (rest and rest[0].literal in _CONFIG_READS):
        return doubtful(Doubt.SHELL_STATE)
    short = _SHORT.get(name, "")
    if any(
        _starts_program(word.text, short) or _CHECKS_SIGNATURES.search(word.text) for word in rest
    ):
        return doubtful(Doubt.PROGRAM_OPTION)
    return Inside()


def _setting(words: tuple[Word, ...], at: int) -> Inside:
    """`-c key=value`: aliases, pagers, editors, ssh commands. A value may be a shell line."""
    attached = words[at].text[2:]
    setting = attached or (words[at + 1].text if at + 1 < len(words) else "")
    value = setting.partition("=")[2].removeprefix("!")
    return Inside(frozenset({Doubt.PROGRAM_OPTION}), (), (value,) if value else ())


def _nested(name: str, rest: tuple[Word, ...]) -> Inside | None:
    """Subcommands whose operands are a command."""
    asked = frozenset({Doubt.WRAPPER})
    verbs = [word.literal for word in rest]
    if name == "bisect" and verbs[:1] and verbs[0] not in {"start", "good", "bad", "log", "reset"}:
        return Inside(asked, started(rest[1:]) if verbs[0] == "run" else ())
    if name == "submodule":
        if "foreach" not in verbs:
            reads = not verbs or verbs[0] in {"status", "summary"}
            return None if reads else doubtful(Doubt.UNSEEN)
        inner = rest[verbs.index("foreach") + 1 :]
        inner = inner[1:] if inner and inner[0].text.startswith("-") else inner
        return Inside(asked, started(inner), script_of(inner[:1]))
    if name == "rebase":
        scripts = tuple(_values(rest, "-x", "--exec"))
        return Inside(asked, (), scripts) if scripts else None
    return None


def _values(words: tuple[Word, ...], short: str, long: str) -> list[str]:
    found: list[str] = []
    for index, word in enumerate(words):
        text = word.text
        name, equals, value = text.partition("=")
        if len(name) > 3 and long.startswith(name):
            if equals:
                found.append(value)
            elif index + 1 < len(words):
                found.append(words[index + 1].text)
        elif text == short and index + 1 < len(words):
            found.append(words[index + 1].text)
        elif text.startswith(short):
            found.append(text[len(short) :])
    return [value for value in found if value]


def _starts_program(text: str, short: str) -> bool:
    if text.startswith("--"):
        name = text.partition("=")[0]
        return len(name) > 2 and any(option.startswith(name) for option in _STARTERS)
    if text.startswith("-") and any(letter in text[1:] for letter in short):
        return True
    return "ext::" in text or "fd::" in text
