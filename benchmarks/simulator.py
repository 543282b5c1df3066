"""The simulated MLU against the CPU library: how many times as long each case of the design documents takes.

Both get NumPy arrays: the simulator's time holds the way to the device and back. Exit code 1 if a
limit is passed: 60 times without checkers, 400 times with all of them, 200 microseconds for a
launch of an empty kernel and for its end.
"""

from __future__ import annotations

import argparse
import ctypes
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pymluops
from benchmarks.cases import Case, load_cases, select
from benchmarks.families import build
from benchmarks.problem import Problem
from benchmarks.timing import Plan, times_in_turns
from pymluops import sim
from pymluops.sim.toolchain import Toolchain

MOST_TIMES = {"none": 60.0, "all": 400.0}
MOST_LAUNCH_SECONDS = 200e-6
#: What fits between two barriers of a whole network; smaller cases measure the cost of a call.
LEAST_BYTES = 1 << 20


def seconds(call: Callable[[], object], budget: float) -> float:
    """Median time of a call, repeated until the budget is spent."""
    plan = Plan(budget=budget, rounds=(1, 50), calls=(1, 1), pause=0.0)
    return statistics.median(times_in_turns({"": call}, plan)[""])


def ratios(problem: Problem, budget: float) -> tuple[float, dict[str, float]]:
    """Seconds on the CPU, and the simulator's multiples of them by checkers."""
    buffers = problem.buffers()
    with pymluops.use("cpu"):
        expected = {name: array.copy() for name, array in problem.run(buffers).items()}
        on_cpu = seconds(lambda: problem.run(buffers), budget)
    multiples = {}
    for checks in MOST_TIMES:
        with pymluops.use("sim"), sim.checking(checks):
            problem.check(expected, problem.run(buffers))
            multiples[checks] = seconds(lambda: problem.run(buffers), budget) / on_cpu
    return on_cpu, multiples


EMPTY = """
#include "bang.h"

__mlu_entry__ void empty() {}

extern "C" int launch_and_wait() {
  empty<<<cnrtDim3_t{4, 1, 1}, cnrtFuncTypeUnion1, nullptr>>>();
  return cnrtQueueSync(nullptr);
}
"""


def launch_seconds() -> float:
    """Time of a Union1 launch of a kernel that does nothing, and of the wait for it."""
    with tempfile.TemporaryDirectory() as folder, sim.checking("none"):
        library = Toolchain(Path(folder)).compile(EMPTY, name="empty.mlu")
        return seconds(ctypes.CDLL(str(library)).launch_and_wait, 1.0)


def cases(patterns: list[str]) -> list[Case]:
    """Return the measured cases that match a pattern."""
    return select(load_cases(), patterns, ("limits", "documents"))


def main() -> int:
    """Measure, print a table and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--case", action="append", default=[], help="a pattern of case ids; all if not given")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds for each figure, 1 if not given")
    options = parser.parse_args()
    passed = True
    print(f"{'case':52} {'cpu ms':>9} {'none':>8} {'all':>8}   ({sim.device().name})")
    for case in cases(options.case):
        problem = build(case)
        if problem.bytes_moved < LEAST_BYTES:
            continue
        try:
            on_cpu, multiples = ratios(problem, options.budget)
        except pymluops.NotSupportedError as error:
            print(f"{case.id:52} {error.detail}")
            continue
        over = [checks for checks, most in MOST_TIMES.items() if multiples[checks] > most]
        passed = passed and not over
        text = " ".join(f"{multiples[checks]:8.1f}" for checks in MOST_TIMES)
        print(f"{case.id:52} {on_cpu * 1e3:9.3f} {text}  {'OVER: ' + ', '.join(over) if over else ''}", flush=True)
    launch = launch_seconds()
    passed = passed and launch <= MOST_LAUNCH_SECONDS
    print(f"launch of an empty Union1 kernel and the wait for it: {launch * 1e6:.0f} us")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
