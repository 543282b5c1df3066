"""Changes of the kernels of get_indice_pairs."""

from __future__ import annotations

import numpy as np

import pymluops
from kernels.variants import Calls, Variant

SOURCE = "get_indice_pairs/bang.mlu"

VARIANTS = [
    Variant(
        "rows_read_too_far", SOURCE,
        "load(raw, plan.memory.indices + static_cast<std::int64_t>(at) * 4, count * 4);",
        "load(raw, plan.memory.indices + static_cast<std::int64_t>(at) * 4, count * 4 + 4);",
        "get_indice_pairs", "memory/out-of-bounds",
        "void load(int *to, const int *from, int count) { __memcpy(to, from, count * 4, GDRAM2NRAM); }",
    ),
    Variant(
        "every_task_takes_all", "get_indice_pairs/bang/rows.h",
        "share.begin = static_cast<int>(static_cast<std::int64_t>(count) * taskId / taskDim);", "share.begin = 0;",
        "get_indice_pairs", "race/between-jobs",
        "void store(int *to, int *from, int count) { __memcpy(to, from, count * 4, NRAM2GDRAM); }",
    ),
    Variant(
        "numbers_not_counted", SOURCE,
        "  count_up(iota, plan.chunk);\n  const Share share = share_of(plan.rows);",
        "  const Share share = share_of(plan.rows);",
        "get_indice_pairs", "init/copy",
        "void store(int *to, int *from, int count) { __memcpy(to, from, count * 4, NRAM2GDRAM); }",
    ),
    Variant(
        "digits_overlap", SOURCE,
        "__bang_transpose(coordinates, raw, count, 4);", "__bang_transpose(raw, raw, count, 4);",
        "get_indice_pairs", "align/overlap",
        "__bang_transpose(raw, raw, count, 4);",
    ),
]  # fmt: skip


def sites(count: int, extent: int) -> np.ndarray:
    chosen = np.random.default_rng(2).permutation(extent**3)[:count]
    columns = [np.zeros_like(chosen), chosen // extent**2, chosen // extent % extent, chosen % extent]
    return np.stack(columns, axis=1).astype(np.int32)


CALLS: Calls = {
    "get_indice_pairs": lambda: pymluops.get_indice_pairs(
        sites(300, 16), batch_size=1, spatial_shape=(16, 16, 16), kernel_size=3
    ),
}
