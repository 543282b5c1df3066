"""Wrong counts of stacked rows, and intervals beyond the rows or the grid, in functions for PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import pymluops.torch as ours

_POINTS, _CENTRES = torch.rand(5, 3), torch.rand(4, 3)
_GROUPS = torch.tensor([[0, 1, 0]] * 4)


def _grouped(points: Any, centres: Any, dtype: torch.dtype) -> Any:
    return ours.grouping_operation(_POINTS.to(dtype), _GROUPS, points, centres)


#: Calls with the counts of 5 points and 4 centres, and the names of both.
CALLS: dict[str, tuple[Callable[..., Any], str, str]] = {
    "stack_ball_query": (
        lambda p, c, dtype: ours.stack_ball_query(2.0, 3, _POINTS.to(dtype), _CENTRES.to(dtype), p, c),
        "xyz_batch_cnt",
        "new_xyz_batch_cnt",
    ),
    "stack_three_nn": (
        lambda p, c, dtype: ours.stack_three_nn(_CENTRES.to(dtype), _POINTS.to(dtype), c, p),
        "known_batch_cnt",
        "unknown_batch_cnt",
    ),
    "stack_group_points_forward": (_grouped, "features_batch_cnt", "idx_batch_cnt"),
    "stack_furthest_point_sampling": (
        lambda p, c, dtype: ours.stack_furthest_point_sample(_POINTS.to(dtype), p, c, 4),
        "xyz_batch_cnt",
        "num_samples",
    ),
}
_DTYPES = (torch.float32, torch.float64, torch.bfloat16)


@pytest.mark.parametrize("kind", [torch.int32, torch.int64], ids=str)
@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_wrong_counts_are_refused_by_name(name: str, dtype: torch.dtype, kind: torch.dtype) -> None:
    call, of_points, of_centres = CALLS[name]
    points, centres = torch.tensor([2, 3], dtype=kind), torch.tensor([1, 3], dtype=kind)
    call(points, centres, dtype)
    for wrong in ([2, 5], [-1, 4], [9, 0]):
        bad = torch.tensor(wrong, dtype=kind)
        for given, argument in (((bad, centres), of_points), ((points, bad), of_centres)):
            with pytest.raises(ValueError, match=rf"^{name}: {argument}: expected (a sum of|numbers of at least 0)"):
                call(*given, dtype)


def _pool(features: Any, **changes: Any) -> Any:
    given = {
        "geometry": [[0, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]],
        "interval_lengths": [1, 2],
        "interval_starts": [0, 1],
        **changes,
    }
    return ours.bev_pool(features, *(torch.tensor(one, dtype=torch.int32) for one in given.values()), 1, 1, 1, 2)


#: What replaces an argument, and what is said of which one.
WRONG = [
    ({"geometry": [[9, 0, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]]}, "geometry: expected 0 <= H < 1, got 9 at row 0"),
    ({"geometry": [[0, -1, 0, 0], [0, 1, 0, 0], [0, 1, 0, 0]]}, "geometry: expected 0 <= W < 2, got -1 at row 0"),
    ({"interval_lengths": [1, 5]}, "interval_starts: expected an end of at most N=3, got 1 [+] 5 = 6 at interval 1"),
    ({"interval_starts": [0, 3]}, "interval_starts: expected an end of at most N=3, got 3 [+] 2 = 5 at interval 1"),
    ({"interval_starts": [-1, 1]}, "interval_starts: expected 0 <= value <= N=3, got -1 at interval 0"),
    ({"interval_lengths": [1, -1]}, "interval_lengths: expected numbers of at least 0, got -1 at interval 1"),
]


@pytest.mark.parametrize("gradients", [False, True])
@pytest.mark.parametrize("dtype", _DTYPES, ids=str)
@pytest.mark.parametrize(("changes", "text"), WRONG)
def test_bev_pool(changes: dict[str, Any], text: str, dtype: torch.dtype, gradients: bool) -> None:
    features = torch.tensor([[1.0], [2], [4]], dtype=dtype, requires_grad=gradients)
    assert _pool(features).flatten().tolist() == [1, 6]
    with pytest.raises(ValueError, match=f"^bev_pool_forward: {text}"):
        _pool(features, **changes)
