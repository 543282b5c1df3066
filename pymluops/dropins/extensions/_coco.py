"""COCO's evaluation of detections, as pycocotools describes it and detectron2's compiled module offers it.

Detections of an image and a category are matched with the objects in it, best score first, for all
thresholds of overlap at once; precision and recall follow from the matches of all images.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["COCOevalAccumulate", "COCOevalEvaluateImages", "ImageEvaluation", "InstanceAnnotation"]

_Array = NDArray[Any]


@dataclass
class InstanceAnnotation:
    """An object of an image, or a detection.

    Attributes
    ----------
    id : int
    score : float
    area : float
    is_crowd : bool
        It stands for several objects, which may all be found.
    ignore : bool
        It counts neither as found nor as missed.
    """

    id: int
    score: float
    area: float
    is_crowd: bool
    ignore: bool


@dataclass
class ImageEvaluation:
    """The matches of one image, category and range of areas: detections [D] by score, objects [G].

    Attributes
    ----------
    detection_matches : array, shape [T, D]
        Whether a detection has found an object, by threshold.
    detection_scores : array, shape [D]
    detection_ignores : array, shape [T, D]
    ground_truth_ignores : array, shape [G]
    """

    detection_matches: _Array | None = None
    detection_scores: _Array | None = None
    detection_ignores: _Array | None = None
    ground_truth_ignores: _Array | None = None


class _Objects(NamedTuple):
    """Objects, those that count first; which of them do not count, and which stand for several."""

    order: _Array
    ignored: _Array
    crowd: _Array


def _objects(objects: Sequence[InstanceAnnotation], area_range: Sequence[float]) -> _Objects:
    ignored = np.array([one.ignore or not area_range[0] <= one.area <= area_range[1] for one in objects], bool)
    order = np.argsort(ignored, kind="stable")
    return _Objects(order, ignored[order], np.array([one.is_crowd for one in objects], bool)[order])


def _last_largest(values: _Array) -> tuple[_Array, _Array]:
    """Return the last place of the largest value of each row, and the value; -1 and minus infinity of no values."""
    rows, columns = values.shape
    if not columns:
        return np.full(int(rows), -1), np.full(int(rows), -np.inf)
    backwards: Any = values[:, ::-1]
    places: _Array = columns - 1 - backwards.argmax(1)
    return places, values[np.arange(rows), places]


def _match(objects: _Objects, overlaps: _Array, thresholds: _Array) -> tuple[_Array, _Array]:
    """Return [T, D] twice: whether a detection found an object, and whether that one does not count.

    A detection takes the object that overlaps it most, of those that count if one of them overlaps
    it enough, else of the others. An object is taken once, unless it stands for several.
    """
    counted = int((~objects.ignored).sum())
    limits = np.minimum(thresholds, 1 - 1e-10)
    taken = np.zeros((len(thresholds), len(objects.order)), bool)
    matched, ignored = (np.zeros((len(thresholds), len(overlaps)), bool) for _ in range(2))
    rows = np.arange(len(thresholds))
    for number, own in enumerate(overlaps):
        free = np.where(taken & ~objects.crowd, -np.inf, own)
        first, best = _last_largest(free[:, :counted])
        other, next_best = _last_largest(free[:, counted:])
        found = best >= limits
        instead = ~found & (next_best >= limits)
        place = np.where(instead, other + counted, first)
        matched[:, number] = found | instead
        ignored[:, number] = instead
        hit = rows[matched[:, number]]
        taken[hit, place[hit]] = True
    return matched, ignored


def _evaluate(
    area_range: Sequence[float],
    most: int,
    thresholds: _Array,
    overlaps: _Array,
    objects: Sequence[InstanceAnnotation],
    detections: Sequence[InstanceAnnotation],
) -> ImageEvaluation:
    given = _objects(objects, area_range)
    order = np.argsort([-one.score for one in detections], kind="stable")[:most]
    ranked = [detections[int(i)] for i in order]
    scores = np.array([one.score for one in ranked], np.float64)
    outside = np.array([not area_range[0] <= one.area <= area_range[1] for one in ranked], bool)
    if len(objects) and len(order):
        rows = np.asarray(overlaps, np.float64).reshape(-1, len(objects))[: len(order)]
        if len(rows) != len(order):
            raise RuntimeError(f"COCOevalEvaluateImages: ious: expected {len(order)} rows, got {len(rows)}")
        matched, ignored = _match(given, rows[:, given.order], thresholds)
    else:
        matched, ignored = (np.zeros((len(thresholds), len(order)), bool) for _ in range(2))
    return ImageEvaluation(matched, scores, ignored | (~matched & outside), given.ignored)


def COCOevalEvaluateImages(  # noqa: N802 - detectron2's name
    area_ranges: Sequence[Sequence[float]],
    max_detections: int,
    iou_thresholds: Sequence[float],
    ious: Sequence[Sequence[Any]],
    ground_truth_instances: Sequence[Sequence[Sequence[InstanceAnnotation]]],
    detected_instances: Sequence[Sequence[Sequence[InstanceAnnotation]]],
) -> list[ImageEvaluation]:
    """Match detections and objects of each image and category.

    Returns
    -------
    list of ImageEvaluation
        By category, range of areas and image, the last one running first.
    """
    images, limits = len(ious), np.asarray(iou_thresholds, np.float64)
    for name, given in (
        ("ground_truth_instances", ground_truth_instances),
        ("detected_instances", detected_instances),
    ):
        if len(given) != images:
            raise RuntimeError(f"COCOevalEvaluateImages: {name}: expected {images} images, as ious, got {len(given)}")
    categories = len(ious[0]) if images else 0
    return [
        _evaluate(
            area_range, max_detections, limits, ious[i][k], ground_truth_instances[i][k], detected_instances[i][k]
        )
        for k in range(categories)
        for area_range in area_ranges
        for i in range(images)
    ]


def _curve(evaluations: Sequence[ImageEvaluation], most: int, recalls: _Array, out: tuple[_Array, ...]) -> None:
    """Write precision [T, R], recall [T] and scores [T, R] of one category, range of areas and limit."""
    precision, recall, scores = out
    wanted = int(sum((~np.asarray(one.ground_truth_ignores)).sum() for one in evaluations))
    if not wanted:
        return
    found = np.concatenate([np.asarray(one.detection_scores)[:most] for one in evaluations])
    order = np.argsort(-found, kind="stable")
    matched = np.concatenate([np.asarray(one.detection_matches)[:, :most] for one in evaluations], 1)[:, order]
    ignored = np.concatenate([np.asarray(one.detection_ignores)[:, :most] for one in evaluations], 1)[:, order]
    right, wrong = (matched & ~ignored).cumsum(1), (~matched & ~ignored).cumsum(1)
    for t in range(len(matched)):
        reached = right[t] / wanted
        share = right[t] / (right[t] + wrong[t] + np.spacing(1))
        share = np.maximum.accumulate(share[::-1])[::-1]
        recall[t] = reached[-1] if len(reached) else 0
        places = np.searchsorted(reached, recalls, side="left")
        inside = places < len(reached)
        precision[t], scores[t] = 0, 0
        precision[t][inside], scores[t][inside] = share[places[inside]], found[order][places[inside]]


def COCOevalAccumulate(params: Any, evaluations: Sequence[ImageEvaluation]) -> dict[str, Any]:  # noqa: N802
    """Return precision, recall and scores of all images.

    Parameters
    ----------
    params : object
        With ``iouThrs``, ``recThrs``, ``catIds``, ``useCats``, ``areaRng``, ``maxDets``,
        ``imgIds``.
    evaluations : sequence of ImageEvaluation
        What `COCOevalEvaluateImages` returned.

    Returns
    -------
    dict
        ``precision`` and ``scores``, flat, of the shape ``counts`` = [T, R, K, A, M], ``recall``,
        flat, of [T, K, A, M]; -1 where there are no objects.
    """
    recalls, limits = np.asarray(params.recThrs, np.float64), list(params.maxDets)
    thresholds, areas, images = len(params.iouThrs), len(params.areaRng), len(params.imgIds)
    categories = len(params.catIds) if params.useCats else 1
    if len(evaluations) != categories * areas * images:
        wanted = f"{categories} x {areas} x {images}"
        raise RuntimeError(f"COCOevalAccumulate: evaluations: expected {wanted}, got {len(evaluations)}")
    counts = [thresholds, len(recalls), categories, areas, len(limits)]
    precision, scores = -np.ones(counts), -np.ones(counts)
    recall = -np.ones([thresholds, *counts[2:]])
    for k, a in np.ndindex(categories, areas):
        first = (k * areas + a) * images
        for m, most in enumerate(limits):
            out = (precision[:, :, k, a, m], recall[:, k, a, m], scores[:, :, k, a, m])
            _curve(evaluations[first : first + images], most, recalls, out)
    return {
        "params": params,
        "counts": counts,
        "date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
        "precision": precision.ravel(),
        "recall": recall.ravel(),
        "scores": scores.ravel(),
    }
