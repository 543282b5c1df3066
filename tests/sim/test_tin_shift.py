"""tin_shift on the simulator: the branches of the partition policy under all checkers, and theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from support.comparison import assert_same_bits
from support.devices import on_both
from support.simulated import assert_theory, by_id, bytes_of, every_model, partition_cases


@pytest.mark.sampled("model", "row", "function")
@every_model
@by_id(partition_cases("tin_shift"))
@pytest.mark.parametrize("function", [pymluops.tin_shift_forward, pymluops.tin_shift_backward])
def test_every_branch(model: str, row: dict[str, Any], function: Any) -> None:
    source = np.random.default_rng(1).standard_normal(row["input"]).astype(row["dtype"])
    shifts = np.array(row["shifts"], np.int32)
    shifts = np.resize(shifts, (row["input"][0], shifts.shape[1]))
    assert_same_bits(*on_both(model, lambda: function(source, shifts)))


def test_theory() -> None:
    rng = np.random.default_rng(7)
    frames, shifts = rng.random((2, 4, 8, 5), np.float32), rng.integers(-2, 3, (2, 4), dtype=np.int32)

    def moved() -> int:
        return bytes_of(frames, shifts, pymluops.tin_shift_forward(frames, shifts))

    assert_theory("mluOpTinShiftForward", 2 * 4 * 8 * 5, moved)
