"""The demo's NumPy references against plain loops, on tiny random arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli import naive
from pymluops.demo import reference
from support.selection import examples

FEW = examples(40)
SEEDS = st.integers(0, 2**32 - 1)
SMALL = st.integers(1, 4)


def exactly(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


@FEW
@given(seed=SEEDS, batch=SMALL, length=SMALL, groups=SMALL, per_group=SMALL, kind=st.sampled_from(["f4", "f2"]))
def test_tin_shift(seed: int, batch: int, length: int, groups: int, per_group: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    frames = rng.normal(size=(batch, length, groups * per_group, 3)).astype(kind)
    shifts = rng.integers(-length - 1, length + 2, (batch, groups)).astype(np.int32)
    exactly(reference.tin_shift(frames, shifts), naive.tin_shift(frames, shifts))


@FEW
@given(
    seed=SEEDS, size=st.tuples(SMALL, SMALL), mask=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    mode=st.sampled_from(["collect", "distribute"]),
)  # fmt: skip
def test_psamask(seed: int, size: tuple[int, int], mask: tuple[int, int], mode: str) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(2, *size, mask[0] * mask[1])).astype(np.float32)
    exactly(reference.psamask_forward(x, mode, mask), naive.psamask(x, mode, mask, backward=False))
    dy = rng.normal(size=(2, *size, size[0] * size[1])).astype(np.float32)
    exactly(reference.psamask_backward(dy, mode, mask), naive.psamask(dy, mode, mask, backward=True))


@FEW
@given(seed=SEEDS, known=SMALL, points=SMALL, kind=st.sampled_from(["f4", "f2"]))
def test_three_interpolate(seed: int, known: int, points: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(2, 3, known)).astype(kind)
    gradient = rng.normal(size=(2, 3, points)).astype(kind)
    indices = rng.integers(-1, known + 1, (2, points, 3)).astype(np.int32)
    weights = rng.random((2, points, 3)).astype(kind)
    forward = reference.three_interpolate_forward(features, indices, weights)
    np.testing.assert_allclose(forward.value, naive.three_interpolate(features, indices, weights), rtol=1e-14)
    assert (forward.magnitude >= np.abs(forward.value) * (1 - 1e-12)).all()
    backward = reference.three_interpolate_backward(gradient, indices, weights, known)
    value, terms = naive.three_interpolate_backward(gradient, indices, weights, known)
    np.testing.assert_allclose(backward.value, value, rtol=1e-13, atol=1e-15)
    exactly(backward.terms, terms)


@FEW
@given(
    seed=SEEDS, space=st.tuples(SMALL, SMALL, st.integers(1, 6)), kernel=st.tuples(SMALL, SMALL, SMALL),
    stride=st.integers(1, 3), padding=st.integers(0, 3),
)  # fmt: skip
def test_get_indice_pairs(seed: int, space: tuple, kernel: tuple, stride: int, padding: int) -> None:
    if any(s + 2 * padding < k for s, k in zip(space, kernel, strict=True)):
        padding = 3
    rng = np.random.default_rng(seed)
    cells = np.argwhere(rng.random((2, *space)) < 0.4)
    indices = rng.permutation(cells if len(cells) else np.zeros((1, 4), int)).astype(np.int32)
    for arguments in ((stride, padding, False), (1, padding, True)):
        actual = reference.get_indice_pairs(indices, space, kernel, *arguments)
        for one, other in zip(actual, naive.get_indice_pairs(indices, space, kernel, *arguments), strict=True):
            exactly(one, other)


@FEW
@given(seed=SEEDS, size=st.tuples(SMALL, SMALL), pool=st.integers(1, 5), kind=st.sampled_from(["f4", "f2"]))
def test_border_align(seed: int, size: tuple[int, int], pool: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(2, *size, 8)).astype(kind)
    boxes = rng.uniform(-2, max(size) + 1, (2, 3, 4)).astype(kind)
    boxes[0, 0] = [0, 0, size[1], size[0]]  # whole numbers: on the rim, and samples that tie
    output, argmax = naive.border_align(features, boxes, pool)
    forward = reference.border_align_forward(features, boxes, pool)
    exactly(forward.output, output)
    exactly(forward.argmax, argmax)
    gradient = rng.normal(size=output.shape).astype(kind)
    argmax[0, 0, 0] = [-1, pool + 1]  # contribute nothing
    backward = reference.border_align_backward(gradient, boxes, argmax, pool, size)
    expected = naive.border_align_backward(gradient, boxes, argmax, pool, size)
    np.testing.assert_allclose(backward.value, expected, rtol=1e-12, atol=1e-15)


@examples(200)
@given(values=st.tuples(*[st.floats(-1e4, 1e4, width=32)] * 3))
def test_fused_multiply_add(values: tuple[float, float, float]) -> None:
    a, b, c = (np.array([value], np.float32) for value in values)
    assert reference.fused_multiply_add(a, b, c)[0] == naive.fused_multiply_add(a[0], b[0], c[0])


@pytest.mark.parametrize("sign", [1, -1])
def test_fused_multiply_add_where_two_roundings_differ(sign: int) -> None:
    # 1 + 2^-24 lies between two float32 numbers; the last 2^-60 decides, and float64 loses it.
    a, b = np.float32(2.0**-12 + 2.0**-34), np.float32(2.0**-12 - 2.0**-34)
    assert float(a) * float(b) < 2.0**-24
    for c in (np.float32(1), np.float32(-1), np.float32(3)):
        arguments = (np.array([sign * a]), np.array([b]), np.array([sign * c]))
        exact = naive.fused_multiply_add(arguments[0][0], b, arguments[2][0])
        assert reference.fused_multiply_add(*arguments)[0] == exact
    rng = np.random.default_rng(3)
    a, b = (rng.integers(1, 2**12, 3000).astype(np.float32) for _ in range(2))
    c = np.full(3000, sign * 2.0**40, np.float32)
    b = (b * np.float32(2.0**6)).astype(np.float32)
    expected = [naive.fused_multiply_add(*one) for one in zip(a, b, c, strict=True)]
    exactly(reference.fused_multiply_add(a, b, c), np.array(expected))


def test_fused_multiply_add_of_tiny_numbers() -> None:
    rng = np.random.default_rng(4)
    a, b, c = (np.float32(2.0**-70) * rng.normal(size=500).astype(np.float32) for _ in range(3))
    c = (c * np.float32(2.0**-70)).astype(np.float32)
    expected = [naive.fused_multiply_add(*one) for one in zip(a, b, c, strict=True)]
    exactly(reference.fused_multiply_add(a, b, c), np.array(expected))
