"""How a server's question to a person is framed: by whom it is, and which words are not ours.

Pure. Whatever a server says stands behind a gutter that no text of its own can produce, so it can
not be taken for a line of the question itself (PB-153).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lockgate.bridges.arguments import BEGINS, GOES_ON
from lockgate.bridges.question import row
from lockgate.mcp.client.services import Occasion
from lockgate.showing import folded, quoted, visible

MAX_WORDS: Final = 4_000
"""Characters of one text of a server's that are shown; how many more there are is said."""
MAX_LINES: Final = 40
"""Line ends of one such text that are kept; further ones are shown as what they are."""


def heading(words: str, width: int) -> str:
    """A line across the terminal."""
    return f"-- {words} {'-' * width}"[:width]


def who_asks(occasion: Occasion, width: int) -> list[str]:
    """The server, what it is doing meanwhile, and what is not our word."""
    during = "no call in particular"
    if occasion.tool is not None:
        during = f"a call of its tool {quoted(occasion.tool)}"
    elif occasion.prompt is not None:
        during = f"the making of its prompt {quoted(occasion.prompt)}"
    elif occasion.resource is not None:
        during = f"the reading of its resource {quoted(occasion.resource[:200])}"
    return [
        *row("server", visible(occasion.server).upper(), width),
        *row("during", during, width),
        *row("mind", "what stands behind | is the server's own word, and nobody checked it", width),
    ]


def their_words(text: str, width: int, *, whole: bool = False) -> Iterator[str]:
    """A text of the server's, line by line behind the gutter, nothing hidden in it; with `whole`
    all of it, however long."""
    shown, rest = (text, 0) if whole else (text[:MAX_WORDS], len(text) - MAX_WORDS)
    for line in shown.split("\n", -1 if whole else MAX_LINES):
        yield from folded(visible(line.rstrip()), width, BEGINS, GOES_ON)
    if rest > 0:
        yield from folded(f"[{rest} more characters are not shown]", width, GOES_ON, GOES_ON)


def labelled(label: str, text: str, width: int) -> list[str]:
    """One thing that a server says of something, behind the gutter: `| label  text`."""
    return folded(f"{label:<9}{text}", width, BEGINS, f"{GOES_ON}{' ' * 8}")
