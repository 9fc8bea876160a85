"""One suite over the three types of declared hooks: what they say counts alike, and so does what
goes wrong with them."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Final, TypeAlias

import pytest

from lockgate.hooks.declared.command import CommandHook
from lockgate.hooks.declared.http import HttpHook
from lockgate.hooks.declared.mcp_tool import ToolHook
from lockgate.hooks.declared.plan import HttpHandler, ToolHandler
from lockgate.hooks.declared.said import MAX_ANSWER
from lockgate.hooks.declared.template import parse_template
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.hook import Hook, HookFunction
from lockgate.hooks.merge import Merged
from lockgate.hooks.registry import Hooks
from lockgate.hooks.result import HookDecision
from lockgate.process.environment import child_environment
from lockgate.process.program import Program
from lockgate.testing.belongings import Belongings, left_since
from lockgate.testing.site import Request, Site, answer
from lockgate.tools.result import ErrorKind, ToolResult

PRE, POST = HookEvent.PRE_TOOL, HookEvent.POST_TOOL
HIDDEN: Final = "hunter2"
TOLD: Final = HookInput(
    PRE, tool_name="mcp__git__git_add", tool_input={"files": ["a"], "token": HIDDEN}, call_id="c1"
)
LONG: Final = 30.0
"""Seconds that a hook has here unless its time is what is tested."""

Way: TypeAlias = Callable[[str], AbstractAsyncContextManager[HookFunction]]
"""A hook of one type, that does what a word says: `says JSON`, `crash`, `hang`, `flood`."""


@asynccontextmanager
async def as_command(what: str) -> AsyncGenerator[HookFunction]:
    """A program."""
    verb, _, text = what.partition(" ")
    code = {
        "says": f"sys.stdout.write({text!r})",
        "crash": f"sys.stderr.write({HIDDEN!r}); sys.exit(1)",
        "hang": "import time; time.sleep(600)",
        "flood": "\nwhile True: sys.stdout.write(' ' * 65536)",
    }[verb]
    environment = child_environment(os.environ, {})
    arguments = ("-c", f"import sys; sys.stdin.read(); {code}")
    yield CommandHook(Program("checker", sys.executable, arguments, environment, None))


@asynccontextmanager
async def as_endpoint(what: str) -> AsyncGenerator[HookFunction]:
    """An HTTP endpoint."""
    verb, _, text = what.partition(" ")

    async def silent(request: Request, writer: asyncio.StreamWriter) -> None:
        del request, writer
        await asyncio.Event().wait()

    handler = {
        "says": answer(200, text, {"Content-Type": "application/json"}),
        "crash": answer(500, HIDDEN),
        "hang": silent,
        "flood": answer(200, b" " * (MAX_ANSWER + 1)),
    }[verb]
    async with Site() as site:
        site.on("/hook", handler)
        yield HttpHook(HttpHandler(f"{site.address}/hook"), {}, timeout=LONG)
        await site.quiet()


@asynccontextmanager
async def as_tool(what: str) -> AsyncGenerator[HookFunction]:
    """A tool."""
    verb, _, text = what.partition(" ")

    async def call(
        handler: ToolHandler,
        arguments: Mapping[str, Any],
        told: HookInput,
        *,
        name: str,
        timeout: float,
        source: str = "",
    ) -> ToolResult:
        del told, name, timeout, source
        assert (handler.tool, arguments) == ("check", {"files": ["a"]})
        match verb:
            case "says":
                return ToolResult.of(text)
            case "crash":
                return ToolResult.error(ErrorKind.TOOL_ERROR, HIDDEN)
            case "hang":
                await asyncio.Event().wait()
            case _:
                pass
        return ToolResult.of(" " * (MAX_ANSWER + 1))

    handler = ToolHandler("guard", "check", parse_template({"files": "{{tool_input.files}}"}))
    yield ToolHook(handler, {}, call, name="guard: check", timeout=LONG)


@pytest.fixture(params=[as_command, as_endpoint, as_tool], ids=["command", "http", "mcp_tool"])
def way(request: pytest.FixtureRequest) -> Way:
    """Each type."""
    return request.param


async def fired(
    way: Way,
    what: str,
    *,
    event: HookEvent = PRE,
    denies_on_error: bool = False,
    timeout: float = LONG,
) -> Merged:
    """What comes of one event, with nothing left behind."""
    before = Belongings.now()
    async with way(what) as run:
        hook = Hook(event, run, "checker", None, denies_on_error, timeout)
        told = HookInput(event, tool_name=TOLD.tool_name, tool_input=TOLD.tool_input)
        async with asyncio.timeout(20):
            merged = await Hooks([hook]).fire(told)
    assert await left_since(before) == ()
    return merged


def says(**answered: Any) -> str:
    """A hook that answers this."""
    return f"says {json.dumps(answered)}"


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("word", list(HookDecision))
async def test_a_decision_is_honoured(way: Way, word: HookDecision) -> None:
    """allow, deny, ask, defer; with the reason."""
    merged = await fired(way, says(decision=word.value, reason="because of it"))
    assert merged.decision is word
    told = "" if word is HookDecision.DEFER else "because of it"
    assert told in merged.why
    assert merged.failed == ()


async def test_arguments_are_rewritten_before_a_call(way: Way) -> None:
    """`updatedInput` is an object in the place of the arguments."""
    merged = await fired(way, says(decision="allow", updatedInput={"files": []}))
    assert merged.updated_input == {"files": []}


async def test_what_the_model_is_shown_is_replaced_after_a_call(way: Way) -> None:
    """`updatedOutput` is a text in the place of the result; context is added."""
    answered = says(decision="defer", updatedOutput="x", additionalContext="more")
    merged = await fired(way, answered, event=POST)
    assert (merged.updated_output, merged.context) == ("x", "more")


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("text", ["", "{}", '{"stored": true}'])
async def test_no_decision_is_a_side_effect(way: Way, text: str) -> None:
    """Nothing is decided, and nothing has failed."""
    merged = await fired(way, f"says {text}")
    assert (merged.decision, merged.failed, merged.context) == (HookDecision.DEFER, (), "")


FAILURES: Final = [
    pytest.param(says(decision="approve"), id="unknown word"),
    pytest.param(says(decision=1), id="another type"),
    pytest.param(says(decision="deny", reason=[]), id="reason of another type"),
    pytest.param(says(decision="allow", updatedOutput="x"), id="another event's"),
    pytest.param(says(updatedInput={}), id="no decision"),
    pytest.param('says {"decision": "deny"', id="no JSON"),
    pytest.param("crash", id="crash"),
    pytest.param("flood", id="huge output"),
]


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("what", FAILURES)
async def test_a_failure_is_a_warning_and_on(
    way: Way, what: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The default is soft (decision 0007), and is told; no secret gets into the log."""
    with caplog.at_level(logging.DEBUG, logger="lockgate"):
        merged = await fired(way, what)
    assert merged.decision is HookDecision.DEFER
    assert [name for name, _ in merged.failed] == ["checker"]
    assert "the hook checker failed on pre_tool" in caplog.text
    assert HIDDEN not in caplog.text + repr(merged)


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("what", FAILURES)
async def test_a_failure_denies_where_it_says_so(way: Way, what: str) -> None:
    """`onError: deny`."""
    merged = await fired(way, what, denies_on_error=True)
    assert merged.denied
    assert "the hook checker failed" in merged.why
    assert HIDDEN not in merged.why


@pytest.mark.req("S3-13")
@pytest.mark.parametrize("denies", [False, True])
async def test_a_time_out_is_a_failure_and_leaves_nothing(way: Way, denies: bool) -> None:
    """No process, no connection, no task is left of a hook that had its time."""
    merged = await fired(way, "hang", denies_on_error=denies, timeout=0.3)
    assert merged.failed == (("checker", "timeout"),)
    assert merged.denied is denies


async def test_cancellation_passes_and_leaves_nothing(way: Way) -> None:
    """A turn that is given up takes its hooks with it."""
    before = Belongings.now()
    async with way("hang") as run:
        hooks = Hooks([Hook(PRE, run, "checker"), Hook(PRE, run, "again")])
        firing = asyncio.ensure_future(hooks.fire(TOLD))
        await asyncio.sleep(0)
        done, _ = await asyncio.wait([firing], timeout=0.3)
        assert done == set()
        firing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await firing
    assert await left_since(before) == ()
