"""Changes of the kernels of tin_shift."""

from __future__ import annotations

import numpy as np

import pymluops
from kernels.variants import Calls, Variant, numbers

SOURCE = "tin_shift/bang.mlu"

VARIANTS = [
    # A tile is cleared, then waited for, then loaded and stored.
    Variant(
        "zeros_not_waited_for", SOURCE,
        "    wait_for_all();\n    copy_rows(buffer + first", "    copy_rows(buffer + first",
        "tin_shift", "race/unsynced-compute",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
    Variant(
        "last_tile_not_waited_for", SOURCE,
        "  }\n  wait_for_all();\n}", "  }\n}",
        "tin_shift", "sync/drained-at-end",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
    Variant(
        "head_not_cleared", SOURCE,
        "clear_loosely(buffer, 0, first * tile.bytes);", "",
        "tin_shift", "init/copy",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
    Variant(
        "one_step_too_late", SOURCE,
        "(first - tile.shift) * plan.step_bytes", "(first - tile.shift + 1) * plan.step_bytes",
        "tin_shift", "memory/out-of-bounds",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
    Variant(
        "every_core_takes_all", SOURCE,
        "begin = plan.tiles * taskId / taskDim;", "begin = 0;",
        "tin_shift", "race/between-cores",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
]  # fmt: skip

CALLS: Calls = {
    "tin_shift": lambda: pymluops.tin_shift_forward(numbers(2, 6, 8, 40), np.array([[2, -1], [1, -3]], np.int32)),
}
