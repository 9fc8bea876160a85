"""What a child sees of the host's environment: a short list, each entry with its reason."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.process.environment import POSIX, PREFIX, WINDOWS, child_environment

SECRETS = {"MODEL_API_KEY": "a", "DB_PASSWORD": "b", "GATEWAY_TOKEN": "c", "AWS_PROFILE": "d"}


def test_secrets_of_the_host_do_not_pass() -> None:
    """PB-029: what is not on the list and not configured is not there."""
    assert child_environment({**SECRETS, "PATH": "/bin"}, {}, windows=False) == {"PATH": "/bin"}


def test_what_is_configured_lies_over_the_list() -> None:
    """PB-027: entries override, they do not replace everything else."""
    host = {"PATH": "/bin", "HOME": "/root", "LC_ALL": "C", "LANG": "C"}
    found = child_environment(host, {"FOO": "bar", "LANG": "ko_KR.UTF-8"}, windows=False)
    assert found == {**host, "FOO": "bar", "LANG": "ko_KR.UTF-8"}


@given(st.dictionaries(st.text(min_size=1), st.text()), st.booleans())
def test_nothing_else_ever_passes(host: dict[str, str], windows: bool) -> None:
    """Whatever the host's variables are called."""
    for name in child_environment(host, {}, windows=windows):
        assert name in (WINDOWS if windows else POSIX) or (name.startswith(PREFIX) and not windows)


def test_names_have_no_case_on_windows() -> None:
    """`Path` is PATH there, and a configured `path` overrides it."""
    found = child_environment({"Path": "a", "Secret": "b"}, {"path": "c"}, windows=True)
    assert found == {"PATH": "c"}


@pytest.mark.parametrize("table", [POSIX, WINDOWS])
def test_every_name_has_a_reason(table: dict[str, str]) -> None:
    """A variable is on the list for a reason, or it is not on the list."""
    assert all(table.values())
