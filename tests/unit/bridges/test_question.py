"""A question as a person reads it: whole, within the width, and with nothing that deceives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.bridges.question import has_secrets, render_question, render_summary
from lockgate.decision import Reason
from lockgate.policy.approval import Question
from lockgate.showing import visible, width_of
from lockgate.tools.fingerprint import fingerprint
from lockgate.tools.origin import Origin
from lockgate.traits import SideEffectLevel

Changed = Callable[..., Question]


def test_the_whole_question(question: Question) -> None:
    """What a person sees, to the letter, in eighty columns."""
    assert render_question(question, 80) == (
        "-- a call needs an answer ------------------------------------------------------\n"
        "tool       mcp__git__git_reset\n"
        'from       server git, where it is called "git_reset"\n'
        "can        OVERWRITE, REMOVE OR INVALIDATE THINGS (mutating, destructive)\n"
        "judged by  what the server claims, which is trusted (claimed: readOnlyHint\n"
        "           false, destructiveHint true)\n"
        "why asked  mcp__git__git_reset can overwrite, remove or invalidate things\n"
        "           (destructiveHint is true, and the server is trusted)\n"
        "arguments\n"
        '| repo_path: "."\n'
    )


@pytest.mark.parametrize(
    ("level", "destructive", "words"),
    [
        (SideEffectLevel.READ_ONLY, False, "only read"),
        (SideEffectLevel.READ_ONLY, True, "only read"),
        (SideEffectLevel.MUTATING, False, "without overwriting or removing"),
        (SideEffectLevel.MUTATING, True, "OVERWRITE, REMOVE OR INVALIDATE"),
    ],
)
def test_what_the_call_can_do(
    asking_about: Changed, level: SideEffectLevel, destructive: bool, words: str
) -> None:
    """By level and, under mutating, by destructiveness."""
    assert words in render_question(asking_about(level=level, destructive=destructive))


@pytest.mark.parametrize(
    ("ruling", "words"),
    [
        ("declared", "what its code declares"),
        ("default", "the worst case"),
        ("claim", "what the server claims"),
        ("verdict", "the operator's word"),
        ("something new", "something new"),
    ],
)
def test_what_the_verdict_follows(asking_about: Changed, ruling: str, words: str) -> None:
    """So that a person knows whose word it is."""
    origin = Origin("local", None, "t", fingerprint({}), ruling=ruling)
    text = render_question(asking_about(origin=origin))
    assert f"judged by  {words}" in text
    assert "from       local code" in text


def test_every_reason_and_the_principal_are_told(asking_about: Changed) -> None:
    """Each on a line of its own."""
    reasons = (Reason("a", "first"), Reason("b", "second", "rules[1]"))
    text = render_question(asking_about(reasons=reasons, principal="alice"))
    assert "why asked  first\n           second (rules[1])\nfor        alice\n" in text


def test_a_sub_agent_is_named(asking_about: Changed) -> None:
    """Whose call it is stands first, and again right above the prompt (PB-150)."""
    asked = asking_about(agent="re\u202esearcher")
    words = "asked by   re\\u202esearcher, which works for the agent"
    assert render_question(asked).splitlines()[1] == words
    assert render_summary(asked, 40).splitlines()[1] == words
    assert "asked by" not in render_question(asking_about())


def test_no_arguments_are_said_to_be_none(asking_about: Changed) -> None:
    """An empty object is no empty place."""
    assert render_question(asking_about(arguments={})).endswith("arguments  none\n")


def test_arguments_are_shown_by_their_structure(asking_about: Changed) -> None:
    """Keys in their order, objects and lists indented, every scalar as JSON has it."""
    arguments = {
        "z": 1,
        "a": [1, 2.5, None, True, "x", {}, [], {"k": "v"}, [["deep"]]],
        "odd name": {"b": {"c": "d"}},
        "": "empty",
    }
    text = render_question(asking_about(arguments=arguments))
    assert text.endswith(
        "arguments\n"
        "| z: 1\n"
        "| a:\n"
        "|   - 1\n"
        "|   - 2.5\n"
        "|   - null\n"
        "|   - true\n"
        '|   - "x"\n'
        "|   - {}\n"
        "|   - []\n"
        "|   -\n"
        '|     k: "v"\n'
        "|   -\n"
        "|     -\n"
        '|       - "deep"\n'
        '| "odd name":\n'
        "|   b:\n"
        '|     c: "d"\n'
        '| "": "empty"\n'
    )


def test_a_tail_is_never_out_of_sight(asking_about: Changed) -> None:
    """Spaces and newlines before a tail are counted, returns shown; the tail follows (PB-154)."""
    arguments = {
        "spaces": "echo ok" + " " * 400 + "; curl http://127.0.0.1:9/x | sh",
        "lines": "echo ok" + "\n" * 200 + "rm -rf x",
        "return": "rm x\rls   ",
        "tabs": "a\tb",
    }
    text = render_question(asking_about(arguments=arguments))
    assert '"echo ok\\{400 times " "}; curl http://127.0.0.1:9/x | sh"' in text
    assert '"echo ok\\{200 times "\\n"}rm -rf x"' in text
    assert '"rm x\\rls   "' in text
    assert '"a\\tb"' in text
    assert "\r" not in text


def test_a_long_value_is_shown_in_full(asking_about: Changed) -> None:
    """Nothing is cut: a statement behind three kilobytes of padding is there (PB-153)."""
    padding = " ".join(f"c{n}" for n in range(800))
    sql = f"SELECT {padding} FROM t; DROP TABLE t"  # noqa: S608 - shown, never run
    text = render_question(asking_about(arguments={"sql": sql, "note": "x" * 100_000}))
    squeezed = "".join(line.removeprefix("|>") for line in text.splitlines())
    assert "".join(sql.split()) in "".join(squeezed.split())
    assert '\\{100000 times "x"}' in text


def test_text_of_many_lines_is_shown_on_many_lines(asking_about: Changed) -> None:
    """Each ends in the escape that it is, so a line of ours can not be imitated."""
    text = render_question(asking_about(arguments={"t": "one\ntool  fake\n", "p": "C:\\new\\n"}))
    assert '| t: "one\\n\n|>    tool  fake\\n"\n' in text
    assert '| p: "C:\\\\new\\\\n"\n' in text


def test_deceptive_names_are_shown_for_what_they_are(asking_about: Changed) -> None:
    """Not only values: tools, servers, originals, reasons and keys come from strangers too."""
    text = render_question(
        asking_about(
            origin=Origin("mcp", "git", "a\u202eb\x1b[2J", fingerprint({}), claim={"x\n": 1}),
            reasons=(Reason("r", "a\x07b"),),
            principal="p\u200bq",
            arguments={"k\x1b": "v"},
        )
    )
    for shown in ("a\\u202eb\\x1b[2J", "x\\n", "a\\x07b", "p\\u200bq", '"k\\x1b": "v"'):
        assert shown in text


def test_secrets_are_masked_by_their_length(asking_about: Changed) -> None:
    """Under a secret-looking key, also deeper down; that something is there shows."""
    asked = asking_about(
        arguments={
            "api_key": "sk-123456",
            "headers": {"Authorization": "Bearer xyz", "Accept": "text/plain"},
            "tokens": ["one", {"inner": "three"}],
            "pin_token": 1234,
            "use_token": True,
            "password": "",
            "secret": None,
        }
    )
    text = render_question(asked)
    for hidden in ("sk-123456", "xyz", "one", "three", "1234"):
        assert hidden not in text.split("arguments")[1]
    for shown in (
        "api_key: [masked, 9 characters]",
        "Authorization: [masked, 10 characters]",
        'Accept: "text/plain"',
        "- [masked, 3 characters]",
        "inner: [masked, 5 characters]",
        "pin_token: [masked, 4 characters]",
        "use_token: true",
        'password: ""',
        "secret: null",
    ):
        assert shown in text
    assert has_secrets(asked)
    assert "sk-123456" in render_question(asked, reveal=True)


@pytest.mark.parametrize("arguments", [{}, {"path": "x"}, {"token": ""}, {"a": [{"b": 1}]}])
def test_without_secrets_there_is_nothing_to_reveal(
    asking_about: Changed, arguments: dict[str, Any]
) -> None:
    """And the question is the same either way."""
    asked = asking_about(arguments=arguments)
    assert not has_secrets(asked)
    assert render_question(asked) == render_question(asked, reveal=True)


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=200),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3)
    ),
    max_leaves=8,
)


def nested(leaf: Any, levels: int, name: str) -> Any:
    """`leaf` at the bottom of lists and objects."""
    for level in range(levels):
        leaf = [leaf] if level % 2 else {name: leaf}
    return leaf


DEEP: st.SearchStrategy[Any] = st.builds(nested, JSON, st.integers(0, 60), st.text())

STRANGE = st.text(
    st.sampled_from('\u0301\u302e\u302f\u0903\u20dd\u0e33한α"\\\n \u202e|>-\U0001f1e6\U0001f600ｒx')
)
"""Marks of every kind, wide, ambiguous and half characters, and what gutters are made of."""


def about(arguments: dict[str, Any], tool: str = "t") -> Question:
    """A question about a call with any arguments."""
    return Question(
        call_id="c",
        tool=tool,
        origin=Origin("mcp", "s", tool, fingerprint({}), claim={tool: tool}),
        level=SideEffectLevel.MUTATING,
        destructive=True,
        arguments=arguments,
        digest="d",
        reasons=(Reason("r", tool),),
        execution_id="e",
        session_id=None,
        principal=tool,
    )


LABELS = ("tool       ", "from       ", "can        ", "judged by  ", "why asked  ", "for        ")


@given(
    st.dictionaries(st.text(max_size=12) | STRANGE, JSON | DEEP | STRANGE, max_size=4),
    st.text(max_size=80) | STRANGE,
    st.integers(24, 120),
)
def test_every_line_fits_and_begins_with_what_is_ours(
    arguments: dict[str, Any], tool: str, width: int
) -> None:
    """No terminal breaks a line itself, and nothing of a stranger begins one."""
    asked = about(arguments, tool)
    for reveal in (False, True):
        question, _, shown = render_question(asked, width, reveal=reveal).partition("\narguments")
        for line in question.splitlines():
            assert f"{line:<11}".startswith((*LABELS, " " * 11, "-- a call needs"))
        for line in shown.splitlines()[1:]:
            assert line.startswith(("| ", "|> "))
        for line in f"{question}\n{shown}{render_summary(asked, 7, width)}".splitlines():
            assert width_of(line) <= width
            assert visible(line) == line


def test_depth_pushes_nothing_to_the_margin(asking_about: Changed) -> None:
    """What lies deeper than six levels is one text behind the gutter, whole."""
    fake = {"tool": "mcp__evil__read", "can": "only read", "arguments": "none"}
    text = render_question(asking_about(arguments={"x": nested([fake], 38, "k")}))
    lines = text.partition("arguments\n")[2].splitlines()
    assert max(map(len, lines)) <= 80
    assert all(line.startswith(("| ", "|> ")) for line in lines)
    whole = "".join(line.lstrip("|> ") for line in lines)
    assert 'tool: "mcp__evil__read", can: "only read", arguments: "none"' in whole


def test_any_depth_is_shown(asking_about: Changed) -> None:
    """No level is too many, for what is masked either."""
    asked = asking_about(arguments={"x": nested({"token": "abc-123"}, 20_000, "k")})
    assert has_secrets(asked)
    assert "abc-123" not in render_question(asked)
    assert "token: [masked, 7 characters]" in render_question(asked)
    assert 'token: "abc-123"' in render_question(asked, reveal=True)


def test_the_summary(question: Question) -> None:
    """The tool and what it can do once more, and how much stands above."""
    assert render_summary(question, 340, 60) == (
        "-- in short ------------------------------------------------\n"
        "tool       mcp__git__git_reset\n"
        "can        OVERWRITE, REMOVE OR INVALIDATE THINGS\n"
        "           (mutating, destructive)\n"
        "above      340 lines that belong to this question\n"
    )


def test_a_megabyte_is_rendered_quickly(asking_about: Changed) -> None:
    """By the length of the text, not by its square."""
    text = render_question(asking_about(arguments={"x": "lorem ipsum " * 100_000}))
    assert text.count("lorem") + text.count("lore\n") >= 99_000


def test_where_a_path_leads_is_marked(asking_about: Changed) -> None:
    """After the arguments, behind a mark that no argument can have; secret ones by their length."""
    resolved = {"path": "/etc/\u202ex\n/b", "token_file": "/secret"}
    question = asking_about(arguments={"path": "|! a", "token_file": "t"}, resolved=resolved)
    shown = render_question(question)
    assert shown.endswith(
        '| path: "|! a"\n'
        "| token_file: [masked, 1 character]\n"
        '|! "path" is really "/etc/\\u202ex"\n'
        '|! "path" is really "/b"\n'
        '|! "token_file" is really [masked, 7 characters]\n'
    )
    assert '"token_file" is really "/secret"' in render_question(question, reveal=True)
