"""Sparse modules against dense convolutions in float64."""

from __future__ import annotations

import itertools
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sparse = pytest.importorskip("pymluops.torch.sparse")
nn, functional = torch.nn, torch.nn.functional
SparseConvTensor, Tensor = sparse.SparseConvTensor, torch.Tensor


SPACES = {2: [7, 9], 3: [5, 6, 7], 4: [3, 4, 3, 4]}
CONVOLUTIONS = {2: functional.conv2d, 3: functional.conv3d}
TRANSPOSED = {2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


def scene(ndim: int, channels: int, batches: tuple[int, ...] = (20, 0, 30), seed: int = 0) -> SparseConvTensor:
    """Random places, so many in each batch, with features that want gradients."""
    rng, space = np.random.default_rng(seed), SPACES[ndim]
    parts = []
    for batch, count in enumerate(batches):
        places = np.unravel_index(rng.permutation(int(np.prod(space)))[:count], space)
        parts.append(np.stack([np.full(count, batch), *places], 1))
    indices = torch.from_numpy(np.concatenate(parts).astype(np.int32))
    features = torch.from_numpy(rng.normal(0, 1, (len(indices), channels))).requires_grad_()
    return SparseConvTensor(features, indices, space, len(batches))


def dense_filter(weight: Tensor) -> Tensor:
    """A filter [*kernel, in, out] as torch's dense convolutions have it: [out, in, *kernel]."""
    return weight.movedim((-1, -2), (0, 1))


def occupied(tensor: SparseConvTensor) -> Tensor:
    """1 at the places of a tensor, [batch, 1, *space]."""
    ones = tensor.features.new_ones((len(tensor.indices), 1))
    return SparseConvTensor(ones, tensor.indices, tensor.spatial_shape, tensor.batch_size).dense()


def assert_follows(module: sparse.SparseConvolution, x: SparseConvTensor, out: SparseConvTensor, dense: Tensor) -> None:
    """Values at the places of the output, and gradients of features, weight and bias, are those of the dense one."""
    places = occupied(out).bool()
    bias = 0 if module.bias is None else module.bias.view(1, -1, *[1] * module.ndim)
    wanted = torch.where(places, dense + bias, 0)
    found = out.dense()
    assert found.shape == wanted.shape
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    weights = torch.randn(found.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    inputs = [x.features, *module.parameters()]
    gradients = torch.autograd.grad((found * weights).sum(), inputs, retain_graph=True)
    expected = torch.autograd.grad((wanted * weights).sum(), inputs, retain_graph=True)
    for got, want in zip(gradients, expected, strict=True):
        torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-11)


WINDOWS = [(3, 1, 1, 1), (3, 2, 1, 1), (2, 2, 0, 1), (3, 1, 2, 2), (3, 2, 2, 2), ((1, 3, 2), (1, 2, 1), (0, 1, 0), 1)]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("ndim", [2, 3])
def test_convolutions(ndim: int, window: tuple[Any, ...], bias: bool) -> None:
    window = tuple(v[:ndim] if isinstance(v, tuple) else v for v in window)
    x = scene(ndim, 3)
    module = getattr(sparse, f"SparseConv{ndim}d")(3, 4, *window, bias=bias).double()
    out = module(x)
    _, stride, padding, dilation = window
    dense = CONVOLUTIONS[ndim](x.dense(), dense_filter(module.weight), None, stride, padding, dilation)
    ones = torch.ones_like(dense_filter(module.weight)[:1, :1])
    reached = CONVOLUTIONS[ndim](occupied(x), ones, None, stride, padding, dilation)
    assert torch.equal(occupied(out).bool(), reached > 0.5)
    assert_follows(module, x, out, dense)


@pytest.mark.parametrize("kernel", [1, 3, (3, 5, 1)])
@pytest.mark.parametrize("ndim", [2, 3])
def test_sub_manifold_convolutions(ndim: int, kernel: Any) -> None:
    kernel = kernel[:ndim] if isinstance(kernel, tuple) else kernel
    x = scene(ndim, 3)
    module = getattr(sparse, f"SubMConv{ndim}d")(3, 4, kernel).double()
    out = module(x)
    assert torch.equal(out.indices, x.indices)
    padding = [k // 2 for k in module.kernel_size]
    assert_follows(module, x, out, CONVOLUTIONS[ndim](x.dense(), dense_filter(module.weight), None, 1, padding))


@pytest.mark.parametrize("window", [(3, 1, 1, 1), (3, 2, 1, 1), (2, 2, 0, 1), (3, 2, 1, 2)])
@pytest.mark.parametrize("ndim", [2, 3])
def test_transposed_convolutions(ndim: int, window: tuple[int, ...]) -> None:
    x = scene(ndim, 3)
    module = getattr(sparse, f"SparseConvTranspose{ndim}d")(3, 4, *window).double()
    out = module(x)
    _, stride, padding, dilation = window
    weight = module.weight.movedim((-2, -1), (0, 1))  # [in, out, *kernel]
    assert_follows(module, x, out, TRANSPOSED[ndim](x.dense(), weight, None, stride, padding, 0, 1, dilation))


def test_the_output_of_a_transposed_convolution_can_be_padded() -> None:
    x = scene(2, 3)
    module = sparse.SparseConvolution(2, 3, 4, 3, 2, 1, output_padding=1, transposed=True, bias=False).double()
    weight = module.weight.movedim((-2, -1), (0, 1))
    assert_follows(module, x, module(x), functional.conv_transpose2d(x.dense(), weight, None, 2, 1, 1))


@pytest.mark.parametrize("subm", [False, True])
def test_four_axes(subm: bool) -> None:
    x = scene(4, 2)
    kind = sparse.SubMConv4d if subm else sparse.SparseConv4d
    module = kind(2, 3, 3, 1 if subm else 2, 1).double()
    out = module(x)
    # A sum of 3-D convolutions, one for each place along the first axis of the filter.
    dense, weight, stride = x.dense(), dense_filter(module.weight), 1 if subm else 2
    size = SPACES[4][0]
    slices = []
    for o in range(out.spatial_shape[0]):
        terms = [
            functional.conv3d(dense[:, :, i], weight[:, :, k], None, stride, 1)
            for k in range(3)
            if 0 <= (i := o * stride + k - 1) < size
        ]
        slices.append(torch.stack(terms).sum(0))
    assert_follows(module, x, out, torch.stack(slices, 2))


@pytest.mark.parametrize("ndim", [2, 3])
def test_inverse_convolutions(ndim: int) -> None:
    x = scene(ndim, 3)
    down = getattr(sparse, f"SparseConv{ndim}d")(3, 4, 3, 2, 1, indice_key="down").double()
    up = getattr(sparse, f"SparseInverseConv{ndim}d")(4, 5, 3, indice_key="down").double()
    middle = down(x)
    middle = middle.replace_feature(middle.features.detach().requires_grad_())
    out = up(middle)
    assert torch.equal(out.indices, x.indices)
    assert out.spatial_shape == x.spatial_shape
    # Back along the same pairs: a transposed convolution of the same window.
    weight = up.weight.movedim((-2, -1), (0, 1))
    dense = TRANSPOSED[ndim](middle.dense(), weight, None, 2, 1, [(s - 1) % 2 for s in x.spatial_shape])
    assert_follows(up, middle, out, dense)


@pytest.mark.parametrize("ndim", [2, 3])
def test_max_pooling(ndim: int) -> None:
    x = scene(ndim, 3)
    out = getattr(sparse, f"SparseMaxPool{ndim}d")(3, 2, 1)(x)
    pool = {2: functional.max_pool2d, 3: functional.max_pool3d}[ndim]
    torch.testing.assert_close(out.dense(), pool(x.dense().clamp(min=0), 3, 2, 1), rtol=0, atol=0)
    out.features.sum().backward()
    assert x.features.grad is not None
    assert (x.features.grad[x.features < 0] == 0).all()
    same = sparse.SparseMaxPool(ndim, 3, subm=True)(x)
    assert torch.equal(same.indices, x.indices)


# ---- tensors and sequences -----------------------------------------------------------------------


def test_dense_and_counts() -> None:
    indices = torch.tensor([[1, 0, 2], [0, 1, 0]])
    x = SparseConvTensor(torch.tensor([[1.0, 2.0], [3.0, 4.0]]), indices, (2, 3), 2)
    dense = torch.zeros(2, 2, 2, 3)
    dense[1, :, 0, 2], dense[0, :, 1, 0] = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    assert torch.equal(x.dense(), dense)
    assert torch.equal(x.dense(channels_first=False), dense.movedim(1, -1))
    assert (x.spatial_size, x.sparity, x.indices.dtype) == (6, 2 / 12, torch.int32)
    assert repr(x) == "SparseConvTensor([2, 2] at places of [2, 3], batch_size=2)"


@pytest.mark.parametrize(
    ("features", "indices", "told"),
    [((4,), (4, 3), "features"), ((4, 2), (3, 3), "indices"), ((4, 2), (4, 4), "indices"), ((4, 2), (4,), "indices")],
)
def test_tensors_whose_shapes_do_not_fit(features: tuple[int, ...], indices: tuple[int, ...], told: str) -> None:
    with pytest.raises(ValueError, match=f"^SparseConvTensor: {told}: expected shape"):
        SparseConvTensor(torch.zeros(features), torch.zeros(indices, dtype=torch.int32), [5, 5], 1)


def _network() -> sparse.SparseSequential:
    return sparse.SparseSequential(
        sparse.SubMConv3d(3, 8, 3, indice_key="a", bias=False), nn.BatchNorm1d(8), nn.ReLU(),
        sparse.SubMConv3d(8, 8, 3, indice_key="a"), sparse.SparseConv3d(8, 8, 3, 2, 1, indice_key="b"), nn.ReLU(),
        sparse.SparseInverseConv3d(8, 4, 3, indice_key="b"), sparse.ToDense(),
    ).double()  # fmt: skip


@pytest.mark.parametrize("batches", [(0,), (0, 0, 0), (0, 5, 0), (1,)])
@pytest.mark.parametrize("train", [False, True])
def test_batches_without_places(batches: tuple[int, ...], train: bool) -> None:
    network = _network().train(train and sum(batches) != 1)
    x = scene(3, 3, batches)
    out = network(x)
    assert out.shape == (len(batches), 4, *SPACES[3])
    out.sum().backward()
    assert x.features.grad is not None
    assert x.features.grad.shape == x.features.shape
    for parameter in (network[0].weight, network[4].weight, network[6].weight):
        assert parameter.grad is not None
        assert (parameter.grad == 0).all() or sum(batches) > 0


def test_a_key_shares_pairs() -> None:
    x = scene(3, 3)
    network = sparse.SparseSequential(
        OrderedDict(a=sparse.SubMConv3d(3, 3, 3, indice_key="k"), b=sparse.SubMConv3d(3, 5, 3, indice_key="k"))
    ).double()
    first = network[0](x)
    kept = first.find_indice_pair("k")
    out = network[1](first)
    assert out.find_indice_pair("k") is kept
    places, inputs, pairs, num, space = kept
    assert (places.shape, inputs.shape, pairs.shape[0], len(num), space) == (
        x.indices.shape,
        x.indices.shape,
        27,
        27,
        x.spatial_shape,
    )
    alone = sparse.SubMConv3d(3, 5, 3).double()
    alone.load_state_dict(network[1].state_dict())
    assert torch.equal(alone(scene(3, 3).replace_feature(first.features)).features, out.features)


def test_pairs_of_another_kind_are_refused() -> None:
    x = sparse.SubMConv3d(3, 3, 3, indice_key="k").double()(scene(3, 3))
    with pytest.raises(ValueError, match="is that of another layer: expected kind sub-manifold, got regular"):
        sparse.SparseConv3d(3, 3, 2, indice_key="k").double()(x)
    with pytest.raises(ValueError, match="indice_key: expected that of an earlier one, got 'other'"):
        sparse.SparseInverseConv3d(3, 3, 3, indice_key="other").double()(x)
    with pytest.raises(ValueError, match="indice_key: expected that of an earlier convolution, got None"):
        sparse.SparseInverseConv3d(3, 3, 3)
    smaller = SparseConvTensor(x.features[:4], x.indices[:4], x.spatial_shape, 3)
    smaller.indice_dict = x.indice_dict
    with pytest.raises(ValueError, match="expected the indices of its input, got other indices"):
        sparse.SubMConv3d(3, 3, 3, indice_key="k").double()(smaller)


def test_wrong_inputs() -> None:
    with pytest.raises(ValueError, match="expected 4 channels, got 3"):
        sparse.SubMConv3d(4, 3, 3).double()(scene(3, 3))
    with pytest.raises(TypeError, match="expected a SparseConvTensor, got Tensor"):
        sparse.SubMConv3d(4, 3, 3)(torch.zeros(3, 3))
    with pytest.raises(ValueError, match="groups: expected a divisor of both numbers of channels, got 3 with 4 and 4"):
        sparse.SubMConv3d(4, 4, 3, groups=3)
    with pytest.raises(ValueError, match="kernel_size: expected 3 integers from 1"):
        sparse.SubMConv3d(4, 4, (3, 3))


def test_sequences() -> None:
    first, second = nn.ReLU(), nn.Linear(3, 5).double()
    network = sparse.SparseSequential(first, second, third=nn.ReLU())
    assert len(network) == 3
    assert (network[0], network[-2]) == (first, second)
    assert [name for name, _ in network.named_children()] == ["0", "1", "third"]
    network.add(first, "again")
    assert network[3] is first
    with pytest.raises(IndexError, match="index 4 is out of range"):
        network[4]
    with pytest.raises(ValueError, match="expected a new one, got 'third' again"):
        network.add(nn.ReLU(), "third")
    x = scene(3, 3)
    assert torch.equal(network(x).features, second(x.features.relu()).relu())
    assert x.features.shape[1] == 3
    assert torch.equal(network(x.features), network(x).features)


# ---- weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [
    f"{kind}{ndim}d" for kind in ("SparseConv", "SubMConv", "SparseConvTranspose", "SparseInverseConv") for ndim in (
        1, 2, 3, 4
    )
])  # fmt: skip
def test_weights_of_spconv_and_mmcv_load(kind: str) -> None:
    sizes, key = {"1": 2, "2": 2, "3": (3, 2, 1), "4": (3, 2, 1, 2)}[kind[-2]], {"indice_key": "x"}
    module = getattr(sparse, kind)(3, 5, sizes, **key)
    state = module.state_dict()
    for convert, expected in ((lambda w: w, "mmcv"), (sparse.filters_to_spconv, "spconv")):
        other = getattr(sparse, kind)(3, 5, sizes, **key)
        loaded = {"weight": convert(state["weight"]), "bias": state["bias"]}
        assert tuple(loaded["weight"].shape) == (
            (5, *module.kernel_size, 3) if expected == "spconv" else module.weight.shape
        )
        other.load_state_dict(loaded)
        assert torch.equal(other.weight, module.weight)
    assert torch.equal(sparse.filters_from_spconv(sparse.filters_to_spconv(module.weight)), module.weight)


