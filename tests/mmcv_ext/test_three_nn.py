"""The functions of mmcv's extension for three_nn: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.three_nn

from .values import any_strides, every_dtype, exact, laid, tensor


@every_dtype
@any_strides
@pytest.mark.parametrize("known_points", [0, 1, 2, 30])
def test_three_nn(torch: Any, ext: ModuleType, dtype: str, strided: bool, known_points: int) -> None:
    rng = np.random.default_rng(6)
    unknown = tensor(torch, rng.integers(-4, 5, (2, 9, 3)), dtype)  # small integers: many equal distances
    known = tensor(torch, rng.integers(-4, 5, (2, known_points, 3)), dtype)
    if known_points > 2:
        known[0, 3, 1], known[1, 0, 0] = torch.nan, torch.inf
    dist2 = laid(torch, torch.full((2, 9, 3), 9, dtype=unknown.dtype), strided)
    idx = laid(torch, torch.full((2, 9, 3), 9, dtype=torch.int32), strided)
    ext.three_nn_forward(laid(torch, unknown, strided), known, dist2, idx, b=2, n=9, m=known_points)
    expected = pymluops.oracle.three_nn.forward(exact(unknown), exact(known))
    np.testing.assert_array_equal(exact(dist2), expected[0])
    np.testing.assert_array_equal(idx.numpy(), expected[1])
