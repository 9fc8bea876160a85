"""What definitions are called."""

from __future__ import annotations

import re
from typing import Final

NAME: Final = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
"""Small letters, digits and single hyphens: the names that other programs take as well."""
MAX_NAME: Final = 64
