"""The entry points: every road by which a call can come, and none of them around the gate (S0-17).

Tests walk this list: each entry is a value of `Execution.entry` that some test drives to a
question, and a function from which a call can be made fails the suite until it is listed with its
entries (`tests/house/roads.py`).
"""

from __future__ import annotations

import enum


class Entry(enum.StrEnum):
    """Where a call comes from; written in its decision record."""

    AGENT = "agent"
    """A model's call in a turn."""
    API = "api"
    """`Gate.call` and `Gate.resume`."""
    CLI = "cli"
    """`lockgate call`."""
    SUBAGENT = "subagent"
    """A model's call in the execution of a sub-agent; its `agent` is the sub-agent's name."""
    SKILL = "skill"
    """A model's call in the execution of a skill; its `agent` is the skill's name."""
    APPROVALS = "approvals"
    """`lockgate approvals answer`: a suspended call is resumed."""
    HOOK = "hook"
    """A declared hook that is a tool; nobody is asked about it, its declaration is the answer."""
