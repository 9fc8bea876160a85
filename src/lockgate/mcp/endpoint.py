"""What the wire needs to reach a server, and nothing about whether to believe it.

Trust, verdicts and requirements live in `mcp.host.settings`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Final, TypeAlias

from lockgate.web.target import LocationError, Target, read_target

_LOADS: Final = frozenset(
    {"PATH", "BASH_ENV", "ENV", "SHELL", "CLASSPATH", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"}
    | {"_JAVA_OPTIONS", "NODE_OPTIONS", "NODE_PATH", "PERL5LIB", "PERL5OPT", "RUBYLIB", "RUBYOPT"}
    | {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONBREAKPOINT"}
    | {"PYTHONUSERBASE", "VIRTUAL_ENV", "GEM_PATH", "GEM_HOME", "LUA_PATH", "LUA_CPATH"}
    | {"PHP_INI_SCAN_DIR", "PHPRC", "DOTNET_STARTUP_HOOKS", "R_PROFILE", "R_PROFILE_USER"}
    | {"OPENSSL_CONF", "OPENSSL_MODULES", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_EXEC_PATH"}
)
_LOADS_BEGIN: Final = ("LD_", "DYLD_", "GIT_CONFIG")
"""Variables that decide which program runs, or what code it loads, by the whole name or by how it
begins. None is one in which secrets are kept."""


@dataclass(frozen=True, slots=True)
class StdioEndpoint:
    """A program that speaks MCP on its standard input and output."""

    command: str
    """A path, or a bare name that is looked up in the child's PATH; `~` is expanded."""
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Set on top of the safe list that every child gets; may hold secrets."""
    cwd: Path | None = None
    cwd_said: bool = False
    """Whether the operator said so, and with it where the server's relative paths start; else
    `cwd` is only where it happens to be started."""
    project: Path | None = None
    """The directory of the project that it belongs to: what lies in it is known by its place
    there."""

    @property
    def network(self) -> str:
        """What OpenTelemetry calls this way to a server (`network.transport`)."""
        return "pipe"

    def identity(self) -> dict[str, object]:
        """What a fingerprint covers: the command and its arguments, the directory that was given
        for it, the names of the variables, and a hash of each value that decides which program
        runs or what it loads.

        What lies in the project is named from there, so that a project which stands elsewhere has
        the same fingerprints.
        """
        found: dict[str, object] = {
            "command": self._program(),
            "args": list(self.args),
            "env": sorted(self.env),
        }
        if self.cwd_said and self.cwd is not None and self.cwd != self.project:
            found["cwd"] = _placed(self.cwd, self.project)
        loads = {name: self._hash(value) for name, value in self.env.items() if _decides(name)}
        if loads:
            found["loads"] = loads
        return found

    def _program(self) -> str:
        path = PurePath(self.command)
        return _placed(path, self.project or self.cwd) if path.is_absolute() else self.command

    def _hash(self, value: str) -> str:
        """Of a value in which the project's directory may stand."""
        if self.project is not None:
            parts = value.split(":")
            value = ":".join(
                _placed(PurePath(part), self.project) if part.startswith("/") else part
                for part in parts
            )
        return hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()


def _placed(path: PurePath, project: PurePath | None) -> str:
    """A path from the project, if it lies in it; else as it is."""
    if project is None or not path.is_absolute() or not path.is_relative_to(project):
        return str(path)
    return f"./{path.relative_to(project).as_posix()}"


def _decides(name: str) -> bool:
    return name.upper() in _LOADS or name.upper().startswith(_LOADS_BEGIN)


_FIELD_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD_VALUE: Final = re.compile(r"(?![ \t])[\t\x20-\x7e\x80-\xff]+(?<![ \t])")
"""RFC 9110, 5.5; what is not Latin-1 has no agreed form in a header."""
_OURS: Final = frozenset(
    {"accept", "accept-encoding", "connection", "content-encoding", "content-length"}
    | {"content-type", "cookie", "expect", "host", "last-event-id", "te", "trailer"}
    | {"transfer-encoding", "upgrade"}
)
"""Headers that belong to the transport; those that begin with `Mcp-` do too."""


