"""three_nn: the three nearest known points of each unknown point, and their squared distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.stacked import slices


def forward(unknown: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """dist2 [B, N, 3] in the type of the points and idx [B, N, 3] int32.

    Distances ((x - ux)^2 + (y - uy)^2) + (z - uz)^2 are computed and compared in float32, and
    rounded when they are stored. Those that are NaN, or infinite in the type of the result, do not
    count. The first of equals comes first.
    """
    dtype = unknown.dtype
    dist2 = np.full((*unknown.shape[:2], 3), np.inf, dtype)
    idx = np.zeros((*unknown.shape[:2], 3), np.int32)
    for b, n in np.ndindex(unknown.shape[:2]):
        with np.errstate(all="ignore"):
            x, y, z = ((known[b, :, i].astype(np.float32) - np.float32(unknown[b, n, i])) ** 2 for i in range(3))
            d2 = (x + y) + z
            counts = np.flatnonzero(np.isfinite(d2.astype(dtype)))
        nearest = counts[np.argsort(d2[counts], kind="stable")][:3]
        dist2[b, n, : len(nearest)] = d2[nearest].astype(dtype)
        idx[b, n, : len(nearest)] = nearest
    return dist2, idx


def forward_stack(
    unknown: np.ndarray, unknown_counts: np.ndarray, known: np.ndarray, known_counts: np.ndarray, one: Any = forward
) -> tuple[np.ndarray, np.ndarray]:
    """dist2 and idx [N, 3] of stacked points: each batch by itself, with rows of all batches."""
    distances, rows = [], []
    batches = zip(slices(unknown_counts, len(unknown)), slices(known_counts, len(known)), strict=True)
    for unknowns, knowns in batches:
        dist2, idx = one(unknown[None, unknowns], known[None, knowns])
        distances.append(dist2[0])
        rows.append((idx[0] + knowns.start).astype(np.int32))
    return np.concatenate(distances), np.concatenate(rows)


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let stacked batches have all points."""
    for name in ("unknown", "known"):
        if f"{name}_batch_cnt" in arguments:
            counts = arguments[f"{name}_batch_cnt"]
            counts[...] = rng.multinomial(len(arguments[name]), np.ones(len(counts)) / len(counts))


def in_double(name: str, *given: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The results for float64 points."""
    return forward_stack(*given, one=_all_at_once) if name == "stack_three_nn" else _all_at_once(*given)


def _all_at_once(unknown: np.ndarray, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distances and indices of float64 points, all of them compared at once."""
    d2 = ((unknown[:, :, None] - known[:, None]) ** 2).sum(-1)
    d2 = np.concatenate([d2, np.full((*d2.shape[:2], 3), np.inf)], -1)
    order = np.argsort(d2, -1, kind="stable")[..., :3]
    distances = np.take_along_axis(d2, order, -1)
    return distances, np.where(np.isinf(distances), 0, order)


REFUSALS = {
    "mluOpThreeNNForward": Refusals(
        order="handle objects ranks shapes types packed indexable positive workspace data overlap",
        empty={"M": "unknown dist2 idx"},
        needs_workspace=False,
    ),
    "mluopsExtStackThreeNN": Refusals(empty={"M": "unknown unknown_batch_cnt known_batch_cnt dist2 idx"}),
    "mluOpGetThreeNNForwardWorkspaceSize": Refusals(order="handle objects pointer ranks"),
}
