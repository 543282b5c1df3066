"""How much memory a call takes above its inputs and outputs: each case in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks import ROOT
from benchmarks.cases import Case

#: The most that may be resident above inputs and outputs, as a part of both; of the outputs, if the
#: call made them.
LIMIT, LIMIT_OF_MADE = 0.10, 3.0

#: Problems with less memory than this are not judged: a few pages more or less would decide.
_SMALL = 16 << 20


class MeasurementError(Exception):
    """The process of a case failed."""


def run_memory(case: Case, threads: int) -> dict[str, Any]:
    """Run a case in a new process and return its memory use."""
    command = [sys.executable, "-m", "benchmarks.memory_child", case.id, str(threads)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise MeasurementError(f"{case.id}: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    both = found["input_bytes"] + found["output_bytes"]
    made = found.pop("made_by_the_call")
    part = found["extra_bytes"] / (found["output_bytes"] if made else both)
    return {
        "case": case.id,
        "threads": threads,
        **found,
        "part": part,
        "limit": LIMIT_OF_MADE if made else LIMIT,
        "judged": both >= _SMALL,
    }


def judge(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return whether the larger cases stay within the limits."""
    return [
        {
            "case": entry["case"],
            "threads": entry["threads"],
            "rule": "memory above inputs and outputs",
            "found": entry["part"],
            "limit": entry["limit"],
            "holds": entry["part"] <= entry["limit"],
        }
        for entry in entries
        if entry["judged"]
    ]
