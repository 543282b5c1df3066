"""Running the operators on one scan and one picture; `objects_run` has those that find objects.

One function a family. Each prepares the arguments, has the `Recorder` run, time and check the
operators, and returns what the pictures show. What a later step needs of an earlier operator's
result is taken from the reference, so that one failing operator does not hide another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

import pymluops
from pymluops import library
from pymluops._progress import Progress
from pymluops.demo import checks, reference
from pymluops.demo.arrays import Array
from pymluops.demo.image_features import (
    POOL_SIZE,
    Attention,
    BorderTask,
    FrameTask,
    border_task,
    frame_task,
    local_attention,
)
from pymluops.demo.images import Image
from pymluops.demo.objects_run import ObjectRun, run_objects
from pymluops.demo.recorder import Outcome, Recorder, Row
from pymluops.demo.scans import Scan
from pymluops.demo.voxels import KERNEL, Voxels, nearest_voxels, neighbour_table, voxel_features, voxelise

Mode = Literal["collect", "distribute"]

STEPS = 22
PAIR_NAMES = ("out_indices", "indice_pairs", "indice_num")


@dataclass(frozen=True)
class SparseRun:
    """The scan's voxels, the pairs of both modes, and the features carried back to the points."""

    scan: Scan
    voxels: Voxels
    submanifold: Outcome[reference.Pairs]
    strided: Outcome[reference.Pairs]
    features: Array
    interpolated: Array | None


@dataclass(frozen=True)
class AttentionRun:
    """The attention masks and the maps that psamask made of them, collect and distribute."""

    attention: Attention
    collect: Array | None
    distribute: Array | None


@dataclass(frozen=True)
class BorderRun:
    """The boxes and the results of border_align."""

    task: BorderTask
    result: tuple[Array, Array] | None


@dataclass(frozen=True)
class FrameRun:
    """The frames before and after tin_shift."""

    task: FrameTask
    shifted: Array | None


@dataclass(frozen=True)
class DemoRun:
    """Everything a run produced."""

    rows: list[Row]
    sparse: SparseRun
    objects: ObjectRun
    attention: AttentionRun
    borders: BorderRun
    frames: FrameRun

    @property
    def ok(self) -> bool:
        """Whether every check held."""
        return all(row.check.ok for row in self.rows)


def run_demo(scan: Scan, image: Image, progress: Progress) -> DemoRun:
    """Run the families on the default backend."""
    recorder = Recorder(progress)
    sparse = run_sparse(recorder, scan)
    objects = run_objects(recorder, scan, sparse.voxels.size)
    attention = run_psamask(recorder, image)
    borders = run_border_align(recorder, image)
    frames = run_tin_shift(recorder, image)
    return DemoRun(recorder.rows, sparse, objects, attention, borders, frames)


def run_sparse(recorder: Recorder, scan: Scan) -> SparseRun:
    """Run get_indice_pairs in both modes, then three_interpolate from the voxels back to the points."""
    voxels = voxelise(scan)
    submanifold = _run_pairs(recorder, "sub-manifold", voxels, stride=1, subm=True)
    strided = _run_pairs(recorder, "stride 2", voxels, stride=2, subm=False)

    pairs = submanifold.expected
    neighbours = neighbour_table(pairs.indice_pairs, pairs.indice_num, len(voxels.coordinates))
    features, _ = voxel_features(scan, voxels, neighbours)
    indices, weights = nearest_voxels(scan, voxels, neighbours)
    interpolated = _run_interpolate(recorder, features, indices, weights, voxels)
    _run_interpolate(recorder, _fit_half(features), indices, weights.astype(np.float16), voxels)
    return SparseRun(scan, voxels, submanifold, strided, features, interpolated)


def _fit_half(features: Array) -> Array:
    """Return the features in float16, scaled down by a power of two where they are too large for it."""
    excess = float(np.abs(features).max()) / 1024
    return (features * np.float32(2.0 ** -max(0, int(np.ceil(np.log2(max(excess, 1))))))).astype(np.float16)


def _run_pairs(recorder: Recorder, case: str, voxels: Voxels, *, stride: int, subm: bool) -> Outcome[reference.Pairs]:
    sites = voxels.coordinates
    return recorder.run(
        "get_indice_pairs",
        case,
        {"indices": sites},
        PAIR_NAMES,
        lambda _: pymluops.get_indice_pairs(
            sites,
            batch_size=1,
            spatial_shape=voxels.shape,
            kernel_size=KERNEL,
            stride=stride,
            padding=1,
            subm=subm,
        ),
        lambda: reference.get_indice_pairs(sites, voxels.shape, KERNEL, stride, 1, subm),
        lambda result, expected: checks.check_all_exact(tuple(result), expected, PAIR_NAMES),
    )


