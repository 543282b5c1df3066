"""The functions of mmcv's extension for deform_conv and modulated_deform_conv."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import deform_conv as oracle
from pymluops.oracle.deform_conv import Inputs, Numbers

from .values import any_strides, every_dtype, exact, laid, near, tensor

_FIRST, _LAST = (0, 3, 1, 2), (0, 2, 3, 1)
_NUMBERS = Numbers((2, 1), (1, 0), (1, 2), 2, 2)


def problem(torch: Any, dtype: str) -> dict[str, Any]:
    """Small integers and quarters, which every type has exactly, channels first."""
    rng = np.random.default_rng(2)
    arrays = {
        "input": rng.integers(-3, 4, (2, 4, 6, 5)),
        "weight": rng.integers(-2, 3, (6, 2, 3, 2)),
        "offset": rng.integers(-6, 7, (2, 24, 3, 3)) / 4,
        "mask": rng.integers(0, 5, (2, 12, 3, 3)) / 4,
        "grad": rng.integers(-2, 3, (2, 6, 3, 3)),
        "bias": rng.integers(-3, 4, 6),
    }
    return {name: tensor(torch, array, dtype) for name, array in arrays.items()}


def expected(t: dict[str, Any], modulated: bool) -> list[np.ndarray]:
    """The result, and the gradients of input, offset, mask and weight, channels first."""
    weight, maps, offset, mask, grad = (
        exact(t[name]).transpose(_LAST) for name in ("weight", "input", "offset", "mask", "grad")
    )
    inputs = Inputs(weight, maps, offset, mask if modulated else np.ones_like(mask))
    found = [oracle.forward(inputs, _NUMBERS), *oracle.backward(inputs, _NUMBERS, grad)]
    return [array.transpose(_FIRST) for array in found]


#: kW, kH, dW, dH, padW, padH, dilationW, dilationH, group, deformable_group: width comes first.
PLAIN = (2, 3, 1, 2, 0, 1, 2, 1, 2, 2)
MODULATED = (3, 2, 2, 1, 1, 0, 1, 2, 2, 2)


@every_dtype
@any_strides
def test_deform_conv(torch: Any, ext: ModuleType, dtype: str, strided: bool) -> None:
    t = problem(torch, dtype)
    wanted = expected(t, modulated=False)
    given = {name: laid(torch, values, strided) if values.ndim == 4 else values for name, values in t.items()}
    nothing = torch.empty(0, dtype=t["input"].dtype)
    output = laid(torch, torch.full_like(t["grad"], 9), strided)
    ext.deform_conv_forward(
        given["input"], given["weight"], given["offset"], output, nothing, nothing, *PLAIN, im2col_step=64
    )
    near(torch, output, wanted[0], dtype)
    gradients = [laid(torch, torch.full_like(t[name], 9), strided) for name in ("input", "offset", "weight")]
    ext.deform_conv_backward_input(
        *(given["input"], given["offset"], given["grad"], gradients[0], gradients[1], given["weight"], nothing),
        *PLAIN,
        im2col_step=3,
    )
    ext.deform_conv_backward_parameters(
        given["input"], given["offset"], given["grad"], gradients[2], nothing, nothing, *PLAIN, scale=2, im2col_step=1
    )
    for found, want in zip(gradients, (wanted[1], wanted[2], 2 * wanted[4]), strict=True):
        near(torch, found, want, dtype)


@every_dtype
@pytest.mark.parametrize("with_bias", [True, False])
def test_modulated_deform_conv(torch: Any, ext: ModuleType, dtype: str, with_bias: bool) -> None:
    t = problem(torch, dtype)
    wanted = expected(t, modulated=True)
    nothing = torch.empty(0, dtype=t["input"].dtype)
    bias = t["bias"] if with_bias else nothing
    output = torch.full_like(t["grad"], 9)
    ext.modulated_deform_conv_forward(
        t["input"], t["weight"], bias, nothing, t["offset"], t["mask"], output, nothing, *MODULATED, with_bias
    )
    near(torch, output, wanted[0] + (exact(bias)[:, None, None] if with_bias else 0), dtype)
    names = ("input", "weight", "bias", "offset", "mask")
    made = {name: torch.full_like(t[name], 9) for name in names}
    ext.modulated_deform_conv_backward(
        *(t["input"], t["weight"], bias, nothing, t["offset"], t["mask"], nothing),
        *(made["input"], made["weight"], made["bias"], made["offset"], made["mask"], t["grad"]),
        *MODULATED,
        with_bias,
    )
    for name, want in zip(("input", "offset", "mask", "weight"), wanted[1:], strict=True):
        near(torch, made[name], want, dtype)
    near(torch, made["bias"], exact(t["grad"]).sum((0, 2, 3)) if with_bias else np.full(6, 9.0), dtype)


def test_no_maps(torch: Any, ext: ModuleType) -> None:
    """Results stay empty, and gradients of what all maps share become 0."""
    t = problem(torch, "float32")
    none = {name: values[:0] if name not in ("weight", "bias") else values for name, values in t.items()}
    nothing = torch.empty(0)
    ext.deform_conv_forward(none["input"], t["weight"], none["offset"], none["grad"], nothing, nothing, *PLAIN, 1)
    weight = torch.full_like(t["weight"], 9)
    ext.deform_conv_backward_parameters(
        none["input"], none["offset"], none["grad"], weight, nothing, nothing, *PLAIN, 1.0, 1
    )
    assert not weight.any()


def test_refused_shapes_and_numbers(torch: Any, ext: ModuleType) -> None:
    t, nothing = problem(torch, "float32"), torch.empty(0)
    names = ("input", "weight", "bias", "ones", "offset", "mask", "output", "columns")
    numbers = ("kernel_h", "kernel_w", "stride_h", "stride_w", "pad_h", "pad_w", "dilation_h", "dilation_w")
    numbers = (*numbers, "group", "deformable_group")
    good = dict(zip(numbers, MODULATED, strict=True)) | {name: t.get(name, nothing) for name in names}
    good |= {"output": torch.full_like(t["grad"], 9), "with_bias": True}
    ext.modulated_deform_conv_forward(**good)
    good["output"].fill_(9)
    changes: dict[str, list[Any]] = {
        "input": [t["input"][0], t["input"][:, :3], t["input"].double(), t["input"].long()],
        "weight": [t["weight"][:5], t["weight"][..., :1], t["weight"][0]],
        "offset": [t["offset"][:, :22], t["offset"][:1], t["offset"][..., :2]],
        "mask": [t["mask"][:, :11], t["mask"][..., :2]],
        "bias": [t["bias"][:5]],
        "stride_h": [0, 1],
        "pad_w": [-1],
        "dilation_w": [0, 9],
        "group": [0, 3],
        "deformable_group": [0, 3],
    }
    for name, wrong in changes.items():
        for value in wrong:
            with pytest.raises(RuntimeError, match=r"^modulated_deform_conv_forward: \w+: expected "):
                ext.modulated_deform_conv_forward(**{**good, name: value})
            assert (good["output"] == 9).all()
