"""Verdicts are put into a file by hand's width: everything else of it stays as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.errors import ConfigError
from lockgate.mcp.host.settings import Verdict
from lockgate.settings.layers import Layers, locate
from lockgate.settings.loading import load
from lockgate.settings.verdict_text import set_verdicts, verdict_words
from lockgate.settings.writing import write_verdicts
from lockgate.traits import (
    ConcurrencyBehavior,
    DestructiveBehavior,
    IdempotencyBehavior,
    SideEffectLevel,
)

FILE = Path("lockgate.yaml")
READS = Verdict(SideEffectLevel.READ_ONLY)
DESTROYS = Verdict(destructive=DestructiveBehavior.DESTRUCTIVE)
ADDS = Verdict(
    destructive=DestructiveBehavior.NON_DESTRUCTIVE, idempotent=IdempotencyBehavior.IDEMPOTENT
)

PLAIN = """\
# mine
mcp:
  servers:
    - name: git   # the one
      command: serve

    # about the other
    - name: other
      command: x
agent: {ceiling: mutating}
"""


def _set(text: str, tool: str = "log", verdict: Verdict = READS) -> str:
    return set_verdicts(text, "git", {tool: verdict}, FILE)


def test_a_server_without_verdicts_gets_some() -> None:
    """Below its own last line, before the comment about its neighbour; again, beside the first."""
    once = _set(PLAIN)
    assert once == PLAIN.replace(
        "      command: serve\n",
        "      command: serve\n      verdicts:\n        log: {level: read-only}\n",
    )
    again = _set(once, "put", ADDS)
    assert again == once.replace(
        "        log: {level: read-only}\n",
        "        log: {level: read-only}\n        put: {destructive: false, idempotent: true}\n",
    )


VERDICTS = """\
mcp:
  servers:
    - name: git
      command: serve
      verdicts:%s
      required: true
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" {}", "\n        log: {level: read-only}"),
        ("", "\n        log: {level: read-only}"),
        (" {put: {level: mutating}}", ' {put: {level: mutating}, "log": {"level": "read-only"}}'),
        (
            "\n        put: {level: mutating}  # sure",
            "\n        put: {level: mutating}  # sure\n        log: {level: read-only}",
        ),
        (
            "\n        log: {level: mutating}  # for now\n        put: {level: mutating}",
            "\n        log: {level: read-only}  # for now\n        put: {level: mutating}",
        ),
        (
            "\n        log:\n          level: mutating\n          idempotent: true\n        put:\n"
            "          level: mutating",
            "\n        log: {level: read-only}\n        put:\n          level: mutating",
        ),
    ],
)
def test_a_verdict_is_added_or_takes_the_place_of_the_one_there_was(
    before: str, after: str
) -> None:
    """In every layout; comments and the order of keys stay."""
    assert _set(VERDICTS % before) == VERDICTS % after


def test_a_file_in_json_stays_json() -> None:
    """What a program wrote on one line is edited on that line."""
    text = '{"mcp": {"servers": [{"name": "git", "command": "x"}]}}'
    once = _set(text)
    assert once == (
        '{"mcp": {"servers": [{"name": "git", "command": "x", '
        '"verdicts": {"log": {"level": "read-only"}}}]}}'
    )
    assert _set(once, verdict=DESTROYS) == once.replace(
        '{"level": "read-only"}', '{"destructive": true}'
    )


def test_line_ends_are_kept() -> None:
    """A file with CR LF has no line without."""
    text = PLAIN.replace("\n", "\r\n")
    assert _set(text) == _set(PLAIN).replace("\n", "\r\n")


@pytest.mark.parametrize(
    "text",
    [
        "mcp: {servers: [{name: other, command: x}]}",
        "",
        VERDICTS % "\n        log:  # a reason\n          level: mutating",
    ],
)
def test_what_can_not_be_edited_safely_is_left_alone(text: str) -> None:
    """No such server, or a comment that would be lost: an error says what to write by hand."""
    with pytest.raises(ConfigError):
        _set(text)


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), min_size=1, max_size=20))
def test_any_name_of_a_tool_can_be_written(name: str) -> None:
    """Names are strangers' texts: quoted where YAML would read something else in them."""
    try:
        written = _set(PLAIN, name)
    except ConfigError:
        # A key of more than YAML's line for keys, or a character its files may not hold.
        assert any(ord(char) > 0xFFFD or not char.isprintable() for char in name)
        return
    assert "read-only" in written


_verdicts = st.builds(
    Verdict,
    level=st.none() | st.just(SideEffectLevel.MUTATING),
    destructive=st.none() | st.sampled_from(DestructiveBehavior),
    idempotent=st.none() | st.sampled_from(IdempotencyBehavior),
    concurrent=st.none() | st.sampled_from(ConcurrencyBehavior),
).filter(lambda verdict: verdict != Verdict())


@given(_verdicts)
def test_what_is_written_reads_as_the_same_verdict(
    tmp_path_factory: pytest.TempPathFactory, verdict: Verdict
) -> None:
    """Every field, and nothing that was not said."""
    folder = tmp_path_factory.mktemp("project")
    file = folder / "lockgate.yaml"
    file.write_text(PLAIN, encoding="utf-8")
    environ = {"HOME": str(folder / "home")}
    layers = locate(folder, environ, file)
    write_verdicts(layers, file, "git", {"log": verdict})
    assert load(layers, environ).servers[0].verdicts == {"log": verdict}
    assert len(verdict_words(verdict)) == sum(
        word is not None
        for word in (verdict.level, verdict.destructive, verdict.idempotent, verdict.concurrent)
    )


@pytest.mark.req("B-13")
def test_verdicts_keep_an_accepted_file_accepted(project: Path, environ: dict[str, str]) -> None:
    """The person gave the command; a file that nobody accepted stays unaccepted."""
    layers: Layers = locate(project, environ)
    layers.project.write_text(PLAIN, encoding="utf-8")
    written = write_verdicts(
        layers, layers.project, "git", {"log": Verdict(SideEffectLevel.MUTATING)}
    )
    assert not written.accepted
