"""border_align on the simulator: the branches of the partition policy under all checkers, and theory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from support.comparison import assert_close, assert_same_bits
from support.devices import on_both
from support.simulated import assert_theory, by_id, bytes_of, every_model, partition_cases


def boxes_for(row: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    """Boxes on the map and somewhat beside it."""
    corners = rng.uniform(-0.1, 1.1, (row["batch"], row["boxes"], 2, 2)) * [row["width"], row["height"]]
    return np.sort(corners, axis=2).reshape(row["batch"], row["boxes"], 4).astype(row["dtype"])


@pytest.mark.sampled("model", "row")
@every_model
@by_id([row for row in partition_cases("border_align") if row["function"].endswith("forward")])
def test_every_branch_forward(model: str, row: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    shape = (row["batch"], row["height"], row["width"], 4 * row["channels"])
    source, boxes = rng.standard_normal(shape).astype(row["dtype"]), boxes_for(row, rng)
    found, expected = on_both(model, lambda: pymluops.border_align_forward(source, boxes, row["pool_size"]))
    assert_same_bits(found[0], expected[0])
    assert_same_bits(found[1], expected[1])


@pytest.mark.sampled("model", "row")
@every_model
@by_id([row for row in partition_cases("border_align") if row["function"].endswith("backward")])
def test_every_branch_backward(model: str, row: dict[str, Any]) -> None:
    rng = np.random.default_rng(4)
    shape = (row["batch"], row["boxes"], 4, row["channels"])
    grad = rng.standard_normal(shape).astype(row["dtype"])
    places = rng.integers(0, row["pool_size"] + 1, shape, dtype=np.int32)
    boxes, size = boxes_for(row, rng), (row["height"], row["width"])
    found, expected = on_both(
        model, lambda: pymluops.border_align_backward(grad, boxes, places, row["pool_size"], size)
    )
    assert_close(found, expected)


def borders() -> tuple[np.ndarray, np.ndarray]:
    """2 images with 8 channels for each border, and 3 boxes on each."""
    rng = np.random.default_rng(7)
    corners = rng.random((2, 3, 2)) * 4
    boxes = np.concatenate([corners, corners + 3], axis=2).astype(np.float32)
    return rng.random((2, 10, 12, 32), np.float32), boxes


def test_theory_forward() -> None:
    features, boxes = borders()
    assert_theory(
        "mluOpBorderAlignForward",
        2 * 3 * 4 * 8 * 14,
        lambda: bytes_of(features, boxes, *pymluops.border_align_forward(features, boxes, 4)),
    )


def test_theory_backward() -> None:
    features, boxes = borders()
    out, places = pymluops.border_align_forward(features, boxes, 4)
    grad = np.ones_like(out)

    def moved() -> int:
        return bytes_of(grad, boxes, places, pymluops.border_align_backward(grad, boxes, places, 4, (10, 12)))

    assert_theory("mluOpBorderAlignBackward", 2 * 3 * 4 * (8 // 4) * 3, moved)
