"""nms, nms2d, soft_nms and nms_match: boxes in a plane that a better one overlaps too much.

Everything is computed in the type of the boxes, step by step; half in float32. Exponentials are
rounded from those in float64.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.oracle.plane_boxes import overlaps, random_boxes
from pymluops.oracle.refusals import Check, Refusals, bad, unsupported
from pymluops.oracle.ways import Way

#: What the descriptor of ``mluOpNms`` is set to, but for the number of picks.
THRESHOLD, LEAST_SCORE = 0.375, 0.125


def ranked(scores: np.ndarray) -> np.ndarray:
    """The numbers of scores above minus infinity, from the highest on; of equal ones the first comes first."""
    numbers = np.flatnonzero(scores > -np.inf)
    return numbers[np.argsort(-scores[numbers], kind="stable")]


def suppression(
    boxes: np.ndarray,
    scores: np.ndarray,
    threshold: float,
    offset: int = 0,
    least_score: float = -np.inf,
    most: int | None = None,
) -> list[int]:
    """The numbers of the kept boxes."""
    limit = boxes.dtype.type(threshold)
    left = np.array([i for i in ranked(scores) if scores[i] > least_score], np.int64)
    kept: list[int] = []
    while len(left) and (most is None or len(kept) < most):
        best, left = left[0], left[1:]
        kept.append(int(best))
        left = left[~(overlaps(boxes[best], boxes[left], offset) > limit)]
    return kept


def corners(boxes: np.ndarray, centred: bool) -> np.ndarray:
    """Boxes as ``mluOpNms`` compares them: float, from the upper left corner to the lower right one."""
    boxes = boxes.astype(np.float32) if boxes.dtype == np.float16 else boxes
    if centred:
        half = boxes[..., 2:] / boxes.dtype.type(2)
        return np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], -1)
    first, last = boxes[..., :2], boxes[..., 2:]
    return np.concatenate([np.where(last < first, last, first), np.where(first < last, last, first)], -1)


def match(dets: np.ndarray, threshold: float) -> tuple[list[int], list[int]]:
    """For each box the one that it belongs to, and the order of scores, with NaN first."""
    boxes, scores = dets[:, :4], np.where(np.isnan(dets[:, 4]), np.inf, dets[:, 4].astype(np.float64))
    limit = dets.dtype.type(threshold)
    order = np.lexsort([np.arange(len(dets)), -scores, ~np.isnan(dets[:, 4])])
    matches, left = np.arange(len(dets)), order
    while len(left):
        best, left = left[0], left[1:]
        near = overlaps(boxes[best], boxes[left]) >= limit
        matches[left[near]] = best
        left = left[~near]
    return matches.tolist(), order.tolist()


def soft(
    boxes: np.ndarray, scores: np.ndarray, threshold: float, sigma: float, min_score: float, method: int, offset: int
) -> tuple[np.ndarray, list[int]]:
    """The rows of the picks, and their numbers."""
    real = boxes.dtype.type
    threshold, sigma, min_score = real(threshold), real(sigma), real(min_score)
    left = [(i, real(score)) for i, score in enumerate(scores)]
    rows: list[list[Any]] = []
    numbers: list[int] = []
    while left:
        best = 0
        for i, (_, score) in enumerate(left):
            if score > left[best][1]:
                best = i
        left[0], left[best] = left[best], left[0]
        number, score = left.pop(0)
        rows.append([*boxes[number], score])
        numbers.append(number)
        lowered = [
            (i, score * _weight(overlaps(boxes[number], boxes[i][None], offset)[0], threshold, sigma, method))
            for i, score in left
        ]
        i = 0
        while i < len(lowered):
            if lowered[i][1] < min_score:
                lowered[i] = lowered[-1]
                lowered.pop()
            else:
                i += 1
        left = lowered
    return np.array(rows, boxes.dtype).reshape(-1, 5), numbers


def _weight(overlap: Any, threshold: Any, sigma: Any, method: int) -> Any:
    real = type(overlap)
    with np.errstate(all="ignore"):
        if method == 2:
            return real(1) if overlap == 0 else real(np.exp(np.float64(-(overlap * overlap) / sigma)))
    if not overlap >= threshold:
        return real(1)
    return real(1) - overlap if method == 1 else real(0)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let boxes overlap, and some scores be equal."""
    for name in ("boxes", "dets"):
        if name in arguments:
            arguments[name][:, :4] = random_boxes(rng, len(arguments[name]))
    for scores in (
        arguments["dets"][:, 4] if "dets" in arguments else arguments.get("scores"),
        arguments.get("confidence"),
    ):
        if scores is not None:
            scores[...] = np.round(rng.uniform(0, 1, scores.shape), 1)
    if "max_output_size" in arguments:
        arguments["max_output_size"] = max(1, arguments["max_output_size"])


