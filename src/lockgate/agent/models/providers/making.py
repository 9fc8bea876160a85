"""From a name that was looked up to the model, by the library's own inference."""

from __future__ import annotations

import inspect
import re
from typing import Any, Final

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model, infer_model
from pydantic_ai.providers import Provider, infer_provider, infer_provider_class

from lockgate.agent.models.named import NamedModel
from lockgate.agent.models.patience import Patience
from lockgate.agent.models.providers.model import ProviderModel
from lockgate.agent.models.tuning import PLAIN, Tuning
from lockgate.errors import ConfigError, Problem
from lockgate.showing import visible

_VARIABLE: Final = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_MAX_WORDS: Final = 300
_GROUP: Final = re.compile(r"pydantic-ai-slim\[([a-z0-9-]+)\]")


def is_known(provider: str) -> bool:
    """Whether the library has a provider of this name, be its own library there or not."""
    try:
        infer_provider_class(provider)
    except ImportError:
        return True
    except (ValueError, UserError):
        return False
    return True


def make_model(
    named: NamedModel,
    *,
    tuning: Tuning = PLAIN,
    patience: Patience | None = None,
    path: str = "agent.model",
) -> ProviderModel:
    """The model of a name; nothing is connected yet. Raises as `library_model`."""
    model = library_model(named, path=path)
    return ProviderModel(named, model, tuning=tuning, patience=patience or Patience())


def library_model(named: NamedModel, *, path: str = "agent.model") -> Model:
    """The library's own model of a name.

    Raises `ConfigError` that says what to do where the provider's own library, a key or another
    setting is missing.
    """
    try:
        return infer_model(f"{named.provider}:{named.model}", lambda _: _provider(named))
    except ImportError as error:
        found = _GROUP.search(str(error))
        hint = f"run: pip install 'pydantic-ai-slim[{found[1]}]'" if found else None
        what = f"the library that {named.provider} needs is not installed"
        raise ConfigError(Problem(what, path, hint=hint)) from None
    except Exception as error:  # noqa: BLE001 - each provider's library has its own errors
        raise ConfigError(_unusable(named, error, path)) from None


def _provider(named: NamedModel) -> Provider[Any]:
    """The provider, with the key and the address that were looked up.

    Given where it takes them: what it takes from the process's environment by itself may differ.
    """
    if named.provider.startswith("gateway/"):
        return infer_provider(named.provider)
    kind = infer_provider_class(named.provider)
    takes = inspect.signature(kind.__init__).parameters
    given: dict[str, str] = {}
    if "api_key" in takes and named.key is not None:
        given["api_key"] = named.key
    if "base_url" in takes and named.address is not None:
        given["base_url"] = named.address
    if "api_key" in takes and named.key is None and named.address is not None:
        given["api_key"] = "none"  # a server of one's own, which asks for none
    return kind(**given)


def _unusable(named: NamedModel, error: Exception, path: str) -> Problem:
    """Variables that the library names are told; its own words where it names none, and only those
    that are meant for people: others may hold values."""
    words = str(error)
    variables = list(dict.fromkeys(_VARIABLE.findall(words)))
    what = f"the model {named.name!r} can not be used here ({type(error).__name__})"
    if variables:
        return Problem(what, path, hint=f"set in the environment: {', '.join(variables)}")
    meant = isinstance(error, UserError) and not (named.key and named.key in words)
    return Problem(what, path, hint=visible(words[:_MAX_WORDS]) if meant else None)
