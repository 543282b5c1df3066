"""NmsRotated: suppression of rotated boxes."""

from __future__ import annotations

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._kept import kept_numbers
from pymluops.torch._library import TorchOperator
from pymluops.torch._numbers import flag

__all__ = ["nms_rotated"]

_SUPPRESSION = TorchOperator(described("nms_rotated"), folds=False, sample={"D": 5, "iou_threshold": 0.3})
_SUPPRESSION.without_gradient()


def nms_rotated(
    dets: Tensor, scores: Tensor, iou_threshold: float, labels: Tensor | None = None, clockwise: bool = True
) -> tuple[Tensor, Tensor]:
    """Keep the boxes that no kept box with a higher score overlaps too much.

    From the highest score down, each box that is left is kept, and suppresses all others whose
    intersection over union with it is above `iou_threshold`, as in mmcv for CUDA; mmcv for a CPU
    suppresses at the threshold itself too. Of equal scores the first one counts as higher. A box
    with a score of minus infinity or NaN is not kept.

    Parameters
    ----------
    dets : Tensor, shape [N, 5]
        Boxes: x and y of the centre, width, height, and the angle in radians; any floating type.
    scores : Tensor, shape [N], like `dets`
        Their scores.
    iou_threshold : float
        The largest overlap allowed.
    labels : Tensor, optional
        Not looked at, as in mmcv: to suppress within classes only, move the boxes of each class far
        from the others.
    clockwise : bool
        Whether positive angles turn clockwise, with y pointing down. The overlap is the same.

    Returns
    -------
    dets : Tensor, shape [K, 6]
        The kept boxes in the order of their scores, which are the last column. The gradient flows
        to both arguments.
    keep : Tensor, shape [K], int64
        Their numbers.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> dets = torch.tensor([[0.0, 0, 4, 2, 0], [0, 0, 4, 2, 0.1], [9, 0, 4, 2, 0]])
    >>> pymluops.torch.nms_rotated(dets, torch.tensor([0.5, 0.8, 0.6]), 0.5)[1].tolist()
    [1, 2]
    """
    turned = dets if flag("nms_rotated", "clockwise", clockwise) else dets * dets.new_tensor([1, 1, 1, 1, -1])
    keep = kept_numbers(_SUPPRESSION(turned, scores, iou_threshold))
    return torch.cat([dets[keep], scores[keep, None]], 1), keep
