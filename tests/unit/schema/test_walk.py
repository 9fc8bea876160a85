"""Where schemas stand inside a schema: two ways through it that have to find the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lockgate.schema.walk import depth_and_size, nodes, schemas

KEYWORDS = st.sampled_from(
    ["properties", "items", "allOf", "not", "$defs", "enum", "const", "default", "$ref", "type"]
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYWORDS, inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(KEYWORDS, ANYTHING, max_size=5))
def test_both_ways_through_a_schema_find_the_same(schema: dict[str, Any]) -> None:
    """`schemas` gives what `nodes` gives, its root first: a bound that is looked for by the one
    holds for the other."""
    found = schemas(schema)
    assert found[0] is schema
    assert sorted(map(id, found)) == sorted(id(node) for _, node in nodes(schema))


def test_a_schema_in_data_is_none() -> None:
    """What stands under `const`, `default` and `enum` is data, whatever it looks like."""
    schema: dict[str, Any] = {
        "const": {"$ref": "#/x"},
        "default": {"type": "object"},
        "enum": [{"not": {}}],
    }
    assert schemas(schema) == [schema]


def test_size_counts_every_value() -> None:
    """Keys count for nothing; tuples nest as lists do."""
    assert depth_and_size({"a": [1, (2, 3)], "b": "c"}, 9, 99) == (3, 7)
    assert depth_and_size("text", 9, 99) == (0, 1)
