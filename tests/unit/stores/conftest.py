"""What the tests of the audit log share: logs under one key, and records to write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.stores.audit import AuditLog

NOON = 1_800_000_000.0


@pytest.fixture(scope="session")
def audit_key() -> bytes:
    """The key of every log in these tests."""
    return bytes(range(32))


@pytest.fixture(scope="session")
def audit_log(audit_key: bytes) -> Callable[..., AuditLog]:
    """`audit_log(directory, name=..., time=..., keeping=..., write=...)`."""

    def make(directory: Path, name: str = "abcdefgh", **options: object) -> AuditLog:
        given = {"key": audit_key, "time": lambda: NOON, "new_id": lambda: name, **options}
        return AuditLog(directory, **given)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - keywords as they come

    return make


@pytest.fixture(scope="session")
def decided() -> Callable[..., DecisionRecord]:
    """`decided(call, decision="run", **fields)`."""

    def make(call: str, decision: str = "run", **fields: object) -> DecisionRecord:
        given = {
            "record": "decision",
            "call": call,
            "time": NOON,
            "entry": "test",
            "execution": "e",
            "tool": "t",
            "decision": decision,
            "reasons": [{"code": "exempt", "text": "because"}],
            "argumentsDigest": "d",
            "kind": None if decision == "run" else "denied",
            **fields,
        }
        return msgspec.convert(given, DecisionRecord)

    return make


@pytest.fixture(scope="session")
def ended() -> Callable[..., OutcomeRecord]:
    """`ended(call, fate="answered")`."""

    def make(call: str, fate: str = "answered") -> OutcomeRecord:
        return OutcomeRecord(call, NOON, False, fate, 0.5, 1, execution="e")

    return make
