"""Logins in a keyring and in a file: who may read them, what survives, and what is never shown."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from lockgate.errors import ConfigError
from lockgate.mcp.client.oauth.store import Credentials, Place, Registration, Tokens
from lockgate.stores.credentials import KeptCredentials
from lockgate.stores.credentials_file import KeptIn
from lockgate.stores.system_keyring import KeyringUnusable, SystemKeyring, system_backend

A = Place("crm", "https://x.example/mcp")
ELSEWHERE = Place("crm", "https://y.example/mcp")
OTHER_NAME = Place("crm-too", "https://x.example/mcp")
SECRET_WORDS = ("ACCESS-abc", "REFRESH-def", "CLIENT-ghi")


def credentials(*, access: str = "ACCESS-abc", refresh: str | None = "REFRESH-def") -> Credentials:
    """Some, with a registration."""
    return Credentials(
        tokens=Tokens(
            issuer="https://as.example",
            client_id="me",
            access_token=access,
            refresh_token=refresh,
            scope="read write",
            expires_at=2000.0,
            obtained_at=1000.0,
        ),
        registrations=(
            Registration(
                issuer="https://as.example", client_id="me", client_secret=SECRET_WORDS[2]
            ),
        ),
    )


@dataclass
class Ring:
    """A keyring of the tests' own."""

    kept: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    fails: Exception | None = None
    forgetful: bool = False
    asked: int = 0

    def get_password(self, service: str, username: str) -> str | None:
        """What is kept."""
        self._used()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """Keep it."""
        self._used()
        if not self.forgetful:
            self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """Forget it."""
        self._used()
        del self.kept[service, username]

    def _used(self) -> None:
        self.asked += 1
        if self.fails is not None:
            raise self.fails


def none_there() -> Ring:
    """Finds no keyring."""
    raise KeyringUnusable("this system has none that it could find")


Make = Callable[..., KeptCredentials]


@pytest.fixture
def notes() -> list[str]:
    """What a person was told."""
    return []


@pytest.fixture
def make(tmp_path: Path, notes: list[str]) -> Make:
    """A store in a directory of its own; `ring` is the keyring, None: there is none."""
    ids = count(1)

    def make_it(
        ring: Ring | None = None, kept_in: KeptIn | None = None, *, anew: bool = False
    ) -> KeptCredentials:
        found = none_there if ring is None else lambda: ring
        return KeptCredentials(
            tmp_path / "state" / "credentials.json",
            new_id=lambda: f"id{next(ids)}",
            keyring=SystemKeyring(find=found, patience=5.0),
            kept_in=kept_in,
            anew=anew,
            note=notes.append,
        )

    return make_it


# ------------------------------------------------------------------ the file


async def test_what_is_kept_comes_back(make: Make) -> None:
    """In another store over the same file too; what is forgotten is gone."""
    await make(kept_in="file").save(A, credentials())
    assert await make(kept_in="file").load(A) == credentials()
    await make(kept_in="file").save(A, Credentials())
    assert await make(kept_in="file").load(A) == Credentials()
    assert make().logins() == ()


async def test_a_login_belongs_to_a_name_and_an_address(make: Make) -> None:
    """Under another address the same name has none, and at one address two names are two."""
    store = make(kept_in="file")
    await store.save(A, credentials())
    assert await store.load(ELSEWHERE) == Credentials()
    assert await store.load(OTHER_NAME) == Credentials()
    await store.save(OTHER_NAME, credentials(access="OTHER"))
    await store.save(ELSEWHERE, Credentials(wanted="read"))
    assert await store.load(A) == credentials()
    assert len(store.logins()) == 3


async def test_only_its_owner_reads_the_file(make: Make, tmp_path: Path) -> None:
    """0600 in a directory of 0700, whatever the umask and the file before said."""
    before = os.umask(0)
    try:
        await make(kept_in="file").save(A, credentials())
    finally:
        os.umask(before)
    found = make().path.stat()
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert stat.S_IMODE(make().path.parent.stat().st_mode) == 0o700
    locks = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in locks} == {0o600}


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o620])
async def test_a_file_that_others_can_reach_is_refused(make: Make, mode: int) -> None:
    """To read and to write; the error says what to do, and nothing of what is in it."""
    store = make(kept_in="file")
    await store.save(A, credentials())
    store.path.chmod(mode)
    for work in (store.load(A), store.save(A, credentials(access="NEW"))):
        with pytest.raises(ConfigError, match="can be read by others") as raised:
            await work
        assert "chmod 600" in str(raised.value)
        assert not any(word in str(raised.value) for word in SECRET_WORDS)
    store.path.chmod(0o600)
    assert await store.load(A) == credentials()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "is damaged"),
        (b'{"format":1,"logins":[{"ser', "is damaged"),
        (b"\xff\xfe", "is damaged"),
        (b"[" * 100_000, "is damaged"),
        (b'{"format":1,"logins":[{"server":"crm"}]}', "is damaged"),
        (b'{"format":2,"entries":{}}', "another version of lockgate (format 2)"),
    ],
)
async def test_a_file_that_is_not_ours_to_read_is_left_alone(
    make: Make, content: bytes, told: str
) -> None:
    """Nothing is guessed from it, and nothing is written over it."""
    store = make(kept_in="file")
    await store.save(A, credentials())
    store.path.write_bytes(content)
    for work in (store.load(A), store.save(A, credentials())):
        with pytest.raises(ConfigError, match="the file of logins") as raised:
            await work
        assert told in str(raised.value)
    assert store.path.read_bytes() == content


