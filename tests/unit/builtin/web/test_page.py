"""A page as text: what a person would read, with links, and in bounded time."""

from __future__ import annotations

import pytest

from lockgate.builtin.web.page import read_page


def test_a_page_becomes_markdown() -> None:
    """Headings, links with whole addresses, lists, tables and code; header and navigation too."""
    page = read_page(
        "<title>A &amp;\n B</title><header>Head</header><nav><a href=/n>Nav</a></nav>"
        "<h1>One</h1><p>Some <b>bold</b> <a href='x?y=1'>link</a></p><ul><li>a<li>b</ul>"
        "<table><tr><th>k<th>v<tr><td>1<td>2</table><pre>  code</pre><p>한국어</p>",
        "https://a.de/docs/",
    )
    assert page.title == "A & B"
    assert page.whole
    for part in (
        "Head",
        "[Nav](https://a.de/n)",
        "# One",
        "**bold** [link](https://a.de/docs/x?y=1)",
        "- a\n- b",
        "| 1 | 2 |",
        "  code",
        "한국어",
    ):
        assert part in page.text


def test_a_title_is_said_once() -> None:
    """Before the text, unless the text begins with it."""
    assert read_page("<title>T</title><p>x", "https://a.de/").text == "T\n\nx"
    assert read_page("<title>T</title><h1>T</h1>x", "https://a.de/").text == "# T\n\nx"
    assert read_page("<title>T</title>", "https://a.de/").text == "T"


def test_what_nobody_sees_is_left_out() -> None:
    """Scripts, styles, comments, hidden elements and the bytes of inline images."""
    page = read_page(
        "<script>S1</script><style>S2</style><!-- S3 --><p hidden>S4</p>"
        "<p style='display: none'>S5</p><template>S6</template>"
        "<img alt=dot src='data:image/png;base64,S7S7'><p>seen",
        "https://a.de/",
    )
    assert "seen" in page.text
    assert "dot" in page.text
    assert not [f"S{number}" for number in range(1, 8) if f"S{number}" in page.text]


@pytest.mark.parametrize(
    "source",
    ["<div>" * 50_000 + "x", "<ul><li>" * 20_000],
)
def test_what_nests_without_end_is_told(source: str) -> None:
    """It costs no stack, and that something is missing is known."""
    assert not read_page(source, "https://a.de/").whole


@pytest.mark.parametrize(
    "source",
    [
        "",
        "<",
        "<" * 200_000,
        "&" * 200_000,
        "<!--" * 50_000,
        "<a " + "x=1 " * 50_000 + ">",
        "<title>" * 20_000,
        "<table><td colspan=999999999 rowspan=999999999>x</table>",
        "<table><tr><td>" * 5_000,
        "<b><p>" * 20_000,
        "<ol start=99999999999999999999999><li>x",
        "\x00<p>\x00</p>\ufffd",
        "<p>" + "a" * 500_000,
    ],
)
def test_what_is_hardly_html_is_read_too(source: str) -> None:
    """Broken markup is an everyday thing: never an error, and never slow."""
    page = read_page(source, "https://a.de/")
    assert len(page.text) < len(source) + 20_000
