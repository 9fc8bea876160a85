"""What is shown of a process's environment, and that the process itself misses nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from lockgate.process.mark import NAME

PROGRAM = """
import ctypes, json, os, sys
from lockgate.process.veil import veil
before = dict(os.environb)
done = veil(os.environb)
again = veil(os.environb)
getenv = ctypes.CDLL(None).getenv
getenv.restype = ctypes.c_char_p
with open("/proc/self/environ", "rb") as file:
    shown = [entry for entry in file.read().split(b"\\0") if entry]
child = os.popen("env").read()
print(json.dumps({
    "done": [done, again],
    "same": before == dict(os.environb),
    "by the library": all(getenv(name) == value for name, value in before.items()),
    "shown": sorted(entry.decode("utf-8", "replace") for entry in shown),
    "inherited": "SECRET=hunter2" in child,
}))
"""


def veiled(environ: Mapping[str, str], program: str = PROGRAM) -> dict[str, Any]:
    """What a program finds that has veiled itself; the usual one twice."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": ":".join(filter(None, sys.path)), **environ},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows it")
def test_what_is_not_given_to_every_child_is_not_shown() -> None:
    """PB-029: secrets are gone from where all programs of the user can read; the short list stays,
    the mark too, by which an outer lockgate finds this process."""
    given = {"HOME": "/root", "LC_ALL": "C.UTF-8", "TZ": "UTC", NAME: "abc:def"}
    found = veiled({"SECRET": "hunter2", "API_KEY": "x" * 5000, "한글": "키", **given})
    assert found["done"] == [True, True]
    assert found["shown"] == sorted(f"{name}={value}" for name, value in given.items())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows it")
def test_the_program_itself_sees_what_it_saw() -> None:
    """By Python, by the C library, and what its children inherit."""
    found = veiled({"SECRET": "hunter2", "PATH": "/usr/bin:/bin", "EMPTY": "", "ODD": "a=b\nc"})
    assert found["same"]
    assert found["by the library"]
    assert found["inherited"]


BARRED = """
import json, os, resource
from lockgate.process.veil import veil
before = dict(os.environb)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
done = veil(os.environb)
print(json.dumps({"done": done, "same": before == dict(os.environb)}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
def test_where_it_is_not_possible_nothing_happens() -> None:
    """A process that may open no file says so, and goes on with what it has."""
    assert veiled({"SECRET": "hunter2"}, BARRED) == {"done": False, "same": True}
