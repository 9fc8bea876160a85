"""What real servers answered, read and negotiated: tests/data/corpus."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lockgate.content import Text, UnknownContent
from lockgate.mcp.protocol.eras import REVISIONS, known
from lockgate.mcp.protocol.jsonrpc import Failure, Incoming, Invalid, Response, decode, decode_value
from lockgate.mcp.protocol.negotiation import Finding, Found, Step, Use, advance, begin
from lockgate.mcp.protocol.results import (
    parse_call_result,
    parse_discover,
    parse_initialize,
    parse_tools_page,
)

CORPUS = sorted((Path(__file__).parents[3] / "data" / "corpus").glob("*.json"))
SERVERS: dict[str, dict[str, Any]] = {p.stem: json.loads(p.read_text("utf-8")) for p in CORPUS}
ANSWERING = {name: server for name, server in SERVERS.items() if "discover" in server}


def arrived(message: Any) -> Incoming:
    """A recorded message as it comes in."""
    return decode(json.dumps(message, ensure_ascii=False).encode())


def found(message: dict[str, Any], *, probing: bool) -> Finding:
    """What a recorded answer is to the negotiation."""
    if "_eof" in message:
        return Finding(Found.EXITED)
    if "_timeout" in message:
        return Finding(Found.SILENT)
    incoming = arrived(message)
    if isinstance(incoming, Failure):
        return Finding.refused(incoming)
    assert isinstance(incoming, Response)
    if probing:
        return Finding.discovered(parse_discover(incoming.result))
    return Finding.initialized(parse_initialize(incoming.result))


def negotiated(server: dict[str, Any]) -> Step:
    """The end of the negotiation with a recorded server."""
    now, step = advance(begin()[0], found(server.get("discover", {"_timeout": 1}), probing=True))
    if isinstance(step, Use):
        return step
    return advance(now, found(server["initialize"], probing=False))[1]


def test_the_corpus_is_there() -> None:
    """72 servers, 67 of which answer."""
    assert len(SERVERS) == 72
    assert len(ANSWERING) == 67


@pytest.mark.parametrize("name", ANSWERING)
def test_a_revision_is_agreed_upon_with_every_server_that_answers(name: str) -> None:
    """Modern with those that answer the probe with a modern list, else the one it chose."""
    server = ANSWERING[name]
    step = negotiated(server)
    assert isinstance(step, Use)
    discovered = server["discover"].get("result", {}).get("supportedVersions", [])
    expected = (
        "2026-07-28"
        if "2026-07-28" in discovered
        else server["initialize"]["result"]["protocolVersion"]
    )
    assert step.revision.name == expected


def test_servers_that_do_not_answer_are_not_agreed_with() -> None:
    """Three end, two stay silent."""
    for name in SERVERS.keys() - ANSWERING.keys():
        assert not isinstance(negotiated(SERVERS[name]), Use), name


def test_an_unknown_offer_is_answered_with_a_known_version() -> None:
    """All of them name a version of theirs, as the specification asks."""
    for name, server in ANSWERING.items():
        for member in ("initialize_1900", "initialize_2024_11_05", "initialize_2026"):
            version = server[member]["result"]["protocolVersion"]
            assert known(version) in REVISIONS, name


@pytest.mark.parametrize("name", ANSWERING)
def test_every_real_tool_is_listed(name: str) -> None:
    """None is left out, each schema is the one that was sent, nothing is remarked upon."""
    for key in ("tools_list", "tools_list_2026"):
        for message in ANSWERING[name].get(key, ()):
            if "result" not in message:
                continue
            incoming = arrived(message)
            assert isinstance(incoming, Response)
            page = parse_tools_page(incoming.result)
            sent = message["result"]["tools"]
            assert page.left_out == ()
            assert page.remarks == ()
            assert [tool.name for tool in page.tools] == [tool["name"] for tool in sent]
            for tool, original in zip(page.tools, sent, strict=True):
                assert tool.input_schema == original["inputSchema"]
                assert tool.raw == original
                assert tool.remarks == tool.claims.remarks == ()


@pytest.mark.parametrize("name", ANSWERING)
def test_every_answer_to_an_unknown_tool_is_an_error_or_a_result(name: str) -> None:
    """With text a person can read."""
    message = ANSWERING[name]["unknown_tool"]
    if "_eof" in message or "_timeout" in message:
        return
    incoming = arrived(message)
    if isinstance(incoming, Failure):
        assert incoming.message
        return
    assert isinstance(incoming, Response)
    result = parse_call_result(incoming.result)
    assert result.remarks == ()
    assert all(isinstance(block, Text) for block in result.content)
    assert not any(isinstance(block, UnknownContent) for block in result.content)


def test_real_noise_is_noise() -> None:
    """What servers print to standard output between messages is invalid and answers nobody."""
    noise = [line for s in SERVERS.values() for _, line in s.get("stdout_not_jsonrpc", ())]
    assert len(noise) >= 5
    for line in noise:
        incoming = decode(line.encode())
        assert isinstance(incoming, Invalid)
        assert (incoming.id, incoming.asked) == (None, None)


@pytest.mark.parametrize("name", ANSWERING)
def test_values_are_what_the_standard_library_reads(name: str) -> None:
    """One decoder, and it agrees with Python's on every recorded answer."""
    for message in ANSWERING[name].values():
        if isinstance(message, dict) and "result" in message:
            incoming = arrived(message)
            assert isinstance(incoming, Response)
            assert decode_value(incoming.result) == message["result"]
