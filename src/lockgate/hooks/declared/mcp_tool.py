"""A hook that is a tool of a configured server, called down the same road as every call (S3-13)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol, cast

import msgspec

from lockgate.hooks.declared.plan import ToolHandler
from lockgate.hooks.declared.said import (
    MAX_ANSWER,
    read_answer,
    result_of,
)
from lockgate.hooks.declared.template import NotThere, render
from lockgate.hooks.event import HookEvent, HookInput
from lockgate.hooks.failure import HookFailure
from lockgate.hooks.result import HookDecision, HookResult
from lockgate.tools.result import REFUSALS, ErrorKind, ToolResult

REFUSED: Final = (REFUSALS | {ErrorKind.TOOL_CHANGED}) - {ErrorKind.NOT_APPROVED}
"""Results that mean: policy has refused the hook's own call. That is no failure of the hook.

NOT_APPROVED is not among them: the declaration answers whatever could be asked, but for what nobody
could know, such as the open outcome of an earlier run. That one had failed, and so has this one."""


class Caller(Protocol):
    """Makes the call of a hook: entry `hook`, no hooks, no approvers, and the declaration as the
    answer for exactly this tool."""

    async def __call__(
        self,
        handler: ToolHandler,
        arguments: Mapping[str, Any],
        told: HookInput,
        *,
        name: str,
        timeout: float,
        source: str = "",
    ) -> ToolResult:
        """What came of it. `name` is the hook's, `source` where it is declared; `timeout` bounds
        the execution, in seconds. Raises `HookFailure` if it was not carried through."""
        ...


class ToolHook:
    """Calls the tool for each event."""

    def __init__(
        self,
        handler: ToolHandler,
        env: Mapping[str, str],
        caller: Caller,
        *,
        name: str,
        timeout: float,
        source: str = "",
    ) -> None:
        """`env` are the listed variables that are set; the rest as of `Caller`."""
        self._source = source
        self._handler = handler
        self._env = env
        self._caller = caller
        self._name = name
        self._timeout = timeout

    async def __call__(self, told: HookInput) -> HookResult:
        """Call it once. Raises `HookFailure` for whatever is no answer."""
        handler = self._handler
        try:
            arguments: dict[str, Any] = (
                {} if handler.args is None else render(handler.args, told.data(), self._env)
            )
        except NotThere as error:
            raise HookFailure(str(error)) from None
        result = await self._caller(
            handler,
            arguments,
            told,
            name=self._name,
            timeout=self._timeout,
            source=self._source,
        )
        if result.is_error:
            return self._failed(result, told.event)
        return _answer(result, told.event)

    def _failed(self, result: ToolResult, event: HookEvent) -> HookResult:
        kind = result.kind or ErrorKind.TOOL_ERROR
        what = f"its call of {self._handler.server}'s {self._handler.tool}"
        code = kind.value if result.reason is None else f"{kind.value}, {result.reason}"
        if kind not in REFUSED:
            raise HookFailure(f"{what} failed ({code})")
        if not event.decides or event is HookEvent.POST_TOOL:
            raise HookFailure(f"{what} is refused ({code})")
        return HookResult(HookDecision.DENY, f"{what} is refused: {result.text}")


def _answer(result: ToolResult, event: HookEvent) -> HookResult:
    """What the tool's result says: its structured content if that decides, else its text."""
    structured: object = result.structured
    if isinstance(structured, dict):
        said = cast("dict[str, Any]", structured)
        if "decision" in said:
            # Measured as every other answer is, whatever the transport lets through.
            if len(msgspec.json.encode(said)) > MAX_ANSWER:
                raise HookFailure(f"its answer has over {MAX_ANSWER} bytes")
            return result_of(said, event)
    return read_answer(result.text, event, due=False)
