"""generate_proposals_v2: decoded and suppressed boxes, step by step in the type of the scores; exp in float64."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.enums import DataType
from pymluops.oracle.plane_boxes import overlaps
from pymluops.oracle.refusals import Check, Refusals, bad
from pymluops.oracle.ways import Way

#: The older function for the size of the workspace: the description names the other one.
TESTED_APART = ("mluOpGetGenerateProposalsV2WorkspaceSize", "mluopsExtGenerateProposals")
#: A box that is not far from a threshold is kept or left out as numbers are rounded.
SUMS = ("generate_proposals_v2",)
MOST_GROWTH = 4.135166556742356


def _along(low: Any, high: Any, deltas: Any, variances: Any, limit: Any, o: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both ends of boxes along x or y; `deltas` and `variances` are those of place and size."""
    real = low.dtype.type
    size = high - low + o
    centre = low + size / 2 + deltas[0] * size * variances[0]
    exponent = deltas[1] * variances[1]
    exponent = np.where(exponent > real(MOST_GROWTH), real(MOST_GROWTH), exponent)
    half = size * np.exp(exponent.astype(np.float64)).astype(low.dtype) / 2
    ends = []
    for end in (centre - half, centre + half - o):
        below = np.where(end > limit - o, limit - o, end)
        ends.append(np.where(below < 0, real(0), below))
    return ends[0], ends[1]


def decoded(anchors: Any, variances: Any, deltas: Any, shape: Any, pixel_offset: bool) -> np.ndarray:
    """Boxes of rows of anchors, [K, 4]."""
    o = anchors.dtype.type(1 if pixel_offset else 0)
    a, v, d = anchors.T, variances.T, deltas.T
    with np.errstate(all="ignore"):
        x1, x2 = _along(a[0], a[2], d[[0, 2]], v[[0, 2]], shape[1], o)
        y1, y2 = _along(a[1], a[3], d[[1, 3]], v[[1, 3]], shape[0], o)
    return np.stack([x1, y1, x2, y2], 1)


def _adaptive(boxes: np.ndarray, post: int, threshold: Any, eta: Any, o: int) -> list[int]:
    """The boxes that overlap none of those kept before, by a threshold that falls with each of these."""
    kept: list[int] = []
    for i in range(len(boxes)):
        if len(kept) < post and not (overlaps(boxes[i], boxes[kept], o) > threshold).any():
            kept.append(i)
            threshold = threshold * eta if threshold > 0.5 else threshold
    return kept


