"""A model that is made when it is first asked: a library that takes a second to load is loaded only
by those who use it."""

from __future__ import annotations

from collections.abc import Callable

from lockgate.agent.model import Hearing, Model, ModelReply, ModelRequest


class LateModel:
    """Stands for the model of a name until it is asked something."""

    def __init__(self, name: str, models: Callable[[str], Model]) -> None:
        """`models` gives the model of `name`, and owns it."""
        self._name = name
        self._models = models

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """As the model's own. Raises `ConfigError` too, where it can not be made."""
        return await self._models(self._name).reply(request, heard)

    def __repr__(self) -> str:
        return f"<LateModel {self._name}>"
