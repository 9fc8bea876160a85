"""The gate for programs without a loop: the same gate, on a loop in a thread of its own."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from lockgate.agent.agent import Agent
from lockgate.agent.limits import TurnLimits
from lockgate.agent.model import Message, Model
from lockgate.agent.run import RunResult
from lockgate.app.build import open as open_async
from lockgate.app.finding import Finding
from lockgate.app.gate import Gate
from lockgate.app.reload import Reloaded
from lockgate.app.sessions import SessionInfo, Sessions
from lockgate.calls.call import Suspended
from lockgate.calls.explain import Explanation
from lockgate.errors import LocalError
from lockgate.mcp.host.found import Found
from lockgate.mcp.host.manager import Manager
from lockgate.mcp.host.prompts import Prompt
from lockgate.mcp.host.resources import Resource, ResourceTemplate
from lockgate.mcp.host.status import ServerStatus
from lockgate.mcp.protocol.completion import Completed
from lockgate.mcp.protocol.prompts import PromptResult
from lockgate.mcp.protocol.resources import ReadResult
from lockgate.policy.approval import Answer
from lockgate.settings.config import Config
from lockgate.tools.context import ProgressSink
from lockgate.tools.result import ToolResult
from lockgate.tools.tool import Tool

T = TypeVar("T")


class _LoopThread:
    """A loop in a thread; work is handed over and waited for."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="lockgate", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run `work` there and wait for it; Ctrl+C here cancels it there."""
        if threading.current_thread() is self._thread or not self._thread.is_alive():
            work.close()
            raise LocalError("a sync gate can not be used after its end, or from inside a tool")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def begin(self, work: Callable[[], Awaitable[T]]) -> T:
        """The same for what has to be begun there, too."""

        async def begun() -> T:
            return await work()

        return self.wait(begun())

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Opened:
    """A gate with its loop; closed once, by whoever comes first."""

    def __init__(self) -> None:
        self._loop = _LoopThread()
        self._stack = AsyncExitStack()
        self._closed = False

    def start(self, gate: AbstractAsyncContextManager[Gate]) -> SyncGate:
        return SyncGate(self._loop, self._loop.wait(self._stack.enter_async_context(gate)))

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            self._loop.wait(self._stack.aclose())
        finally:
            self._loop.stop()


class SyncAgent:
    """`Agent`, waited for."""

    def __init__(self, loop: _LoopThread, agent: Agent) -> None:
        self._loop = loop
        self._agent = agent

    @property
    def session_id(self) -> str:
        """See `Agent.session_id`."""
        return self._agent.session_id

    @property
    def transcript(self) -> tuple[Message, ...]:
        """See `Agent.transcript`."""
        return self._agent.transcript

    def run(self, prompt: str) -> RunResult:
        """One turn; see `Agent.run`."""
        return self._loop.wait(self._agent.run(prompt))

    def close(self) -> None:
        """See `Agent.close`."""
        self._loop.wait(self._agent.close())


class SyncSessions:
    """`Sessions`, waited for."""

    def __init__(self, loop: _LoopThread, gate: Gate) -> None:
        self._loop = loop
        self._gate = gate

    def list(self) -> tuple[SessionInfo, ...]:
        """See `Sessions.list`."""
        return self._there(lambda sessions: sessions.list())

    def find(self, beginning: str) -> SessionInfo:
        """See `Sessions.find`."""
        return self._there(lambda sessions: sessions.find(beginning))

    def transcript(self, session: str) -> tuple[Message, ...]:
        """See `Sessions.transcript`."""
        return self._there(lambda sessions: sessions.transcript(session))

    def remove(self, *sessions: str) -> frozenset[str]:
        """See `Sessions.remove`."""
        return self._there(lambda there: there.remove(*sessions))

    def _there(self, work: Callable[[Sessions], T]) -> T:
        async def there() -> T:
            return work(self._gate.sessions)

        return self._loop.wait(there())


class SyncResources:
    """`Resources`, waited for. Changes are watched on a loop only: see `lockgate.open`."""

    def __init__(self, loop: _LoopThread, gate: Gate) -> None:
        self._loop = loop
        self._gate = gate

    def list(self, server: str | None = None) -> Found[Resource]:
        """See `Resources.list`."""

        return self._loop.begin(lambda: self._gate.resources.list(server))

    def templates(self, server: str | None = None) -> Found[ResourceTemplate]:
        """See `Resources.templates`."""

        return self._loop.begin(lambda: self._gate.resources.templates(server))

    def read(self, server: str, uri: str, *, timeout: float | None = None) -> ReadResult:
        """See `Resources.read`."""

        return self._loop.begin(lambda: self._gate.resources.read(server, uri, timeout=timeout))

    def complete(
        self,
        server: str,
        template: str,
        variable: str,
        value: str = "",
        context: Mapping[str, str] | None = None,
    ) -> Completed:
        """See `Resources.complete`."""

        return self._loop.begin(
            lambda: self._gate.resources.complete(server, template, variable, value, context)
        )


