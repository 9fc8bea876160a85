"""What tasks ask in the middle, and what becomes of those that do not get it."""

from __future__ import annotations

from typing import Any

import pytest

from lockgate.errors import Fate, Fault
from lockgate.mcp.client.services import Occasion, Services
from lockgate.mcp.protocol.elicitation import Action, ElicitAnswer, Elicitation
from lockgate.testing.script import When
from lockgate.testing.steps import Answer
from lockgate.testing.task_bench import task_bench, text_of
from lockgate.testing.task_book import asking, completed, working

QUESTION = {
    "method": "elicitation/create",
    "params": {
        "mode": "form",
        "message": "Which one?",
        "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}


class Person:
    """Answers every form with a name; keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Elicitation] = []

    async def elicit(self, asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
        self.asked.append(asked)
        return ElicitAnswer(Action.ACCEPT, {"name": "Kim"})


async def test_what_a_task_asks_is_asked_once() -> None:
    """By its key; the answer is sent by an update, and again if that was lost, and a question that
    is still shown is not put to the person a second time."""
    person = Person()
    services = Services(elicit=person.elicit)
    question = asking(a=QUESTION)
    both = asking(a=QUESTION, b=QUESTION)
    async with task_bench(
        question, question, both, working(), completed(), services=services
    ) as at:
        await at.call()
        assert len(person.asked) == 2
        content = {"action": "accept", "content": {"name": "Kim"}}
        assert at.book.given == [{"a": content}, {"b": content}]


async def test_an_update_that_was_lost_is_sent_again() -> None:
    """While the server still asks."""
    person = Person()
    lost = When("tasks/update", nth=1)
    question = asking(a=QUESTION)
    stages = (question, question, completed())
    services = Services(elicit=person.elicit)
    async with task_bench(*stages, services=services, rules=(lost,)) as at:
        await at.call(timeout=0.05)
        assert (len(person.asked), len(at.book.given)) == (1, 1)


@pytest.mark.req("S3-21")
async def test_waiting_for_a_person_is_not_counted() -> None:
    """The task's time stands still, and so does the caller's own bound."""
    held: list[str] = []

    class Bound:
        def hold(self) -> None:
            held.append("held")

        def release(self) -> None:
            held.append("let go")

    async with task_bench(asking(a=QUESTION), completed("late")) as at:

        async def elicit(asked: Elicitation, occasion: Occasion) -> ElicitAnswer:
            at.clock.advance(3600)
            return ElicitAnswer(Action.DECLINE)

        object.__setattr__(at.session, "services", Services(elicit=elicit))
        assert text_of(await at.call(within=5.0, bound=Bound())) == "late"
        assert held == ["held", "let go"]


@pytest.mark.req("B-03")
@pytest.mark.parametrize(
    ("then", "fate"),
    [
        ({"status": "cancelled"}, Fate.ANSWERED),
        ({"error": {"code": -32602, "message": "gone"}}, Fate.UNKNOWN),
        (completed("all the same"), None),
    ],
)
async def test_a_task_that_asks_for_what_it_does_not_get_is_cancelled(
    then: dict[str, Any], fate: Fate | None
) -> None:
    """Its end is waited for briefly: cancelled it did not complete, else nobody knows, and what it
    came to all the same is the result."""
    async with task_bench(asking(a=QUESTION), then) as at:
        if fate is None:
            assert text_of(await at.call()) == "all the same"
        else:
            failed = await at.fails()
            assert (failed.fault, failed.fate) == (Fault.UNSUPPORTED, fate)
            assert "elicitation/create" in str(failed)
        assert at.book.cancelled == 1


async def test_a_task_that_does_not_stop_asking_is_cancelled() -> None:
    """Ten times is enough."""
    person = Person()
    stages = [asking(**{f"k{n}": QUESTION}) for n in range(12)]
    async with task_bench(*stages, {"status": "cancelled"}, services=Services(person.elicit)) as at:
        failed = await at.fails()
        assert "asked for input 10 times" in str(failed)
        assert (len(person.asked), at.book.cancelled) == (10, 1)


async def test_input_may_be_asked_for_before_the_task_is_made() -> None:
    """By rounds of the call itself, and then it is a task."""
    person = Person()
    first = {"resultType": "input_required", "inputRequests": {"q": QUESTION}, "requestState": "s"}
    rule = When("tools/call", Answer(result=first), nth=1)
    async with task_bench(completed("both"), services=Services(person.elicit), rules=(rule,)) as at:
        assert text_of(await at.call()) == "both"
        again = at.server.heard("tools/call")[1]["params"]
        assert (again["requestState"], len(person.asked)) == ("s", 1)
