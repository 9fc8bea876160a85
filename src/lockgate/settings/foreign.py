"""The servers in other programs' files: `.mcp.json`, VS Code, Cursor, Codex and their kin.

They all hold a map of servers by name, under `mcpServers` or `servers`. What lockgate has no word
for is told, not dropped in silence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from lockgate.errors import ConfigError, Problem
from lockgate.settings.entry import ServerEntry
from lockgate.settings.foreign_remote import REMOTE, Unusable, is_remote, remote_entry
from lockgate.settings.jsonc import read_json
from lockgate.settings.masking import is_reference
from lockgate.settings.server_name import is_server_name, suggest_name
from lockgate.settings.yamlfile import decode
from lockgate.showing import looks_secret, quoted, visible
from lockgate.textfile import read_file

MAX_BYTES: Final = 16 * 1024 * 1024
"""Some programs keep their whole history in the file that also names their servers."""

_PLACES: Final = (
    ("mcpServers",),
    ("servers",),
    ("mcp", "servers"),
    ("mcp", "mcpServers"),
    ("mcp_servers",),
)
_WORKSPACE_FOLDERS: Final = frozenset(
    {".vscode", ".cursor", ".claude", ".gemini", ".roo", ".codex"}
)
_OURS: Final = frozenset({"command", "args", "env", "cwd", "type", "transport"})
_SILENT: Final = frozenset({"name", "description", "title", "id", "gallery", "version", "icon"})
_DROPPED: Mapping[str, str] = {
    "envFile": "its envFile is not read: put the variables into env or the environment",
    "headers": "headers have no meaning for a program",
    **dict.fromkeys(
        ("autoApprove", "alwaysAllow", "trust"),
        "what it lets pass unasked is not taken over: see permissions and annotationTrust",
    ),
    "timeout": "its timeout is not taken over, the units differ: see requestTimeout",
}
_VARIABLE = re.compile(r"\$\{([^${}]*)\}|\$\{")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KNOWN_FOLDERS: Mapping[str, str] = {
    "workspaceFolder": ".",
    "workspaceRoot": ".",
    "userHome": "${HOME}",
    "pathSeparator": "/",
    "/": "/",
}


@dataclass(frozen=True, slots=True)
class Found:
    """One server of a foreign file."""

    source: Path
    original: str
    """Its name there."""
    entry: ServerEntry | None
    """None: it can not be taken over, and the first note says why."""
    notes: tuple[str, ...] = ()
    """What changed, what was left behind, what should be looked at. No secrets."""


def read_foreign(path: Path, folder: Path) -> tuple[Found, ...]:
    """The servers of one file, to be written into a configuration in `folder`.

    Relative programs and directories are re-based when the file belongs to another directory.
    Raises `ConfigError` if there is no such file, or it is no JSON with a map of servers in it.
    """
    data = read_file(path, limit=MAX_BYTES)
    if data is None:
        raise ConfigError(Problem("there is no such file", file=path))
    text = decode(data, path)
    servers = _servers(_toml(text, path) if _is_toml(path) else read_json(text, path), path)
    base = path.parent.parent if path.parent.name in _WORKSPACE_FOLDERS else path.parent
    taken: set[str] = set()
    found: list[Found] = []
    for original, raw in servers.items():
        one = _Reader(path, original, base.resolve() != folder.resolve(), base.resolve()).read(raw)
        if one.entry is not None and one.entry.name in taken:
            note = f'another server here becomes "{one.entry.name}" as well: rename one of them'
            one = Found(path, original, None, (note,))
        elif one.entry is not None:
            taken.add(one.entry.name)
        found.append(one)
    return tuple(found)


def _is_toml(path: Path) -> bool:
    return path.suffix == ".toml"


def _toml(text: str, path: Path) -> object:
    import tomllib  # one program's files alone are in it

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(Problem("is no valid TOML", file=path, hint=str(error))) from None


def _servers(document: object, path: Path) -> Mapping[str, object]:
    for keys in _PLACES:
        node: object = document
        for key in keys:
            node = cast("dict[str, object]", node).get(key) if isinstance(node, dict) else None
        if isinstance(node, dict):
            return cast("dict[str, object]", node)
    raise ConfigError(
        Problem(
            "holds no map of servers",
            file=path,
            hint="looked for mcpServers, servers, mcp.servers, mcp_servers",
        )
    )


class _Reader:
    """Takes one entry over."""

    def __init__(self, path: Path, original: str, moved: bool, base: Path) -> None:
        self._path = path
        self._original = original
        self._moved = moved
        self._base = base
        self._notes: list[str] = []

    def read(self, raw: object) -> Found:
        try:
            entry = self._entry(raw)
        except Unusable as reason:
            return Found(self._path, self._original, None, (str(reason), *self._notes))
        return Found(self._path, self._original, entry, tuple(self._notes))

    def _entry(self, raw: object) -> ServerEntry:
        if not isinstance(raw, dict):
            raise Unusable("its entry is no object")
        server = cast("dict[str, Any]", raw)
        name = self._name()
        if server.get("disabled") is True or server.get("enabled") is False:
            raise Unusable("it is switched off there")
        if is_remote(server):
            self._tell_dropped(server, REMOTE)
            return remote_entry(name, server, self._path, self._text, self._notes.append)
        command = server.get("command")
        if not isinstance(command, str) or not command.strip():
            raise Unusable("it has no command")
        self._tell_dropped(server)
        args = server.get("args", [])
        if not isinstance(args, list) or not all(
            isinstance(a, str | int | float) and not isinstance(a, bool)
            for a in cast("list[object]", args)
        ):
            raise Unusable("its args are no list of text")
        words = tuple(self._text(str(argument)) for argument in cast("list[object]", args))
        cwd = server.get("cwd")
        if cwd is not None and not isinstance(cwd, str):
            raise Unusable("its cwd is no text")
        if cwd is None and self._moved and any(word.startswith(("./", "../")) for word in words):
            self._notes.append(f"runs in {visible(str(self._base))}: its arguments are relative")
            cwd = "."
        env = self._env(server.get("env"))
        entry = ServerEntry(
            name,
            self._program(self._text(command)),
            words,
            env,
            None if cwd is None else self._directory(self._text(cwd)),
        )
        if numbers := entry.secret_arguments:
            self._notes.append(
                f"{_arguments(numbers)} and was copied as it is: better write ${{NAME}} there and"
                " set NAME in your environment"
            )
        return entry

    def _name(self) -> str:
        if is_server_name(self._original):
            return self._original
        name = suggest_name(self._original)
        if name is None:
            raise Unusable("its name has nothing that a server's name may have: rename it there")
        self._notes.append(f'{quoted(self._original[:60])} is renamed to "{name}"')
        return name

    def _tell_dropped(self, server: Mapping[str, Any], ours: frozenset[str] = _OURS) -> None:
        for key in server:
            if key in _DROPPED and key not in ours:
                self._notes.append(_DROPPED[key])
            elif key not in ours | _SILENT | {"disabled", "enabled"}:
                self._notes.append(f"{visible(key)[:40]} is not taken over")

    def _env(self, raw: object) -> dict[str, str]:
        if raw is None:
            return {}
        if not isinstance(raw, dict):
            raise Unusable("its env is no object")
        env: dict[str, str] = {}
        for name, value in cast("dict[str, object]", raw).items():
            if value is None:
                self._notes.append(f"{visible(name)[:40]} has no value there and was left out")
                continue
            if not name or "=" in name or not name.isprintable():
                raise Unusable("its env has a name that no variable can have")
            if isinstance(value, bool):
                value = "true" if value else "false"
            if not isinstance(value, str | int | float):
                raise Unusable(f"its env {visible(name)[:40]} is no text")
            env[name] = self._text(str(value))
            if looks_secret(name) and env[name] and not is_reference(env[name]):
                self._notes.append(
                    f"{name} looks like a secret and was copied as it is: better write"
                    f" {name}: ${{{name}}} and set it in your environment"
                )
        return env

    def _text(self, text: str) -> str:
        """References in our spelling; any other `${` made literal."""
        if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
            raise Unusable("it holds characters that no program can be handed")
        if _is_toml(self._path):  # there nothing is a reference
            return text.replace("${", "$${")
        return _VARIABLE.sub(self._reference, text)

    def _reference(self, match: re.Match[str]) -> str:
        inner = match[1]
        if inner is None:
            return "$${"
        name, default, rest = inner.partition(":-")
        if _NAME.fullmatch(name) and name not in _KNOWN_FOLDERS:
            return f"${{{name}{default}{rest}}}"
        kind, _, rest = inner.partition(":")
        if kind == "env" and _NAME.fullmatch(rest):
            return f"${{{rest}}}"
        if kind == "input" and rest:
            variable = re.sub(r"[^A-Za-z0-9]+", "_", rest).strip("_").upper()
            if _NAME.fullmatch(variable):
                self._notes.append(f"set {variable} in your environment: there it is asked for")
                return f"${{{variable}}}"
        if inner in _KNOWN_FOLDERS:
            if inner.startswith("workspace") and self._moved:
                return str(self._base)
            return _KNOWN_FOLDERS[inner]
        if kind in ("config", "command", "input") or inner in ("file", "fileDirname"):
            raise Unusable(f"it uses ${{{visible(inner)[:40]}}}, which only its own program knows")
        return "$" + match.group()

    def _program(self, command: str) -> str:
        return self._rebased(command) if "/" in command else command

    def _directory(self, cwd: str) -> str:
        return self._rebased(cwd)

    def _rebased(self, path: str) -> str:
        if not self._moved or path.startswith(("~", "${")) or re.match(r"[A-Za-z]:[\\/]", path):
            return path
        moved = str(self._base / path)
        if any("\ud800" <= char <= "\udfff" for char in moved):
            raise Unusable("the name of its directory is not UTF-8, which no YAML file can hold")
        return moved


def _arguments(numbers: tuple[int, ...]) -> str:
    if len(numbers) == 1:
        return f"its argument {numbers[0]} looks like a secret"
    return f"each of its arguments {', '.join(map(str, numbers))} looks like a secret"


def usual_places(cwd: Path, environ: Mapping[str, str], *, personal: bool) -> tuple[Path, ...]:
    """The files that `lockgate mcp import` looks at when none is named; not all exist.

    Those of a project, or with `personal` those that a person's programs keep.
    """
    if not personal:
        names = (".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json", ".gemini/settings.json")
        names += (".codex/config.toml",)
        return tuple(cwd / name for name in names)
    home = environ.get("HOME") or environ.get("USERPROFILE")
    if not home:
        return ()
    config = Path(environ.get("XDG_CONFIG_HOME") or Path(home) / ".config")
    folders = [config, Path(home) / "Library" / "Application Support"]
    if roaming := environ.get("APPDATA"):
        folders.append(Path(roaming))
    paths = [folder / "Claude" / "claude_desktop_config.json" for folder in folders]
    paths += [folder / "Code" / "User" / "mcp.json" for folder in folders]
    paths += [
        Path(home) / ".claude.json",
        Path(home) / ".cursor" / "mcp.json",
        Path(home) / ".codeium" / "windsurf" / "mcp_config.json",
        Path(home) / ".gemini" / "settings.json",
        Path(home) / ".codex" / "config.toml",
    ]
    return tuple(paths)
