"""Suggestions as servers send them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lockgate.mcp.protocol.completion import MAX_VALUES, Completed, parse_completion
from lockgate.mcp.protocol.jsontext import Unreadable


def completed(completion: Any) -> Completed:
    """What is read of it."""
    return parse_completion(json.dumps({"completion": completion}).encode())


@pytest.mark.req("S3-19")
def test_suggestions_are_texts_in_order() -> None:
    """With how many there are in all, where the server says."""
    found = completed({"values": ["python", "pytorch"], "total": 10, "hasMore": True})
    assert found == Completed(("python", "pytorch"), 10, True)


@pytest.mark.parametrize("completion", [None, [], {}, {"values": None}, {"values": {"a": 1}}])
def test_without_suggestions_there_are_none(completion: Any) -> None:
    """With a remark: a person goes on typing."""
    found = completed(completion)
    assert found.values == ()
    assert found.remarks


def test_what_is_no_text_does_not_count_and_a_hundred_are_enough() -> None:
    """The specification has no more in one answer."""
    found = completed({"values": [5, "a", None], "total": -1, "hasMore": "yes"})
    assert (found.values, found.total, found.has_more) == (("a",), None, False)
    many = completed({"values": [str(number) for number in range(150)]})
    assert (len(many.values), many.has_more) == (MAX_VALUES, True)


@pytest.mark.parametrize("result", ["[]", "null", "5", "{"])
def test_what_is_no_object_is_no_answer(result: str) -> None:
    """It is an error."""
    with pytest.raises(Unreadable):
        parse_completion(result.encode())
