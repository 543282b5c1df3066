"""Variables of the environment that the CPU library reads: what they cannot say is refused by the first handle."""

from __future__ import annotations

import pytest

from support import run_python

# Python checks the variables before it loads a library, so this one is set afterwards.
CREATE = """
import os, sys
import pymluops
backend = pymluops.load("cpu")
os.environ[sys.argv[1]] = sys.argv[2]
handle = backend.ffi.new("mluOpHandle_t *")
status = backend.lib.mluOpCreate(handle)
print(status, handle[0] == backend.ffi.NULL, backend.ffi.string(backend.lib.mluopsExtGetLastReason()).decode(), sep="|")
"""

LEVELS = "x86-64, x86-64-v3 or x86-64-v4"


def created(name: str, value: str) -> list[str]:
    """Status, whether there is no handle, and the reason, in a process with this variable."""
    done = run_python(CREATE, name, value)
    assert done.returncode == 0, done.stderr
    return done.stdout.removesuffix("\n").split("|")


@pytest.mark.parametrize(
    ("name", "expected", "bad"),
    [
        ("PYMLUOPS_NUM_THREADS", "an integer from 1 to 1024", ["abc", "-1", "0", "1025", "4 ", "9" * 5000]),
        ("PYMLUOPS_STREAM_MIB", "an integer from 0 to 1099511627776", ["abc", "-1", "1e3", "0x10", "9" * 5000]),
        ("PYMLUOPS_INSTRUCTION_LEVEL", LEVELS, ["abc", "X86-64", "x86-64-v" + "9" * 5000]),
    ],
)
def test_bad_values_are_refused(name: str, expected: str, bad: list[str]) -> None:
    for value in bad:
        shown = value if len(value) <= 40 else value[:40] + "..."
        assert created(name, value) == ["1", "True", f"mluOpCreate: {name}: expected {expected}, got {shown}"]


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("PYMLUOPS_NUM_THREADS", ["1", "1024", "007", ""]),
        ("PYMLUOPS_STREAM_MIB", ["0", "1099511627776", ""]),
        ("PYMLUOPS_INSTRUCTION_LEVEL", ["x86-64", "x86-64-v3", "x86-64-v4", ""]),
    ],
)
def test_good_values_are_taken(name: str, good: list[str]) -> None:
    for value in good:
        assert created(name, value) == ["0", "False", ""]
