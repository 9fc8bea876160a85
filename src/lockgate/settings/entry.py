"""A server to be written into a configuration file, and how it is written."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from lockgate.settings.expansion import needed
from lockgate.settings.masking import shown_arguments, shown_url
from lockgate.settings.nodes import Place, Scalar
from lockgate.showing import visible

_PLAIN = re.compile(r"(?:-{1,2}(?=[A-Za-z]))?[A-Za-z0-9_./][A-Za-z0-9_./@+=~-]*")
_ESCAPED = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """What `lockgate mcp add` and `import` write: a name, and what starts the server or where it
    is."""

    name: str
    command: str = ""
    """Empty for a server with a `url`."""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """As they are written: `${NAME}` is a reference, a literal `${` is `$${`."""
    cwd: str | None = None
    transport: str = "stdio"
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """The same as of `env`; secrets only as references."""
    tls: Mapping[str, str] = field(default_factory=dict[str, str])
    """Files of certificates, by their keys."""
    proxy: str | None = field(default=None, repr=False)
    """Empty for none; None for what the environment names."""
    auth: str | Mapping[str, str | tuple[str, ...]] | None = None
    """One word, or the keys of the section; secrets only as references."""

    @property
    def secret_addresses(self) -> tuple[str, ...]:
        """Which of `url` and `proxy` hold what looks like a secret and no reference."""
        found = {"url": self.url or "", "proxy": self.proxy or ""}
        return tuple(key for key, text in found.items() if shown_url(text) != visible(text))

    @property
    def secret_arguments(self) -> tuple[int, ...]:
        """Which of `args`, counted from 1, hold what looks like a secret and no reference."""
        shown = shown_arguments(self.args)
        pairs = enumerate(zip(shown, self.args, strict=True), 1)
        return tuple(number for number, (told, text) in pairs if told != visible(text))

    def unset(self, environ: Mapping[str, str]) -> tuple[str, ...]:
        """Variables without which it can not be used, and that hold nothing now; each once."""
        values: list[object] = [self.command, self.args, self.cwd, self.url, self.proxy]
        values += [*self.env.values(), *self.headers.values(), *self.tls.values()]
        values += [self.auth] if isinstance(self.auth, str) else [*(self.auth or {}).values()]
        texts: list[str] = []
        for value in values:
            texts += cast("tuple[str, ...]", value) if isinstance(value, tuple) else [str(value)]
        names = (name for text in texts for name in needed(text))
        return tuple(dict.fromkeys(name for name in names if not environ.get(name, "").strip()))

    def block(self) -> tuple[str, ...]:
        """Its lines as an item of a list in block style, without indentation."""
        lines: list[str] = []
        for key, value in self.data().items():
            if isinstance(value, dict):
                lines.append(f"  {key}:")
                pairs = cast("dict[str, object]", value).items()
                lines.extend(f"    {quoted(name)}: {_word(one)}" for name, one in pairs)
            else:
                lines.append(f"  {key}: {_word(value)}")
        return (f"- {lines[0].lstrip()}", *lines[1:])

    def flow(self) -> str:
        """The same on one line, for a list in brackets."""
        return f"{{{', '.join(f'{as_json(k)}: {_flow(v)}' for k, v in self.data().items())}}}"

    def data(self) -> dict[str, object]:
        """What a reader must find (`nodes.data_of`), up to the type of single words."""
        found: dict[str, object] = {"name": self.name}
        if self.url is not None:
            found |= {"transport": self.transport, "url": self.url}
        else:
            found["command"] = self.command
        if self.args:
            found["args"] = list(self.args)
        if self.env:
            found["env"] = dict(self.env)
        if self.headers:
            found["headers"] = dict(self.headers)
        if isinstance(self.auth, str):
            found["auth"] = self.auth
        elif self.auth is not None:
            pairs = self.auth.items()
            found["auth"] = {k: v if isinstance(v, str) else list(v) for k, v in pairs}
        if self.tls:
            found["tls"] = dict(self.tls)
        if self.proxy is not None:
            found["proxy"] = self.proxy
        if self.cwd is not None:
            found["cwd"] = self.cwd
        return found


def _word(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(quoted, cast('list[str]', value)))}]"
    return quoted(str(value))


def _flow(value: object) -> str:
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return f"{{{', '.join(f'{as_json(name)}: {_flow(one)}' for name, one in pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(as_json, cast('list[str]', value)))}]"
    return as_json(str(value))


def quoted(text: str) -> str:
    """A text as YAML: plain where nothing can misread it, else in double quotes."""
    scalar = Scalar(text, True, Place(Path(), 1, 1), 0, 0)
    if _PLAIN.fullmatch(text) and text not in _OLD_WORDS and scalar.type == "text":
        return text
    return as_json(text)


_OLD_WORDS = frozenset(
    word
    for base in ("yes", "no", "on", "off", "y", "n")
    for word in (base, base.upper(), base.capitalize())
)
"""Switches in YAML 1.1: quoted, so that older programs read the file alike."""


def as_json(text: str) -> str:
    """A text as JSON, which is YAML as well, with nothing in it that a line could end at."""
    return _ESCAPED.sub(lambda m: f"\\u{ord(m.group()):04x}", json.dumps(text, ensure_ascii=False))
