"""Where definitions are looked for, and names that stand twice."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from lockgate.agent.definitions.folders import MAX_FILES, by_name, files_of
from lockgate.errors import ConfigError


@dataclass(frozen=True)
class Thing:
    """A definition of nothing."""

    name: str
    path: Path | None = None


def test_a_directory_means_its_markdown_files_in_order(tmp_path: Path) -> None:
    """Not hidden ones, not those of other kinds, and not those further down."""
    for name in ("b.md", "a.md", ".hidden.md", "notes.txt"):
        (tmp_path / name).write_text("x")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "SKILL.md").write_text("x")
    assert [path.name for path in files_of(tmp_path)] == ["a.md", "b.md"]
    assert files_of(tmp_path, "*/SKILL.md") == (tmp_path / "sub" / "SKILL.md",)
    assert files_of(tmp_path / "a.md") == (tmp_path / "a.md",)


def test_a_link_does_not_lead_out(tmp_path: Path) -> None:
    """A link inside is as good as the file; one that leaves names what it is."""
    inside = tmp_path / "agents"
    inside.mkdir()
    (inside / "a.md").write_text("x")
    (inside / "same.md").symlink_to("a.md")
    assert len(files_of(inside)) == 2
    (tmp_path / "secret").write_text("x")
    (inside / "z.md").symlink_to("../secret")
    with pytest.raises(ConfigError, match=r"z\.md: leads out of its directory"):
        files_of(inside)


def test_what_is_not_there_and_what_is_too_much(tmp_path: Path) -> None:
    """Both are told: a definition that is silently missing would change what an agent does."""
    with pytest.raises(ConfigError, match="no such file or directory"):
        files_of(tmp_path / "none")
    for number in range(MAX_FILES + 1):
        (tmp_path / f"{number}.md").touch()
    with pytest.raises(ConfigError, match="over 200 definitions"):
        files_of(tmp_path)


def test_a_name_that_stands_twice_is_told_with_both_places() -> None:
    """No definition takes the place of another unseen."""
    first, second = Thing("a", Path("x/a.md")), Thing("b")
    assert list(by_name([first, second])) == ["a", "b"]
    with pytest.raises(ConfigError) as caught:
        by_name([first, second, Thing("a", Path("y/a.md")), Thing("b", Path("b.md"))])
    assert "y/a.md: name: the name 'a' stands twice\n  the first: x/a.md" in str(caught.value)
    assert "b.md: name: the name 'b' stands twice\n  the first: given by the program" in str(
        caught.value
    )
