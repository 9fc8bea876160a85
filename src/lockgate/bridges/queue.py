"""Putting a question off: it waits under a ticket, and whoever answers it does so elsewhere (B-14).

The ticket itself is kept by the road of the call, in the state database; `lockgate approvals` lists
and answers it, in this process or in any other.
"""

from __future__ import annotations

from lockgate.policy.approval import Later, Question, Reply, Scope


class QueueApprover:
    """An approver that answers every question later. It never says yes itself, nor passes on."""

    name = "queue"
    scopes = frozenset({Scope.ONCE, Scope.SESSION, Scope.ALWAYS})

    async def __call__(self, question: Question) -> Reply:
        """Later: the call is suspended, for as long as `approvals.ticketLifetime` says."""
        del question
        return Later()
