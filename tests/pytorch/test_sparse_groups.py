"""Groups of channels, one axis and four, padded outputs: against PyTorch's dense convolutions in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")
sparse = pytest.importorskip("pymluops.torch.sparse")
functional = torch.nn.functional

SPACES = {1: [13], 2: [7, 9], 3: [5, 6, 7], 4: [3, 4, 3, 4]}
#: Channels in, channels out, groups: none, two groups, depthwise, depthwise with two outputs each.
GROUPS = [(4, 6, 1), (4, 6, 2), (4, 4, 4), (3, 6, 3)]


def scene(ndim: int, channels: int, counts: tuple[int, ...] = (10, 0, 12)) -> Any:
    rng, space = np.random.default_rng(ndim), SPACES[ndim]
    parts = []
    for batch, count in enumerate(counts):
        places = np.unravel_index(rng.permutation(int(np.prod(space)))[:count], space)
        parts.append(np.stack([np.full(len(places[0]), batch), *places], 1))
    indices = torch.from_numpy(np.concatenate(parts).astype(np.int32))
    features = torch.from_numpy(rng.normal(0, 1, (len(indices), channels))).requires_grad_()
    return sparse.SparseConvTensor(features, indices, space, len(counts))


def occupied(x: Any) -> Any:
    ones = torch.ones(len(x.indices), 1, dtype=torch.float64)
    return sparse.SparseConvTensor(ones, x.indices, x.spatial_shape, x.batch_size).dense().bool()


def transposed_filter(weight: Any, groups: int) -> Any:
    """A filter [*kernel, in / groups, out] as [in, out / groups, *kernel], which dense transposed convolutions take."""
    parts = [part.movedim((-2, -1), (0, 1)) for part in weight.chunk(groups, -1)]
    return torch.cat(parts)


def assert_follows(module: Any, x: Any, out: Any, dense: Any) -> None:
    """Values at the places of the output, and all gradients, are those of the dense convolution."""
    bias = module.bias.view(1, -1, *[1] * module.ndim)
    wanted = torch.where(occupied(out), dense + bias, 0)
    found = out.dense()
    assert found.shape == wanted.shape
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-12)
    weights = torch.randn(found.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(3))
    inputs = [x.features, *module.parameters()]
    got = torch.autograd.grad((found * weights).sum(), inputs, retain_graph=True)
    want = torch.autograd.grad((wanted * weights).sum(), inputs, retain_graph=True)
    torch.testing.assert_close(got, want, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("channels", GROUPS)
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_convolutions(ndim: int, channels: tuple[int, int, int]) -> None:
    x, groups = scene(ndim, channels[0]), channels[2]
    convolve = getattr(functional, f"conv{ndim}d")
    for window in ((3, 2, 1, 1), (2, 1, 0, 2), (1, 1, 0, 1), (1, 2, 0, 1)):
        module = getattr(sparse, f"SparseConv{ndim}d")(*channels[:2], *window, groups=groups).double()
        _, stride, padding, dilation = window
        weight = module.weight.movedim((-1, -2), (0, 1))
        assert_follows(module, x, module(x), convolve(x.dense(), weight, None, stride, padding, dilation, groups))
    module = getattr(sparse, f"SubMConv{ndim}d")(*channels[:2], 3, groups=groups).double()
    weight = module.weight.movedim((-1, -2), (0, 1))
    assert_follows(module, x, module(x), convolve(x.dense(), weight, None, 1, 1, 1, groups))


@pytest.mark.parametrize("channels", GROUPS)
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_transposed_convolutions(ndim: int, channels: tuple[int, int, int]) -> None:
    x, groups = scene(ndim, channels[0]), channels[2]
    convolve = getattr(functional, f"conv_transpose{ndim}d")
    kind = getattr(sparse, f"SparseConvTranspose{ndim}d")
    for window, extra in (((3, 2, 1, 1), 1), ((2, 2, 0, 1), 0), ((3, 3, 1, 2), 2)):
        module = kind(*channels[:2], *window, groups=groups, output_padding=extra).double()
        _, stride, padding, dilation = window
        weight = transposed_filter(module.weight, groups)
        dense = convolve(x.dense(), weight, None, stride, padding, extra, groups, dilation)
        assert_follows(module, x, module(x), dense)


@pytest.mark.parametrize("channels", GROUPS)
@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_inverse_convolutions(ndim: int, channels: tuple[int, int, int]) -> None:
    x = scene(ndim, channels[0])
    down = getattr(sparse, f"SparseConv{ndim}d")(channels[0], channels[0], 3, 2, 1, indice_key="k").double()
    up = getattr(sparse, f"SparseInverseConv{ndim}d")(*channels[:2], 3, "k", groups=channels[2]).double()
    middle = down(x)
    middle = middle.replace_feature(middle.features.detach().requires_grad_())
    out = up(middle)
    assert torch.equal(out.indices, x.indices)
    weight = transposed_filter(up.weight, channels[2])
    extra = [(size - 1) % 2 for size in x.spatial_shape]
    convolve = getattr(functional, f"conv_transpose{ndim}d")
    assert_follows(up, middle, out, convolve(middle.dense(), weight, None, 2, 1, extra, channels[2]))


def _by_slices(dense: Any, weight: Any, after: int, extra: list[int]) -> Any:
    """A transposed convolution of 4 axes, stride 2, as a sum of those of 3, one for each place along the first axis."""

    def convolve(i: int, k: int) -> Any:
        return functional.conv_transpose3d(dense[:, :, i], weight[:, :, k], None, 2, 1, extra)

    slices = []
    for o in range(after):
        pairs = [(i, k) for k in range(3) for i in range(dense.shape[2]) if 2 * i - 1 + k == o]
        slices.append(sum([convolve(*pair) for pair in pairs], torch.zeros_like(convolve(0, 0))))
    return torch.stack(slices, 2)


def test_four_axes_there_and_back() -> None:
    x = scene(4, 2)
    module = sparse.SparseConvTranspose4d(2, 3, 3, 2, 1).double()
    out = module(x)
    assert out.spatial_shape == [5, 7, 5, 7]
    weight = transposed_filter(module.weight, 1)
    assert_follows(module, x, out, _by_slices(x.dense(), weight, 5, [0, 0, 0]))
    down = sparse.SparseConv4d(2, 2, 3, 2, 1, indice_key="k").double()
    up = sparse.SparseInverseConv4d(2, 3, 3, "k").double()
    middle = down(x)
    middle = middle.replace_feature(middle.features.detach().requires_grad_())
    out = up(middle)
    assert torch.equal(out.indices, x.indices)
    dense = _by_slices(middle.dense(), transposed_filter(up.weight, 1), 3, [1, 0, 1])
    assert_follows(up, middle, out, dense)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_depthwise_in_short_types_is_rounded_once(dtype: Any) -> None:
    x = scene(3, 4)
    module = sparse.SubMConv3d(4, 4, 3, groups=4, bias=False)
    short = x.replace_feature(x.features.detach().to(dtype))
    exact = module(x.replace_feature(short.features.float())).features
    module = module.to(dtype)
    found = module(short).features
    assert found.dtype == dtype
    torch.testing.assert_close(found.float(), exact, rtol=8 * torch.finfo(dtype).eps, atol=1e-2)


def test_gradients_of_gradients() -> None:
    x = scene(2, 2, (4, 3))
    for groups in (1, 2):
        module = sparse.SparseConv2d(2, 4, 3, 2, 1, groups=groups).double()

        def function(features: Any, weight: Any, module: Any = module) -> Any:
            parameters = {"weight": weight, "bias": module.bias}
            return torch.func.functional_call(module, parameters, (x.replace_feature(features),)).features

        assert torch.autograd.gradcheck(function, (x.features, module.weight))
        assert torch.autograd.gradgradcheck(function, (x.features, module.weight))


def test_groups_that_do_not_divide_channels_are_refused() -> None:
    for channels, groups in (((4, 6), 4), ((3, 4), 2), ((4, 4), 0), ((4, 4), 1.5)):
        with pytest.raises(ValueError, match=r"^SubMConv3d: groups: expected"):
            sparse.SubMConv3d(*channels, 3, groups=groups)
    module = sparse.SubMConv3d(4, 6, 3, groups=2)
    assert tuple(module.weight.shape) == (3, 3, 3, 2, 6)
    assert "groups=2" in repr(module)
    other = sparse.SubMConv3d(4, 6, 3, groups=2)
    other.load_state_dict(module.state_dict())
    assert torch.equal(other.weight, module.weight)
    with pytest.raises(ValueError, match="output_padding: expected 1 integers"):
        sparse.SparseConvTranspose1d(1, 1, 3, 2, output_padding=-1)
