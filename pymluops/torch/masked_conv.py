"""A convolution of some cells of a map."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import Conv2d

from pymluops.ops._described import described
from pymluops.torch._library import TorchOperator
from pymluops.torch._pairs import pair

__all__ = ["MaskedConv2d", "masked_conv2d"]

_NO_GRADIENT = "masked_conv2d has no gradient; mmcv has none either"
_IM2COL = TorchOperator(
    described("masked_im2col_forward"),
    folds=False,
    sample={"C": 2, "H": 4, "W": 3, "mask_h_idx": [0, 3, 2], "mask_w_idx": [2, 0, 3], "K": 3},
)
_COL2IM = TorchOperator(
    described("masked_col2im_forward"),
    folds=False,
    sample={"C": 2, "H": 4, "W": 3, "mask_h_idx": [0, 3, 2], "mask_w_idx": [2, 0, 3], "K": 3},
)
_IM2COL.refuse_gradient(_NO_GRADIENT)
_COL2IM.refuse_gradient(_NO_GRADIENT)


_IM2COL_IN_C = "mluOpMaskedIm2colForward"


def masked_conv2d(
    features: Tensor,
    mask: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    padding: int | tuple[int, int] = 0,
    stride: int | tuple[int, int] = 1,
) -> Tensor:
    """Compute a convolution where a mask is positive; the result is 0 elsewhere.

    The mask only saves work: values are those of ``torch.nn.functional.conv2d``. The function is
    for inference, and has no gradient.

    Parameters
    ----------
    features : Tensor, shape [1, C, H, W]
        The map of one image; any floating type.
    mask : Tensor, shape [1, H, W]
        Where the result is wanted, like the map: cells beyond the result are left out.
    weight : Tensor, shape [out, C, kh, kw], like `features`
        The filter.
    bias : Tensor, shape [out], like `features`, optional
        What is added where the mask is positive.
    padding : int or (int, int)
        Rows and columns of zeros around the map.
    stride : int or (int, int)
        1, as in mmcv.

    Returns
    -------
    Tensor, shape [1, out, H + 2 * padding - kh + 1, W + 2 * padding - kw + 1]
        Like `features`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Wang et al.: Region Proposal by Guided Anchoring. CVPR 2019, arXiv:1901.03278.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> maps, weight = torch.ones(1, 1, 2, 3), torch.ones(1, 1, 3, 3)
    >>> mask = torch.tensor([[[1, 0, 0], [0, 1, 0]]])
    >>> pymluops.torch.masked_conv2d(maps, mask, weight, padding=1).tolist()
    [[[[4.0, 0.0, 0.0], [0.0, 6.0, 0.0]]]]
    """
    if features.ndim != 4 or features.shape[0] != 1:
        raise ValueError(f"masked_conv2d: features: expected shape [1, C, H, W], got {[*features.shape]}")
    if mask.shape != (1, *features.shape[2:]):
        raise ValueError(f"masked_conv2d: mask: expected shape {[1, *features.shape[2:]]}, got {[*mask.shape]}")
    if weight.ndim != 4 or weight.shape[1] != features.shape[1]:
        raise ValueError(
            f"masked_conv2d: weight: expected shape [out, {features.shape[1]}, kh, kw], got {[*weight.shape]}"
        )
    if pair("masked_conv2d", _IM2COL_IN_C, stride, "stride") != (1, 1):
        raise ValueError(f"masked_conv2d: stride: expected 1, got {stride}")
    kernel, padding = weight.shape[2:], pair("masked_conv2d", _IM2COL_IN_C, padding, "padding", 0)
    size = [features.shape[2 + i] + 2 * padding[i] - kernel[i] + 1 for i in range(2)]
    if min(size) < 1:
        raise ValueError(f"masked_conv2d: weight: expected kernels smaller than the map, got {[*weight.shape]}")
    rows, columns = torch.nonzero(mask[0] > 0, as_tuple=True)
    if not rows.numel():
        return features.new_zeros((1, weight.shape[0], *size))
    windows = _IM2COL(features, rows, columns, *kernel, *padding)
    found = weight.reshape(weight.shape[0], -1) @ windows
    if bias is not None:
        found = found + bias[:, None]
    result: Tensor = _COL2IM(found, rows, columns, *size)
    return result


class MaskedConv2d(Conv2d):
    """A convolution with `masked_conv2d` where a mask is given, like `mmcv.ops.MaskedConv2d`.

    Parameters
    ----------
    *args, **kwargs
        As of `torch.nn.Conv2d`; with a mask, dilation and groups are 1, and padding is of zeros.

    Raises
    ------
    ValueError
        If a mask is given and the convolution has other dilations, groups or ways of padding.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.MaskedConv2d(2, 4, 3, padding=1)
    >>> layer(torch.rand(1, 2, 5, 5), torch.ones(1, 5, 5)).shape
    torch.Size([1, 4, 5, 5])
    """

    def forward(self, input: Tensor, mask: Tensor | None = None) -> Any:
        """Return the convolution of the map, where the mask is positive if there is one."""
        if mask is None:
            return super().forward(input)
        if self.groups != 1 or {*self.dilation} != {1} or self.padding_mode != "zeros" or isinstance(self.padding, str):
            raise ValueError("MaskedConv2d: expected groups and dilation of 1 and padding by a number with a mask")
        padding, stride = (self.padding[0], self.padding[1]), (self.stride[0], self.stride[1])
        return masked_conv2d(input, mask, self.weight, self.bias, padding, stride)
