"""A call that comes as soon as a server is in use."""

from __future__ import annotations

from pathlib import Path

import pytest

from lockgate.testing.fleet import Fleet
from lockgate.testing.script import ECHO, LEGACY, ScriptedServer, When
from lockgate.testing.steps import Answer, Send

CHANGED = Send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})


@pytest.mark.req("S3-18")
async def test_a_change_while_the_first_list_is_read_is_waited_for(tmp_path: Path) -> None:
    """It was announced in front of the list: the first call waits for the second list, and goes."""
    server = ScriptedServer(
        tools=(ECHO,),
        revisions=LEGACY,
        capabilities={"tools": {"listChanged": True}},
        rules=(When("tools/list", CHANGED, Answer(), nth=1),),
    )
    async with Fleet(tmp_path) as fleet:
        ledger = fleet.add("a", server)
        assert (await fleet.start()).failed == ()
        result = await fleet.call("mcp__a__echo", n=1)
        assert (result.is_error, result.text) == (False, '{"n": 1}')
    assert ledger.called == ("echo",)
