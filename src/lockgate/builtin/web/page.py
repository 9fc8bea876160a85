"""A page as the text that a person would read, with its links, as Markdown."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Final

_TITLE: Final = re.compile(r"<title[^>]{0,200}>([^<]{0,1000})", re.IGNORECASE)
_LOOKED_AT: Final = 64 * 1024
_NEAR: Final = 200
"""Characters in which a title at the beginning of a text is looked for."""


@dataclass(frozen=True, slots=True)
class Page:
    """What there is to read."""

    text: str
    """Begins with the title, unless the page says it at its beginning by itself."""
    title: str
    """On one line; empty if it has none."""
    whole: bool
    """False if a part is nested so deep that it was left out."""


def read_page(source: str, address: str) -> Page:
    """Make text of HTML: scripts, styles and what is hidden are left out, links made absolute.

    Linear in the size of `source`. It blocks: about a second for five megabytes.
    """
    # Late: twenty megabytes of code, for whoever fetches a page.
    from html_to_markdown import ConversionOptions, PreprocessingOptions, convert

    options = ConversionOptions(
        extract_metadata=False,
        base_url=address,
        inline_data_media="alt_text_only",
        # It would leave out headers and navigation, in which documentation has its contents.
        preprocessing=PreprocessingOptions(enabled=False),
    )
    made = convert(source, options)
    found = _TITLE.search(source[:_LOOKED_AT])
    title = " ".join(html.unescape(found[1]).split())[:200] if found else ""
    whole = all(str(warning.kind) != "depth_limit_exceeded" for warning in made.warnings)
    text = (made.content or "").strip()
    if title and title not in text[: len(title) + _NEAR]:
        text = f"{title}\n\n{text}".strip()
    return Page(text, title, whole)
