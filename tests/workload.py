"""Every operator once on fixed inputs, large enough for several threads; as a program it prints digests."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection
from typing import Any

import numpy as np

import described
import pymluops


def results(handle: Any = None, *, pairs: bool = True) -> dict[str, np.ndarray]:
    """Named results of the operators of the simulator in all dtypes; without `pairs`, of all but get_indice_pairs."""
    found: dict[str, np.ndarray] = {}
    for dtype in ("float16", "float32"):
        for name, value in _floating(np.random.default_rng(11), dtype, handle).items():
            found[f"{name} {dtype}"] = value
    if pairs:
        found.update(_pairs(np.random.default_rng(12), handle))
    return found


def described_results(found: Collection[str], handle: Any) -> dict[str, np.ndarray]:
    """Named results of the operators that are not among those `found`, with arguments from their descriptions."""
    results = {}
    for name in described.describable():
        if any(key.startswith(name) for key in found):
            continue
        for dtype in ("float16", "float32"):
            arguments = described.arguments(name, np.random.default_rng(13), 40, dtype)
            for number, array in enumerate(described.call(name, arguments, handle=handle)):
                results[f"{name} {dtype} {number}"] = array
    return results


def _floating(rng: np.random.Generator, dtype: str, handle: Any) -> dict[str, np.ndarray]:
    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape).astype(dtype)

    found: dict[str, np.ndarray] = {}
    shifts = rng.integers(-9, 10, (3, 4), np.int32)
    found["tin_shift_forward"] = pymluops.tin_shift_forward(normal(3, 8, 32, 133), shifts, handle=handle)
    found["tin_shift_backward"] = pymluops.tin_shift_backward(normal(3, 8, 32, 133), shifts, handle=handle)
    if dtype == "float32":
        for mode in ("collect", "distribute"):
            found[f"psamask_forward {mode}"] = pymluops.psamask_forward(
                normal(2, 13, 17, 15), mode, (3, 5), handle=handle
            )
            found[f"psamask_backward {mode}"] = pymluops.psamask_backward(
                normal(2, 13, 17, 221), mode, (3, 5), handle=handle
            )
    boxes = rng.uniform(-1, 24, (2, 311, 4)).astype(dtype)
    values, places = pymluops.border_align_forward(normal(2, 19, 23, 4 * 37), boxes, 7, handle=handle)
    found["border_align_forward"], found["border_align_forward argmax"] = values, places
    grad = normal(2, 311, 4, 37)
    found["border_align_backward"] = pymluops.border_align_backward(grad, boxes, places, 7, (19, 23), handle=handle)
    weights, indices = normal(2, 1501, 3), rng.integers(0, 97, (2, 1501, 3), np.int32)
    found["three_interpolate_forward"] = pymluops.three_interpolate_forward(
        normal(2, 67, 97), indices, weights, handle=handle
    )
    found["three_interpolate_backward"] = pymluops.three_interpolate_backward(
        normal(2, 67, 1501), indices, weights, 97, handle=handle
    )
    return found


def _pairs(rng: np.random.Generator, handle: Any) -> dict[str, np.ndarray]:
    indices = rng.integers(0, (2, 21, 60, 60), (20_000, 4)).astype(np.int32)
    found = {}
    for subm in (False, True):
        result = pymluops.get_indice_pairs(
            indices, batch_size=2, spatial_shape=(21, 60, 60), kernel_size=3, stride=1 if subm else 2, padding=1,
            subm=subm, handle=handle,
        )  # fmt: skip
        for name, value in result._asdict().items():
            found[f"get_indice_pairs {'subm' if subm else 'default'} {name}"] = value
    return found


def digests(handle: Any = None) -> dict[str, str]:
    """A hash of every result in the CPU library."""
    found = results(handle)
    found.update(described_results(found, handle))
    return {
        name: hashlib.sha256(f"{value.dtype.str}{value.shape}".encode() + value.tobytes()).hexdigest()
        for name, value in found.items()
    }


def differing(found: dict[str, str], expected: dict[str, str]) -> list[str]:
    """Names of the results whose digests are not equal."""
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))


if __name__ == "__main__":
    library = pymluops.load("cpu")
    level = library.ffi.string(library.lib.mluopsExtGetInstructionLevel()).decode()
    json.dump({"level": level, "digests": digests(), "threads": pymluops.get_num_threads()}, sys.stdout)
