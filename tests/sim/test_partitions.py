"""Cases chosen so that each branch of the kernels' partition policies runs, on every device, all checkers on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from devices import MODELS, SPARSE_MODELS, on_both, watched
from oracle.get_indice_pairs import Geometry, vectorised
from pairs import call as call_pairs
from support import assert_close, assert_same_bits, facts

MOVES = facts("partition_tin_shift_psamask.json")
SUMS = facts("partition_border_align_three_interpolate.json")
PAIRS = facts("partition_get_indice_pairs.json")["get_indice_pairs"]

every_model = pytest.mark.parametrize("model", MODELS)


def by_id(rows: list[dict[str, Any]]) -> Any:
    return pytest.mark.parametrize("row", rows, ids=lambda row: row["id"])


@pytest.mark.sampled("model", "row", "function")
@every_model
@by_id(MOVES["tin_shift"])
@pytest.mark.parametrize("function", [pymluops.tin_shift_forward, pymluops.tin_shift_backward])
def test_tin_shift(model: str, row: dict[str, Any], function: Any) -> None:
    source = np.random.default_rng(1).standard_normal(row["input"]).astype(row["dtype"])
    shifts = np.array(row["shifts"], np.int32)
    shifts = np.resize(shifts, (row["input"][0], shifts.shape[1]))
    assert_same_bits(*on_both(model, lambda: function(source, shifts)))


@pytest.mark.sampled("model", "row", "direction")
@every_model
@by_id(MOVES["psamask"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_psamask(model: str, row: dict[str, Any], direction: str) -> None:
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


def boxes_for(row: dict[str, Any], rng: np.random.Generator) -> np.ndarray:
    """Boxes on the map and somewhat beside it."""
    corners = rng.uniform(-0.1, 1.1, (row["batch"], row["boxes"], 2, 2)) * [row["width"], row["height"]]
    return np.sort(corners, axis=2).reshape(row["batch"], row["boxes"], 4).astype(row["dtype"])


@pytest.mark.sampled("model", "row")
@every_model
@by_id([row for row in SUMS["border_align"] if row["function"].endswith("forward")])
def test_border_align_forward(model: str, row: dict[str, Any]) -> None:
    rng = np.random.default_rng(3)
    shape = (row["batch"], row["height"], row["width"], 4 * row["channels"])
    source, boxes = rng.standard_normal(shape).astype(row["dtype"]), boxes_for(row, rng)
    found, expected = on_both(model, lambda: pymluops.border_align_forward(source, boxes, row["pool_size"]))
    assert_same_bits(found[0], expected[0])
    assert_same_bits(found[1], expected[1])


@pytest.mark.sampled("model", "row")
@every_model
@by_id([row for row in SUMS["border_align"] if row["function"].endswith("backward")])
def test_border_align_backward(model: str, row: dict[str, Any]) -> None:
    rng = np.random.default_rng(4)
    shape = (row["batch"], row["boxes"], 4, row["channels"])
    grad = rng.standard_normal(shape).astype(row["dtype"])
    places = rng.integers(0, row["pool_size"] + 1, shape, dtype=np.int32)
    boxes, size = boxes_for(row, rng), (row["height"], row["width"])
    found, expected = on_both(
        model, lambda: pymluops.border_align_backward(grad, boxes, places, row["pool_size"], size)
    )
    assert_close(found, expected)


@pytest.mark.sampled("model", "row")
@every_model
@by_id(SUMS["three_interpolate"])
def test_three_interpolate(model: str, row: dict[str, Any]) -> None:
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


def rows_for(row: dict[str, Any]) -> np.ndarray:
    """Input rows as the case asks for them."""
    if "indices" in row:
        return np.array(row["indices"], np.int32)
    rng = np.random.default_rng(6)
    box = (row["batch"], *row.get("box", row["space"]))
    places = int(np.prod(box))
    numbers = rng.choice(places, row["rows"], replace=bool(row.get("repeated")))
    if row.get("ascending"):
        numbers.sort()
    return np.stack(np.unravel_index(numbers, box), axis=1).astype(np.int32)


def geometry_of(row: dict[str, Any]) -> Geometry:
    triples = (tuple(row[name]) for name in ("space", "kernel", "stride", "padding", "dilation"))
    return Geometry(row["batch"], *triples, subm=row["subm"], given_out=tuple(row["out"]))


@pytest.mark.sampled("model", "row")
@pytest.mark.parametrize("model", SPARSE_MODELS)
@by_id(PAIRS)
def test_get_indice_pairs(model: str, row: dict[str, Any]) -> None:
    indices, geometry = rows_for(row), geometry_of(row)
    found, expected = on_both(model, lambda: call_pairs(indices, geometry))
    for one, other in zip(found, expected, strict=True):
        assert_same_bits(one, other)
    if row["rows"] <= 100 and geometry.cells <= 27:
        for one, other in zip(found, vectorised(indices, geometry), strict=True):
            assert_same_bits(one, other)


@pytest.mark.parametrize("model", sorted(set(MODELS) - set(SPARSE_MODELS)))
def test_get_indice_pairs_needs_architecture_372(model: str) -> None:
    indices, geometry = rows_for(PAIRS[0]), geometry_of(PAIRS[0])
    with watched(model), pytest.raises(pymluops.ArchMismatchError, match="372"):
        call_pairs(indices, geometry)
