"""`python -m lockgate` and the console script."""

from __future__ import annotations

import os
import sys

from lockgate.cli.main import main as _main
from lockgate.process.veil import veil


def main() -> None:
    """Run the program; ends the process with its exit code."""
    if sys.platform == "linux":
        veil(os.environb)
    sys.exit(_main())


if __name__ == "__main__":
    main()
