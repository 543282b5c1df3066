"""prior_box: boxes about the centres of cells. Half sizes are computed in float64 and rounded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Check, Refusals, bad
from pymluops.oracle.ways import Way


def half_sizes(least: np.ndarray, ratios: np.ndarray, most: np.ndarray, squares_first: bool) -> np.ndarray:
    """Half widths and heights of all boxes of a cell, however many there are."""
    found: list[tuple[Any, Any]] = []
    sizes, shapes, maxima = (array.astype(np.float64) for array in (least, ratios, most))
    with np.errstate(all="ignore"):
        for i, size in enumerate(sizes):
            square = [(np.sqrt(size * maxima[i]) / 2,) * 2] if len(maxima) else []
            if squares_first:
                found += [(size / 2, size / 2), *square]
                shaped = shapes[np.abs(shapes - 1) >= 1e-6]
                found += [(size * np.sqrt(r) / 2, size / np.sqrt(r) / 2) for r in shaped]
            else:
                found += [(size * np.sqrt(r) / 2, size / np.sqrt(r) / 2) for r in shapes] + square
        return np.array(found).astype(least.dtype)


def boxes(
    least: np.ndarray,
    ratios: np.ndarray,
    variances: np.ndarray,
    most: np.ndarray,
    height: int,
    width: int,
    im_height: int,
    im_width: int,
    step_h: float,
    step_w: float,
    offset: float = 0.5,
    clip: bool = False,
    squares_first: bool = True,
) -> tuple[np.ndarray, np.ndarray]:
    """Boxes and variances, [height, width, P, 4]."""
    real = least.dtype.type
    room = len(least) * len(ratios) + len(most)
    halves = half_sizes(least, ratios, most, squares_first)[:room]
    out = np.zeros((height, width, room, 4), real)
    with np.errstate(all="ignore"):
        x = ((np.arange(width, dtype=real) + real(offset)) * real(step_w))[None, :, None]
        y = ((np.arange(height, dtype=real) + real(offset)) * real(step_h))[:, None, None]
        count = len(halves)
        out[:, :, :count, 0] = (x - halves[:, 0]) / real(im_width)
        out[:, :, :count, 1] = (y - halves[:, 1]) / real(im_height)
        out[:, :, :count, 2] = (x + halves[:, 0]) / real(im_width)
        out[:, :, :count, 3] = (y + halves[:, 1]) / real(im_height)
    if clip:
        out = np.where(out < 0, real(0), np.where(out > 1, real(1), out))
    return out, np.broadcast_to(variances, out.shape).copy()


def in_double(_name: str, *given: Any) -> Any:
    """The results for float64 sizes; the number of boxes of a size comes last."""
    return boxes(*given[:-1])


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let sizes and ratios be above 0, one of these 1, and the image have an area."""
    arguments["min_sizes"][...] = rng.uniform(4, 60, arguments["min_sizes"].shape)
    arguments["aspect_ratios"][...] = rng.uniform(0.2, 5, arguments["aspect_ratios"].shape)
    arguments["aspect_ratios"][0] = 1
    for name in ("im_height", "im_width"):
        arguments[name] = int(rng.integers(50, 400))
    for name in ("step_h", "step_w"):
        arguments[name] = float(rng.uniform(1, 30))


def large(rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Arguments of the Python function for many cells, with largest sizes and without."""
    least = rng.uniform(4, 60, 3).astype(np.float32)
    for most, order in ((least * 2, True), (least[:0], False)):
        yield {
            "min_sizes": least, "aspect_ratios": np.float32([1, 2, 0.5]), "variances": np.float32([0.1, 0.1, 0.2, 0.2]),
            "max_sizes": most, "height": 60, "width": 55, "im_height": 480, "im_width": 440, "step_h": 8.0,
            "step_w": 8.0, "clip": True, "min_max_aspect_ratios_order": order,
        }  # fmt: skip


def ways(size: int) -> Iterator[Way]:
    """Many cells with few boxes, and few with many."""
    for label, cells, sizes in (("cells", 20 * size, 2), ("boxes", 2, 20 * size)):
        yield Way("prior_box", label, {"height": 5, "width": cells, "Nm": sizes, "Na": 3, "K": 4}, change=prepare)


def _checks(problem: Any, _sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """Dims that are fixed come before strides, the number of boxes behind them."""
    dims = {name: tuple(tensor.dims or ()) for name, tensor in problem.tensors.items()}
    ranks = {"min_sizes": 1, "aspect_ratios": 1, "variances": 1, "max_sizes": 1, "output": 4, "var": 4}
    if any(len(dims[name]) != rank for name, rank in ranks.items()):
        return {"fixed": [], "counts": []}
    values, output = problem.values, dims["output"]
    fixed = [
        bad(dims["variances"] == (4,), "variances_desc"),
        bad(output[:2] == (values["height"], values["width"]), "output_desc", "height", "width"),
        bad(output[3] == 4, "output_desc"),
        bad(dims["var"][3] == 4, "var_desc"),
    ]
    sizes, ratios, maxima = (dims[name][0] for name in ("min_sizes", "aspect_ratios", "max_sizes"))
    counts = [
        bad(output == dims["var"], "output_desc", "var_desc"),
        bad(maxima in (0, sizes), "max_sizes_desc", "min_sizes_desc"),
        bad(output[2] == sizes * ratios + maxima, "output_desc", "max_sizes_desc"),
    ]
    return {"fixed": fixed, "counts": counts}


REFUSALS = {
    "mluOpPriorBox": Refusals(
        order="handle objects ranks fixed types scalars packed counts indexable positive empty data overlap",
        checks=_checks,
        empty={"height": "", "width": ""},
    )
}
