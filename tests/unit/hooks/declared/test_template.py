"""Templates insert values, once, and never read them again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.hooks.declared.template import (
    MAX_DEPTH,
    NotThere,
    Reference,
    TemplateError,
    parse_template,
    references,
    render,
    written,
)

TEXT = st.text(alphabet="{}\\abc.$tool_input context env \"'\n\u202e\u00e9", max_size=30)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.from_regex(r"[A-Za-z0-9_$-]{1,8}", fullmatch=True)


def rendered(template: Any, **data: Any) -> Any:
    """What a template makes of this data."""
    return render(parse_template(template), data, {})


@given(VALUES)
def test_a_value_that_is_the_whole_text_keeps_its_type_and_is_not_read_again(value: Any) -> None:
    """Whatever stands for it, a template among them, comes out as it went in."""
    assert rendered("{{tool_input.x}}", tool_input={"x": value}) == value
    assert rendered(["{{ tool_input }}"], tool_input={"x": value}) == [{"x": value}]


@given(TEXT, TEXT, TEXT)
def test_a_text_inside_a_text_is_put_in_as_it_is(before: str, value: str, after: str) -> None:
    """Nothing in a value ends the text it stands in, or is taken for another reference."""
    template = f"{before.replace('{', '(')}{{{{tool_input.x}}}}{after.replace('{', '(')}"
    if template.startswith("\\{{") or "\\{{" in template:
        return  # written so, it is a literal
    expected = template.replace("{{tool_input.x}}", value)
    assert rendered(template, tool_input={"x": value}) == expected


@given(VALUES)
def test_what_it_was_written_as_reads_as_the_same_template(value: Any) -> None:
    """What a person is told before accepting a hook is what the hook does."""
    try:
        template = parse_template(value)
    except TemplateError:
        return
    assert parse_template(written(template)) == template


@given(st.lists(NAMES, min_size=1, max_size=4), VALUES)
def test_paths_lead_through_objects(path: list[str], value: Any) -> None:
    """A path of names leads to what stands there; one further leads to nothing."""
    data: Any = value
    for name in reversed(path):
        data = {name: data}
    assert rendered(f"{{{{tool_input.{'.'.join(path)}}}}}", tool_input=data) == value
    if not isinstance(value, dict | list):
        with pytest.raises(NotThere):
            rendered(f"{{{{tool_input.{'.'.join(path)}.more}}}}", tool_input=data)


def test_scalars_become_text_inside_a_text() -> None:
    """Numbers and switches as JSON writes them; what has no text fails."""
    data: dict[str, Any] = {"n": 3, "f": 0.5, "t": True, "z": None, "s": "x", "o": {}, "l": [1]}
    template = (
        "{{tool_input.n}} {{tool_input.f}} {{tool_input.t}} {{tool_input.z}} {{tool_input.s}}"
    )
    assert rendered(template, tool_input=data) == "3 0.5 true null x"
    for name in ("o", "l"):
        with pytest.raises(NotThere, match="inside a text"):
            rendered(f"a {{{{tool_input.{name}}}}}", tool_input=data)


def test_positions_in_lists_count_from_0() -> None:
    """A position beyond the end leads to nothing, and none counts from the end."""
    assert rendered("{{tool_input.a.1.b}}", tool_input={"a": [0, {"b": "x"}]}) == "x"
    for wrong in ("2", "-1", "x", "00000000000"):
        with pytest.raises(NotThere, match="leads to nothing"):
            rendered(f"{{{{tool_input.a.{wrong}}}}}", tool_input={"a": [0, 1]})


def test_variables_are_looked_up_among_the_listed_ones_alone() -> None:
    """A listed variable that is not set fails the hook; one that is not listed is no template."""
    template = parse_template("{{env.TEAM}}", frozenset({"TEAM"}))
    assert render(template, {}, {"TEAM": "{{tool_input}}"}) == "{{tool_input}}"
    with pytest.raises(NotThere, match="is not set"):
        render(template, {}, {})
    with pytest.raises(TemplateError, match="no variable that hooks may use") as caught:
        parse_template({"a": ["{{env.HOME}}"]}, frozenset({"TEAM"}))
    assert (caught.value.where, caught.value.hint) == (
        ".a[0]",
        "list it: hookVariables: [HOME]",
    )


def test_context_is_the_whole_of_what_is_told() -> None:
    """`context` alone is everything, `context.x` one thing of it."""
    data = {"tool_name": "Read", "tool_input": {"path": "a"}}
    assert rendered({"all": "{{context}}", "one": "{{context.tool_input.path}}"}, **data) == {
        "all": data,
        "one": "a",
    }


def test_an_event_about_no_call_has_no_arguments() -> None:
    """There `tool_input` leads to nothing, and says why."""
    with pytest.raises(NotThere, match="about no call"):
        rendered("{{tool_input}}", hook_event_name="turn_start")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{{", "without its"),
        ("a {{tool_input.x} b", "without its"),
        ("{{}}", "begins with none"),
        ("{{input.x}}", "begins with none"),
        ("{{tool_input..x}}", "can not be read"),
        ("{{tool_input.a b}}", "can not be read"),
        ("{{env}}", "names no variable"),
        ("{{env.A.B}}", "names no variable"),
        ("{{{tool_input.x}}}", "begins with none"),
    ],
)
def test_what_is_no_template(text: str, why: str) -> None:
    """Said when the configuration is read, with what to write."""
    with pytest.raises(TemplateError, match=why) as caught:
        parse_template(text)
    assert caught.value.hint


def test_a_literal_brace_is_written_with_a_backslash() -> None:
    """And names of members are never templates."""
    assert rendered("\\{{tool_input.x}} {{tool_input.x}}", tool_input={"x": 1}) == (
        "{{tool_input.x}} 1"
    )
    with pytest.raises(TemplateError, match="name of a member"):
        parse_template({"{{tool_input.x}}": 1})


def test_its_depth_is_bounded() -> None:
    """A template nested deeper is refused when it is read."""
    deep: Any = "x"
    for _ in range(MAX_DEPTH):
        deep = [deep]
    parse_template(deep)
    with pytest.raises(TemplateError, match="levels deep"):
        parse_template([deep])


def test_its_references_are_known() -> None:
    """In order, whatever they stand in."""
    template = parse_template({"a": ["{{env.A}}", "x{{tool_input}}y"], "b": 3})
    assert list(references(template)) == [Reference("env", ("A",)), Reference("tool_input", ())]
    assert "env" not in json.dumps(repr(template))
