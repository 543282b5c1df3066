"""three_interpolate: every output point is the weighted sum of three features. An index outside [0, M) adds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("three_interpolate_forward", "three_interpolate_backward")


def forward(features: np.ndarray, indices: np.ndarray, weights: np.ndarray, real: type = np.float64) -> np.ndarray:
    """out[b, c, n] = sum over i of weights[b, n, i] * features[b, c, indices[b, n, i]], added in order of i."""
    batch, channels, size = features.shape
    result = np.zeros((batch, channels, indices.shape[1]), real)
    for b in range(batch):
        for i in range(3):
            index = indices[b, :, i].astype(np.int64)
            points = np.flatnonzero((index >= 0) & (index < size))
            with np.errstate(all="ignore"):
                products = weights[b, points, i].astype(real) * features[b][:, index[points]].astype(real)
                result[b][:, points] += products
    return result


def backward(grad_output: np.ndarray, indices: np.ndarray, weights: np.ndarray, num_features: int) -> np.ndarray:
    """grad_features [B, C, M] in float64: what every (n, i) with indices[b, n, i] == m sends to m, summed."""
    result = np.zeros((*grad_output.shape[:2], num_features))
    for b in range(len(grad_output)):
        result[b] = backward_one(grad_output[b], indices[b], weights[b], num_features)
    return result


def backward_one(grad_output: np.ndarray, indices: np.ndarray, weights: np.ndarray, num_features: int) -> np.ndarray:
    """One batch of :func:`backward`: sort the (n, i) by target, then add up each run."""
    result = np.zeros((len(grad_output), num_features))
    target = indices.reshape(-1).astype(np.int64)
    pairs = np.flatnonzero((target >= 0) & (target < num_features))
    pairs = pairs[np.argsort(target[pairs], kind="stable")]
    if not len(pairs):
        return result
    with np.errstate(all="ignore"):
        sent = grad_output.T.astype(np.float64)[pairs // 3] * weights.reshape(-1).astype(np.float64)[pairs, None]
        referenced, starts = np.unique(target[pairs], return_index=True)
        result[:, referenced] = np.add.reduceat(sent, starts, axis=0).T
    return result


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results of an operator for float64 arrays and the scalars of the description."""
    return forward(*given) if name == "three_interpolate_forward" else backward(*given)


#: A call on a few values has one phase, and so does not look at the clock.
ONE_PHASE = True


def ways(size: int) -> Iterator[Way]:
    """Tiles of many channels, and few channels one at a time."""
    for name in ("three_interpolate_forward", "three_interpolate_backward"):
        yield Way(name, "tiles", {"B": 2, "C": 20, "M": 100, "N": size * 8})
        yield Way(name, "plain", {"B": 2, "C": 1, "M": size * 60, "N": size * 60})


def endless() -> Iterator[Way]:
    """Two billion values of points."""
    for channels in (1, 16):
        for name in ("three_interpolate_forward", "three_interpolate_backward"):
            sizes = {"B": 1, "C": channels, "M": 64, "N": 2_000_000_000 // (channels + 3)}
            yield Way(name, f"{channels} channels", sizes, huge=True)


_ARRAY = ("ARRAY",)
_ORDER = "handle objects ranks layouts types shapes packed indexable positive data overlap"
REFUSALS = {
    "mluOpThreeInterpolateForward": Refusals(
        _ORDER, layouts=dict.fromkeys(("features", "indices", "weights", "output"), _ARRAY)
    ),
    "mluOpThreeInterpolateBackward": Refusals(
        _ORDER, layouts=dict.fromkeys(("grad_output", "indices", "weights", "grad_features"), _ARRAY)
    ),
}
