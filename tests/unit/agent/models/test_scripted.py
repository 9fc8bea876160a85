"""The scripted model: replies in order, files with their faults placed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lockgate.agent.model import Message, ModelReply, ModelRequest, ToolCall, UserMessage
from lockgate.agent.models.scripted import AT_END, ScriptedModel
from lockgate.errors import ConfigError


def _load(tmp_path: Path, text: str | bytes) -> ScriptedModel:
    path = tmp_path / "replies.yaml"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return ScriptedModel.load(path)


async def _all(model: ScriptedModel) -> list[ModelReply]:
    transcript: list[Message] = [UserMessage("go")]
    while True:
        reply = await model.reply(ModelRequest(transcript))
        if reply.text == AT_END:
            return [message for message in transcript if isinstance(message, ModelReply)]
        transcript.append(reply)


def _faults(tmp_path: Path, text: str | bytes) -> list[tuple[str, int | None, str]]:
    with pytest.raises(ConfigError) as caught:
        _load(tmp_path, text)
    assert all(problem.file == tmp_path / "replies.yaml" for problem in caught.value.problems)
    return [(p.path, p.line, p.message) for p in caught.value.problems]


async def test_the_next_reply_follows_from_the_transcript() -> None:
    """One model serves any number of sessions: it keeps no place of its own."""
    model = ScriptedModel([ModelReply("one"), ModelReply("two")])
    start: list[Message] = [UserMessage("go")]
    assert (await model.reply(ModelRequest(start))).text == "one"
    assert (await model.reply(ModelRequest(start))).text == "one"
    assert (await model.reply(ModelRequest([*start, ModelReply("one")]))).text == "two"


async def test_a_used_up_script_ends_the_turn_with_a_text() -> None:
    """After the last reply comes a text without calls, so no loop runs on."""
    reply = await ScriptedModel([]).reply(ModelRequest([UserMessage("go")]))
    assert reply == ModelReply(AT_END)


async def test_a_file_holds_text_calls_and_everything_else_a_reply_has(tmp_path: Path) -> None:
    """Every key of the form is read; calls get ids that tell them apart."""
    model = _load(
        tmp_path,
        """
- text: I look.
  calls:
    - tool: mcp__git__git_log
      arguments: {repo_path: ., max_count: 3, deep: [1.5, true, null, "x"], day: 2026-01-02}
    - {tool: other}
  tokens: 12
- text: "half a"
  cutOff: true
""",
    )
    first, second = await _all(model)
    arguments = {"repo_path": ".", "max_count": 3, "deep": [1.5, True, None, "x"]}
    assert first.text == "I look."
    assert first.usage.total == 12
    assert first.calls[0].name == "mcp__git__git_log"
    assert first.calls[0].arguments == {**arguments, "day": "2026-01-02"}
    assert first.calls[1] == ToolCall("scripted-0-1", "other", {})
    assert first.calls[0].id != first.calls[1].id
    assert second == ModelReply("half a", cut_off=True)
    assert model.name == "scripted:replies.yaml"


async def test_json_is_read_too_with_exact_numbers(tmp_path: Path) -> None:
    """JSON is YAML: tabs between its tokens and integers beyond 64 bits included."""
    text = (
        '[\n\t{"calls": [\n\t\t{"tool": "t", "arguments": {"n": 123456789012345678901234567890}}]}]'
    )
    (reply,) = await _all(_load(tmp_path, text))
    assert reply.calls[0].arguments == {"n": 123456789012345678901234567890}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ("", 1, "is empty")),
        ("text: hi", ("", 1, "must be a list")),
        ("- hi", ("[0]", 1, "must be a mapping")),
        ("- {}", ("[0]", 1, "says nothing")),
        ("- text: 3", ("[0].text", 1, "must be a text")),
        ("- text: a\n- txet: b", ("[1].txet", 2, "unknown key")),
        ("- text: a\n  text: b", ("[0].text", 2, "stands twice")),
        ("- calls: {}", ("[0].calls", 1, "must be a list")),
        ("- calls:\n  - arguments: {}", ("[0].calls[0]", 2, "names no tool")),
        (
            "- calls: [{tool: x, arguments: [1]}]",
            ("[0].calls[0].arguments", 1, "must be a mapping"),
        ),
        ("- text: a\n  cutOff: maybe", ("[0].cutOff", 2, "must be true or false")),
        ("- text: a\n  tokens: 1.5", ("[0].tokens", 2, "must be a whole number")),
        ("- text: a\n  tokens: -1", ("[0].tokens", 2, "can not be negative")),
        (
            "- calls: [{tool: x, arguments: {a: .nan}}]",
            ("[0].calls[0].arguments.a", 1, "is no value that JSON has"),
        ),
        ("- &a {text: a}\n- *a", ("[0]", 1, "an anchor (&) is not allowed")),
        ("- {? [a] : b, text: a}", ("[0]", 1, "a key must be a word")),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, text: str, expected: tuple[str, int, str]
) -> None:
    """A malformed script is a ConfigError with file, line and key path."""
    assert expected in _faults(tmp_path, text)


def test_aliases_of_aliases_blow_nothing_up(tmp_path: Path) -> None:
    """They are refused, and none is followed: 1,000 bytes that mean 8 ** 30 values."""
    levels = "".join(f"a{n + 1}: &a{n + 1} [{', '.join([f'*a{n}'] * 8)}], " for n in range(30))
    text = f"- calls: [{{tool: x, arguments: {{a0: &a0 [1], {levels}}}}}]"
    told = _faults(tmp_path, text)
    assert {message for _, _, message in told} == {"an anchor (&) is not allowed"}
    assert len(told) == 31


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    """One look is enough to mend a script."""
    assert len(_faults(tmp_path, "- text: 1\n- cutOff: 2\n- nonsense: 3")) == 5


def test_an_unknown_key_comes_with_the_nearest_valid_one(tmp_path: Path) -> None:
    """A slip of the pen is named."""
    with pytest.raises(ConfigError, match="did you mean text"):
        _load(tmp_path, "- txet: b")


@pytest.mark.parametrize(
    "text", ["- [", "- text: 'a", "- \tx: 1\n", '- "\\x"', "a: b: c", "- !!int x"]
)
def test_what_is_no_yaml_is_told(tmp_path: Path, text: str) -> None:
    """Broken syntax never leaks an exception of the parser."""
    assert len(_faults(tmp_path, text)) >= 1


def test_a_deep_file_is_refused(tmp_path: Path) -> None:
    """Nesting exhausts nobody's stack."""
    assert _faults(tmp_path, "- text: " + "[" * 1200)


def test_a_file_that_can_not_be_read_is_told(tmp_path: Path) -> None:
    """Missing, a directory, not UTF-8, too large: each by name."""
    with pytest.raises(ConfigError, match="can not be read: No such file"):
        ScriptedModel.load(tmp_path / "absent.yaml")
    os.mkfifo(tmp_path / "pipe.yaml")  # a reader that waited for its writer would wait for ever
    with pytest.raises(ConfigError, match="is not a regular file"):
        ScriptedModel.load(tmp_path / "pipe.yaml")
    with pytest.raises(ConfigError, match="is not a regular file"):
        ScriptedModel.load(tmp_path)
    assert _faults(tmp_path, b"- text: a\n- text: \xff") == [("", 2, "is not UTF-8")]
    assert _faults(tmp_path, b" " * 1_000_001)[0][2] == "is over 976 KiB"
