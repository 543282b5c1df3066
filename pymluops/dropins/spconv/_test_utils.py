"""What spconv's own tests are written with, and projects that test their networks as it does."""

from __future__ import annotations

import itertools
import unittest
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

__all__ = ["TestCase", "generate_sparse_data", "params_grid"]


class TestCase(unittest.TestCase):
    """A test case that compares arrays."""

    def assertAllEqual(self, a: ArrayLike, b: ArrayLike) -> None:
        """Fail unless two arrays have the same shape and values; NaN equals NaN."""
        first, second = np.asarray(a), np.asarray(b)
        self.assertEqual(first.shape, second.shape, f"expected shape {first.shape}, got {second.shape}")
        np.testing.assert_array_equal(first, second)

    def assertAllClose(
        self,
        a: ArrayLike | Mapping[Any, ArrayLike],
        b: ArrayLike | Mapping[Any, ArrayLike],
        rtol: float = 1e-6,
        atol: float = 1e-6,
    ) -> None:
        """Fail unless two arrays, or the arrays of two dicts with the same keys, have almost the same values."""
        if isinstance(a, Mapping) != isinstance(b, Mapping):
            raise ValueError(f"expected two dicts or two arrays, got {type(a).__name__} and {type(b).__name__}")
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            self.assertCountEqual(a.keys(), b.keys(), f"expected keys {list(a)}, got {list(b)}")
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol)
            return
        first, second = np.asarray(a), np.asarray(b)
        self.assertEqual(first.shape, second.shape, f"expected shape {first.shape}, got {second.shape}")
        np.testing.assert_allclose(first, second, rtol, atol)


def params_grid(*params: Sequence[Any]) -> list[list[Any]]:
    """Return all choices of one value from each sequence; the last one changes first."""
    return [list(chosen) for chosen in itertools.product(*params)]


def generate_sparse_data(
    shape: Sequence[int],
    num_points: Sequence[int],
    num_channels: int,
    integer: bool = False,
    data_range: tuple[float, float] = (-1, 1),
    with_dense: bool = True,
    dtype: DTypeLike = np.float32,
) -> dict[str, np.ndarray]:
    """Draw places and features of a batch from NumPy's global generator.

    Parameters
    ----------
    shape : sequence of int
        Sizes of the space.
    num_points : sequence of int
        Number of places of each sample of the batch; none occurs twice.
    num_channels : int
        Number of features of a place.
    integer : bool
        Whether features are whole numbers below the end of the range.
    data_range : (float, float)
        Range of the features.
    with_dense : bool
        Whether the dense tensor is returned too.
    dtype : dtype
        Type of the features.

    Returns
    -------
    dict
        ``features`` [N, C]; ``indices`` [N, ndim + 1] of int32, the number of the sample **last**;
        with ``with_dense`` also ``features_dense`` [B, C, *shape].
    """
    counts = np.asarray(num_points)
    ndim, total = len(shape), int(counts.sum())
    places = []
    for sample, count in enumerate(counts):
        chosen = np.random.permutation(int(np.prod(shape)))[:count]
        own = np.stack(np.unravel_index(chosen, tuple(shape)), 1)
        places.append(np.concatenate([own, np.full((len(own), 1), sample)], 1))
    indices = np.concatenate(places).astype(np.int32).reshape(-1, ndim + 1)
    if integer:
        features = np.random.randint(int(data_range[0]), int(data_range[1]), (total, num_channels)).astype(dtype)
    else:
        features = np.random.uniform(*data_range, (total, num_channels)).astype(dtype)
    found = {"features": features, "indices": indices}
    if with_dense:
        dense = np.zeros((len(counts), num_channels, *shape), dtype)
        dense[(indices[:, -1], slice(None), *indices[:, :-1].T)] = features
        found["features_dense"] = dense
    return found
