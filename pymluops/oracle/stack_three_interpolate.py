"""Interpolation of stacked features: each row is a weighted sum of three. An index that is no row adds nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

#: Operators whose float results are sums, which a device may round or order in its own way.
SUMS = ("stack_three_interpolate_forward", "stack_three_interpolate_backward")


def _real(array: np.ndarray) -> Any:
    return np.float32 if array.dtype == np.float16 else array.dtype


def forward(features: np.ndarray, indices: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """[N, C]: (w0 * p0 + w1 * p1) + w2 * p2, computed in float32 for float16."""
    real = _real(features)
    result = np.zeros((len(indices), features.shape[1]), real)
    with np.errstate(all="ignore"):
        for n, i in np.argwhere((indices >= 0) & (indices < len(features))):
            result[n] += real_of(weights[n, i], real) * features[indices[n, i]].astype(real)
        return result.astype(features.dtype)


def backward(grad_output: np.ndarray, indices: np.ndarray, weights: np.ndarray, num_features: int) -> np.ndarray:
    """[M, C]: what every (n, i) sends to its row, added up in this order."""
    real = _real(grad_output)
    result = np.zeros((num_features, grad_output.shape[1]), real)
    with np.errstate(all="ignore"):
        for n, i in np.argwhere((indices >= 0) & (indices < num_features)):
            result[indices[n, i]] += real_of(weights[n, i], real) * grad_output[n].astype(real)
        return result.astype(grad_output.dtype)


def real_of(value: Any, real: Any) -> Any:
    """A number in the type to compute in."""
    return np.dtype(real).type(value)


def in_double(name: str, *given: Any) -> np.ndarray:
    """The results of an operator for float64 arrays and the scalars of the description."""
    return forward(*given) if name.endswith("forward") else backward(*given)
