"""A question to ask, and a terminal to ask it on."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import pty
import termios
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.decision import Reason
from lockgate.policy.approval import Question
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel


def asked(**changes: Any) -> Question:
    """A reset that a trusted server calls destructive, with some fields changed."""
    fields: dict[str, Any] = {
        "call_id": "c1",
        "tool": "mcp__git__git_reset",
        "origin": Origin(
            "mcp",
            "git",
            "git_reset",
            fingerprint({}),
            claim={"readOnlyHint": False, "destructiveHint": True},
            ruling="claim",
        ),
        "level": SideEffectLevel.MUTATING,
        "destructive": True,
        "arguments": {"repo_path": "."},
        "digest": "d",
        "reasons": (
            Reason(
                "destructive",
                "mcp__git__git_reset can overwrite, remove or invalidate things",
                "destructiveHint is true, and the server is trusted",
            ),
        ),
        "execution_id": "e1",
        "session_id": "s1",
        "principal": None,
    }
    return Question(**{**fields, **changes})


@pytest.fixture
def question() -> Question:
    """Any question."""
    return asked()


@dataclasses.dataclass
class Person:
    """Someone at a terminal: types, and sees what is shown. The terminal is a real one."""

    keyboard: int
    screen_of: int
    device: Path

    def type(self, text: str | bytes) -> None:
        """Press keys."""
        os.write(self.keyboard, text.encode() if isinstance(text, str) else text)

    def sees(self) -> str:
        """What has been shown since the last look."""
        seen = b""
        while True:
            try:
                seen += os.read(self.keyboard, 65536)
            except BlockingIOError:
                return seen.decode().replace("\r\n", "\n")

    async def see(self, text: str) -> str:
        """Wait until `text` is shown; returns all that was until then."""
        loop = asyncio.get_running_loop()
        shown = asyncio.Event()
        loop.add_reader(self.keyboard, shown.set)
        seen = self.sees()
        try:
            async with asyncio.timeout(10):
                while text not in seen:
                    await shown.wait()
                    shown.clear()
                    seen += self.sees()
        finally:
            loop.remove_reader(self.keyboard)
        return seen

    def settings(self) -> list[Any]:
        """How the terminal is set."""
        return termios.tcgetattr(self.screen_of)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.keyboard)
        self.keyboard = -1


@pytest.fixture
def person() -> Iterator[Person]:
    """Somebody at a terminal of their own."""
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    someone = Person(master, slave, Path(os.ttyname(slave)))
    yield someone
    os.close(slave)
    if someone.keyboard >= 0:
        os.close(someone.keyboard)


@pytest.fixture
def asking_about() -> Callable[..., Question]:
    """Makes the question with some of its fields changed."""
    return asked
