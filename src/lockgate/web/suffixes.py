"""Where in a host's name its owner begins: `example.co.uk` is someone's, `co.uk` is nobody's.

From the public suffix list, its private section included: below `github.io` everyone has a name. Of
the list only the part that a name can be in is read, since all of it takes a tenth of a second and
no start should wait for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # loaded with the first domain
    from publicsuffixlist import PublicSuffixList


class Suffixes:
    """The public suffixes under one top-level domain."""

    __slots__ = ("_list",)

    def __init__(self, host: str) -> None:
        """Those that `host`, a name as `Location` has it, or a name below or above it can have."""
        from publicsuffixlist import PSLFILE, PublicSuffixList

        top = host.rpartition(".")[2]
        data = Path(PSLFILE).read_bytes()
        lines = list(_ending(data, top))
        if top.startswith("xn--"):
            lines += _ending(data, _decoded(top))
        self._list: PublicSuffixList = PublicSuffixList(
            list(map(_encoded, lines)), accept_unknown=False, accept_encoded_idn=False
        )

    def owned(self, host: str) -> str | None:
        """The registrable domain that `host` is or lies below.

        None for a public suffix, and for a name whose top-level domain the list does not have.
        """
        return self._list.privatesuffix(host)

    def holds(self, host: str) -> bool:
        """Whether `host` is a public suffix itself."""
        return self._list.is_public(host)


def _ending(data: bytes, label: str) -> Iterator[str]:
    """The rules of the list that end in `label`."""
    # Searching for the end first: an expression that begins with the line's start is slower by far.
    for found in re.finditer(re.escape(label.encode()) + rb"\s", data):
        start = data.rfind(b"\n", 0, found.start()) + 1
        line = data[start : found.end() - 1]
        whole = line == label.encode() or line.endswith(f".{label}".encode())
        if whole and not line.startswith(b"//"):
            yield line.decode()


def _encoded(line: str) -> str:
    if line.isascii():
        return line
    return ".".join(
        label if label.isascii() else f"xn--{label.encode('punycode').decode()}"
        for label in line.split(".")
    )


def _decoded(label: str) -> str:
    try:
        return label[4:].encode().decode("punycode")
    except ValueError:
        return label
