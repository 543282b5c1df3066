"""psamask on the simulator: the branches of the partition policy under all checkers, and theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from support.comparison import assert_same_bits
from support.devices import on_both, watched
from support.simulated import assert_theory, by_id, bytes_of, every_model, partition_cases


@pytest.mark.sampled("model", "row", "direction")
@every_model
@by_id(partition_cases("psamask"))
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_every_branch(model: str, row: dict[str, Any], direction: str) -> None:
    n, h, w = row["positions"]
    mask = tuple(row["mask"])
    cells = mask[0] * mask[1] if direction == "forward" else h * w
    source = np.random.default_rng(2).standard_normal((n, h, w, cells)).astype(np.float32)
    function = {"forward": pymluops.psamask_forward, "backward": pymluops.psamask_backward}[direction]
    if row["tile"][model] == "refused":
        with watched(model), pytest.raises(pymluops.NotSupportedError):
            function(source, row["mode"], mask)
        return
    assert_same_bits(*on_both(model, lambda: function(source, row["mode"], mask)))


def test_theory() -> None:
    x = np.random.default_rng(7).random((1, 6, 7, 9), np.float32)
    assert_theory(
        "mluOpPsamaskForward", 6 * 7 * 6 * 7, lambda: bytes_of(x, pymluops.psamask_forward(x, "collect", (3, 3)))
    )
