"""The prompts of one server: list them, get the messages of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lockgate.mcp.client.asking import ask, require
from lockgate.mcp.client.pages import Kind, Listed, malformed, whole_list
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.jsontext import Unreadable
from lockgate.mcp.protocol.prompts import (
    GET_PROMPT,
    LIST_PROMPTS,
    ListedPrompt,
    PromptResult,
    parse_prompt_result,
    parse_prompts_page,
)

PROMPTS: Final = "prompts"
"""The capability."""
MAX_PROMPTS: Final = 2_000

_PROMPTS: Final = Kind(LIST_PROMPTS, "prompts", parse_prompts_page, MAX_PROMPTS)


class PromptClient:
    """Prompts over one session. Holds no state; any number of tasks may use it."""

    __slots__ = ("_session",)

    def __init__(self, session: ServerSession) -> None:
        self._session = session

    @property
    def offered(self) -> bool:
        """Whether the server declares that it has prompts. One that does not is not asked."""
        return self._session.profile.can(PROMPTS)

    async def list(self) -> Listed[ListedPrompt]:
        """The whole list, page by page; see `whole_list`. Raises `PeerError`."""
        return await whole_list(self._session, _PROMPTS, PROMPTS, lambda found: found.name)

    async def get(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,
        occasion: Occasion | None = None,
    ) -> PromptResult:
        """The messages of one prompt; its arguments are texts, and go out as they are.

        A server that asks for input first gets it from the session's `services`, told of
        `occasion`. Raises `PeerError`, also for what can not be read.
        """
        session = self._session
        require(session, PROMPTS)
        params: dict[str, Any] = {"name": name}
        if arguments:
            params["arguments"] = dict(arguments)
        asked = await ask(
            session,
            GET_PROMPT,
            params,
            name=name,
            occasion=occasion or Occasion(session.name, prompt=name),
            timeout=timeout,
        )
        try:
            return parse_prompt_result(asked.result)
        except Unreadable as problem:
            raise malformed(session, f"answered with {problem.reason}") from None
