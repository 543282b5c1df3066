"""Batch normalisation in steps: statistics of channels, values, sums for the gradients, gradients; all in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: C functions without a description: tests/ops has their refusals and values.
TESTED_APART = (
    "mluOpGetSyncBatchNormBackwardReduceWorkspaceSize",
    "mluOpGetSyncBatchNormStatsWorkspaceSize",
    "mluOpSyncBatchNormBackwardElemt",
    "mluOpSyncBatchNormBackwardElemtV2",
    "mluOpSyncBatchNormBackwardReduce",
    "mluOpSyncBatchNormBackwardReduce_v2",
    "mluOpSyncBatchNormElemt",
    "mluOpSyncBatchNormGatherStatsWithCounts",
    "mluOpSyncBatchNormStats",
    "mluOpSyncBatchNormStats_v2",
)

_STATS, _GATHER = "sync_batch_norm_stats", "sync_batch_norm_gather_stats_with_counts"
_ELEMT, _REDUCE = "sync_batch_norm_elemt", "sync_batch_norm_backward_reduce"
_BACKWARD, _BACKWARD_V2 = "sync_batch_norm_backward_elemt", "sync_batch_norm_backward_elemt_v2"

#: Operators whose float results a device may round or order in its own way.
SUMS = (_STATS, _GATHER, _ELEMT, _REDUCE, _BACKWARD, _BACKWARD_V2)


def _wide(array: Any) -> Any:
    """A channel's numbers beside [N, C, S]."""
    return np.asarray(array, np.float64)[:, None]


def stats(x: np.ndarray, eps: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and inverse standard deviation of each channel of [N, C, S]."""
    values = x.astype(np.float64)
    with np.errstate(all="ignore"):
        mean = values.mean((0, 2))
        var = ((values - _wide(mean)) ** 2).mean((0, 2))
        return mean, 1 / np.sqrt(var + eps)


def gather(
    mean_all: np.ndarray, invstd_all: np.ndarray, count_all: np.ndarray, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, inverse standard deviation and unbiased variance of all devices together."""
    means, counts = mean_all.astype(np.float64), count_all.astype(np.float64)[:, None]
    with np.errstate(all="ignore"):
        total = counts.sum()
        mean = (means * counts).sum(0) / total
        own = np.maximum(1 / invstd_all.astype(np.float64) ** 2 - eps, 0)
        var = ((own + (means - mean) ** 2) * counts).sum(0) / total
        return mean, 1 / np.sqrt(var + eps), var * total / (total - 1)


def elemt(x: np.ndarray, mean: Any, invstd: Any, filter: Any = None, bias: Any = None) -> np.ndarray:
    """Normalised values."""
    with np.errstate(all="ignore"):
        found: np.ndarray = (x.astype(np.float64) - _wide(mean)) * _wide(invstd)
        found = found if filter is None else found * _wide(filter)
        return found if bias is None else found + _wide(bias)


def backward_reduce(dz: np.ndarray, x: np.ndarray, mean: Any, invstd: Any) -> tuple[np.ndarray, ...]:
    """Gradients of filter and bias, and the two sums that the gradient of the values needs."""
    grad = dz.astype(np.float64)
    with np.errstate(all="ignore"):
        total = grad.sum((0, 2))
        products = (grad * (x.astype(np.float64) - _wide(mean))).sum((0, 2))
        return products * np.asarray(invstd, np.float64), total, total, products


def backward_elemt(
    dy: np.ndarray, x: np.ndarray, mean: Any, invstd: Any, filter: Any, mean_dy: Any, mean_dy_xmu: Any
) -> np.ndarray:
    """Gradient of the values, from means of the two sums."""
    wide = _wide(invstd)
    with np.errstate(all="ignore"):
        found = dy.astype(np.float64) - _wide(mean_dy)
        found = (found - (x.astype(np.float64) - _wide(mean)) * wide**2 * _wide(mean_dy_xmu)) * wide
        result: np.ndarray = found if filter is None else found * _wide(filter)
        return result


def backward_elemt_v2(
    dy: np.ndarray, x: np.ndarray, mean: Any, invstd: Any, filter: Any, sum_dy: Any, sum_dy_xmu: Any, count: np.ndarray
) -> np.ndarray:
    """Gradient of the values, from the two sums and the numbers of values of all devices."""
    total = np.float64(count.astype(np.int64).sum())
    with np.errstate(all="ignore"):
        means = np.asarray(sum_dy, np.float64) / total, np.asarray(sum_dy_xmu, np.float64) / total
    return backward_elemt(dy, x, mean, invstd, filter, *means)


_FUNCTIONS: dict[str, Any] = {
    _STATS: stats, _GATHER: gather, _ELEMT: elemt, _REDUCE: backward_reduce, _BACKWARD: backward_elemt,
    _BACKWARD_V2: backward_elemt_v2,
}  # fmt: skip


def in_double(name: str, *given: Any) -> Any:
    """The results of an operator for float64 arrays and the scalars of the description."""
    return _FUNCTIONS[name](*given)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let inverse standard deviations and counts be positive, as they are of any values."""
    for name in ("invstd", "invstd_all"):
        if name in arguments:
            arguments[name][...] = rng.uniform(0.5, 2, arguments[name].shape)
    for name in ("count", "count_all"):
        if name in arguments:
            arguments[name][...] = rng.integers(2, 9, arguments[name].shape)
    if "eps" in arguments:
        arguments["eps"] = 0.0625


def ways(size: int) -> Iterator[Way]:
    """Rows of values of a channel, and columns where these are short."""
    for name in SUMS:
        if name == _GATHER:
            yield Way(name, "many devices", {"D": size + 2, "C": 70})
            continue
        yield Way(name, "long rows", {"N": 2, "C": 3, "S": 150 * size + 5})
        yield Way(name, "short rows", {"N": 30 * size + 1, "C": 7, "S": 5})


REFUSALS = {
    "mluopsExtSyncBatchNormStats": Refusals(),
    "mluopsExtSyncBatchNormGatherStats": Refusals(),
    "mluopsExtSyncBatchNormElemt": Refusals(),
    "mluopsExtSyncBatchNormBackwardReduce": Refusals(),
    "mluopsExtSyncBatchNormBackwardElemt": Refusals(),
    "mluopsExtSyncBatchNormBackwardElemtV2": Refusals(),
}
