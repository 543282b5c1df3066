"""Changes of the kernels of three_interpolate."""

from __future__ import annotations

import pymluops
from kernels.variants import Calls, Variant, indices, numbers

SOURCE = "three_interpolate/bang.mlu"

VARIANTS = [
    Variant(
        "targets_not_waited_for", SOURCE,
        "GDRAM2NRAM);\n  wait_for_all();", "GDRAM2NRAM);",
        "three_interpolate_forward", "race/implied-wait",
        "const int index = work.targets.index[kNeighbours * n + i];\n"
        "      if (!is_within(index, first, count)) continue;\n      scale(",
    ),
    Variant(
        "terms_not_cleared", SOURCE,
        "for (int i = 0; i < kNeighbours; ++i) __bang_write_value(work.terms[i], elements, 0.0f);", "",
        "three_interpolate_forward", "init/copy",
        "__memcpy(matrix + part.offset, table.stage, part.columns * size, NRAM2GDRAM,",
    ),
    Variant(
        "any_index_taken", SOURCE,
        "      if (!is_within(index, first, count)) continue;\n      scale(", "      scale(",
        "three_interpolate_forward", "memory/out-of-bounds",
        "__bang_mul_scalar(to, from, weight, channels);",
    ),
    Variant(
        "one_row_too_many", SOURCE,
        "width * size, part.length * size,\n           part.rows - 1);",
        "width * size, part.length * size,\n           part.rows);",
        "three_interpolate_backward", "memory/out-of-bounds",
        "__memcpy(table.stage, matrix + part.offset, part.columns * size, GDRAM2NRAM,",
    ),
]  # fmt: skip

CALLS: Calls = {
    "three_interpolate_forward": lambda: pymluops.three_interpolate_forward(
        numbers(1, 32, 20), indices(1, 40, 3, least=-1, most=20), numbers(1, 40, 3), validate=False
    ),
    "three_interpolate_backward": lambda: pymluops.three_interpolate_backward(
        numbers(1, 32, 40), indices(1, 40, 3, least=-1, most=20), numbers(1, 40, 3), 20, validate=False
    ),
}
