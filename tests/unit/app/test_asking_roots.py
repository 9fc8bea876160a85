"""Which directories a server is told of."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import lockgate
from lockgate.agent.models.book import ModelBook
from lockgate.agent.models.scripted import ScriptedModel
from lockgate.app.asking import Answerers, GivenServices, services_of
from lockgate.bridges.reception import Reception
from lockgate.calls.records import AskedRecord
from lockgate.mcp.client.services import ListRoots
from lockgate.testing.clock import FakeClock

WHO = lockgate.Occasion("s", "ask", "c1")


class Nowhere:
    """No record: directories are told without one."""

    def asked(self, record: AskedRecord) -> None:
        raise OSError(28, "No space left on device")


def _roots(*directories: Path, given: GivenServices | None = None) -> ListRoots:
    """What answers a server with these roots."""
    server = lockgate.ServerSettings("s", lockgate.StdioEndpoint("run"), roots=directories)
    clock = FakeClock()
    reception = Reception(
        Nowhere(), time=clock, monotonic=clock, within=None, tell=lambda text: None
    )
    config = lockgate.Config(servers=(server,))
    models = ModelBook(lambda name: ScriptedModel((), name=name))
    services = services_of(config, given, Answerers(False, reception, None), models)(server)
    assert services.roots is not None
    return services.roots


async def test_a_server_is_told_where_its_roots_lead(tmp_path: Path) -> None:
    """The real path of a link, once, and nothing of one that was put there since."""
    for name in ("real", "later"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("real")
    roots = _roots(tmp_path / "link", tmp_path / "real", tmp_path / "later")
    (tmp_path / "later").rmdir()
    (tmp_path / "later").symlink_to("/")
    real = (tmp_path / "real").resolve()
    assert await roots(WHO) == (lockgate.Root(real.as_uri(), "real"),)


async def test_roots_can_be_the_programs(tmp_path: Path) -> None:
    """In place of those of the configuration."""
    own = (lockgate.Root("file:///of/the/program"),)

    async def roots(occasion: lockgate.Occasion) -> Sequence[lockgate.Root]:
        return own

    answering = _roots(tmp_path, given={"s": lockgate.Services(roots=roots)})
    assert await answering(WHO) == own
