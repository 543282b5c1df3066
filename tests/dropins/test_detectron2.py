"""``detectron2._C`` and ``torch.ops.detectron2``: rotated boxes and regions, COCO's evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import quadri_boxes

torch = pytest.importorskip("torch")

Load = Callable[[str], ModuleType]


@pytest.fixture
def extension(load: Load) -> ModuleType:
    return load("detectron2._C")


def corners(row: np.ndarray) -> np.ndarray:
    """The corners of a box whose angle in degrees turns counterclockwise in an image, whose y points down."""
    x, y, width, height, degrees = row
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    sides = [(width / 2 * a, height / 2 * b) for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    return np.array([(x + cosine * u + sine * v, y - sine * u + cosine * v) for u, v in sides]).ravel()


def boxes(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    columns = [rng.uniform(0, 6, (count, 2)), rng.uniform(1, 5, (count, 2)), rng.uniform(-400, 400, (count, 1))]
    return np.concatenate(columns, 1)


def test_rotated_boxes(extension: ModuleType) -> None:
    given, scores = boxes(40, 1), np.random.default_rng(2).normal(size=40)
    tensor = torch.from_numpy(given)
    wanted = np.array([[quadri_boxes.overlap(corners(a), corners(b)) for b in given] for a in given])
    for call in (extension.box_iou_rotated, torch.ops.detectron2.box_iou_rotated):
        np.testing.assert_allclose(call(tensor[:9], tensor[9:]), wanted[:9, 9:], atol=1e-6)
        np.testing.assert_allclose(call(tensor[:9].float(), tensor[9:].float()), wanted[:9, 9:], atol=1e-4)
        assert call(tensor[:0], tensor).shape == (0, 40)
    kept: list[int] = []
    for i in np.argsort(-scores):
        if all(wanted[i, j] <= 0.15 for j in kept):
            kept.append(int(i))
    assert 3 < len(kept) < 30
    for call in (extension.nms_rotated, torch.ops.detectron2.nms_rotated):
        found = call(tensor, torch.from_numpy(scores), 0.15)
        assert (found.tolist(), found.dtype) == (kept, torch.int64)
        assert call(tensor[:0], torch.zeros(0, dtype=torch.float64), 0.15).tolist() == []
        with pytest.raises(RuntimeError, match=r"^nms_rotated: scores: expected shape \[40\]"):
            call(tensor, torch.zeros(3), 0.15)
        with pytest.raises(RuntimeError, match=r"^nms_rotated: dets: expected shape \[any, 5\]"):
            call(tensor[:, :4], torch.zeros(40), 0.15)


def sampled(maps: np.ndarray, y: float, x: float) -> np.ndarray:
    """A bilinear sample [C], 0 more than a pixel outside."""
    _, height, width = maps.shape
    if y < -1 or y > height or x < -1 or x > width:
        return np.zeros(len(maps))
    y, x = min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)
    top, left = int(y), int(x)
    low, right, v, u = min(top + 1, height - 1), min(left + 1, width - 1), y - top, x - left
    upper = (1 - u) * maps[:, top, left] + u * maps[:, top, right]
    return (1 - v) * upper + v * ((1 - u) * maps[:, low, left] + u * maps[:, low, right])


def test_rotated_regions(extension: ModuleType) -> None:
    rng = np.random.default_rng(3)
    maps = rng.normal(size=(2, 3, 8, 9))
    rois = np.concatenate([rng.integers(0, 2, (6, 1)), boxes(6, 4) * [2, 2, 2, 2, 1]], 1)
    rows, columns, ratio, scale = 2, 3, 2, 0.5
    wanted = np.zeros((6, 3, rows, columns))
    for r, (image, x, y, width, height, degrees) in enumerate(rois):
        sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
        for i, j, k, m in np.ndindex(rows, columns, ratio, ratio):
            up = height * scale * ((i + (k + 0.5) / ratio) / rows - 0.5)
            right = width * scale * ((j + (m + 0.5) / ratio) / columns - 0.5)
            # A pixel's centre is half a pixel from its corner.
            place = up * cosine - right * sine + y * scale - 0.5, up * sine + right * cosine + x * scale - 0.5
            wanted[r, :, i, j] += sampled(maps[int(image)], *place) / ratio**2
    given, regions = torch.from_numpy(maps), torch.from_numpy(rois)
    grad = torch.from_numpy(rng.normal(size=wanted.shape))
    for module in (extension, torch.ops.detectron2):
        out = module.roi_align_rotated_forward(given, regions, scale, rows, columns, ratio)
        np.testing.assert_allclose(out, wanted, rtol=1e-6, atol=1e-6)
        back = module.roi_align_rotated_backward(grad, regions, scale, rows, columns, 2, 3, 8, 9, ratio)
        torch.testing.assert_close((back * given).sum(), (grad * out).sum())  # the operator is linear
        basis = torch.zeros_like(given)
        basis[1, 2, 4, 5] = 1
        one = module.roi_align_rotated_forward(basis, regions, scale, rows, columns, ratio)
        torch.testing.assert_close(back[1, 2, 4, 5], (one * grad).sum())
        assert module.roi_align_rotated_forward(given, regions[:0], scale, rows, columns, ratio).shape == (0, 3, 2, 3)
        with pytest.raises(RuntimeError, match=r"^roi_align_rotated_forward: rois: expected shape \[any, 6\]"):
            module.roi_align_rotated_forward(given, regions[:, :5], scale, rows, columns, ratio)
    meta = torch.ops.detectron2.roi_align_rotated_forward(given.to("meta"), regions.to("meta"), 0.5, 2, 3, 2)
    assert meta.shape == (6, 3, 2, 3)
    assert torch.ops.detectron2.box_iou_rotated(regions[:, 1:].to("meta"), regions[:4, 1:].to("meta")).shape == (6, 4)


def test_operators_are_found_by_torchscript_and_torch_compile(extension: ModuleType) -> None:
    given = torch.from_numpy(boxes(6, 5))

    def overlaps(one: Any, other: Any) -> Any:
        return torch.ops.detectron2.box_iou_rotated(one, other) + 1

    wanted = overlaps(given, given)
    compiled = torch.compile(overlaps, backend="aot_eager", fullgraph=True)
    torch.testing.assert_close(compiled(given, given), wanted)
    assert "detectron2::box_iou_rotated" in str(torch.jit.trace(overlaps, (given, given)).graph)


def test_what_it_says_about_its_build(extension: ModuleType) -> None:
    assert extension.get_compiler_version().startswith("pymluops")
    assert (extension.get_cuda_version(), extension.has_cuda()) == ("not available", False)
    with pytest.raises(NotImplementedError, match=r"^roi_align_forward of detectron2._C is no function"):
        extension.roi_align_forward(1)


# ---- COCO's evaluation ---------------------------------------------------------------------------

THRESHOLDS, RECALLS, LIMITS = np.linspace(0.5, 0.95, 10), np.linspace(0, 1, 101), [1, 3, 20]
AREAS = [[0.0, 1e10], [0.0, 300.0], [300.0, 1e10]]


def match(objects: list[Any], found: list[Any], ious: np.ndarray, area: list[float], most: int) -> list[Any]:
    """COCO's rule, a threshold, a detection and an object at a time; by threshold the (score, hit, ignored)."""
    skip = [o.ignore or not area[0] <= o.area <= area[1] for o in objects]
    order = sorted(range(len(objects)), key=lambda g: skip[g])
    ranked = sorted(range(len(found)), key=lambda d: -found[d].score)[:most]
    results = []
    for threshold in THRESHOLDS:
        taken: set[int] = set()
        rows = []
        for place, d in enumerate(ranked):
            best, mine = min(threshold, 1 - 1e-10), None
            for g in order:
                if g in taken and not objects[g].is_crowd:
                    continue
                if mine is not None and not skip[mine] and skip[g]:
                    break
                if ious[place, g] < best:
                    continue
                best, mine = ious[place, g], g
            if mine is not None:
                taken.add(mine)
            outside = not area[0] <= found[d].area <= area[1]
            rows.append((found[d].score, mine is not None, skip[mine] if mine is not None else outside))
        results.append(rows)
    return [results, [not one for one in skip]]


