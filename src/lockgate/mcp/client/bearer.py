"""A token that somebody else puts into a file, and changes there: a secret that is mounted."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lockgate.errors import Fate, Fault, PeerError, Phase
from lockgate.mcp.transport.tokens import Challenge
from lockgate.process.hidden import Learned

MAX_BYTES: Final = 64 * 1024
"""The largest file that is read; headers of that size are refused anyway."""


@dataclass(frozen=True, slots=True)
class BearerFile:
    """What an operator says: the token stands in this file."""

    path: Path


class BearerFileTokens:
    """The token of a file as it is now (a `TokenSource`). Its `repr` holds no token."""

    def __init__(self, file: BearerFile, *, peer: str) -> None:
        """`peer` is the configured name of the server."""
        self._path = file.path
        self._peer = peer
        self.learned = Learned()
        """Every token that was read."""
        self._stamp: tuple[int, int, int] | None = None
        self._value = ""

    async def authorization(self) -> str:
        """`Bearer` and the token. Raises `PeerError` where there is none."""
        return self._read(anew=False)

    async def challenged(self, challenge: Challenge) -> bool:
        """Whether another token stands there by now."""
        return challenge.status == 401 and self._read(anew=True) != challenge.used

    async def settle(self) -> None:
        """Nothing is under way."""

    def _read(self, *, anew: bool) -> str:
        try:
            found = self._path.stat()
            if not stat.S_ISREG(found.st_mode):  # a pipe would keep the whole program waiting
                raise self._failed("is no regular file")
            stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
            if anew or stamp != self._stamp:
                with self._path.open("rb") as file:
                    data = file.read(MAX_BYTES + 1)
                self._value = self._header(data)
                self._stamp = stamp
                self.learned.learn(self._value.removeprefix("Bearer "))
        except OSError as error:
            raise self._failed(
                f"can not be read: {error.strerror or type(error).__name__}"
            ) from None
        return self._value

    def _header(self, data: bytes) -> str:
        token = data.strip()
        if not token:
            raise self._failed("is empty")
        # RFC 6750, 2.1, and a little more: what no header could hold is not sent.
        if len(data) > MAX_BYTES or not token.isascii() or not all(33 <= b < 127 for b in token):
            raise self._failed("holds no token: it is one word of ASCII characters")
        return f"Bearer {token.decode('ascii')}"

    def _failed(self, why: str) -> PeerError:
        return PeerError(
            f"{self._peer}: the file of its token, {self._path}, {why}; "
            "look at auth.tokenFile of this server",
            peer=self._peer,
            phase=Phase.CONNECT,
            fault=Fault.UNAUTHORIZED,
            fate=Fate.NOT_SENT,
        )

    def __repr__(self) -> str:
        return f"<BearerFileTokens of {self._path}>"
