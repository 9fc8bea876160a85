"""A model that is made when it is first asked, in a thread: the library that talks to providers
takes a second or more to load, and on the loop everything else would stand still that long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Final

from lockgate.agent.model import Hearing, Model, ModelReply, ModelRequest
from lockgate.agent.models.book import Closable
from lockgate.errors import ConfigError, Fate, Fault, LocalError, PeerError, Phase

MADE_WITHIN: Final = 60.0
"""Seconds that a reply waits for its model to be made; a slow disk takes ten."""


class LateModel:
    """Stands for a model until it is asked something. Whoever makes it closes it."""

    def __init__(
        self,
        name: str,
        make: Callable[[], Model],
        threads: Executor,
        *,
        within: float = MADE_WITHIN,
    ) -> None:
        """`make` is called in one of `threads`, and again only if it raised. `within` is the
        seconds that a reply waits for it."""
        self._name = name
        self._make = make
        self._threads = threads
        self._within = within
        self._made: Future[Model] | None = None
        self._closed = False

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """As the model's own. Raises `PeerError` too where it can not be made, and `LocalError`
        after closing."""
        self._check()
        model = await self._there()
        self._check()
        return await model.reply(request, heard)

    async def close(self) -> None:
        """Close the model if it was made. Idempotent."""
        self._closed = True
        made, self._made = self._made, None
        # One that is still being made was asked nothing yet, and holds nothing open.
        if made is None or not made.done() or _failed(made):
            return
        model = made.result()
        if isinstance(model, Closable):
            await model.close()

    def _check(self) -> None:
        if self._closed:
            raise LocalError(f"the model {self._name} is closed")

    async def _there(self) -> Model:
        """The model. A reply that is cancelled leaves it to the others who wait for it."""
        made = self._made
        if made is None or _failed(made):  # it may have been mended meanwhile
            made = self._made = self._threads.submit(self._make)
        clock = asyncio.timeout(self._within)
        try:
            async with clock:
                return await asyncio.shield(asyncio.wrap_future(made))
        except TimeoutError:
            if not clock.expired():
                raise
            what = f"the library that it needs was not loaded within {self._within:g} s"
            raise self._error(what, Fault.TIMEOUT) from None
        except ConfigError as error:
            raise self._error(_said(error), Fault.UNSUPPORTED) from None

    def _error(self, what: str, fault: Fault) -> PeerError:
        return PeerError(
            f"{self._name}: {what}",
            peer=self._name,
            phase=Phase.CONNECT,
            fault=fault,
            fate=Fate.NOT_SENT,
        )

    def __repr__(self) -> str:
        return f"<LateModel {self._name}>"


def _failed(made: Future[Model]) -> bool:
    return made.done() and (made.cancelled() or made.exception() is not None)


def _said(error: ConfigError) -> str:
    """Each finding with what to do about it; where a model is named is not known here."""
    return "; ".join(
        f"{problem.message}: {problem.hint}" if problem.hint else problem.message
        for problem in error.problems
    )
