"""Kernels that sort, search, transform and count, and forms of the language."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gallery.case import SINCE_370, Case, Changed, Out
from gallery.cases.copies import floats, integral


def top_k(rng: np.random.Generator) -> list[Any]:
    return [floats(rng, 21, 133), Out((21, 7)), Out((21, 7), np.int32), 7, 21, 133]


def top_k_oracle(x: np.ndarray, k: int, *_: int) -> tuple[np.ndarray, np.ndarray]:
    places = np.argsort(-x, -1, kind="stable")[:, :k]
    return np.take_along_axis(x, places, -1), places


def nms(rng: np.random.Generator) -> list[Any]:
    corners = rng.uniform(0, 40, (2, 150))
    boxes = np.concatenate([corners, corners + rng.uniform(4, 16, (2, 150))]).astype(np.float32)
    scores = rng.permutation(np.arange(1, 151)).astype(np.float32)
    return [boxes, scores, Out(150, np.int32), Out(1, np.int32), 0.3, 150]


def nms_oracle(boxes: np.ndarray, scores: np.ndarray, most: float, n: int) -> tuple[np.ndarray, np.ndarray]:
    x1, y1, x2, y2 = boxes
    areas = (x2 - x1) * (y2 - y1)
    left, kept = list(np.argsort(-scores)), []
    while left:
        chosen = left.pop(0)
        kept.append(chosen)
        shared = np.maximum(np.minimum(x2, x2[chosen]) - np.maximum(x1, x1[chosen]), 0)
        shared *= np.maximum(np.minimum(y2, y2[chosen]) - np.maximum(y1, y1[chosen]), 0)
        dropped = shared > (areas + areas[chosen] - shared) * np.float32(most)
        left = [box for box in left if not dropped[box]]
    return np.array(kept + [-1] * (n - len(kept))), np.array([len(kept)])


def nearest_three(rng: np.random.Generator) -> list[Any]:
    return [integral(rng, 3, 500) * 7, integral(rng, 3, 37), Out((37, 3)), Out((37, 3), np.int32), 500, 37]


def nearest_oracle(cloud: np.ndarray, queries: np.ndarray, *_: int) -> tuple[np.ndarray, np.ndarray]:
    squares = ((queries[:, :, None] - cloud[:, None]) ** 2).sum(0)
    places = np.argsort(squares, -1, kind="stable")[:, :3]
    return np.take_along_axis(squares, places, -1), places


GRID = np.dtype([("x", "i4"), ("y", "i4"), ("z", "i4"), ("size", "f4")])


def voxel_counts(rng: np.random.Generator) -> list[Any]:
    cloud = rng.uniform(0, [[2.0], [2.5], [1.5]], (3, 1111)).astype(np.float32)
    return [cloud, Changed(np.zeros(60, np.int32)), np.array((4, 5, 3, 0.5), GRID)[()], 1111]


def voxel_oracle(cloud: np.ndarray, _voxels: np.ndarray, grid: Any, _n: int) -> np.ndarray:
    x, y, z = np.floor(cloud / np.float32(0.5)).astype(int)
    return np.bincount((x * 5 + y) * 3 + z, minlength=60)


def fft(rng: np.random.Generator) -> list[Any]:
    batch, n = 6, 128
    stages, at = np.arange(7)[:, None], np.arange(n // 2)
    angles = -2 * np.pi * (at >> stages << stages) / n
    cosines, sines = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    return [floats(rng, batch, n), floats(rng, batch, n), cosines, sines, Out((batch, n)), Out((batch, n)), batch, n]


def fft_oracle(re: np.ndarray, im: np.ndarray, *_: Any) -> tuple[np.ndarray, np.ndarray]:
    out = np.fft.fft(re + 1j * im.astype(np.float64))
    return out.real, out.imag


def sparse_rows(rng: np.random.Generator) -> list[Any]:
    dense = integral(rng, 101, 77) * (rng.random((101, 77)) < 0.1)
    dense[40:60] = 0
    rows, columns = np.nonzero(dense)
    starts = np.searchsorted(rows, np.arange(102)).astype(np.int32)
    elements = dense[rows, columns].astype(np.float32)
    return [starts, columns.astype(np.int32), elements, integral(rng, 77), Out(101), 101, 77]


def sparse_oracle(starts: np.ndarray, columns: np.ndarray, elements: np.ndarray, x: np.ndarray, *_: int) -> np.ndarray:
    products = elements * x[columns]
    return np.array([products[a:b].sum() for a, b in itertools.pairwise(starts)])


def random_bits_oracle(key: int, n: int) -> np.ndarray:
    counter, keys = np.arange(n, dtype=np.uint64), np.uint64(key)
    low = np.uint64(0xFFFFFFFF)
    for _ in range(4):
        product = counter * np.uint64(0xD2511F53)
        counter = (((product >> np.uint64(32)) ^ (product & low)) + keys) & low
        keys = (keys + np.uint64(0x9E3779B9)) & low
    return counter.astype(np.uint32)


def pair(rng: np.random.Generator, dtype: Any) -> list[Any]:
    return [integral(rng, 3001).astype(dtype), integral(rng, 3001).astype(dtype), Out(3001, dtype), 3001]


def larger_oracle(x: np.ndarray, y: np.ndarray, _n: int) -> np.ndarray:
    return np.maximum(x, y)


def union4_normalize(rng: np.random.Generator) -> list[Any]:
    return [np.abs(integral(rng, 5001)) + 1, Out(16), Out(5001), 5001]


def union4_oracle(x: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    share = -(-n // 16)
    return np.array([x[task * share : (task + 1) * share].sum() for task in range(16)]), x * (np.float32(1) / x.sum())


def cluster_ring_oracle(x: np.ndarray) -> np.ndarray:
    return x + x[::-1]


def flip(rng: np.random.Generator, upside_down: bool) -> list[Any]:
    x = floats(rng, 75, 128).astype(np.float16)
    return [x, Out(x.shape, np.float16), 75, 128, upside_down]


def hamming(rng: np.random.Generator) -> list[Any]:
    code = rng.integers(-128, 128, (73, 128)).astype(np.int8)
    return [code, rng.integers(-128, 128, 128).astype(np.int8), Out(73, np.int32), 73]


def hamming_oracle(code: np.ndarray, wanted: np.ndarray, _n: int) -> np.ndarray:
    return np.unpackbits((code ^ wanted).view(np.uint8), axis=-1).sum(-1)


CASES = (
    Case("top_k", 4, "union1", top_k, top_k_oracle, 0.0, SINCE_370),
    Case("nms", 1, "block", nms, nms_oracle, 0.0, SINCE_370),
    Case("nearest_three", 4, "union1", nearest_three, nearest_oracle, 0.0, SINCE_370),
    Case("voxel_counts", 8, "union1", voxel_counts, voxel_oracle, 0.0, SINCE_370),
    Case("fft", 4, "union1", fft, fft_oracle, 1e-6, SINCE_370),
    Case(
        "bitonic_sort", 3, "block", lambda rng: [floats(rng, 7, 256), Out((7, 256)), 7, 256],
        lambda x, rows, n: np.sort(x, -1), 0.0, SINCE_370,
    ),
    Case("sparse_rows", 8, "union1", sparse_rows, sparse_oracle),
    Case(
        "random_bits", 4, "union1", lambda rng: [Out(3000, np.uint32), 4000000000, 3000], random_bits_oracle, 0.0,
        SINCE_370,
    ),
    Case("templates", 4, "union1", lambda r: pair(r, np.float16), lambda x, y, n: x + y, 0.0, SINCE_370, "add_half"),
    Case("templates", 4, "union1", lambda r: pair(r, np.float32), larger_oracle, 0.0, SINCE_370, "larger_float"),
    Case("templates", 4, "union1", lambda r: pair(r, np.int32), lambda x, y, n: x + y, 0.0, SINCE_370, "add_int"),
    Case(
        "function_table", 3, "block", lambda rng: [np.abs(floats(rng, 1500)), Out(1500), 2, 1500],
        lambda x, operation, n: np.sqrt(x), 0.0, SINCE_370,
    ),
    Case("union4_normalize", 16, "union4", union4_normalize, union4_oracle, 0.0, SINCE_370),
    Case(
        "cluster_ring", 8, "union2", lambda rng: [integral(rng, 2, 256), Out((2, 256))], cluster_ring_oracle, 0.0,
        SINCE_370,
    ),
    Case("flip_half", 2, "block", lambda rng: flip(rng, False), lambda x, *_: x[:, ::-1]),
    Case("hamming", 4, "union1", hamming, hamming_oracle),
)  # fmt: skip
