"""masked_conv2d."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import pymluops.torch as ours


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("kernel", [(1, 1), (3, 2)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_values_of_a_convolution(dtype: torch.dtype, kernel: tuple[int, int], with_bias: bool) -> None:
    torch.manual_seed(3)
    maps, weight = torch.randint(-2, 3, (1, 3, 6, 5)).to(dtype), torch.randint(-2, 3, (4, 3, *kernel)).to(dtype)
    bias = torch.randint(-2, 3, (4,)).to(dtype) if with_bias else None
    mask = torch.rand(1, 6, 5) - 0.4
    found = ours.masked_conv2d(maps, mask, weight, bias, (1, 0))
    whole = torch.nn.functional.conv2d(
        maps.double(), weight.double(), bias if bias is None else bias.double(), 1, (1, 0)
    )
    kept = torch.zeros(whole.shape[2:], dtype=torch.bool)
    height, width = min(6, whole.shape[2]), min(5, whole.shape[3])
    kept[:height, :width] = mask[0, :height, :width] > 0
    assert found.dtype == dtype
    assert torch.equal(found.double(), torch.where(kept, whole, 0))


def test_module() -> None:
    layer = ours.MaskedConv2d(2, 4, 3, padding=1)
    maps, mask = torch.rand(1, 2, 5, 5), torch.ones(1, 5, 5)
    torch.testing.assert_close(layer(maps, mask), layer(maps))
    assert not layer(maps, torch.zeros(1, 5, 5)).any()
    assert layer(torch.rand(3, 2, 5, 5)).shape == (3, 4, 5, 5)
    for numbers in ({"groups": 2}, {"dilation": 2}, {"padding_mode": "circular", "padding": 1}, {"padding": "same"}):
        made: Any = numbers
        with pytest.raises(ValueError, match="MaskedConv2d: expected"):
            ours.MaskedConv2d(2, 4, 3, **made)(maps, mask)


def test_refused() -> None:
    maps, mask, weight = torch.rand(1, 2, 5, 5), torch.ones(1, 5, 5), torch.rand(4, 2, 3, 3)
    given: dict[str, Any] = {"features": maps, "mask": mask, "weight": weight}
    for changes, text in (
        ({"features": maps[0]}, "features: expected shape"),
        ({"features": torch.rand(2, 2, 5, 5)}, "features: expected shape"),
        ({"mask": mask[0]}, "mask: expected shape"),
        ({"mask": mask[:, :4]}, "mask: expected shape"),
        ({"weight": torch.rand(4, 3, 3, 3)}, "weight: expected shape"),
        ({"weight": torch.rand(4, 2, 6, 3)}, "weight: expected kernels smaller"),
        ({"stride": 2}, "stride: expected 1"),
        ({"stride": (1, 2)}, "stride: expected 1"),
        ({"padding": (1, 2, 3)}, "padding: expected an integer, or two, got"),
    ):
        with pytest.raises(ValueError, match=f"masked_conv2d: {text}"):
            ours.masked_conv2d(**{**given, **changes})


def test_a_gradient_is_refused() -> None:
    weight = torch.rand(4, 2, 3, 3, requires_grad=True)
    found = ours.masked_conv2d(torch.rand(1, 2, 5, 5), torch.ones(1, 5, 5), weight)
    with pytest.raises(NotImplementedError, match="masked_conv2d has no gradient"):
        found.sum().backward()