LAYOUTS = ["mmcv", "spconv-2.0", "spconv-2.2"]


def _dict_of(network: nn.Module, layout: str, version: int = 1) -> OrderedDict[str, Any]:
    """A state dict of a network as modules of others write it."""
    state: OrderedDict[str, Any] = OrderedDict()
    for name, value in network.state_dict().items():
        state[name] = sparse.filters_to_spconv(value, layout) if value.ndim == 5 else value.clone()
    state._metadata = {name: {"version": version} for name, _ in network.named_modules()}  # type: ignore[attr-defined]
    return state


@pytest.mark.parametrize("layout", LAYOUTS)
def test_filters_whose_layout_no_shape_tells_are_asked_for(layout: str) -> None:
    source, target = sparse.SubMConv3d(3, 3, 3), sparse.SubMConv3d(3, 3, 3)
    for state in (_dict_of(source, layout), dict(_dict_of(source, layout))):
        with pytest.raises(RuntimeError, match=r"weight: a filter of .* may be of mmcv, spconv-2\.0 or spconv-2\.2"):
            target.load_state_dict(state)
        sparse.load_state_dict(target, state, layout)
        assert torch.equal(target.weight, source.weight)
    if layout != "spconv-2.0":
        target.reset_parameters()
        target.load_state_dict(source.state_dict() if layout == "mmcv" else _dict_of(source, layout, version=2))
        assert torch.equal(target.weight, source.weight)


