"""Every case of the list is shown by a test that names it, or waits and says for what."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
CASES = TESTS / "data" / "field-cases.jsonl"
WAITING = Path(__file__).with_name("WAITING.md")
LISTED = re.compile(r"- (?P<id>PB-\d{3}): (?P<what>\S.*)")


def cases() -> list[str]:
    """The ids of the list, in its order."""
    return [json.loads(line)["id"] for line in CASES.read_text("utf-8").splitlines()]


def waiting(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Id to what it waits for: the cases that wait as a whole, and those that do in part."""
    _, whole, part = re.split(r"^## .*$", text, flags=re.MULTILINE)
    return listed(whole), listed(part)


def listed(text: str) -> dict[str, str]:
    """Id to what it waits for, of one section."""
    matches = [LISTED.fullmatch(line) for line in text.splitlines()]
    return {match["id"]: match["what"] for match in matches if match}


def shown(source: str) -> set[str]:
    """The cases that tests of a file are of: by their name, or by an id in their docstring.

    `test_pb_128_131_…` is of two; a letter after a number is for a part of its scenario.
    """
    tests = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
    ]
    named = [re.match(r"test_pb((?:_\d{3})+)[a-z]?_", test.name) for test in tests]
    texts = [match[1] for match in named if match]
    texts += re.findall(r"PB-\d{3}", " ".join(ast.get_docstring(test) or "" for test in tests))
    return {f"PB-{number}" for text in texts for number in re.findall(r"\d{3}", text)}


def all_shown() -> set[str]:
    """The same of all tests."""
    return {name for file in TESTS.rglob("test_*.py") for name in shown(file.read_text("utf-8"))}


def test_every_case_is_shown_or_waits() -> None:
    """Nothing of the list is forgotten, and nothing is tested that the list does not know."""
    whole, part = waiting(WAITING.read_text("utf-8"))
    assert sorted(set(cases()) - all_shown() - set(whole)) == []
    assert sorted((all_shown() | set(whole) | set(part)) - set(cases())) == []
    assert len(cases()) == len(set(cases()))


def test_what_waits_is_not_shown_already() -> None:
    """The list of those that wait ends with what it waited for; a part of one is of one shown."""
    whole, part = waiting(WAITING.read_text("utf-8"))
    assert sorted(set(whole) & all_shown()) == []
    assert sorted(set(part) - all_shown()) == []


def test_each_that_waits_is_listed_once_and_in_order() -> None:
    """In the form that is read above: a line of another form would pass unseen."""
    text = WAITING.read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert [line for line in lines if not LISTED.fullmatch(line)] == []
    whole, part = waiting(text)
    assert len(whole) + len(part) == len(lines)
    assert (list(whole), list(part)) == (sorted(whole), sorted(part))


def test_a_name_says_its_cases() -> None:
    """One, several, one with a letter, one in a docstring; nothing else of a file counts."""
    code = "def test_pb_001_x(): ...\nasync def test_pb_002_003_y(): ...\n"
    code += "def test_pb_004a_z(): ...\ndef test_z():\n    'So it is (PB-005).'\n"
    code += "def pb_006(): 'Of PB-006.'\nPB_007 = 'PB-007'\n"
    assert sorted(shown(code)) == [f"PB-00{number}" for number in range(1, 6)]
    text = "# x\n\n## a\n\n- PB-001: one\n- PB-2: no\n\n## b\n\n- PB-003: more\n"
    assert waiting(text) == ({"PB-001": "one"}, {"PB-003": "more"})
