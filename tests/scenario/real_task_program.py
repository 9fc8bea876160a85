"""A real server with the tasks extension: fastmcp's. Runs in an environment of its own.

python real_task_program.py stdio|PORT
"""

# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportMissingTypeStubs=false
# pyright: reportUnknownMemberType=false, reportUntypedFunctionDecorator=false
# pyright: reportUnknownArgumentType=false
# (not all of it is installed where types are checked)
from __future__ import annotations

import asyncio
import sys
from datetime import timedelta
from typing import Any

from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = FastMCP("real")
server.add_extension(TasksExtension())
task = TaskConfig(mode="required", poll_interval=timedelta(milliseconds=200))
begun: list[str] = []
ended: list[str] = []
FORM = {"type": "object", "properties": {"colour": {"type": "string"}}, "required": ["colour"]}


@server.tool(task=task)
async def build(seconds: float) -> str:
    """Take a while."""
    begun.append("build")
    try:
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()
    except TimeoutError:
        pass  # this is what takes the while
    except asyncio.CancelledError:
        ended.append("build")
        raise
    return f"begun {len(begun)} times"


@server.tool
async def counts() -> str:
    """How often it was begun, and cancelled."""
    return f"{len(begun)} begun, {len(ended)} cancelled"


@server.tool(task=task)
async def broken() -> str:
    """Fail."""
    raise ValueError("it is broken")


@server.tool(task=task)
async def ask(context: Context) -> Any:
    """Ask a person in the middle."""
    answers: Any = context.input_responses
    if answers is None:
        form = ElicitRequestFormParams(message="Which one?", requested_schema=FORM)
        request = ElicitRequest(params=form)
        return InputRequiredResult(input_requests={"which": request}, request_state="state")
    return f"chosen {answers['which'].content['colour']}"


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        server.run("stdio", show_banner=False)
    else:
        server.run("http", port=int(sys.argv[1]), show_banner=False)