class SyncPrompts:
    """`Prompts`, waited for."""

    def __init__(self, loop: _LoopThread, gate: Gate) -> None:
        self._loop = loop
        self._gate = gate

    def list(self, server: str | None = None) -> Found[Prompt]:
        """See `Prompts.list`."""

        return self._loop.begin(lambda: self._gate.prompts.list(server))

    def get(
        self,
        server: str,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,
    ) -> PromptResult:
        """See `Prompts.get`."""

        return self._loop.begin(
            lambda: self._gate.prompts.get(server, name, arguments, timeout=timeout)
        )

    def complete(
        self,
        server: str,
        name: str,
        argument: str,
        value: str = "",
        context: Mapping[str, str] | None = None,
    ) -> Completed:
        """See `Prompts.complete`."""

        return self._loop.begin(
            lambda: self._gate.prompts.complete(server, name, argument, value, context)
        )


class SyncGate:
    """`Gate`, waited for. Any thread may use it, but for the gate's own."""

    def __init__(self, loop: _LoopThread, gate: Gate) -> None:
        self._loop = loop
        self._gate = gate

    @property
    def config(self) -> Config:
        """See `Gate.config`."""
        return self._gate.config

    @property
    def mcp(self) -> Manager | None:
        """See `Gate.mcp`; look at it, and leave starting and closing to the gate."""
        return self._gate.mcp

    @property
    def resources(self) -> SyncResources:
        """See `Gate.resources`."""
        return SyncResources(self._loop, self._gate)

    @property
    def prompts(self) -> SyncPrompts:
        """See `Gate.prompts`."""
        return SyncPrompts(self._loop, self._gate)

    @property
    def sessions(self) -> SyncSessions:
        """See `Gate.sessions`."""
        return SyncSessions(self._loop, self._gate)

    @property
    def unmatched(self) -> tuple[Finding, ...]:
        """See `Gate.unmatched`."""

        async def unmatched() -> tuple[Finding, ...]:
            return self._gate.unmatched

        return self._loop.wait(unmatched())

    @property
    def failed(self) -> Mapping[str, str]:
        """See `Gate.failed`."""
        return self._gate.failed

    def tools(self) -> tuple[Tool, ...]:
        """See `Gate.tools`."""

        async def tools() -> tuple[Tool, ...]:
            return self._gate.tools()

        return self._loop.wait(tools())

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        progress: ProgressSink | None = None,
    ) -> ToolResult | Suspended:
        """See `Gate.call`; `progress` is called on the gate's own thread."""
        call = self._gate.call(name, arguments, timeout=timeout, progress=progress)
        return self._loop.wait(call)

    def explain(self, name: str, arguments: Mapping[str, Any] | None = None) -> Explanation:
        """See `Gate.explain`."""

        async def explain() -> Explanation:
            return self._gate.explain(name, arguments)

        return self._loop.wait(explain())

    def resume(self, ticket: str, answer: bool | Answer) -> ToolResult | Suspended:
        """See `Gate.resume`."""
        return self._loop.wait(self._gate.resume(ticket, answer))

    def reload(self) -> Reloaded:
        """See `Gate.reload`."""
        return self._loop.begin(self._gate.reload)

    def reconnect(
        self, name: str | None = None, *, failed_only: bool = True
    ) -> tuple[ServerStatus, ...]:
        """See `Gate.reconnect`."""
        return self._loop.wait(self._gate.reconnect(name, failed_only=failed_only))

    def agent(
        self,
        *,
        model: Model | str | None = None,
        instructions: str | None = None,
        limits: TurnLimits | None = None,
        session: str | None = None,
    ) -> SyncAgent:
        """See `Gate.agent`."""

        async def agent() -> Agent:
            return self._gate.agent(
                model=model, instructions=instructions, limits=limits, session=session
            )

        return SyncAgent(self._loop, self._loop.wait(agent()))


@contextmanager
def open_sync(source: Config | str | Path | None = None, **options: Any) -> Generator[SyncGate]:
    """`lockgate.open` for programs without a loop; the options are the same.

    It owns a loop in a thread, and both end with the block, at the latest with the program. Inside
    a running loop use `lockgate.open`: this would stop that loop, so it raises `LocalError` there.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise LocalError("a loop is running here: use `async with lockgate.open(...)`")
    opened = _Opened()
    # A program that ends without leaving the block still closes its servers: at exit, while the
    # thread of the loop lives. Later than that it could only be torn away.
    atexit.register(opened.close)
    try:
        yield opened.start(open_async(source, **options))
    finally:
        atexit.unregister(opened.close)
        opened.close()
