"""Correlation: products of patches of two maps at several displacements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule, is_overridden, override, sizes
from pymluops.torch._numbers import whole
from pymluops.torch._pairs import pair

__all__ = ["Correlation", "correlation"]

_PAIRS = "kernel_h kernel_w stride_h stride_w pad_h pad_w dilation_h dilation_w dilation_patch_h dilation_patch_w"
_SAMPLE = {
    **dict.fromkeys(_PAIRS.split(), 1), "kernel_h": 3, "stride_w": 2, "dilation_patch_w": 2,
    "patch_h": 3, "patch_w": 3, "C": 3, "H": 5, "W": 6, "Ho": 5, "Wo": 4,
}  # fmt: skip
_FORWARD = TorchOperator(described("correlation_forward"), sample=_SAMPLE)
_BACKWARD = TorchOperator(described("correlation_backward"), autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input1": "grad_input1", "input2": "grad_input2"})
_BACKWARD.refuse_gradient("the gradient of correlation cannot be differentiated again")


def _formula(
    input1: Tensor, input2: Tensor, kernel_h: int, kernel_w: int, patch_h: int, patch_w: int, stride_h: int,
    stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int, dilation_patch_h: int,
    dilation_patch_w: int, *_: int,
) -> Tensor:  # fmt: skip
    """Multiply with displaced maps, and add up the cells of kernels with a convolution by ones."""
    batch, channels, height, width = input1.shape
    far_h, far_w = dilation_patch_h * patch_h, dilation_patch_w * patch_w
    # Not by `pad`, which the exporter of traces warns of.
    above, beside = (
        input2.new_zeros((batch, channels, rows, columns))
        for rows, columns in ((far_h, width), (height + 2 * far_h, far_w))
    )
    wide = torch.cat([beside, torch.cat([above, input2, above], 2), beside], 3)
    top, left = far_h - dilation_patch_h * (patch_h - 1) // 2, far_w - dilation_patch_w * (patch_w - 1) // 2
    products = [
        (input1 * wide[:, :, y : y + height, x : x + width]).sum(1)
        for y in range(top, top + dilation_patch_h * patch_h, dilation_patch_h)
        for x in range(left, left + dilation_patch_w * patch_w, dilation_patch_w)
    ]
    planes = torch.stack(products, 1).reshape(batch * patch_h * patch_w, 1, height, width)
    ones = torch.ones(1, 1, kernel_h, kernel_w).to(input1.dtype)
    sums = torch.nn.functional.conv2d(
        planes, ones, None, (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w)
    )
    return sums.reshape(batch, patch_h, patch_w, sums.shape[2], sums.shape[3])


def _public(
    input1: Tensor, input2: Tensor, kernel_h: int, kernel_w: int, patch_h: int, _patch_w: int, stride_h: int,
    stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int, dilation_patch_h: int,
    dilation_patch_w: int, *_: int,
) -> tuple[Any, ...]:  # fmt: skip
    pairs = (stride_h, stride_w), (pad_h, pad_w), (dilation_h, dilation_w), (dilation_patch_h, dilation_patch_w)
    return input1, input2, (kernel_h, kernel_w), (patch_h - 1) // 2, *pairs


_CORRELATION = TensorFunction(_FORWARD, public=_public, formula=_formula)


def _pair(name: str, value: int | Sequence[int], least: int = 1) -> tuple[int, int]:
    return pair("correlation", "mluopsExtCorrelationForward", value, name, least)


@_CORRELATION
def correlation(
    input1: Tensor,
    input2: Tensor,
    kernel_size: int | Sequence[int] = 1,
    max_displacement: int = 1,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    dilation_patch: int | Sequence[int] = 1,
) -> Tensor:
    """Multiply patches of maps with patches of other maps, at several displacements.

    `pymluops.correlation_forward` describes the sums; there are ``2 * max_displacement + 1``
    displacements along each axis. The gradient flows to both inputs, first order.

    Parameters
    ----------
    input1 : Tensor, shape [B, C, H, W]
        The first maps; any floating type.
    input2 : Tensor, shape [B, C, H, W], like `input1`
        The second maps.
    kernel_size : int or (int, int)
        Height and width of the patches.
    max_displacement : int
        How many displacements there are in each direction, at least 0.
    stride : int or (int, int)
        Pixels between results.
    padding : int or (int, int)
        Rows of zeros above and below the maps, columns left and right of them.
    dilation : int or (int, int)
        Pixels between the cells of a patch.
    dilation_patch : int or (int, int)
        Pixels between displacements.

    Returns
    -------
    Tensor, shape [B, 2 * max_displacement + 1, 2 * max_displacement + 1, Ho, Wo]
        Like `input1`; Ho and Wo are those of a convolution.

    Raises
    ------
    ValueError
        If an argument is not as described, or no patch lies in the padded maps.

    References
    ----------
    Dosovitskiy et al.: FlowNet: Learning Optical Flow with Convolutional Networks. ICCV 2015,
    arXiv:1504.06852.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> one, other = torch.tensor([[[[1.0, 2.0, 3.0]]]]), torch.tensor([[[[4.0, 5.0, 6.0]]]])
    >>> pymluops.torch.correlation(one, other)[0, 1, :, 0].tolist()
    [[0.0, 8.0, 15.0], [4.0, 10.0, 18.0], [5.0, 12.0, 0.0]]
    """
    if not compiling() and is_overridden((input1, input2)):  # sizes are no numbers then
        numbers = (kernel_size, max_displacement, stride, padding, dilation, dilation_patch)
        return cast("Tensor", override(correlation, (input1, input2), input1, input2, *numbers))
    shape = input1.shape if compiling() else sizes(input1)
    if len(shape) != 4:
        raise ValueError(f"correlation: input1: expected shape [B, C, H, W], got {[*shape]}")
    max_displacement = whole("correlation", "max_displacement", max_displacement)
    kernel, strides = _pair("kernel_size", kernel_size), _pair("stride", stride)
    pads, dilations = _pair("padding", padding, 0), _pair("dilation", dilation)
    patch, steps = 2 * max_displacement + 1, _pair("dilation_patch", dilation_patch)
    height, width = (
        (shape[2 + i] + 2 * pads[i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(2)
    )
    if not compiling() and min(height, width) < 1:
        raise ValueError(f"correlation: kernel_size: expected patches smaller than the padded maps, got {kernel_size}")
    given = (*kernel, patch, patch, *strides, *pads, *dilations, *steps, height, width)
    call = _CORRELATION.through_torch if compiling() else _CORRELATION.direct
    return cast("Tensor", call(input1, input2, *given))


class Correlation(TracedModule):
    """The products of `correlation`, as a layer, like `mmcv.ops.Correlation`.

    Parameters
    ----------
    kernel_size : int
        Height and width of the patches.
    max_displacement : int
        How many displacements there are in each direction.
    stride, padding, dilation, dilation_patch : int
        As of `correlation`.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.Correlation(max_displacement=4)
    >>> layer(torch.rand(1, 3, 6, 5), torch.rand(1, 3, 6, 5)).shape
    torch.Size([1, 9, 9, 6, 5])
    """

    def __init__(
        self,
        kernel_size: int = 1,
        max_displacement: int = 1,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        dilation_patch: int = 1,
    ) -> None:
        super().__init__()
        self.kernel_size, self.max_displacement, self.stride = kernel_size, max_displacement, stride
        self.padding, self.dilation, self.dilation_patch = padding, dilation, dilation_patch

    def forward(self, input1: Tensor, input2: Tensor) -> Tensor:
        """Return the products of the maps."""
        numbers = (self.kernel_size, self.max_displacement, self.stride, self.padding, self.dilation)
        return correlation(input1, input2, *numbers, self.dilation_patch)

    def extra_repr(self) -> str:
        """Return the numbers, for the text of the module."""
        return (
            f"kernel_size={self.kernel_size}, max_displacement={self.max_displacement}, stride={self.stride}, "
            f"padding={self.padding}, dilation={self.dilation}, dilation_patch={self.dilation_patch}"
        )
