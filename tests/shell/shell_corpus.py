"""The lines in tests/data/shell, each with the rules it is judged by and what has to come of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from lockgate.decision import Decided, Decision
from lockgate.rules.command.line import Analysis, analyse
from lockgate.rules.command.pattern import CommandPattern
from lockgate.rules.command.verdict import judge

FOLDER: Final = Path(__file__).parents[1] / "data" / "shell"
_VERDICTS: Final = {"runs": Decision.ALLOW, "asks": Decision.ASK, "denied": Decision.DENY}


@dataclass(frozen=True, slots=True)
class Case:
    """One line under stated rules."""

    place: str
    """File and line number."""
    line: str
    expected: Decision
    allow: tuple[CommandPattern, ...]
    deny: tuple[CommandPattern, ...]
    ask: tuple[CommandPattern, ...]

    def judge(self, analysis: Analysis | None = None) -> Decided:
        """What the rules say."""
        return judge(analysis or analyse(self.line), self.allow, self.deny, self.ask)


def cases() -> Iterator[Case]:
    """All of them, file by file."""
    for file in sorted(FOLDER.glob("*.jsonl")):
        rules: dict[str, tuple[CommandPattern, ...]] = {}
        for number, text in enumerate(file.read_text("utf-8").splitlines(), 1):
            record: dict[str, Any] = json.loads(text)
            if "about" in record:
                continue
            if "allow" in record:
                rules = {
                    word: tuple([CommandPattern.parse(pattern) for pattern in patterns])
                    for word, patterns in record.items()
                }
                continue
            ((verdict, line),) = record.items()
            yield Case(f"{file.name}:{number}", line, _VERDICTS[verdict], **rules)
