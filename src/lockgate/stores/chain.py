"""The chain of an audit log: what makes a changed, missing or moved line show.

Each line is a JSON object that ends in `"seq"`, its number in the chain, and `"mac"`: 16 bytes of
keyed BLAKE2b (RFC 7693, section 2.9) over the MAC of the line before and the line itself up to its
own MAC. Whoever has no key can not write a line that fits, nor take one
out between two others. What a chain can not show by itself is that its end is missing: that is
what the head, its last number and MAC, kept elsewhere, is for.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import Final

import msgspec

MAC_BYTES: Final = 16
_MAX_KEY: Final = 64
_END: Final = re.compile(rb',"seq":([0-9]{1,15}),"mac":"([0-9a-f]{32})"\}\Z')


class Head(msgspec.Struct, frozen=True, gc=False):
    """Where a chain has got to: the number and the MAC of its last line."""

    seq: int
    mac: str
    """32 hexadecimal digits."""

    def __str__(self) -> str:
        return f"{self.seq}:{self.mac}"


def parse_head(text: str) -> Head | None:
    """The head that `str(head)` wrote; None for anything else."""
    match = re.fullmatch(r"([0-9]{1,15}):([0-9a-f]{32})", text)
    return Head(int(match[1]), match[2]) if match else None


class Link(msgspec.Struct, frozen=True):
    """One line of a chain, taken apart: what the MAC covers, and the number and MAC it gives."""

    covered: bytes
    seq: int
    mac: str


def link_of(line: bytes) -> Link | None:
    """Take a line (without its line feed) apart; None if it is no line of a chain."""
    match = _END.search(line)
    if match is None:
        return None
    return Link(line[: match.start(2) - len(b',"mac":"')], int(match[1]), match[2].decode())


class Sealer:
    """Keyed BLAKE2b under one key: a microsecond for a record (docs/decisions/0049)."""

    def __init__(self, key: bytes) -> None:
        """`key` has 16 to 64 bytes. Raises ValueError for others."""
        if not 16 <= len(key) <= _MAX_KEY:
            raise ValueError("the key of a chain has 16 to 64 bytes")
        self.begun = blake2b(key=key, digest_size=MAC_BYTES)
        """The hash with the key in it: each MAC goes on from a copy, which is the cheapest way."""
        self.key_id = self.mac(b"", b"the name of this key").hex()[:16]
        """Says which key it was without giving it away."""

    def mac(self, before: bytes, covered: bytes | bytearray) -> bytes:
        """The MAC of a line that follows one whose MAC is `before` (nothing before the first)."""
        going = self.begun.copy()
        going.update(before + covered)
        return going.digest()


class Chain:
    """The writing end of one chain."""

    def __init__(self, sealer: Sealer, head: Head | None = None) -> None:
        """`head` is where it goes on; None begins one."""
        self._sealer = sealer
        self._begun = sealer.begun
        self._seq = 0 if head is None else head.seq
        self._mac = b"" if head is None else bytes.fromhex(head.mac)

    @property
    def head(self) -> Head:
        """The last line that was taken; number 0 without one."""
        return Head(self._seq, self._mac.hex())

    def seal(self, body: bytes) -> tuple[bytes, bytes]:
        """The line for `body`, a JSON object with at least one member, and its MAC.

        The chain goes on only with `take`: a line that could not be written is none.
        """
        covered = b'%b,"seq":%d' % (body[:-1], self._seq + 1)
        mac = self._sealer.mac(self._mac, covered)
        return b'%b,"mac":"%b"}\n' % (covered, mac.hex().encode()), mac

    def seal_in(self, line: bytearray) -> bytes:
        """`seal` in place: `line` is the JSON object and becomes the line. Its MAC."""
        line[-1:] = b',"seq":%d' % (self._seq + 1)
        # `Sealer.mac`, without the step there: every call pays it twice.
        going = self._begun.copy()
        going.update(self._mac + line)
        mac = going.digest()
        line += b',"mac":"%b"}\n' % mac.hex().encode()
        return mac

    def take(self, mac: bytes) -> None:
        """The line of that MAC has been written."""
        self._seq += 1
        self._mac = mac
