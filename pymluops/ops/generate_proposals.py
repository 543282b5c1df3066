"""The best boxes of a region proposal network (arXiv:1506.01497), decoded, clipped and suppressed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pymluops import _arguments
from pymluops._core import Operator
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = ["generate_proposals_v2"]

_PROPOSALS = Operator(
    "mluOpGenerateProposalsV2",
    "generate_proposals_v2",
    (
        Tensor("scores", FLOAT32, "N H W A", positive="H W A"),
        Tensor("bbox_deltas", "scores", "N H W 4*A"),
        Tensor("im_shape", "scores", "N 2"),
        Tensor("anchors", "scores", "H W A 4"),
        Tensor("variances", "scores", "H W A 4"),
        Tensor("rpn_rois", "scores", "N*post_nms_top_n 4", output=True, zeroed=True),
        Tensor("rpn_roi_probs", "scores", "N*post_nms_top_n 1", output=True, zeroed=True),
        Tensor("rpn_rois_num", INT32, "N", output=True),
        Tensor("rpn_rois_batch_size", INT32, "1", output=True, zeroed=True),
    ),
    (
        Scalar("pre_nms_top_n", minimum=-(2**31)),
        Scalar("post_nms_top_n"),
        Scalar("nms_thresh", minimum=0, above=True, infinite=True),
        Scalar("min_size", infinite=True, nan=True),
        Scalar("eta", minimum=1, infinite=True, nan=True),
        Scalar("pixel_offset"),
    ),
    workspace="mluOpGetGenerateProposalsV2WorkspaceSize_v2",
)


#: The same for a threshold that falls, which `mluOpGenerateProposalsV2` refuses.
_ADAPTIVE = (
    Operator(
        "mluopsExtGenerateProposals",
        _PROPOSALS.name,
        _PROPOSALS.tensors,
        tuple(
            replace(scalar, minimum=0, above=True) if scalar.name == "eta" else scalar for scalar in _PROPOSALS.scalars
        ),
        workspace=_PROPOSALS.workspace,
    ),
)


def generate_proposals_v2(
    scores: Array,
    bbox_deltas: Array,
    im_shape: Array,
    anchors: Array,
    variances: Array,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = True,
    *,
    rpn_rois: Any = None,
    rpn_roi_probs: Any = None,
    rpn_rois_num: Any = None,
    rpn_rois_batch_size: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find the boxes of each image that a region proposal network gives the highest scores.

    Of each image the `pre_nms_top_n` anchors with the highest scores are looked at; of equal scores
    the first one counts as higher, and NaN is the highest. With o = 1 if `pixel_offset`, else 0, an
    anchor of width ``w = x2 - x1 + o`` about ``cx = x1 + w / 2``, deltas d and variances v becomes
    a box about ``cx + d0 * w * v0`` of width ``w * exp(min(d2 * v2, ln(1000 / 16)))``, and so along
    y; its last corner is less by o. The box is limited to the image. Those narrower or lower than
    ``max(min_size, 1)`` are left out, and with `pixel_offset` those with the centre outside of the
    image. From the highest score down, each box that is left is kept, and suppresses those whose
    intersection over union with it is above `nms_thresh`.

    Parameters
    ----------
    scores : array, shape [N, H, W, A], float32
        Scores of A anchors in each cell.
    bbox_deltas : array, shape [N, H, W, 4 * A], like `scores`
        Four deltas of each anchor.
    im_shape : array, shape [N, 2], like `scores`
        Heights and widths of the images.
    anchors : array, shape [H, W, A, 4], like `scores`
        x1, y1, x2, y2.
    variances : array, like `anchors`
        What deltas are multiplied by.
    pre_nms_top_n : int
        The most anchors of an image that are looked at; all if it is 0 or less.
    post_nms_top_n : int
        The most boxes of an image, >= 1.
    nms_thresh : float
        The largest overlap allowed, > 0.
    min_size : float
        The least width and height.
    eta : float
        If it is below 1, suppression is adaptive: a box is compared with all boxes that were kept,
        and after each one that is kept the threshold is multiplied by `eta`, as long as it is above
        0.5. > 0; from 1 on it has no effect. `mluOpGenerateProposalsV2` refuses less than 1, which
        only the CPU library takes, as `mluopsExtGenerateProposals`.
    pixel_offset : bool
        Whether corners are pixels that belong to the box.
    rpn_rois : array or DeviceArray, optional
        Where to write the boxes, shape [N * post_nms_top_n, 4], like `scores`. Rows behind the last
        box stay as they are.
    rpn_roi_probs : array or DeviceArray, optional
        Where to write their scores, shape [N * post_nms_top_n, 1], like `scores`.
    rpn_rois_num : array or DeviceArray, optional
        Where to write the numbers of boxes, shape [N], int32.
    rpn_rois_batch_size : array or DeviceArray, optional
        Where to write their sum, shape [1], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    rpn_rois : array or DeviceArray
        The boxes of all images one after the other, shape [N * post_nms_top_n, 4]; 0 behind them.
    rpn_roi_probs : array or DeviceArray
        Their scores, shape [N * post_nms_top_n, 1].
    rpn_rois_num : array or DeviceArray
        Boxes of each image, shape [N]. An image without one has a row of zeros, which counts.
    rpn_rois_batch_size : array or DeviceArray
        Boxes of all images, shape [1].

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Ren et al.: Faster R-CNN. 2015, arXiv:1506.01497.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> anchors = np.float32([[[[0, 0, 9, 9], [0, 0, 9, 8], [20, 20, 29, 24]]]])
    >>> arrays = np.float32([[[[0.5, 0.75, 0.25]]]]), np.zeros((1, 1, 1, 12), np.float32), np.float32([[40, 50]])
    >>> rois, _, counts, _ = pymluops.generate_proposals_v2(*arrays, anchors, np.ones_like(anchors))
    >>> rois[: counts[0]].tolist()
    [[0.0, 0.0, 9.0, 8.0], [20.0, 20.0, 29.0, 24.0]]
    """
    arrays = (scores, bbox_deltas, im_shape, anchors, variances)
    outputs = (rpn_rois, rpn_roi_probs, rpn_rois_num, rpn_rois_batch_size)
    numbers = (pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, eta, pixel_offset)
    adaptive = _arguments.real(_PROPOSALS, "eta", eta) < 1
    return (_ADAPTIVE[0] if adaptive else _PROPOSALS)(handle, (*arrays, *outputs), numbers)
