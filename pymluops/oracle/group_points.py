"""Features of points by their indices, and the gradient: a sum over all that an index took, in order.

An index that is no point gives zeros, and takes no part in a sum. float16 is added up in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pymluops.oracle.stacked import slices

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("gather_points_backward", "group_points_backward", "stack_group_points_backward")


def pick(features: np.ndarray, idx: np.ndarray) -> np.ndarray:
    """[B, C, ...] of features [B, C, N] and idx [B, ...]."""
    result = np.zeros((*features.shape[:2], *idx.shape[1:]), features.dtype)
    for b, *place in np.argwhere((idx >= 0) & (idx < features.shape[2])):
        result[(b, slice(None), *place)] = features[b, :, idx[(b, *place)]]
    return result


def add(grad_output: np.ndarray, idx: np.ndarray, points: int) -> np.ndarray:
    """[B, C, points], the gradient of `pick`."""
    real = np.float32 if grad_output.dtype == np.float16 else grad_output.dtype
    result = np.zeros((*grad_output.shape[:2], points), real)
    for b, *place in np.argwhere((idx >= 0) & (idx < points)):
        with np.errstate(all="ignore"):
            result[b, :, idx[(b, *place)]] += grad_output[(b, slice(None), *place)].astype(real)
    with np.errstate(all="ignore"):
        return result.astype(grad_output.dtype)


def rows(idx: np.ndarray, idx_counts: np.ndarray, counts: np.ndarray, points: int) -> np.ndarray:
    """The rows [M, S] of stacked features that indices name, -1 for those that are none of the batch."""
    found = np.full(idx.shape, -1, np.int64)
    for groups, batch in zip(slices(idx_counts, len(idx)), slices(counts, points), strict=True):
        own = idx[groups].astype(np.int64)
        found[groups] = np.where((own >= 0) & (own < batch.stop - batch.start), own + batch.start, -1)
    return found


def pick_stack(features: np.ndarray, counts: np.ndarray, idx: np.ndarray, idx_counts: np.ndarray) -> np.ndarray:
    """[M, C, S] of features [N, C] and idx [M, S]."""
    return pick(features.T[None], rows(idx, idx_counts, counts, len(features))[None])[0].transpose(1, 0, 2).copy()


def add_stack(
    grad_output: np.ndarray, idx: np.ndarray, idx_counts: np.ndarray, counts: np.ndarray, points: int
) -> np.ndarray:
    """[N, C], the gradient of `pick_stack`."""
    return add(grad_output.transpose(1, 0, 2)[None], rows(idx, idx_counts, counts, points)[None], points)[0].T.copy()


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let stacked batches have all points and all groups, and some indices no point."""
    if "idx_batch_cnt" not in arguments:
        return
    counts, groups, idx = (arguments[name] for name in ("features_batch_cnt", "idx_batch_cnt", "idx"))
    shares = np.ones(len(counts)) / len(counts)
    points = arguments["num_points"] if "num_points" in arguments else len(arguments["features"])
    counts[...], groups[...] = rng.multinomial(points, shares), rng.multinomial(len(idx), shares)
    idx[...] = rng.integers(-1, points, idx.shape)


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results of an operator for float64 arrays and the scalars of the description."""
    if name.startswith("stack"):
        return pick_stack(*given) if name.endswith("forward") else add_stack(*given)
    return pick(*given) if name.endswith("forward") else add(*given)
