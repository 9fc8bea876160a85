"""Logins in the keyring of a system: what is kept there, and what takes its place."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.errors import ConfigError
from lockgate.mcp.client.oauth.store import Credentials, Place
from lockgate.stores.credentials import KeptCredentials
from lockgate.stores.system_keyring import KeyringUnusable, SystemKeyring, system_backend
from lockgate.testing.keyring import SECRET_WORDS, MakeStore, ScriptedKeyring, some_credentials

PLACE = Place("crm", "https://x.example/mcp")
OTHER_NAME = Place("crm-too", "https://x.example/mcp")


async def test_the_keyring_keeps_tokens_and_the_file_none(make: MakeStore) -> None:
    """In the file stands what a list shows; in the keyring one entry of ours for each login."""
    ring = ScriptedKeyring()
    store = make(ring)
    await store.save(PLACE, some_credentials())
    assert not any(word in store.path.read_text() for word in SECRET_WORDS)
    assert [service for service, _ in ring.kept] == ["lockgate"]
    assert await make(ring).load(PLACE) == some_credentials()
    (login,) = store.logins()
    assert (login.kept_in, login.issuer, login.scope) == (
        "keyring",
        "https://as.example",
        "read write",
    )
    assert (login.expires_at, login.renewable) == (2000.0, True)
    await store.save(PLACE, Credentials())
    assert ring.kept == {}


async def test_lists_ask_no_keyring(make: MakeStore) -> None:
    """It may be locked, or far away."""
    ring = ScriptedKeyring()
    await make(ring).save(PLACE, some_credentials())
    ring.asked = 0
    make(ring).logins()
    make(ring).login(PLACE)
    assert ring.asked == 0


@pytest.mark.parametrize(
    "ring", [ScriptedKeyring(forgetful=True), ScriptedKeyring(fails=RuntimeError("ACCESS-abc"))]
)
async def test_the_file_takes_its_place_and_says_so(
    make: MakeStore, notes: list[str], ring: ScriptedKeyring
) -> None:
    """One that fails, or drops what it is given; what it said is told by its kind alone."""
    store = make(ring)
    await store.save(PLACE, some_credentials())
    assert await store.load(PLACE) == some_credentials()
    assert store.logins()[0].kept_in == "file"
    (note,) = notes
    assert "the keyring of this system can not be used" in note
    assert str(store.path) in note
    assert not any(word in note for word in SECRET_WORDS)


async def test_what_is_in_the_file_stays_there(make: MakeStore, notes: list[str]) -> None:
    """A program that renews tokens asks no keyring that could not be used at the login."""
    await make(None).save(PLACE, some_credentials())
    ring = ScriptedKeyring()
    await make(ring).save(PLACE, some_credentials("NEW"))
    assert ring.asked == 0
    await make(ring, anew=True).save(PLACE, some_credentials("NEWER"))
    assert make().logins()[0].kept_in == "keyring"
    assert "NEWER" not in make().path.read_text()
    assert await make(ring).load(PLACE) == some_credentials("NEWER")
    assert len(notes) == 1


async def test_there_or_nowhere(make: MakeStore) -> None:
    """`credentials: keyring` keeps nothing in a file; the error says what to do."""
    store = make(ScriptedKeyring(fails=RuntimeError("no")), "keyring")
    with pytest.raises(ConfigError, match="can not be used") as raised:
        await store.save(PLACE, some_credentials())
    assert "mcp.credentials: file" in str(raised.value)
    assert store.logins() == ()


async def test_a_choice_that_changed_moves_a_login(make: MakeStore) -> None:
    """Into the file, and out of the keyring; it is never in both."""
    ring = ScriptedKeyring()
    await make(ring).save(PLACE, some_credentials())
    await make(ring, "file").save(PLACE, some_credentials())
    assert ring.kept == {}
    assert await make(ring, "file").load(PLACE) == some_credentials()


async def test_a_locked_keyring_is_no_login_and_says_why(make: MakeStore) -> None:
    """What is kept there is not taken for forgotten."""
    ring = ScriptedKeyring()
    await make(ring).save(PLACE, some_credentials())

    class KeyringLocked(Exception):
        """As the package calls it."""

    ring.fails = KeyringLocked("ACCESS-abc")
    with pytest.raises(ConfigError, match="it is locked") as raised:
        await make(ring).load(PLACE)
    assert "lockgate mcp login crm" in str(raised.value)
    assert not any(word in str(raised.value) for word in SECRET_WORDS)


async def test_what_a_person_took_out_of_the_keyring_is_gone(make: MakeStore) -> None:
    """Theirs to do."""
    ring = ScriptedKeyring()
    await make(ring).save(PLACE, some_credentials())
    ring.kept.clear()
    assert await make(ring).load(PLACE) == Credentials()
    await make(ring).save(PLACE, Credentials())
    assert make().logins() == ()


async def test_a_damaged_entry_is_told(make: MakeStore) -> None:
    """Without what is in it."""
    ring = ScriptedKeyring()
    await make(ring).save(PLACE, some_credentials())
    ring.kept = dict.fromkeys(ring.kept, "ACCESS-abc")
    with pytest.raises(ConfigError, match="can not be read") as raised:
        await make(ring).load(PLACE)
    assert "ACCESS" not in str(raised.value)


@pytest.fixture
def hanging() -> Iterator[ScriptedKeyring]:
    """A keyring behind a bus that never answers; its threads end with the test."""
    ring = ScriptedKeyring(hangs=True)
    yield ring
    ring.release.set()


async def test_one_that_hangs_is_given_up(
    hanging: ScriptedKeyring, tmp_path: Path, notes: list[str]
) -> None:
    """Within its bound, once; the loop goes on meanwhile, and it is not asked again."""
    keyring = SystemKeyring(find=lambda: hanging, patience=0.05)
    store = KeptCredentials(
        tmp_path / "credentials.json", new_id=lambda: "id", keyring=keyring, note=notes.append
    )
    async with asyncio.timeout(10):
        await store.save(PLACE, some_credentials())
        await store.save(OTHER_NAME, some_credentials())
    assert hanging.asked == 1
    assert "did not answer within" in notes[0]
    assert await store.load(PLACE) == some_credentials()


async def test_one_that_takes_its_time_is_waited_for_and_told(
    hanging: ScriptedKeyring, tmp_path: Path, notes: list[str]
) -> None:
    """It may ask the person to unlock it: then it is used all the same."""
    keyring = SystemKeyring(find=lambda: hanging, slow=hanging.release.set, slow_after=0.02)
    store = KeptCredentials(
        tmp_path / "credentials.json", new_id=lambda: "id", keyring=keyring, note=notes.append
    )
    await store.save(PLACE, some_credentials())
    assert store.logins()[0].kept_in == "keyring"
    assert notes == []


def test_a_system_without_a_keyring_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Backends that keep nothing, or plain text, are none."""
    keyring = pytest.importorskip("keyring")
    before = keyring.get_keyring()
    fail = pytest.importorskip("keyring.backends.fail")
    null = pytest.importorskip("keyring.backends.null")
    try:
        for backend in (fail.Keyring(), null.Keyring()):
            keyring.set_keyring(backend)
            with pytest.raises(KeyringUnusable, match="has none"):
                system_backend()
    finally:
        keyring.set_keyring(before)


async def test_nothing_shows_a_token(
    make: MakeStore, caplog: pytest.LogCaptureFixture, notes: list[str]
) -> None:
    """Neither a log, nor what stands for these objects in one."""
    caplog.set_level(0)
    store = make(ScriptedKeyring(fails=RuntimeError("REFRESH-def")))
    await store.save(PLACE, some_credentials())
    shown = [repr(store), repr(await store.load(PLACE)), *map(repr, store.logins()), *notes]
    shown += [record.getMessage() for record in caplog.records]
    assert not any(word in text for word in SECRET_WORDS for text in shown)
