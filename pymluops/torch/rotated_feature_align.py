"""RotatedFeatureAlign: feature maps plus their samples at the centres and corners of turned boxes."""

from __future__ import annotations

from typing import cast

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator
from pymluops.torch._region_formulas import bilinear_samples

__all__ = ["rotated_feature_align"]

_SAMPLE = {"H": 3, "W": 4, "spatial_scale": 1.0}
_FORWARD = TorchOperator(described("rotated_feature_align_forward"), sample=_SAMPLE)
_BACKWARD = TorchOperator(described("rotated_feature_align_backward"), autocast=False, sample=_SAMPLE)
_FORWARD.differentiate(_BACKWARD, "top_output", {"input": "out"}, linear=("input",))
_BACKWARD.differentiate(_FORWARD, "input", {"top_output": "out"}, linear=("top_output",))


def _formula(features: Tensor, best_rbboxes: Tensor, spatial_scale: float, points: int) -> Tensor:
    """Sample each image at all places of its boxes, and add up those of a pixel."""
    y, x, width, height = (best_rbboxes[..., i] * spatial_scale for i in range(4))
    places_y, places_x = y[..., None], x[..., None]
    if points != 1:
        sine, cosine = best_rbboxes[..., 4].sin(), best_rbboxes[..., 4].cos()
        right, down = (sine * width / 2, cosine * width / 2), (cosine * height / 2, -sine * height / 2)
        signs = ((1, 1), (-1, 1), (-1, -1), (1, -1))
        places_y = torch.stack([y, *(y + a * right[0] + b * down[0] for a, b in signs)], -1)
        places_x = torch.stack([x, *(x + a * right[1] + b * down[1] for a, b in signs)], -1)
    image = torch.arange(features.shape[0]).to(features.dtype)
    return features + bilinear_samples(features, image, places_y, places_x).sum(-1)


_ALIGN = TensorFunction(_FORWARD, orders={"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)}, formula=_formula)


@_ALIGN
def rotated_feature_align(
    features: Tensor, best_rbboxes: Tensor, spatial_scale: float = 1 / 8, points: int = 1
) -> Tensor:
    """Add to each pixel of feature maps the samples at the centre, or the centre and the corners, of its box.

    The places are described with `pymluops.rotated_feature_align_forward`. The gradient flows to
    `features` only.

    Parameters
    ----------
    features : Tensor, shape [B, C, H, W]
        Feature maps of B images; any floating type.
    best_rbboxes : Tensor, shape [B, H, W, 5], like `features`
        A box for each pixel: y and x of the centre, width, height in pixels of the image, angle in
        radians.
    spatial_scale : float
        Size of the map divided by the size of the image, > 0.
    points : {1, 5}
        Sample the centre, or the centre and the four corners.

    Returns
    -------
    Tensor, shape [B, C, H, W]
        Like `features`, contiguous.

    Raises
    ------
    ValueError
        If an argument is not as described.

    References
    ----------
    Yang et al.: R3Det: Refined Single-Stage Detector with Feature Refinement for Rotating Object.
    AAAI 2021, arXiv:1908.05612.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features, boxes = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), torch.zeros(1, 2, 2, 5)
    >>> boxes[..., 1] = 0.5
    >>> pymluops.torch.rotated_feature_align(features, boxes, 1.0).flatten().tolist()
    [2.5, 3.5, 4.5, 5.5]
    """
    arguments = (features, best_rbboxes, spatial_scale, points)
    return cast("Tensor", (_ALIGN.through_torch if compiling() else _ALIGN.direct)(*arguments))