@dataclass(frozen=True, slots=True)
class HttpEndpoint:
    """A server that speaks MCP over Streamable HTTP.

    Making one raises `ValueError` for an address, a header or a proxy that can not be used, without
    a value in its text.
    """

    url: str = field(repr=False)
    """Where messages are sent, used as it is written; a user name in it becomes a header."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Sent with every request to this server and to no other; may hold secrets."""
    ca_file: Path | None = None
    """Certificates (PEM) to trust beside those of the system. Verification is never off."""
    client_cert: Path | None = None
    """What this side proves itself with (PEM), its chain included."""
    client_key: Path | None = None
    """The key of `client_cert`; None if it stands in the same file."""
    proxy: str | None = field(default=None, repr=False)
    """The address of a proxy; empty for none; None for what the environment names."""
    project: Path | None = None
    """The directory of the project that it belongs to: what lies in it is known by its place
    there."""

    def __post_init__(self) -> None:
        target = self.target
        for name, value in self.headers.items():
            _check_header(name, value)
        if target.userinfo is not None and "authorization" in map(str.lower, self.headers):
            raise ValueError("the url holds a user name, and headers an Authorization: keep one")
        if self.client_key is not None and self.client_cert is None:
            raise ValueError("a client key without a client certificate is of no use")
        if self.proxy:
            try:
                read_target(self.proxy)
            except LocationError as error:
                raise ValueError(f"the proxy: {error}") from None

    @property
    def target(self) -> Target:
        """The url, read. Raises `ValueError`."""
        return read_target(self.url)

    @property
    def network(self) -> str:
        """What OpenTelemetry calls this way to a server (`network.transport`)."""
        return "tcp"

    def identity(self) -> dict[str, object]:
        """What a fingerprint covers: the address without its secrets, the names of the headers,
        and what decides who answers there: the proxy, the files of certificates."""
        names = sorted({name.lower() for name in self.headers})
        found: dict[str, object] = {"url": self.target.identity, "headers": names}
        if self.proxy is not None:
            found["proxy"] = read_target(self.proxy).identity if self.proxy else ""
        files = {"ca": self.ca_file, "cert": self.client_cert, "key": self.client_key}
        for name, file in files.items():
            if file is not None:
                found[name] = _placed(file, self.project)
        return found

    def secrets(self) -> tuple[str, ...]:
        """What nothing that is said of this server may hold: every value of its headers, each
        without its scheme too, passwords, and what the query hides."""
        found = list(self.headers.values())
        found += [value.partition(" ")[2] for value in self.headers.values()]
        target = self.target
        for address in (target, *((read_target(self.proxy),) if self.proxy else ())):
            found += address.secrets()
        return tuple(filter(None, found))


@dataclass(frozen=True, slots=True)
class SseEndpoint(HttpEndpoint):
    """A server that speaks the older transport, HTTP with SSE (2024-11-05): `url` is its stream."""

    def identity(self) -> dict[str, object]:
        """The same as of any address, and that it is spoken to in another way."""
        return {**HttpEndpoint.identity(self), "transport": "sse"}


def _check_header(name: str, value: str) -> None:
    if not _FIELD_NAME.fullmatch(name):
        raise ValueError(f"{name[:60]!r} is no name of a header")
    if name.lower() in _OURS or name.lower().startswith("mcp-"):
        raise ValueError(f"the header {name} belongs to the transport: leave it out")
    if not _FIELD_VALUE.fullmatch(value):
        raise ValueError(
            f"the value of the header {name} is empty, begins or ends with white space, or holds "
            "characters that no header can hold"
        )


Endpoint: TypeAlias = StdioEndpoint | HttpEndpoint | SseEndpoint
"""Grows by one member for each transport."""
