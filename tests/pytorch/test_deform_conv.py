"""deform_conv2d and modulated_deform_conv2d for PyTorch."""

from __future__ import annotations

from typing import Any

import pytest

torch: Any = pytest.importorskip("torch")

import pymluops.torch as ours  # noqa: E402


def _arguments(dtype: Any = None) -> dict[str, Any]:
    torch.manual_seed(4)
    shapes = {"input": (2, 4, 5, 4), "offset": (2, 24, 3, 3), "mask": (2, 12, 3, 3), "weight": (6, 2, 3, 2)}
    return {name: torch.randn(shape, dtype=dtype or torch.float64) for name, shape in shapes.items()}


_NUMBERS = {"stride": (2, 1), "padding": (1, 0), "dilation": (1, 1), "groups": 2, "deform_groups": 2}


def test_without_a_mask_it_is_one_of_ones() -> None:
    given = _arguments()
    ones = torch.ones_like(given["mask"])
    found = ours.deform_conv2d(given["input"], given["offset"], given["weight"], **_NUMBERS)
    assert torch.equal(found, ours.modulated_deform_conv2d(**{**given, "mask": ones}, **_NUMBERS))


def test_bias_and_its_gradient() -> None:
    given, bias = _arguments(), torch.arange(6.0, dtype=torch.float64, requires_grad=True)
    plain = ours.modulated_deform_conv2d(**given, **_NUMBERS)
    found = ours.modulated_deform_conv2d(**given, bias=bias, **_NUMBERS)
    assert torch.equal(found, plain + bias.detach()[:, None, None])
    found.sum().backward()
    assert bias.grad.tolist() == [18.0] * 6


def test_offsets_of_zero_give_a_convolution() -> None:
    given = _arguments()
    zeros, ones = torch.zeros_like(given["offset"]), torch.ones_like(given["mask"])
    found = ours.modulated_deform_conv2d(given["input"], zeros, ones, given["weight"], **_NUMBERS)
    numbers = {key: value for key, value in _NUMBERS.items() if key != "deform_groups"}
    torch.testing.assert_close(found, torch.nn.functional.conv2d(given["input"], given["weight"], **numbers))


def test_one_number_stands_for_both_axes() -> None:
    given = _arguments()
    square = {**given, "weight": torch.randn(4, 4, 1, 1).double(), "offset": torch.randn(2, 2, 3, 2).double()}
    square["mask"] = torch.randn(2, 1, 3, 2).double()
    found = ours.modulated_deform_conv2d(**square, stride=2)
    assert torch.equal(found, ours.modulated_deform_conv2d(**square, stride=(2, 2), padding=(0, 0)))


def test_refused_sizes() -> None:
    given = _arguments()
    for change in ({"stride": 1}, {"padding": 0}, {"dilation": (1, 3)}, {"dilation": 5}):
        with pytest.raises(ValueError, match="modulated_deform_conv2d: offset: expected "):
            ours.modulated_deform_conv2d(**given, **{**_NUMBERS, **change})
    for change in ({"stride": (1, 2, 3)}, {"padding": -1}, {"dilation": 0}):
        with pytest.raises(ValueError, match=f"modulated_deform_conv2d: {next(iter(change))}: expected "):
            ours.modulated_deform_conv2d(**given, **{**_NUMBERS, **change})
