"""Looking a path up, once, before a call is decided: an effect, whose result the tool then uses."""

from __future__ import annotations

import os
from pathlib import Path

from lockgate.tools.context import Environment
from lockgate.tools.subject import ResolvedPath


def resolve_path(given: str, environment: Environment) -> ResolvedPath:
    """What `given` is in the file system now. Never raises: see `ResolvedPath.problem`.

    Relative paths start from `environment.cwd`, `~` is `environment.home`.
    """
    text = given
    if environment.home is not None and (text == "~" or text.startswith("~/")):
        text = str(environment.home) + text[1:]
    try:
        lexical = os.path.normpath(os.path.join(environment.cwd, text))  # noqa: PTH118 - by the letter: Path would keep ".."
        real = os.path.realpath(lexical)
    except (OSError, ValueError) as error:
        return ResolvedPath(
            given, "", "", None, problem=f"it can not be looked up ({type(error).__name__})"
        )
    root = next((str(r) for r in environment.roots if Path(real).is_relative_to(r)), None)
    return ResolvedPath(given, lexical, real, root)
