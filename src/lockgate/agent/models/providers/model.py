"""One model of a provider: asks, tells the text as it comes, asks again where that may help.

Retrying is ours alone: the provider's own client makes one try (docs/decisions/0043).
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model as LibraryModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from lockgate.agent.model import Hearing, ModelReply, ModelRequest
from lockgate.agent.models.named import NamedModel
from lockgate.agent.models.patience import Patience
from lockgate.agent.models.providers.failures import (
    Failure,
    broke_off,
    failure,
    too_late,
    too_long,
)
from lockgate.agent.models.providers.heard import (
    reply_of,
    says_whole,
    size_of,
    size_of_whole,
    text_of,
)
from lockgate.agent.models.providers.sent import Reads, messages, parameters
from lockgate.agent.models.tuning import PLAIN, Tuning
from lockgate.errors import LocalError

_DEFAULT = Patience()
MAX_REPLY: Final = 4_000_000
"""Characters of one reply, with thinking and arguments; several times what any model writes."""
_FEWEST: Final = 16
"""Tokens that every provider lets a reply be bounded to."""
_ROOM_TO_THINK: Final = 20_000
"""Tokens of a reply under which none are set aside for thinking."""


class ProviderModel:
    """A `Model` over one of the library's.

    It keeps connections open between requests: whoever makes it closes it.
    """

    def __init__(
        self,
        named: NamedModel,
        model: LibraryModel,
        *,
        tuning: Tuning = PLAIN,
        patience: Patience = _DEFAULT,
        marks_ends: bool = True,
        most: int = MAX_REPLY,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """`marks_ends`: the provider says of a streamed reply that it is whole, and one of which it
        did not is broken off. A reply of over `most` characters is not taken. `pause` waits between
        two tries; `chance` is as in `Patience.wait`.
        """
        self._named = named
        self._model = model
        self._tuning = tuning
        self._patience = patience
        self._marks_ends = marks_ends
        self._most = most
        self._pause = pause
        self._chance = chance
        self._reads = Reads.of(model)
        self._entering = asyncio.Lock()
        self._entered = False
        self._closed = False

    @property
    def name(self) -> str:
        return self._named.name

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """The reply; streamed if somebody hears it.

        Asked again after a failure that may pass, within `Patience`, until the first text was told.
        Raises `PeerError`, `LocalError` after closing. A cancellation closes the connection.
        """
        if self._closed:
            raise LocalError(f"the model {self.name} is closed")
        await self._enter()
        within = self._patience.within
        clock = asyncio.timeout(within)
        try:
            async with clock:
                return await self._patiently(request, heard)
        except TimeoutError:
            if not clock.expired():
                raise
            raise too_late(self._named, within) from None

    async def close(self) -> None:
        """Close the connections. Idempotent; a reply under way fails."""
        self._closed = True
        async with self._entering:
            entered, self._entered = self._entered, False
            if entered:
                await self._model.__aexit__(None, None, None)

    async def _enter(self) -> None:
        async with self._entering:
            if not self._entered:
                await self._model.__aenter__()
                self._entered = True

    async def _patiently(self, request: ModelRequest, heard: Hearing | None) -> ModelReply:
        loop = asyncio.get_running_loop()
        ends = loop.time() + self._patience.within
        ear = None if heard is None else _Ear(heard)
        sent = messages(request.transcript, self._reads, self.name)
        asked = parameters(request)
        failed = 0
        while True:
            found = await self._once(request, sent, asked, ear)
            if isinstance(found, ModelReply):
                return found
            failed += 1
            wait = None
            if found.again and not (ear is not None and ear.told):
                wait = self._patience.wait(
                    failed,
                    asked=found.error.retry_after,
                    left=ends - loop.time(),
                    chance=self._chance(),
                )
            if wait is None:
                raise found.error
            await self._pause(wait)

    async def _once(
        self,
        request: ModelRequest,
        sent: list[ModelMessage],
        asked: ModelRequestParameters,
        ear: _Ear | None,
    ) -> ModelReply | Failure:
        settings = self._settings(request)
        try:
            if ear is None:
                response = await model_request(
                    self._model,
                    sent,
                    model_settings=settings,
                    model_request_parameters=asked,
                    instrument=False,
                )
                if size_of_whole(response) > self._most:
                    raise too_long(self._named, self._most)
            else:
                response = await self._streamed(sent, settings, asked, ear)
            if self._marks_ends and not says_whole(response, streamed=ear is not None):
                raise broke_off(self._named)
            return reply_of(response, self.name)
        except Exception as error:  # noqa: BLE001 - the library's adapters raise what they like
            return failure(error, self._named, request)

    async def _streamed(
        self,
        sent: list[ModelMessage],
        settings: ModelSettings,
        asked: ModelRequestParameters,
        ear: _Ear,
    ) -> ModelResponse:
        async with model_request_stream(
            self._model,
            sent,
            model_settings=settings,
            model_request_parameters=asked,
            instrument=False,
        ) as stream:
            size = 0
            async for event in stream:
                size += size_of(event)
                if size > self._most:
                    raise too_long(self._named, self._most)
                ear(text_of(event))
            return stream.get()

    def _settings(self, request: ModelRequest) -> ModelSettings:
        # The instructions are ours to the letter, and so is the number of tries.
        settings = ModelSettings(framing_announcement="never")
        if "max_retries" not in self._model.unsupported_settings:
            settings["max_retries"] = 0
        tuning = self._tuning
        bounds = [bound for bound in (request.max_tokens, tuning.max_tokens) if bound is not None]
        if bounds:
            settings["max_tokens"] = max(min(bounds), _FEWEST)
        # Some providers refuse a bound that thinking alone could use up.
        if tuning.thinking is not None and (not bounds or min(bounds) >= _ROOM_TO_THINK):
            settings["thinking"] = tuning.thinking
        return settings

    def __repr__(self) -> str:
        return f"<ProviderModel {self.name}>"


class _Ear:
    """Hears text, and knows whether there was any."""

    def __init__(self, heard: Hearing) -> None:
        self._heard = heard
        self.told = False

    def __call__(self, text: str) -> None:
        if text:
            self.told = True
            self._heard(text)
