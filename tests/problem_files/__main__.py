"""Writes the files that programs in C++ read: ``python tests/problem_files FOLDER [SET...]``.

Sets: ``ways_400`` and ``ways_100`` go every way through the kernels with so many thousand values,
``one_phase`` has calls on a few values for families whose oracles say ONE_PHASE, ``phases`` and
``endless`` are what the oracles call so, ``varied`` is many small calls for fuzzing.
With ``MLUOPS_TEST_SHARE=2/3`` in the environment, the second third of the ways is written, so that
slow programs, such as those with a sanitizer, need not take all ways in one run.
"""

from __future__ import annotations

import importlib
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

sys.path[:1] = [str(Path(__file__).resolve().parents[1])]

import problem_files  # noqa: E402
from support import described, families  # noqa: E402

_Call = tuple[str, str, described.Made, bool]
#: Calls of each operator for fuzzing.
_VARIED = 24


def _ways(size: int) -> Callable[[], Iterator[_Call]]:
    part, parts = map(int, os.environ.get("MLUOPS_TEST_SHARE", "1/1").split("/"))
    return lambda: map(problem_files.of_way, itertools.islice(described.ways(size), part - 1, None, parts))


def _other(kind: str) -> Callable[[], Iterator[_Call]]:
    return lambda: map(problem_files.of_way, described.other_ways(kind))


def _one_phase() -> Iterator[_Call]:
    for name in families.OPERATORS:
        if getattr(importlib.import_module(f"pymluops.oracle.{described.family_of(name)}"), "ONE_PHASE", False):
            for most in (2, 4):
                made = described.make(name, np.random.default_rng(most), most, "float32")
                yield name, f"sizes up to {most}", made, False


def _varied() -> Iterator[_Call]:
    for name, known in families.OPERATORS.items():
        if known.function in families.APART:  # it takes more than the description, such as strides
            continue
        for seed in range(_VARIED):
            yield name, f"seed {seed}", described.make(name, np.random.default_rng(seed), 3 + seed % 4), False


SETS: dict[str, Callable[[], Iterator[_Call]]] = {
    "ways_400": _ways(400),
    "ways_100": _ways(100),
    "one_phase": _one_phase,
    "phases": _other("phases"),
    "endless": _other("endless"),
    "varied": _varied,
}


def main(arguments: list[str]) -> int:
    """Write the sets that are named, or those of the native tests."""
    folder, *names = arguments
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name in names or [name for name in SETS if name != "varied"]:
        target = Path(folder) / name
        unfinished = target.with_suffix(f".{os.getpid()}")  # another process may be writing the same
        with unfinished.open("wb") as file:
            problem_files.write(file, SETS[name]())
        unfinished.replace(target)  # another process may be reading
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
