"""A question for programs, whole or masked."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from lockgate.bridges.question_data import question_data
from lockgate.policy.approval import Question

ARGUMENTS = {
    "api_key": "hunter2",
    "headers": [
        {"Authorization": "hunter2"},
        {"secrets": {"deep": ["hunter2", 7, True, None, 0, ""]}},
    ],
    "path": "a",
}


def test_secrets_are_masked_unless_revealed(asking_about: Callable[..., Question]) -> None:
    """Under a secret-looking key, at any depth, a length stands for each text and number."""
    question = asking_about(arguments=ARGUMENTS)
    shown = question_data(question, reveal=False)["arguments"]
    assert b"hunter2" not in msgspec.json.encode(shown)
    assert shown["path"] == "a"
    assert shown["headers"][1]["secrets"]["deep"][2:4] == [True, None]
    assert shown["headers"][1]["secrets"]["deep"][4:] == ["[masked, 1 character]", ""]
    assert question_data(question, reveal=True)["arguments"] == ARGUMENTS
