"""The page, the table of keys and the values agree about names and defaults."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from lockgate.mcp.endpoint import StdioEndpoint
from lockgate.mcp.host.settings import ServerSettings
from lockgate.settings.config import AgentSettings, ApprovalSettings, Config
from lockgate.settings.findings import Findings
from lockgate.settings.keys import AGENT, APPROVALS
from lockgate.settings.layers import locate
from lockgate.settings.loading import load
from lockgate.settings.reading import At, Key, Section
from lockgate.settings.reference import SECTIONS, key_tables
from lockgate.settings.server_keys import SERVER
from lockgate.settings.yamlfile import parse

PAGE = Path(__file__).parents[3] / "docs" / "configuration.md"
BEGIN, END = "<!-- keys: made from the code -->\n", "<!-- end of keys -->\n"


def keys() -> Iterator[tuple[Section, Key]]:
    """Every key of every section."""
    return ((section, key) for section in SECTIONS for key in section.keys)


def test_the_page_lists_every_key_with_its_default() -> None:
    """docs/configuration.md holds `settings.reference.key_tables()`, word for word."""
    page = PAGE.read_text("utf-8")
    assert page.split(BEGIN)[1].split(END)[0] == "\n" + key_tables()


def test_every_key_is_explained() -> None:
    """A key without a sentence is not one to offer."""
    assert [key.name for _, key in keys() if not key.doc.endswith(".")] == []


@pytest.mark.parametrize(
    ("section", "value"),
    [
        (AGENT, AgentSettings()),
        (APPROVALS, ApprovalSettings()),
        (SERVER, ServerSettings("a", StdioEndpoint("x"))),
        (SERVER, StdioEndpoint("x")),
    ],
)
def test_the_values_have_the_same_defaults(section: Section, value: Any) -> None:
    """A configuration made in Python starts from what an empty file means."""
    by_field = {_snake(key.name): key.default for key in section.keys}
    compared = 0
    for field in fields(value):
        if field.name in by_field and field.default is not MISSING:
            assert getattr(value, field.name) == by_field[field.name]
            compared += 1
    assert compared


def test_shown_defaults_are_the_defaults() -> None:
    """What the page shows as a default means exactly the default, where it is a value."""
    compared = 0
    for _, key in keys():
        words = {"required", "none", "nothing", "empty"}
        if key.default in (None, {}) or key.shown in words:
            continue
        findings = Findings()
        node = parse(key.shown, PAGE, findings)
        assert node is not None
        assert key.kind.read(node, At(findings, PAGE.parent, {})) == key.default, key.name
        compared += 1
    assert compared >= 10


def test_an_empty_file_is_an_empty_configuration(tmp_path: Path) -> None:
    """`Config()` and a file with nothing in it say the same."""
    environ = {"HOME": str(tmp_path)}
    file = tmp_path / "empty.yaml"
    file.touch()
    loaded, made = load(locate(tmp_path, environ, file), environ), Config()
    for name in ("servers", "startup_budget", "agent", "approvals", "rules"):
        assert getattr(loaded, name) == getattr(made, name)


def test_the_example_of_the_page_loads(tmp_path: Path) -> None:
    """The first YAML of the page is a configuration that can be used as it stands."""
    environ = {"HOME": str(tmp_path), "GITHUB_TOKEN": "x"}
    file = tmp_path / "lockgate.yaml"
    file.write_text(PAGE.read_text("utf-8").split("```yaml\n")[1].split("```")[0])
    config = load(locate(tmp_path, environ, file), environ)
    assert len(config.servers) == 2


def _snake(name: str) -> str:
    return "".join(f"_{char.lower()}" if char.isupper() else char for char in name)
