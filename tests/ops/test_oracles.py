"""The oracles against cases worked out by hand and against each other, so that they can be trusted."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from oracle import border_align, get_indice_pairs, psamask, three_interpolate, tin_shift
from oracle.get_indice_pairs import Geometry
from support import facts


def test_tin_shift_demo() -> None:
    source = (10 * np.arange(6)[:, None] + np.arange(6)).astype(np.float32).reshape(1, 6, 6, 1)
    moved = tin_shift.shift(source, np.array([[-1, 0, 2]], np.int32))[0, :, :, 0]
    assert moved[:, 0].tolist() == [10, 20, 30, 40, 50, 0]
    assert moved[:, 2].tolist() == [2, 12, 22, 32, 42, 52]
    assert moved[:, 5].tolist() == [0, 0, 5, 15, 25, 35]


def test_psamask_collect_of_a_2x2_map_by_hand() -> None:
    x = np.arange(36, dtype=np.float32).reshape(1, 2, 2, 9)
    y = psamask.forward(x, psamask.COLLECT, 3, 3)
    # Position (0, 0) sees the four lower right cells of its mask, position (1, 1) the four upper left ones.
    assert y[0, 0, 0].tolist() == [4, 5, 7, 8]
    assert y[0, 1, 1].tolist() == [27, 28, 30, 31]


def test_psamask_distribute_is_collect_with_positions_and_cells_exchanged() -> None:
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 15)).astype(np.float32)
    collected = psamask.forward(x, psamask.COLLECT, 3, 5).reshape(2, 12, 12)
    distributed = psamask.forward(x, psamask.DISTRIBUTE, 3, 5).reshape(2, 12, 12)
    np.testing.assert_array_equal(distributed, collected.transpose(0, 2, 1))


@pytest.mark.parametrize("psa_type", [psamask.COLLECT, psamask.DISTRIBUTE])
@pytest.mark.parametrize("mask", [(1, 1), (3, 4), (9, 2), (6, 11)])
def test_both_ways_to_spread_a_mask_agree(psa_type: int, mask: tuple[int, int]) -> None:
    rng = np.random.default_rng(6)
    x, dy = rng.normal(size=(2, 3, 5, mask[0] * mask[1])), rng.normal(size=(2, 3, 5, 15))
    one, other = psamask.forward(x, psa_type, *mask), psamask.forward_by_cell(x, psa_type, *mask)
    np.testing.assert_array_equal(one, other)
    one, other = psamask.backward(dy, psa_type, *mask), psamask.backward_by_cell(dy, psa_type, *mask)
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("psa_type", [psamask.COLLECT, psamask.DISTRIBUTE])
def test_psamask_backward_is_the_adjoint(psa_type: int) -> None:
    rng = np.random.default_rng(1)
    x = rng.integers(-9, 9, (2, 4, 3, 8)).astype(np.float64)
    dy = rng.integers(-9, 9, (2, 4, 3, 12)).astype(np.float64)
    there = (psamask.forward(x, psa_type, 2, 4) * dy).sum()
    assert there == (psamask.backward(dy, psa_type, 2, 4) * x).sum()


def test_fma_rounds_once() -> None:
    rng = np.random.default_rng(2)
    a, b = (rng.integers(0, 1 << 32, 3000, np.uint64).astype(np.uint32).view(np.float32) for _ in range(2))
    with np.errstate(all="ignore"):
        near = -(a * b) * (1 + rng.integers(-2, 3, 3000).astype(np.float32) * np.float32(2**-23))
    c = np.where(rng.random(3000) < 0.5, near.astype(np.float32), rng.normal(size=3000).astype(np.float32))
    with np.errstate(all="ignore"):
        keep = np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & np.isfinite(a * b + c)
    got = border_align.fma(a[keep], b[keep], c[keep])
    exact = [Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z)) for x, y, z in zip(a[keep], b[keep], c[keep])]
    assert keep.sum() > 1000
    for value, real in zip(got, exact, strict=True):
        if np.isfinite(value):
            below, above = np.nextafter(value, np.float32(-np.inf)), np.nextafter(value, np.float32(np.inf))
            error = abs(Fraction(float(value)) - real)
            assert all(error <= abs(Fraction(float(n)) - real) for n in (below, above) if np.isfinite(n))


def test_border_align_samples_by_hand() -> None:
    features = np.zeros((1, 2, 3, 4), np.float32)
    features[0, :, :, 0] = [[1, 2, 4], [8, 16, 32]]  # top
    features[0, :, :, 3] = [[0, 0, 0], [0, 0, 64]]  # right
    boxes = np.array([[[0, 0.5, 2, 1]]], np.float32)
    output, argmax = border_align.forward(features, boxes, 2)
    # Top: x = 0, 1, 2 at y = 0.5. Right: from (2, 1) up to (2, 0.5).
    assert output[0, 0, :, 0].tolist() == [18, 0, 0, 64]
    assert argmax[0, 0, :, 0].tolist() == [2, 0, 0, 0]


def test_border_align_counts_the_rim_as_inside_and_nan_as_outside() -> None:
    places = np.array([-1, np.nextafter(np.float32(-1), np.float32(-2)), 3, 3.0001, np.nan, -0.5], np.float32)
    at = border_align.corners(places, np.zeros_like(places), 1, 3)
    assert at.inside.tolist() == [True, False, True, False, False, True]
    assert at.columns[0][[0, 2, 5]].tolist() == [0, 2, 0]


def test_border_align_gradient_of_the_worked_example() -> None:
    example = facts("acceptance_shapes.json")["border_align_example"]
    grad, argmax = (np.array(example[name])[None, :, :, None] for name in ("grad_output", "argmax_idx"))
    boxes = np.array(example["boxes"], np.float32)[None]
    got = border_align.backward(grad.astype(np.float32), boxes, argmax, example["pool_size"], (3, 4))
    np.testing.assert_array_equal(got[0].transpose(2, 0, 1), example["grad_input_of_border"])


def test_border_align_backward_is_the_adjoint_of_the_chosen_samples() -> None:
    rng = np.random.default_rng(3)
    features = rng.integers(-8, 8, (2, 4, 5, 12)).astype(np.float64)
    boxes = rng.integers(0, 12, (2, 6, 4)) / 4.0
    output, argmax = border_align.forward(features, boxes, 4, np.float64)
    grad = rng.integers(-8, 8, output.shape).astype(np.float64)
    assert (output * grad).sum() == (border_align.backward(grad, boxes, argmax, 4, (4, 5)) * features).sum()


def test_three_interpolate_by_hand() -> None:
    features = np.array([[[1, 10, 100]]], np.float32)
    indices = np.array([[[0, 1, 2], [2, 2, -1], [3, 0, 0]]], np.int32)
    weights = np.array([[[1, 2, 3], [1, 1, np.nan], [np.nan, 1, 4]]], np.float32)
    assert three_interpolate.forward(features, indices, weights)[0, 0].tolist() == [321, 200, 5]
    grad = np.array([[[1, 10, 100]]], np.float32)
    assert three_interpolate.backward(grad, indices, weights, 3)[0, 0].tolist() == [501, 2, 23]


def test_three_interpolate_backward_is_the_adjoint() -> None:
    rng = np.random.default_rng(4)
    features, grad = rng.integers(-9, 9, (2, 3, 5)), rng.integers(-9, 9, (2, 3, 7))
    indices, weights = rng.integers(-1, 6, (2, 7, 3)), rng.integers(-9, 9, (2, 7, 3))
    there = (three_interpolate.forward(features, indices, weights) * grad).sum()
    assert there == (three_interpolate.backward(grad, indices, weights, 5) * features).sum()


def _dense_convolution(dense: np.ndarray, filters: np.ndarray, geometry: Geometry) -> np.ndarray:
    """Plain cross-correlation of dense [batch, d, h, w] with filters [kd, kh, kw], from its definition."""
    g = geometry
    result = np.zeros((g.batch, *g.out))
    for place in itertools.product(*map(range, g.out)):
        for cell in itertools.product(*map(range, g.kernel)):
            site = [o * s - p + k * d for o, s, p, k, d in zip(place, g.stride, g.padding, cell, g.dilation)]
            if all(0 <= i < size for i, size in zip(site, g.space)):
                result[(slice(None), *place)] += dense[(slice(None), *site)] * filters[cell]
    return result


GEOMETRIES = [
    Geometry(2, (4, 5, 6), (3, 3, 3), (2, 2, 2), (1, 1, 1)),
    Geometry(1, (5, 4, 3), (2, 3, 1), (1, 2, 1), (0, 1, 2)),
    Geometry(2, (6, 5, 4), (3, 2, 2), padding=(2, 1, 0), dilation=(2, 1, 3)),
    Geometry(2, (4, 4, 4), (3, 3, 3), padding=(1, 1, 1), subm=True),
    Geometry(1, (4, 4, 4), (3, 3, 3), padding=(1, 1, 1), given_out=(7, 2, 5)),
]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
def test_pairs_give_the_dense_convolution(geometry: Geometry) -> None:
    rng = np.random.default_rng(5)
    occupied = rng.random((geometry.batch, *geometry.space)) < 0.2
    indices = np.argwhere(occupied).astype(np.int32)
    rng.shuffle(indices)
    values, filters = rng.integers(1, 9, len(indices)), rng.integers(1, 9, geometry.kernel)
    dense = np.zeros(occupied.shape)
    dense[tuple(indices.T)] = values
    expected = _dense_convolution(dense, filters, geometry)

    out_indices, pairs, counts = get_indice_pairs.by_rule(indices, geometry)
    sums = np.zeros(len(out_indices))
    for k, weight in enumerate(filters.reshape(-1)):
        np.add.at(sums, pairs[k, 1, : counts[k]], values[pairs[k, 0, : counts[k]]] * weight)
    got = np.zeros(expected.shape)
    got[tuple(out_indices.T)] = sums
    if geometry.subm:
        expected[~occupied] = 0
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("rows", [0, 1, 40])
def test_both_ways_to_find_pairs_agree(geometry: Geometry, rows: int) -> None:
    rng = np.random.default_rng(rows)
    # Duplicate rows occur: more rows than sites along each axis.
    indices = rng.integers(0, (geometry.batch, *geometry.space), (rows, 4)).astype(np.int32)
    for one, other in zip(get_indice_pairs.by_rule(indices, geometry), get_indice_pairs.vectorised(indices, geometry)):
        np.testing.assert_array_equal(one, other)


def test_output_rows_of_a_tiny_convolution_by_hand() -> None:
    # One point at (0, 1, 1) in a 2x2 plane, 2x2 kernel, no padding: a single output, reached through the last cell.
    geometry = Geometry(1, (1, 2, 2), (1, 2, 2))
    out_indices, pairs, counts = get_indice_pairs.by_rule(np.array([[0, 0, 1, 1]], np.int32), geometry)
    assert out_indices.tolist() == [[0, 0, 0, 0]]
    assert counts.tolist() == [0, 0, 0, 1]
    assert pairs[:, :, 0].tolist() == [[-1, -1], [-1, -1], [-1, -1], [0, 0]]
    assert math.prod(geometry.kernel) == geometry.cells
