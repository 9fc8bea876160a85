"""Addresses that servers want opened: shown whole, opened after a yes, refused where they lie."""

from __future__ import annotations

import pytest

from asked_person import CANCEL, DECLINE, Person, address, answer, asked
from lockgate.mcp.client.completions import Completions
from lockgate.mcp.client.services import Occasion, Refusal
from lockgate.mcp.protocol.elicitation import (
    Action,
    ElicitAnswer,
)


class Browser:
    """Keeps what it was to open."""

    def __init__(self, *, works: bool = True) -> None:
        self.opened: list[str] = []
        self.works = works

    def __call__(self, address: str) -> bool:
        self.opened.append(address)
        return self.works


async def test_an_address_is_shown_whole_and_opened_after_a_yes(person: Person) -> None:
    """2026-07-28, Safe URL Handling: the full address, its host by itself, whose it is; nothing is
    opened before the yes, and then exactly that."""
    browser = Browser()
    long = f"https://mcp.example.com/{'a' * 100}?x=1#part"
    async with asked(person, address(long), browse=browser) as task:
        seen = await person.see("open it [cancel]: ")
        assert browser.opened == []
        person.type("y\n")
        shown = await person.see("or /cancel: ")
        person.type("\n")
        assert await answer(task) == ElicitAnswer(Action.ACCEPT, finished=True)
    joined = "".join(
        line.removeprefix("|> ").strip() for line in seen[seen.index("| address") :].splitlines()
    )
    assert long in joined
    assert "HOST       mcp.example.com\n" in seen
    assert "belongs to example.com\n" in seen
    assert "| Log in there\n" in seen
    assert f"\nopened in your browser\n{long}\n" in shown
    assert browser.opened == [long]


async def test_a_browser_that_does_not_open_is_said(person: Person) -> None:
    """The address is printed all the same, to be copied."""
    async with asked(person, address(), browse=Browser(works=False)) as task:
        await person.see("open it [cancel]: ")
        person.type("yes\n")
        seen = await person.see("or /cancel: ")
        person.type("/cancel\n")
        assert await answer(task) == CANCEL
    assert "open it yourself\nhttps://mcp.example.com/go?x=1\n" in seen


@pytest.mark.parametrize(
    ("typed", "said"),
    [("n", DECLINE), ("no", DECLINE), ("", CANCEL), ("c", CANCEL), ("what", CANCEL)],
)
async def test_without_a_yes_nothing_is_opened(
    person: Person, typed: str, said: ElicitAnswer
) -> None:
    """No tells the server so; everything else leaves it unanswered."""
    browser = Browser()
    async with asked(person, address(), browse=browser) as task:
        await person.see("open it [cancel]: ")
        person.type(f"{typed}\n")
        assert await answer(task) == said
    assert browser.opened == []


async def test_where_the_server_waits_a_yes_is_the_answer(person: Person) -> None:
    """2025-11-25: accept is consent, and the server waits for it to go on."""
    waiting = Occasion("files", "ask", "c1", attended=True, waits=True)
    async with asked(person, address(), waiting, browse=Browser()) as task:
        await person.see("open it [cancel]: ")
        person.type("y\n")
        assert await answer(task) == ElicitAnswer(Action.ACCEPT)


async def test_the_servers_own_word_ends_the_waiting(person: Person) -> None:
    """notifications/elicitation/complete: nothing has to be pressed then."""
    completions = Completions()
    occasion = Occasion("files", "ask", "c1", attended=True, completions=completions)
    async with asked(person, address(elicitationId="e1"), occasion, browse=Browser()) as task:
        await person.see("open it [cancel]: ")
        person.type("y\n")
        await person.see("or /cancel: ")
        completions.completed({"elicitationId": "e1"})
        assert await answer(task) == ElicitAnswer(Action.ACCEPT, finished=True)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com/x",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://user@example.com/",
        "https://exa mple.com",
        "https://",
        "nothing",
    ],
)
async def test_an_address_that_nobody_should_open_is_refused(person: Person, url: str) -> None:
    """Not https, no host, a name before the host: the reason for the person and for the server."""
    browser = Browser()
    async with asked(person, address(url), browse=browser) as task:
        with pytest.raises(Refusal, match="the address is refused") as refused:
            await answer(task)
    assert refused.value.code == -32602
    assert "it is refused" in person.sees()
    assert browser.opened == []


async def test_a_host_that_looks_like_another_is_warned_of(person: Person) -> None:
    """Punycode is shown as it is sent, and as what a browser may make of it."""
    async with asked(person, address("https://accounts.google.com.\u0430pple.com:8443/")):
        seen = await person.see("open it [cancel]: ")
    assert "HOST       accounts.google.com.xn--pple-43d.com:8443\n" in seen
    assert "belongs to xn--pple-43d.com\n" in seen
    assert "of several alphabets (Cyrillic, Latin)" in " ".join(seen.split())
    assert "it names a port of its own, 8443" in seen
    assert "begins like another name" in seen
