"""Counts of batches whose rows stand one after another, and intervals of rows: refused by name if they are wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pymluops

_RNG = np.random.default_rng(0)
_POINTS, _CENTRES = _RNG.random((5, 3)).astype(np.float32), _RNG.random((4, 3)).astype(np.float32)
_FEATURES, _GROUPS = _RNG.random((5, 2)).astype(np.float32), _RNG.integers(0, 2, (4, 3)).astype(np.int32)
_GRAD = _RNG.random((4, 2, 3)).astype(np.float32)


def numbers(values: Any) -> np.ndarray:
    return np.array(values, np.int32)


def _query(points: Any, centres: Any, **how: Any) -> Any:
    return pymluops.stack_ball_query(_CENTRES, centres, _POINTS, points, 2.0, 3, **how)


def _nearest(points: Any, centres: Any, **how: Any) -> Any:
    return pymluops.stack_three_nn(_CENTRES, centres, _POINTS, points, **how)


def _group(points: Any, centres: Any, **how: Any) -> Any:
    return pymluops.stack_group_points_forward(_FEATURES, points, _GROUPS, centres, **how)


def _group_back(points: Any, centres: Any, **how: Any) -> Any:
    return pymluops.stack_group_points_backward(_GRAD, _GROUPS, centres, points, 5, **how)


def _sample(points: Any, centres: Any, **how: Any) -> Any:
    return pymluops.stack_furthest_point_sampling(_POINTS, points, centres, 4, **how)


#: Calls with the counts of 5 points and 4 centres, groups or picks; the names of both.
CALLS: dict[str, tuple[Callable[..., Any], str, str]] = {
    "stack_ball_query": (_query, "xyz_batch_cnt", "new_xyz_batch_cnt"),
    "stack_three_nn": (_nearest, "known_batch_cnt", "unknown_batch_cnt"),
    "stack_group_points_forward": (_group, "features_batch_cnt", "idx_batch_cnt"),
    "stack_group_points_backward": (_group_back, "features_batch_cnt", "idx_batch_cnt"),
    "stack_furthest_point_sampling": (_sample, "xyz_batch_cnt", "num_samples"),
}
every_call = pytest.mark.parametrize("name", CALLS)


def _bits(results: Any) -> list[np.ndarray]:
    return list(results) if isinstance(results, tuple) else [results]


@every_call
def test_counts_that_fit_are_taken(name: str) -> None:
    """Rows beyond the sum belong to the last batch, as the documents say."""
    call = CALLS[name][0]
    for points, centres in (([2, 3], [1, 3]), ([5, 0], [4, 0]), ([0, 5], [0, 4])):
        call(numbers(points), numbers(centres))
    for one, other in zip(
        _bits(call(numbers([2, 0]), numbers([1, 1]))), _bits(call(numbers([2, 3]), numbers([1, 3]))), strict=True
    ):
        np.testing.assert_array_equal(one, other)


#: Wrong counts of 5 rows and of 4, and the end of the message.
WRONG = [
    ([-1, 5], [-1, 4], "numbers of at least 0, got -1 at batch 0"),
    ([2, -(2**31)], [2, -(2**31)], f"numbers of at least 0, got {-(2**31)} at batch 1"),
    ([2, 4], [2, 3], "a sum of at most {symbol}={rows}, got {more} up to batch 1"),
    ([6, 0], [5, 0], "a sum of at most {symbol}={rows}, got {more} up to batch 0"),
    ([2**31 - 1, 2**31 - 1], [2**31 - 1, 2**31 - 1], f"a sum of at most {{symbol}}={{rows}}, got {2**31 - 1} up to"),
]


@every_call
@pytest.mark.parametrize(("points", "centres", "text"), WRONG)
def test_wrong_counts_are_refused_by_name(name: str, points: list[int], centres: list[int], text: str) -> None:
    call, of_points, of_centres = CALLS[name]
    for counts, argument, rows in (
        ((points, [1, 3]), of_points, 5),
        (([2, 3], centres), of_centres, 4),
    ):
        with pytest.raises(pymluops.BadParamError) as caught:
            call(*map(numbers, counts))
        message = str(caught.value)
        assert message.startswith(f"{name}: {argument}: expected ")
        symbol = message.partition("at most ")[2][:1]
        assert text.format(symbol=symbol, rows=rows, more=rows + 1) in message


@every_call
def test_nothing_is_written_by_a_refused_call(name: str) -> None:
    call = CALLS[name][0]
    results = _bits(call(numbers([2, 3]), numbers([1, 3])))
    outputs = {"stack_furthest_point_sampling": ("dist2", "idx"), "stack_three_nn": ("dist2", "idx")}
    made = {key: np.full_like(one, 77) for key, one in zip(outputs.get(name, ("out",)), results, strict=True)}
    with pytest.raises(pymluops.BadParamError):
        call(numbers([2, 4]), numbers([1, 3]), **made)
    assert all((one == 77).all() for one in made.values())


@every_call
@pytest.mark.parametrize(("points", "centres", "text"), WRONG)
def test_without_validation_rows_end_where_there_are_no_more(
    name: str, points: list[int], centres: list[int], text: str
) -> None:
    """A negative count is 0: the C function's answer, which never reads beyond the rows."""
    call = CALLS[name][0]
    found = _bits(call(numbers(points), numbers(centres), validate=False))
    fitting = []
    for counts, rows in ((points, 5), (centres, 4)):
        first = min(max(counts[0], 0), rows)
        fitting.append(numbers([first, rows - first]))
    for one, other in zip(found, _bits(call(*fitting)), strict=True):
        np.testing.assert_array_equal(one, other)


