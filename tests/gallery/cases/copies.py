"""Kernels about copies, layouts and pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np

from gallery.case import Case, Changed, Out


def floats(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def integral(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Floats whose sums are exact in any order."""
    return rng.integers(-9, 10, shape).astype(np.float32)


def vector_add(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 2500), floats(rng, 2500), Out(2500), 2500]


def saxpy(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 4999), Changed(integral(rng, 4999)), 0.5, 4999]


def crop(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 150, 70), Out((137, 51)), 70, 13, 19, 137, 51]


def crop_oracle(image: np.ndarray, _in_width: int, top: int, left: int, height: int, width: int) -> np.ndarray:
    return image[top : top + height, left : left + width]


def transpose(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 75, 101), Out((101, 75)), 75, 101]


def ping_pong(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 6000), Out(6000), 3.0, 0.5, 6000]


def shared_weights(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 21, 333), integral(rng, 333), Out((21, 333)), 21, 333]


def five_stages(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 7000), Out(7000), 7000]


def stencil(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 31, 77), Out((29, 75)), 31, 77]


def stencil_oracle(image: np.ndarray, _height: int, _width: int) -> np.ndarray:
    sums = image[:-2, 1:-1] + image[2:, 1:-1] + image[1:-1, :-2] + image[1:-1, 2:]
    return sums * np.float32(0.25)


CASES = (
    Case("vector_add", 4, "block", vector_add, lambda x, y, n: x + y),
    Case("saxpy", 8, "union1", saxpy, lambda x, y, alpha, n: np.float32(alpha) * x + y),
    Case("crop", 3, "block", crop, crop_oracle),
    Case("transpose", 4, "block", transpose, lambda x, h, w: x.T),
    Case("ping_pong", 4, "union1", ping_pong, lambda x, a, b, n: x * np.float32(a) + np.float32(b)),
    Case("shared_weights", 8, "union1", shared_weights, lambda x, w, rows, columns: x * w),
    Case("five_stages", 8, "union1", five_stages, lambda x, n: x * x),
    Case("stencil", 4, "union1", stencil, stencil_oracle),
)
