"""The tools over knowledge on the road: what each does, what is asked about, what is refused."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import stat
import unicodedata
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.builtin.catalogue import in_tree
from lockgate.decision import Decision
from lockgate.errors import ConfigError
from lockgate.rules.parse import parse_rule
from lockgate.rules.rule import RuleSet
from lockgate.testing.road import Road
from lockgate.tools.result import ErrorKind, ToolResult

Keep = Callable[..., Awaitable[ToolResult]]


def there(path: Path) -> bool:
    """Whether a path exists."""
    return path.exists()


async def test_a_document_is_kept_and_found(keep: Keep, kept: Path) -> None:
    """By its words, with what shows why; by its id, in full. The file is its owner's alone."""
    await keep(
        "knowledge_add", id="deploy", title="배포 절차", content="서버를 재시작한다.\nThen wait."
    )
    found = await keep("knowledge_search", query="서버 wait")
    assert found.text == (
        "1 of 1 documents, the best first\n"
        "deploy: 배포 절차 (21 characters)\n    서버를 재시작한다. Then wait."
    )
    assert found.structured["documents"][0]["id"] == "deploy"
    whole = await keep("knowledge_search", id="deploy")
    assert whole.text.endswith("\n서버를 재시작한다.\nThen wait.")
    assert whole.structured["content"] == "서버를 재시작한다.\nThen wait."
    assert stat.S_IMODE((kept / "knowledge.db").stat().st_mode) == 0o600


@pytest.mark.req("S0-18")
async def test_adding_the_same_again_changes_nothing(keep: Keep) -> None:
    """A repeated call is a success that says so: that is what makes it safe to make again."""
    first = await keep("knowledge_add", id="a", title="T", content="x")
    second = await keep("knowledge_add", id="a", title=" T ", content="x")
    assert (first.text, second.text) == ("a: added", "a: already there, nothing changed")
    assert (first.structured["added"], second.structured["added"]) == (True, False)
    assert not second.is_error


@pytest.mark.parametrize("changed", [{"content": "y"}, {"title": "other"}])
async def test_adding_never_overwrites(keep: Keep, changed: dict[str, str]) -> None:
    """Other content under a known id is refused, and what was there stays."""
    await keep("knowledge_add", id="a", content="x")
    refused = await keep("knowledge_add", **{"id": "a", "content": "x", **changed})
    assert (refused.kind, refused.reason) == (ErrorKind.TOOL_ERROR, "taken")
    assert (await keep("knowledge_search", id="a")).structured == {
        "id": "a",
        "title": "",
        "content": "x",
    }


async def test_replacing_and_removing(keep: Keep) -> None:
    """What stood there is found no more; a repeat changes nothing and says so."""
    await keep("knowledge_add", id="a", title="T", content="apple")
    assert (await keep("knowledge_replace", id="a", content="pear")).text == "a: replaced"
    assert (await keep("knowledge_replace", id="a", content="pear")).text == "a: says so already"
    assert (await keep("knowledge_search", query="apple")).structured["found"] == 0
    assert (await keep("knowledge_search", query="pear")).structured["found"] == 1
    assert (await keep("knowledge_remove", id="a")).text == "a: removed"
    again = await keep("knowledge_remove", id="a")
    assert again.text == "a: is not there; nothing was removed"
    assert not again.is_error
    absent = await keep("knowledge_replace", id="a", content="x")
    assert (absent.kind, absent.reason) == (ErrorKind.TOOL_ERROR, "absent")
    assert (await keep("knowledge_search", id="a")).reason == "absent"


async def test_searching_makes_no_file(keep: Keep, kept: Path) -> None:
    """Reading writes nothing, also where there is nothing yet."""
    assert (await keep("knowledge_search", query="x")).text.startswith("nothing is kept yet")
    assert (await keep("knowledge_search")).text.startswith("nothing is kept yet")
    assert not there(kept)


async def test_documents_are_ranked_and_bounded(keep: Keep) -> None:
    """A title counts for more than the text; only so many are shown; the others are counted."""
    await keep("knowledge_add", id="text", content="about backups, and much else")
    await keep("knowledge_add", id="title", title="Backups", content="how they are made")
    for number in range(5):
        await keep("knowledge_add", id=f"other-{number}", content="something else")
    best = await keep("knowledge_search", query="backup", limit=1)
    assert [one["id"] for one in best.structured["documents"]] == ["title"]
    assert best.structured["found"] == 2
    listed = await keep("knowledge_search", limit=2)
    assert listed.text.startswith("2 of 7 documents, the newest first\nother-4 (14 characters)")


async def test_some_of_the_words_are_better_than_none(keep: Keep) -> None:
    """And the result says that not all were there."""
    await keep("knowledge_add", id="a", content="apple")
    await keep("knowledge_add", id="b", content="pear")
    result = await keep("knowledge_search", query="apple pear plum")
    assert "none has all of the words" in result.text
    assert {one["id"] for one in result.structured["documents"]} == {"a", "b"}
    assert result.structured["allWords"] is False


