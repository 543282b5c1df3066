"""three_interpolate on the simulator: the branches of the partition policy under all checkers, and theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from support.comparison import assert_close
from support.devices import on_both
from support.simulated import assert_theory, by_id, bytes_of, every_model, partition_cases


@pytest.mark.sampled("model", "row")
@every_model
@by_id(partition_cases("three_interpolate"))
def test_every_branch(model: str, row: dict[str, Any]) -> None:
    rng = np.random.default_rng(5)
    batch, channels, sources, targets = (row[name] for name in ("batch", "channels", "sources", "targets"))
    indices = rng.integers(-1, sources + 1, (batch, targets, 3), dtype=np.int32)
    weights = rng.uniform(0, 1, (batch, targets, 3)).astype(row["dtype"])
    forward = row["function"].endswith("forward")
    values = rng.standard_normal((batch, channels, sources if forward else targets)).astype(row["dtype"])

    def call() -> np.ndarray:
        if forward:
            return pymluops.three_interpolate_forward(values, indices, weights, validate=False)
        return pymluops.three_interpolate_backward(values, indices, weights, sources, validate=False)

    assert_close(*on_both(model, call))


def neighbours(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return rng.integers(0, 20, (2, 50, 3), dtype=np.int32), rng.random((2, 50, 3), np.float32)


def test_theory_forward() -> None:
    rng = np.random.default_rng(7)
    (indices, weights), features = neighbours(rng), rng.random((2, 6, 20), np.float32)

    def moved() -> int:
        out = pymluops.three_interpolate_forward(features, indices, weights)
        return bytes_of(features, indices, weights, out)

    assert_theory("mluOpThreeInterpolateForward", 5 * 2 * 6 * 50, moved)


def test_theory_backward() -> None:
    rng = np.random.default_rng(7)
    (indices, weights), grad = neighbours(rng), rng.random((2, 6, 50), np.float32)

    def moved() -> int:
        out = pymluops.three_interpolate_backward(grad, indices, weights, 20)
        return bytes_of(grad, indices, weights, out)

    assert_theory("mluOpThreeInterpolateBackward", 9 * 2 * 6 * 50, moved)
