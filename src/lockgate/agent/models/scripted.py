"""A model that reads its replies from a script: for demonstrations and for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from lockgate.agent.model import Hearing, ModelReply, ModelRequest

AT_END: Final = "The script holds no further reply."


class ScriptedModel:
    """Gives the replies of a script one after the other, whatever it is asked.

    Which one is next follows from the transcript alone (how many replies it holds), so one model
    may serve any number of sessions. When the script is used up, every further reply is `AT_END`.
    """

    def __init__(self, replies: Sequence[ModelReply], *, name: str = "scripted") -> None:
        self._replies = tuple(replies)
        self._name = name

    @classmethod
    def load(cls, path: Path) -> ScriptedModel:
        """Read a script file; its form is described in `agent.models.script`.

        Raises `ConfigError` with file, line and key path of everything that is wrong with it.
        """
        from lockgate.agent.models.script import read_script  # YAML is loaded only for a file

        return cls(read_script(path), name=f"scripted:{path.name}")

    @property
    def name(self) -> str:
        return self._name

    async def reply(self, request: ModelRequest, heard: Hearing | None = None) -> ModelReply:
        """The reply whose turn it is; its text is told in one piece."""
        said = sum(isinstance(message, ModelReply) for message in request.transcript)
        reply = self._replies[said] if said < len(self._replies) else ModelReply(AT_END)
        if heard is not None and reply.text:
            heard(reply.text)
        return reply

    def __repr__(self) -> str:
        return f"<ScriptedModel {self._name}, {len(self._replies)} replies>"
