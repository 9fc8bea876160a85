"""Why credentials could not be got, before it is an error about a server."""

from __future__ import annotations

import enum


class Need(enum.Enum):
    """What has to happen before another try can succeed."""

    TIME = "time"
    """The other side could not be reached, or was busy: nothing is wrong with what is kept."""
    PERSON = "person"
    """Somebody has to log in."""
    OPERATOR = "operator"
    """Something has to be set otherwise, here or there."""


class OAuthTrouble(Exception):
    """The text is one line, the end of a sentence after the server's name. Holds no secret."""

    def __init__(self, text: str, need: Need = Need.OPERATOR) -> None:
        super().__init__(text)
        self.need = need


class Revoked(OAuthTrouble):
    """A refresh token is good for nothing any more; nor, if it says so, is the client."""

    def __init__(self, text: str, *, client: bool = False) -> None:
        super().__init__(text, Need.PERSON)
        self.client = client
