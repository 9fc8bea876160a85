"""The tools of one server: list them all, call one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from msgspec import Raw

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.client.connection import Connection
from lockgate.mcp.client.failures import unknown_type
from lockgate.mcp.client.mirroring import NOTHING, mirrored, usable
from lockgate.mcp.client.pages import Kind, all_pages, shortest, told
from lockgate.mcp.client.pending import Answer
from lockgate.mcp.client.progress import ProgressListener, Tracked
from lockgate.mcp.client.rounds import opened, settled, wants_addresses
from lockgate.mcp.client.services import SERVES_NOTHING, Occasion
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.client.standing import Bound
from lockgate.mcp.client.tasks import FOLLOWING, Following, TaskCall
from lockgate.mcp.protocol.claims import Claims
from lockgate.mcp.protocol.input_required import InputAnswers, result_type
from lockgate.mcp.protocol.jsonrpc import Failure, Outgoing
from lockgate.mcp.protocol.listing import read_tools_page
from lockgate.mcp.protocol.outgoing import LIST_TOOLS
from lockgate.mcp.protocol.pages import Page
from lockgate.mcp.protocol.param_headers import ParamHeaders
from lockgate.mcp.protocol.results import (
    CallResult,
    LeftOut,
    ListedTool,
    parse_call_result,
)
from lockgate.mcp.protocol.tasks import TASK

Carry: TypeAlias = Callable[[int], Mapping[str, str] | None]
"""Gives, for the request of this id, what its `_meta` is to carry of a trace; None for nothing."""

MAX_TOOLS = 2000
"""Definitions of one list that are looked at. The largest servers that are known have a few hundred
tools, and no model can choose from more than that; each costs about 1 ms and 80 KB to be checked,
compiled and kept, which a stranger is not to spend without an end."""

_TOOLS = Kind(LIST_TOOLS, "tools", read_tools_page, MAX_TOOLS)


@dataclass(frozen=True, slots=True)
class ListedTools:
    """Everything a server lists, each name once."""

    tools: tuple[ListedTool, ...]
    """In the server's order; of definitions with one name, the first, whose claims count only if
    the others are equal."""
    left_out: tuple[LeftOut, ...] = ()
    """What can not be used, and why."""
    remarks: tuple[str, ...] = ()
    """What was odd about the list, one sentence each."""
    ttl: float | None = None
    """Seconds for which the list is good, by the page that is so for the shortest time (2026-07-28,
    Caching); None if its server says nothing."""


class ToolClient:
    """Tools over one session. Holds no state; any number of tasks may use it."""

    __slots__ = ("_following", "_session")

    def __init__(self, session: ServerSession, *, following: Following = FOLLOWING) -> None:
        """`following` is how calls are followed that the server takes as tasks."""
        self._session = session
        self._following = following

    async def list(self) -> ListedTools:
        """Read the whole list, page by page.

        A page that fails is an error, never a silently short list (PB-141). A cursor is sent back
        byte for byte; an empty one is followed once, and one that comes a second time ends the list
        with a remark (PB-140). Of more than `MAX_TOOLS` definitions the first are used, with a
        remark. Raises `PeerError`.
        """
        pages, remarks = await all_pages(
            self._session, _TOOLS, self._session.connection.dialect.list_tools
        )
        listed = _joined(pages, remarks)
        tools, unusable = usable(self._session, listed.tools)
        return replace(listed, tools=tools, left_out=(*listed.left_out, *unusable))

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        timeout: float | None = None,
        carry: Carry | None = None,
        headers: ParamHeaders = NOTHING,
        progress: ProgressListener | None = None,
        at_most: float | None = None,
        renew: bool = True,
        occasion: Occasion | None = None,
        bound: Bound | None = None,
        within: float | None = None,
    ) -> CallResult:
        """Call a tool by its original name and wait for its result.

        `timeout` in seconds, None is the server's request timeout. `progress` is told how far it
        is. `at_most` lets progress extend the timeout: each time by as much again, to that many
        seconds in all. Without either of them no progress is asked for. The arguments are sent as
        they are; `carry`, which must not raise, gives what goes with them. `headers` says which of
        them go into headers too, see `mirroring`. `renew`: whether a call that finds its session
        ended is made in a new one; else it fails, and nothing was done. A server that asks for
        input first gets it from the session's `services`, told of `occasion`, and the call is made
        again with it; that takes no time off `timeout`, which bounds each round, and `bound`, the
        caller's own, stands still meanwhile, as it does where a legacy server asks by itself.
        A call that the server takes as a task may take `within` seconds in all, None is `at_most`
        or else `tasks.AT_MOST`; `timeout` bounds each look at it then.
        Raises `PeerError`; an error inside the result is a result.
        """
        session = self._session
        connection = session.connection
        call_tool = connection.dialect.call_tool
        if headers.sources:
            call_tool = partial(call_tool, mirrored=mirrored(headers, arguments))
        if occasion is None and session.services is not SERVES_NOTHING:
            occasion = Occasion(session.name, tool=name)
        if progress is None and at_most is None and carry is None:
            # Nearly all of them: nothing is spent on what they do not have.
            answer = await connection.exchange(
                lambda id: call_tool(id, name, arguments),
                timeout=timeout,
                renew=renew,
                about=occasion,
                bound=bound,
            )
            if not isinstance(answer, Failure):
                result = parse_call_result(answer)
                if result.is_final:
                    return result
        else:
            answer = None
        wish = _Wish(
            connection, call_tool, name, arguments, timeout, renew, carry, progress, at_most,
            occasion, bound,
        )  # fmt: skip
        if answer is None:
            answer = await wish.made()
        if isinstance(answer, Failure) and wants_addresses(answer, session):
            asked = occasion or Occasion(session.name, tool=name)
            answer = await opened(answer, wish.made, session, asked, bound)
        result = parse_call_result(raw := connection.result_of(answer))
        if result.is_final or not session.revision.reads_result_type:
            if result.result_type == TASK and not result.content and result.structured is None:
                raise _unasked(session)
            return result
        asked = occasion or Occasion(session.name, tool=name)
        raw = await settled(raw, wish.answered, session.services, asked, bound)
        if result_type(raw) == TASK:
            task = TaskCall(
                session,
                asked,
                self._following,
                timeout=timeout,
                at_most=at_most if within is None else within,
                progress=progress,
                bound=bound,
            )
            raw = await task.result(raw)
        result = parse_call_result(raw)
        if not result.is_final:
            raise unknown_type(session.name, result.result_type, connection.hidden)
        return result


@dataclass(frozen=True, slots=True)
class _Wish:
    """One call, for when it is made more than once or more is wanted of it than an answer."""

    connection: Connection
    call_tool: Callable[..., Outgoing]
    name: str
    arguments: Mapping[str, Any]
    timeout: float | None
    renew: bool
    carry: Carry | None
    progress: ProgressListener | None
    at_most: float | None
    occasion: Occasion | None
    bound: Bound | None

    async def made(self, answers: InputAnswers | None = None) -> Answer:
        """Make it, with what the server asked for."""
        tracks = self.progress is not None or self.at_most is not None
        return await self.connection.exchange(
            lambda id: self._frame(id, answers, tracks=tracks),
            timeout=self.timeout,
            renew=self.renew,
            tracked=Tracked(self.progress, self.at_most) if tracks else None,
            about=self.occasion,
            bound=self.bound,
        )

    async def answered(self, answers: InputAnswers) -> Raw:
        """Make it again, with what the server asked for; the JSON text of the result."""
        return self.connection.result_of(await self.made(answers))

    def _frame(self, id: int, answers: InputAnswers | None, *, tracks: bool) -> Outgoing:
        carried = None if self.carry is None else self.carry(id)
        return self.call_tool(
            id, self.name, self.arguments, carried, progress=tracks, answers=answers
        )


def _unasked(session: ServerSession) -> PeerError:
    """A task of a legacy server: nothing there says how to ask about it."""
    name = session.name
    return PeerError(
        f"{name} took the call as a task, which revision {session.revision.name} does not have: "
        "what becomes of it can not be learnt",
        peer=name,
        phase=Phase.REQUEST,
        fault=Fault.UNSUPPORTED,
        fate=Fate.UNKNOWN,
        final=True,
    )


def _joined(pages: list[Page[ListedTool]], remarks: list[str]) -> ListedTools:
    """One list of all pages. The first definition of a name counts (PB-103), others are told."""
    first: dict[str, ListedTool] = {}
    repeated: dict[str, None] = {}
    left_out: dict[LeftOut, None] = {}
    for number, page in enumerate(pages, 1):
        remarks.extend(page.remarks)
        for tool in page.entries:
            held = first.setdefault(tool.name, tool)
            if held is tool:
                continue
            if held.raw == tool.raw:
                repeated[tool.name] = None
            else:
                first[tool.name] = _disputed(held)
                left_out[LeftOut(f"a second definition of {tool.name}", _OTHER)] = None
        for entry in page.left_out:
            if entry.tool.startswith("tool ") and number > 1:
                entry = LeftOut(f"{entry.tool} of page {number}", entry.reason)
            left_out[entry] = None
    if repeated:
        remarks.append(f"listed more than once, each time the same: {told(repeated)}")
    return ListedTools(
        tuple(first.values()), tuple(left_out), tuple(dict.fromkeys(remarks)), shortest(pages)
    )


_OTHER = "differs from the first, which is used without its claims"
"""Of the second one: a server that contradicts itself is no word to go by."""


def _disputed(tool: ListedTool) -> ListedTool:
    """The first of several definitions that differ: shown, but nothing it claims is believed."""
    why = "it is listed again with another definition: the first is used, its claims are not"
    return ListedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        claims=Claims(raw=tool.claims.raw, remarks=(why,)),
        raw=tool.raw,
        remarks=tool.remarks,
    )
