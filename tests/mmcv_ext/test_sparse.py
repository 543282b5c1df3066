"""Pairs against the rule written out, convolutions against PyTorch's dense ones."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.selection import examples

from .values import DTYPES, exact, near, tensor

pytest.importorskip("torch")

Space = tuple[int, ...]


def out_space(space: Space, kernel: Space, stride: Space, padding: Space, dilation: Space, transposed: bool) -> Space:
    axes = zip(space, kernel, stride, padding, dilation, strict=True)
    if transposed:
        return tuple((i - 1) * s - 2 * p + k for i, k, s, p, _ in axes)
    return tuple((i + 2 * p - d * (k - 1) - 1) // s + 1 for i, k, s, p, d in axes)


def by_rule(
    rows: np.ndarray, out: Space, kernel: Space, stride: Space, padding: Space, dilation: Space, flags: tuple[int, int]
) -> tuple[list[Space], list[list[tuple[int, int]]]]:
    """Output places and the pairs of each cell, row after row and cell after cell."""
    subm, transposed = flags
    if subm:
        stride, padding = (1,) * len(kernel), tuple(size // 2 for size in kernel)
    places = [tuple(map(int, row)) for row in rows]
    hits = []
    for cell in itertools.product(*map(range, kernel)):
        for number, (batch, *place) in enumerate(places):
            target = []
            for i, k, s, p, d, size in zip(place, cell, stride, padding, dilation, out, strict=True):
                t, rest = (i * s - p + k * d, 0) if transposed else divmod(i + p - k * d, s)
                target.append(t if rest == 0 and 0 <= t < size else None)
            if None not in target:
                hits.append((cell, number, (batch, *target)))
    outputs: list[Any] = places if subm else sorted({target for _, _, target in hits})
    row_of = {}
    for number, place in enumerate(outputs):
        row_of.setdefault(place, number)
    pairs = [
        [(number, row_of[target]) for c, number, target in hits if c == cell and target in row_of]
        for cell in itertools.product(*map(range, kernel))
    ]
    return outputs, pairs


def call(
    torch: Any, ext: ModuleType, rows: np.ndarray, batch: int, lists: Sequence[Space], flags: tuple[int, int]
) -> list[Any]:
    """The pairs, from the function without and, where there is one, with a grid."""
    ndim = rows.shape[1] - 1
    arguments = (batch, *(list(numbers) for numbers in lists), [0] * ndim, *flags)
    indices = torch.from_numpy(rows)
    found: list[Any] = getattr(ext, f"get_indice_pairs_{ndim}d_forward")(indices, *arguments)
    if ndim < 4:
        other = getattr(ext, f"get_indice_pairs_{ndim}d_backward")(indices, torch.zeros(1), *arguments)
        assert all(torch.equal(a, b) for a, b in zip(found, other, strict=True))
    assert [str(array.dtype) for array in found] == ["torch.int32"] * 3
    return found


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, int, list[Space], tuple[int, int]]:
    """Rows, batch size, (out space, space, kernel, stride, padding, dilation), (subm, transposed)."""
    ndim = draw(st.integers(2, 4))

    def numbers(least: int, most: int) -> Space:
        return tuple(draw(st.lists(st.integers(least, most), min_size=ndim, max_size=ndim)))

    subm, transposed = draw(st.sampled_from([(0, 0), (1, 0), (0, 1)]))
    kernel = numbers(1, 3)
    dilation = numbers(1, 2)
    stride = tuple(1 if d > 1 else s for s, d in zip(numbers(1, 3), dilation, strict=True))
    padding = tuple(min(p, k - 1) for p, k in zip(numbers(0, 2), kernel, strict=True))
    space = tuple(max(i, d * (k - 1) + 1) for i, k, d in zip(numbers(1, 4), kernel, dilation, strict=True))
    batch = draw(st.integers(1, 2))
    out = space if subm else out_space(space, kernel, stride, padding, dilation, bool(transposed))
    out = tuple(max(1, size) for size in out)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ends = np.array((batch, *space))
    rows = np.unique(rng.integers(0, ends, (draw(st.integers(0, 12)), ndim + 1)), axis=0)
    rng.shuffle(rows)
    return rows.astype(np.int32), batch, [out, space, kernel, stride, padding, dilation], (subm, transposed)


@examples(150)
@given(problem=problems())
def test_pairs(torch: Any, ext: ModuleType, problem: tuple[np.ndarray, int, list[Space], tuple[int, int]]) -> None:
    rows, batch, lists, flags = problem
    out, _, kernel, stride, padding, dilation = lists
    out_indices, pairs, counts = call(torch, ext, rows, batch, lists, flags)
    outputs, expected = by_rule(rows, out, kernel, stride, padding, dilation, flags)
    assert out_indices.tolist() == [list(place) for place in outputs]
    assert tuple(pairs.shape) == (len(expected), 2, len(rows))
    assert counts.tolist() == [len(hits) for hits in expected]
    for k, hits in enumerate(expected):
        rest = [-1] * (len(rows) - len(hits))
        assert pairs[k].tolist() == [[i for i, _ in hits] + rest, [o for _, o in hits] + rest]


def test_both_functions_of_the_library_find_the_same_pairs(torch: Any) -> None:
    """The function for pairs of any kind gives the same as that of the ABI where both have them; rows repeat here."""
    from pymluops.mmcv.get_indice_pairs import Convolution, _pairs_of_extension, _pairs_of_library

    rows = torch.from_numpy(np.random.default_rng(1).integers(0, (2, 5, 6, 4), (60, 4)).astype(np.int32))
    for subm, lists in (
        (True, [(5, 6, 4), (5, 6, 4), (3, 3, 3), (1, 1, 1), (1, 1, 1), (1, 1, 1)]),
        (False, [(5, 6, 4), (3, 3, 2), (3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1)]),
    ):
        shape = Convolution(2, *lists, subm=subm, transposed=False)
        assert shape.plain
        for a, b in zip(_pairs_of_extension(rows, shape), _pairs_of_library(rows, shape), strict=True):
            assert torch.equal(a, b)


# ---- convolution ---------------------------------------------------------------------------------


def voxels(rng: np.random.Generator, space: Space) -> np.ndarray:
    return np.unique(rng.integers(0, (2, *space), (40, 4)), axis=0).astype(np.int32)


def scattered(torch: Any, rows: np.ndarray, features: Any, space: Space) -> Any:
    """Features [L, C] as a dense map [2, C, ...]."""
    dense = features.new_zeros(2, *space, features.shape[1])
    dense[tuple(torch.from_numpy(rows).long().T)] = features
    return dense.movedim(-1, 1)


def gathered(torch: Any, rows: Any, dense: Any) -> Any:
    return dense.movedim(1, -1)[tuple(rows.long().T)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", ["strided", "subm", "transposed"])
def test_convolution(torch: Any, ext: ModuleType, dtype: str, kind: str) -> None:
    """Forward and backward, without and with bias."""
    rng = np.random.default_rng(2)
    space, size, stride = (5, 6, 4), (3, 3, 3), (1, 1, 1) if kind == "subm" else (2, 2, 2)
    flags = int(kind == "subm"), int(kind == "transposed")
    rows = voxels(rng, space)
    one = (1, 1, 1)
    out = space if kind == "subm" else out_space(space, size, stride, one, one, kind == "transposed")
    out_indices, pairs, counts = call(torch, ext, rows, 2, [out, space, size, stride, one, one], flags)
    features, filters = (
        tensor(torch, rng.uniform(-0.5, 0.5, shape), dtype) for shape in ((len(rows), 3), (*size, 3, 2))
    )
    bias, grad = (tensor(torch, rng.uniform(-0.5, 0.5, shape), dtype) for shape in ((2,), (len(out_indices), 2)))

    leaves = [values.double().requires_grad_() for values in (features, filters)]
    dense = scattered(torch, rows, leaves[0], space)
    if kind == "transposed":
        result = torch.nn.functional.conv_transpose3d(dense, leaves[1].permute(3, 4, 0, 1, 2), None, stride, 1)
    else:
        result = torch.nn.functional.conv3d(dense, leaves[1].permute(4, 3, 0, 1, 2), None, stride, 1)
    expected = gathered(torch, out_indices, result)
    expected.backward(grad.double())

    got = ext.indice_conv_forward(features, filters, pairs, counts, len(out_indices), 0, flags[0])
    near(torch, got, exact(expected), dtype)
    fused = ext.fused_indice_conv_forward(features, filters, bias, pairs, counts, len(out_indices), 0, flags[0])
    near(torch, fused, exact(expected) + exact(bias), dtype)
    gradients = ext.indice_conv_backward(features, filters, grad, pairs, counts, 0, flags[0])
    for gradient, leaf in zip(gradients, leaves, strict=True):
        near(torch, gradient, exact(leaf.grad), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_inverse_convolution_is_the_adjoint(torch: Any, ext: ModuleType, dtype: str) -> None:
    """With exchanged filter axes it sends to the input rows what the gradient of the convolution sends."""
    rng = np.random.default_rng(3)
    rows = voxels(rng, (5, 6, 4))
    lists = [(3, 3, 2), (5, 6, 4), (3, 3, 3), (2, 2, 2), (1, 1, 1), (1, 1, 1)]
    out_indices, pairs, counts = call(torch, ext, rows, 2, lists, (0, 0))
    features = tensor(torch, rng.uniform(-0.5, 0.5, (len(out_indices), 3)), dtype)
    filters = tensor(torch, rng.uniform(-0.5, 0.5, (3, 3, 3, 3, 2)), dtype)
    got = ext.indice_conv_forward(features, filters, pairs, counts, len(rows), 1, 0)
    other = features.double().new_zeros(len(rows), 2)
    swapped = filters.double().transpose(-1, -2)
    expected = ext.indice_conv_backward(other, swapped, features.double(), pairs, counts, 0, 0)[0]
    near(torch, got, exact(expected), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_maximum(torch: Any, ext: ModuleType, dtype: str) -> None:
    rng = np.random.default_rng(4)
    rows = voxels(rng, (4, 6, 4))
    lists = [(2, 3, 2), (4, 6, 4), (2, 2, 2), (2, 2, 2), (0, 0, 0), (1, 1, 1)]
    out_indices, pairs, counts = call(torch, ext, rows, 2, lists, (0, 0))
    features = tensor(torch, rng.integers(-6, 7, (len(rows), 3)), dtype)  # with equal maxima
    grad = tensor(torch, rng.integers(1, 5, (len(out_indices), 3)), dtype)
    got = ext.indice_maxpool_forward(features, pairs, counts, len(out_indices))
    below = {tuple(place): row for row, place in enumerate(out_indices.tolist())}
    expected, expected_grad = np.zeros((len(below), 3)), np.zeros((len(rows), 3))
    owner = [below[(n, d // 2, h // 2, w // 2)] for n, d, h, w in rows.tolist()]
    for row, target in enumerate(owner):
        expected[target] = np.maximum(expected[target], exact(features)[row])
    for row, target in enumerate(owner):
        expected_grad[row] = np.where(exact(features)[row] == expected[target], exact(grad)[target], 0)
    np.testing.assert_array_equal(exact(got), expected)
    result = ext.indice_maxpool_backward(features, got, grad, pairs, counts)
    np.testing.assert_array_equal(exact(result), expected_grad)
    features[0], features[1] = torch.nan, torch.inf
    got = exact(ext.indice_maxpool_forward(features, pairs, counts, len(out_indices)))
    assert not np.isnan(got).any() and np.isinf(got).sum() == 3


@pytest.mark.parametrize("subm", [0, 1])
def test_no_active_voxels(torch: Any, ext: ModuleType, subm: int) -> None:
    rows = np.zeros((0, 4), np.int32)
    out_indices, pairs, counts = call(torch, ext, rows, 1, [(4,) * 3, (4,) * 3, *[(3,) * 3, (1,) * 3] * 2], (subm, 0))
    assert out_indices.shape == (0, 4) and pairs.shape == (27, 2, 0) and not counts.any()
    features, filters = torch.zeros(0, 2), torch.ones(3, 3, 3, 2, 5)
    assert ext.indice_conv_forward(features, filters, pairs, counts, 0, 0, subm).shape == (0, 5)
    gradients = ext.indice_conv_backward(features, filters, torch.zeros(0, 5), pairs, counts, 0, subm)
    assert gradients[0].shape == (0, 2) and gradients[1].shape == filters.shape and not gradients[1].any()
    assert ext.indice_maxpool_forward(features, pairs, counts, 0).shape == (0, 2)


def test_an_even_filter_has_no_centre(torch: Any, ext: ModuleType) -> None:
    """Cell (1, 1, 1) of a sub-manifold filter of 2 x 2 x 2 is the one that meets the row itself."""
    rows = np.array([[0, 0, 0, 0], [0, 2, 2, 2]], np.int32)
    lists = [(4,) * 3, (4,) * 3, (2,) * 3, (1,) * 3, (1,) * 3, (1,) * 3]
    _, pairs, counts = call(torch, ext, rows, 1, lists, (1, 0))
    filters = torch.arange(1.0, 9).reshape(2, 2, 2, 1, 1)
    result = ext.indice_conv_forward(torch.tensor([[1.0], [2.0]]), filters, pairs, counts, 2, 0, 1)
    assert result.tolist() == [[8.0], [16.0]]


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_rows_meet_themselves_under_the_centre(torch: Any, ext: ModuleType, direction: str) -> None:
    """In sub-manifold mode the pairs of the centre do not count: they may be missing, or lead to a row that repeats."""
    features, filters = torch.tensor([[1.0], [2.0], [4.0]]), torch.tensor([3.0, 5.0, 7.0]).reshape(3, 1, 1)
    pairs, counts = torch.full((3, 2, 2), -1, dtype=torch.int32), torch.tensor([0, 2, 1], dtype=torch.int32)
    pairs[1] = 0
    pairs[2, :, 0] = torch.tensor([2, 1])  # row 2 goes to row 1
    before = pairs.clone()
    if direction == "forward":
        got = ext.indice_conv_forward(features, filters, pairs, counts, 3, 0, 1)
        assert got.flatten().tolist() == [5, 10 + 28, 20]
        assert ext.indice_conv_forward(features, filters, pairs, counts, 3, 0, 0).flatten().tolist() == [10, 28, 0]
    else:
        grad = torch.tensor([[1.0], [10.0], [100.0]])
        of_features, of_filters = ext.indice_conv_backward(features, filters, grad, pairs, counts, 0, 1)
        assert of_features.flatten().tolist() == [5, 50, 500 + 70]
        assert of_filters.flatten().tolist() == [0, 1 + 20 + 400, 40]
    assert torch.equal(pairs, before) and counts.tolist() == [0, 2, 1]


@pytest.mark.parametrize("subm", [0, 1])
def test_the_pairs_of_a_smaller_filter(torch: Any, ext: ModuleType, subm: int) -> None:
    """A filter that is given the pairs of a smaller one computes with its first cells; the others have no gradient."""
    rng = np.random.default_rng(5)
    rows = np.array([[0, 1, 1, 1], [0, 1, 2, 1], [0, 2, 1, 3], [0, 1, 1, 2]], np.int32)
    lists = [(5,) * 3, (5,) * 3, (1, 3, 3), (1,) * 3, (0, 1, 1), (1,) * 3]
    out, pairs, counts = call(torch, ext, rows, 1, lists, (subm, 0))
    sizes = (4, 2), (3, 3, 3, 2, 5), (5,)
    features, filters, bias = (tensor(torch, rng.normal(size=size), "float32") for size in sizes)
    first = filters.view(27, 2, 5)[:9]
    result = ext.indice_conv_forward(features, filters, pairs, counts, len(out), 0, subm)
    assert torch.equal(result, ext.indice_conv_forward(features, first, pairs, counts, len(out), 0, subm))
    fused = ext.fused_indice_conv_forward(features, filters, bias, pairs, counts, len(out), 0, subm)
    assert torch.equal(fused, ext.fused_indice_conv_forward(features, first, bias, pairs, counts, len(out), 0, subm))
    of_features, of_filters = ext.indice_conv_backward(features, filters, result, pairs, counts, 0, subm)
    expected = ext.indice_conv_backward(features, first, result, pairs, counts, 0, subm)
    assert torch.equal(of_features, expected[0])
    assert torch.equal(of_filters.view(27, 2, 5)[:9], expected[1]) and expected[1].any()
    assert of_filters.shape == filters.shape and not of_filters.view(27, 2, 5)[9:].any()


# ---- refusals ------------------------------------------------------------------------------------


def test_refusals(torch: Any, ext: ModuleType) -> None:
    rows = torch.tensor([[0, 1, 1, 1]], dtype=torch.int32)
    good = [4] * 3, [4] * 3, [3] * 3, [1] * 3, [1] * 3, [1] * 3, [0] * 3

    def refused(function: str, *arguments: Any) -> str:
        with pytest.raises(RuntimeError) as caught:
            getattr(ext, function)(*arguments)
        return str(caught.value)

    name = "get_indice_pairs_3d_forward"
    text = refused(name, rows.long(), 1, *good, 0, 0)
    assert text == f"{name}: indices: expected int32, got int64"
    text = refused("get_indice_pairs_2d_forward", rows, 1, *good, 0, 0)
    assert text == "get_indice_pairs_2d_forward: indices: expected shape [any, 3], got shape [1, 4]"
    text = refused(name, rows, 1, [4, 4], *good[1:], 0, 0)
    assert text == f"{name}: outSpatialShape: expected 3 numbers of at least 1, got [4, 4]"
    text = refused(name, rows, 1, *good[:4], [-1, 1, 1], *good[5:], 0, 0)
    assert text == f"{name}: padding: expected 3 numbers of at least 0, got [-1, 1, 1]"
    assert refused(name, rows, 0, *good, 0, 0) == f"{name}: batchSize: expected at least 1, got 0"
    assert "indices" in refused(name, rows + 3, 1, *good, 0, 0)
    text = refused(name, rows + 3, 1, *good, 0, 1)
    assert text.startswith(f"{name}: ") and "indices: expected rows inside of batch and space" in text
    four = torch.zeros(1, 5, dtype=torch.int32)
    huge = [[2**20] * 4] * 2 + [[3] * 4, [1] * 4, [1] * 4, [1] * 4, [0] * 4]
    assert "fewer than 2^62 places" in refused("get_indice_pairs_4d_forward", four, 1, *huge, 1, 0)

    pairs, counts = torch.full((2, 2, 3), -1, dtype=torch.int32), torch.tensor([1, 2], dtype=torch.int32)
    features, filters = torch.zeros(3, 4), torch.zeros(2, 4, 5)
    text = refused("indice_conv_forward", features, filters.half(), pairs, counts, 3, 0, 0)
    assert text == "indice_conv_forward: filters: expected float32, like features, got float16"
    text = refused("indice_conv_forward", features, filters[:1], pairs, counts, 3, 0, 0)
    assert text == "indice_conv_forward: filters: expected at least 2 cells, as indiceNum, got 1"
    text = refused("indice_conv_backward", features, filters, torch.zeros(3, 4), pairs, counts, 0, 0)
    assert text == "indice_conv_backward: outGrad: expected shape [any, 5], got shape [3, 4]"
    text = refused("indice_maxpool_forward", features, pairs, counts + 3, 3)
    assert text == "indice_maxpool_forward: indiceNum: expected numbers from 0 to 3, got [4, 5]"
    # The rows of these pairs are -1, which is no row.
    text = refused("indice_conv_forward", features, filters, pairs, counts, 3, 0, 1)
    assert text.startswith("indice_conv_forward: ") and "indice_pairs" in text and "got -1" in text
    text = refused("indice_conv_backward", features, filters, torch.zeros(2, 5), pairs + 3, counts, 0, 0)
    assert text.startswith("indice_conv_backward: ") and "indice_pairs" in text and "got 2" in text
    assert "indicePairs" in refused("indice_maxpool_forward", features, pairs, counts, 3)
    assert "indicePairs" in refused("indice_maxpool_backward", features, features, features, pairs, counts)
    text = refused("indice_conv_forward", features, filters[:1], pairs[:1], counts[:1], 2, 0, 1)
    assert text == "indice_conv_forward: numActOut: expected 3, the number of features, got 2"
