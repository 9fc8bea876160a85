"""What a name and a schema suggest: never less than what any word in it says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.mcp.host.suggestion import suggest, words_of
from lockgate.traits import DestructiveBehavior, SideEffectLevel

R, M = SideEffectLevel.READ_ONLY, SideEffectLevel.MUTATING
D, N = DestructiveBehavior.DESTRUCTIVE, DestructiveBehavior.NON_DESTRUCTIVE


def _schema(*parameters: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": "string"} for name in parameters}}


READS = [
    *(("git_log", ("repo_path", "max_count")), ("git_diff_staged", ("repo_path",))),
    *(("read_text_file", ("path",)), ("listDirectory", ("path",)), ("search-files", ("pattern",))),
    *(("get_current_time", ("timezone",)), ("convert_time", ("time",)), ("GetUser", ())),
    *(("list_commands", ()), ("get_update_history", ()), ("fetch", ("url",)), ("status", ())),
]
ADDS = [
    *(("create_issue", ("title", "body")), ("add_comment", ("text",)), ("sendMessage", ("to",))),
    ("git_create_branch", ("repo_path", "branch_name")),
]
DESTROYS = [
    *(("git_reset", ("repo_path",)), ("write_file", ("path", "content")), ("move_file", ())),
    *(("get_and_delete", ()), ("list_and_purge", ()), ("kill_process", ()), ("run", ())),
    *(("query", ("sql",)), ("get_result", ("command",)), ("read_rows", ("statement",))),
    *(("list_files", ("recursive",)), ("get_file", ("force",)), ("create_file", ("path",))),
    *(("get_page", ("output_path",)), ("frobnicate", ()), ("", ()), ("사용자", ()), ("git", ())),
    *(("getDropTable", ()), ("create_or_replace", ()), ("execute_query", ("q",))),
]


@pytest.mark.parametrize(
    ("name", "parameters", "level", "destructive"),
    [
        *((name, parameters, R, N) for name, parameters in READS),
        *((name, parameters, M, N) for name, parameters in ADDS),
        *((name, parameters, M, D) for name, parameters in DESTROYS),
    ],
)
def test_the_strictest_word_counts(
    name: str,
    parameters: tuple[str, ...],
    level: SideEffectLevel,
    destructive: DestructiveBehavior,
) -> None:
    """Reading words in front, adding words anywhere, destroying ones and parameters over all."""
    found = suggest(name, _schema(*parameters), server="git")
    assert (found.level, found.destructive) == (level, destructive), found.reasons
    assert found.reasons


def test_a_description_can_only_make_it_stricter() -> None:
    """PB-132: a tool called list_users that says it deletes is no read; one that says it reads, and
    is called drop, is no read either."""
    assert suggest("list_users", {}, "Deletes all users.").destructive is D
    assert suggest("drop_users", {}, "Read-only, perfectly safe.").destructive is D


def test_parameters_inside_of_others_are_seen() -> None:
    """In an object, and in the items of an array."""
    inside = {"type": "object", "properties": {"options": _schema("force")}}
    items = {"type": "object", "properties": {"steps": {"type": "array", "items": _schema("sql")}}}
    assert suggest("get_it", inside).destructive is D
    assert suggest("get_it", items).destructive is D


def test_names_are_cut_into_words() -> None:
    """However a server writes them."""
    for name in ("readTextFile", "read_text_file", "read-text.file", "ReadTextFILE"):
        assert words_of(name) == ("read", "text", "file")


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inside: (
        st.lists(inside, max_size=3)
        | st.dictionaries(st.sampled_from(["properties", "items", "sql", "x"]), inside, max_size=3)
    ),
)


@given(st.text(), st.dictionaries(st.sampled_from(["properties", "type"]), _anything), st.text())
def test_it_never_fails_and_never_says_read_only_and_destructive(
    name: str, schema: dict[str, Any], description: str
) -> None:
    """Whatever a server has written."""
    found = suggest(name, schema, description)
    assert found.reasons
    assert found.level is M or found.destructive is N


@given(
    st.sampled_from([*READS, *ADDS]),
    st.sampled_from(["delete", "purge", "overwrite", "drop"]),
    st.booleans(),
)
def test_adding_a_word_that_destroys_always_makes_it_destructive(
    known: tuple[str, tuple[str, ...]], word: str, in_name: bool
) -> None:
    """In the name, or as a parameter's."""
    name, parameters = known
    if in_name:
        name = f"{name}_{word}"
    else:
        parameters = (*parameters, word)
    if word == "drop" and not in_name:
        return
    assert suggest(name, _schema(*parameters)).destructive is D
