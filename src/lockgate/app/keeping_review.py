"""Writing what a reviewer accepted: pins and verdicts, both or neither."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lockgate.app.review import ServerReview, ToolReview
from lockgate.errors import ConfigError, Problem
from lockgate.mcp.host.settings import Verdict
from lockgate.process.hidden import Hidden
from lockgate.settings.layers import Layers
from lockgate.settings.pins import PinnedTool
from lockgate.settings.pins_file import PinsWritten, change_pins, undo
from lockgate.settings.survey import survey
from lockgate.settings.writing import Written, write_verdicts
from lockgate.showing import visible


@dataclass(frozen=True, slots=True)
class Kept:
    """What came of a review."""

    pins: PinsWritten
    verdicts: Written | None
    """None: no verdict was written."""


def keep(
    layers: Layers,
    reviewed: ServerReview,
    accepted: Mapping[str, Verdict | None],
    *,
    secrets: Sequence[str],
    gone: bool = False,
) -> Kept:
    """Pin the tools named in `accepted` as they were reviewed, and write the verdicts given there.

    With `gone` the pins of tools that are not listed any more are taken out. Verdicts go to the
    file that configures the server: the project's if it names it, else the person's own. `secrets`
    are values that no file which people commit may hold. Raises `ConfigError`, and leaves both
    files as they were, if anything of it can not be written.
    """
    by_name = {tool.listed.name: tool for tool in reviewed.tools}
    _refuse_secrets([by_name[name] for name in accepted], secrets)
    verdicts = {name: verdict for name, verdict in accepted.items() if verdict is not None}
    path = _file_of(layers, reviewed.server) if verdicts else None
    tools: dict[str, PinnedTool | None] = {name: by_name[name].now for name in accepted}
    if gone:
        tools.update(dict.fromkeys(reviewed.gone))
    pins = change_pins(layers, lambda held: held.accepting(reviewed.server, tools))
    if path is None:
        return Kept(pins, None)
    try:
        written = write_verdicts(layers, path, reviewed.server, verdicts)
    except BaseException:
        # A verdict without its pin would hold for whatever the server lists next.
        undo(layers, pins)
        raise
    return Kept(pins, written)


def _file_of(layers: Layers, server: str) -> Path:
    for written in survey(layers).servers:
        if written.name == server:
            return layers.project if layers.project in written.files else written.files[-1]
    raise ConfigError(Problem(f'no server called "{server}" is configured'))


def _refuse_secrets(tools: Sequence[ToolReview], secrets: Sequence[str]) -> None:
    hidden = Hidden(secrets)
    held = [tool.listed.name for tool in tools if hidden.hide(text := _texts(tool.now)) != text]
    if held:
        names = visible(", ".join(held)[:300])
        message = f"nothing is pinned: a configured secret stands in the definition of {names}"
        raise ConfigError(Problem(message, hint="people commit pins: have the server not say it"))


def _texts(tool: PinnedTool) -> str:
    values = (tool.name, dict(tool.definition), tool.instructions, tool.command)
    return json.dumps(values, ensure_ascii=False)
