"""Ids of agents."""

from __future__ import annotations

import pytest

from lockgate.agent.identity import agent_id
from lockgate.errors import LocalError


def test_an_id_follows_from_name_and_discriminator() -> None:
    """The same after a restart, so that a schedule can find its runtime."""
    assert agent_id("main") == "agent:main"
    assert agent_id("main", "a.b-1") == "agent:main:a.b-1"


@pytest.mark.parametrize("part", ["", "a:b", " a", "a/b", "-a", "é"])
def test_a_part_can_not_be_mistaken_for_two(part: str) -> None:
    """What would make two agents look alike is refused."""
    with pytest.raises(LocalError):
        agent_id(part)
    with pytest.raises(LocalError):
        agent_id("main", part)
