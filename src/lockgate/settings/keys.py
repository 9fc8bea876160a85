"""Every key of a configuration file, with its kind, its default and what it does.

The one table behind the reader, the spelling hints and docs/configuration.md; the keys of servers
are in `server_keys`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from lockgate.settings.approvers import Approvers
from lockgate.settings.audit_keys import AUDIT
from lockgate.settings.definition_keys import DefinitionPlaces
from lockgate.settings.entries import Nested, Rules
from lockgate.settings.hook_keys import HOOK_KEYS
from lockgate.settings.kinds import Choice, Directory, Duration, Many, ModelName, Text
from lockgate.settings.limit_keys import LIMITS
from lockgate.settings.model_keys import MODEL_SETTINGS
from lockgate.settings.reading import Key, Section
from lockgate.settings.rule_keys import ALLOW_RULE, STRICT_RULE
from lockgate.settings.server_keys import ANSWERED_MCP, IMPORT_HINT, LEVEL, MCP, NOTHING
from lockgate.settings.session_keys import SESSIONS
from lockgate.settings.tool_keys import InTreeNames, Roots
from lockgate.traits import SideEffectLevel

AGENT: Final = Section(
    "agent",
    "What `lockgate run` runs.",
    (
        Key(
            "model",
            ModelName(),
            None,
            "none",
            "`provider:model`, such as `anthropic:claude-sonnet-4-6`; its key comes from the"
            " environment. `scripted:` and a path, relative to this file, is a script that stands"
            " in for a model.",
            expands=True,
        ),
        Key(
            "ceiling",
            LEVEL,
            SideEffectLevel.MUTATING,
            "mutating",
            "The highest level a tool may have to be shown and run.",
        ),
        Key(
            "offer",
            Many(Text(), "list of patterns"),
            None,
            "every tool",
            "The tools the agent is shown at all. Offered is not allowed.",
        ),
        Key(
            "instructions",
            Text(),
            None,
            "lockgate's own",
            "What the model is told before it is asked anything.",
        ),
        Key(
            "agents",
            DefinitionPlaces(),
            (),
            "[]",
            "Directories of sub-agents (`<name>.md`), and single files, relative to this file. With"
            " any, there are the tools `Task` and `list_agents`. The lists of all layers are"
            " joined.",
            expands=True,
        ),
        Key(
            "skills",
            DefinitionPlaces(),
            (),
            "[]",
            "Directories of skills (`<name>/SKILL.md`), and single files, relative to this file."
            " With any, there is the tool `Skill`. The lists of all layers are joined.",
            expands=True,
        ),
        Key("limits", Nested(LIMITS), MappingProxyType({}), "empty", LIMITS.doc, empty=True),
        Key(
            "modelSettings",
            Nested(MODEL_SETTINGS),
            MappingProxyType({}),
            "empty",
            MODEL_SETTINGS.doc,
            empty=True,
        ),
    ),
)

_ATTENDED: Final = Choice(
    MappingProxyType({"terminal": "terminal", "queue": "queue"}), NOTHING, "terminal | queue"
)
_UNATTENDED: Final = Choice(
    MappingProxyType({"queue": "queue"}),
    MappingProxyType(
        {"terminal": "nobody sits at the terminal of an unattended run: write queue, or leave []"}
    ),
    "queue",
)

APPROVALS: Final = Section(
    "approvals",
    "Which calls are asked about, and who is asked. No setting removes the question about a"
    " destructive call.",
    (
        Key(
            "exemptAtOrBelow",
            Choice(
                MappingProxyType(
                    {
                        "none": None,
                        "read-only": SideEffectLevel.READ_ONLY,
                        "mutating": SideEffectLevel.MUTATING,
                    }
                ),
                NOTHING,
                "none | read-only | mutating",
            ),
            SideEffectLevel.READ_ONLY,
            "read-only",
            "Calls up to this level, unless they are destructive, are not asked about.",
        ),
        Key(
            "attended",
            Approvers(_ATTENDED, "list of `terminal`, `queue`, `command: [PROGRAM, ARG]`"),
            ("terminal",),
            "[terminal]",
            "Who is asked, in order, while a person is there. `[]` is nobody, which means no."
            " `queue` comes last: the call then waits, see `lockgate approvals`. A program of yours"
            " gets each question, its arguments in full.",
            expands=True,
        ),
        Key(
            "unattended",
            Approvers(_UNATTENDED, "list of `queue`, `command: [PROGRAM, ARG]`"),
            (),
            "[]",
            "Who is asked, in order, in runs without a person. Nobody, the default, means no.",
            expands=True,
        ),
        Key(
            "answerWithin",
            Duration(),
            600.0,
            "10m",
            "How long one approver has for one question. After that the answer is no.",
            expands=True,
        ),
        Key(
            "ticketLifetime",
            Duration("duration, also in days", days=90),
            604_800.0,
            "7d",
            "How long a question in the queue waits, at most 90d. After that the answer is no.",
            expands=True,
        ),
    ),
)

PERMISSIONS: Final = Section(
    "permissions",
    "Rules by tool and by what it is called with. deny wins over ask, ask over allow, wherever they"
    " are written; an allow rule answers in your place. The lists of all layers are joined.",
    (
        Key(
            "allow",
            Rules(ALLOW_RULE),
            (),
            "[]",
            "Calls that need no person's answer.",
            empty=True,
        ),
        Key("ask", Rules(STRICT_RULE), (), "[]", "Calls that are always asked about.", empty=True),
        Key("deny", Rules(STRICT_RULE), (), "[]", "Calls that are refused.", empty=True),
    ),
)

_PERMISSIONS_KEY: Final = Key(
    "permissions", Nested(PERMISSIONS), MappingProxyType({}), "empty", PERMISSIONS.doc, empty=True
)

ROOT: Final = Section(
    "",
    "The whole file.",
    (
        Key("mcp", Nested(MCP), MappingProxyType({}), "empty", MCP.doc, empty=True),
        Key(
            "builtin",
            InTreeNames(),
            (),
            "[]",
            "The tools of lockgate's own that there are. None unless you name it.",
            empty=True,
        ),
        Key(
            "roots",
            Roots(),
            None,
            "the project's directory",
            "The directories that file tools reach without a rule that says so, relative to this"
            " file.",
            expands=True,
        ),
        Key(
            "notes",
            Directory(noun="file"),
            None,
            "a file of lockgate's state",
            "The file that `append_note` adds to, relative to this file.",
            expands=True,
        ),
        Key(
            "knowledge",
            Directory(noun="file"),
            None,
            "a file of lockgate's state",
            "The database of the `knowledge_` tools, relative to this file. No file tool reaches"
            " it.",
            expands=True,
        ),
        Key("agent", Nested(AGENT), MappingProxyType({}), "empty", AGENT.doc, empty=True),
        Key(
            "approvals",
            Nested(APPROVALS),
            MappingProxyType({}),
            "empty",
            APPROVALS.doc,
            empty=True,
        ),
        _PERMISSIONS_KEY,
        *HOOK_KEYS,
        Key("audit", Nested(AUDIT), MappingProxyType({}), "empty", AUDIT.doc, empty=True),
        Key("sessions", Nested(SESSIONS), MappingProxyType({}), "empty", SESSIONS.doc, empty=True),
    ),
    told=MappingProxyType(
        {
            "mcpServers": IMPORT_HINT,
            "mcp_servers": IMPORT_HINT,
            "context_servers": IMPORT_HINT,
            "servers": "servers stand under mcp: write mcp: {servers: [...]}; if this is another"
            " program's file, run `lockgate mcp import FILE`",
        }
    ),
    stray_server=True,
)

ANSWERS: Final = Section(
    "",
    "What the file of answers may hold: rules and verdicts, nothing that starts anything.",
    (
        Key("mcp", Nested(ANSWERED_MCP), MappingProxyType({}), "empty", "Verdicts.", empty=True),
        _PERMISSIONS_KEY,
    ),
)
"""A layer with fewer keys; it merges by `ROOT`."""
