"""three_interpolate with NumPy: takes, a dense matrix for BLAS, and a sparse one where SciPy is installed."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import Variants
from benchmarks.problem import Array, Arrays, Problem
from benchmarks.threads import blas_obeys, together

#: Elements of a block of channels that stays in the second-level cache with its partial sums.
_BLOCK = 1 << 16

#: Larger dense matrices than this are slower than anything else.
_MOST_CELLS = 1 << 24


def variants(problem: Problem, outputs: Arrays, threads: int) -> Variants:
    """Return the ways that suit the direction. Batches are shared among threads of Python, but for BLAS's own."""
    forward = problem.case.operator.endswith("forward")
    source = problem.inputs["features" if forward else "grad_output"]
    indices, weights, out = problem.inputs["indices"], problem.inputs["weights"], outputs["out"]
    features = problem.case.parameters["features"]
    ways: dict[str, Callable[[int], None]] = {}
    if forward:
        ways["take"] = lambda b: _take(source[b], indices[b], weights[b], out[b])
    else:
        ways["bincount"] = lambda b: _bincount(source[b], indices[b], weights[b], out[b])
    if features * indices.shape[1] <= _MOST_CELLS and blas_obeys(threads):
        ways["dense matrix"] = lambda b: _dense(source[b], indices[b], weights[b], features, forward, out[b])
    if importlib.util.find_spec("scipy") is not None:
        ways["scipy csr"] = lambda b: _sparse(source[b], indices[b], weights[b], features, forward, out[b])

    def giving(name: str, work: Callable[[int], None]) -> Callable[[], Arrays]:
        def batches(start: int, stop: int) -> None:
            for b in range(start, stop):
                work(b)

        shared = together(batches, len(source), 1 if name == "dense matrix" else threads)

        def run() -> Arrays:
            shared()
            return outputs

        return run

    return {name: giving(name, work) for name, work in ways.items()}


def _take(features: Array, indices: Array, weights: Array, out: Array) -> None:
    """Three takes along the columns, a few channels at a time."""
    points = len(indices)
    columns, parts = np.ascontiguousarray(indices.T), np.ascontiguousarray(weights.T.astype(np.float32))
    step = max(1, _BLOCK // points)
    taken = np.empty((step, points), np.float32)
    for start in range(0, len(features), step):
        block = features[start : start + step].astype(np.float32, copy=False)
        part = taken[: len(block)]
        total = np.take(block, columns[0], axis=1, mode="clip")
        total *= parts[0]
        for i in (1, 2):
            np.take(block, columns[i], axis=1, out=part, mode="clip")
            np.multiply(part, parts[i], out=part)
            total += part
        out[start : start + step] = total


def _bincount(gradient: Array, indices: Array, weights: Array, out: Array) -> None:
    """A weighted count a channel: NumPy's only fast way to add at places that repeat."""
    places, parts = indices.reshape(-1), weights.astype(np.float32)
    for channel, row in enumerate(gradient):
        spread = row.astype(np.float32, copy=False)[:, None] * parts
        out[channel] = np.bincount(places, spread.reshape(-1), minlength=out.shape[1])


def _dense(source: Array, indices: Array, weights: Array, features: int, forward: bool, out: Array) -> None:
    """The interpolation as a matrix [points, features], for one call of BLAS."""
    points = len(indices)
    places = (np.arange(points)[:, None] * features + indices).reshape(-1)
    sums = np.bincount(places, weights.reshape(-1).astype(np.float32), minlength=points * features)
    matrix = sums.astype(np.float32).reshape(points, features)
    result = source.astype(np.float32, copy=False) @ (matrix.T if forward else matrix)
    out[...] = result


def _sparse(source: Array, indices: Array, weights: Array, features: int, forward: bool, out: Array) -> None:
    """The interpolation as a sparse matrix, times the transposed features."""
    sparse: Any = importlib.import_module("scipy.sparse")
    points = len(indices)
    rows = np.arange(0, 3 * points + 1, 3, dtype=np.int32)
    values = weights.reshape(-1).astype(np.float32)
    matrix = sparse.csr_matrix((values, indices.reshape(-1), rows), shape=(points, features))
    columns = np.ascontiguousarray(source.T, dtype=np.float32)
    out[...] = ((matrix if forward else matrix.T) @ columns).T
