"""What the tests of stores share: logs under one key, records to write, stores of logins."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
import pytest

from lockgate.calls.records import DecisionRecord, OutcomeRecord
from lockgate.stores.audit import AuditLog
from lockgate.stores.credentials import KeptCredentials
from lockgate.stores.credentials_file import KeptIn
from lockgate.stores.system_keyring import KeyringUnusable, SystemKeyring
from lockgate.testing.keyring import MakeStore, ScriptedKeyring

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


@pytest.fixture
def notes() -> list[str]:
    """What a person was told by a store of logins."""
    return []


@pytest.fixture
def make(tmp_path: Path, notes: list[str]) -> MakeStore:
    """`make(ring, kept_in, anew=...)`: a store of logins; `ring` is the keyring, None: none."""
    ids = count(1)

    def make_it(
        ring: ScriptedKeyring | None = None, kept_in: KeptIn | None = None, *, anew: bool = False
    ) -> KeptCredentials:
        def find() -> ScriptedKeyring:
            if ring is None:
                raise KeyringUnusable("this system has none that it could find")
            return ring

        return KeptCredentials(
            tmp_path / "state" / "credentials.json",
            new_id=lambda: f"id{next(ids)}",
            keyring=SystemKeyring(find=find, patience=5.0),
            kept_in=kept_in,
            anew=anew,
            note=notes.append,
        )

    return make_it
