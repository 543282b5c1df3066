"""upfirdn2d, filtered_lrelu, bias_act and fused_bias_leakyrelu of mmcv's extension."""

from __future__ import annotations

import itertools
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from .values import every_dtype, exact, near, tensor

pytest.importorskip("torch")


def resampled(
    images: np.ndarray, taps: np.ndarray, up: tuple[int, int], down: tuple[int, int], pad: tuple[int, ...]
) -> np.ndarray:
    """The formula: padding is left, right, above, below; factors are those along y and x."""
    (n, c, height, width), (fh, fw) = images.shape, taps.shape
    out_h = (height * up[0] + pad[2] + pad[3] - fh + down[0]) // down[0]
    out_w = (width * up[1] + pad[0] + pad[1] - fw + down[1]) // down[1]
    found = np.zeros((n, c, out_h, out_w))
    for oy, ox, ky, kx in np.ndindex(out_h, out_w, fh, fw):
        y, x = oy * down[0] + ky - pad[2], ox * down[1] + kx - pad[0]
        if y % up[0] == 0 and x % up[1] == 0 and 0 <= y // up[0] < height and 0 <= x // up[1] < width:
            found[:, :, oy, ox] += taps[ky, kx] * images[:, :, y // up[0], x // up[1]]
    return found


@every_dtype
def test_upfirdn2d(torch: Any, ext: ModuleType, dtype: str) -> None:
    rng = np.random.default_rng(1)
    images = tensor(torch, rng.integers(-3, 4, (2, 2, 4, 5)), dtype)
    for fw, up, down, pad in itertools.product((1, 3), (1, 2), (1, 3), ((1, 2, 0, 1), (-1, 2, 3, -1), (-6, 9, 2, 2))):
        taps = torch.from_numpy(rng.integers(-2, 3, (2, fw)).astype(np.float32))
        for flip in (True, False):
            found = ext.upfirdn2d(images, taps, up, 3 - up, down, 2, *pad, flip, 0.5)
            plain = exact(taps) if flip else exact(taps)[::-1, ::-1]
            near(torch, found, 0.5 * resampled(exact(images), plain, (3 - up, up), (2, down), pad), dtype)
    last = ext.upfirdn2d(images.contiguous(memory_format=torch.channels_last), taps, 1, 1, 1, 1, 1, 1, 1, 1, True, 1.0)
    assert last.is_contiguous(memory_format=torch.channels_last)


def test_refused_filters(torch: Any, ext: ModuleType) -> None:
    images, taps, good = torch.ones(1, 1, 3, 3), torch.ones(2, 2), (1, 1, 1, 1, 0, 0, 0, 0)
    for change in (
        {"input": images[0]}, {"input": images[:0]}, {"input": images.long()}, {"filter": taps[0]},
        {"filter": taps.double()}, {"filter": taps[:0]}, {"upx": 0}, {"upy": -1}, {"downx": 0}, {"downy": 0},
        {"padx0": -2}, {"pady1": -9},
    ):  # fmt: skip
        names = ("upx", "upy", "downx", "downy", "padx0", "padx1", "pady0", "pady1")
        given = {"input": images, "filter": taps, **dict(zip(names, good, strict=True)), **change}
        with pytest.raises(RuntimeError, match=r"^upfirdn2d: \w+: expected "):
            ext.upfirdn2d(**given, flip=False, gain=1.0)


@every_dtype
@pytest.mark.parametrize("rank", [1, 2])
def test_filtered_lrelu(torch: Any, ext: ModuleType, dtype: str, rank: int) -> None:
    rng = np.random.default_rng(2)
    x, b = tensor(torch, rng.integers(-4, 5, (2, 3, 5, 6)), dtype), tensor(torch, np.array([1, -1, 2]), dtype)
    line = rng.integers(1, 3, 3)
    fu, fd = (torch.from_numpy(np.asarray(f, np.float32)) for f in (line, line[:2]))
    planes = [np.outer(exact(f), exact(f)) for f in (fu, fd)]
    given = (fu, fd) if rank == 1 else tuple(torch.from_numpy(plane.astype(np.float32)) for plane in planes)
    none, pad = torch.empty(0), (2, 1, 1, 2)
    u = 4 * resampled(exact(x) + exact(b)[:, None, None], planes[0][::-1, ::-1], (2, 2), (1, 1), pad) * 0.25
    for clamp in (np.inf, 20.0):
        v = np.clip(np.where(u < 0, u * 0.5, u), -clamp, clamp)
        expected = resampled(v, planes[1][::-1, ::-1], (1, 1), (2, 2), (0, 0, 0, 0))
        numbers = (2, 2, *pad, 0, 0, 0.25, 0.5, clamp, False)
        y, signs, code = ext.filtered_lrelu(x, *given, b, none, *numbers, False)
        near(torch, y, expected, dtype)
        assert signs is None
        assert code == 0
        y, signs, code = ext.filtered_lrelu(x, *given, b, none, *numbers, True)
        near(torch, y, expected, dtype)
        codes = np.where(np.abs(np.where(u < 0, u * 0.5, u)) > clamp, 2, u < 0)
        rows, columns = (2 * (n - 1) + 2 for n in expected.shape[2:])
        assert signs.shape == (2, 3, rows, -(-columns // 16) * 4)
        unpacked = (signs.numpy()[..., None] >> np.array([0, 2, 4, 6])) & 3
        unpacked = unpacked.reshape(*signs.shape[:3], -1)
        assert unpacked[..., :columns].tolist() == codes[:, :, :rows, :columns].tolist()
        assert not unpacked[..., columns:].any()
        shifted = ext.filtered_lrelu(x, *given, b, signs, 2, 2, *pad, 1, -1, 0.25, 0.5, clamp, False, False)[0]
        kept = np.zeros_like(codes)
        whole = unpacked[..., 1:]
        height, width = min(rows, codes.shape[2] - 1), min(whole.shape[3], codes.shape[3])
        kept[:, :, 1 : 1 + height, :width] = whole[:, :, :height, :width]
        v = np.where(kept & 2, 0, np.where(kept & 1, u * 0.5, u))
        near(torch, shifted, resampled(v, planes[1][::-1, ::-1], (1, 1), (2, 2), (0, 0, 0, 0)), dtype)


@every_dtype
def test_filtered_lrelu_act(torch: Any, ext: ModuleType, dtype: str) -> None:
    rng = np.random.default_rng(3)
    values, none = tensor(torch, rng.integers(-4, 5, (1, 2, 3, 18)), dtype), torch.empty(0)
    v = exact(values) * 2
    wide = np.where(v < 0, v * 0.5, v)
    x = values.transpose(2, 3).contiguous().transpose(2, 3)
    signs = ext.filtered_lrelu_act_(x, none, 0, 0, 2.0, 0.5, 3.0, True)
    near(torch, x, np.clip(wide, -3, 3), dtype)
    assert signs.shape == (1, 2, 3, 8)
    again = values.clone()
    assert ext.filtered_lrelu_act_(again, signs, 0, 0, 2.0, 0.5, 3.0, False) is None
    near(torch, again, np.where(np.abs(wide) > 3, 0, wide), dtype)
    with pytest.raises(RuntimeError, match="filtered_lrelu_act_: si: expected"):
        ext.filtered_lrelu_act_(again, signs[:, :1], 0, 0, 2.0, 0.5, 3.0, False)


@pytest.mark.parametrize("clamp", [-1.0, 1.5])
@pytest.mark.parametrize("act", range(1, 10))
def test_bias_act(torch: Any, ext: ModuleType, act: int, clamp: float) -> None:
    """Derivatives are those that autograd finds of the function, but where a linear one is clamped."""
    functions: dict[int, Any] = {
        1: lambda z: z, 2: torch.relu, 3: lambda z: torch.nn.functional.leaky_relu(z, 0.2), 4: torch.tanh,
        5: torch.sigmoid, 6: torch.nn.functional.elu, 7: torch.nn.functional.selu,
        8: torch.nn.functional.softplus, 9: torch.nn.functional.silu,
    }  # fmt: skip
    torch.manual_seed(act)
    x = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
    b, dy, none = torch.tensor([0.5, -0.25, 1.0]).double(), torch.randn(2, 3, 4).double(), torch.empty(0)
    plain = 1.5 * functions[act](x + b[:, None])
    y = plain.clamp(-clamp, clamp) if clamp >= 0 else plain
    rest = (1, act, 0.2, 1.5, clamp)
    found = ext.bias_act(x, b, none, none, none, 0, *rest)
    torch.testing.assert_close(found, y.detach())
    first = torch.autograd.grad(y, x, dy, create_graph=True)[0]
    given = ext.bias_act(dy, b, x, found, none, 1, *rest)
    torch.testing.assert_close(given, first.detach())
    if first.requires_grad and act >= 4:
        second = torch.autograd.grad(first.sum(), x)[0]
        torch.testing.assert_close(ext.bias_act(torch.ones_like(dy), b, x, found, dy, 2, *rest), second)
    else:
        assert not ext.bias_act(torch.ones_like(dy), b, x, found, dy, 2, *rest).any()


def test_bias_act_of_large_values_and_refusals(torch: Any, ext: ModuleType) -> None:
    none, x = torch.empty(0), torch.tensor([-200.0, -90, 90, 200, torch.nan])
    for act in range(1, 10):
        for grad in (0, 1, 2):
            given = ext.bias_act(x, none, x, x, none, grad, 0, act, 0.2, 1.0, -1.0)
            assert torch.isfinite(given[:4]).all() or act in (4, 5, 6, 7, 8)
    softplus = ext.bias_act(x[:4], none, none, none, none, 0, 0, 8, 0.0, 1.0, -1.0)
    assert softplus.tolist() == pytest.approx([0, 0, 90, 200], abs=1e-30)
    good = {"input": torch.ones(2, 3), "bias": torch.ones(3), "xref": none, "yref": none, "dy": none, "grad": 0}
    good |= {"dim": 1, "act": 1, "alpha": 0.0, "gain": 1.0, "clamp": -1.0}
    for change in (
        {"act": 0}, {"act": 10}, {"grad": -1}, {"grad": 3}, {"dim": 2}, {"dim": -1}, {"dim": 0},
        {"bias": torch.ones(2)}, {"bias": torch.ones(3).double()}, {"yref": torch.ones(3, 2)},
    ):  # fmt: skip
        with pytest.raises(RuntimeError, match=r"^bias_act: \w+: expected "):
            ext.bias_act(**{**good, **change})


@every_dtype
def test_fused_bias_leakyrelu(torch: Any, ext: ModuleType, dtype: str) -> None:
    rng = np.random.default_rng(5)
    x, refer = (tensor(torch, rng.integers(-4, 5, (2, 3, 2, 2)), dtype) for _ in range(2))
    bias, none = tensor(torch, np.array([1, -2, 0]), dtype), torch.empty(0, dtype=getattr(torch, dtype))
    z = exact(x) + exact(bias)[:, None, None]
    for act, grad, given, expected in (
        (1, 0, none, z), (1, 1, refer, z), (1, 2, none, 0 * z), (3, 0, none, np.where(z > 0, z, z / 4)),
        (3, 1, refer, np.where(exact(refer) > 0, z, z / 4)), (3, 1, none, z / 4), (3, 2, refer, 0 * z), (7, 0, none, z),
    ):  # fmt: skip
        near(torch, ext.fused_bias_leakyrelu(x, bias, given, act, grad, 0.25, 2.0), 2 * expected, dtype)
    near(
        torch,
        ext.fused_bias_leakyrelu(x, none, none, 3, 0, 0.25, 1.0),
        np.where(exact(x) > 0, 1, 0.25) * exact(x),
        dtype,
    )
    for wrong in ({"bias": bias[:2]}, {"empty": refer[:1], "grad": 1}, {"input": x.long()}):
        with pytest.raises(RuntimeError, match=r"^fused_bias_leakyrelu: \w+: expected "):
            ext.fused_bias_leakyrelu(
                **{"input": x, "bias": bias, "empty": none, "act": 3, "grad": 0, "alpha": 0.2, "scale": 1.0, **wrong}
            )
