"""What a model is shown of a result: all of it, or head and tail with the size of what is gone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.agent.clip import clip, clip_batch, cut, fair_cap
from lockgate.agent.limits import TurnLimits
from lockgate.content import EmbeddedResource, Image, Text, UnknownContent
from lockgate.tools.result import ErrorKind, ToolResult

LIMITS = TurnLimits()
NOTE = re.compile(r"\n\[\.\.\. ([\d,]+) of ([\d,]+) characters left out here \.\.\.\]\n")


def _clip(result: ToolResult, characters: int = 1000, media: int = 1000) -> ToolResult:
    return clip(result, characters, media)


def test_a_result_within_the_limits_is_the_very_same_object() -> None:
    """Nothing is copied where nothing is too long."""
    result = ToolResult.of("x" * 1000, structured={"a": 1})
    assert _clip(result) is result


@given(st.text(min_size=0, max_size=400), st.integers(min_value=2, max_value=200))
def test_cut_keeps_head_and_tail_and_names_the_sizes(text: str, limit: int) -> None:
    """Head and tail are the text's own, the note says how much is gone and how long it was."""
    short = cut(text, limit)
    if len(text) <= limit:
        assert short == text
        return
    found = NOTE.search(short)
    assert found is not None
    head, tail = short[: found.start()], short[found.end() :]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert limit - 2 <= len(head) + len(tail) <= limit
    assert int(found[1].replace(",", "")) == len(text) - len(head) - len(tail)
    assert int(found[2].replace(",", "")) == len(text)


def test_a_surrogate_pair_is_never_cut_in_two() -> None:
    """Half a pair at either side of the cut goes with its other half."""
    pairs = "\ud83d\ude00" * 100  # two code points each, as a careless peer writes them
    for limit in range(4, 12):
        short = cut(pairs, limit)
        found = NOTE.search(short)
        assert found is not None
        for part in (short[: found.start()], short[found.end() :]):
            assert len(part) % 2 == 0
            assert part == pairs[: len(part)]


@pytest.mark.parametrize(
    "text", ["x" * 5_000_000, "short line\n" * 100_000], ids=["one long line", "many short lines"]
)
def test_a_text_over_the_limit_is_cut(text: str) -> None:
    """The limit holds whatever the shape of the text."""
    shown = clip(ToolResult.of(text), LIMITS.result_characters, LIMITS.media_characters)
    assert len(shown.text) < LIMITS.result_characters + 100
    assert f"of {len(text):,} characters" in shown.text


def test_many_small_blocks_are_cut_as_one_text() -> None:
    """The limit is one for all the blocks of a result together."""
    result = ToolResult(tuple(Text("line") for _ in range(100_000)))
    assert len(_clip(result).content) == 1
    assert len(_clip(result).text) < 1100


def test_an_error_is_cut_and_stays_an_error() -> None:
    """Kind and reason are kept: it is only the text that is too long."""
    shown = _clip(ToolResult.error(ErrorKind.TOOL_ERROR, "e" * 5000, reason="raised"))
    assert (shown.is_error, shown.kind, shown.reason) == (True, ErrorKind.TOOL_ERROR, "raised")
    assert NOTE.search(shown.text)


def test_structured_content_over_the_limit_does_not_stay_with_the_result() -> None:
    """A long run does not hoard it; within the limit programs keep it."""
    large = _clip(ToolResult.of("see structured", structured={"a": "x" * 5000}))
    assert (large.structured, large.text) == (None, "see structured")


def test_structured_content_that_is_no_json_does_not_break_the_turn() -> None:
    """Nesting that exhausts the stack counts as over the limit."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert _clip(ToolResult.of("deep", structured=deep)) == ToolResult.of("deep")


def test_media_over_the_limit_gives_way_to_a_line() -> None:
    """What fits is kept whole, in order; what does not is named with its size."""
    small, large = Image("A" * 800, "image/png"), Image("B" * 4000, "image/png")
    shown = _clip(ToolResult((Text("two"), large, small)))
    assert shown.content[0] == Text("two")
    assert "3000 bytes] (left out" in shown.content[1].as_text()
    assert shown.content[2] is small


def test_media_survives_when_the_text_is_cut() -> None:
    """Only the text is too long, so only the text is cut."""
    image = Image("A" * 800, "image/png")
    shown = _clip(ToolResult((Text("t" * 5000), image)))
    assert shown.content[1] is image


def test_ten_long_results_of_one_reply_share_the_batch_limit() -> None:
    """All together are within the limit of the batch; the short ones stay whole."""
    results = [ToolResult.of("x" * 100_000) for _ in range(10)] + [ToolResult.of("short")]
    shown = clip_batch(results, LIMITS)
    assert sum(len(r.text) for r in shown) < LIMITS.batch_characters + 1000
    assert shown[-1] is results[-1]
    assert all("of 100,000 characters" in r.text for r in shown[:-1])


@given(st.lists(st.integers(min_value=0, max_value=1000)), st.integers(min_value=0, max_value=5000))
def test_a_fair_cap_fits_and_is_the_largest(sizes: list[int], total: int) -> None:
    """Under the cap all fit; one more for each that is cut would not."""
    cap = fair_cap(sizes, total)
    assert sum(min(size, cap) for size in sizes) <= max(total, 0)
    if sum(sizes) > total:
        assert sum(min(size, cap + 1) for size in sizes) > total


def test_limits_that_can_not_be_meant_are_refused() -> None:
    """A bound of nothing is a mistake, not a setting."""
    for wrong in (
        {"iterations": 0},
        {"seconds": 0},
        {"tokens": 0},
        {"repeated_failures": 0},
        {"result_characters": 10},
        {"batch_characters": 10},
        {"media_characters": -1},
    ):
        with pytest.raises(ValueError, match=r"must be|can not be"):
            TurnLimits(**wrong)


def test_files_count_as_images_do() -> None:
    """Base64 that is too much is a line of text, whatever it is of."""
    kept, left = EmbeddedResource("a:1", blob="A" * 600), EmbeddedResource("a:2", blob="A" * 404)
    short = _clip(ToolResult((kept, left, Image("A" * 400, "image/png"))))
    assert short.content == (
        kept,
        Text("[resource a:2, binary, 303 bytes] (left out: too large to be shown)"),
        Image("A" * 400, "image/png"),
    )


def test_what_no_model_reads_is_not_hoarded() -> None:
    """A block of an unknown type and `_meta` stay for programs, unless they are large."""
    small = ToolResult((UnknownContent("h", {"x": 1}),), meta={"a": 1})
    assert _clip(small) is small
    large = ToolResult((UnknownContent("h", {"x": "y" * 2000}),), meta={"a": "b" * 2000})
    short = _clip(large)
    assert short.content == (Text(large.text),)
    assert short.meta is None


def test_a_file_stays_beside_a_text_that_is_cut() -> None:
    """Cutting the text takes nothing away from what is shown beside it."""
    file = EmbeddedResource("a:1", blob="AAAA")
    short = _clip(ToolResult((Text("x" * 5000), file)))
    assert short.content[1:] == (file,)
    assert len(short.text) < 1200
