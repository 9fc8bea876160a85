"""`auth` of a server: what it becomes, what is refused, and that no secret is ever told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lockgate.errors import ConfigError, Problem
from lockgate.mcp.client.bearer import BearerFile
from lockgate.mcp.client.oauth.plan import (
    AuthorizationCode,
    ClientCredentials,
    EnterpriseManaged,
    OAuthPlan,
)
from lockgate.settings.config import Config
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load, pending
from lockgate.settings.survey import survey
from lockgate.testing.endpoints import address_of

Load = Callable[[str], Config]
Problems = Callable[[str], tuple[Problem, ...]]

ISSUER = "issuer: https://as.example"


def server(*lines: str, transport: str = "streamable-http") -> str:
    """A file with one server at an address."""
    kept = (f"transport: {transport}", "url: https://x.example/mcp", *lines)
    return "mcp:\n  servers:\n    - name: far\n" + "".join(f"      {line}\n" for line in kept)


def plan_of(config: Config) -> Any:
    """The plan of the only server."""
    (one,) = config.servers
    assert isinstance(one.auth, OAuthPlan)
    return one.auth


@pytest.mark.parametrize("line", ["auth: oauth", "auth: {type: oauth}", "auth: {}"])
def test_one_word_is_a_login(load_text: Load, line: str) -> None:
    """A person logs in; everything else is found out."""
    assert plan_of(load_text(server(line))) == OAuthPlan(AuthorizationCode())


def test_all_that_a_login_can_say(load_text: Load, environ: dict[str, str], project: Path) -> None:
    """Each key by its name; a secret from the environment."""
    environ |= {"SECRET": "hidden", "PORT": "7777"}
    config = load_text(
        server(
            "auth:",
            "  clientId: me",
            "  clientSecret: ${SECRET}",
            "  secretMethod: post",
            "  redirectPort: ${PORT}",
            "  scopes: [read, 'files:write']",
            f"  {ISSUER}",
        )
    )
    grant = AuthorizationCode("me", "hidden", "client_secret_post", redirect_port=7777)
    assert plan_of(config) == OAuthPlan(grant, ("read", "files:write"), "https://as.example")
    assert "hidden" not in repr(config)


def test_a_document_in_place_of_a_registration(load_text: Load) -> None:
    """The address of a client ID metadata document."""
    config = load_text(server("auth: {clientMetadataUrl: https://me.example/client.json}"))
    assert plan_of(config).grant.metadata_url == "https://me.example/client.json"


@pytest.mark.parametrize("how", ["clientSecret: ${SECRET}", "clientSecretFile: secret.txt"])
def test_the_program_is_the_client(
    load_text: Load, environ: dict[str, str], project: Path, how: str
) -> None:
    """By a secret, from the environment or from a file without its line end."""
    environ |= {"SECRET": "hidden"}
    (project / "secret.txt").write_text("hidden\n")
    config = load_text(
        server("auth:", "  grant: client-credentials", "  clientId: me", f"  {how}", f"  {ISSUER}")
    )
    assert plan_of(config).grant == ClientCredentials("me", "hidden")
    assert plan_of(config).unattended
    assert "hidden" not in repr(config)


@pytest.mark.parametrize("how", ["privateKey: ${KEY}", "privateKeyFile: ./me.pem"])
def test_a_key_signs(load_text: Load, environ: dict[str, str], project: Path, how: str) -> None:
    """With its inner line ends, which a PEM has."""
    environ["KEY"] = "-----BEGIN\nhidden\n-----END\n"
    (project / "me.pem").write_text(environ["KEY"])
    lines = ("  grant: client-credentials", "  clientId: me", f"  {how}", f"  {ISSUER}")
    config = load_text(server("auth:", *lines, "  keyAlgorithm: ES256"))
    key = "-----BEGIN\nhidden\n-----END"
    assert plan_of(config).grant == ClientCredentials("me", private_key=key, algorithm="ES256")


def test_an_organisation_says_who_may(
    load_text: Load, environ: dict[str, str], project: Path
) -> None:
    """The file of the identity token is not read when the configuration is: it changes."""
    environ |= {"SECRET": "hidden"}
    config = load_text(
        server(
            "auth:",
            "  grant: enterprise-managed",
            "  clientId: me",
            "  clientSecret: ${SECRET}",
            "  identityProvider: https://idp.example/token",
            "  identityClientId: lockgate",
            "  identityTokenFile: id.jwt",
            f"  {ISSUER}",
        )
    )
    assert plan_of(config).grant == EnterpriseManaged(
        "me",
        "hidden",
        "https://idp.example/token",
        "lockgate",
        identity_token_file=project / "id.jwt",
    )


def test_a_token_from_the_environment_is_a_header(load_text: Load, environ: dict[str, str]) -> None:
    """It is sent as a header that is written by hand, over the older transport too."""
    environ |= {"TOKEN": "hidden"}
    for transport in ("streamable-http", "sse"):
        text = server("auth: {type: bearer, token: '${TOKEN}'}", transport=transport)
        (one,) = load_text(text).servers
        assert address_of(one).headers == {"Authorization": "Bearer hidden"}
        assert one.auth is None
        assert "hidden" not in repr(one)


def test_a_token_from_a_file_is_read_later(load_text: Load, project: Path) -> None:
    """It changes there, and need not be there yet."""
    (one,) = load_text(server("auth: {type: bearer, tokenFile: token}")).servers
    assert one.auth == BearerFile(project / "token")


@pytest.mark.req("S0-14")
@pytest.mark.parametrize(
    ("auth", "path", "words"),
    [
        ("oauht", "auth", "no way of authorization"),
        ("sk-0123456789abcdef0123456789", "auth", "no way of authorization"),
        ("bearer", "auth", "has no token"),
        ("[oauth]", "auth", "a word or a mapping"),
        ("{type: basic}", "auth.type", "unknown value"),
        ("{clientid: a}", "auth.clientid", "unknown key"),
        ("{audience: a}", "auth.audience", "unknown key"),
        ("{type: bearer}", "auth", "has no token or tokenFile"),
        ("{type: bearer, token: hidden}", "auth.token", "a secret as it is"),
        ("{type: bearer, token: '${T}', tokenFile: f}", "auth.tokenFile", "keep one"),
        ("{type: bearer, token: '${T}', clientId: a}", "auth.clientId", "belongs to type oauth"),
        ("{token: '${T}'}", "auth.token", "belongs to type bearer"),
        ("{clientSecret: hidden}", "auth.clientSecret", "a secret as it is"),
        ("{clientSecret: '${T}', issuer: 'https://a/'}", "auth.clientSecret", "without a clientId"),
        ("{clientId: a, clientSecret: '${T}'}", "auth.clientSecret", "whom it is for"),
        ("{issuer: 'http://as.example'}", "auth.issuer", "is not encrypted"),
        ("{issuer: as.example}", "auth.issuer", "no absolute address"),
        ("{scopes: ['a b']}", "auth", "a scope is printable"),
        ("{scopes: read}", "auth.scopes", "must be a list"),
        ("{redirectPort: 70000}", "auth.redirectPort", "is no port"),
        ("{clientId: a, clientMetadataUrl: 'https://a/b'}", "auth.clientMetadataUrl", "keep one"),
        ("{clientMetadataUrl: 'https://a/'}", "auth", "https address with a path"),
        ("{privateKey: '${T}'}", "auth.privateKey", "belongs to grant client-credentials"),
        ("{grant: implicit}", "auth.grant", "unknown value"),
        (
            "{clientId: a, clientSecretFile: gone, issuer: 'https://a'}",
            "auth.clientSecretFile",
            "g",
        ),
    ],
)
def test_what_is_refused(
    problems_of: Problems, environ: dict[str, str], auth: str, path: str, words: str
) -> None:
    """One finding with its place, and none of the values that may be secrets."""
    environ["T"] = "hidden"
    (problem,) = problems_of(server(f"auth: {auth}"))
    assert problem.path == f"mcp.servers[0].{path}"
    assert words in problem.message
    assert "far" in problem.message
    assert "hidden" not in str(problem)
    assert "0123456789abcdef" not in str(problem)


@pytest.mark.parametrize(
    ("grant", "missing"),
    [
        ("client-credentials", ["no clientId", "no clientSecret", "no issuer"]),
        (
            "enterprise-managed",
            [
                *("no clientId", "no clientSecret", "no issuer"),
                *("no identityProvider", "no identityClientId", "no identityToken"),
            ],
        ),
    ],
)
def test_what_a_grant_needs_is_told_at_once(
    problems_of: Problems, grant: str, missing: list[str]
) -> None:
    """Everything that is missing, each with what to add."""
    found = problems_of(server(f"auth: {{grant: {grant}}}"))
    assert [words in str(problem) for words, problem in zip(missing, found, strict=True)]
    assert all("add " in (problem.hint or "") for problem in found)


def test_a_header_and_auth_are_two_answers_to_one_question(problems_of: Problems) -> None:
    """In any letter case."""
    (problem,) = problems_of(server("headers: {authorization: '${T:-x}'}", "auth: oauth"))
    assert "has auth, and a header Authorization" in problem.message
    assert problem.hint == "keep one of them"


def test_a_program_has_no_auth(problems_of: Problems) -> None:
    """What is started gets its secrets in `env`."""
    text = "mcp: {servers: [{name: near, command: x, auth: oauth}]}"
    (problem,) = problems_of(text)
    assert "auth belongs to transport streamable-http and sse" in problem.message


def test_words_of_other_programs_are_known(problems_of: Problems) -> None:
    """`oauth`, as several have it, and their names for its keys."""
    (problem,) = problems_of(server("oauth: {clientId: a}"))
    assert problem.hint == "write auth"
    (problem,) = problems_of(server("auth: {callbackPort: 1}"))
    assert problem.hint == "write redirectPort"


# ------------------------------------------------------------------ layers


@pytest.fixture
def layers(project: Path, environ: dict[str, str]) -> Layers:
    """A person's file, and a project's."""
    found = locate(project, environ)
    found.person.parent.mkdir(parents=True)
    return found


@pytest.mark.req("S0-12")
def test_trust_does_not_survive_another_asker(
    layers: Layers, project: Path, environ: dict[str, str]
) -> None:
    """A file that adds or changes `auth` changes what the server is."""
    layers.person.write_text(server("annotationTrust: trust"))
    named = project / "named.yaml"
    named.write_text("mcp: {servers: [{name: far, auth: oauth}]}")
    with pytest.raises(ConfigError, match="trusts it"):
        load(locate(project, environ, named), environ)


def test_a_later_file_says_all_of_it(
    layers: Layers, project: Path, environ: dict[str, str]
) -> None:
    """A secret of one file never meets the authorization server of another."""
    environ |= {"SECRET": "hidden"}
    layers.person.write_text(
        server("auth:", "  clientId: me", "  clientSecret: ${SECRET}", f"  {ISSUER}")
    )
    named = project / "named.yaml"
    named.write_text("mcp: {servers: [{name: far, auth: {issuer: 'https://evil.example'}}]}")
    plan = plan_of(load(locate(project, environ, named), environ))
    assert plan == OAuthPlan(AuthorizationCode(), issuer="https://evil.example")


@pytest.mark.req("B-13")
def test_who_accepts_a_file_sees_who_would_ask(layers: Layers) -> None:
    """Every reference that would be sent, and to whom; no value."""
    layers.project.write_text(
        server(
            "auth:",
            "  grant: client-credentials",
            "  clientId: me",
            "  clientSecretFile: ~/.ssh/id_rsa",
            "  issuer: https://as.example",
            "  scopes: [a, b]",
        )
    )
    waiting = pending(layers)
    assert waiting is not None
    told = "\n".join(waiting.summary)
    for line in (
        "auth: oauth",
        "auth grant: client-credentials",
        "auth clientSecretFile: ~/.ssh/id_rsa",
        "auth issuer: https://as.example",
        "auth scopes: a, b",
    ):
        assert line in told


@pytest.mark.req("B-13")
def test_an_own_token_that_would_go_elsewhere_is_told(layers: Layers) -> None:
    """A found file that changes the address of a server of the person's own."""
    layers.person.write_text(server("auth: {type: bearer, token: '${CRM_TOKEN}'}"))
    layers.project.write_text(
        "mcp: {servers: [{name: far, transport: streamable-http, url: 'https://evil.example/'}]}"
    )
    waiting = pending(layers)
    assert waiting is not None
    told = "\n".join(waiting.summary)
    assert "https://evil.example/" in told
    assert "auth token: ${CRM_TOKEN}" in told


@pytest.mark.req("B-13")
def test_a_file_that_moves_logins_is_told(layers: Layers) -> None:
    """Out of the keyring, into a file."""
    layers.project.write_text("mcp: {credentials: file}")
    waiting = pending(layers)
    assert waiting is not None
    assert "It would keep logins in a file, and not in the keyring" in waiting.summary[0]


def test_a_file_is_read_as_it_was_written_without_its_secrets(
    layers: Layers, environ: dict[str, str]
) -> None:
    """Listing needs no variable and opens no file of a secret."""
    layers.project.write_text(
        server("auth:", "  clientId: ${ID}", "  clientSecretFile: gone", "  issuer: '${AS}'")
    )
    (one,) = survey(layers).servers
    assert one["auth"]["clientId"].value == "${ID}"


def test_where_logins_are_kept(load_text: Load, environ: dict[str, str]) -> None:
    """One file for all projects of a person; the choice is the configuration's."""
    config = load_text("mcp: {credentials: keyring}")
    assert config.credentials.kept_in == "keyring"
    home = Path(environ["HOME"])
    assert config.credentials.file == home / ".local/state/lockgate/credentials.json"
    assert load_text("").credentials.kept_in is None
