"""Having the tool costs nothing: the HTTP library and the converter come with the first page."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"aiohttp", "html_to_markdown", "publicsuffixlist", "yarl"}


@pytest.mark.parametrize(
    ("code", "brings"),
    [
        ("from lockgate.builtin.web.fetch import WebFetch; WebFetch()", set[str]()),
        ("import lockgate.rules.url", set[str]()),
        (
            "from lockgate.rules.url import UrlPattern; UrlPattern.parse('domain:a.com')",
            {"publicsuffixlist"},
        ),
        ("from lockgate.rules.url import resolve_url; resolve_url('https://a.com/')", {"yarl"}),
    ],
)
def test_what_is_loaded(code: str, brings: set[str]) -> None:
    """Each library with the first thing that needs it."""
    code = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=30
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert loaded & HEAVY == brings
