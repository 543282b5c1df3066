"""Running, timing and checking one operator after another, and the rows of the table that come of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any, Generic, TypeVar

import pymluops
from pymluops._progress import Progress
from pymluops.demo import checks
from pymluops.demo.arrays import Array
from pymluops.demo.checks import Check

Expected = TypeVar("Expected")

MAX_RUNS = 7
TIME_BUDGET = 0.4


@dataclass(frozen=True)
class Row:
    """One line of the table: an operator on given shapes, how long it took and whether it was right."""

    operator: str
    case: str
    dtype: str
    inputs: dict[str, list[int]]
    outputs: dict[str, list[int]]
    ms: float | None
    gbps: float | None
    check: Check


@dataclass(frozen=True)
class Outcome(Generic[Expected]):
    """The result of an operator (None if it refused) and of the reference."""

    result: Any  # an array, a tuple of arrays, or None
    expected: Expected


class Recorder:
    """Runs operators and keeps the rows of the table."""

    def __init__(self, progress: Progress) -> None:
        self.rows: list[Row] = []
        self._progress = progress

    def run(
        self,
        operator: str,
        case: str,
        inputs: Mapping[str, Array],
        outputs: tuple[str, ...],
        call: Callable[[Any], Any],
        expect: Callable[[], Expected],
        compare: Callable[[Any, Expected], Check],
    ) -> Outcome[Expected]:
        """Run one operator: a warm-up, timed runs, the comparison with the reference.

        `call` gets the result of the run before (None at first) to write into.
        """
        self._progress.step(f"{operator} {case}".strip())
        shapes = {name: list(array.shape) for name, array in inputs.items()}
        dtype = next(iter(inputs.values())).dtype.name
        expected = expect()
        try:
            result, seconds = _timed(call)
        except pymluops.MluOpError as error:
            status = getattr(error.status, "name", f"status {error.status}")
            check = checks.failed(f"{status}: {error}")
            self.rows.append(Row(operator, case, dtype, shapes, {}, None, None, check))
            return Outcome(None, expected)
        arrays: tuple[Array, ...] = result if isinstance(result, tuple) else (result,)
        nbytes = sum(array.nbytes for array in (*inputs.values(), *arrays))
        out_shapes = {name: list(array.shape) for name, array in zip(outputs, arrays, strict=True)}
        check = compare(result, expected)
        gbps = nbytes / seconds / 1e9
        self.rows.append(Row(operator, case, dtype, shapes, out_shapes, 1e3 * seconds, gbps, check))
        return Outcome(result, expected)


def _timed(call: Callable[[Any], Any]) -> tuple[Any, float]:
    """Return the last result and the median time of a few runs after a warm-up."""
    result = call(None)
    times: list[float] = []
    while not times or (len(times) < MAX_RUNS and sum(times) < TIME_BUDGET):
        start = time.perf_counter()
        result = call(result)
        times.append(time.perf_counter() - start)
    return result, median(times)