@pytest.mark.parametrize(
    "query", ['a" OR "b', "content:a", "NEAR(a b)", "a*", "-a", "^a", "'; DROP"]
)
async def test_a_query_is_never_syntax(keep: Keep, query: str) -> None:
    """It is words, whatever stands between them."""
    await keep("knowledge_add", id="x", content="nothing of the kind")
    assert not (await keep("knowledge_search", query=query)).is_error


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"query": "!!"}, "no_words"),
        ({"query": "a", "id": "b"}, "both"),
        ({"id": "a b"}, "bad_id"),
        ({"id": "../x"}, "bad_id"),
        ({"id": "a\u3164"}, "bad_id"),
        ({"id": "a\n"}, "bad_id"),
    ],
)
async def test_what_can_not_be_searched_is_told(
    keep: Keep, arguments: dict[str, Any], reason: str
) -> None:
    """Before anything is looked up, and after."""
    await keep("knowledge_add", id="x", content="x")
    result = await keep("knowledge_search", **arguments)
    assert (result.kind, result.reason) == (ErrorKind.INVALID_ARGUMENTS, reason)


@pytest.mark.parametrize("content", ["\ud800", "a\0b"])
async def test_what_is_no_text_is_not_kept(keep: Keep, kept: Path, content: str) -> None:
    """SQLite would keep something else, or nothing."""
    result = await keep("knowledge_add", id="x", content=content)
    assert result.kind is ErrorKind.INVALID_ARGUMENTS
    assert not there(kept)


async def test_an_id_is_the_same_however_it_is_typed(keep: Keep) -> None:
    """Composed or in parts, a Korean id is one."""
    await keep("knowledge_add", id="배포", content="x")
    again = await keep("knowledge_add", id=unicodedata.normalize("NFD", "배포"), content="x")
    assert again.structured == {"id": "배포", "added": False}


async def test_what_may_be_asked_about(keeping_road: Callable[..., Road]) -> None:
    """Searching is not; adding is, by default; replacing and removing always are."""
    road = keeping_road(attended=[])
    assert not (await road.invoke(road.call("knowledge_search"))).is_error
    changes = {
        "knowledge_add": {"id": "a", "content": "x"},
        "knowledge_replace": {"id": "a", "content": "x"},
        "knowledge_remove": {"id": "a"},
    }
    for name, arguments in changes.items():
        refused = await road.invoke(road.call(name, arguments))
        assert refused.kind is ErrorKind.NOT_APPROVED, name


@pytest.mark.req("S0-08")
async def test_rules_answer_by_id(keeping_road: Callable[..., Road]) -> None:
    """Adding by an id's pattern; what destroys only where the rule says so."""
    add = parse_rule("knowledge_add(id=deploy/*, ...)", Decision.ALLOW, source="a test")
    drop = parse_rule(
        "knowledge_remove(id=tmp/*)", Decision.ALLOW, source="a test", destructive=True
    )
    road = keeping_road(attended=[], rules=RuleSet((add, drop)))
    kept = await road.invoke(road.call("knowledge_add", {"id": "deploy/a", "content": "x"}))
    assert not kept.is_error, kept.text
    other = await road.invoke(road.call("knowledge_add", {"id": "b", "content": "x"}))
    assert other.kind is ErrorKind.NOT_APPROVED
    assert not (await road.invoke(road.call("knowledge_remove", {"id": "tmp/a"}))).is_error
    refused = await road.invoke(road.call("knowledge_remove", {"id": "deploy/a"}))
    assert refused.kind is ErrorKind.NOT_APPROVED
    with pytest.raises(ConfigError):
        parse_rule("knowledge_remove(id=tmp/*)", Decision.ALLOW, source="a test")


async def test_nothing_that_is_kept_is_in_an_error_or_a_log(
    keep: Keep, kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever goes wrong."""
    caplog.set_level(logging.DEBUG)
    word = "hunter2theword"
    await keep("knowledge_add", id="a", content=word)
    taken = await keep("knowledge_add", id="a", content=f"{word} more")
    (kept / "knowledge.db").write_bytes(b"x" * 4096)
    damaged = await keep("knowledge_add", id="b", content=word)
    looked = await keep("knowledge_search", query=word)
    assert damaged.is_error
    assert word not in taken.text + damaged.text + looked.text + caplog.text


async def test_a_call_that_is_given_up_keeps_nothing(keep: Keep, kept: Path) -> None:
    """Cancelled while another process writes, it ends, and nothing comes of it later."""
    await keep("knowledge_add", id="a", content="x")
    other = sqlite3.connect(kept / "knowledge.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = asyncio.ensure_future(keep("knowledge_add", id="b", content="x"))
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await asyncio.shield(waiting)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    other.close()
    assert (await keep("knowledge_search")).structured["found"] == 1


async def test_an_execution_without_a_place_says_so(make_plain: Callable[..., Any]) -> None:
    """No database is guessed."""
    result = await make_plain(in_tree(["knowledge_search"], {}), "knowledge_search", {})
    assert "no place for knowledge" in result.text


def test_all_that_write_hold_one_lane() -> None:
    """Calls of one reply take effect in their order."""
    tools = in_tree(["knowledge_add", "knowledge_replace", "knowledge_remove"], {})
    assert {tool.lane for tool in tools} == {"knowledge"}
