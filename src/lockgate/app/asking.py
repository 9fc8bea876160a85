"""What servers may ask of this gate, and who answers: the program, the terminal, a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from lockgate.bridges.reception import Reception
from lockgate.errors import LocalError
from lockgate.mcp.client.services import (
    SERVES_NOTHING,
    Elicit,
    ListRoots,
    Occasion,
    Root,
    Sample,
    Services,
)
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import Config

if TYPE_CHECKING:  # what has to do with models is imported where a server may use one
    from lockgate.agent.model import Model
    from lockgate.bridges.sampling import Consent

GivenServices: TypeAlias = Mapping[str, Services] | Callable[[str], Services | None]
"""A program's own answers, by the configured name of the server; None, or no entry: the
configuration's."""


@dataclass(frozen=True, slots=True)
class Answerers:
    """Who is there to answer."""

    attended: bool
    reception: Reception
    within: float | None
    """Seconds that a person has."""
    elicit: Elicit | None = None
    """Asks the person; None where nobody can be asked by us."""
    consent: Consent | None = None
    """Asks them whether a model may be used."""


def services_of(
    config: Config,
    given: GivenServices | None,
    answerers: Answerers,
    models: Callable[[str], Model],
) -> Callable[[ServerSettings], Services]:
    """What each server may ask.

    A program's own handlers go before those of the configuration. Nobody is asked in a gate that
    nobody attends, and by no way that the operator has switched off. `models` gives the model of a
    name. Raises `ConfigError` for a
    model that can not be loaded, and `LocalError` for services of a server that is not configured.
    """
    if given is not None and not callable(given):
        known = {server.name for server in config.servers}
        if strange := sorted(set(given) - known):
            raise LocalError(f"services are given for {strange[0]!r}, and no server is called that")
    found = {
        server.name: models(server.sampling.model)
        for server in config.servers
        if server.sampling is not None
    }

    def services(settings: ServerSettings) -> Services:
        own = _given(given, settings.name)
        elicit = own.elicit or answerers.elicit
        modes = settings.elicitation.modes
        if own.elicit is not None:
            modes &= own.modes
        if not (answerers.attended and modes):
            elicit = None
        sample = own.sample
        if sample is not None:
            sample = answerers.reception.samples(sample)
        else:
            sample = _sampling(settings, found.get(settings.name), answerers)
        roots = own.roots or _roots(settings.roots)
        if elicit is None and sample is None and roots is None:
            # The very value: by it calls know that they need not say what they are about.
            none = own.extensions == SERVES_NOTHING.extensions
            return SERVES_NOTHING if none else Services(extensions=own.extensions)
        return Services(
            elicit=None if elicit is None else answerers.reception.elicits(elicit),
            modes=modes,
            sample=sample,
            sampling_tools=own.sample is not None and own.sampling_tools,
            roots=roots,
            extensions=own.extensions,
        )

    return services


def _given(given: GivenServices | None, name: str) -> Services:
    found = None
    if given is not None:
        found = given(name) if callable(given) else given.get(name)
    if found is None:
        return SERVES_NOTHING
    if not isinstance(found, Services):  # pyright: ignore[reportUnnecessaryIsInstance] - a program may give anything
        raise LocalError(f"services must be a Services, not {type(found).__name__}")
    return found


def _sampling(settings: ServerSettings, model: Model | None, who: Answerers) -> Sample | None:
    """The configured model; None where nobody can be asked who has to be."""
    sampling = settings.sampling
    if sampling is None or model is None:
        return None
    if sampling.ask and not (who.attended and who.consent is not None):
        return None
    from lockgate.bridges.sampling import ModelSampling

    return ModelSampling(sampling, model, who.reception, who.consent, who.within)


def _roots(directories: Sequence[Path]) -> ListRoots | None:
    if not directories:
        return None
    real = tuple(dict.fromkeys(directory.resolve() for directory in directories))

    async def roots(occasion: Occasion) -> Sequence[Root]:
        """Those that are there now, and are still where they were: a server is not sent to one
        that is not, nor to where a link leads that was put there since."""
        del occasion
        there = [d for d in real if d.is_dir() and d.resolve() == d]
        return tuple(Root(directory.as_uri(), directory.name or None) for directory in there)

    return roots