def one_image(
    scores: Any, deltas: Any, shape: Any, anchors: Any, variances: Any,
    pre: int, post: int, threshold: float, min_size: float, eta: float, pixel_offset: bool,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Boxes [K, 4] and scores [K]."""
    real = scores.dtype.type
    o = real(1 if pixel_offset else 0)
    order = np.lexsort([np.arange(len(scores)), -scores, ~np.isnan(scores)])
    order = order[:pre] if pre > 0 else order
    boxes = decoded(anchors[order], variances[order], deltas[order], shape, pixel_offset)
    with np.errstate(all="ignore"):
        w, h = boxes[:, 2] - boxes[:, 0] + o, boxes[:, 3] - boxes[:, 1] + o
        least = real(max(1.0, min_size) if min_size == min_size else 1)
        valid = (w >= least) & (h >= least)
        if pixel_offset:
            valid &= (boxes[:, 0] + w / 2 <= shape[1]) & (boxes[:, 1] + h / 2 <= shape[0])
    boxes, found = boxes[valid], scores[order][valid]
    if eta < 1:
        kept = _adaptive(boxes, post, real(threshold), real(eta), int(o))
        left = np.arange(0)
    else:
        left, kept = np.arange(len(boxes)), []
    while len(left) and len(kept) < post:
        best, left = left[0], left[1:]
        kept.append(best)
        left = left[~(overlaps(boxes[best], boxes[left], int(o)) > real(threshold))]
    if not kept:
        return np.zeros((1, 4), scores.dtype), np.zeros(1, scores.dtype)
    return boxes[kept], found[kept]


def proposals(
    scores: np.ndarray,
    deltas: np.ndarray,
    im_shape: np.ndarray,
    anchors: np.ndarray,
    variances: np.ndarray,
    pre: int,
    post: int,
    threshold: float,
    min_size: float,
    eta: float,
    pixel_offset: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """All outputs; rows behind the last box are 0."""
    batch = len(scores)
    rois, probs = np.zeros((batch * post, 4), scores.dtype), np.zeros((batch * post, 1), scores.dtype)
    counts, total = np.zeros(batch, np.int32), 0
    for i in range(batch):
        rows = (scores[i].reshape(-1), deltas[i].reshape(-1, 4), im_shape[i])
        tables = (anchors.reshape(-1, 4), variances.reshape(-1, 4))
        boxes, found = one_image(*rows, *tables, pre, post, threshold, min_size, eta, pixel_offset)
        rois[total : total + len(boxes)], probs[total : total + len(boxes), 0] = boxes, found
        counts[i] = len(boxes)
        total += len(boxes)
    return rois, probs, counts, np.array([total], np.int32)


def in_double(_name: str, *given: Any) -> Any:
    """The results for float64 scores."""
    return proposals(*given)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let anchors lie in the images, deltas be small, and some scores be equal."""
    corners = rng.uniform(0, 60, (*arguments["anchors"].shape[:-1], 2))
    arguments["anchors"][...] = np.concatenate([corners, corners + rng.uniform(4, 30, corners.shape)], -1)
    arguments["variances"][...] = rng.uniform(0.1, 1, arguments["variances"].shape)
    arguments["bbox_deltas"][...] = rng.normal(0, 0.3, arguments["bbox_deltas"].shape)
    arguments["scores"][...] = np.round(rng.uniform(0, 1, arguments["scores"].shape), 2)
    arguments["im_shape"][...] = rng.uniform(50, 90, arguments["im_shape"].shape)
    arguments.update(nms_thresh=0.5, min_size=2.0, eta=1.0)


def ways(size: int) -> Iterator[Way]:
    """All anchors, and some of them."""
    scalars = {"nms_thresh": 0.5, "min_size": 1.0, "eta": 1.0, "pixel_offset": True}
    sizes = {"N": 2, "H": 5, "W": 10 * size, "A": 3, "post_nms_top_n": 50 * size}
    for label, most in (("all", 0), ("some", 60 * size)):
        yield Way("generate_proposals_v2", label, {**sizes, "pre_nms_top_n": most}, scalars, change=prepare)


def _size_checks(problem: Any, _sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """Scores may be those of the function in double."""
    allowed = ("FLOAT", "DOUBLE", DataType.FLOAT, DataType.DOUBLE)
    return {"real": [bad(problem.tensors["scores"].dtype in allowed, "scores_desc")]}


_SIZE = Refusals(
    order="handle objects pointer real layouts ranks positive indexable",
    layouts={"scores": ("ARRAY",)}, checks=_size_checks,
)  # fmt: skip
_ARRAYS = ("scores", "bbox_deltas", "im_shape", "anchors", "variances", "rpn_rois", "rpn_roi_probs", "rpn_rois_num")
REFUSALS = {
    "mluOpGenerateProposalsV2": Refusals(
        order="handle objects:scores objects:bbox_deltas objects:im_shape objects:anchors objects:variances numbers "
        "objects types layouts ranks scalars:post_nms_top_n shapes positive "
        "packed empty data workspace scalars indexable aligned overlap",
        layouts=dict.fromkeys(_ARRAYS, ("ARRAY",)),
        empty={"N": ""},
        needs_workspace=False,
    ),
    "mluOpGetGenerateProposalsV2WorkspaceSize_v2": _SIZE,
}
