"""Which lockgate this is. The one place: the package's metadata is made from it.

Asking the metadata instead means to find and parse a file, with a parser for mail, at every start.
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.1.0"
