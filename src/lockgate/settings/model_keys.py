"""The keys that say how models of providers are to write."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, Final

from lockgate.agent.models.tuning import Tuning
from lockgate.settings.asking_keys import Count
from lockgate.settings.kinds import Choice
from lockgate.settings.reading import Draft, Given, Key, Section

MODEL_SETTINGS: Final = Section(
    "agent.modelSettings",
    "How the agent's models are to write. A model leaves aside what it does not have.",
    (
        Key(
            "maxTokens",
            Count(1_000_000),
            None,
            "the provider's",
            "How long one reply may be, what was thought included.",
        ),
        Key(
            "thinking",
            Choice(
                MappingProxyType(
                    {
                        "on": True,
                        "off": False,
                        "minimal": "minimal",
                        "low": "low",
                        "medium": "medium",
                        "high": "high",
                    }
                ),
                MappingProxyType({}),
                "on | off | minimal | low | medium | high",
            ),
            None,
            "the provider's",
            "Whether to think before writing, and how hard. Under a bound of 20,000 tokens for one"
            " reply it is left aside: some providers refuse that.",
        ),
    ),
)


def tuning_of(given: Given | None) -> Tuning:
    """What the section gives."""
    draft: Draft = {} if given is None else given.value

    def value(name: str) -> Any:
        return draft[name].value if name in draft else None

    return Tuning(value("maxTokens"), value("thinking"))