@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("order", [(3, 3, 5, 5), (3, 5, 5, 5), (3, 3, 3, 4)])
def test_one_layer_tells_the_layout_of_all(order: tuple[int, ...], layout: str, assign: bool) -> None:
    def network() -> nn.Module:
        return nn.Sequential(*(sparse.SubMConv3d(a, b, 3) for a, b in itertools.pairwise(order)))

    source, target = network(), network()
    state = _dict_of(source, layout)
    kept = {name: value.clone() for name, value in state.items()}
    target.load_state_dict(state, assign=assign)
    for name, value in source.state_dict().items():
        assert torch.equal(target.state_dict()[name], value), name
        assert torch.equal(state[name], kept[name]), name


def test_filters_of_which_all_readings_are_the_same_load() -> None:
    target = sparse.SubMConv3d(3, 3, 3)
    target.load_state_dict({"weight": torch.ones(3, 3, 3, 3, 3), "bias": torch.zeros(3)})
    assert (target.weight == 1).all()
    with pytest.raises(RuntimeError, match=r"weight: expected shape \[5, 3, 3, 3, 3\] of spconv-2.2"):
        sparse.load_state_dict(sparse.SubMConv3d(3, 5, 3), sparse.SubMConv3d(3, 5, 3).state_dict(), "spconv-2.2")
    with pytest.raises(ValueError, match=r"layout: expected one of mmcv, spconv-2.0, spconv-2.2, got 'spconv'"):
        sparse.load_state_dict(target, {}, "spconv")


def test_other_shapes_are_refused() -> None:
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        sparse.SubMConv3d(3, 5, 3).load_state_dict({"weight": torch.zeros(3, 3, 3, 5, 4), "bias": torch.zeros(5)})


def test_training_is_the_same_every_time() -> None:
    def train(threads: int) -> list[Tensor]:
        import pymluops

        before = pymluops.get_num_threads()
        pymluops.set_num_threads(threads)
        try:
            torch.manual_seed(0)
            network, target = _network().float(), torch.randn(3, 4, *SPACES[3])
            optimizer = torch.optim.Adam(network.parameters(), 0.01)
            losses = []
            for _ in range(5):
                x = scene(3, 3)
                loss = (network(x.replace_feature(x.features.float())) - target).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.detach())
            assert losses[-1] < losses[0]
            return [*losses, *(p.detach() for p in network.parameters())]
        finally:
            pymluops.set_num_threads(before)

    first = train(1)
    for threads in (1, 3):
        assert all(torch.equal(a, b) for a, b in zip(first, train(threads), strict=True))
