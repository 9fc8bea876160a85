"""URI templates: the examples of RFC 6570, what is refused, and what no value can do."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared import uri_template as sdk

from lockgate.mcp.protocol.uri_templates import (
    MAX_TEMPLATE,
    MAX_URI,
    MAX_VARIABLES,
    BadTemplate,
    BadValue,
    UriTemplate,
)

VALUES: dict[str, Any] = {
    "count": ["one", "two", "three"],
    "dom": ["example", "com"],
    "dub": "me/too",
    "hello": "Hello World!",
    "half": "50%",
    "var": "value",
    "who": "fred",
    "base": "http://example.com/home/",
    "path": "/foo/bar",
    "list": ["red", "green", "blue"],
    "keys": {"semi": ";", "dot": ".", "comma": ","},
    "v": "6",
    "x": "1024",
    "y": "768",
    "empty": "",
    "empty_keys": {},
}
"""The variables of RFC 6570, 3.2; those that are undefined are not here."""

EXAMPLES = """
{count} one,two,three|{count*} one,two,three|{/count} /one,two,three|{/count*} /one/two/three
{;count} ;count=one,two,three|{;count*} ;count=one;count=two;count=three
{?count} ?count=one,two,three|{?count*} ?count=one&count=two&count=three|{&count*} &count=one&count=two&count=three
{var} value|{hello} Hello%20World%21|{half} 50%25|O{empty}X OX|O{undef}X OX|{x,y} 1024,768
{x,hello,y} 1024,Hello%20World%21,768|?{x,empty} ?1024,|?{x,undef} ?1024|?{undef,y} ?768
{var:3} val|{var:30} value|{list} red,green,blue|{list*} red,green,blue
{keys} semi,%3B,dot,.,comma,%2C|{keys*} semi=%3B,dot=.,comma=%2C
{+var} value|{+hello} Hello%20World!|{+half} 50%25|{base}index http%3A%2F%2Fexample.com%2Fhome%2Findex
{+base}index http://example.com/home/index|O{+empty}X OX|O{+undef}X OX|{+path}/here /foo/bar/here
here?ref={+path} here?ref=/foo/bar|up{+path}{var}/here up/foo/barvalue/here|{+x,hello,y} 1024,Hello%20World!,768
{+path,x}/here /foo/bar,1024/here|{+path:6}/here /foo/b/here|{+list} red,green,blue|{+list*} red,green,blue
{+keys} semi,;,dot,.,comma,,|{+keys*} semi=;,dot=.,comma=,
{#var} #value|{#hello} #Hello%20World!|{#half} #50%25|foo{#empty} foo#|foo{#undef} foo
{#x,hello,y} #1024,Hello%20World!,768|{#path,x}/here #/foo/bar,1024/here|{#path:6}/here #/foo/b/here
{#list} #red,green,blue|{#list*} #red,green,blue|{#keys} #semi,;,dot,.,comma,,|{#keys*} #semi=;,dot=.,comma=,
{.who} .fred|{.who,who} .fred.fred|{.half,who} .50%25.fred|www{.dom*} www.example.com|X{.var} X.value
X{.empty} X.|X{.undef} X|X{.var:3} X.val|X{.list} X.red,green,blue|X{.list*} X.red.green.blue
X{.keys} X.semi,%3B,dot,.,comma,%2C|X{.keys*} X.semi=%3B.dot=..comma=%2C|X{.empty_keys} X|X{.empty_keys*} X
{/who} /fred|{/who,who} /fred/fred|{/half,who} /50%25/fred|{/who,dub} /fred/me%2Ftoo|{/var} /value
{/var,empty} /value/|{/var,undef} /value|{/var,x}/here /value/1024/here|{/var:1,var} /v/value
{/list} /red,green,blue|{/list*} /red/green/blue|{/list*,path:4} /red/green/blue/%2Ffoo
{/keys} /semi,%3B,dot,.,comma,%2C|{/keys*} /semi=%3B/dot=./comma=%2C
{;who} ;who=fred|{;half} ;half=50%25|{;empty} ;empty|{;v,empty,who} ;v=6;empty;who=fred
{;v,bar,who} ;v=6;who=fred|{;x,y} ;x=1024;y=768|{;x,y,empty} ;x=1024;y=768;empty|{;x,y,undef} ;x=1024;y=768
{;hello:5} ;hello=Hello|{;list} ;list=red,green,blue|{;list*} ;list=red;list=green;list=blue
{;keys} ;keys=semi,%3B,dot,.,comma,%2C|{;keys*} ;semi=%3B;dot=.;comma=%2C
{?who} ?who=fred|{?half} ?half=50%25|{?x,y} ?x=1024&y=768|{?x,y,empty} ?x=1024&y=768&empty=|{?x,y,undef} ?x=1024&y=768
{?var:3} ?var=val|{?list} ?list=red,green,blue|{?list*} ?list=red&list=green&list=blue
{?keys} ?keys=semi,%3B,dot,.,comma,%2C|{?keys*} ?semi=%3B&dot=.&comma=%2C
{&who} &who=fred|{&half} &half=50%25|?fixed=yes{&x} ?fixed=yes&x=1024|{&x,y,empty} &x=1024&y=768&empty=
{&var:3} &var=val|{&list} &list=red,green,blue|{&list*} &list=red&list=green&list=blue
{&keys} &keys=semi,%3B,dot,.,comma,%2C|{&keys*} &semi=%3B&dot=.&comma=%2C
"""  # noqa: E501 - as they stand in the RFC, a line for each of its sections
CASES = [
    tuple(case.split(" ")) for line in EXAMPLES.strip().splitlines() for case in line.split("|")
]


def expanded(template: str, values: dict[str, Any]) -> str:
    """The expansion with those of the values that the template has."""
    parsed = UriTemplate.parse(template)
    return parsed.expand({name: values[name] for name in parsed.names if name in values})


@pytest.mark.parametrize(("template", "uri"), CASES, ids=[case[0] for case in CASES])
def test_the_examples_of_the_rfc(template: str, uri: str) -> None:
    """All of section 3.2, every operator and modifier."""
    assert expanded(template, VALUES) == uri


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{x", "not closed"),
        ("x}", "without an opening"),
        ("{x}}", "without an opening"),
        ("a{b{c}}", "does not know"),
        ("{}", "does not know"),
        ("{ x}", "does not know"),
        ("{x,}", "does not know"),
        ("{=x}", "does not know"),
        ("{!x}", "does not know"),
        ("{|x}", "does not know"),
        ("{x:0}", "does not know"),
        ("{x:10000}", "does not know"),
        ("{x:3*}", "does not know"),
        ("{.x.}", "does not know"),
        ("{x}\n", "control character"),
        ("\ud800{x}", "surrogate"),
        ("x" * (MAX_TEMPLATE + 1), "longer than"),
        ("".join(f"{{v{n}}}" for n in range(MAX_VARIABLES + 1)), "more than 256 variables"),
        (f"{{{'x*,' * MAX_VARIABLES}x}}", "more than 256 variables"),
    ],
)
def test_what_is_no_template_is_refused(template: str, why: str) -> None:
    """Never passed on as text: whoever wrote it meant something else."""
    with pytest.raises(BadTemplate, match=why):
        UriTemplate.parse(template)


def test_literals_and_escapes_stay_what_they_are() -> None:
    """What no URI may hold is escaped once, what is escaped stays; so do escapes in {+x}."""
    template = UriTemplate.parse("a b/\u00e9%41%zz{+x}{y}")
    assert template.expand({"x": "%41%", "y": "%41"}) == "a%20b/%C3%A9%41%25zz%41%25%2541"
    assert UriTemplate.parse("{+x:2}").expand({"x": "%41bc"}) == "%41b"


def test_names_and_which_of_them_are_needed() -> None:
    """Each once, in order; those with a sign of their own go without a trace."""
    template = UriTemplate.parse("x://{host}/{+path}{/more*}{?q,host}{resource-id}")
    assert template.names == ("host", "path", "more", "q", "resource-id")
    assert template.required == ("host", "path", "resource-id")
    assert UriTemplate.parse("x://y").names == ()


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("file:///docs/{name}", {"name": ".."}),
        ("file:///docs/{name}", {"name": "."}),
        ("file:///docs/{+path}", {"path": "../../etc/passwd"}),
        ("file:///docs/{+path}", {"path": "a/../../x"}),
        ("file:///docs/{+path}", {"path": "%2e%2e/x"}),
        ("file:///docs/{+path}", {"path": "..\\x"}),
        ("file:///docs/{+path}", {"path": "..;a=b/x"}),
        ("file:///docs/{name}", {"name": "../x"}),
        ("file:///docs/{name}", {"name": "%2e%2e"}),
        ("file:///docs/{name}", {"name": "%252e."}),
        ("file:///docs/{a}{b}", {"a": ".", "b": "."}),
        ("file:///docs/.{a}/x", {"a": "."}),
        ("file:///docs/{a}./x", {"a": "."}),
        ("file:///docs/{a}../x", {"a": ""}),
        ("file:///docs{/parts*}", {"parts": ["..", "x"]}),
        ("file:///docs{.name}", {"name": "./../x"}),
        ("file:///docs/{name}{?q}", {"name": ".."}),
        ("file:///a/../docs/{name}", {"name": ".."}),
        ("file:///docs/{name}", {"name": "a\0b"}),
        ("file:///docs/{name}", {"name": "a\r\nb"}),
    ],
)
def test_no_value_makes_a_step_in_a_path(template: str, values: dict[str, Any]) -> None:
    """As such, behind escapes, or put together; nor does one put a control character there."""
    with pytest.raises(BadValue, match=r"into the path|in the path"):
        UriTemplate.parse(template).expand(values)


@pytest.mark.parametrize(
    ("template", "values", "uri"),
    [
        ("x:///docs/{name}", {"name": "..."}, "x:///docs/..."),
        ("x:///docs/{name}", {"name": "a..b"}, "x:///docs/a..b"),
        ("x:///docs/{name}", {"name": ".git"}, "x:///docs/.git"),
        ("x:///a/../b/{name}", {"name": "c"}, "x:///a/../b/c"),
        ("x:///s{?q}", {"q": "../.."}, "x:///s?q=..%2F.."),
        ("x:///s?q={q}", {"q": ".."}, "x:///s?q=.."),
        ("x:///s{#at}", {"at": ".."}, "x:///s#.."),
        ("x:///{name}", {"name": "a/b"}, "x:///a%2Fb"),
    ],
)
def test_what_is_no_step_goes_through(template: str, values: dict[str, Any], uri: str) -> None:
    """Names with dots, the server's own steps, and dots where there is no path."""
    assert UriTemplate.parse(template).expand(values) == uri


@pytest.mark.parametrize(
    ("values", "why"),
    [
        ({"y": "1"}, "no variable 'y'"),
        ({"x": 5}, "no text, list or mapping"),
        ({"x": [5]}, "holds what is no text"),
        ({"x": "\ud800"}, "half a surrogate pair"),
        ({"x": "a" * (MAX_URI + 1)}, "more than 65536 characters"),
    ],
)
def test_values_that_can_not_go_in_are_named_without_what_they_hold(
    values: dict[str, Any], why: str
) -> None:
    """Before anything is sent. The message has the variable, never the value."""
    with pytest.raises(BadValue, match=why):
        UriTemplate.parse("{x}").expand(values)


def test_the_first_characters_are_of_a_text() -> None:
    """RFC 6570, 2.4.1: a prefix is not for lists."""
    with pytest.raises(BadValue, match="has to be a text"):
        UriTemplate.parse("{x:3}").expand({"x": ["abc"]})


TEMPLATES = st.sampled_from(
    ["x://{a}", "x://h/{a}/{b}", "x://h/{+a}", "x://h{/a,b}", "x:///{a}{b}", "x://h/{a}.{b}"]
)
ODD = st.text(alphabet=st.sampled_from(list("./\\%25eE2;aZ \u00e9?#\0")), max_size=8)


@given(TEMPLATES, ODD, ODD)
def test_whatever_the_values_no_server_finds_a_step(template: str, a: str, b: str) -> None:
    """However often it undoes escapes, and whichever slash it goes by."""
    parsed = UriTemplate.parse(template)
    values = {name: value for name, value in (("a", a), ("b", b)) if name in parsed.names}
    try:
        uri = parsed.expand(values)
    except BadValue:
        return
    for _ in range(4):
        segments = uri.replace("\\", "/").split("/")
        assert not any(segment in (".", "..") for segment in segments)
        uri = unquote(uri)


@given(st.text(max_size=40))
def test_any_text_is_a_template_or_refused(text: str) -> None:
    """Nothing else is raised, and what is read expands to a URI of plain characters."""
    try:
        parsed = UriTemplate.parse(text)
    except BadTemplate:
        return
    try:
        assert parsed.expand(dict.fromkeys(parsed.names, "v")).isascii()
    except BadValue:
        pass


@given(TEMPLATES, st.text(alphabet=st.characters(codec="utf-8"), max_size=10))
def test_the_official_sdk_expands_the_same(template: str, value: str) -> None:
    """Where both have the same grammar, and the value makes no step."""
    if template == "x:///{a}{b}":  # which the SDK refuses, since it could not match it
        return
    ours, theirs = UriTemplate.parse(template), sdk.UriTemplate.parse(template)
    values = dict.fromkeys(ours.names, value)
    try:
        uri = ours.expand(values)
    except BadValue:
        return
    assert uri == theirs.expand(values)
