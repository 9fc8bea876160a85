"""What a model's name says: which provider, which model, and what has to be there to use it.

Known without the library that talks to providers (the extra `models`), so that a slip, a missing
key and a missing extra are told at once and cost nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from lockgate.errors import ConfigError, Problem
from lockgate.schema.spelling import nearest

SCRIPTED: Final = "scripted"
EXTRA: Final = "install lockgate with its extra `models`, in a clone pip install -e '.[models]'"
"""What to do where the library is missing."""
_EXAMPLES: Final = "such as anthropic:claude-sonnet-4-6, openai:gpt-5 or scripted:replies.yaml"


@dataclass(frozen=True, slots=True)
class Access:
    """Where a provider's key and address come from: names of environment variables."""

    keys: tuple[str, ...] = ()
    """Any one of them. Empty: the provider has credentials of its own kind, and says what lacks."""
    address: str | None = None
    """The address to use in the place of the provider's own."""
    keyless: bool = False
    """Whether an `address` that is set makes a key needless: a server of one's own."""
    default: str | None = None
    """The address without `address`, where it is not left to the provider's library."""


_OPENAI: Final = Access(
    ("OPENAI_API_KEY",), "OPENAI_BASE_URL", keyless=True, default="https://api.openai.com/v1"
)

PROVIDERS: Final[Mapping[str, Access]] = MappingProxyType(
    {
        "alibaba": Access(("ALIBABA_API_KEY", "DASHSCOPE_API_KEY")),
        "anthropic": Access(
            ("ANTHROPIC_API_KEY",), "ANTHROPIC_BASE_URL", default="https://api.anthropic.com"
        ),
        "azure": Access(),
        "azure-responses": Access(),
        "bedrock": Access(),
        "cerebras": Access(("CEREBRAS_API_KEY",)),
        "cohere": Access(("CO_API_KEY",)),
        "crusoe": Access(("CRUSOE_API_KEY",)),
        "deepseek": Access(("DEEPSEEK_API_KEY",)),
        "fireworks": Access(("FIREWORKS_API_KEY",)),
        "google": Access(("GOOGLE_API_KEY", "GEMINI_API_KEY")),
        "google-cloud": Access(),
        "groq": Access(("GROQ_API_KEY",), "GROQ_BASE_URL"),
        "heroku": Access(("HEROKU_INFERENCE_KEY",), "HEROKU_INFERENCE_URL"),
        "huggingface": Access(("HF_TOKEN",)),
        "litellm": Access(),
        "meta": Access(("META_API_KEY",)),
        "mistral": Access(("MISTRAL_API_KEY",)),
        "moonshotai": Access(("MOONSHOTAI_API_KEY",), "MOONSHOTAI_BASE_URL"),
        "nebius": Access(("NEBIUS_API_KEY",)),
        "ollama": Access(("OLLAMA_API_KEY",), "OLLAMA_BASE_URL", keyless=True),
        "openai": _OPENAI,
        "openai-chat": _OPENAI,
        "openai-responses": _OPENAI,
        "openrouter": Access(("OPENROUTER_API_KEY",)),
        "ovhcloud": Access(("OVHCLOUD_API_KEY",)),
        "sambanova": Access(("SAMBANOVA_API_KEY",), "SAMBANOVA_BASE_URL"),
        "snowflake": Access(),
        "together": Access(("TOGETHER_API_KEY",)),
        "vercel": Access(("VERCEL_AI_GATEWAY_API_KEY", "VERCEL_OIDC_TOKEN")),
        "vllm": Access(("VLLM_API_KEY",), "VLLM_BASE_URL", keyless=True),
        "xai": Access(("XAI_API_KEY",)),
        "zai": Access(("ZAI_API_KEY",)),
    }
)
"""The providers that are known by name. Others that the library knows are left to it."""


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A name, taken apart, with what it needs from the environment."""

    name: str
    provider: str
    model: str
    key: str | None = None
    key_from: str | None = None
    """The variable that the key is in, or would be in: for what is said of it."""
    address: str | None = None

    def __repr__(self) -> str:
        return f"<NamedModel {self.name}>"  # the key stays unseen


def read_name(name: str, *, path: str = "agent.model") -> tuple[str, str]:
    """The provider and the rest of `name`.

    Raises `ConfigError` for what is no name of a model; `path` is where it stands.
    """
    provider, colon, rest = name.partition(":")
    if not colon or not provider.strip() or not rest.strip():
        raise ConfigError(
            Problem(f"there is no model {name!r}", path, hint=f"write provider:model, {_EXAMPLES}")
        )
    return provider, rest


def look_up(
    name: str,
    environ: Mapping[str, str],
    known: Callable[[str], bool] | None,
    *,
    path: str = "agent.model",
) -> NamedModel:
    """What `name` means here, with its key and address from `environ`.

    `known` says whether the library has a provider that is not in `PROVIDERS`; None where the extra
    `models` is not installed. Raises `ConfigError` that says what to do for an unknown provider, a
    missing extra, a missing key.
    """
    provider, model = read_name(name, path=path)
    access = PROVIDERS.get(provider)
    if access is None and not (known is not None and known(provider)):
        raise ConfigError(Problem(f"there is no provider {provider!r}", path, hint=_hint(provider)))
    if known is None:
        what = f"the library for models of {provider} is not installed"
        raise ConfigError(Problem(what, path, hint=EXTRA))
    return _needs(name, provider, model, access or Access(), environ, path)


def _needs(
    name: str, provider: str, model: str, access: Access, environ: Mapping[str, str], path: str
) -> NamedModel:
    variable = next((key for key in access.keys if environ.get(key, "").strip()), None)
    address = environ.get(access.address, "").strip() if access.address else ""
    if address and not _is_address(address):
        what = f"the environment variable {access.address} is no address of a server"
        raise ConfigError(Problem(what, path, hint="write http://HOST or https://HOST, and a path"))
    if access.address and access.keyless and access.default is None and not address:
        what = f"models of {provider} need the address of their server"
        hint = f"set the environment variable {access.address}"
        raise ConfigError(Problem(what, path, hint=hint))
    if access.keys and variable is None and not (access.keyless and address):
        what = f"models of {provider} need a key, and none is set"
        hint = f"set the environment variable {' or '.join(access.keys)}"
        raise ConfigError(Problem(what, path, hint=hint))
    key = environ[variable].strip() if variable is not None else None
    named = variable or (access.keys[0] if access.keys else None)
    return NamedModel(name, provider, model, key, named, address or access.default)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _hint(provider: str) -> str:
    known = (SCRIPTED, *PROVIDERS)
    near = nearest(provider, known)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(sorted(known))}"
