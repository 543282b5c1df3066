"""Random sizes, those at which kernels break more often than others."""

from __future__ import annotations

import numpy as np

__all__ = ["random_shape"]

#: Kernels work in pieces of this many elements: sizes around multiples of it are tried often.
_PIECE = 64


def random_shape(rng: np.random.Generator, *axes: int | tuple[int, int]) -> tuple[int, ...]:
    """Return a random shape.

    Half of the sizes are at an edge: the smallest, the largest, a power of two or a multiple of 64,
    or one off them.

    Parameters
    ----------
    rng : numpy.random.Generator
        Such as the fixture `mlu_rng`.
    *axes : int, or pair of int
        For each axis its size, or the smallest and the largest that it may have.

    Returns
    -------
    tuple of int

    Raises
    ------
    ValueError
        If a size is negative, or the smallest is above the largest.

    Examples
    --------
    >>> import numpy
    >>> from pymluops.bang.testing import random_shape
    >>> random_shape(numpy.random.default_rng(7), 3, (1, 200))[0]
    3
    """
    return tuple(_size(rng, axis) for axis in axes)


def _size(rng: np.random.Generator, axis: int | tuple[int, int]) -> int:
    low, high = axis if isinstance(axis, tuple) else (axis, axis)
    if not 0 <= low <= high:
        raise ValueError(f"random_shape: axes: expected sizes from 0 on, smallest first, got {axis}")
    if rng.random() < 0.5:
        return int(rng.integers(low, high + 1))
    middles = [2**i for i in range(high.bit_length() + 1)] + [_PIECE * int(rng.integers(1, high // _PIECE + 2))]
    edges = {low, high, *(middle + step for middle in middles for step in (-1, 0, 1))}
    return int(rng.choice(sorted(edge for edge in edges if low <= edge <= high)))