async def test_a_directory_in_its_place_is_told(make: Make) -> None:
    """Not a fault of ours."""
    store = make(kept_in="file")
    store.path.mkdir(parents=True)
    with pytest.raises(ConfigError, match="the file of logins"):
        await store.load(A)


async def test_what_a_dying_program_left_behind_is_removed(make: Make) -> None:
    """A part of a file that was being written holds tokens; the whole one is what counts."""
    store = make(kept_in="file")
    await store.save(A, credentials())
    left = store.path.with_name(f".{store.path.name}.beef.tmp")
    left.write_text("ACCESS-abc")
    assert await store.load(A) == credentials()
    await store.save(OTHER_NAME, credentials())
    assert not left.exists()


async def test_a_link_is_written_through(make: Make, tmp_path: Path) -> None:
    """Who keeps such files elsewhere keeps the link."""
    store = make(kept_in="file")
    store.path.parent.mkdir()
    target = tmp_path / "elsewhere.json"
    store.path.symlink_to(target)
    await store.save(A, credentials())
    assert store.path.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert await store.load(A) == credentials()


async def test_a_full_disk_keeps_what_was_there(make: Make) -> None:
    """The directory can not be written to: the old login is still whole."""
    if os.geteuid() == 0:
        pytest.skip("root writes everywhere")
    store = make(kept_in="file")
    await store.save(A, credentials())
    store.path.parent.chmod(0o500)
    try:
        with pytest.raises(ConfigError, match="can not be written"):
            await store.save(A, credentials(access="NEW"))
    finally:
        store.path.parent.chmod(0o700)
    assert await store.load(A) == credentials()


async def test_many_at_once_lose_nothing(make: Make) -> None:
    """Each change is made on what the one before it left."""
    places = [Place(f"s{n}", "https://x.example/") for n in range(12)]
    await asyncio.gather(*(make(kept_in="file").save(place, credentials()) for place in places))
    assert {login.server for login in make().logins()} == {place.server for place in places}


# ------------------------------------------------------------------ the keyring


async def test_the_keyring_keeps_tokens_and_the_file_none(make: Make) -> None:
    """In the file stands what a list shows; in the keyring one entry of ours for each login."""
    ring = Ring()
    store = make(ring)
    await store.save(A, credentials())
    assert not any(word in store.path.read_text() for word in SECRET_WORDS)
    assert [service for service, _ in ring.kept] == ["lockgate"]
    assert await make(ring).load(A) == credentials()
    (login,) = store.logins()
    assert (login.kept_in, login.issuer, login.scope) == (
        "keyring",
        "https://as.example",
        "read write",
    )
    assert (login.expires_at, login.renewable) == (2000.0, True)
    await store.save(A, Credentials())
    assert ring.kept == {}


async def test_lists_ask_no_keyring(make: Make) -> None:
    """It may be locked, or far away."""
    ring = Ring()
    await make(ring).save(A, credentials())
    ring.asked = 0
    make(ring).logins()
    make(ring).login(A)
    assert ring.asked == 0


@pytest.mark.parametrize("ring", [Ring(forgetful=True), Ring(fails=RuntimeError("ACCESS-abc"))])
async def test_the_file_takes_its_place_and_says_so(
    make: Make, notes: list[str], ring: Ring
) -> None:
    """One that fails, or drops what it is given; what it said is told by its kind alone."""
    store = make(ring)
    await store.save(A, credentials())
    assert await store.load(A) == credentials()
    assert store.logins()[0].kept_in == "file"
    (note,) = notes
    assert "the keyring of this system can not be used" in note
    assert str(store.path) in note
    assert not any(word in note for word in SECRET_WORDS)


async def test_what_is_in_the_file_stays_there(make: Make, notes: list[str]) -> None:
    """A program that renews tokens asks no keyring that could not be used at the login."""
    await make(None).save(A, credentials())
    ring = Ring()
    await make(ring).save(A, credentials(access="NEW"))
    assert ring.asked == 0
    await make(ring, anew=True).save(A, credentials(access="NEWER"))
    assert make().logins()[0].kept_in == "keyring"
    assert "NEWER" not in make().path.read_text()
    assert await make(ring).load(A) == credentials(access="NEWER")
    assert len(notes) == 1


async def test_there_or_nowhere(make: Make) -> None:
    """`credentials: keyring` keeps nothing in a file; the error says what to do."""
    store = make(Ring(fails=RuntimeError("no")), "keyring")
    with pytest.raises(ConfigError, match="can not be used") as raised:
        await store.save(A, credentials())
    assert "mcp.credentials: file" in str(raised.value)
    assert store.logins() == ()


