"""roi_align: means or maxima of bilinear samples in the bins of regions, and the gradient of the maps."""

from __future__ import annotations

from typing import Any

import numpy as np

import pymluops
from benchmarks.cases import Case
from benchmarks.problem import Array, Arrays, Problem, TensorCall, TinyCall, close, generator


def build(case: Case) -> Problem:
    """Make maps and regions that lie on them, or the gradient of the result."""
    facts, rng = case.parameters, generator(case)
    maps = rng.standard_normal((facts["batch"], *facts["size"], facts["channels"]), np.float32).astype(case.dtype)
    rois = regions(rng, facts).astype(case.dtype)
    numbers = (facts["scale"], facts["ratio"], True)
    run: Any = getattr(pymluops, case.operator)
    if case.operator.endswith("forward"):
        result = (len(rois), *facts["bins"], facts["channels"])
        # Where the largest ones are is written too, which nobody else tells.
        names = ("argmax_y", "argmax_x") if "max" in case.operator else ()
        places = {name: np.empty(result, maps.dtype) for name in names}

        def forward(out: Arrays) -> Arrays:
            run(maps, rois, facts["bins"], *numbers, out=out["out"], **places)
            return out

        outputs: dict[str, Any] = {"out": (result, maps.dtype)}
        return Problem(case, {"input": maps, "rois": rois}, outputs, forward, _check(case))
    pooled: Any = pymluops.roi_align_max_forward(maps, rois, facts["bins"], *numbers)
    inputs = {"grad_output": rng.standard_normal(pooled.output.shape, np.float32).astype(case.dtype), "rois": rois}
    if "max" in case.operator:
        inputs |= {"argmax_y": pooled.argmax_y, "argmax_x": pooled.argmax_x}

    def backward(out: Arrays) -> Arrays:
        run(*inputs.values(), *numbers, len(maps), maps.shape[1:3], out=out["out"])
        return out

    return Problem(case, inputs, {"out": (maps.shape, maps.dtype)}, backward, _check(case))


def regions(rng: np.random.Generator, facts: Any) -> Array:
    """Return regions [count, 5] in any image, of an eighth to a half of its sides, in pixels of the image."""
    count, extent = facts["regions"], np.array(facts["size"][::-1]) / facts["scale"]
    size = rng.uniform(0.125, 0.5, (count, 2)) * extent
    corner = rng.random((count, 2)) * (extent - size)
    return np.column_stack([rng.integers(0, facts["batch"], count), corner, corner + size])


def _check(case: Case) -> Any:
    tolerance = 4e-3 if case.dtype == "float16" else 1e-4

    def check(expected: Arrays, found: Arrays) -> None:
        close("out", expected["out"], found["out"], tolerance)

    return check


def sized(elements: int) -> dict[str, dict[str, Any]]:
    """Grow the maps to 32 by 32 with 32 channels, a region for each 16 pixels, then the batch."""
    side = min(32, max(2, round((elements / 8) ** 0.5)))
    channels = min(32, max(1, elements // (2 * side * side)))
    batch = max(1, round(elements / (2 * channels * side * side)))
    return {"": {"batch": batch, "size": [side, side], "channels": channels,
                 "regions": max(1, batch * side * side // 16), "bins": [4, 4], "scale": 0.25, "ratio": 2}}  # fmt: skip


def tiny() -> list[TinyCall]:
    """Return a call of each operator on a few elements."""
    maps = np.random.default_rng(7).random((1, 2, 2, 4), np.float32)
    rois = np.array([[0, 0, 0, 1, 1]], np.float32)
    best, y, x = pymluops.roi_align_max_forward(maps, rois, 1, 1.0, 1)
    given = {"x": maps, "r": rois, "o": best.copy()}
    back = {"g": best.copy(), "r": rois, "o": np.empty_like(maps)}
    place = {"y": y.copy(), "z": x.copy()}
    size = {"size": (2, 2)}
    return [
        TinyCall("roi_align_forward", "op(x, r, 1, 1.0, 1, out=o)", given, limit=3000.0),
        TinyCall("roi_align_backward", "op(g, r, 1.0, 1, True, 1, size, out=o)", back, size, limit=3000.0),
        TinyCall("roi_align_max_forward", "op(x, r, 1, 1.0, 1, out=o, argmax_y=y, argmax_x=z)", {**given, **place},
                 limit=4000.0),
        TinyCall("roi_align_max_backward", "op(g, r, y, z, 1.0, 1, True, 1, size, out=o)", {**back, **place}, size,
                 limit=4000.0),
    ]  # fmt: skip


def tiny_tensors(ops: Any, tensor: Any) -> TensorCall:
    """Return a call with tensors whose channels come first."""
    maps, rois = np.random.default_rng(0).random((1, 4, 4, 8), np.float32), np.array([[0, 0, 0, 2, 2]], np.float32)
    maps_t, rois_t = tensor(maps.transpose(0, 3, 1, 2).copy()), tensor(rois)
    return TensorCall(
        "roi_align",
        lambda: pymluops.roi_align_forward(maps, rois, 2, 1.0, 2),
        lambda: ops.roi_align(maps_t, rois_t, 2, 1.0, 2),
    )
