"""That what ripgrep said of a file stands in the file that may be read.

ripgrep opens files by their paths, and a path can lead elsewhere for as long as that takes. So
nothing that it says is told before the bytes it speaks of were found, where it says they are, in
a file that was opened by descriptor (docs/decisions/0024).
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Mapping
from typing import Final

_UTF_16: Final[Mapping[bytes, str]] = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_UTF_8_MARK: Final = b"\xef\xbb\xbf"


class Proof:
    """What was said of one file: at which offsets and in which lines which bytes stand.

    The bytes are kept as a hash, so that a file with many matches takes little memory.
    """

    __slots__ = ("_hash", "_lengths", "_numbers", "_offsets")

    def __init__(self) -> None:
        self._offsets = array("Q")
        self._lengths = array("Q")
        self._numbers = array("Q")
        self._hash = hashlib.blake2b()

    def add(self, offset: int, number: int, data: bytes) -> None:
        """`data` stands at `offset`, in UTF-8 and without a byte order mark, and begins the line
        `number`, from 1. Offsets ascend."""
        self._offsets.append(offset)
        self._numbers.append(number)
        self._lengths.append(len(data))
        self._hash.update(data)

    def holds(self, data: bytes) -> bool:
        """Whether all of it is so in a file that holds `data`; never if nothing was said."""
        data = _as_searched(data)
        found = hashlib.blake2b()
        number, counted = 1, 0
        for offset, length, said in zip(self._offsets, self._lengths, self._numbers, strict=True):
            number += data.count(b"\n", counted, offset)
            counted = max(counted, offset)
            if number != said:
                return False
            found.update(memoryview(data)[offset : offset + length])
        return bool(self._offsets) and found.digest() == self._hash.digest()


def _as_searched(data: bytes) -> bytes:
    """As ripgrep reads a file: what begins with a mark of UTF-16 in UTF-8, and without any mark."""
    encoding = _UTF_16.get(data[:2])
    if encoding is not None:
        return data[2:].decode(encoding, "replace").encode("utf-8")
    return data.removeprefix(_UTF_8_MARK)
