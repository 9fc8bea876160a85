"""The `sessions` section: ages, numbers, and what is no such thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.errors import ConfigError
from lockgate.settings.config import SessionSettings
from lockgate.settings.layers import locate
from lockgate.settings.loading import load


def loaded(tmp_path: Path, text: str) -> SessionSettings:
    """The section of a file that says `text`."""
    file = tmp_path / "lockgate.yaml"
    file.write_text(text, encoding="utf-8")
    environ = {"HOME": str(tmp_path)}
    return load(locate(tmp_path, environ, file), environ).sessions


def test_without_it_the_defaults_hold(tmp_path: Path) -> None:
    """Left out, empty, or made in a program."""
    assert loaded(tmp_path, "") == loaded(tmp_path, "sessions:\n") == SessionSettings()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("keep: never", SessionSettings(keep=0)),
        ("keep: forever", SessionSettings(keep=None)),
        ("keep: 12h", SessionSettings(keep=12 * 3600)),
        ("maxCount: 5", SessionSettings(max_count=5)),
        ("maxBytes: 1MiB", SessionSettings(max_bytes=1024**2)),
    ],
)
def test_each_key_is_read(tmp_path: Path, text: str, wanted: SessionSettings) -> None:
    """In the words of the page."""
    assert loaded(tmp_path, f"sessions:\n  {text}\n") == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("keep: false", "12h or 90d"),
        ("keep: 0d", "no usable age"),
        ("keep: 5m", "no usable age"),
        ("keep: [1d]", "an age, forever or never"),
        ("maxCount: 0", "no usable number"),
        ("maxCount: 1.5", "no usable number"),
        ("maxCount: 1000000", "no usable number"),
        ("maxCount: {}", "must be a number"),
        ("maxBytes: 1", "no usable size"),
        ("max: 1", "max"),
    ],
)
def test_what_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    """With what to write instead."""
    with pytest.raises(ConfigError, match=said):
        loaded(tmp_path, f"sessions:\n  {text}\n")
