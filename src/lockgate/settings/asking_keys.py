"""The keys that say what a server may ask of this side: a person, a model, directories."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from lockgate.mcp.host.settings import AskingPolicy
from lockgate.settings.entries import Nested
from lockgate.settings.kinds import Choice, Directory, Many, ModelName, Switch, scalar_text
from lockgate.settings.nodes import Node
from lockgate.settings.reading import MISSING, At, Key, Missing, Section

_NOTHING: Final = MappingProxyType[str, str]({})


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number over 0."""

    most: int
    words: str = "number"

    def read(self, node: Node, at: At) -> int | Missing:
        """The number."""
        hint = f"write a whole number from 1 to {self.most}"
        found = scalar_text(node, at, wanted="a number", hint=hint)
        if isinstance(found, Missing):
            return MISSING
        text = found[0]
        right = text.isascii() and text.isdecimal() and len(text) < 12
        if not right or not 0 < int(text) <= self.most:
            return at.fault(node, "is no number that can be used", hint)
        return int(text)

    def merge(self, earlier: int, later: int) -> int:
        """The later."""
        del earlier
        return later


SAMPLING: Final = Section(
    "mcp.servers[].sampling",
    "A model that this server may have complete something (`sampling/createMessage`). Without this"
    " section it may not. Tools of the server's, images and audio are refused; which model it would"
    " like counts for nothing.",
    (
        Key(
            "model",
            ModelName(),
            None,
            "required",
            "As in `agent.model`. Nothing else of the agent's is used.",
            expands=True,
        ),
        Key(
            "maxTokens",
            Count(1_000_000),
            2000,
            "2000",
            "A request that asks for more is refused.",
        ),
        Key(
            "perHour",
            Count(10_000),
            20,
            "20",
            "Requests an hour, of all processes of a project together; those that were refused or"
            " said no to count too.",
        ),
        Key(
            "ask",
            Switch(),
            True,
            "true",
            "Whether you are shown each request, and each completion before the server gets it."
            " Where nobody can be asked, all of them are refused. With `false` nobody is asked, in"
            " unattended runs neither.",
        ),
    ),
    also_called=MappingProxyType(
        {
            "max_tokens": "maxTokens",
            "requestsPerHour": "perHour",
            "rateLimit": "perHour",
            "approve": "ask",
            "confirm": "ask",
        }
    ),
)

ASKING: Final = (
    Key(
        "elicitation",
        Choice(
            MappingProxyType({policy.value: policy for policy in AskingPolicy}),
            MappingProxyType(
                {"form": "write forms", "url": "write addresses", "off": "write none"}
            ),
            "both | forms | addresses | none",
        ),
        AskingPolicy.BOTH,
        "both",
        "How this server may ask you something in the middle of a call: by forms to be filled in,"
        " by addresses to be opened. In runs that nobody attends it may not.",
    ),
    Key(
        "sampling",
        Nested(SAMPLING),
        None,
        "none",
        "A model that this server may use.",
    ),
    Key(
        "roots",
        Many(Directory(), "list of paths"),
        (),
        "[]",
        "Directories that this server is told of when it asks where to work (`roots/list`)."
        " It is told their real paths. Nothing keeps it inside them. `[]` tells it that there is no"
        " such answer.",
        expands=True,
    ),
)
"""Keys of a server."""
