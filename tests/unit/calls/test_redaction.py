"""What a record may hold of arguments when the operator wants them in it."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lockgate.calls.redaction import LEFT_OUT, MAX_ITEMS, MAX_TEXT, redacted

SECRET = "hunter2-hunter2"  # noqa: S105 - stands in for one
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=10,
)


def test_secrets_are_masked_at_any_depth() -> None:
    """By the name of the key, whatever stands behind it."""
    shown = redacted(
        {
            "password": SECRET,
            "headers": [{"Authorization": SECRET}, {"apiKey": {"inner": SECRET}}],
            "db": {"connection_string": [SECRET]},
            "path": "a.txt",
        }
    )
    assert SECRET not in str(shown)
    assert shown["path"] == "a.txt"
    assert shown["password"] == f"[masked, {len(SECRET)} characters]"


def test_long_values_are_cut_and_say_so() -> None:
    """A record has a bound, and what is missing in it is told."""
    shown = redacted(
        {
            "text": "x" * (MAX_TEXT + 5),
            "list": list(range(MAX_ITEMS + 7)),
            "map": {f"k{number}": number for number in range(MAX_ITEMS + 1)},
        }
    )
    assert shown["text"].endswith("x[cut, 5 more characters]")
    assert (len(shown["list"]), shown["list"][-1]) == (MAX_ITEMS + 1, "[7 more left out]")
    assert (len(shown["map"]), shown["map"][LEFT_OUT]) == (MAX_ITEMS + 1, 1)


@given(st.dictionaries(st.text(max_size=8), JSON), st.sampled_from(["token", "clientSecret"]))
def test_nothing_behind_a_secret_name_is_ever_left(arguments: dict[str, Any], name: str) -> None:
    """However it is nested; and the arguments themselves are not touched."""
    given_ = {**arguments, name: [SECRET, {"a": SECRET}], "more": [{name: SECRET}]}
    before = repr(given_)
    assert SECRET not in repr(redacted(given_))
    assert repr(given_) == before
