"""ball_query for tensors of PyTorch, beyond what all functions have in common."""

from __future__ import annotations

import pytest
import torch

import pymluops.torch as ours
from support.torch_samples import all_equal, arguments


def test_ball_query_in_all_types() -> None:
    centres, points, low, high, count = arguments("ball_query", torch.float64)
    wanted = ours.ball_query(low, high, count, points.float(), centres.float())
    assert wanted.dtype == torch.int32 and wanted.shape == (2, 4, count)
    all_equal(ours.ball_query(low, high, count, points, centres), wanted)
    with pytest.raises(AssertionError, match="min_radius < max_radius"):
        ours.ball_query(1, 1, 4, points, centres)
