"""Grep while another program changes what paths lead to: nothing of elsewhere is told."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

import pytest

from lockgate.builtin.files.grep import Grep
from lockgate.builtin.files.ripgrep import locate
from lockgate.content import Text
from lockgate.tools.result import ToolResult


class Direct(Protocol):
    """Runs tools on what their path was resolved to before."""

    def decided(self, path: str) -> AbstractContextManager[Any]: ...


def tree(work: Path, **contents: str) -> None:
    """Make files; `__` in a name is a slash, `_` a dot."""
    for name, content in contents.items():
        file = work / name.replace("__", "/").replace("_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)


def found(result: ToolResult) -> str:
    """The second block: what is the files'."""
    assert not result.is_error, result.text
    block = result.content[1]
    assert isinstance(block, Text)
    return block.text


def head(result: ToolResult) -> str:
    """The first block: what is ours."""
    assert not result.is_error, result.text
    block = result.content[0]
    assert isinstance(block, Text)
    return block.text


def racing(tmp_path: Path, before: str, after: str) -> Grep:
    """Grep with a ripgrep that is started after `before`, and followed by `after`: commands for
    what another program does to the files in the meantime."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "rg"
    real = locate("")
    script.write_text(f"#!/bin/sh\n{before}\n'{real}' \"$@\"\ncode=$?\n{after}\nexit $code\n")
    script.chmod(0o755)
    return Grep(str(folder), package="there-is-no-such-package")


@pytest.mark.parametrize("mode", ["content", "files", "count"])
@pytest.mark.parametrize(
    "after",
    [
        "printf 'plain\\n' > {t}",  # the plain file is back
        "printf 'plain\\n\\nTOKEN=1\\n' > {t}",  # with a match elsewhere
        "rm {t}; ln -s {s} {t}",  # a link to what ripgrep has read
        "rm {t}",
        "rm {t}; mkdir {t}",
    ],
)
async def test_what_was_read_by_a_name_that_led_elsewhere_is_not_told(
    direct: Direct, work: Path, tmp_path: Path, mode: str, after: str
) -> None:
    """For as long as ripgrep reads, the name means another file: nothing of that one is told, be
    it that the name is back by then, gone, or a link."""
    secret = tmp_path / "secret"
    secret.write_text("x\nTOKEN=1\n")
    target = work / "t"
    target.write_text("plain\n")
    names = {"t": f"'{target}'", "s": f"'{secret}'"}
    grep = racing(tmp_path, "cp {s} {t}".format(**names), after.format(**names))
    with direct.decided(".") as run:
        result = await run(grep, pattern="TOKEN", mode=mode)
    assert "TOKEN" not in result.text
    assert len(result.content) == 1
    assert (result.structured["files"], result.structured["matches"]) == (0, 0)
    assert ("search again" in result.text) is ("printf" in after)


@pytest.mark.parametrize("mode", ["content", "files", "count"])
async def test_a_directory_on_the_way_that_became_a_link_is_not_gone_through(
    direct: Direct, work: Path, tmp_path: Path, mode: str
) -> None:
    """What is found through it is outside; what is beside it is shown."""
    tree(tmp_path / "outside", a_txt="foo")
    tree(work, sub__a_txt="foo", z_txt="foo")
    after = f"rm -r '{work}/sub'; ln -s '{tmp_path}/outside' '{work}/sub'"
    with direct.decided(".") as run:
        result = await run(racing(tmp_path, "", after), pattern="foo", mode=mode)
    assert "sub" not in result.text
    assert found(result).startswith("z.txt")


@pytest.mark.parametrize("mode", ["content", "files", "count"])
async def test_a_file_that_another_program_writes_on_is_told_as_that(
    direct: Direct, work: Path, tmp_path: Path, mode: str
) -> None:
    """Lines that were added before the match move it; lines behind it change nothing."""
    tree(work, a_txt="x\nfoo\n", b_txt="foo\n")
    after = f"printf 'y\\nx\\nfoo\\n' > '{work}/a.txt'; echo x >> '{work}/b.txt'"
    with direct.decided(".") as run:
        result = await run(racing(tmp_path, "", after), pattern="foo", mode=mode)
    assert found(result).startswith("b.txt")
    assert "a.txt" not in found(result)
    assert "1 file is left out, changed during the search: search again" in head(result)
    assert result.structured["complete"] is False
