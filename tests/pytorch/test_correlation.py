"""correlation, and the layer."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pymluops.torch as ours


def composed(one: torch.Tensor, other: torch.Tensor, far: int, step: int) -> torch.Tensor:
    """Products with displaced maps, for kernels of one cell, with PyTorch's own operators."""
    height, width = one.shape[2:]
    wide = torch.nn.functional.pad(other, (far * step,) * 4)
    moves = range(0, 2 * far * step + 1, step)
    rows = [torch.stack([(one * wide[:, :, y : y + height, x : x + width]).sum(1) for x in moves], 1) for y in moves]
    return torch.stack(rows, 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("far", "step"), [(1, 1), (4, 1), (3, 2), (0, 1)])
def test_values_and_gradients_of_displaced_maps(dtype: torch.dtype, far: int, step: int) -> None:
    torch.manual_seed(1)
    maps = [torch.randn(2, 5, 6, 9, dtype=dtype, requires_grad=True) for _ in range(2)]
    found, wanted = ours.correlation(*maps, 1, far, dilation_patch=step), composed(*maps, far, step)
    torch.testing.assert_close(found, wanted)
    grad = torch.randn_like(wanted)
    for one, other in zip(torch.autograd.grad(found, maps, grad), torch.autograd.grad(wanted, maps, grad), strict=True):
        torch.testing.assert_close(one, other)


def test_kernels_add_up_and_strides_leave_out() -> None:
    torch.manual_seed(2)
    maps = torch.randn(2, 1, 3, 8, 9)
    products = composed(*maps, 2, 1).flatten(0, 2)[:, None]
    sums = torch.nn.functional.conv2d(products, torch.ones(1, 1, 3, 3), None, 2, 2, 2)
    found = ours.correlation(*maps, 3, 2, stride=2, padding=2, dilation=2)
    torch.testing.assert_close(found, sums.view(found.shape))


def test_layer() -> None:
    layer = ours.Correlation(kernel_size=3, max_displacement=2, stride=2, padding=1, dilation_patch=2)
    maps = torch.randn(2, 1, 3, 8, 9)
    assert torch.equal(layer(*maps), ours.correlation(*maps, 3, 2, 2, 1, 1, 2))
    assert "max_displacement=2" in repr(layer)
    program: Any = torch.export.export(layer, tuple(maps)).module()
    assert torch.equal(program(*maps), layer(*maps))


def test_refused() -> None:
    one = torch.randn(1, 2, 4, 5)
    for changes, text in (
        ({"kernel_size": 0}, "kernel_size: expected"),
        ({"kernel_size": 6}, "kernel_size: expected patches smaller"),
        ({"max_displacement": -1}, "max_displacement: expected"),
        ({"stride": (1, 2, 3)}, "stride: expected"),
        ({"padding": -1}, "padding: expected"),
        ({"input1": one[0]}, "input1: expected"),
        ({"input2": one[:, :1]}, "input2"),
    ):
        given: dict[str, Any] = {"input1": one, "input2": one, **changes}
        with pytest.raises(ValueError, match=text):
            ours.correlation(**given)
