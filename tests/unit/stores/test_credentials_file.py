"""Logins in a file: who may read it, what survives, and who is alone with it."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lockgate.errors import ConfigError
from lockgate.mcp.client.oauth.store import Credentials, Place
from lockgate.stores.credentials_file import MAX_BYTES
from lockgate.testing.keyring import SECRET_WORDS, MakeStore, some_credentials

PLACE = Place("crm", "https://x.example/mcp")
ELSEWHERE = Place("crm", "https://y.example/mcp")
OTHER_QUERY = Place("crm", "https://x.example/mcp", "a-digest")
OTHER_NAME = Place("crm-too", "https://x.example/mcp")


async def test_what_is_kept_comes_back(make: MakeStore) -> None:
    """In another store over the same file too; what is forgotten is gone."""
    await make(kept_in="file").save(PLACE, some_credentials())
    assert await make(kept_in="file").load(PLACE) == some_credentials()
    await make(kept_in="file").save(PLACE, Credentials())
    assert await make(kept_in="file").load(PLACE) == Credentials()
    assert make().logins() == ()


async def test_a_login_belongs_to_a_name_and_an_address(make: MakeStore) -> None:
    """Under another address the same name has none, and at one address two names are two."""
    store = make(kept_in="file")
    await store.save(PLACE, some_credentials())
    assert await store.load(ELSEWHERE) == Credentials()
    assert await store.load(OTHER_NAME) == Credentials()
    await store.save(OTHER_NAME, some_credentials("OTHER"))
    await store.save(ELSEWHERE, Credentials(wanted="read"))
    assert await store.load(PLACE) == some_credentials()
    assert len(store.logins()) == 3
    assert await store.load(OTHER_QUERY) == Credentials()
    await store.save(OTHER_QUERY, some_credentials("QUERY"))
    assert await make().load(OTHER_QUERY) == some_credentials("QUERY")
    assert await make().load(PLACE) == some_credentials()


async def test_only_its_owner_reads_the_file(make: MakeStore, tmp_path: Path) -> None:
    """0600 in a directory of 0700, whatever the umask and the file before said."""
    before = os.umask(0)
    try:
        await make(kept_in="file").save(PLACE, some_credentials())
    finally:
        os.umask(before)
    found = make().path.stat()
    assert stat.S_IMODE(found.st_mode) == 0o600
    assert stat.S_IMODE(make().path.parent.stat().st_mode) == 0o700
    locks = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in locks} == {0o600}


async def test_what_is_too_large_to_be_read_is_not_written(make: MakeStore) -> None:
    """The logins that are there stay."""
    store = make(kept_in="file")
    await store.save(PLACE, some_credentials())
    with pytest.raises(ConfigError, match="would be too large"):
        await store.save(OTHER_NAME, Credentials(wanted="x" * MAX_BYTES))
    assert await store.load(PLACE) == some_credentials()


async def test_a_pipe_is_no_file_of_logins(make: MakeStore) -> None:
    """It is refused, and not waited for."""
    store = make(kept_in="file")
    store.path.parent.mkdir(parents=True)
    os.mkfifo(store.path, 0o600)
    async with asyncio.timeout(5):
        with pytest.raises(ConfigError, match="is no file"):
            await store.load(PLACE)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666, 0o620])
async def test_a_file_that_others_can_reach_is_refused(make: MakeStore, mode: int) -> None:
    """To read and to write; the error says what to do, and nothing of what is in it."""
    store = make(kept_in="file")
    await store.save(PLACE, some_credentials())
    store.path.chmod(mode)
    for work in (store.load(PLACE), store.save(PLACE, some_credentials("NEW"))):
        with pytest.raises(ConfigError, match="can be read by others") as raised:
            await work
        assert "chmod 600" in str(raised.value)
        assert not any(word in str(raised.value) for word in SECRET_WORDS)
    store.path.chmod(0o600)
    assert await store.load(PLACE) == some_credentials()


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
    make: MakeStore, content: bytes, told: str
) -> None:
    """Nothing is guessed from it, and nothing is written over it."""
    store = make(kept_in="file")
    await store.save(PLACE, some_credentials())
    store.path.write_bytes(content)
    for work in (store.load(PLACE), store.save(PLACE, some_credentials())):
        with pytest.raises(ConfigError, match="the file of logins") as raised:
            await work
        assert told in str(raised.value)
    assert store.path.read_bytes() == content


async def test_a_directory_in_its_place_is_told(make: MakeStore) -> None:
    """Not a fault of ours."""
    store = make(kept_in="file")
    store.path.mkdir(parents=True)
    with pytest.raises(ConfigError, match="the file of logins"):
        await store.load(PLACE)


async def test_what_a_dying_program_left_behind_is_removed(make: MakeStore) -> None:
    """A part of a file that was being written holds tokens; the whole one is what counts."""
    store = make(kept_in="file")
    await store.save(PLACE, some_credentials())
    left = store.path.with_name(f".{store.path.name}.beef.tmp")
    left.write_text("ACCESS-abc")
    assert await store.load(PLACE) == some_credentials()
    await store.save(OTHER_NAME, some_credentials())
    assert not left.exists()


async def test_a_link_is_written_through(make: MakeStore, tmp_path: Path) -> None:
    """Who keeps such files elsewhere keeps the link."""
    store = make(kept_in="file")
    store.path.parent.mkdir()
    target = tmp_path / "elsewhere.json"
    store.path.symlink_to(target)
    await store.save(PLACE, some_credentials())
    assert store.path.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert await store.load(PLACE) == some_credentials()


async def test_what_can_not_be_written_keeps_what_was_there(make: MakeStore) -> None:
    """The old login is still whole; the error says which file it is about."""
    store = make(kept_in="file")
    await store.save(PLACE, some_credentials())
    in_the_way = store.path.with_name(f".{store.path.name}.beef.tmp")
    in_the_way.mkdir()
    with pytest.raises(ConfigError, match="the file of logins can not be written"):
        await store.save(PLACE, some_credentials("NEW"))
    in_the_way.rmdir()
    assert await store.load(PLACE) == some_credentials()


async def test_many_at_once_lose_nothing(make: MakeStore) -> None:
    """Each change is made on what the one before it left."""
    places = [Place(f"s{n}", "https://x.example/") for n in range(12)]
    await asyncio.gather(
        *(make(kept_in="file").save(place, some_credentials()) for place in places)
    )
    assert {login.server for login in make().logins()} == {place.server for place in places}


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


async def test_two_processes_are_one_at_a_time(make: MakeStore, tmp_path: Path) -> None:
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
            async with asyncio.timeout(0.2), store.exclusive(PLACE):
                pytest.fail("both are inside")
        async with asyncio.timeout(5):
            # Other work is not held up: another place, and a login at the same one.
            async with store.exclusive(OTHER_NAME), store.exclusive(PLACE, login=True):
                pass
        holder.kill()
        async with asyncio.timeout(10), store.exclusive(PLACE):
            pass
    finally:
        holder.kill()
        holder.communicate()


async def test_a_wait_that_is_cancelled_holds_nothing(make: MakeStore) -> None:
    """In one process as well."""
    store = make()
    async with store.exclusive(PLACE):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), store.exclusive(PLACE):
                pytest.fail("both are inside")
    async with asyncio.timeout(5), store.exclusive(PLACE):
        pass


async def test_the_file_says_its_format(make: MakeStore) -> None:
    """So that a later version knows what it reads."""
    store = make(kept_in="file")
    await store.save(PLACE, some_credentials())
    assert json.loads(store.path.read_text())["format"] == 1


async def test_a_file_that_can_not_be_used_can_be_removed(make: MakeStore) -> None:
    """Whatever is wrong with it, but not what is no file."""
    store = make(kept_in="file")
    await store.save(PLACE, some_credentials())
    store.path.write_text("{")
    assert store.discard()
    assert not store.discard()
    assert store.logins() == ()
    store.path.mkdir()
    with pytest.raises(ConfigError, match="is no file"):
        store.discard()
    assert store.path.is_dir()
