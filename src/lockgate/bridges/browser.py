"""Opening a browser for a person, where there is one to open."""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Mapping


def has_browser(environ: Mapping[str, str], *, platform: str = sys.platform) -> bool:
    """Whether a browser would open in a window. One that opens in the terminal is none: it would
    take the terminal from whoever asks there."""
    if environ.get("BROWSER"):
        return True  # somebody chose it
    if platform in ("darwin", "win32"):
        # From far away the window would open where nobody sits.
        return not environ.get("SSH_CONNECTION")
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


def open_browser(address: str) -> bool:
    """Open `address` in the person's browser; whether that began. May wait for its program."""
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
