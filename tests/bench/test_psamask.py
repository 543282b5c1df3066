"""The measured problems of psamask: what is counted, and the limits that were set."""

from __future__ import annotations

import numpy as np
import pytest

from bench.small import built, limits


@pytest.mark.parametrize("mask", [1, 2, 3, 5, 6, 9, 12])
def test_mask_cells_on_the_map_are_counted(mask: int) -> None:
    problem = built("psamask", "psamask_forward", shape=[1, 4, 3], mask=mask, mode="collect")
    problem.inputs["x"].fill(1)
    values = problem.run(problem.buffers())["out"]
    assert problem.bytes_read == 4 * np.count_nonzero(values)


def test_limits_are_those_that_were_set() -> None:
    found = limits()
    assert found["psamask_forward/1x59x59-mask117/collect/f32"] == {"memcpy": 1.3}
    assert found["psamask_backward/8x16x16-mask31/distribute/f32"] == {"memcpy": 3}
