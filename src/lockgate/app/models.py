"""From the name of a model in a configuration to the model."""

from __future__ import annotations

from pathlib import Path

from lockgate.agent.model import Model
from lockgate.agent.models.scripted import ScriptedModel
from lockgate.errors import ConfigError, LocalError, Problem


def chosen_model(given: Model | str | None, configured: str | None) -> Model:
    """The model of an agent: `given`, or by default the one of the configuration (`agent.model`).

    Raises `LocalError` if there is neither, or `given` is no model; `ConfigError` as `model_named`.
    """
    named = given if given is not None else configured
    if named is None:
        raise LocalError(
            "no model: set agent.model in the configuration, such as scripted:replies.yaml; "
            "on the command line give --model scripted:FILE, in a program agent(model=...)"
        )
    if isinstance(named, str):
        return model_named(named)
    if not callable(getattr(named, "reply", None)):
        raise LocalError(f"model must be a Model or a name, not {type(named).__name__}")
    return named


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
