"""The keys of the `mcp` section: servers, what starts them, and how far they are believed."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from lockgate.mcp.host.settings import AnnotationTrust, PinPolicy
from lockgate.settings.asking_keys import ASKING
from lockgate.settings.auth_keys import Auth
from lockgate.settings.entries import Environment, Nested, ServerName, Servers, Verdicts
from lockgate.settings.kinds import (
    Argument,
    Choice,
    Command,
    Directory,
    Duration,
    Many,
    Pin,
    Switch,
    Text,
)
from lockgate.settings.reading import Key, Section
from lockgate.settings.remote_kinds import Address, Headers
from lockgate.traits import SideEffectLevel

IMPORT_HINT: Final = (
    "this is how other programs write it: run `lockgate mcp import FILE`, which takes servers over"
    " from their files"
)
NOTHING: Final = MappingProxyType[str, str]({})
_HTTP_HINT = "write streamable-http; sse is for servers of before 2025"
_ARGS_HINT = "write one argument an item: [-y, some-server]"

STARTED_BY: Final = ("command", "args", "env", "cwd")
"""The keys of a server that is started as a program."""
CONNECTED_BY: Final = ("url", "headers", "auth", "tls", "proxy")
"""The keys of a server that is reached over HTTP."""
IDENTIFIED_BY: Final = (*STARTED_BY, "transport", *CONNECTED_BY)
"""The keys that say what a server is; trust given to one is not trust in another."""

LEVEL: Final = Choice(
    MappingProxyType(
        {"read-only": SideEffectLevel.READ_ONLY, "mutating": SideEffectLevel.MUTATING}
    ),
    NOTHING,
    "read-only | mutating",
)

VERDICT: Final = Section(
    "mcp.servers[].verdicts.TOOL",
    "Your own word on one tool of this server, by the name the server gives it. It holds over what"
    " the server claims and over `annotationTrust`. What you leave out stays the worst case, except"
    " that under `trust` the claim fills it. `destructive` or `idempotent` without a level makes"
    " the tool mutating.",
    (
        Key("level", LEVEL, None, "nothing", "The highest effect the tool can have."),
        Key(
            "destructive",
            Switch(),
            None,
            "nothing",
            "Whether it can overwrite, remove or invalidate. Not together with `level: read-only`.",
        ),
        Key(
            "idempotent",
            Switch(),
            None,
            "nothing",
            "Whether a second run with the same arguments changes nothing more.",
        ),
        Key("concurrent", Switch(), None, "nothing", "Whether calls of it may overlap."),
        Key(
            "pin",
            Pin(),
            None,
            "none",
            "The digest of the definition it was given for. Under another one it counts only where"
            " it is strict, and nothing that the server claims of the tool does.",
        ),
    ),
    also_called=MappingProxyType(
        {
            "readOnly": "level: read-only",
            "readOnlyHint": "level: read-only",
            "destructiveHint": "destructive",
            "idempotentHint": "idempotent",
        }
    ),
)

TLS: Final = Section(
    "mcp.servers[].tls",
    "Files in PEM form. Certificates and names are always verified; there is no way to turn that"
    " off.",
    (
        Key(
            "caFile",
            Directory(noun="file"),
            None,
            "none",
            "Certificates to trust beside those of the system.",
            expands=True,
        ),
        Key(
            "clientCert",
            Directory(noun="file"),
            None,
            "none",
            "What lockgate proves itself with, its chain included.",
            expands=True,
        ),
        Key(
            "clientKey",
            Directory(noun="file"),
            None,
            "in `clientCert`",
            "The key of it, without a passphrase.",
            expands=True,
        ),
    ),
    also_called=MappingProxyType(
        {"ca": "caFile", "cert": "clientCert", "certFile": "clientCert", "key": "clientKey"}
    ),
    told=MappingProxyType(
        dict.fromkeys(
            ("verify", "insecure", "skipVerify", "insecureSkipVerify", "rejectUnauthorized"),
            "certificates are always verified: name the one to trust as caFile",
        )
    ),
)

_NAME: Final = Key(
    "name",
    ServerName(),
    None,
    "required",
    "What tools are registered under, and what rules name. Small letters, digits, and dashes"
    " between them.",
)
_VERDICTS: Final = Key(
    "verdicts", Verdicts(VERDICT), MappingProxyType({}), "none", "Your own word on single tools."
)

SERVER: Final = Section(
    "mcp.servers[]",
    "One server.",
    (
        _NAME,
        Key(
            "transport",
            Choice(
                MappingProxyType(
                    {
                        "stdio": "stdio",
                        "streamable-http": "streamable-http",
                        "sse": "sse",
                        "STDIO": "stdio",
                        "STREAMABLE_HTTP": "streamable-http",
                        "SSE": "sse",
                    }
                ),
                MappingProxyType(dict.fromkeys(("http", "streamable", "HTTP"), _HTTP_HINT)),
                "stdio | streamable-http | sse",
            ),
            "stdio",
            "stdio",
            "How the server is reached: as a program, over HTTP, or over HTTP with SSE, which"
            " servers of before 2025 speak.",
        ),
        Key(
            "command",
            Command(),
            None,
            "required for stdio",
            "The program to start, for `stdio`: a bare name is looked up in PATH, a path is"
            " relative to this file, `~/` is your home.",
            expands=True,
        ),
        Key(
            "args",
            Many(Argument(), "list of text", unique=False, hint=_ARGS_HINT),
            (),
            "[]",
            "Its arguments, handed on as they are: no shell reads them.",
            expands=True,
        ),
        Key(
            "env",
            Environment(),
            MappingProxyType({}),
            "{}",
            "Environment variables, on top of the few that every server gets. Put secrets in as"
            " `${NAME}`.",
            expands=True,
        ),
        Key(
            "cwd",
            Directory(),
            None,
            "the project's directory",
            "Where the program runs. If it is said, rules take its tools' relative paths to start"
            " there; if not, they can not place them.",
            expands=True,
        ),
        Key(
            "url",
            Address(),
            None,
            "required for the others",
            "Where the server is, for `streamable-http` and `sse`. Who asks is said in `headers`,"
            " never here.",
            expands=True,
        ),
        Key(
            "headers",
            Headers(),
            MappingProxyType({}),
            "{}",
            "Headers of every request to it, and to no other origin. Secrets only as `${NAME}`.",
            expands=True,
        ),
        Key(
            "auth",
            Auth(),
            None,
            "none",
            "Who asks, where no header says it: `oauth`, for servers that people log in to, or the"
            " section below.",
        ),
        Key("tls", Nested(TLS), MappingProxyType({}), "{}", "Certificates of your own."),
        Key(
            "proxy",
            Address(words="http or https address, or empty", optional=True),
            None,
            "what `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say",
            "The proxy to it; empty for none. This machine itself is asked without one, unless it"
            " is said here.",
            expands=True,
        ),
        Key(
            "requestTimeout",
            Duration(),
            30.0,
            "30s",
            "How long one request may take, waiting in line included.",
            expands=True,
        ),
        Key(
            "progressExtends",
            Duration(),
            None,
            "nothing",
            "How long a call may take in all while the server reports progress, which gives it"
            " `requestTimeout` anew each time, or when it takes the call as a task. Not below"
            " that. Left out, progress extends nothing, and a task may take 10 minutes.",
            expands=True,
        ),
        Key(
            "annotationTrust",
            Choice(
                MappingProxyType(
                    {
                        "ignore": AnnotationTrust.IGNORE,
                        "trust": AnnotationTrust.TRUST,
                        "IGNORE": AnnotationTrust.IGNORE,
                        "TRUST": AnnotationTrust.TRUST,
                    }
                ),
                NOTHING,
                "ignore | trust",
            ),
            AnnotationTrust.IGNORE,
            "ignore",
            "Whether the server's claims about its own tools are believed. Ignored, every tool"
            " counts as mutating and destructive.",
        ),
        Key(
            "required",
            Switch(),
            False,
            "false",
            "Whether nothing starts without it.",
            expands=True,
        ),
        Key(
            "expectTools",
            Many(Text(), "list of text"),
            (),
            "[]",
            "Tools, by the server's own names, that must be there.",
        ),
        Key(
            "lane",
            Choice(
                MappingProxyType({"tool": "tool", "server": "server"}),
                NOTHING,
                "tool | server",
            ),
            "tool",
            "tool",
            "What calls wait for each other: those of one tool, or all of the server.",
        ),
        _VERDICTS,
        Key(
            "pins",
            Choice(
                MappingProxyType(
                    {"off": PinPolicy.OFF, "warn": PinPolicy.WARN, "block": PinPolicy.BLOCK}
                ),
                NOTHING,
                "off | warn | block",
            ),
            PinPolicy.WARN,
            "warn",
            "What is done about a tool whose definition changed since you pinned it: nothing; say"
            " so and believe nothing that loosens; or leave it out, and every tool without a pin.",
        ),
        *ASKING,
    ),
    also_called=MappingProxyType(
        {
            "timeout": "requestTimeout",
            "environment": "env",
            "type": "transport",
            "cmd": "command",
            "arguments": "args",
            "trust": "annotationTrust",
            "workingDirectory": "cwd",
            "workdir": "cwd",
            "httpUrl": "url",
            "serverUrl": "url",
            "http_headers": "headers",
            "requestInit": "headers",
            "alwaysLoad": "required",
            "oauth": "auth",
            "authorization": "auth",
            "authProviderType": "auth",
            "bearer_token_env_var": "auth: {type: bearer, token: '${NAME}'}",
            "tools": "expectTools",
        }
    ),
    told=MappingProxyType(
        {
            **dict.fromkeys(
                ("disabled", "enabled"), "take the entry out, or comment it out, to switch it off"
            ),
            **dict.fromkeys(
                ("autoApprove", "alwaysAllow"),
                "what needs no question is said under permissions, allow",
            ),
        }
    ),
)

MCP: Final = Section(
    "mcp",
    "The servers whose tools are taken in.",
    (
        Key(
            "startupBudget",
            Duration(),
            None,
            "the longest requestTimeout + 30s",
            "How long all servers together may take to start. It can be lower than the default,"
            " not higher. A server that is late is given up.",
            expands=True,
        ),
        Key(
            "credentials",
            Choice(
                MappingProxyType({"keyring": "keyring", "file": "file"}), NOTHING, "keyring | file"
            ),
            None,
            "the keyring where there is one, else the file",
            "Where logins are kept: in the keyring of your system (`pip install '.[oauth]'`), or"
            " in a file that only you can read. With `keyring` nothing is kept where there is"
            " none.",
        ),
        Key("servers", Servers(SERVER), MappingProxyType({}), "[]", "The servers.", empty=True),
    ),
    told=MappingProxyType({"mcpServers": IMPORT_HINT}),
    stray_server=True,
)

_ANSWERED_SERVER: Final = Section("mcp.servers[]", "A server, by name.", (_NAME, _VERDICTS))
ANSWERED_MCP: Final = Section(
    "mcp",
    "Verdicts given as answers.",
    (
        Key(
            "servers", Servers(_ANSWERED_SERVER), MappingProxyType({}), "[]", "By name.", empty=True
        ),
    ),
)
