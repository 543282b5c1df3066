"""Kernels that make few values out of many."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallery.case import Case, Changed, Out
from gallery.cases.copies import floats, integral


def row_sum(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 301, 77), Out(301), 301, 77]


def column_max(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 75, 130), Out(130), 75, 130]


def full_sum(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 9001), Changed(np.zeros(1, np.float32)), 9001]


def histogram(rng: np.random.Generator) -> list[Any]:
    return [rng.integers(0, 80, 7777).astype(np.uint8), Changed(np.zeros(64, np.int32)), 7777]


def histogram_oracle(x: np.ndarray, _bins: np.ndarray, _n: int) -> np.ndarray:
    return np.bincount(x, minlength=256)[:64].astype(np.int32)


def prefix_sum(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 4321), Out(4321), 4321]


def arg_max(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 150, 90), Out(150), Out(150, np.int32), 150, 90]


def arg_max_oracle(x: np.ndarray, *_: int) -> tuple[np.ndarray, np.ndarray]:
    return x.max(-1), x.argmax(-1).astype(np.int32)


def max_pool(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 15, 13, 64), Out((7, 6, 64)), 15, 13, 64]


def max_pool_oracle(image: np.ndarray, *_: int) -> np.ndarray:
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), (0, 1))[::2, ::2]
    return windows.max((-1, -2))


def matrix_vector(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 83, 150), integral(rng, 150), Out(83), 83, 150]


CASES = (
    Case("row_sum", 4, "union1", row_sum, lambda x, rows, columns: x.sum(-1)),
    Case("column_max", 3, "block", column_max, lambda x, rows, columns: x.max(0)),
    Case("full_sum", 8, "union1", full_sum, lambda x, total, n: x.sum(keepdims=True)),
    Case("histogram", 8, "union1", histogram, histogram_oracle),
    Case("prefix_sum", 4, "union1", prefix_sum, lambda x, n: np.cumsum(x, dtype=np.float32)),
    Case("arg_max", 4, "union1", arg_max, arg_max_oracle),
    Case("max_pool", 4, "union1", max_pool, max_pool_oracle),
    Case("matrix_vector", 4, "union1", matrix_vector, lambda a, x, y, rows: a @ x),
)
