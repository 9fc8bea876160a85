"""What one server suggests for an argument of a prompt, or a variable of a template."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lockgate.mcp.client.asking import final, require
from lockgate.mcp.client.pages import malformed
from lockgate.mcp.client.session import ServerSession
from lockgate.mcp.protocol.completion import (
    COMPLETE_ARGUMENT,
    Completed,
    parse_completion,
    prompt_reference,
    resource_reference,
)
from lockgate.mcp.protocol.jsontext import Unreadable

COMPLETIONS: Final = "completions"
"""The capability."""


class Completion:
    """Suggestions over one session. Holds no state; any number of tasks may use it."""

    __slots__ = ("_session",)

    def __init__(self, session: ServerSession) -> None:
        self._session = session

    @property
    def offered(self) -> bool:
        """Whether the server suggests anything. Servers before 2025-03-26 could not declare it: of
        them it is not known."""
        return (
            self._session.profile.can(COMPLETIONS)
            or not self._session.revision.declares_completions
        )

    async def for_prompt(
        self, prompt: str, argument: str, value: str, context: Mapping[str, str] | None = None
    ) -> Completed:
        """Suggestions for an argument of a prompt of which `value` is typed so far; `context` are
        the arguments that have their values. Raises `PeerError`."""
        return await self._ask(prompt_reference(prompt), argument, value, context)

    async def for_template(
        self, template: str, variable: str, value: str, context: Mapping[str, str] | None = None
    ) -> Completed:
        """The same for a variable of a resource template, as its server wrote that."""
        return await self._ask(resource_reference(template), variable, value, context)

    async def _ask(
        self,
        reference: Mapping[str, str],
        argument: str,
        value: str,
        context: Mapping[str, str] | None,
    ) -> Completed:
        session = self._session
        if not self.offered:
            require(session, COMPLETIONS)
        params: dict[str, Any] = {"ref": reference, "argument": {"name": argument, "value": value}}
        if context and session.revision.completes_in_context:
            params["context"] = {"arguments": dict(context)}
        raw = final(session, await session.connection.request(COMPLETE_ARGUMENT, params))
        try:
            return parse_completion(raw)
        except Unreadable as problem:
            raise malformed(session, f"suggested {problem.reason}") from None
