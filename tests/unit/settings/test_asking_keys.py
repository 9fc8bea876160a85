"""What a server may ask for, as it is configured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.errors import ConfigError
from lockgate.mcp.host.settings import AskingPolicy, SamplingSettings, ServerSettings
from lockgate.mcp.protocol.elicitation import Mode
from lockgate.settings.layers import locate
from lockgate.settings.loading import load, pending

SERVER = "mcp: {servers: [{name: a, command: run, %s}]}"


@pytest.fixture
def server(project: Path, environ: dict[str, str]) -> Callable[[str], ServerSettings]:
    """`server("roots: [x]")`: the one server with these keys."""

    def read(keys: str) -> ServerSettings:
        file = project / "named.yaml"
        file.write_text(SERVER % keys)
        (found,) = load(locate(project, environ, file), environ).servers
        return found

    return read


def test_unless_it_is_said_a_person_may_be_asked_and_nothing_else(
    server: Callable[[str], ServerSettings],
) -> None:
    """Sampling is off, and no directory is told."""
    found = server("args: []")
    assert found.elicitation is AskingPolicy.BOTH
    assert found.sampling is None
    assert found.roots == ()


@pytest.mark.parametrize(
    ("policy", "modes"),
    [("both", set(Mode)), ("forms", {Mode.FORM}), ("addresses", {Mode.URL}), ("none", set[Mode]())],
)
def test_the_ways_of_asking_are_chosen(
    server: Callable[[str], ServerSettings], policy: str, modes: set[Mode]
) -> None:
    """By words of its own."""
    assert server(f"elicitation: {policy}").elicitation.modes == modes


def test_sampling_has_a_model_and_limits(
    server: Callable[[str], ServerSettings], project: Path
) -> None:
    """The model is relative to the file; each limit has its default, and asking is one."""
    model = f"scripted:{project / 'm.yaml'}"
    assert server("sampling: {model: 'scripted:m.yaml'}").sampling == SamplingSettings(model)
    more = "model: 'scripted:m.yaml', maxTokens: 5, perHour: 2, ask: false"
    given = server(f"sampling: {{{more}}}").sampling
    assert given == SamplingSettings(model, 5, 2, ask=False)


def test_roots_are_relative_to_the_file(
    server: Callable[[str], ServerSettings], project: Path
) -> None:
    """They need not be there: a server is told of them, and reaches nothing by it."""
    (project.parent / "link").symlink_to(project)
    found = server("roots: [sub, /abs, ../link/sub]").roots
    assert found == (project.resolve() / "sub", Path("/abs"))


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ("elicitation: froms", "forms"),
        ("elicitation: url", "write addresses"),
        ("sampling: {}", "sampling without a model"),
        ("sampling: true", "mapping"),
        ("sampling: {model: gpt}", "names no usable model"),
        ("sampling: {model: 'scripted:m', maxTokens: 0}", "whole number from 1"),
        ("sampling: {model: 'scripted:m', perHour: many}", "whole number from 1"),
        ("sampling: {model: 'scripted:m', max_tokens: 3}", "maxTokens"),
        ("roots: x", "list"),
        ("root: [x]", "roots"),
    ],
)
def test_what_can_not_be_used_is_said_with_what_can(
    server: Callable[[str], ServerSettings], keys: str, told: str
) -> None:
    """A misspelt key or word stops the start."""
    with pytest.raises(ConfigError, match=told):
        server(keys)


@pytest.mark.req("B-13")
@pytest.mark.parametrize(
    ("keys", "told"),
    [
        (
            "sampling: {model: 'scripted:m.yaml', perHour: 7}",
            "have scripted:m.yaml complete what it likes, 7 times an hour",
        ),
        ("sampling: {model: 'scripted:m.yaml', ask: false}", "WITHOUT ASKING YOU"),
        ("roots: [/home/me/secret]", "tell a of /home/me/secret"),
    ],
)
def test_what_a_found_file_would_give_a_server_is_told(
    project: Path, environ: dict[str, str], keys: str, told: str
) -> None:
    """Who accepts a project's file is shown that it switches these on."""
    layers = locate(project, environ)
    layers.project.write_text(SERVER % keys)
    waiting = pending(layers)
    assert waiting is not None
    summary = " ".join(" ".join(waiting.summary).replace("|", " ").split())  # as it is wrapped
    assert told in summary


@pytest.mark.parametrize("keys", ["sampling: {model: 'scripted:m'}", "roots: [x]"])
def test_what_one_server_was_given_another_is_not(
    project: Path, environ: dict[str, str], keys: str
) -> None:
    """S0-12: a later layer that changes what is started has to say it again."""
    layers = locate(project, environ)
    layers.person.parent.mkdir(parents=True, exist_ok=True)
    layers.person.write_text(SERVER % keys)
    named = project / "named.yaml"
    named.write_text("mcp: {servers: [{name: a, command: other}]}")
    with pytest.raises(ConfigError, match="changes what is started"):
        load(locate(project, environ, named), environ)