def _run_interpolate(
    recorder: Recorder, features: Array, indices: Array, weights: Array, voxels: Voxels
) -> Array | None:
    """Run three_interpolate forward and backward, and return the forward's result."""
    forward = recorder.run(
        "three_interpolate_forward",
        "",
        {"features": features, "indices": indices, "weights": weights},
        ("output",),
        lambda out: pymluops.three_interpolate_forward(features, indices, weights, out=out),
        lambda: reference.three_interpolate_forward(features, indices, weights),
        checks.check_sum,
    )
    # The gradient of half the sum of squares. A voxel sums up to 27 voxels' points: keep that in
    # the range of float16.
    gradient = (forward.expected.value * 2.0 ** -np.ceil(np.log2(voxels.counts.max()))).astype(features.dtype)
    known = features.shape[2]
    recorder.run(
        "three_interpolate_backward",
        "",
        {"grad_output": gradient, "indices": indices, "weights": weights},
        ("grad_features",),
        lambda out: pymluops.three_interpolate_backward(gradient, indices, weights, known, out=out),
        lambda: reference.three_interpolate_backward(gradient, indices, weights, known),
        checks.check_sum,
    )
    result: Array | None = forward.result
    return result


def run_psamask(recorder: Recorder, image: Image) -> AttentionRun:
    """Run psamask in both modes and directions on the picture's own likeness."""
    attention = local_attention(image.pixels)
    collect = _run_psamask(recorder, "collect", attention.mask, attention.mask_size)
    distribute = _run_psamask(recorder, "distribute", attention.mask, attention.mask_size)
    return AttentionRun(attention, collect, distribute)


def _run_psamask(recorder: Recorder, mode: Mode, mask: Array, size: tuple[int, int]) -> Array | None:
    """Run psamask forward and backward, and return the forward's result."""
    forward = recorder.run(
        "psamask_forward",
        mode,
        {"x": mask},
        ("y",),
        lambda out: pymluops.psamask_forward(mask, mode, size, out=out),
        lambda: reference.psamask_forward(mask, mode, size),
        checks.check_exact,
    )
    gradient = forward.expected
    recorder.run(
        "psamask_backward",
        mode,
        {"dy": gradient},
        ("dx",),
        lambda out: pymluops.psamask_backward(gradient, mode, size, out=out),
        lambda: reference.psamask_backward(gradient, mode, size),
        checks.check_exact,
    )
    result: Array | None = forward.result
    return result


def run_border_align(recorder: Recorder, image: Image) -> BorderRun:
    """Run border_align on edge features, with one box a place as a detector has them."""
    task = border_task(image.pixels)
    found = _run_border_align(recorder, task.features, task.boxes)
    _run_border_align(recorder, task.features.astype(np.float16), task.boxes.astype(np.float16))
    return BorderRun(task, found)


def _run_border_align(recorder: Recorder, features: Array, boxes: Array) -> tuple[Array, Array] | None:
    """Run border_align forward and backward, and return the forward's result."""

    def call(last: tuple[Array, Array] | None) -> tuple[Array, Array]:
        out, argmax_idx = last or (None, None)
        output, argmax_idx = pymluops.border_align_forward(features, boxes, POOL_SIZE, out=out, argmax_idx=argmax_idx)
        return output, argmax_idx

    forward = recorder.run(
        "border_align_forward",
        f"pool {POOL_SIZE}",
        {"input": features, "boxes": boxes},
        ("output", "argmax_idx"),
        call,
        lambda: reference.border_align_forward(features, boxes, POOL_SIZE),
        checks.check_borders,
    )
    gradient, argmax = forward.expected
    size = features.shape[1], features.shape[2]
    recorder.run(
        "border_align_backward",
        f"pool {POOL_SIZE}",
        {"grad_output": gradient, "boxes": boxes, "argmax_idx": argmax},
        ("grad_input",),
        lambda out: pymluops.border_align_backward(gradient, boxes, argmax, POOL_SIZE, size, out=out),
        lambda: reference.border_align_backward(gradient, boxes, argmax, POOL_SIZE, size),
        checks.check_sum if library.current().kind == "cpu" else checks.check_atomic_sum,
    )
    result: tuple[Array, Array] | None = forward.result
    return result


def run_tin_shift(recorder: Recorder, image: Image) -> FrameRun:
    """Run tin_shift on two short sequences cut from the picture."""
    task = frame_task(image.pixels)
    shifted = _run_tin_shift(recorder, task.frames, task.shifts)
    _run_tin_shift(recorder, task.frames.astype(np.float16), task.shifts)
    return FrameRun(task, shifted)


def _run_tin_shift(recorder: Recorder, frames: Array, shifts: Array) -> Array | None:
    """Run tin_shift forward and backward, and return the forward's result."""
    forward = recorder.run(
        "tin_shift_forward",
        "",
        {"input": frames, "shifts": shifts},
        ("output",),
        lambda out: pymluops.tin_shift_forward(frames, shifts, out=out),
        lambda: reference.tin_shift(frames, shifts),
        checks.check_exact,
    )
    gradient = forward.expected
    recorder.run(
        "tin_shift_backward",
        "",
        {"grad_output": gradient, "shifts": shifts},
        ("grad_input",),
        lambda out: pymluops.tin_shift_backward(gradient, shifts, out=out),
        lambda: reference.tin_shift(gradient, shifts),
        checks.check_exact,
    )
    result: Array | None = forward.result
    return result
