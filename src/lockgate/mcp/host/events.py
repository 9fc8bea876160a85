"""What the host itself tells listeners of a server, beside the server's own notifications.

A listener is told (server, method, params), whoever speaks (S3-14). The methods here are the
host's, and no server can send them: what comes over the wire under such a name is dropped.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lockgate.mcp.client.inbound import Listener

_log: Final = logging.getLogger(__name__)

OURS: Final = "lockgate/"
"""What the host's own methods begin with."""
SERVER_STATE: Final = "lockgate/server_state"
"""The state of a server changed. Params: `state` (of `ServerState`), `circuit` (of `Circuit`),
`tries` in a row that failed, `next_try` in seconds or null, `generation` of its connection."""
TOOLS_CHANGED: Final = "lockgate/tools_changed"
"""Other tools of a server are registered. Params: `added`, `removed`, `changed`, each a list of
registered names."""


def unforged(listener: Listener) -> Listener:
    """`listener`, deaf to what a server sends under a name of the host's."""

    def heard(server: str, method: str, params: Any) -> None:
        if not method.startswith(OURS):
            listener(server, method, params)

    return heard


def tell(
    listeners: Sequence[Listener], server: str, method: str, params: Mapping[str, Any]
) -> None:
    """Tell every listener; one that fails harms nobody, and is logged by its type."""
    for listener in listeners:
        try:
            listener(server, method, dict(params))
        except Exception as error:  # noqa: BLE001 - foreign code, its failure is its own
            _log.error("%s: a listener failed on %s: %s", server, method, type(error).__name__)
