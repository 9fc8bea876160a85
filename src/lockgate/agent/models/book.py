"""The models of one runtime, by their names: each is made once, and closed with the runtime."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from lockgate.agent.model import Model
from lockgate.errors import LocalError, LockgateError

_log = logging.getLogger(__name__)


@runtime_checkable
class Closable(Protocol):
    """A model that holds something open: connections to its provider."""

    async def close(self) -> None:
        """Close it. Idempotent; what it is asked afterwards is a `LocalError`."""
        ...


class ModelBook:
    """Makes models by name and owns them: a turn, its children and servers may share one.

    Called with a name (`provider:model`), it gives the model of that name, the same one each time.
    """

    def __init__(self, make: Callable[[str], Model]) -> None:
        """`make` is called once for each name; what it raises passes and is not remembered."""
        self._make = make
        self._made: dict[str, Model] = {}
        self._closed = False

    def __call__(self, name: str) -> Model:
        """The model of `name`.

        Raises `ConfigError` for a name that no model has, and for one that can not be used here (a
        missing key or extra); `LocalError` after closing.
        """
        if self._closed:
            raise LocalError("the models of this gate are closed; open it again to use one")
        found = self._made.get(name)
        if found is None:
            found = self._made[name] = self._make(name)
        return found

    async def close(self) -> None:
        """Close every model that was made. Idempotent. A failure is logged, others still close."""
        self._closed = True
        made, self._made = self._made, {}
        for name, model in made.items():
            if not isinstance(model, Closable):
                continue
            try:
                await model.close()
            except Exception as error:  # noqa: BLE001 - logged, and the rest still close
                # Only our own errors are sure to hold no secret.
                detail = f": {error}" if isinstance(error, LockgateError) else ""
                kind = type(error).__name__
                _log.warning("closing the model %s failed: %s%s", name, kind, detail)

    def __repr__(self) -> str:
        return f"<ModelBook of {', '.join(self._made) or 'nothing yet'}>"
