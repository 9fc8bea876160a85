"""Servers that are reached over HTTP: their keys, and what of them is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.endpoint import HttpEndpoint, SseEndpoint
from lockgate.settings.config import Config
from lockgate.settings.findings import Findings
from lockgate.settings.joining import faults_of
from lockgate.settings.keys import ROOT
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.settings.reading import At, Draft, read_section
from lockgate.settings.yamlfile import parse
from lockgate.testing.endpoints import address_of

Load = Callable[[str], Config]
Problems = Callable[[str], tuple[Problem, ...]]


def server(*lines: str, transport: str | None = "streamable-http") -> str:
    """A file with one server at an address."""
    kept = [] if transport is None else [f"transport: {transport}"]
    inner = "".join(f"      {line}\n" for line in (*kept, *lines))
    return f"mcp:\n  servers:\n    - name: far\n{inner}"


@pytest.mark.req("S3-16")
@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("streamable-http", HttpEndpoint),
        ("STREAMABLE_HTTP", HttpEndpoint),
        ("sse", SseEndpoint),
        ("SSE", SseEndpoint),
    ],
)
def test_a_server_at_an_address(load_text: Load, word: str, kind: type) -> None:
    """Each transport by its name, and by the upper-case one of older files."""
    config = load_text(server("url: https://x.example/mcp", transport=word))
    assert type(config.servers[0].endpoint) is kind
    assert address_of(config.servers[0]).url == "https://x.example/mcp"


def test_all_that_says_how(load_text: Load, environ: dict[str, str], project: Path) -> None:
    """References are replaced, paths are relative to the file, an empty proxy is none at all."""
    environ |= {"HOST": "x.example", "TOKEN": "abc"}
    config = load_text(
        server(
            "url: https://${HOST}/mcp",
            "headers: {Authorization: 'Bearer ${TOKEN}', X-Team: one}",
            "tls: {caFile: ca.pem, clientCert: ~/me.pem, clientKey: keys/me.key}",
            'proxy: ""',
            "requestTimeout: 5s",
        )
    )
    endpoint = address_of(config.servers[0])
    assert endpoint.url == "https://x.example/mcp"
    assert endpoint.headers == {"Authorization": "Bearer abc", "X-Team": "one"}
    assert endpoint.ca_file == project / "ca.pem"
    assert endpoint.client_cert == Path(environ["HOME"]) / "me.pem"
    assert endpoint.client_key == project / "keys/me.key"
    assert endpoint.proxy == ""
    assert config.servers[0].request_timeout == 5.0
    assert "abc" not in repr(config)


@pytest.mark.parametrize(
    ("lines", "path", "words"),
    [
        (["url: ftp://x/"], "url", "only http and https"),
        (["url: x.example/mcp"], "url", "no absolute address"),
        (["url: http://me:hidden@x/"], "url", "a user name or a password"),
        (["url: https://x/#part"], "url", "a fragment"),
        (['url: ""'], "url", "is empty"),
        (["url: https://x/", "headers: {Authorization: Bearer hidden}"], "headers.A", "a secret"),
        (["url: https://x/", "headers: {X-API-Key: hidden}"], "headers.X", "a secret"),
        (["url: https://x/", "headers: {Content-Type: hidden}"], "headers.C", "transport"),
        (["url: https://x/", "headers: {Mcp-Session-Id: '${T}'}"], "headers.M", "the transport"),
        (["url: https://x/", "headers: {a b: hidden}"], "headers.a b", "no name of a header"),
        (["url: https://x/", "headers: {X: a, x: b}"], "headers.x", "twice"),
        (["url: https://x/", "headers: [hidden]"], "headers", "must be a mapping"),
        (["url: https://x/", "tls: {verify: false}"], "tls.verify", "unknown key"),
        (["url: https://x/", "tls: {clientKey: k}"], "", "a client key without"),
        (["url: https://x/", "proxy: socks5://p/"], "proxy", "only http and https"),
        (["url: https://x/", "command: npx"], "command", "command belongs to transport stdio"),
        (["url: https://x/", "env: {A: hidden}"], "env", "env belongs to transport stdio"),
        (["headers: {A: b}"], "", "has no url"),
        (["ulr: https://x/"], "ulr", "unknown key"),
        (["url: https://x/", "tls: {cafile: a}"], "tls.cafile", "unknown key"),
    ],
)
def test_what_is_refused(
    problems_of: Problems, environ: dict[str, str], lines: list[str], path: str, words: str
) -> None:
    """One finding with its place, and none of the values that may be secrets."""
    environ["T"] = "hidden"
    (problem,) = problems_of(server(*lines))
    assert problem.path.startswith(f"mcp.servers[0]{'.' if path else ''}{path}")
    assert words in problem.message
    assert "far" in problem.message
    assert "hidden" not in str(problem)


def test_keys_of_the_other_kind_are_named_with_the_transport(problems_of: Problems) -> None:
    """A program has no url."""
    (problem,) = problems_of(server("command: npx", "proxy: http://p/", transport="stdio"))
    assert "proxy belongs to transport streamable-http and sse" in problem.message
    assert "this one is stdio" in problem.message


def test_a_url_alone_asks_for_its_transport(problems_of: Problems) -> None:
    """Which of the two it is, nobody can see from an address."""
    (problem,) = problems_of(server("url: https://x/", transport=None))
    assert "no transport" in problem.message
    assert "streamable-http" in (problem.hint or "")


@pytest.mark.parametrize("value", ["a\\nb", "\\x01", "日本"])
def test_a_header_that_no_header_can_be_is_refused_without_its_value(
    problems_of: Problems, environ: dict[str, str], value: str
) -> None:
    """Also one that a variable holds."""
    environ["V"] = "日本"
    for text in (f'"{value}"', "${V}"):
        (problem,) = problems_of(server("url: https://x/", f"headers: {{X: {text}}}"))
        assert "日本" not in str(problem)


@pytest.mark.parametrize(
    "change",
    [
        "url: https://y.example/",
        "headers: {Authorization: '${OTHER}'}",
        "tls: {caFile: x.pem}",
        "proxy: http://p.example/",
        "transport: sse",
    ],
)
@pytest.mark.req("S0-12")
def test_trust_is_lost_by_what_changes_who_is_asked(
    project: Path, environ: dict[str, str], change: str
) -> None:
    """A later file that leads elsewhere has to say so itself, or take another name."""
    environ |= {"XDG_CONFIG_HOME": str(project / "mine"), "OTHER": "x"}
    person = project / "mine" / "lockgate" / "config.yaml"
    person.parent.mkdir(parents=True)
    person.write_text(server("url: https://x.example/", "annotationTrust: trust"))
    file = project / "lockgate.yaml"
    file.write_text(server(change, transport=None))
    with pytest.raises(ConfigError) as caught:
        load(locate(project, environ, file), environ)
    assert "changes what is connected to" in str(caught.value)


def test_headers_of_layers_are_joined_by_name(project: Path, environ: dict[str, str]) -> None:
    """Letter case makes no other header."""
    environ |= {"XDG_CONFIG_HOME": str(project / "mine"), "A": "1", "B": "2"}
    person = project / "mine" / "lockgate" / "config.yaml"
    person.parent.mkdir(parents=True)
    person.write_text(server("url: https://x.example/", "headers: {X-Key: '${A}', Y: z}"))
    file = project / "lockgate.yaml"
    file.write_text(server("headers: {x-key: '${B}'}", transport=None))
    config = load(locate(project, environ, file), environ)
    assert address_of(config.servers[0]).headers == {"Y": "z", "x-key": "2"}


def test_a_file_is_judged_without_its_variables(project: Path, environ: dict[str, str]) -> None:
    """An address or a proxy that a variable is part of is no fault before it is known."""
    file = project / "lockgate.yaml"
    text = server("url: https://${HOST}/x", "proxy: ${PROXY}", "headers: {X-Key: '${KEY}'}")
    findings = Findings()
    node = parse(text, file, findings)
    draft: Draft = {}
    if node is not None:
        draft = read_section(ROOT, node, At(findings, project, None))
    layers = locate(project, environ, file)
    assert not findings
    assert faults_of(layers, (draft,), {}).problems == ()
