"""What went wrong with one request, and how far it had come: what its fate is judged by."""

from __future__ import annotations

import enum


class Stage(enum.Enum):
    """How far a request had come. What is written first is head and body in one piece."""

    CONNECTING = "connecting"
    """Nothing was written: looking up, connecting, agreeing on TLS, waiting for a connection."""
    WRITING = "writing"
    """Its first bytes may have left, its last have not."""
    WAITING = "waiting"
    """All of it is written, and nothing of an answer was read."""
    READING_HEAD = "reading the head"
    """Something of an answer came, its status and headers not whole."""
    READING_BODY = "reading the body"


class Trouble(enum.Enum):
    """What stopped it."""

    UNREACHABLE = "unreachable"
    """Nobody accepts a connection there, or the name leads nowhere."""
    UNTRUSTED = "untrusted"
    """TLS could not be agreed on, or the certificate is not that of the host."""
    TIMEOUT = "timeout"
    CLOSED = "closed"
    """The peer hung up, reset the connection, or ended before the end."""
    GARBAGE = "garbage"
    """What came is no HTTP, or its head is over the limits."""


class HttpFailure(Exception):
    """One request failed. The text is the end of a sentence about the peer, without its address.

    Not of the family of `errors`: whoever asked translates it, and knows the name of the peer.
    """

    def __init__(self, stage: Stage, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.stage = stage
        self.trouble = trouble
