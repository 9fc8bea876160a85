"""WebFetch under rules: who answers for a page, and how far a redirect takes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.builtin.web.fetch import WebFetch
from lockgate.decision import Decision
from lockgate.rules.rule import Rule, RuleSet
from lockgate.rules.url import UrlPattern, resolve_url
from lockgate.testing.approver import ScriptedApprover
from lockgate.testing.road import Road
from lockgate.testing.site import Site, answer, redirect
from lockgate.tools.result import ErrorKind, ToolResult
from lockgate.traits import SideEffectLevel
from lockgate.web.addresses import AddressRules


def rules(*texts: tuple[Decision, str]) -> RuleSet:
    """Rules about the tool's address."""
    return RuleSet(
        tuple(
            Rule(
                decision,
                f"WebFetch({text})",
                None,
                "WebFetch",
                when="any",
                subject=UrlPattern.parse(text),
            )
            for decision, text in texts
        )
    )


async def fetched(
    tmp_path: Path, fetch: WebFetch, url: str, *texts: tuple[Decision, str], exempt: bool = False
) -> ToolResult:
    """What a call comes to under rules, with nobody there to answer."""
    level = SideEffectLevel.MUTATING if exempt else SideEffectLevel.READ_ONLY
    with Road(tmp_path, [fetch], rules=rules(*texts), exempt=level) as road:
        return await road.invoke(road.call("WebFetch", {"url": url}, attended=False))


A = "domain:a.example.com"
ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY


async def test_without_a_rule_it_is_asked_about(
    site: Site, fetch: WebFetch, tmp_path: Path
) -> None:
    """Nobody to ask is a no: nothing is sent."""
    result = await fetched(tmp_path, fetch, f"http://a.example.com:{site.port}/")
    assert result.kind is ErrorKind.NOT_APPROVED
    assert site.connections == 0


async def test_a_domain_rule_answers(site: Site, fetch: WebFetch, tmp_path: Path) -> None:
    """An allow rule for the host is the answer; one for another host is none."""
    site.on("/", answer(200, "hello"))
    url = f"http://a.example.com:{site.port}/"
    assert "hello" in (await fetched(tmp_path, fetch, url, (ALLOW, A))).text
    result = await fetched(tmp_path, fetch, url, (ALLOW, "domain:b.example.org"))
    assert result.kind is ErrorKind.NOT_APPROVED


REDIRECTS: list[tuple[str, list[tuple[Decision, str]], bool, str]] = [
    # (where it leads, rules, whether nothing is asked about, what comes of it)
    ("http://a.example.com:{port}/end", [(ALLOW, A)], False, "followed"),
    ("http://b.example.org:{port}/end", [(ALLOW, A)], False, "left"),
    ("http://b.example.org:{port}/end", [(ALLOW, A), (ALLOW, "domain:b.example.org")], False, "ok"),
    ("http://a.example.com:{port}/end", [], True, "followed"),
    ("http://b.example.org:{port}/end", [], True, "left"),
    ("http://www.a.example.com:{port}/end", [], True, "left"),
    ("http://a.example.com:{port}/end", [(ALLOW, "http://a.example.com:{port}/")], False, "left"),
    ("http://a.example.com:{port}/end", [(DENY, "http://a.example.com/end")], True, "denied"),
    ("http://b.example.org:{port}/end", [(ALLOW, A), (DENY, "domain:b.example.org")], False, "no"),
    ("http://a.example.com:{port}/end", [(ASK, "http://a.example.com/end")], True, "left"),
]


@pytest.mark.parametrize(("target", "texts", "exempt", "outcome"), REDIRECTS)
async def test_rules_hold_at_a_redirect(
    site: Site,
    fetch: WebFetch,
    tmp_path: Path,
    target: str,
    texts: list[tuple[Decision, str]],
    exempt: bool,
    outcome: str,
) -> None:
    """Allowed is followed, denied is an error, and what nobody has answered for is left to a call
    of its own. Where no rule answered, other pages of the same host are followed."""
    target = target.format(port=site.port)
    site.on("/", redirect(target)).on("/end", answer(200, "the end"))
    url = f"http://a.example.com:{site.port}/"
    there = [(decision, text.format(port=site.port)) for decision, text in texts]
    result = await fetched(tmp_path, fetch, url, *there, exempt=exempt)
    ended = "/end" in [request.target for request in site.requests]
    if outcome in ("followed", "ok"):
        assert "the end" in result.text
        assert ended
    elif outcome == "left":
        assert not result.is_error
        assert result.structured == {"url": url, "redirect": target}
        assert f"redirects to {target}" in result.text
        assert not ended
    else:
        assert (result.kind, result.reason) == (ErrorKind.TOOL_ERROR, "deny_rule")
        assert not ended


async def test_a_redirect_into_the_private_network_is_an_error(
    site: Site, fetch: WebFetch, tmp_path: Path
) -> None:
    """No rule and no exemption reaches what the address rules refuse."""
    site.on("/", redirect("http://169.254.169.254/latest/?q=SECRET"))
    url = f"http://a.example.com:{site.port}/"
    result = await fetched(tmp_path, fetch, url, (ALLOW, "*"), exempt=True)
    assert (result.kind, result.reason) == (ErrorKind.TOOL_ERROR, "address_refused")
    assert "SECRET" not in result.text
    assert "169.254.169.254" in result.text


async def test_a_host_that_is_not_what_it_looks_like_is_shown(
    fetch: WebFetch, tmp_path: Path
) -> None:
    """Whoever is asked about letters of another script sees the name that would be connected to."""
    approver = ScriptedApprover()
    with Road(tmp_path, [fetch], attended=[approver]) as road:
        for url in ("https://\u0430pple.com/", "https://APPLE.com./x"):
            await road.invoke(road.call("WebFetch", {"url": url}))
    first, second = approver.questions
    assert first.resolved == {"url": "https://xn--pple-43d.com/"}
    assert second.resolved == {}


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost/",
        "http://localhost:8000/x",
        "http://10.0.0.1/",
        "http://[::1]/",
        "http://169.254.169.254/latest",
        "https://printer.local/",
        "https://example.com:22/",
    ],
)
async def test_what_an_address_alone_says_is_never_reached_is_refused_in_the_decision(
    url: str, tmp_path: Path
) -> None:
    """Nobody is asked, no rule allows it, and what explains the call says the same."""
    approver = ScriptedApprover.always(True)
    tool, held = WebFetch(), rules((ALLOW, "*"))
    with Road(tmp_path, [tool], rules=held, attended=[approver]) as road:
        call = road.call("WebFetch", {"url": url})
        explained = road.invoker.explain(call, road.snapshot)
        result = await road.invoke(call)
    assert (result.kind, result.reason) == (ErrorKind.DENIED, "address_refused")
    assert "never reached" in result.text
    assert url not in result.text
    assert explained.decision is Decision.DENY
    assert [reason.code for reason in explained.verdict.reasons] == ["address_refused"]
    assert approver.questions == []


def test_what_a_servers_tool_reaches_is_its_own_affair() -> None:
    """Only a tool of ours says what it never asks for."""
    assert resolve_url("http://localhost/").barred is None
    assert resolve_url("http://localhost/", AddressRules()).barred is not None
    assert resolve_url("http://localhost/", AddressRules(private=True)).barred is None
