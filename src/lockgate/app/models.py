"""From the name of a model in a configuration to the model."""

from __future__ import annotations

from pathlib import Path

from lockgate.agent.model import Model
from lockgate.agent.models.scripted import ScriptedModel
from lockgate.errors import ConfigError, Problem


def model_named(name: str) -> Model:
    """The model of `name`: `scripted:PATH` reads its replies from a YAML file.

    Raises `ConfigError` for another provider and for a script that can not be read.
    """
    provider, _, rest = name.partition(":")
    if provider == "scripted" and rest:
        return ScriptedModel.load(Path(rest))
    raise ConfigError(
        Problem(
            f"there is no model {name!r}",
            path="agent.model",
            hint="write scripted:replies.yaml, or give a Model of your own to gate.agent()",
        )
    )
