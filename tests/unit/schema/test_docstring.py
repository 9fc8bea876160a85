"""Docstrings: the three common forms, and everything else left as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.schema.docstring import read_docstring

GOOGLE = """Find things.

    Looks everywhere.

    Args:
        query (str): what to look for,
            in any language
        limit: how many
        *rest: nothing

    Returns:
        What was found.
    """

NUMPY = """Find things.

    Looks everywhere.

    Parameters
    ----------
    query : str
        what to look for,
        in any language
    limit
        how many

    Returns
    -------
    list
        What was found.
    """

SPHINX = """Find things.

    Looks everywhere.

    :param str query: what to look for,
        in any language
    :type query: str
    :param limit: how many
    :returns: What was found.
    """


@pytest.mark.parametrize("text", [GOOGLE, NUMPY, SPHINX], ids=["google", "numpy", "sphinx"])
def test_the_common_forms_are_read(text: str) -> None:
    """Parameters on one line each; what is not about them stays in the description."""
    documented = read_docstring(text)
    assert documented.parameters["query"] == "what to look for, in any language"
    assert documented.parameters["limit"] == "how many"
    assert documented.description.startswith("Find things.\n\nLooks everywhere.")
    assert "What was found." in documented.description
    assert "how many" not in documented.description


def test_a_docstring_without_parameters_is_all_description() -> None:
    """Word for word, without its indentation."""
    assert (
        read_docstring("One.\n\n    Two:\n        three").description == "One.\n\nTwo:\n    three"
    )


@pytest.mark.parametrize("text", [None, "", "   \n  "])
def test_nothing_said_is_nothing(text: str | None) -> None:
    """No docstring is an empty one."""
    documented = read_docstring(text)
    assert (documented.description, documented.parameters) == ("", {})


def test_a_parameter_of_which_nothing_is_said_is_absent() -> None:
    """An empty description describes nothing."""
    assert read_docstring("X.\n\nArgs:\n    a:\n    b: yes").parameters == {"b": "yes"}


@given(st.text(alphabet=st.sampled_from("Args:\n -:param xParameters\n---- \t"), max_size=200))
def test_any_text_is_read(text: str) -> None:
    """Whatever it looks like, nothing is raised and no line is read twice."""
    documented = read_docstring(text)
    assert len(documented.description) <= len(text.expandtabs())
