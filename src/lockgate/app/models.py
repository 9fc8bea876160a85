"""From the name of a model in a configuration to the model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from importlib.util import find_spec
from pathlib import Path

from lockgate.agent.model import Model
from lockgate.agent.models.book import ModelBook
from lockgate.agent.models.late import LateModel
from lockgate.agent.models.named import SCRIPTED, look_up, read_name
from lockgate.agent.models.scripted import ScriptedModel
from lockgate.agent.models.tuning import PLAIN, Tuning
from lockgate.errors import ConfigError, LocalError


def model_book(environ: Mapping[str, str], threads: Executor, tuning: Tuning = PLAIN) -> ModelBook:
    """The models that one gate gives by name, with their keys from `environ`; whoever makes it
    closes it.

    A name and its key are looked at when it is asked for, and a script is read then. What talks to
    a provider is made with the first reply, in one of `threads`.
    """
    return ModelBook(lambda name: _made(name, environ, threads, tuning))


def chosen_model(
    given: Model | str | None, configured: str | None, models: Callable[[str], Model]
) -> Model:
    """The model of an agent: `given`, or by default the one of the configuration (`agent.model`).

    `models` gives the model of a name, and raises as `ModelBook` does. Raises `LocalError` if there
    is neither, or `given` is no model.
    """
    named = given if given is not None else configured
    if named is None:
        raise _no_model()
    if isinstance(named, str):
        return models(named)
    if not callable(getattr(named, "reply", None)):
        raise LocalError(f"model must be a Model or a name, not {type(named).__name__}")
    return named


def check_model(name: str | None, environ: Mapping[str, str], *, thoroughly: bool = False) -> None:
    """Raise what `chosen_model` would for `name`, before anything starts.

    What only the provider's own library knows is left aside, since loading it takes a second, but
    for a look that is made `thoroughly`: by those who use the model at once, or look at nothing
    else. A provider that is not in our table always has the library loaded.
    """
    if name is None:
        raise _no_model()
    provider, rest = read_name(name)
    if provider == SCRIPTED:
        ScriptedModel.load(Path(rest))
        return
    named = look_up(name, environ, _library())
    if thoroughly:
        from lockgate.agent.models.providers.making import library_model  # loads a large library

        library_model(named)


def model_fault(name: str) -> ConfigError | None:
    """What is wrong with a name as it is written; whether its key is set here is left aside."""
    try:
        check_model(name, _EveryVariable())
    except ConfigError as error:
        return error
    return None


def _made(name: str, environ: Mapping[str, str], threads: Executor, tuning: Tuning) -> Model:
    provider, rest = read_name(name)
    if provider == SCRIPTED:
        return ScriptedModel.load(Path(rest))
    named = look_up(name, environ, _library())

    def make() -> Model:
        from lockgate.agent.models.providers.making import make_model  # loads a large library

        return make_model(named, tuning=tuning)

    return LateModel(name, make, threads)


def _library() -> Callable[[str], bool] | None:
    """What knows of providers; None where the extra `models` is not installed."""
    if find_spec("pydantic_ai") is None:
        return None

    def known(provider: str) -> bool:
        from lockgate.agent.models.providers.making import is_known  # loads a large library

        return is_known(provider)

    return known


def _no_model() -> LocalError:
    return LocalError(
        "no model: set agent.model in the configuration, such as anthropic:claude-sonnet-4-6 or "
        "scripted:replies.yaml; on the command line give --model NAME, "
        "in a program agent(model=...)"
    )


class _EveryVariable(dict[str, str]):
    """An environment in which every variable is set."""

    def __missing__(self, key: str) -> str:
        return "http://set"

    def get(self, key: str, default: str | None = None) -> str:  # pyright: ignore[reportIncompatibleMethodOverride] - dict's overloads can not be met by one signature
        return "http://set"