async def test_a_choice_that_changed_moves_a_login(make: Make) -> None:
    """Into the file, and out of the keyring; it is never in both."""
    ring = Ring()
    await make(ring).save(A, credentials())
    await make(ring, "file").save(A, credentials())
    assert ring.kept == {}
    assert await make(ring, "file").load(A) == credentials()


async def test_a_locked_keyring_is_no_login_and_says_why(make: Make) -> None:
    """What is kept there is not taken for forgotten."""
    ring = Ring()
    await make(ring).save(A, credentials())

    class KeyringLocked(Exception):
        """As the package calls it."""

    ring.fails = KeyringLocked("ACCESS-abc")
    with pytest.raises(ConfigError, match="it is locked") as raised:
        await make(ring).load(A)
    assert "lockgate mcp login crm" in str(raised.value)
    assert not any(word in str(raised.value) for word in SECRET_WORDS)


async def test_what_a_person_took_out_of_the_keyring_is_gone(make: Make) -> None:
    """Theirs to do."""
    ring = Ring()
    await make(ring).save(A, credentials())
    ring.kept.clear()
    assert await make(ring).load(A) == Credentials()
    await make(ring).save(A, Credentials())
    assert make().logins() == ()


async def test_a_damaged_entry_is_told(make: Make) -> None:
    """Without what is in it."""
    ring = Ring()
    await make(ring).save(A, credentials())
    ring.kept = dict.fromkeys(ring.kept, "ACCESS-abc")
    with pytest.raises(ConfigError, match="can not be read") as raised:
        await make(ring).load(A)
    assert "ACCESS" not in str(raised.value)


@dataclass
class Hanging(Ring):
    """A keyring behind a bus that never answers."""

    release: threading.Event = field(default_factory=threading.Event)

    def get_password(self, service: str, username: str) -> str | None:
        """Never."""
        self.asked += 1
        self.release.wait(30)
        return None

    def set_password(self, service: str, username: str, password: str) -> None:
        """Never."""
        self.get_password(service, username)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    """One, whose threads end with the test."""
    ring = Hanging()
    yield ring
    ring.release.set()


async def test_one_that_hangs_is_given_up(
    hanging: Hanging, tmp_path: Path, notes: list[str]
) -> None:
    """Within its bound, once; the loop goes on meanwhile, and it is not asked again."""
    keyring = SystemKeyring(find=lambda: hanging, patience=0.05)
    store = KeptCredentials(
        tmp_path / "credentials.json", new_id=lambda: "id", keyring=keyring, note=notes.append
    )
    async with asyncio.timeout(10):
        await store.save(A, credentials())
        await store.save(OTHER_NAME, credentials())
    assert hanging.asked == 1
    assert "did not answer within" in notes[0]
    assert await store.load(A) == credentials()


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


# ------------------------------------------------------------------ one at a time

_HOLDER = """
import asyncio, sys
from pathlib import Path
from lockgate.mcp.client.oauth.store import Place
from lockgate.stores.credentials import KeptCredentials
from lockgate.stores.system_keyring import SystemKeyring

async def main():
    store = KeptCredentials(Path(sys.argv[1]), new_id=lambda: "x", keyring=SystemKeyring())
    async with store.exclusive(Place("crm", "https://x.example/mcp")):
        print("inside", flush=True)
        sys.stdin.readline()

asyncio.run(main())
"""


async def test_two_processes_are_one_at_a_time(make: Make, tmp_path: Path) -> None:
    """And the lock of one that is killed is free at once."""
    store = make()
    holder = subprocess.Popen(  # noqa: ASYNC220 - one line is waited for, and then its end
        [sys.executable, "-c", _HOLDER, str(store.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "inside\n"
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2), store.exclusive(A):
                pytest.fail("both are inside")
        async with asyncio.timeout(5):
            # Other work is not held up: another place, and a login at the same one.
            async with store.exclusive(OTHER_NAME), store.exclusive(A, login=True):
                pass
        holder.kill()
        async with asyncio.timeout(10), store.exclusive(A):
            pass
    finally:
        holder.kill()
        holder.communicate()


async def test_a_wait_that_is_cancelled_holds_nothing(make: Make) -> None:
    """In one process as well."""
    store = make()
    async with store.exclusive(A):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), store.exclusive(A):
                pytest.fail("both are inside")
    async with asyncio.timeout(5), store.exclusive(A):
        pass


# ------------------------------------------------------------------ nothing is shown


async def test_nothing_shows_a_token(
    make: Make, caplog: pytest.LogCaptureFixture, notes: list[str]
) -> None:
    """Neither a log, nor what stands for these objects in one."""
    caplog.set_level(0)
    store = make(Ring(fails=RuntimeError("REFRESH-def")))
    await store.save(A, credentials())
    shown = [repr(store), repr(await store.load(A)), *map(repr, store.logins()), *notes]
    shown += [record.getMessage() for record in caplog.records]
    assert not any(word in text for word in SECRET_WORDS for text in shown)


async def test_the_file_says_its_format(make: Make) -> None:
    """So that a later version knows what it reads."""
    store = make(kept_in="file")
    await store.save(A, credentials())
    assert json.loads(store.path.read_text())["format"] == 1
