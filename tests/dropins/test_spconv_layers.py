"""Layers of spconv against PyTorch's dense convolutions in float64."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from .scenes import SPACES, assert_follows, dense_filter, occupied, scene, transposed_filter  # noqa: E402

functional = torch.nn.functional
WINDOWS = [(3, 2, 1, 1), (2, 2, 0, 1), (3, 1, 2, 2), (3, 2, 2, 2)]
#: Sets of arguments by class, as spconv 2.3.8 has them.
_HEAD = "in_channels out_channels kernel_size"
_PLAIN = f"{_HEAD} stride padding dilation groups bias indice_key algo fp32_accum"
SIGNATURES = {
    "SparseConv": f"{_PLAIN} record_voxel_count large_kernel_fast_algo name",
    "SparseConvTranspose": f"{_PLAIN} record_voxel_count large_kernel_fast_algo name",
    "SubMConv": f"{_PLAIN} large_kernel_fast_algo name",
    "SparseInverseConv": f"{_HEAD} indice_key bias algo fp32_accum large_kernel_fast_algo name",
    "SparseMaxPool": "kernel_size stride padding dilation indice_key algo record_voxel_count name",
    "SparseAvgPool": "kernel_size stride padding dilation indice_key algo record_voxel_count name",
}


@pytest.mark.parametrize("kind", SIGNATURES)
def test_arguments_have_the_names_and_the_order_of_spconv(spconv: Any, kind: str) -> None:
    for ndim in (1, 2, 3, 4):
        layer = getattr(spconv, f"{kind}{ndim}d")
        assert [name for name in inspect.signature(layer).parameters if name != "self"] == SIGNATURES[kind].split()
        assert issubclass(layer, spconv.SparseModule)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_convolutions(spconv: Any, ndim: int, window: tuple[int, ...]) -> None:
    x = scene(spconv, ndim, 3)
    module = getattr(spconv, f"SparseConv{ndim}d")(3, 4, *window).double()
    _, stride, padding, dilation = window
    convolve = getattr(functional, f"conv{ndim}d")
    out = module(x)
    assert_follows(module, x, out, convolve(x.dense(), dense_filter(module.weight), None, stride, padding, dilation))
    ones = torch.ones_like(dense_filter(module.weight)[:1, :1])
    reached = convolve(occupied(x).double(), ones, None, stride, padding, dilation)
    assert torch.equal(occupied(out), reached > 0.5)


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_sub_manifold_convolutions_have_their_centre_at_the_row(spconv: Any, ndim: int, dilation: int) -> None:
    x = scene(spconv, ndim, 3)
    for kernel, given in ((3, 0), (5, 7)):  # spconv does not look at the padding and the stride
        module = getattr(spconv, f"SubMConv{ndim}d")(3, 4, kernel, 2, given, dilation).double()
        out = module(x)
        assert out.indices is x.indices
        padding = kernel // 2 * dilation
        dense = getattr(functional, f"conv{ndim}d")(x.dense(), dense_filter(module.weight), None, 1, padding, dilation)
        assert_follows(module, x, out, dense)
    with pytest.raises(RuntimeError, match="kernel_size: expected odd sizes"):
        getattr(spconv, f"SubMConv{ndim}d")(3, 4, 2).double()(x)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_transposed_convolutions(spconv: Any, ndim: int) -> None:
    x = scene(spconv, ndim, 3)
    convolve = getattr(functional, f"conv_transpose{ndim}d")
    for window, extra in (((3, 2, 1), 0), ((2, 2, 0), 0), ((3, 3, 1), 1)):
        module = spconv.conv.SparseConvolution(ndim, 3, 4, *window, output_padding=extra, transposed=True).double()
        dense = convolve(x.dense(), transposed_filter(module.weight), None, *window[1:], extra)
        assert_follows(module, x, module(x), dense)
    # Without the dilation in the size: the places beyond are left out.
    module = getattr(spconv, f"SparseConvTranspose{ndim}d")(3, 4, 3, 1, 0, 2).double()
    out = module(x)
    assert out.spatial_shape == [size + 2 for size in SPACES[ndim]]
    dense = convolve(x.dense(), transposed_filter(module.weight), None, 1, 0, 0, 1, 2)
    assert_follows(module, x, out, dense[(..., *[slice(size) for size in out.spatial_shape])])


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_inverse_convolutions(spconv: Any, ndim: int) -> None:
    x = scene(spconv, ndim, 3)
    down = getattr(spconv, f"SparseConv{ndim}d")(3, 3, 3, 2, 1, indice_key="k").double()
    up = getattr(spconv, f"SparseInverseConv{ndim}d")(3, 4, 3, "k").double()
    assert (down.is_inverseable(), up.subm, up.inverse) == (True, False, True)
    middle = down(x)
    middle = middle.replace_feature(middle.features.detach().requires_grad_())
    out = up(middle)
    assert torch.equal(out.indices, x.indices)
    assert out.spatial_shape == x.spatial_shape
    extra = [(size - 1) % 2 for size in x.spatial_shape]
    dense = getattr(functional, f"conv_transpose{ndim}d")(
        middle.dense(), transposed_filter(up.weight), None, 2, 1, extra
    )
    assert_follows(up, middle, out, dense)


def test_four_axes_agree_with_three_where_one_has_size_one(spconv: Any) -> None:
    x = scene(spconv, 3, 2)
    indices = torch.cat([x.indices[:, :1], torch.zeros_like(x.indices[:, :1]), x.indices[:, 1:]], 1)
    more = spconv.SparseConvTensor(x.features, indices, [1, *x.spatial_shape], x.batch_size)
    for kind, key in (("SparseConv", "a"), ("SubMConv", "b"), ("SparseConvTranspose", "c")):
        three = getattr(spconv, f"{kind}3d")(2, 3, 3, 1, 1, indice_key=key).double()
        four = getattr(spconv, f"{kind}4d")(2, 3, (1, 3, 3, 3), 1, (0, 1, 1, 1), indice_key=key).double()
        four.load_state_dict({"weight": three.weight.unsqueeze(1), "bias": three.bias})
        torch.testing.assert_close(four(more).dense()[:, :, 0], three(x).dense(), rtol=0, atol=0)
    pools = [getattr(spconv, f"SparseAvgPool{n}d")(k, 1, 0, 1, "d") for n, k in ((3, 2), (4, (1, 2, 2, 2)))]
    up = spconv.SparseInverseConv4d(2, 3, (1, 2, 2, 2), "d").double()
    torch.testing.assert_close(pools[1](more).dense()[:, :, 0], pools[0](x).dense(), rtol=0, atol=0)
    assert torch.equal(up(pools[1](more)).indices, more.indices)


def test_layers_of_a_kernel_of_one_read_the_memory_of_the_filter(spconv: Any) -> None:
    x = scene(spconv, 3, 3)
    for module in (spconv.SubMConv3d(3, 5, 1, padding=3), spconv.SparseConv3d(3, 5, 1)):
        module = module.double()
        assert module.conv1x1
        out = module(x)
        wanted = x.features @ module.weight.detach().reshape(3, 5) + module.bias
        torch.testing.assert_close(out.features, wanted, rtol=0, atol=0)
        assert out.indice_dict is x.indice_dict
        assert out.indices is x.indices
    moving = spconv.SparseConv3d(3, 5, 1, 2).double()
    assert not moving.conv1x1
    assert_follows(moving, x, moving(x), functional.conv3d(x.dense(), dense_filter(moving.weight), None, 2))
    with pytest.raises(AssertionError, match="padding: expected 0 with a kernel of 1"):
        spconv.SparseConv3d(3, 5, 1, padding=1)


def test_arguments_without_meaning_are_kept(spconv: Any) -> None:
    x = scene(spconv, 3, 4)
    plain = spconv.SubMConv3d(4, 4, 3)
    for algo in (*spconv.ConvAlgo, None):
        layer = spconv.SubMConv3d(
            4, 4, 3, indice_key="k", algo=algo, fp32_accum=True, large_kernel_fast_algo=True, name="layer"
        )
        layer.load_state_dict(plain.state_dict())
        assert torch.equal(layer.double()(x).features, plain.double()(x).features)
        assert (layer.name, layer.fp32_accum) == ("layer", True)
        assert layer.algo == (algo or spconv.ConvAlgo.MaskImplicitGemm)
    assert spconv.SubMConv3d(4, 4, 5).algo == spconv.ConvAlgo.Native
    assert spconv.SubMConv3d(4, 4, 5, large_kernel_fast_algo=True).algo == spconv.ConvAlgo.MaskImplicitGemm
    assert spconv.SparseMaxPool3d(3).algo == spconv.ConvAlgo.MaskImplicitGemm


def test_numbers_of_rows_are_recorded(spconv: Any) -> None:
    layer = spconv.SparseConv3d(2, 2, 3, record_voxel_count=True).double()
    pool = spconv.SparseMaxPool3d(2, record_voxel_count=True)
    x, y = scene(spconv, 3, 2), scene(spconv, 3, 2, (3,))
    for module in (layer, pool):
        found = [len(module(given).indices) for given in (y, x, y)]
        assert found[0] < found[1]
        assert module.get_max_num_voxels().tolist() == [found[1]]
        assert module.state_dict()["max_num_voxels_during_training"].dtype == torch.int32
    assert spconv.SparseConv3d(2, 2, 3).get_max_num_voxels() is None
    assert "max_num_voxels_during_training" not in spconv.SubMConv3d(2, 2, 3).state_dict()


def test_activations_and_sums_after_a_convolution(spconv: Any) -> None:
    x = scene(spconv, 2, 2)
    kinds = {
        "ReLU": torch.relu, "Sigmoid": torch.sigmoid, "LeakyReLU": lambda v: functional.leaky_relu(v, 0.25),
        "None_": lambda v: v,
    }  # fmt: skip
    from pymluops.dropins.spconv._algorithms import Activation

    for name, function in kinds.items():
        layer = spconv.conv.SparseConvolution(2, 2, 2, 3, subm=True, act_type=Activation[name], act_alpha=0.25).double()
        plain = layer(x).features
        torch.testing.assert_close(layer.eval()(x).features, function(plain), rtol=0, atol=0)
        torch.testing.assert_close(layer(x, add_input=x).features, function(plain + x.features))


def test_pools(spconv: Any) -> None:
    x = scene(spconv, 3, 2)
    hidden = torch.where(occupied(x), x.dense(), -torch.inf)
    dense = functional.max_pool3d(hidden, 2)
    reached = torch.isfinite(dense[:, :1])
    out = spconv.SparseMaxPool3d(2)(x)  # the stride is the kernel
    assert torch.equal(out.dense(), torch.where(reached, dense, 0))
    native = spconv.SparseMaxPool3d(2, algo=spconv.ConvAlgo.Native)(x)
    assert torch.equal(native.dense(), torch.where(reached, dense, 0).clamp(min=0))
    mean = spconv.SparseAvgPool3d(2, 2)(x)
    counts = functional.avg_pool3d(occupied(x).double(), 2)
    wanted = functional.avg_pool3d(x.dense(), 2) / counts.clamp(min=1e-9)
    torch.testing.assert_close(mean.dense(), wanted, rtol=1e-12, atol=1e-12)
    (gradient,) = torch.autograd.grad(mean.features.sum(), x.features)
    torch.testing.assert_close(gradient.sum(), torch.tensor(float(mean.features.numel()), dtype=torch.float64))
    largest, average = spconv.SparseGlobalMaxPool()(x), spconv.SparseGlobalAvgPool(name="mean")(x)
    rows = [x.features[x.indices[:, 0] == batch] for batch in range(3)]
    for batch in (0, 2):
        assert torch.equal(largest[batch], rows[batch].amax(0))
        torch.testing.assert_close(average[batch], rows[batch].mean(0))
    assert not largest[1].any()
    same = spconv.pool.SparseMaxPool(3, 3, 1, 1, subm=True)(x)
    assert same.indices is x.indices


def test_keys(spconv: Any) -> None:
    x = scene(spconv, 3, 2)
    first = spconv.SubMConv3d(2, 2, 3, padding=1, indice_key="k").double()(x)
    assert spconv.SubMConv3d(2, 4, 3, stride=2, padding=0, indice_key="k").double()(first).features.shape[1] == 4
    for layer, told in (
        (spconv.SubMConv3d(2, 2, 5, indice_key="k"), "kernel_size"),
        (spconv.SubMConv3d(2, 2, 3, dilation=2, indice_key="k"), "padding|dilation"),
        (spconv.SparseConv3d(2, 2, 3, indice_key="k"), "kind"),
    ):
        with pytest.raises(ValueError, match=f"'k' is that of another layer: expected ({told}) "):
            layer.double()(first)
    with pytest.raises(AssertionError, match="indice_key: expected a new one, got 'k' again"):
        spconv.SparseMaxPool3d(2, indice_key="k")(first)
    with pytest.raises(ValueError, match="expected that of an earlier one, got 'other'"):
        spconv.SparseInverseConv3d(2, 2, 3, "other").double()(first)
    with pytest.raises(AssertionError, match="indice_key: expected that of a convolution, got None"):
        spconv.SparseInverseConv3d(2, 2, 3, None)
    # Siblings do not see each other's keys, and the input's dict stays as it is.
    assert not x.indice_dict
    assert list(first.indice_dict) == ["k"]
    assert list(spconv.SparseConv3d(2, 2, 3, indice_key="j").double()(first).indice_dict) == ["k", "j"]
    assert list(first.indice_dict) == ["k"]


def test_kept_pairs_have_the_fields_of_spconv(spconv: Any) -> None:
    x = scene(spconv, 3, 2)
    out = spconv.SparseConv3d(2, 2, 3, 2, 1, indice_key="k").double()(x)
    kept = out.find_indice_pair("k")
    assert isinstance(kept, spconv.conv.IndiceData)
    assert kept.indices is x.indices
    assert kept.out_indices is out.indices
    assert kept.indice_pairs.shape == (2, 27, len(x.indices))
    assert int(kept.indice_pair_num.sum()) == int((kept.indice_pairs[0] >= 0).sum())
    facts = (kept.ksize, kept.stride, kept.padding, kept.dilation, kept.is_subm)
    assert facts == ([3] * 3, [2] * 3, [1] * 3, [1] * 3, False)
    assert (kept.spatial_shape, kept.out_spatial_shape) == (x.spatial_shape, out.spatial_shape)
    assert kept.algo == spconv.ConvAlgo.MaskImplicitGemm
    assert kept.voxel_num is None
    given = (
        kept.out_indices, kept.indices, kept.indice_pairs, kept.indice_pair_num, kept.spatial_shape,
        kept.out_spatial_shape, False, kept.algo, kept.ksize, kept.stride, kept.dilation, kept.padding,
    )  # fmt: skip
    own = out.replace_feature(out.features)
    own.indice_dict = {"own": spconv.core.IndiceData(*given)}
    up = spconv.SparseInverseConv3d(2, 3, 3, "k").double()
    other = spconv.SparseInverseConv3d(2, 3, 3, "own").double()
    other.load_state_dict(up.state_dict())
    assert torch.equal(other(own).features, up(out).features)
    same = spconv.SubMConv3d(2, 2, 3, indice_key="s").double()(x).find_indice_pair("s")
    assert same.is_subm
    assert not same.indice_pair_num[13:].any()
    assert torch.equal(same.indice_pairs[0, 13], same.indice_pairs[1, 13])
    assert out.find_indice_pair(None) is None
    assert out.find_indice_pair("none") is None


def test_short_types_and_empty_tensors(spconv: Any) -> None:
    network = spconv.SparseSequential(
        spconv.SubMConv3d(3, 4, 3, bias=False, indice_key="a"), torch.nn.BatchNorm1d(4), torch.nn.ReLU(),
        spconv.SparseConv3d(4, 4, 3, 2, 1, indice_key="b"), spconv.SparseInverseConv3d(4, 2, 3, "b"),
    )  # fmt: skip
    for dtype in (torch.float16, torch.bfloat16, torch.float32):
        for counts in ((9, 0, 11), (0, 0)):
            x = scene(spconv, 3, 3, counts, dtype)
            out = network.to(dtype)(x)
            assert (out.features.dtype, out.features.shape) == (dtype, (sum(counts), 2))
            out.features.sum().backward()
            assert x.features.grad.shape == x.features.shape
    with pytest.raises(AssertionError, match="expected 3 channels, got 2"):
        network[0](scene(spconv, 3, 2))


def test_compiled_networks(spconv: Any) -> None:
    torch._dynamo.reset()
    network = spconv.SparseSequential(
        spconv.SubMConv3d(2, 4, 3, indice_key="a"), torch.nn.ReLU(), spconv.SparseConv3d(4, 4, 3, 2, 1, indice_key="b"),
        spconv.SparseInverseConv3d(4, 2, 3, "b"), spconv.SparseMaxPool3d(2), spconv.ToDense(),
    ).double()  # fmt: skip
    x = scene(spconv, 3, 2)

    def function(features: Any, indices: Any) -> Any:
        return network(spconv.SparseConvTensor(features, indices, SPACES[3], 3))

    wanted = function(x.features, x.indices)
    with torch._dynamo.config.patch(capture_dynamic_output_shape_ops=True):
        found = torch.compile(function, fullgraph=True, backend="aot_eager")(x.features, x.indices)
    torch.testing.assert_close(found, wanted)
    gradients = [torch.autograd.grad(y.square().sum(), list(network.parameters())) for y in (found, wanted)]
    torch.testing.assert_close(*gradients)
