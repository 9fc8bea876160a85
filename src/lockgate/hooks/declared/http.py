"""A hook that is an HTTP endpoint: the event is posted to it, its answer is the answer.

The operator names the address, so it may be on this machine or in the local network; metadata
services and link-local addresses it may not, and a redirect is not followed: headers with secrets
go where they were meant to go. No proxy is used, and no environment changes that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from lockgate.errors import PeerError
from lockgate.hooks.declared.plan import HttpHandler
from lockgate.hooks.declared.said import MAX_ANSWER, read_answer
from lockgate.hooks.declared.template import NotThere, render
from lockgate.hooks.event import HookInput
from lockgate.hooks.failure import HookFailure
from lockgate.hooks.result import HookResult
from lockgate.web.addresses import AddressRules
from lockgate.web.client import WebClient
from lockgate.web.limits import Limits
from lockgate.web.location import LocationError, locate

_ENCODER: Final = msgspec.json.Encoder()


class HttpHook:
    """Posts each event, as JSON, and keeps no connection."""

    def __init__(
        self,
        handler: HttpHandler,
        env: Mapping[str, str],
        *,
        timeout: float,
        client: WebClient | None = None,
    ) -> None:
        """`env` are the listed variables that are set; `timeout` bounds one exchange, in seconds;
        `client` takes the place of one that may reach private addresses."""
        self._handler = handler
        self._env = env
        self._client = client or WebClient(
            addresses=AddressRules(private=True),
            limits=Limits(total=timeout, idle=timeout, redirects=0, received=2 * MAX_ANSWER),
        )

    async def __call__(self, told: HookInput) -> HookResult:
        """Post it once. Raises `HookFailure`."""
        data = told.data()
        body = self._handler.body
        try:
            at = locate(self._handler.url)
            posted = data if body is None else render(body, data, self._env)
        except (NotThere, LocationError) as error:
            raise HookFailure(str(error)) from None
        headers = {"Content-Type": "application/json", **self._handler.headers}
        try:
            async with self._client.post(at, _ENCODER.encode(posted), headers=headers) as response:
                if not 200 <= response.status < 300:
                    raise HookFailure(f"{at.shown} answered with status {response.status}")
                answer = await response.read(MAX_ANSWER + 1)
        except PeerError as error:
            raise HookFailure(str(error)) from None
        return read_answer(answer.data, told.event, due=True)
