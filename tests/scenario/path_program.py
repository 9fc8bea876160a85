"""A program with a file tool and a server's tool, for tests that need a second process.

    python path_program.py DIRECTORY suspend TOOL PATH   make the call; print its ticket
    python path_program.py DIRECTORY resume TICKET       answer yes; print the result's kind or text

The state is in DIRECTORY/state, the project in DIRECTORY/project.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
from pathlib import Path

from lockgate.calls.call import Suspended
from lockgate.decision import Decision
from lockgate.policy.approval import Answer, Later
from lockgate.rules.parse import parse_rule
from lockgate.rules.places import Places
from lockgate.rules.rule import RuleSet
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.tool import ScriptedTool
from lockgate.tools.context import Environment
from lockgate.tools.subject import Subject, SubjectKind


async def act(directory: Path, action: str, *rest: str) -> str:
    """Do what was asked for; a word for what came of it."""
    project = directory / "project"
    subject = Subject(SubjectKind.PATH, "path", writes=True)
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tools = [
        ScriptedTool("Store", subjects=(subject,), input_schema=schema),
        ScriptedTool("store", server="files", input_schema=schema),
    ]
    rule = parse_rule(
        "mcp__files__store(path=path:./docs/**)",
        Decision.ASK,
        places=Places(str(project)),
    )
    with Road(
        directory / "state",
        tools,
        rules=RuleSet((rule,)),
        attended=[ScriptedApprover([Later()])],
        environment=Environment(project, (project,), server_dirs={"files": project}),
        owner=secrets.token_hex(8),
    ) as road:
        if action == "suspend":
            name, path = rest
            made = await road.invoker.invoke(road.call(name, {"path": path}), road.snapshot)
        else:
            made = await road.invoker.resume(
                rest[0],
                Answer(True, "elsewhere"),
                road.snapshot,
                environment=road.environment,
            )
    return made.ticket if isinstance(made, Suspended) else str(made.kind or made.text)


if __name__ == "__main__":
    print(asyncio.run(act(Path(sys.argv[1]), *sys.argv[2:])))
