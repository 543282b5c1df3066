"""Promises of docs/torch.md for sparse tensors: keys, ranges of places, numbers, duplicates, empty tensors, memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sparse = pytest.importorskip("pymluops.torch.sparse")
nn = torch.nn

PLACES = [[0, 1, 1, 1], [0, 1, 1, 2], [0, 1, 2, 1]]


def scene(channels: int = 1, space: tuple[int, ...] = (4, 4, 4), places: Any = None) -> Any:
    indices = torch.tensor(PLACES if places is None else places)
    return sparse.SparseConvTensor(torch.ones(len(indices), channels), indices, space, 1)


def layer(kind: str = "SparseConv3d", kernel: Any = 3, *window: Any, **options: Any) -> Any:
    return getattr(sparse, kind)(1, 1, kernel, *window, indice_key="k", bias=False, **options)


# ---- Keys ----------------------------------------------------------------------------------------

OTHERS: list[tuple[str, Callable[[], Any], Callable[[], Any]]] = [
    ("kernel_size", lambda: layer("SubMConv3d", (3, 1, 3)), lambda: layer("SubMConv3d", (1, 3, 3))),
    ("stride", lambda: layer("SparseConv3d", 3, 1, 1), lambda: layer("SparseConv3d", 3, 2, 1)),
    ("padding", lambda: layer("SparseConv3d", 3, 1, 1), lambda: layer("SparseConv3d", 3, 1, (1, 1, 0))),
    ("dilation", lambda: layer("SparseConv3d", 3, 1, 2, 1), lambda: layer("SparseConv3d", 3, 1, 2, 2)),
    ("dilation", lambda: layer("SubMConv3d", 3), lambda: layer("SubMConv3d", 3, dilation=3)),
    ("kind", lambda: layer("SubMConv3d", 3), lambda: layer("SparseConv3d", 3, 1, 1)),
    ("kind", lambda: layer("SparseConv3d", 3, 1, 1), lambda: layer("SparseConvTranspose3d", 3, 1, 1)),
    ("kind", lambda: layer("SparseConvTranspose3d", 3, 1, 1), lambda: layer("SubMConv3d", 3)),
]


@pytest.mark.parametrize(("told", "first", "second"), OTHERS)
def test_a_key_of_another_layer_is_refused(told: str, first: Any, second: Any) -> None:
    x = scene()
    kept = first()(x).indice_dict
    x.indice_dict = kept
    with pytest.raises(ValueError, match=rf"indice_key: 'k' is that of another layer: expected {told} ") as error:
        second()(x)
    assert "give this layer a key of its own" in str(error.value)
    assert first()(x).find_indice_pair("k") is kept["k"]


def test_a_key_of_another_space_or_batch_is_refused() -> None:
    kept = layer("SubMConv3d")(scene()).indice_dict
    for change, told in ((("spatial_shape", [5, 4, 4]), "spatial_shape"), (("batch_size", 2), "batch_size")):
        x = scene()
        setattr(x, *change)
        x.indice_dict = kept
        with pytest.raises(ValueError, match=f"expected {told} "):
            layer("SubMConv3d")(x)


@pytest.mark.parametrize("inference", [False, True])
def test_a_key_of_other_or_changed_places_is_refused(inference: bool) -> None:
    with torch.inference_mode(inference):
        convolution = layer("SubMConv3d")
        x = convolution(scene())
        same = sparse.SparseConvTensor(x.features, x.indices.clone(), x.spatial_shape, 1)
        same.indice_dict = x.indice_dict
        assert convolution(same).find_indice_pair("k") is x.find_indice_pair("k")
        other = scene(places=[[0, 3, 3, 3], [0, 1, 1, 2], [0, 1, 2, 1]])
        other.indice_dict = x.indice_dict
        with pytest.raises(ValueError, match="expected the indices of its input, got other indices, or changed ones"):
            convolution(other)
        x.indices[0, 3] = 3
        with pytest.raises(ValueError, match="expected the indices of its input, got other indices, or changed ones"):
            convolution(x)


@pytest.mark.parametrize("inference", [False, True])
def test_keys_under_a_mode_that_watches(inference: bool) -> None:
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*args, **(kwargs or {}))

    convolution = layer("SubMConv3d")
    with torch.inference_mode(inference), Watch():
        x = convolution(scene())
        assert convolution(x).find_indice_pair("k") is x.find_indice_pair("k")
        if not inference:
            x.indices[0, 3] = 3
            with pytest.raises(ValueError, match="got other indices, or changed ones"):
                convolution(x)


def test_kept_pairs_are_a_sequence_as_in_mmcv() -> None:
    kept = layer("SubMConv3d")(scene()).find_indice_pair("k")
    assert len(kept) == 5
    assert all(kept[i] is value for i, value in enumerate(kept))
    assert kept[-1] == [4, 4, 4]


@pytest.mark.parametrize(("kernel", "told"), [((3, 1, 3), "kernel_size"), (3, None)])
def test_an_inverse_layer_needs_its_kernel(kernel: Any, told: str | None) -> None:
    down, up = layer("SparseConv3d", 3, 2, 1), sparse.SparseInverseConv3d(1, 1, kernel, indice_key="k")
    middle = down(scene())
    if told:
        with pytest.raises(ValueError, match=f"expected {told} "):
            up(middle)
        return
    assert torch.equal(up(middle).indices, scene().indices)
    later = sparse.SparseConvTensor(middle.features[1:], middle.indices[1:], middle.spatial_shape, 1)
    later.indice_dict = middle.indice_dict
    with pytest.raises(ValueError, match="expected the indices of its output"):
        up(later)


def test_a_layer_does_not_write_into_its_input() -> None:
    x = scene()
    first = layer("SubMConv3d", (3, 1, 3))(x)
    assert not x.indice_dict
    assert list(first.indice_dict) == ["k"]
    ones = torch.ones(3, 3, 3, 1, 1)
    second = layer("SparseConv3d", 3, 1, 1)
    with torch.no_grad():
        second.weight.copy_(ones)
    assert second(x).features.sum() == 3 * 27  # all cells fit into the space: another network on the same input
    replaced = first.replace_feature(first.features * 2)
    replaced.indice_dict["more"] = replaced.indice_dict["k"]
    assert list(first.indice_dict) == ["k"]


# ---- Places and numbers --------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("place", "told"),
    [
        ([0, 0, 0, 3], "0 <= axis 2 < 3, got 3"),
        ([0, 0, 2, 0], "0 <= axis 1 < 2, got 2"),
        ([0, 0, 0, -1], "0 <= axis 2 < 3, got -1"),
        ([-1, 0, 0, 0], "0 <= batch < 1, got -1"),
        ([1, 0, 0, 0], "0 <= batch < 1, got 1"),
    ],
)
def test_places_outside_are_refused_with_their_row(place: list[int], told: str, dtype: Any) -> None:
    indices = torch.tensor([[0, 0, 0, 0], place], dtype=dtype)
    with pytest.raises(ValueError, match=rf"^SparseConvTensor: indices: expected.* {told}(\.0)? at row 1 "):
        sparse.SparseConvTensor(torch.ones(2, 1), indices, [2, 2, 3], 1)


CONSUMERS = {
    "dense": lambda x: x.dense(),
    "ToDense": lambda x: sparse.ToDense()(x),
    "pointwise": lambda x: sparse.SubMConv3d(1, 1, 1)(x),
    "regular": lambda x: sparse.SparseConv3d(1, 1, 3)(x),
    "pool": lambda x: sparse.SparseMaxPool3d(3)(x),
}


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("change", ["in place", "another tensor", "space", "batch"])
@pytest.mark.parametrize("inference", [False, True])
def test_places_are_looked_at_again_after_a_change(consumer: str, change: str, inference: bool) -> None:
    with torch.inference_mode(inference):
        _assert_looked_at_again(consumer, change)


def _assert_looked_at_again(consumer: str, change: str) -> None:
    x = scene()
    CONSUMERS[consumer](x)
    if change == "in place":
        x.indices[1, 3] = 4
    elif change == "another tensor":
        x.indices = torch.tensor([[0, 1, 1, 1], [0, 1, 1, 2**32 + 2], [0, 1, 2, 1]])
    elif change == "space":
        x.spatial_shape = [4, 4, 2]
    else:
        x.batch_size = 0
    with pytest.raises(ValueError, match=r"^SparseConvTensor: indices: expected 0 <= (axis 2|batch) < "):
        CONSUMERS[consumer](x)


@pytest.mark.parametrize("value", [2**32 + 2, 1.7, float("nan"), float("inf"), -0.4])
def test_places_that_int32_cannot_hold_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="at row 0"):
        sparse.SparseConvTensor(torch.ones(1, 1), torch.tensor([[0, 1, value, 3]]), [4] * 3, 1)
    with pytest.raises(ValueError, match=r"^get_indice_pairs: indices: .* at row 0"):
        sparse.get_indice_pairs(torch.tensor([[0, 1, value, 3]]), 1, [4] * 3, 3, subm=True)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16, torch.int64, torch.float16, torch.float64])
def test_whole_numbers_of_other_types_are_taken(dtype: Any) -> None:
    x = sparse.SparseConvTensor(torch.ones(3, 1), torch.tensor(PLACES, dtype=dtype), np.array([4, 4, 4]), 1.0)
    assert x.indices.dtype == torch.int32
    assert x.indices.tolist() == PLACES
    assert (x.spatial_shape, x.batch_size) == ([4, 4, 4], 1)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: sparse.SubMConv3d(1, 1, 2.9), "SubMConv3d: kernel_size: expected 3 integers"),
        (lambda: sparse.SubMConv3d(1, 1, True), "kernel_size"),
        (lambda: sparse.SparseConv3d(1, 1, 3, stride=(1, 2)), "stride"),
        (lambda: sparse.SparseConv3d(1, 1, 3, padding=-1), "padding"),
        (lambda: sparse.SparseConv3d(1, 1, 3, dilation=0.5), "dilation"),
        (lambda: sparse.SparseConv3d(1.5, 1, 3), "in_channels"),
        (lambda: sparse.SparseMaxPool3d(2.5), "SparseMaxPool3d: kernel_size"),
        (lambda: sparse.SparseMaxPool3d(3, "2"), "stride"),
        (lambda: scene(space=(4.7, 4, 4)), "SparseConvTensor: spatial_shape"),
        (lambda: scene(space=(-4, 4, 4)), "spatial_shape"),
        (lambda: scene(space=(2**31, 4, 4)), "spatial_shape"),
        (lambda: sparse.SparseConvTensor(torch.ones(1, 1), torch.zeros(1, 4), [4] * 3, 1.5), "batch_size"),
        (lambda: sparse.SparseConvTensor(torch.ones(1, 1), torch.zeros(1, 4), [4] * 3, -1), "batch_size"),
        (lambda: sparse.get_indice_pairs(torch.zeros(1, 4), 1.5, [4] * 3, 3), "get_indice_pairs: batch_size"),
        (lambda: sparse.get_indice_pairs(torch.zeros(1, 4), 1, [4] * 3, 2.5), "get_indice_pairs: ksize"),
    ],
)
def test_numbers_that_are_not_whole_are_refused(call: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        call()


@pytest.mark.parametrize("rows", [[[[2**32], [0]]], [[[0], [2**32]]], [[[2**31], [0]]]])
def test_pairs_that_int32_cannot_hold_are_refused(rows: list[Any]) -> None:
    arguments = (torch.ones(1, 1), torch.ones(1, 1, 1), torch.tensor(rows), torch.tensor([1]), 1)
    for function in (sparse.indice_conv, sparse.indice_inverse_conv, sparse.indice_subm_conv):
        with pytest.raises(ValueError, match="indice_pairs: expected values that int32 can hold"):
            function(*arguments)
    with pytest.raises(ValueError, match="indice_pairs: expected dtype int32 or int64"):
        sparse.indice_conv(*arguments[:2], torch.zeros(1, 2, 1), *arguments[3:])
    with pytest.raises(IndexError, match="indice_pairs"):
        sparse.indice_maxpool(arguments[0], *arguments[2:])
    with pytest.raises(ValueError, match="num_activate_out"):
        sparse.indice_conv(*arguments[:2], torch.zeros(1, 2, 1, dtype=torch.int32), arguments[3], 1.5)


@pytest.mark.parametrize("name", ["features", "indices"])
def test_arrays_are_refused_by_name(name: str) -> None:
    arguments = {"features": torch.ones(1, 1), "indices": torch.zeros(1, 4)}
    arguments[name] = arguments[name].numpy()
    with pytest.raises(TypeError, match=f"^SparseConvTensor: {name}: expected a torch.Tensor, got ndarray"):
        sparse.SparseConvTensor(**arguments, spatial_shape=[4] * 3, batch_size=1)


# ---- Duplicates: rows with the same place add up -------------------------------------------------

TWICE = [[0, 1, 1, 1], [0, 1, 1, 1], [0, 1, 1, 2], [0, 3, 1, 2]]


def _twice() -> Any:
    features = torch.tensor([[1.0], [10.0], [100.0], [1000.0]], dtype=torch.float64, requires_grad=True)
    return sparse.SparseConvTensor(features, torch.tensor(TWICE), [4, 4, 4], 1)


def _once(x: Any) -> Any:
    """The same tensor with each place once."""
    features = torch.cat([x.features[:1] + x.features[1:2], x.features[2:]])
    return sparse.SparseConvTensor(features, x.indices[1:], x.spatial_shape, 1)


@pytest.mark.parametrize(
    "module",
    [
        sparse.ToDense(),
        sparse.SubMConv3d(1, 2, 1, bias=False),
        sparse.SubMConv3d(1, 2, 3, bias=False),
        sparse.SubMConv3d(1, 2, (3, 2, 1), bias=False),
        sparse.SparseConv3d(1, 2, 3, 2, 1),
        sparse.SparseConvTranspose3d(1, 2, 3, 2, 1),
    ],
)
def test_rows_with_the_same_place_add_up(module: Any) -> None:
    module = module.double()

    def dense(x: Any) -> Any:
        out = module(x)
        return out if isinstance(out, torch.Tensor) else out.dense()

    x = _twice()
    found, wanted = dense(x), dense(_once(x))
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    weights = torch.randn(found.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    (got,) = torch.autograd.grad((found * weights).sum(), x.features)
    (want,) = torch.autograd.grad((wanted * weights).sum(), x.features)
    torch.testing.assert_close(got, want, rtol=1e-12, atol=1e-12)


def test_kernels_of_one_cell_and_of_more_agree_on_duplicates() -> None:
    one, three = sparse.SubMConv3d(1, 2, 1, bias=False).double(), sparse.SubMConv3d(1, 2, 3, bias=False).double()
    with torch.no_grad():
        three.weight.zero_()
        three.weight[1, 1, 1] = one.weight[0, 0, 0]
    x = _twice()
    assert torch.equal(one(x).features, three(x).features)


def test_duplicates_are_refused_in_debug_mode() -> None:
    x = _twice()
    assert not sparse.check_invariants.is_enabled()
    with sparse.check_invariants():
        assert sparse.check_invariants.is_enabled()
        scene()
        for use in (_twice, x.dense, lambda: sparse.SubMConv3d(1, 2, 1).double()(x)):
            with pytest.raises(ValueError, match=r"expected each place once, got \[0, 1, 1, 1\] at rows 0 and 1"):
                use()
    x.dense()
    sparse.check_invariants.enable()
    try:
        with pytest.raises(ValueError, match="each place once"):
            _twice()
    finally:
        sparse.check_invariants.disable()


# ---- No rows -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "norm", [nn.BatchNorm1d(4), nn.BatchNorm1d(4, affine=False), nn.InstanceNorm1d(4, affine=True)]
)
@pytest.mark.parametrize("train", [True, False])
def test_parameters_get_a_gradient_without_rows(norm: Any, train: bool) -> None:
    network = sparse.SparseSequential(
        sparse.SubMConv3d(1, 4, 3), norm, nn.ReLU(inplace=True), sparse.SubMConv3d(4, 1, 1)
    )
    network.train(train)
    before = [buffer.clone() for buffer in norm.buffers()]
    empty = sparse.SparseConvTensor(torch.ones(0, 1), torch.zeros(0, 4), [4] * 3, 1)
    network.zero_grad()
    network(empty).dense().sum().backward()
    for parameter in network.parameters():
        assert parameter.grad is not None
        assert not parameter.grad.any()
    for kept, now in zip(before, norm.buffers()):
        assert torch.equal(kept, now)


# ---- Pools ---------------------------------------------------------------------------------------


def test_an_operation_in_place_may_follow_a_pool() -> None:
    x = scene(2)
    features = (x.features * torch.tensor([[1.0], [2.0], [3.0]])).requires_grad_()
    gradients = []
    for inplace in (False, True):
        out = sparse.SparseMaxPool3d(3, 1, 1)(x.replace_feature(features)).features
        result = nn.functional.relu(out, inplace=inplace) if inplace else torch.relu(out)
        gradients.append(torch.autograd.grad(result.square().sum(), features)[0])
    assert torch.equal(*gradients)
    assert gradients[0].any()


def test_an_infinite_gradient_reaches_the_largest_row_alone() -> None:
    features = torch.tensor([[1.0], [2.0], [3.0]], requires_grad=True)
    out = sparse.SparseMaxPool(3, 3, subm=True)(scene().replace_feature(features)).features
    (found,) = torch.autograd.grad(out, features, torch.full_like(out, torch.inf))
    assert found.flatten().tolist() == [0, 0, torch.inf]


def test_the_gradient_of_a_pool_can_be_differentiated() -> None:
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(3, 2, dtype=torch.float64, generator=generator).add(3).requires_grad_()
    x = scene(2)

    def pool(values: Any) -> Any:
        return sparse.SparseMaxPool3d(3, 1, 1)(x.replace_feature(values)).features

    assert torch.autograd.gradcheck(pool, features)
    assert torch.autograd.gradgradcheck(lambda values: pool(values).square(), features)


_MEMORY = """
import resource, torch
from pymluops.torch import sparse
side = 64
grid = torch.stack(torch.meshgrid(*[torch.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)
indices = torch.cat([torch.zeros(len(grid), 1, dtype=torch.int64), grid], 1)[::2]
features = torch.rand(len(indices), 64, requires_grad=True)
x = sparse.SparseConvTensor(features, indices, [side] * 3, 1)
sparse.SubMConv3d(64, 1, 1)(x)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
out = sparse.SparseMaxPool3d(3, 1, 1)(x).features
out.sum().backward()
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(grown * 1024 / (out.numel() * 4))
"""


@pytest.mark.thorough
def test_a_pool_needs_little_memory() -> None:
    found = subprocess.run([sys.executable, "-c", _MEMORY], check=True, capture_output=True, text=True)
    assert float(found.stdout) < 5.5  # results; the pairs take 27 * 8 bytes for each row, as much as 0.8 results
