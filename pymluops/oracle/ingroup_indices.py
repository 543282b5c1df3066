"""ingroup_indices: for each value the number of equal ones before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pymluops.oracle.refusals import Refusals
from pymluops.oracle.ways import Way


def ingroup_indices(groups: np.ndarray) -> np.ndarray:
    """[N] of groups [N]."""
    seen: dict[int, int] = {}
    out = np.empty(len(groups), np.int32)
    for i, group in enumerate(groups.tolist()):
        out[i] = seen.get(group, 0)
        seen[group] = int(out[i]) + 1
    return out


def prepare(arguments: dict[str, Any], rng: np.random.Generator) -> None:
    """Let values repeat, close together or far apart."""
    groups = arguments["groups"]
    groups[...] = rng.integers(0, max(1, len(groups) // 3), groups.shape)
    if rng.integers(2):
        groups *= 1_000_003


def ways(size: int) -> Iterator[Way]:
    """A table of counts, and a hash table."""
    count = size * 1000
    rng = np.random.default_rng(5)
    close = rng.integers(0, 100, count, dtype=np.int32)
    yield Way("ingroup_indices", "close together", {"N": count}, arrays={"groups": close})
    yield Way("ingroup_indices", "far apart", {"N": count}, arrays={"groups": close * 20_000_003})


_ORDER = "handle objects types ranks packed shapes indexable positive data overlap"
REFUSALS = {"mluopsExtIngroupIndices": Refusals(order=_ORDER)}
