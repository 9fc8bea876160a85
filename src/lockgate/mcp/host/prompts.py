"""The prompts of every server, for a program: named by server and name.

A prompt is for a person to choose, and its messages are a stranger's words, whatever role they
carry: make them `visible` before somebody sees them (2026-07-28, server/prompts; S3-19).
"""

from __future__ import annotations

from collections.abc import Mapping

from lockgate.mcp.client.prompts import PROMPTS
from lockgate.mcp.client.services import Occasion
from lockgate.mcp.host.found import Found, OfServers
from lockgate.mcp.host.offerings import Offerings
from lockgate.mcp.host.resources import must_be_text, must_be_time
from lockgate.mcp.protocol.completion import Completed
from lockgate.mcp.protocol.prompts import ListedPrompt, PromptResult


class Prompt(ListedPrompt, frozen=True, kw_only=True):
    """One prompt and whose it is."""

    server: str
    """The configured name of its server."""


class Prompts(OfServers):
    """Prompts of the servers of a manager."""

    async def list(self, server: str | None = None) -> Found[Prompt]:
        """What `server` lists; None: what all of them do.

        A server that fails is in `failed` of what is returned, and raises nothing. Raises
        `LocalError` for a name that no server has.
        """
        return await self._all(server, PROMPTS, Offerings.prompts, Prompt)

    async def get(
        self,
        server: str,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,
    ) -> PromptResult:
        """The messages of one prompt; its arguments are texts.

        `timeout` in seconds, at most the server's request timeout, which None is. Whether arguments
        are missing is for the server to say. Raises `PeerError`, with the server's own `code` where
        it refuses, and `LocalError` for a name that no server has.
        """
        must_be_text(name=name)
        must_be_text(**(arguments or {}))
        must_be_time(timeout)
        occasion = Occasion(server, attended=self._attended, prompt=name)
        offerings = self._of(server)
        return await offerings.get(name, arguments or {}, timeout=timeout, occasion=occasion)

    async def complete(
        self,
        server: str,
        name: str,
        argument: str,
        value: str = "",
        context: Mapping[str, str] | None = None,
    ) -> Completed:
        """What `server` suggests for an argument of a prompt, of which `value` is typed so far;
        `context` are the arguments that have their values. Raises as `get` does."""
        must_be_text(name=name, argument=argument, value=value)
        must_be_text(**(context or {}))
        completion = self._of(server).completion
        return await completion.for_prompt(name, argument, value, context)
