"""mmcv-lite itself, where it is installed: its Python code runs forward and backward on the CPU, unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pymluops.oracle.active_rotated_filter
import pymluops.oracle.ball_query
import pymluops.oracle.border_align
import pymluops.oracle.psamask
import pymluops.oracle.rotated_feature_align
import pymluops.oracle.three_interpolate
import pymluops.oracle.three_nn
import pymluops.oracle.tin_shift
from pymluops.mmcv._extension import refusal

from .values import DTYPES, exact, near, tensor

pytest.importorskip("torch")
pytest.importorskip("mmcv.version", reason="mmcv-lite is not installed", exc_type=ImportError)

# mmcv's code uses what newer releases of PyTorch warn of.
pytestmark = pytest.mark.filterwarnings("ignore")

every_dtype = pytest.mark.parametrize("dtype", DTYPES)


@pytest.fixture(scope="module")
def ops() -> Iterator[Any]:
    import pymluops.mmcv

    if not pymluops.mmcv.install():
        pytest.skip("mmcv has a compiled extension")
    import mmcv.ops

    yield mmcv.ops
    pymluops.mmcv.uninstall()


def random(torch: Any, seed: int, dtype: str, *shape: int) -> Any:
    return tensor(torch, np.random.default_rng(seed).uniform(-1, 1, shape), dtype)


@every_dtype
def test_tin_shift(torch: Any, ops: Any, dtype: str) -> None:
    """The gradient of a sum comes in as an expanded tensor; a permuted input gives an output with its strides."""
    values = random(torch, 1, dtype, 5, 2, 6, 3).transpose(0, 1).requires_grad_()
    shift = torch.tensor([[1, -2], [0, 9]], dtype=torch.int32)
    output = ops.TINShift()(values, shift)
    np.testing.assert_array_equal(exact(output), pymluops.oracle.tin_shift.shift(exact(values), shift.numpy()))
    (gradient,) = torch.autograd.grad(output.sum(), values)
    expected = pymluops.oracle.tin_shift.shift(np.ones(values.shape), shift.numpy())
    np.testing.assert_array_equal(exact(gradient), expected)


def test_tin_shift_refuses_as_mmcv_does(torch: Any, ops: Any) -> None:
    values = torch.zeros(2, 5, 6, 3)
    for shape in ((1, 2), (2, 4), (2, 7)):
        with pytest.raises(ValueError, match="should be"):
            ops.tin_shift(values, torch.zeros(shape, dtype=torch.int32))
    with pytest.raises(RuntimeError, match="expected int32, got int64"):
        ops.tin_shift(values, torch.zeros(2, 2, dtype=torch.int64))


@every_dtype
@pytest.mark.parametrize("kind", ["collect", "distribute"])
@pytest.mark.parametrize("mask", [(3, 3), (4, 4), (1, 1), (2, 5)])
def test_psa_mask(torch: Any, ops: Any, dtype: str, kind: str, mask: tuple[int, int]) -> None:
    values = random(torch, 2, dtype, 2, mask[0] * mask[1], 4, 3).requires_grad_()
    output = ops.PSAMask(kind, mask)(values)
    psa_type = ["collect", "distribute"].index(kind)
    expected = pymluops.oracle.psamask.forward(exact(values).transpose(0, 2, 3, 1), psa_type, *mask)
    np.testing.assert_array_equal(exact(output), expected.transpose(0, 3, 1, 2))
    grad = random(torch, 3, dtype, *output.shape)
    (gradient,) = torch.autograd.grad(output, values, grad)
    expected = pymluops.oracle.psamask.backward(exact(grad).transpose(0, 2, 3, 1), psa_type, *mask)
    np.testing.assert_array_equal(exact(gradient), expected.transpose(0, 3, 1, 2))
    with pytest.raises(AssertionError):
        ops.PSAMask(kind, (5, 5))(values)


@every_dtype
def test_border_align(torch: Any, ops: Any, dtype: str) -> None:
    values = random(torch, 4, dtype, 2, 8, 5, 4).contiguous(memory_format=torch.channels_last).requires_grad_()
    boxes = tensor(torch, [[[0, 0, 2, 3], [-1, -1, 5, 9]], [[1, 2, 1, 2], [3, 0, 4, 4]]], dtype)
    output = ops.BorderAlign(2)(values, boxes)
    last = exact(values).transpose(0, 2, 3, 1)
    expected, number = pymluops.oracle.border_align.forward(last, exact(boxes), 2, np.float64)
    near(torch, output, expected.transpose(0, 3, 1, 2), dtype)
    grad = random(torch, 5, dtype, *output.shape)
    (gradient,) = torch.autograd.grad(output, values, grad)
    last = exact(grad).transpose(0, 2, 3, 1)
    expected = pymluops.oracle.border_align.backward(last, exact(boxes), number, 2, (5, 4))
    near(torch, gradient, expected.transpose(0, 3, 1, 2), dtype)
    for features, corners in ((values, boxes[0]), (values, boxes[..., :3]), (values[:, :7], boxes)):
        with pytest.raises(AssertionError):
            ops.border_align(features, corners, 2)


@every_dtype
def test_points(torch: Any, ops: Any, dtype: str) -> None:
    """What PointNet++ does with them: query, nearest three, interpolation."""
    # Coordinates that are multiples of 1/8 have exact squared distances in every type.
    unknown, known = ((random(torch, seed, dtype, 2, count, 3) * 8).round() / 8 for seed, count in ((6, 9), (7, 6)))
    idx = ops.ball_query(0.2, 0.8, 4, unknown, known)
    zeros = np.zeros((2, 6, 4), np.int32)
    expected = pymluops.oracle.ball_query.ball_query(exact(known), exact(unknown), 0.2, 0.8, 4, zeros)
    np.testing.assert_array_equal(idx.numpy(), expected)
    with pytest.raises(AssertionError):
        ops.ball_query(0.8, 0.2, 4, unknown, known)

    distance, idx = ops.three_nn(unknown, known)
    expected_distance, expected_idx = pymluops.oracle.three_nn.forward(exact(unknown), exact(known))
    near(torch, distance, np.sqrt(expected_distance), dtype)
    np.testing.assert_array_equal(idx.numpy(), expected_idx)

    features, weight = random(torch, 8, dtype, 2, 4, 6).requires_grad_(), random(torch, 9, dtype, 2, 9, 3)
    output = ops.three_interpolate(features, idx, weight)
    near(torch, output, pymluops.oracle.three_interpolate.forward(exact(features), idx.numpy(), exact(weight)), dtype)
    grad = random(torch, 10, dtype, 2, 4, 9)
    (gradient,) = torch.autograd.grad(output, features, grad)
    expected = pymluops.oracle.three_interpolate.backward(exact(grad), idx.numpy(), exact(weight), 6)
    near(torch, gradient, expected, dtype)


def test_stacked_points(torch: Any, ops: Any) -> None:
    xyz, centres = torch.tensor([[0.0, 0, 0], [5, 0, 0], [0, 1, 0]]), torch.tensor([[0.0, 0, 0], [0, 0, 0]])
    counts = [torch.tensor(numbers, dtype=torch.int32) for numbers in ((2, 1), (1, 1))]
    assert ops.ball_query(0, 0.5, 2, xyz, centres, *counts).tolist() == [[0, 0], [-1, 0]]


@pytest.mark.parametrize(("dtype", "absolute", "relative"), [("float64", 1e-18, 1e-15), ("float32", 1e-9, 1e-6)])
def test_ms_deform_attn(torch: Any, ops: Any, dtype: str, absolute: float, relative: float) -> None:
    """Against mmcv's own Python version, with the differences that mmcv allows for values of this size."""
    from mmcv.ops import multi_scale_deform_attn as module

    shapes, starts = torch.tensor([(6, 4), (3, 2)]), torch.tensor([0, 24])
    torch.manual_seed(3)
    value, loc = torch.rand(1, 30, 2, 2) * 0.01, torch.rand(1, 2, 2, 2, 2, 2)
    weight = torch.rand(1, 2, 2, 2, 2) + 1e-5
    weight /= weight.sum((-1, -2), keepdim=True)
    value, loc, weight = (values.to(getattr(torch, dtype)).requires_grad_() for values in (value, loc, weight))
    output = module.MultiScaleDeformableAttnFunction.apply(value, shapes, starts, loc, weight, 2)
    expected = module.multi_scale_deformable_attn_pytorch(value, shapes, loc, weight)
    error = (output - expected).abs()
    assert error.max() < absolute and (error / expected.abs()).max() < relative
    grad = torch.rand_like(output)
    gradients, others = (torch.autograd.grad(result, (value, loc, weight), grad) for result in (output, expected))
    for got, want in zip(gradients, others, strict=True):
        assert torch.allclose(got, want, rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize(("batch", "step"), [(70, 64), (80, 64), (3, 2)])
def test_attention_of_any_batch_with_any_step(torch: Any, ops: Any, batch: int, step: int) -> None:
    """mmcv's extension refuses a step that does not divide the batch; here it has no effect."""
    from mmcv.ops import multi_scale_deform_attn as module

    maps = torch.tensor([(2, 3)]), torch.tensor([0])
    given = [torch.rand(batch, 6, 4, 2), torch.rand(batch, 6, 4, 1, 2, 2), torch.rand(batch, 6, 4, 1, 2)]
    value, places, weights = (one.requires_grad_() for one in given)
    output = module.MultiScaleDeformableAttnFunction.apply(value, *maps, places, weights, step)
    expected = module.multi_scale_deformable_attn_pytorch(value, maps[0], places, weights)
    assert torch.allclose(output, expected, atol=1e-6)
    gradients, others = (torch.autograd.grad(one.sum(), (value, places, weights)) for one in (output, expected))
    for got, want in zip(gradients, others, strict=True):
        assert torch.allclose(got, want, atol=1e-4)
    layer = module.MultiScaleDeformableAttention(8, 4, 1, 2, im2col_step=step, batch_first=True)
    points, queries = torch.rand(batch, 6, 1, 2), torch.rand(batch, 6, 8)
    found = layer(queries, reference_points=points, spatial_shapes=maps[0], level_start_index=maps[1])
    assert found.shape == queries.shape


def test_gradients_of_mmcv_pass_gradcheck(torch: Any, ops: Any) -> None:
    from mmcv.ops.multi_scale_deform_attn import MultiScaleDeformableAttnFunction

    gradcheck = torch.autograd.gradcheck
    values = random(torch, 11, "float64", 1, 12, 4, 3).requires_grad_()
    for kind in ("collect", "distribute"):
        assert gradcheck(ops.PSAMask(kind, (4, 3)), values)
    boxes = tensor(torch, [[[0.3, 0.2, 2.6, 3.1], [-1.2, 0.7, 1.4, 4.9]]], "float64")
    assert gradcheck(lambda features: ops.border_align(features, boxes, 3), values)
    idx, weight = torch.tensor([[[0, 1, 2], [2, 2, 0]]], dtype=torch.int32), random(torch, 12, "float64", 1, 2, 3)
    points = random(torch, 13, "float64", 1, 4, 3).requires_grad_()
    assert gradcheck(lambda features: ops.three_interpolate(features, idx, weight), points)
    inputs = [random(torch, seed, "float64", *shape).requires_grad_() for seed, shape in ((14, (1, 6, 2, 2)),)]
    loc = torch.rand(1, 2, 2, 1, 2, 2, dtype=torch.float64).requires_grad_()
    attention = torch.rand(1, 2, 2, 1, 2, dtype=torch.float64).requires_grad_()
    shapes, starts = torch.tensor([[2, 3]]), torch.tensor([0])
    apply = MultiScaleDeformableAttnFunction.apply
    assert gradcheck(lambda v, at, a: apply(v, shapes, starts, at, a, 1), (*inputs, loc, attention))


# ---- sparse convolution --------------------------------------------------------------------------


def sparse_input(torch: Any, ops: Any, channels: int, ndim: int, dtype: str = "float32") -> Any:
    rng = np.random.default_rng(15)
    rows = np.unique(rng.integers(0, [2, *[6] * ndim], (60, ndim + 1)), axis=0).astype(np.int32)
    features = random(torch, 16, dtype, len(rows), channels).requires_grad_()
    return ops.SparseConvTensor(features, torch.from_numpy(rows), [6] * ndim, 2)


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("kind", ["SparseConv", "SubMConv", "SparseConvTranspose"])
def test_sparse_convolution_is_a_dense_one(torch: Any, ops: Any, ndim: int, kind: str) -> None:
    """At the places of the output, forward and backward, with bias."""
    torch.manual_seed(1)
    stride = 1 if kind == "SubMConv" else 2
    layer = getattr(ops, f"{kind}{ndim}d")(3, 4, 3, stride=stride, padding=1, bias=True)
    inputs = sparse_input(torch, ops, 3, ndim)
    result = layer(inputs)
    places = tuple(result.indices.long().T)
    weight, axes = layer.weight.detach().clone().requires_grad_(), range(ndim)
    features = inputs.features.detach().clone().requires_grad_()
    dense = features.new_zeros(2, *[6] * ndim, 3)
    dense = dense.index_put(tuple(inputs.indices.long().T), features).movedim(-1, 1)
    if kind == "SparseConvTranspose":
        function, order = f"conv_transpose{ndim}d", (ndim, ndim + 1, *axes)
    else:
        function, order = f"conv{ndim}d", (ndim + 1, ndim, *axes)
    whole = getattr(torch.nn.functional, function)(dense, weight.permute(order), layer.bias.detach(), stride, 1)
    expected = whole.movedim(1, -1)[places]
    assert torch.allclose(result.features, expected, atol=1e-5)
    grad = torch.rand_like(expected)
    got = torch.autograd.grad(result.features, (inputs.features, layer.weight), grad)
    for gradient, want in zip(got, torch.autograd.grad(expected, (features, weight), grad), strict=True):
        assert torch.allclose(gradient, want, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_a_sparse_network_learns(torch: Any, ops: Any, dtype: str) -> None:
    torch.manual_seed(2)
    network = ops.SparseSequential(
        ops.SubMConv3d(3, 8, 3, indice_key="rows"),
        ops.SparseConv3d(8, 8, 3, stride=2, padding=1, indice_key="down"),
        ops.SparseInverseConv3d(8, 1, 3, indice_key="down"),
    ).to(getattr(torch, dtype))
    inputs = sparse_input(torch, ops, 3, 3, dtype)
    features = inputs.features.detach().abs()
    target = features.sum(1, keepdim=True)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    losses = []
    for _ in range(12):
        result = network(ops.SparseConvTensor(features, inputs.indices, [6] * 3, 2))
        loss = (result.features - target).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] / 2


def test_sparse_maximum(torch: Any, ops: Any) -> None:
    inputs = sparse_input(torch, ops, 3, 3)
    result = ops.SparseMaxPool3d(2, 2)(inputs)
    dense = inputs.features.new_zeros(2, 6, 6, 6, 3).index_put(tuple(inputs.indices.long().T), inputs.features)
    pooled = torch.nn.functional.max_pool3d(dense.movedim(-1, 1).clamp(min=0), 2)
    expected = pooled.movedim(1, -1)[tuple(result.indices.long().T)]
    assert torch.equal(result.features, expected)
    got, want = (torch.autograd.grad(values.sum(), inputs.features)[0] for values in (result.features, expected))
    assert torch.equal(got, want)


# ---- what is not here ----------------------------------------------------------------------------


def test_names_of_other_releases_say_what_to_install(ops: Any) -> None:
    with pytest.raises(
        NotImplementedError, match=r"^of_a_later_release of mmcv\.ops is no operator of pymluops; install"
    ):
        refusal("of_a_later_release")(1, b=2)
    assert ops.get_compiling_cuda_version() == "not available"
    assert ops.get_compiler_version().startswith("pymluops ")


def test_every_name_that_this_release_loads_is_known(ops: Any) -> None:
    """The list of names is what the sources of mmcv say, if this is the release that it was made for."""
    import ast
    from importlib import metadata
    from pathlib import Path

    from pymluops.mmcv._names import FUNCTIONS

    if metadata.version("mmcv-lite") != "2.2.0":
        pytest.skip("another release of mmcv-lite")
    found: dict[str, set[str]] = {}
    for path in Path(ops.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("load_ext"):
                found.setdefault(path.stem, set()).update(ast.literal_eval(node.args[1]))
    assert found == {module: set(names) for module, names in FUNCTIONS.items()}


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_an_operation_in_place_may_follow_attention(ops: Any, dtype: str) -> None:
    import torch
    from mmcv.ops.multi_scale_deform_attn import MultiScaleDeformableAttnFunction

    kind = getattr(torch, dtype)
    value = torch.rand(1, 4, 1, 2, dtype=kind, requires_grad=True)
    shapes, starts = torch.tensor([[2, 2]]), torch.tensor([0])
    locations, weights = torch.rand(1, 3, 1, 1, 2, 2, dtype=kind), torch.rand(1, 3, 1, 1, 2, dtype=kind)
    plain = MultiScaleDeformableAttnFunction.apply(value, shapes, starts, locations, weights, 64)
    changed = MultiScaleDeformableAttnFunction.apply(value, shapes, starts, locations, weights, 64)
    changed += 1
    assert torch.equal(changed, plain + 1)
    found, wanted = (torch.autograd.grad(out.sum(), value)[0] for out in (changed, plain))
    assert torch.equal(found, wanted)


def test_layers_that_mmcv_computes_otherwise(ops: Any) -> None:
    """The table of docs/mmcv.md."""
    import torch

    from pymluops.torch import sparse

    for module, expected in (
        (ops, ([[0, 0, 25, 2]], [4, 30, 4], [[0, 0, 25, 2]], [4, 30, 4], [6, 32, 6])),
        (sparse, ([[0, 1, 25, 3]], [6, 30, 6], [], [2, 15, 2], [8, 34, 8])),
    ):
        place = torch.tensor([[0, 0, 25, 2]], dtype=torch.int32)
        x = module.SparseConvTensor(torch.ones(1, 1), place, [4, 30, 4], 1)
        padded = module.SparseConv3d(1, 1, 1, padding=(1, 0, 1))(x)
        strided = module.SparseConv3d(1, 1, 1, stride=2)(x)
        transposed = module.SparseConvTranspose3d(1, 1, 3, dilation=2)(x)
        assert (padded.indices.tolist(), list(padded.spatial_shape)) == expected[:2]
        assert (strided.indices.tolist(), list(strided.spatial_shape)) == expected[2:4]
        assert list(transposed.spatial_shape) == expected[4]


@every_dtype
def test_masked_conv2d(torch: Any, ops: Any, dtype: str) -> None:
    """The values are those of a convolution where the mask is positive."""
    maps, weight = random(torch, 4, dtype, 1, 3, 6, 5), random(torch, 5, dtype, 4, 3, 3, 3)
    bias, mask = random(torch, 6, dtype, 4), random(torch, 7, "float32", 1, 6, 5)
    whole = torch.nn.functional.conv2d(maps.double(), weight.double(), bias.double(), 1, 1)
    expected = torch.where(mask > 0, whole, 0)
    near(torch, ops.masked_conv2d(maps, mask, weight, bias, 1), exact(expected), dtype)
    layer = ops.MaskedConv2d(3, 4, 3, padding=1).double()
    with torch.no_grad():
        torch.testing.assert_close(layer(maps.double(), torch.ones(1, 6, 5)), layer(maps.double()))


@every_dtype
@pytest.mark.parametrize("points", [1, 5])
def test_rotated_feature_align(torch: Any, ops: Any, dtype: str, points: int) -> None:
    features = random(torch, 4, dtype, 2, 3, 5, 4).requires_grad_()
    boxes = ((random(torch, 5, "float64", 2, 5, 4, 5) + 0.5) * 40).round().to(features.dtype)
    output = ops.rotated_feature_align(features, boxes, 1 / 8, points)
    last = exact(features).transpose(0, 2, 3, 1)
    expected = pymluops.oracle.rotated_feature_align.forward(last, exact(boxes), 1 / 8, points)
    near(torch, output, expected.transpose(0, 3, 1, 2), dtype)
    grad = random(torch, 6, dtype, *output.shape)
    (gradient,) = torch.autograd.grad(output, features, grad)
    expected = pymluops.oracle.rotated_feature_align.backward(
        exact(grad).transpose(0, 2, 3, 1), exact(boxes), 1 / 8, points
    )
    near(torch, gradient, expected.transpose(0, 3, 1, 2), dtype)
    with pytest.raises(AssertionError):
        ops.rotated_feature_align(features, boxes, 1 / 8, 4)


@every_dtype
def test_active_rotated_filter(torch: Any, ops: Any, dtype: str) -> None:
    """The gradient of a sum comes in as an expanded tensor."""
    filters = random(torch, 4, dtype, 3, 2, 1, 3, 3).requires_grad_()
    table = pymluops.oracle.active_rotated_filter.STANDARD.reshape(1, 3, 3, 8)
    output = ops.active_rotated_filter(filters, torch.from_numpy(table))
    expected = pymluops.oracle.active_rotated_filter.forward(exact(filters), table)
    np.testing.assert_array_equal(exact(output), expected)
    (gradient,) = torch.autograd.grad(output.sum(), filters)
    assert (gradient == 8).all()


@every_dtype
def test_correlation(torch: Any, ops: Any, dtype: str) -> None:
    from pymluops.oracle.correlation import Settings, backward, forward

    one, other = (random(torch, seed, dtype, 2, 3, 5, 6).requires_grad_() for seed in (4, 5))
    for layer, s in (
        (ops.Correlation(), Settings(patch=(3, 3))),
        (ops.Correlation(3, 2, 2, 1, 2, 2), Settings((3, 3), (5, 5), (2, 2), (1, 1), (2, 2), (2, 2))),
    ):
        output = layer(one, other)
        near(torch, output, forward(exact(one), exact(other), s, tuple(output.shape[3:])), dtype)
        grad = random(torch, 6, dtype, *output.shape)
        found = torch.autograd.grad(output, (one, other), grad)
        for gradient, wanted in zip(found, backward(exact(grad), exact(one), exact(other), s), strict=True):
            near(torch, gradient, wanted, dtype)


def test_correlation_of_mmcv_s_own_example(torch: Any, ops: Any) -> None:
    values = torch.tensor([[[[1.0, 2, 3], [0, 1, 2], [3, 5, 2]]]], requires_grad=True)
    output = ops.Correlation(max_displacement=0)(values, values)
    assert output.tolist() == [[[[[1, 4, 9], [0, 1, 4], [9, 25, 4]]]]]
    (gradient,) = torch.autograd.grad(output.sum(), values)
    assert torch.equal(gradient, 2 * values)
