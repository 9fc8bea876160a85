"""The page that a browser ends at: one sentence, nothing that is fetched, run or remembered."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Final

from lockgate.showing import visible

_REASONS: Final = ((200, "OK"), (400, "Bad Request"), (404, "Not Found"), (405, "Not Allowed"))
_STYLE: Final = (
    "body{font:1.1em/1.5 system-ui,sans-serif;max-width:34em;margin:15vh auto;padding:0 1em;"
    "color:#222;background:#fff}"
    "@media(prefers-color-scheme:dark){body{color:#ddd;background:#1b1b1b}}"
    "h1{font-size:1.3em}p{overflow-wrap:anywhere}"
)
_MAX_TEXT: Final = 600
"""Characters of a sentence; what failed is told in full where the login was begun."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown, with its status."""

    status: int
    title: str
    text: str

    @classmethod
    def worked(cls, server: str) -> Page:
        """The login to `server` is done."""
        return cls(200, "Logged in", f"lockgate is logged in to {server}. You can close this page.")

    @classmethod
    def failed(cls, reason: str) -> Page:
        """It is not; `reason` in a sentence or two, without a secret."""
        return cls(200, "Not logged in", f"{reason} More is said where you began the login.")

    @classmethod
    def ended(cls) -> Page:
        """Nobody waits for it any more."""
        return cls(200, "Not logged in", "The login was ended before it was done.")

    @classmethod
    def refused(cls, status: int, text: str) -> Page:
        """A request that is no answer to a login."""
        return cls(status, "Nothing happened", text)


def rendered(page: Page, *, head_only: bool = False) -> bytes:
    """The whole answer over HTTP/1.1. The text is a stranger's: shown, never obeyed."""
    text = visible(page.text)
    text = text if len(text) <= _MAX_TEXT else f"{text[:_MAX_TEXT]}..."
    title = html.escape(page.title)
    body = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>'
        f"<body><h1>{title}</h1><p>{html.escape(text)}</p></body></html>\n"
    ).encode("utf-8", "replace")
    reason = dict(_REASONS).get(page.status, "Error")
    head = (
        f"HTTP/1.1 {page.status} {reason}\r\n"
        "Content-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        # Nothing is fetched or run, no other page may show this one, and the code in its address
        # goes to nobody.
        "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline';"
        " frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n"
        "Referrer-Policy: no-referrer\r\n"
        "X-Content-Type-Options: nosniff\r\n"
        "Connection: close\r\n\r\n"
    ).encode("ascii")
    return head if head_only else head + body
