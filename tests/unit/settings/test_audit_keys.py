"""The `audit` section: sizes, ages, and what is no such thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.errors import ConfigError
from lockgate.settings.config import AuditSettings
from lockgate.settings.layers import locate
from lockgate.settings.loading import load


def loaded(tmp_path: Path, text: str) -> AuditSettings:
    """The section as a named file with this text gives it."""
    file = tmp_path / "lockgate.yaml"
    file.write_text(text, "utf-8")
    environ = {"HOME": str(tmp_path)}
    return load(locate(tmp_path, environ, file), environ).audit


def test_the_defaults_are_those_of_the_value(tmp_path: Path) -> None:
    """A section that is not there, or empty, is `AuditSettings()`."""
    assert loaded(tmp_path, "") == loaded(tmp_path, "audit:\n") == AuditSettings()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("content: true", AuditSettings(content=True)),
        ("maxSegmentBytes: 4096", AuditSettings(max_segment_bytes=4096)),
        ("maxSegmentBytes: 512KiB", AuditSettings(max_segment_bytes=524_288)),
        ("maxSegmentBytes: 2GiB", AuditSettings(max_segment_bytes=2_147_483_648)),
        ("maxSegmentAge: 12h", AuditSettings(max_segment_age=43_200.0)),
        ("keep: 30d", AuditSettings(keep=2_592_000.0)),
        ("keep: forever", AuditSettings(keep=None)),
    ],
)
def test_each_key_is_read(tmp_path: Path, text: str, wanted: AuditSettings) -> None:
    """Sizes in bytes and binary units, ages in hours and days."""
    assert loaded(tmp_path, f"audit:\n  {text}\n") == wanted


@pytest.mark.parametrize(
    "text",
    [
        "maxSegmentBytes: 100",
        "maxSegmentBytes: 64MB",
        "maxSegmentBytes: 2048GiB",
        "maxSegmentBytes: -1",
        "maxSegmentBytes: [1]",
        "maxSegmentAge: 0d",
        "maxSegmentAge: forever",
        "keep: 90",
        "keep: 99999d",
        "keep: never",
        "content: maybe",
        "enabled: false",
    ],
)
def test_what_is_no_value_is_told_with_its_place(tmp_path: Path, text: str) -> None:
    """The finding names the line and the key, and what to write."""
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, f"audit:\n  {text}\n")
    [problem] = caught.value.problems
    assert problem.line == 2
    assert problem.hint or "neither true nor false" in problem.message
