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


def test_real_paths_and_the_rule_are_told(asking_about: Callable[..., Question]) -> None:
    """Each real path by itself, masked under a secret-looking name; the rule as it would stand."""
    question = asking_about(resolved={"path": "/a\n/b", "key_file": "/c"}, always='t(a="b")')
    data = question_data(question, reveal=False)
    assert data["resolved"] == {"path": ["/a", "/b"], "key_file": ["[masked, 2 characters]"]}
    assert data["always"] == 't(a="b")'
    assert question_data(question, reveal=True)["resolved"]["key_file"] == ["/c"]
    assert question_data(asking_about(), reveal=False)["always"] is None


def test_a_sub_agent_is_named(asking_about: Callable[..., Question]) -> None:
    """By its name; null stands for the agent itself."""
    assert question_data(asking_about(agent="helper"), reveal=False)["agent"] == "helper"
    assert question_data(asking_about(), reveal=False)["agent"] is None
