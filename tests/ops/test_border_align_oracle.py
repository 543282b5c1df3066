"""The oracle of border_align, against cases by hand and the adjoint."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from pymluops.oracle import border_align
from support.data_files import facts


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