# ---- bev_pool ------------------------------------------------------------------------------------

_ROWS = np.arange(1, 9, dtype=np.float32).reshape(4, 2)
_CELLS = numbers([[0, 1, 0, 0], [0, 1, 0, 0], [1, 2, 1, 1], [9, -9, 9, 9]])
_SIZES = (2, 3, 2, 3)  # batches, depth, height, width


def _pool(lengths: Any, starts: Any, cells: Any = _CELLS, **how: Any) -> Any:
    return pymluops.bev_pool_forward(_ROWS, numbers(cells), numbers(lengths), numbers(starts), _SIZES, **how)


def _pool_back(lengths: Any, starts: Any, cells: Any = _CELLS, **how: Any) -> Any:
    grad = np.ones((*_SIZES, 2), np.float32)
    return pymluops.bev_pool_backward(grad, numbers(cells), numbers(lengths), numbers(starts), **how)


#: Lengths and starts, and what is said of them.
INTERVALS = [
    ([2, 5], [0, 2], "interval_starts: expected an end of at most N=4, got 2 + 5 = 7 at interval 1"),
    ([2, 1], [0, 4], "interval_starts: expected an end of at most N=4, got 4 + 1 = 5 at interval 1"),
    ([2, 1], [0, -1], "interval_starts: expected 0 <= value <= N=4, got -1 at interval 1"),
    ([-1, 1], [0, 2], "interval_lengths: expected numbers of at least 0, got -1 at interval 0"),
    ([2, 2**31 - 1], [0, 2**31 - 1], "interval_starts: expected an end of at most N=4, got 2147483647 + 2147483647"),
    ([2, 1], [0, 3], "geometry: expected 0 <= H < 2, got 9 at row 3 [9, -9, 9, 9]"),
]


@pytest.mark.parametrize("call", [_pool, _pool_back])
@pytest.mark.parametrize(("lengths", "starts", "text"), INTERVALS)
def test_wrong_intervals_and_cells_are_refused_by_name(call: Any, lengths: Any, starts: Any, text: str) -> None:
    name = "bev_pool_forward" if call is _pool else "bev_pool_backward"
    with pytest.raises(pymluops.BadParamError) as caught:
        call(lengths, starts)
    assert str(caught.value).startswith(f"{name}: {text}")
    right = [k for k, (n, first) in enumerate(zip(lengths, starts, strict=True)) if 0 <= first <= 2 and 0 < n < 3]
    alone = call([lengths[k] for k in right], [starts[k] for k in right])
    np.testing.assert_array_equal(call(lengths, starts, validate=False), alone)


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("off", ["below", "above"])
def test_each_side_of_the_grid(column: int, off: str) -> None:
    size, cells = (_SIZES[2], _SIZES[3], _SIZES[1], _SIZES[0])[column], _CELLS.copy()
    cells[2, column] = -1 if off == "below" else size
    text = f"geometry: expected 0 <= {'HWDB'[column]} < {size}, got {cells[2, column]} at row 2"
    for call in (_pool, _pool_back):
        with pytest.raises(pymluops.BadParamError, match=text):
            call([2, 1], [0, 2], cells)


def test_only_the_cells_of_intervals_matter() -> None:
    """The last row lies beyond the grid, and is in no interval, or not the first one of an interval."""
    for lengths, starts in (([2, 1], [0, 2]), ([2, 2], [0, 2]), ([0, 2], [4, 0])):
        assert _pool(lengths, starts).sum() == sum(_ROWS[s : s + n].sum() for n, s in zip(lengths, starts, strict=True))
        _pool_back(lengths, starts)
