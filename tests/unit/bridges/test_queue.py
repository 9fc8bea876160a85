"""Putting a question off."""

from __future__ import annotations

import pytest

from lockgate.bridges.queue import QueueApprover
from lockgate.policy.approval import Later, Question


@pytest.mark.req("B-14")
async def test_it_never_answers_itself(question: Question) -> None:
    """Every question is put off for as long as the configuration says; none is a yes."""
    assert await QueueApprover()(question) == Later(expires=None)
