"""Lines made up at random for the differential test: well-formed ones, and near misses."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Final

_NAMES: Final = ("git", "ls", "cat", "rm", "touch", "a", "b", "true", "false", "echo")
_ARGUMENTS: Final = (
    "status", "-x", "--", "a b", "$(touch x)", "`touch x`", "it's", '"', "\\", "a;touch x", "#x",
    "*", "{a,b}", "~", "", "a\nb", "x=1", "!", "}", "&& touch x", "é", ">x", "\t", "$x", "a#b",
    "if", "[",
)  # fmt: skip
_TOKENS: Final = (
    *("git", "ls", "rm", "touch x", "a", "b", "if", "then", "else", "fi", "while", "do", "done"),
    *("{", "}", "(", ")", ";", "\n", "&&", "||", "|", "!", "time", "#", "'", '"', "\\", "\\\n"),
    *(" ", " ", " ", " ", "\t", "$'", "\\'", "=", "x=", "-p", "true", "false", "until", "in"),
    *("$", "`", "&", "<", ">", "*", "[", "]", "~", ":", "@{1}", "{}", "a,b", "é", "case", "for"),
    *("bash -c ", "env ", "nice ", "sh -c ", "timeout 5 ", "[ ", " ]", "''", '""', "%", "^", "+"),
)
_MARKS: Final = " ;|&()'\"\\\n#{}!$`<>=*~\t-"


def quoted(word: str, choose: random.Random) -> str:
    """One of the ways in which a shell line can hold `word` as it is."""
    pieces: list[str] = []
    at = 0
    while at < len(word) or not pieces:
        end = min(len(word), at + choose.randint(1, 4))
        pieces.append(choose.choice((_single, _double, _ansi, _escaped))(word[at:end]))
        at = max(end, 1)
    return "".join(pieces)


def _single(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _double(text: str) -> str:
    return '"' + "".join("\\" + c if c in '"\\$`' else c for c in text) + '"'


def _ansi(text: str) -> str:
    known = {"'": "\\'", "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return "$'" + "".join(known.get(c, c if c > "\x7f" else f"\\x{ord(c):02x}") for c in text) + "'"


def _escaped(text: str) -> str:
    if not text or "\n" in text:
        return _single(text)
    return "".join(c if c.isalnum() else "\\" + c for c in text)


def made_line(choose: random.Random) -> str:
    """A line: well-formed, one with a few characters changed, or any tokens in a row."""
    kind = choose.random()
    if kind < 0.35:
        return _list(choose, 3)
    if kind < 0.7:
        return _damaged(_list(choose, 2), choose)
    return "".join(choose.choice(_TOKENS) for _ in range(choose.randint(1, 12)))


def _damaged(line: str, choose: random.Random) -> str:
    for _ in range(choose.randint(1, 3)):
        at = choose.randint(0, len(line))
        keep = at + choose.randint(0, 1)
        line = line[:at] + choose.choice(("", *_MARKS)) + line[keep:]
    return line


def _simple(choose: random.Random) -> str:
    words = [choose.choice(_NAMES)]
    words += [choose.choice(_ARGUMENTS) for _ in range(choose.randint(0, 3))]
    blank = choose.choice((" ", "  ", "\t", " \\\n", " \\\n  "))
    wrapped = choose.choice(("",) * 12 + ("env ", "nice ", "timeout 5 ", "nohup ", "time "))
    name = words[0] if choose.random() < 0.7 else quoted(words[0], choose)
    line = wrapped + blank.join([name, *(quoted(word, choose) for word in words[1:])])
    if choose.random() < 0.08:
        return choose.choice(("bash", "sh")) + " -c " + _single(line)
    return line


def _list(choose: random.Random, depth: int) -> str:
    joints = ("; ", ";", " && ", " || ", " | ", "\n", " |\n", "&&", " # note\n", "\n\n")
    parts = [_compound(choose, depth) for _ in range(choose.randint(1, 3))]
    line = parts[0]
    for part in parts[1:]:
        line += choose.choice(joints) + part
    return line


def _compound(choose: random.Random, depth: int) -> str:
    if depth == 0 or choose.random() < 0.55:
        return _simple(choose)
    inner = _list(choose, depth - 1)
    other = _list(choose, depth - 1)
    forms: tuple[Callable[[], str], ...] = (
        lambda: f"({inner})",
        lambda: f"( {inner}\n)",
        lambda: f"{{ {inner}; }}",
        lambda: f"{{ {inner}\n}}",
        lambda: f"! {_simple(choose)}",
        lambda: f"if {inner}; then {other}; fi",
        lambda: f"if {inner}\nthen {other}\nelse {inner}\nfi",
        lambda: f"while false; do {inner}; done",
        lambda: f"until true; do {inner}; done",
    )
    return choose.choice(forms)()