def scene(extension: ModuleType, seed: int) -> tuple[list[Any], list[Any], list[Any]]:
    """Objects, detections and overlaps of six images and two categories; of some there are none."""
    rng, number = np.random.default_rng(seed), iter(range(1, 10**6))
    objects: list[Any] = []
    found: list[Any] = []
    ious: list[Any] = []
    for _ in range(6):
        counts = rng.integers(0, 6, (2, 2))
        objects.append([])
        found.append([])
        ious.append([])
        for own, others in counts:
            objects[-1].append([
                extension.InstanceAnnotation(next(number), 0.0, float(rng.uniform(10, 900)), crowd, crowd)
                for crowd in (rng.random(own) < 0.2).tolist()
            ])  # fmt: skip
            scores = rng.choice([0.1, 0.4, 0.4, 0.7, 0.9], others)
            found[-1].append([
                extension.InstanceAnnotation(next(number), float(s), float(rng.uniform(10, 900)), False, False)
                for s in scores
            ])  # fmt: skip
            ious[-1].append(np.round(rng.uniform(0.2, 1, (others, own)), 1) if own and others else [])
    return objects, found, ious


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_evaluation_of_detections(extension: ModuleType, seed: int) -> None:
    objects, found, ious = scene(extension, seed)
    params = SimpleNamespace(
        iouThrs=THRESHOLDS, recThrs=RECALLS, maxDets=LIMITS, areaRng=AREAS, catIds=[1, 2], useCats=1, imgIds=[*range(6)]
    )
    evaluations = extension.COCOevalEvaluateImages(AREAS, LIMITS[-1], THRESHOLDS, ious, objects, found)
    result = extension.COCOevalAccumulate(params, evaluations)
    counts = [10, 101, 2, 3, 3]
    assert result["counts"] == counts
    precision, scores = (np.array(result[key]).reshape(counts) for key in ("precision", "scores"))
    recall = np.array(result["recall"]).reshape(counts[:1] + counts[2:])
    assert (precision > 0).any()
    for k, a, m in np.ndindex(2, 3, 3):
        images = [match(objects[i][k], found[i][k], np.asarray(ious[i][k]), AREAS[a], 20) for i in range(6)]
        wanted = sum(sum(counted) for _, counted in images)
        for t in range(10):
            rows = [row for results, _ in images for row in results[t][: LIMITS[m]]]
            rows.sort(key=lambda row: -row[0])
            right = wrong = 0
            curve = []
            for score, hit, ignored in rows:
                right += hit and not ignored
                wrong += not hit and not ignored
                curve.append((right / wanted, right / (right + wrong) if right else 0.0, score))
            assert recall[t, k, a, m] == pytest.approx(curve[-1][0] if curve else 0)
            for r, wish in enumerate(RECALLS):
                later = [i for i, point in enumerate(curve) if point[0] >= wish]
                best = max((curve[i][1] for i in range(later[0], len(curve))), default=0.0) if later else 0.0
                assert precision[t, r, k, a, m] == pytest.approx(best)
                assert scores[t, r, k, a, m] == (curve[later[0]][2] if later else 0)


def test_evaluation_without_objects_or_with_wrong_sizes(extension: ModuleType) -> None:
    objects, found, ious = scene(extension, 5)
    none = [[[], []] for _ in objects]
    evaluations = extension.COCOevalEvaluateImages(AREAS, 20, THRESHOLDS, ious, none, found)
    params = SimpleNamespace(
        iouThrs=THRESHOLDS, recThrs=RECALLS, maxDets=LIMITS, areaRng=AREAS, catIds=[1, 2], useCats=1, imgIds=[*range(6)]
    )
    result = extension.COCOevalAccumulate(params, evaluations)
    assert all((np.array(result[key]) == -1).all() for key in ("precision", "recall", "scores"))
    with pytest.raises(RuntimeError, match=r"^COCOevalAccumulate: evaluations: expected 2 x 3 x 6, got 3"):
        extension.COCOevalAccumulate(params, evaluations[:3])
    with pytest.raises(RuntimeError, match=r"^COCOevalEvaluateImages: detected_instances: expected 6 images, .* got 2"):
        extension.COCOevalEvaluateImages(AREAS, 20, THRESHOLDS, ious, objects, found[:2])
