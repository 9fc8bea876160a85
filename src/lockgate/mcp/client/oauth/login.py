"""Asking a person to log in: an address to open, and the answer that the browser brings back."""

from __future__ import annotations

from typing import Protocol


class Login(Protocol):
    """A person who is there, and a place that the browser is sent back to."""

    @property
    def redirect_uri(self) -> str:
        """Where the answer is awaited: `http://127.0.0.1:<port>/...`, listening already."""
        ...

    async def answer(self, address: str, state: str, *, issuer: str) -> str:
        """Show `address` to the person, and wait for the redirect; its query as it came.

        A stranger named it: whoever opens it for the person warns them first of what may deceive.
        `issuer` is the authorization server whose page it is said to be; empty if none is known.

        Returns what carries this `state`; anything else that asks is turned away and waited on. The
        caller bounds the time; cancelled, nothing listens for this answer any more.
        """
        ...