#: What the Python function takes in place of the descriptor.
KEYWORDS = {"nms": {"iou_threshold": THRESHOLD, "confidence_threshold": LEAST_SCORE}}


def settings(name: str, arguments: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """What descriptors are set to."""
    if name != "nms":
        return {}
    values = {
        "box_mode": 0, "output_mode": 0, "algo": 0, "method_mode": 0, "iou_threshold": THRESHOLD,
        "soft_nms_sigma": 0.0, "max_output_size": arguments["max_output_size"],
        "confidence_threshold": LEAST_SCORE, "offset": 0.0, "input_layout": 0, "pad_to_max_output_size": False,
    }  # fmt: skip
    return {"nms_desc": values}


def in_double(name: str, *given: Any) -> Any:
    """The results for float64 boxes."""
    if name == "nms_match":
        matches, order = match(*given)
        return np.array(matches, np.int32), np.array(order, np.int32)
    if name == "soft_nms":
        rows, kept = soft(*given)
        return *_begin((np.zeros((len(given[0]), 5)), rows), (np.zeros(len(given[0]), np.int32), kept)), _number(kept)
    if name == "nms2d":
        kept = suppression(*given)
        return *_begin((np.zeros(len(given[0]), np.int32), kept)), _number(kept)
    boxes, scores, most = given
    kept = suppression(corners(boxes, False), scores, THRESHOLD, 0, LEAST_SCORE, most)
    return *_begin((np.zeros(most, np.int32), kept)), _number(kept)


def _begin(*pairs: tuple[np.ndarray, Any]) -> list[np.ndarray]:
    """Arrays that begin with these rows."""
    for array, rows in pairs:
        array[: len(rows)] = rows
    return [array for array, _ in pairs]


def _number(kept: list[int]) -> np.ndarray:
    return np.array([len(kept)], np.int32)


def _spread(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let about ten boxes lie around each place."""
    prepare(arguments, rng)
    for name in ("boxes", "dets"):
        if name in arguments:
            arguments[name][:, :4] = random_boxes(rng, len(arguments[name]), len(arguments[name]) ** 0.5)


def ways(size: int) -> Iterator[Way]:
    """Many boxes, most of which are kept, and few places with many boxes."""
    limits: dict[str, dict[str, Any]] = {
        "nms": {"max_output_size": 30 * size},
        "nms2d": {"iou_threshold": 0.5, "offset": 0},
        "nms_match": {"iou_threshold": 0.5},
        "soft_nms": {"iou_threshold": 0.3, "sigma": 0.5, "min_score": 0.3, "method": "linear", "offset": 0},
    }
    for name, scalars in limits.items():
        sizes = {"M": 30 * size} if name == "nms" else {}
        yield Way(name, "spread", {"N": (5 if name == "soft_nms" else 30) * size, **sizes}, scalars, change=_spread)
    yield Way("nms2d", "crowded", {"N": 40 * size}, limits["nms2d"], change=prepare)


def _settings(problem: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = problem.settings["nms_desc"]
    return {**found, "max_output_size": 0, "method_mode": 0} if found.get("desc") == "unset" else found


def _checks(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    values = _settings(problem)
    room = (problem.tensors["output"].dims or (0,))[0]
    needed = min(values["max_output_size"], sizes.get("N", 0))
    return {
        "room": [bad(room >= needed, "output_desc"), bad(values["output_mode"] == 0, "nms_desc", "output_desc")],
        "method": [unsupported(values["method_mode"] == 0, "nms_desc")],
    }


_FAULTS: dict[str, dict[tuple[str, str], Any]] = {
    "soft suppression": {("nms_desc", "method_mode"): 1},
    "batches and classes": {("nms_desc", "output_mode"): 3},
    "no room": {("nms_desc", "max_output_size"): 2**31 - 1, ("output", "dims"): (1,)},
}
_SUPPRESSION = "handle objects scalars ranks shapes packed types indexable numbers aligned empty data overlap"
REFUSALS = {
    "mluOpNms": Refusals(
        order="handle objects types ranks shapes room numbers aligned packed indexable method empty data overlap",
        checks=_checks, faults=_FAULTS, needs_workspace=False,
    ),
    "mluOpGetNmsWorkspaceSize": Refusals(order="handle objects:boxes optional:confidence pointer"),
    "mluopsExtNms2d": Refusals(order=_SUPPRESSION),
    "mluopsExtSoftNms": Refusals(order=_SUPPRESSION),
    "mluopsExtNmsMatch": Refusals(
        order="handle objects scalars ranks shapes packed types indexable empty data overlap"
    ),
}  # fmt: skip
