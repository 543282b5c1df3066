"""Overhead of a call on tiny tensors: each function of `pymluops.torch` next to the one for NumPy arrays.

Both make their results. What one takes beyond the other is the difference of their lowest tenths.
"""

from __future__ import annotations

import importlib
import importlib.util
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import pymluops
from benchmarks.summary import spread

#: Nanoseconds that a function for tensors may take beyond the one for arrays.
LIMIT = 3000.0
_CALLS, _ROUNDS = 200, 200

Calls = dict[str, tuple[Callable[[], Any], Callable[[], Any]]]


def tiny_calls() -> Calls:
    """Return for each function a call with arrays and one with tensors, as mmcv would give them."""
    ops: Any = importlib.import_module("pymluops.torch")
    tensor: Any = importlib.import_module("torch").from_numpy
    rng = np.random.default_rng(0)

    def some(*shape: int) -> Any:
        return rng.random(shape, dtype=np.float32)

    clip, shifts = some(1, 2, 4, 3), np.array([[1, -1]], np.int32)
    masks, first_masks = some(1, 2, 2, 9), tensor(some(1, 9, 2, 2))
    maps, first_maps, boxes = some(1, 4, 4, 8), tensor(some(1, 8, 4, 4)), np.array([[[0, 0, 2, 2]]], np.float32)
    features, near, weights = some(1, 2, 4), np.array([[[0, 1, 2]]], np.int32), some(1, 1, 3)
    centres, points = some(1, 2, 3), some(1, 4, 3)
    value, sizes, starts = some(1, 4, 1, 2), np.array([[2, 2]], np.int32), np.array([0], np.int32)
    places, parts = some(1, 1, 1, 1, 1, 2), some(1, 1, 1, 1, 1)
    clip_t, shifts_t, boxes_t, value_t, places_t, parts_t = map(tensor, (clip, shifts, boxes, value, places, parts))
    features_t, near_t, weights_t, centres_t, points_t = map(tensor, (features, near, weights, centres, points))
    sizes_t, starts_t = tensor(sizes).long(), tensor(starts).long()
    return {
        "tin_shift": (lambda: pymluops.tin_shift_forward(clip, shifts), lambda: ops.tin_shift(clip_t, shifts_t)),
        "psa_mask": (lambda: pymluops.psamask_forward(masks, 0, (3, 3)), lambda: ops.psa_mask(first_masks, 0, (3, 3))),
        "border_align": (
            lambda: pymluops.border_align_forward(maps, boxes, 2),
            lambda: ops.border_align(first_maps, boxes_t, 2),
        ),
        "three_interpolate": (
            lambda: pymluops.three_interpolate_forward(features, near, weights),
            lambda: ops.three_interpolate(features_t, near_t, weights_t),
        ),
        "three_nn": (lambda: pymluops.three_nn_forward(centres, points), lambda: ops.three_nn(centres_t, points_t)),
        "ball_query": (
            lambda: pymluops.ball_query(centres, points, 0.0, 1.0, 2),
            lambda: ops.ball_query(0.0, 1.0, 2, points_t, centres_t),
        ),
        "ms_deform_attn": (
            lambda: pymluops.ms_deform_attn_forward(value, sizes, starts, places, parts, 64),
            lambda: ops.ms_deform_attn(value_t, sizes_t, starts_t, places_t, parts_t, 64),
        ),
    }


def run(quick: bool) -> tuple[list[dict[str, Any]], list[str]]:
    """Return nanoseconds a call with tensors and with arrays, and a note if PyTorch is missing."""
    if importlib.util.find_spec("torch") is None:
        return [], ["no calls on tiny tensors: torch is missing"]
    return [_measure(name, calls, quick) for name, calls in tiny_calls().items()], []


def _measure(name: str, calls: tuple[Callable[[], Any], Callable[[], Any]], quick: bool) -> dict[str, Any]:
    timers = dict(zip(("numpy", "pymluops"), map(timeit.Timer, calls), strict=True))
    times: dict[str, list[float]] = {key: [] for key in timers}
    for _ in range(5 if quick else _ROUNDS):
        for key, timer in timers.items():
            times[key].append(timer.timeit(_CALLS) / _CALLS * 1e9)
    # The lowest tenth has few turns that another process interrupted, which would count more than the difference.
    ours, arrays = (sorted(times[key])[len(times[key]) // 10] for key in ("pymluops", "numpy"))
    return {
        "operator": f"torch.{name}",
        "nanoseconds": {key: spread(values) for key, values in times.items()},
        "beyond": ours - arrays,
        "limit": LIMIT,
    }
