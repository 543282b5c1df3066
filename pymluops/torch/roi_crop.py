"""RoiCrop: the sampling of regions at the points of grids."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._function import TensorFunction, compiling
from pymluops.torch._library import TorchOperator

__all__ = ["roi_crop"]

_FORWARD = TorchOperator(described("roi_crop_forward"), folds=False, sample={"B": 2, "R": 4})
_BACKWARD = TorchOperator(described("roi_crop_backward"), folds=False, autocast=False, sample={"B": 2, "R": 4})
_FORWARD.differentiate(_BACKWARD, "grad_output", {"input": "out"}, linear=("input",))
_BACKWARD.differentiate(_FORWARD, "input", {"grad_output": "out"}, linear=("grad_output",))


def _formula(input: Tensor, grid: Tensor) -> Tensor:
    """Let each region have its image, and sample with PyTorch's own operator."""
    images = input.repeat_interleave(grid.shape[0] // input.shape[0], 0)
    points = torch.nan_to_num(grid.flip(-1), nan=-3.0, posinf=3.0, neginf=-3.0)
    return torch.nn.functional.grid_sample(images, points, align_corners=True)


_CROP = TensorFunction(
    _FORWARD,
    orders={"input": (0, 2, 3, 1), "out": (0, 3, 1, 2)},
    formula=_formula,
)


@_CROP
def roi_crop(input: Tensor, grid: Tensor) -> Tensor:
    """Sample feature maps bilinearly at the points of grids, one grid for each region.

    It is ``torch.nn.functional.grid_sample(..., align_corners=True)`` with y before x and several
    regions for an image: region n samples image ``n // (R // B)``. The gradient flows to `input`
    only.

    Parameters
    ----------
    input : Tensor, shape [B, C, H, W]
        Feature maps of B images; any floating type.
    grid : Tensor, shape [R, h, w, 2], like `input`
        The points of R regions, y first, -1 to 1 from the centre of the first pixel to that of the
        last one. B divides R; the regions of an image stand together. A point beside the map, or
        with a NaN, samples 0.

    Returns
    -------
    Tensor, shape [R, C, h, w]
        Like `input`, contiguous.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> features = torch.arange(9.0).reshape(1, 1, 3, 3)
    >>> grid = torch.tensor([[[[-1.0, -1.0], [0.0, 0.5], [1.0, 1.0]]]])
    >>> pymluops.torch.roi_crop(features, grid).flatten().tolist()
    [0.0, 4.5, 8.0]
    """
    return (_CROP.through_torch if compiling() else _CROP.direct)(input, grid)
