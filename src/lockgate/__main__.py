"""`python -m lockgate` and the console script."""

from __future__ import annotations

import sys

from lockgate.cli.main import main as _main


def main() -> None:
    """Run the program; ends the process with its exit code."""
    sys.exit(_main())


if __name__ == "__main__":
    main()
