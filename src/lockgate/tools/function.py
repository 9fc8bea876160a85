"""A typed function as a tool: `@tool(level="mutating", destructive=False, idempotent=True)`.

The words are ours and each takes one meaning from `traits`. MCP's annotation words are refused: a
hint is what a stranger gives, a declaration is what the author of the code answers for.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

import msgspec

from lockgate.errors import LocalError
from lockgate.schema.infer import Signature, SignatureError, infer
from lockgate.tools.context import ToolContext
from lockgate.tools.declared import DeclaredTool
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.naming import NAME, is_reserved, is_tool_name
from lockgate.tools.origin import Origin
from lockgate.tools.result import ErrorKind, Outcome, ToolResult
from lockgate.tools.returned import as_result
from lockgate.tools.thread import in_thread
from lockgate.tools.tool import ToolDefinition
from lockgate.tools.words import LevelWord, level_of, refuse_words
from lockgate.traits import SideEffectLevel

P = ParamSpec("P")
R = TypeVar("R")


class FunctionTool(DeclaredTool, Generic[P, R]):
    """A function with a declaration. Calling it calls the function, past every gate of lockgate."""

    def __init__(
        self,
        function: Callable[P, R],
        *,
        level: SideEffectLevel | LevelWord | None = None,
        destructive: bool | None = None,
        idempotent: bool | None = None,
        concurrent: bool | None = None,
        interruptible: bool | None = None,
        name: str | None = None,
        title: str | None = None,
        category: str | None = None,
    ) -> None:
        """Read `function`; None leaves a trait at its worst case, and `name` at the function's.

        Raises `TypeError` for a function that can not be a tool (a generator, a class, parameters
        that no JSON can be given for), `ValueError` for an invalid name or level.
        """
        _refuse_odd_functions(function)
        for word, given in (
            ("destructive", destructive),
            ("idempotent", idempotent),
            ("concurrent", concurrent),
            ("interruptible", interruptible),
        ):
            if given is not None and not isinstance(given, bool):  # pyright: ignore[reportUnnecessaryIsInstance] - callers without a type checker
                raise TypeError(f"{word} is True or False, not {type(given).__name__}")
        self._signature = infer(function, injected=ToolContext)
        self._function = function
        declared: Mapping[str, object] = {
            "level": level,
            "destructive": destructive,
            "idempotent": idempotent,
            "concurrent": concurrent,
            "interruptible": interruptible,
        }
        super().__init__(
            _define(_name(function, name), title, category, self._signature, declared),
            level=SideEffectLevel.MUTATING if level is None else level_of(level),
            destructive=destructive is not False,
            idempotent=idempotent is True,
            concurrent=concurrent is True,
            interruptible=interruptible is True,
        )
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The function itself, as written: no schema, no gate, no record."""
        return self._function(*args, **kwargs)

    async def _run(
        self, arguments: Mapping[str, Any], context: ToolContext
    ) -> ToolResult | Outcome:
        try:
            given = self._signature.convert(arguments)
        except msgspec.ValidationError as error:
            return ToolResult.error(ErrorKind.INVALID_ARGUMENTS, str(error), reason="conversion")
        given |= dict.fromkeys(self._signature.injected, context)
        work = functools.partial(self._function, **given)
        try:
            if inspect.iscoroutinefunction(self._function):
                return as_result(await _uncancelled(cast("Awaitable[object]", work())))
            threads = context.execution.environment.threads
            if threads is None:
                raise LocalError(f"{self.name} blocks, and this execution has no pool of threads")
            return await in_thread(work, threads)
        except SystemExit:
            raise RuntimeError("the function tried to end the program") from None


async def _uncancelled(work: Awaitable[object]) -> object:
    """Await `work`; a cancellation that nobody asked of this task is a failure of the function."""
    try:
        return await work
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise RuntimeError("something that the function awaited was cancelled") from None


def _define(
    name: str,
    title: str | None,
    category: str | None,
    signature: Signature,
    declared: Mapping[str, object],
) -> ToolDefinition:
    reasons = {
        trait: "not declared, so the worst case" if word is None else "declared in code"
        for trait, word in declared.items()
    }
    identity = fingerprint(
        {
            "name": name,
            "title": title,
            "description": signature.description,
            "input_schema": signature.schema,
            "output_schema": None,
        }
    )
    ruling = "default" if all(word is None for word in declared.values()) else "declared"
    origin = Origin("local", None, name, identity, ruling=ruling, reasons=reasons)
    return ToolDefinition(
        name, signature.description, signature.schema, origin, title, category=category
    )


def _name(function: Callable[..., Any], name: str | None) -> str:
    chosen = getattr(function, "__name__", "") if name is None else name
    if not is_tool_name(chosen):
        raise ValueError(
            f"{chosen!r} is no tool name: it must match {NAME.pattern}; give one with name="
        )
    if is_reserved(chosen):
        raise ValueError(f"{chosen!r} is kept for tools of servers; give another with name=")
    return chosen


def _refuse_odd_functions(function: object) -> None:
    if not inspect.isroutine(function):
        raise TypeError(f"@tool takes a function, not {type(function).__name__}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise SignatureError("a generator can not be a tool: return a value")


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]:
    """`@tool`: nothing is declared, every trait is the worst case."""


@overload
def tool(
    *,
    level: SideEffectLevel | LevelWord | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    concurrent: bool | None = None,
    interruptible: bool | None = None,
    name: str | None = None,
    title: str | None = None,
    category: str | None = None,
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """`@tool(...)`: a declaration."""


def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    level: SideEffectLevel | LevelWord | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    concurrent: bool | None = None,
    interruptible: bool | None = None,
    name: str | None = None,
    title: str | None = None,
    category: str | None = None,
    **others: object,
) -> FunctionTool[P, R] | Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Make a tool of a typed function.

    level: `"read-only"` if it changes no state outside the execution, else `"mutating"` (default).
    destructive: False only if by itself it can not overwrite, remove or invalidate anything.
    idempotent: True if a second run with the same arguments changes nothing more.
    concurrent: True if its calls may overlap. interruptible: True if a turn's interrupt may cancel
    it (a function that blocks runs in a thread, which then goes on unseen).
    name, title, category: as in `ToolDefinition`; the name is the function's own by default.

    The schema comes from type hints, the description from the docstring. A parameter annotated
    `ToolContext` is filled in by lockgate. Async functions run on the event loop, others in the
    runtime's pool of threads. What is returned becomes the result as `as_result` says.

    Raises `TypeError` and `ValueError` as `FunctionTool` does, and for MCP's annotation words.
    """
    if others:
        refuse_words(others)

    def made(function: Callable[P, R]) -> FunctionTool[P, R]:
        return FunctionTool(
            function,
            level=level,
            destructive=destructive,
            idempotent=idempotent,
            concurrent=concurrent,
            interruptible=interruptible,
            name=name,
            title=title,
            category=category,
        )

    return made if function is None else made(function)
