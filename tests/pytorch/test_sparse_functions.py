"""indice_conv, indice_inverse_conv, indice_subm_conv and indice_maxpool: values, gradients, types."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops.oracle import indice_convolution as oracle
from support.comparison import assert_close
from support.rulebooks import Rulebook, random_rulebook

torch = pytest.importorskip("torch")
sparse = pytest.importorskip("pymluops.torch.sparse")

Convolve = Callable[..., Any]


def _case(dtype: torch.dtype, inverse: int, repeats: bool = False) -> tuple[Any, Rulebook, int]:
    """Features, filters and pairs as tensors, the rulebook, and the number of output rows."""
    rng = np.random.default_rng(2)
    book = random_rulebook(rng, 6, 11, 9, repeats)
    rows, outputs = (9, 11) if inverse else (11, 9)
    features = torch.from_numpy(rng.normal(0, 1, (rows, 5))).to(dtype)
    filters = torch.from_numpy(rng.normal(0, 1, (2, 3, 5, 7))).to(dtype)
    return (features, filters, *map(torch.from_numpy, book)), book, outputs


functions = pytest.mark.parametrize(
    ("convolve", "inverse"),
    [(sparse.indice_conv, 0), (sparse.indice_subm_conv, 0), (sparse.indice_inverse_conv, 1)],
)


@functions
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_outputs_and_gradients(dtype: torch.dtype, repeats: bool, convolve: Convolve, inverse: int) -> None:
    (features, filters, pairs, num), book, rows = _case(dtype, inverse, repeats)
    features.requires_grad_()
    filters.requires_grad_()
    out = convolve(features, filters, pairs, num, rows)
    assert (out.dtype, out.shape) == (dtype, (rows, 7))
    grad = torch.randn(rows, 7, generator=torch.Generator().manual_seed(1)).to(dtype)
    out.backward(grad)
    f, w, g = features.detach().numpy(), filters.detach().numpy(), grad.numpy()
    for found, expected in (
        (out.detach(), oracle.forward(f, w, *book, rows, inverse)),
        (features.grad, oracle.backward_data(g, w, *book, len(f), inverse)),
        (filters.grad, oracle.backward_filter(f, g, *book, inverse).reshape(w.shape)),
    ):
        assert found is not None
        if dtype == torch.float64:
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-13, atol=1e-13)
        else:
            assert_close(found.numpy(), expected)


@functions
def test_bfloat16_is_computed_in_float32(convolve: Convolve, inverse: int) -> None:
    (features, filters, pairs, num), _, rows = _case(torch.bfloat16, inverse)
    expected = convolve(features.float(), filters.float(), pairs, num, rows).bfloat16()
    assert torch.equal(convolve(features, filters, pairs, num, rows), expected)


@functions
def test_gradients_of_gradients(convolve: Convolve, inverse: int) -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float64, inverse)
    inputs = (features.requires_grad_(), filters.requires_grad_())

    def function(f: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return convolve(f, w, pairs, num, rows)

    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


def test_only_wanted_gradients_are_computed() -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float32, 0)
    sparse.indice_conv(features, filters.requires_grad_(), pairs, num, rows).sum().backward()
    assert features.grad is None
    assert filters.grad is not None


def test_strided_tensors_and_other_integers() -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float64, 0)
    expected = sparse.indice_conv(features, filters, pairs, num, rows)
    strided = features.t().contiguous().t(), filters.transpose(0, 3).contiguous().transpose(0, 3)
    assert not strided[0].is_contiguous()
    other = pairs.permute(2, 1, 0).contiguous().permute(2, 1, 0).long(), num.to(torch.int32)
    assert torch.equal(sparse.indice_conv(*strided, *other, rows), expected)


def test_types_are_promoted() -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float32, 0)
    expected = sparse.indice_conv(features.half().float(), filters, pairs, num, rows)
    assert torch.equal(sparse.indice_conv(features.half(), filters, pairs, num, rows), expected)


@functions
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("row", [-1, 11, 2**31 - 1])
def test_rows_that_do_not_exist(row: int, side: int, convolve: Convolve, inverse: int) -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float32, inverse)
    pairs, num = torch.zeros_like(pairs), torch.full_like(num, 4)
    pairs[2, side, 3] = row
    with pytest.raises(
        pymluops.BadParamError, match=rf"rows from 0 to {8 if side else 10}, got {row} at \[2, {side}, 3"
    ):
        convolve(features, filters, pairs, num, rows)


@pytest.mark.parametrize("wrong", ["features", "filters", "pairs", "num", "rank", "many"])
def test_wrong_arguments(wrong: str) -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float32, 0)
    if wrong == "features":
        features = features[:, :4]
    elif wrong == "filters":
        filters = filters[:1]
    elif wrong == "pairs":
        pairs = pairs[:, :1]
    elif wrong == "num":
        num = num[:3]
    elif wrong == "rank":
        filters = filters[0, 0, 0]
    else:
        num = num + 100
    with pytest.raises((pymluops.BadParamError, ValueError), match="expected"):
        sparse.indice_conv(features, filters, pairs, num, rows)


@pytest.mark.parametrize(("length", "rows"), [(0, 4), (5, 0), (0, 0), (5, 4)])
def test_no_pairs(length: int, rows: int) -> None:
    features = torch.ones(length, 2, requires_grad=True)
    filters = torch.ones(3, 2, 3, requires_grad=True)
    pairs, num = torch.full((3, 2, length), -1, dtype=torch.int32), torch.zeros(3, dtype=torch.int32)
    out = sparse.indice_conv(features, filters, pairs, num, rows)
    assert torch.equal(out, torch.zeros(rows, 3))
    out.sum().backward()
    assert torch.equal(features.grad, torch.zeros(length, 2))
    assert torch.equal(filters.grad, torch.zeros(3, 2, 3))


def test_the_same_bits_with_any_number_of_threads() -> None:
    rng = np.random.default_rng(4)
    book = random_rulebook(rng, 27, 3000, 2500)
    tensors = [torch.from_numpy(rng.normal(0, 1, s).astype("float32")) for s in ((3000, 20), (27, 20, 33), (2500, 33))]
    features, filters, grad = tensors
    found = []
    before = pymluops.get_num_threads()
    try:
        for threads in (1, 2, 3, 7):
            pymluops.set_num_threads(threads)
            f, w = features.clone().requires_grad_(), filters.clone().requires_grad_()
            out = sparse.indice_conv(f, w, *map(torch.from_numpy, book), 2500)
            out.backward(grad)
            found.append((out.detach(), f.grad, w.grad))
    finally:
        pymluops.set_num_threads(before)
    for other in found[1:]:
        assert all(torch.equal(a, b) for a, b in zip(found[0], other, strict=True))


# ---- maxima --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_maxima(dtype: torch.dtype) -> None:
    (features, _, pairs, num), book, rows = _case(dtype, 0, repeats=True)
    features = torch.round(features * 2)  # equal values
    features.requires_grad_()
    out = sparse.indice_maxpool(features, pairs, num, rows)
    grad = torch.arange(rows * 5).view(rows, 5).to(dtype)
    out.backward(grad)
    f = features.detach().double().numpy()
    expected = np.zeros((rows, 5))
    for k in range(6):
        for i, o in book.pairs[k, :, : book.num[k]].T:
            expected[o] = np.maximum(expected[o], f[i])
    of_features = np.zeros_like(f)
    for k in range(6):
        for i, o in book.pairs[k, :, : book.num[k]].T:
            of_features[i] += np.where(f[i] == expected[o], grad[o].double().numpy(), 0)
    np.testing.assert_array_equal(out.detach().double().numpy(), expected)
    np.testing.assert_allclose(features.grad.double().numpy(), of_features, rtol=2e-2)


@pytest.mark.parametrize(("side", "row"), [(0, 11), (1, 9), (0, -1), (1, -1)])
def test_maxima_of_rows_that_do_not_exist(side: int, row: int) -> None:
    (features, _, pairs, num), _, rows = _case(torch.float32, 0)
    pairs, num = torch.zeros_like(pairs), torch.ones_like(num)
    pairs[1, side, 0] = row
    with pytest.raises(IndexError, match=r"^indice_maxpool: indice_pairs: expected rows"):
        sparse.indice_maxpool(features, pairs, num, rows)


def test_the_threads_are_those_of_torch() -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float32, 0)
    before = torch.get_num_threads()
    counts: list[int] = []
    try:
        for threads in (2, 1, 3):  # a number set by hand stays until that of torch changes, as it does from 2 to 1
            torch.set_num_threads(threads)
            sparse.indice_conv(features, filters, pairs, num, rows)
            counts.append(pymluops.get_num_threads())
    finally:
        torch.set_num_threads(before)
        sparse.indice_conv(features, filters, pairs, num, rows)
    assert counts[1:] == [1, 3] or "PYMLUOPS_NUM_THREADS" in os.environ


@pytest.mark.parametrize("shared", [True, False], ids=["one filter", "filters"])
def test_transforms_of_torch_func(shared: bool) -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float64, 0)
    several = torch.stack([features, features.flip(0), 2 * features], 1)
    weights = filters if shared else torch.stack([filters, -filters, filters.flip(0)])

    def loss(f: Any, w: Any) -> Any:
        return sparse.indice_conv(f, w, pairs, num, rows).square().sum()

    dims = (1, None if shared else 0)
    each = [(several[:, i], weights if shared else weights[i]) for i in range(3)]
    found = torch.vmap(torch.func.grad(loss, argnums=(0, 1)), dims)(several, weights)
    for i, pair in enumerate(each):
        leaves = [tensor.clone().requires_grad_() for tensor in pair]
        for one, gradient in zip(found, torch.autograd.grad(loss(*leaves), leaves), strict=True):
            torch.testing.assert_close(one[i], gradient)
    values = torch.vmap(loss, dims)(several, weights)
    torch.testing.assert_close(values, torch.stack([loss(*pair) for pair in each]))


# ---- torch's own tools ---------------------------------------------------------------------------


def test_registered_operators_are_sound() -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float64, 0)
    cells, grad = filters.flatten(0, 1).requires_grad_(), torch.ones(rows, 7, dtype=torch.float64, requires_grad=True)
    features.requires_grad_()
    operators = torch.ops.pymluops
    torch.library.opcheck(operators.sparse_outputs.default, (features, cells, pairs, num, 0, rows))
    torch.library.opcheck(operators.sparse_feature_gradient.default, (grad, cells, pairs, num, 0, len(features)))
    torch.library.opcheck(operators.sparse_filter_gradient.default, (features, grad, pairs, num, 0))


def test_compiled_functions_give_the_same() -> None:
    (features, filters, pairs, num), _, rows = _case(torch.float32, 0)
    inputs = features.requires_grad_(), filters.requires_grad_()

    def function(f: Any, w: Any) -> Any:
        return sparse.indice_conv(f, w, pairs, num, rows).relu().sum()

    compiled = torch.compile(function, fullgraph=True, backend="aot_eager")
    expected, found = function(*inputs), compiled(*inputs)
    assert torch.equal(found, expected)
    for a, b in zip(torch.autograd.grad(found, inputs), torch.autograd.grad(expected, inputs)):
        assert torch.equal(a, b)
