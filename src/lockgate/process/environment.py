"""The environment of a child: a short list that every program needs, and what is configured.

Nothing else of the host's environment reaches a child, so a secret that the host was started with
is not handed to every program it starts (PB-027, PB-029).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

NAME: Final = "LOCKGATE_CHILD"
"""The variable of `mark`. It holds one value for each child on the way, so that what an inner
lockgate was too dead to end is still found by the outer one."""

POSIX: Mapping[str, str] = MappingProxyType(
    {
        "PATH": "to find the programs it starts itself",
        "HOME": "where its own configuration and caches are",
        "LANG": "the language and the encoding of its text",
        "TERM": "what it asks before it colours its messages",
        "USER": "who it runs as",
        "LOGNAME": "the same, by its older name",
        "SHELL": "what it runs a command line with",
        "TMPDIR": "where temporary files may be written",
        "TZ": "what time it is here",
        NAME: "whose descendant it is, where lockgate itself was started by lockgate",
    }
)
"""Names of variables that are passed on, with the reason for each."""

PREFIX = "LC_"
"""Variables that begin so refine LANG and are passed on too."""

WINDOWS: Mapping[str, str] = MappingProxyType(
    {
        "PATH": "to find the programs it starts itself",
        "PATHEXT": "which file names are programs",
        "COMSPEC": "what runs a command script",
        "SYSTEMROOT": "without it sockets and random numbers do not work",
        "SYSTEMDRIVE": "where the system is",
        "WINDIR": "the same as SYSTEMROOT, for older programs",
        "PROGRAMFILES": "where programs are installed",
        "PROGRAMFILES(X86)": "the same, for 32-bit programs",
        "PROGRAMDATA": "data that programs share",
        "PROCESSOR_ARCHITECTURE": "which build of itself to use",
        "APPDATA": "where its own configuration is",
        "LOCALAPPDATA": "where its own caches are",
        "USERPROFILE": "the home directory",
        "HOMEDRIVE": "the home directory, for older programs",
        "HOMEPATH": "the home directory, for older programs",
        "USERNAME": "who it runs as",
        "TEMP": "where temporary files may be written",
        "TMP": "the same, by its older name",
        "TZ": "what time it is here",
    }
)
"""The same for Windows, where names have no case. Untested."""


def child_environment(
    host: Mapping[str, str],
    configured: Mapping[str, str],
    *,
    windows: bool = sys.platform == "win32",
) -> dict[str, str]:
    """The whole environment of a child: what is on the list in `host`, and over it `configured`.

    Proxies, certificates and credentials are not on the list: name them in the configuration of
    the program that needs them.
    """
    if windows:
        chosen = {name.upper(): value for name, value in host.items() if name.upper() in WINDOWS}
        return chosen | {name.upper(): value for name, value in configured.items()}
    chosen = {
        name: value for name, value in host.items() if name in POSIX or name.startswith(PREFIX)
    }
    return chosen | dict(configured)
