"""Variables of the environment that the CPU library reads: what they cannot say is refused by the first handle."""

from __future__ import annotations

import pytest

from support.processes import run_python

# Python checks the variables before it loads a library, so this one is set afterwards. The library
# reads it once, so each value is tried in the child of a fork.
CREATE = """
import os, sys
import pymluops
backend = pymluops.load("cpu")
for value in sys.argv[2:]:
    sys.stdout.flush()
    if os.fork() == 0:
        os.environ[sys.argv[1]] = value
        handle = backend.ffi.new("mluOpHandle_t *")
        status = backend.lib.mluOpCreate(handle)
        reason = backend.ffi.string(backend.lib.mluopsExtGetLastReason()).decode()
        print(status, handle[0] == backend.ffi.NULL, reason, sep="|", flush=True)
        os._exit(0)
    assert os.wait()[1] == 0
"""

LEVELS = "x86-64, x86-64-v3 or x86-64-v4"


def created(name: str, values: list[str]) -> list[list[str]]:
    """Status, whether there is no handle, and the reason, in processes that have this variable with each value."""
    done = run_python(CREATE, name, *values)
    assert done.returncode == 0, done.stderr
    return [line.split("|") for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("name", "expected", "bad"),
    [
        ("PYMLUOPS_NUM_THREADS", "an integer from 1 to 1024", ["abc", "-1", "0", "1025", "4 ", "9" * 5000]),
        ("PYMLUOPS_STREAM_MIB", "an integer from 0 to 1099511627776", ["abc", "-1", "1e3", "0x10", "9" * 5000]),
        ("PYMLUOPS_INSTRUCTION_LEVEL", LEVELS, ["abc", "X86-64", "x86-64-v" + "9" * 5000]),
    ],
)
def test_bad_values_are_refused(name: str, expected: str, bad: list[str]) -> None:
    shown = [value if len(value) <= 40 else value[:40] + "..." for value in bad]
    reasons = [f"mluOpCreate: {name}: expected {expected}, got {value}" for value in shown]
    assert created(name, bad) == [["1", "True", reason] for reason in reasons]


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("PYMLUOPS_NUM_THREADS", ["1", "1024", "007", ""]),
        ("PYMLUOPS_STREAM_MIB", ["0", "1099511627776", ""]),
        ("PYMLUOPS_INSTRUCTION_LEVEL", ["x86-64", "x86-64-v3", "x86-64-v4", ""]),
    ],
)
def test_good_values_are_taken(name: str, good: list[str]) -> None:
    assert created(name, good) == [["0", "False", ""]] * len(good)
