"""An interpreter for one document: it runs blocks of Python that it is handed, one after the other.

A process of its own, in a session of its own: no terminal belongs to it, so questions find nobody,
whoever runs the tests. Names live on from block to block; `await` is allowed at the top.
"""

from __future__ import annotations

import ast
import asyncio
import contextlib
import io
import json
import sys
import traceback
from collections.abc import Coroutine
from typing import Any, cast


def run(source: str, file: str, names: dict[str, Any]) -> tuple[str, str]:
    """Run one block; what it printed, and the traceback if it failed."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    failed = ""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            code = compile(source, file, "exec", flags, dont_inherit=True)
            waiting = eval(code, names)  # noqa: S307 - running the document is the point
            if waiting is not None:
                asyncio.run(cast(Coroutine[Any, Any, None], waiting))
        except Exception:  # noqa: BLE001 - whatever it is, it is the block's result
            failed = traceback.format_exc()
    return printed.getvalue(), failed


def main() -> None:
    """Take blocks from standard input, one JSON object in each line, until it ends."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for line in sys.stdin:
        block = json.loads(line)
        printed, failed = run(block["source"], block["file"], names)
        print(json.dumps({"printed": printed, "failed": failed}), flush=True)


if __name__ == "__main__":
    main()
