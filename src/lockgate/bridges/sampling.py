"""A model for servers: asked about, limited, and written down (client/sampling).

`mcp` does not know what a model of the agent's is, and `agent` knows no server; here both do.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, TypeAlias

from lockgate.agent.model import Model, ModelReply, ModelRequest
from lockgate.bridges.completion import Wanted, read_wanted, reply_lines, request_lines
from lockgate.bridges.question import MIN_WIDTH
from lockgate.bridges.reception import Reception
from lockgate.bridges.tty import open_terminal
from lockgate.bridges.voice import Voice
from lockgate.errors import PeerError
from lockgate.mcp.client.services import Occasion, Refusal
from lockgate.mcp.host.settings import SamplingSettings
from lockgate.mcp.protocol.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS
from lockgate.mcp.protocol.jsontext import Unreadable
from lockgate.policy.approval import TakesTurns, turn_of

COMPLETES_WITHIN: Final = 120.0
"""Seconds that a model has for one completion."""
REJECTED: Final = -1
"""The code for what a person said no to (2025-11-25, client/sampling: Error Handling)."""
LIMITED: Final = -32000
"""The code for what is over the operator's own limit."""
_MAX_WIDTH: Final = 100
_SCREEN: Final = 20
"""Lines of a question above which it is said how many there are: some may be out of sight."""

Lines: TypeAlias = Callable[[int], Iterator[str]]
"""A question for a terminal of so many columns."""
Consent: TypeAlias = Callable[[Lines], Awaitable[bool]]
"""Asks a person; True for a clear yes, and nothing else."""


class TerminalConsent(TakesTurns[Consent]):
    """Asks on a terminal: yes or, whatever else is typed, no."""

    def __init__(self, voice: Voice, device: Path | None = None) -> None:
        """See `TerminalElicitation`."""
        self._voice = voice
        self._device = device

    async def __call__(self, lines: Lines) -> bool:
        """Ask; the caller bounds it. Raises nothing."""
        async with self.turn() as put:
            return await put(lines)

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[Consent]:
        async with self._voice.asking():
            yield self._put

    async def _put(self, lines: Lines) -> bool:
        terminal = open_terminal(self._device)
        if terminal is None:
            return False
        try:
            width = min(terminal.width, _MAX_WIDTH)
            if width < MIN_WIDTH:
                await terminal.show("\na server's wish needs an answer, on a wider terminal\n")
                return False
            shown = list(lines(width))
            await terminal.show("\n" + "\n".join(shown) + "\n")
            if len(shown) > _SCREEN:
                await terminal.show(f"{len(shown)} lines above belong to this question\n")
            typed = await terminal.ask("answer [no]: ")
            return typed is not None and typed.casefold() in ("y", "yes")
        except OSError:
            return False
        except asyncio.CancelledError:
            terminal.show_now("\n[the question is withdrawn]\n")
            raise
        finally:
            terminal.close()


class ModelSampling:
    """A `Sample`: one model for one server, within its limits."""

    def __init__(
        self,
        settings: SamplingSettings,
        model: Model,
        reception: Reception,
        consent: Consent | None,
        within: float | None,
    ) -> None:
        """`consent` is asked about each request and each completion; None: nobody is, which
        `settings` has to say. `within` is the seconds that a person has."""
        self._settings = settings
        self._model = model
        self._reception = reception
        self._consent = consent if settings.ask else None
        self._within = within

    async def __call__(self, params: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        """Complete it. Raises `Refusal`."""
        try:
            return await self._completed(params, occasion)
        except _Refused as refused:
            self._note(occasion, action=refused.action, reason=refused.reason)
            raise Refusal(refused.code, refused.told) from None
        except asyncio.CancelledError:
            self._note(occasion, action="withdrawn")
            raise
        except Exception:
            self._note(occasion, action="failed")
            raise

    async def _completed(self, params: Mapping[str, Any], occasion: Occasion) -> Mapping[str, Any]:
        settings, name = self._settings, self._model.name
        if self._reception.sampled_too_often(occasion.server, settings.per_hour):
            told = f"only {settings.per_hour} requests an hour are allowed"
            raise _Refused(LIMITED, told, "too_many")
        try:
            wanted = read_wanted(dict(params))
        except Unreadable as problem:
            raise _Refused(INVALID_PARAMS, f"the params are {problem.reason}", "params") from None
        if wanted.max_tokens > settings.max_tokens:
            told = f"maxTokens may be {settings.max_tokens} at most"
            raise _Refused(INVALID_PARAMS, told, "limit")
        await self._agreed(lambda width: request_lines(wanted, name, occasion, width), occasion)
        reply = await self._reply(wanted)
        text, stopped = wanted.cut(reply.text)
        await self._agreed(lambda width: reply_lines(text, name, occasion, width), occasion)
        facts = {"mode": "sampling", "action": "accept", "model": name, "tokens": reply.usage.total}
        self._reception.record(occasion, **facts)
        why = "maxTokens" if reply.cut_off else "stopSequence" if stopped else "endTurn"
        content = {"type": "text", "text": text}
        return {"role": "assistant", "content": content, "model": name, "stopReason": why}

    async def _agreed(self, lines: Lines, occasion: Occasion) -> None:
        """Return if the person agrees, or is not to be asked."""
        if not self._settings.ask:
            return
        if self._consent is None or occasion.attended is False:
            raise _Refused(REJECTED, "nobody is there to be asked", "unattended")
        clock = asyncio.timeout(self._within)
        try:
            async with turn_of(self._consent) as put, clock:
                agreed = await put(lines)
        except TimeoutError:
            if not clock.expired():
                raise
            raise _Refused(REJECTED, "nobody answered in time", "expired", "cancel") from None
        if not agreed:
            raise _Refused(REJECTED, "User rejected sampling request", None, "decline")

    async def _reply(self, wanted: Wanted) -> ModelReply:
        clock = asyncio.timeout(COMPLETES_WITHIN)
        transcript = tuple(turn.message for turn in wanted.turns)
        try:
            async with clock:
                reply = await self._model.reply(
                    ModelRequest(transcript, (), wanted.system, wanted.max_tokens)
                )
        except TimeoutError:
            if not clock.expired():
                raise
            raise _Refused(INTERNAL_ERROR, "the model did not answer in time", "model") from None
        except PeerError:
            raise _Refused(INTERNAL_ERROR, "the model failed", "model", "failed") from None
        if reply.calls:
            raise _Refused(INTERNAL_ERROR, "the model wanted tools, which it has none of", "model")
        return reply

    def _note(self, occasion: Occasion, **facts: Any) -> None:
        self._reception.note(occasion, mode="sampling", model=self._model.name, **facts)


class _Refused(Exception):
    """What the server is told, and what is written down."""

    def __init__(self, code: int, told: str, reason: str | None, action: str = "refuse") -> None:
        super().__init__(told)
        self.code = code
        self.told = told
        self.reason = reason
        self.action = action
