"""ps_roi_pool: means of the bins of regions, each bin in channels of its own, and the gradient of the maps.

Channel (d * g + i) * g + j of the maps belongs to bin (i, j) of output channel d.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Check, Refusals, bad, unsupported
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("ps_roi_pool_forward", "ps_roi_pool_backward")

#: Forward wants regions, unless the maps have no pixels.
LEFT_TO_C = ("rois_desc",)


def _round(value: Any) -> float:
    """Half away from zero."""
    if not np.isfinite(value):
        return float(value)
    return math.copysign(math.floor(abs(float(value)) + 0.5), value)


def _bins(low: Any, high: Any, scale: Any, count: int, size: int) -> list[range]:
    """The pixels that each bin touches along an axis, computed in the type of `scale`."""
    real = type(scale)
    with np.errstate(all="ignore"):
        start = real(_round(low)) * scale
        length = (real(_round(high)) + real(1)) * scale - start
        if not (np.isfinite(start) and np.isfinite(length)):
            return [range(0)] * count
        step = max(length, real(0.1)) / real(count)
        edges = [(real(i) * step + start, real(i + 1) * step + start) for i in range(count)]
    inside = [(min(max(a, 0), size), min(max(b, 0), size)) for a, b in edges]
    return [range(math.floor(a), math.ceil(b)) for a, b in inside]


def _regions(
    rois: np.ndarray, scale: float, count: int, shape: tuple[int, int, int]
) -> Iterator[tuple[int, int, int, int, list[tuple[int, int]]]]:
    """Region, i, j, image and the pixels of each bin, row by row."""
    real = rois.dtype.type
    batch, height, width = shape
    for r, (image, x1, y1, x2, y2) in enumerate(rois):
        number = int(image) if -1 < image < batch else -1
        rows, columns = _bins(y1, y2, real(scale), count, height), _bins(x1, x2, real(scale), count, width)
        for i, j in np.ndindex(count, count):
            pixels = [(h, w) for h in rows[i] for w in columns[j]] if number >= 0 else []
            yield r, i, j, number, pixels


def forward(maps: np.ndarray, rois: np.ndarray, scale: float, count: int, depth: int) -> tuple[np.ndarray, np.ndarray]:
    """(output, mapping_channel), both [R, g, g, D], added up and divided in the type of the maps."""
    output = np.zeros((len(rois), count, count, depth), maps.dtype)
    mapping = np.zeros(output.shape, np.int32)
    for r, i, j, image, pixels in _regions(rois, scale, count, maps.shape[:3]):
        channels = (np.arange(depth) * count + i) * count + j
        mapping[r, i, j] = channels
        with np.errstate(all="ignore"):
            for h, w in pixels:
                output[r, i, j] += maps[image, h, w, channels]
            output[r, i, j] /= maps.dtype.type(max(len(pixels), 1))
    return output, mapping


def backward(
    grad: np.ndarray, rois: np.ndarray, mapping: np.ndarray, scale: float, shape: tuple[int, int, int], real: type
) -> np.ndarray:
    """bottom_grad [B, H, W, g*g*D], divided in the type of the gradient and added up in `real`, in its order."""
    count, depth = grad.shape[1], grad.shape[3]
    channels = count * count * depth
    result = np.zeros((*shape, channels), real)
    for r, i, j, image, pixels in _regions(rois, scale, count, shape):
        for d in range(depth):
            channel = mapping[r, i, j, d]
            if not (pixels and 0 <= channel < channels):
                continue
            with np.errstate(all="ignore"):
                share = real(grad[r, i, j, d] / grad.dtype.type(len(pixels)))
                for h, w in pixels:
                    result[image, h, w, channel] += share
    return result


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let the regions lie on the maps and somewhat beside them, and the channels be those of forward."""
    rois = arguments["rois"]
    if "input" in arguments:
        batch, *size = arguments["input"].shape[:3]
    else:
        batch, size = arguments["batch"], [*arguments["feature_size"]]
        _, rows, columns, depth = arguments["mapping_channel"].shape
        d, i, j = np.meshgrid(np.arange(depth), np.arange(rows), np.arange(columns), indexing="ij")
        arguments["mapping_channel"][...] = ((d * rows + i) * columns + j).transpose(1, 2, 0)
    height, width = (extent / arguments["spatial_scale"] for extent in size)
    corners = rng.uniform(-0.2, 1.1, (len(rois), 2, 2)) * [width, height]
    rois[:, 0] = rng.integers(0, batch, len(rois))
    rois[:, 1:] = np.sort(corners, axis=1).reshape(-1, 4)


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name == "ps_roi_pool_forward":
        maps, rois, count, _, scale, _, depth = given
        return forward(maps, rois, scale, count, depth)
    grad, rois, mapping, _, _, scale, _, batch, height, width = given
    return backward(grad, rois, mapping, scale, (batch, height, width), np.float64)


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def _sizes(bins: int, depth: int, **others: int) -> dict[str, int]:
    return {"pooled_height": bins, "pooled_width": bins, "group_size": bins, "output_dim": depth, **others}


def ways(size: int) -> Iterator[Way]:
    """Many regions, which the maps are sorted for, few of them, and many channels."""
    scale = {"spatial_scale": 0.25}
    for name in ("ps_roi_pool_forward", "ps_roi_pool_backward"):
        yield Way(name, "many regions", _sizes(3, 5, B=2, H=12, W=14, R=size + 8), scale)
        yield Way(name, "few regions", _sizes(2, 3, B=2, H=3 * size // 2 + 3, W=40, R=3), scale)
        yield Way(name, "many channels", _sizes(1, 10 * size + 200, B=1, H=4, W=5, R=2), scale)


def endless() -> Iterator[Way]:
    """A map of 500 million channels."""
    for name in ("ps_roi_pool_forward", "ps_roi_pool_backward"):
        sizes = _sizes(1, 500_000_000, B=1, H=1, W=1, R=1)
        yield Way(name, "500 million channels", sizes, {"spatial_scale": 1.0}, huge=True)


def _checks(problem: Any, sizes: Mapping[str, int]) -> dict[str, list[Check]]:
    """Numbers that agree with each other before strides are looked at, and the limit in bytes."""
    tensors, values = problem.tensors, problem.values
    pooled, rois = (tensors[name].dims or () for name in ("output" if "output" in tensors else "top_grad", "rois"))
    map_dims = tensors["input" if "input" in tensors else "bottom_grad"].dims or ()
    wanted = tuple(values[name] for name in ("pooled_height", "pooled_width", "output_dim"))
    equal = wanted[0] == wanted[1] == values.get("group_size", wanted[0])
    names = ("pooled_height", "pooled_width", "output_dim", "group_size", "output_desc", "top_grad_desc", "rois_desc")
    large = [f"{name}_desc" for name, tensor in tensors.items() if tensor.nbytes >= 2**31]
    return {
        "sizes": [bad(pooled[1:] == wanted and equal and rois[1:] == (5,), *names)],
        "bytes": [unsupported(not large, *large)],
        "regions": [bad(rois[:1] != (0,) or 0 in map_dims, "rois_desc", "output_desc", "mapping_channel_desc")],
    }


_ORDER = "handle objects ranks types layouts scalars sizes packed shapes bytes"
_EMPTY = {"B": "", "H": "", "W": ""}
REFUSALS = {
    "mluOpPsRoiPoolForward": Refusals(order=f"{_ORDER} regions data overlap", empty=_EMPTY, checks=_checks),
    "mluOpPsRoiPoolBackward": Refusals(order=f"{_ORDER} positive data overlap", empty=_EMPTY, checks=_checks),
}
