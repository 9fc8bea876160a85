"""What the wire needs to reach a server, and what of it may be shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.endpoint import HttpEndpoint, StdioEndpoint


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"url": "mcp"}, "absolute"),
        ({"url": "http://h/", "headers": {"a b": "x"}}, "no name"),
        ({"url": "http://h/", "headers": {"X": "t0psecret\r\nY: z"}}, "the header X"),
        ({"url": "http://h/", "headers": {"X": " t0psecret"}}, "the header X"),
        ({"url": "http://h/", "headers": {"X": ""}}, "the header X"),
        ({"url": "http://h/", "headers": {"Accept": "x"}}, "belongs to the transport"),
        ({"url": "http://h/", "headers": {"mcp-session-id": "x"}}, "belongs to the transport"),
        ({"url": "http://u:t0psecret@h/", "headers": {"authorization": "x"}}, "keep one"),
        ({"url": "http://h/", "client_key": "x"}, "certificate"),
        ({"url": "http://h/", "proxy": "socks5://u:t0psecret@h"}, "proxy"),
    ],
)
def test_an_endpoint_that_can_not_be_used_is_refused(more: dict[str, Any], why: str) -> None:
    """When it is made, with what to change and no value."""
    with pytest.raises(ValueError, match=why) as caught:
        HttpEndpoint(**more)
    assert "t0psecret" not in str(caught.value)


def test_an_endpoint_is_known_by_its_address_and_the_names_of_its_headers() -> None:
    """What a fingerprint covers holds no secret; nor does what is printed of it."""
    endpoint = HttpEndpoint(
        "https://u:t0psecret1@h/mcp?token=t0psecret2&a=b",
        headers={"X-Key": "t0psecret3", "x-a": "t0psecret4"},
    )
    assert endpoint.identity() == {
        "url": "https://h/mcp?token=***&a=b",
        "headers": ["x-a", "x-key"],
    }
    assert "t0psecret" not in repr(endpoint)
    assert {f"t0psecret{n}" for n in (1, 2, 3, 4)} <= set(endpoint.secrets())
    assert endpoint.network == "tcp"


def stdio(project: str, **more: Any) -> dict[str, object]:
    """What is covered of a server of a project there."""
    place = Path(project)
    options: dict[str, Any] = {"cwd": place, "project": place, **more}
    return StdioEndpoint("python", ("server.py",), **options).identity()


@pytest.mark.parametrize(
    "more",
    [
        {"cwd": Path("/p/other"), "cwd_said": True},
        {"cwd": Path("/elsewhere"), "cwd_said": True},
        {"env": {"PATH": "/p/bin:/usr/bin"}},
        {"env": {"LD_PRELOAD": "x.so"}},
        {"env": {"NODE_OPTIONS": "--require x"}},
        {"env": {"PYTHONPATH": "/p/lib"}},
    ],
)
def test_what_decides_which_program_runs_is_covered(more: dict[str, Any]) -> None:
    """Another directory is another program, and so is another value of such a variable."""
    found = stdio("/p", **more)
    assert found != stdio("/p", env=dict.fromkeys(more.get("env", ()), "other"))
    assert "/p/bin" not in str(found)


def test_a_project_that_stands_elsewhere_has_the_same_identity() -> None:
    """What lies in it is named from it: the command, the directory, the parts of a PATH."""

    def at(project: str) -> dict[str, object]:
        place = Path(project)
        env = {"PATH": f"{project}/bin:/usr/bin", "TOKEN": project}
        return StdioEndpoint(
            f"{project}/run", (), env, place / "sub", cwd_said=True, project=place
        ).identity()

    assert at("/home/a/p") == at("/srv/q")
    assert at("/srv/q")["cwd"] == "./sub"
    assert at("/srv/q")["command"] == "./run"


def test_the_projects_own_directory_is_the_same_said_or_not() -> None:
    """It is where a server starts anyway; and values of other variables are no part of it."""
    assert stdio("/p", cwd_said=True) == stdio("/p")
    assert stdio("/p", env={"TOKEN": "a"}) == stdio("/p", env={"TOKEN": "b"})


@pytest.mark.parametrize(
    "more",
    [
        {"proxy": "http://proxy:3128"},
        {"proxy": ""},
        {"ca_file": Path("/p/ca.pem")},
        {"client_cert": Path("/p/c.pem")},
        {"client_cert": Path("/p/c.pem"), "client_key": Path("/p/k.pem")},
    ],
)
def test_what_decides_who_answers_is_covered(more: dict[str, Any]) -> None:
    """A proxy and certificates can put another server in the place of this one."""
    plain = HttpEndpoint("https://h/mcp", project=Path("/p")).identity()
    found = HttpEndpoint("https://h/mcp", project=Path("/p"), **more).identity()
    assert found != plain
    assert "/p/" not in str(found)
    secret = HttpEndpoint("https://h/mcp", proxy="http://u:t0psecret@h").identity()
    assert "t0psecret" not in str(secret)
