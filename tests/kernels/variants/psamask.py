"""Changes of the kernels of psamask."""

from __future__ import annotations

import pymluops
from kernels.variants import Calls, Variant, numbers

SOURCE = "psamask/bang.mlu"

VARIANTS = [
    Variant(
        "lines_not_waited_for", SOURCE,
        "    wait_for_all();\n    copy_tile(plan, box, map, plan.area, lines, NRAM2GDRAM);",
        "    copy_tile(plan, box, map, plan.area, lines, NRAM2GDRAM);",
        "psamask_collect", "race/copy-in-flight",
        "__memcpy_async(there, here, bytes, NRAM2GDRAM, array_stride, bytes, rows - 1);",
    ),
    Variant(
        "transpose_not_waited_for", SOURCE,
        "    wait_for_all();\n    copy_columns(plan, box, map, turned, side, NRAM2GDRAM);",
        "    copy_columns(plan, box, map, turned, side, NRAM2GDRAM);",
        "psamask_distribute", "race/unsynced-compute",
        "__memcpy_async(there, turned, run * kFloat, NRAM2GDRAM, plan.area * kFloat, turned_line * kFloat,",
    ),
    Variant(
        "columns_not_waited_for", SOURCE,
        "    wait_for_all();\n    // The padding", "    // The padding",
        "psamask_distribute_backward", "race/copy-in-flight",
        "__bang_transpose(lines, turned, plan.line, side);",
    ),
    Variant(
        "lines_not_cleared", SOURCE,
        "    __bang_write_zero(lines, rounded_up(positions * plan.line, kVector));\n", "",
        "psamask_collect", "init/copy",
        "__memcpy_async(there, here, bytes, NRAM2GDRAM, array_stride, bytes, rows - 1);",
    ),
    Variant(
        "lines_not_rounded_up", SOURCE,
        "__bang_write_zero(lines, rounded_up(positions * plan.line, kVector));",
        "__bang_write_zero(lines, positions * plan.line - 1);",
        "psamask_collect", "align/size",
        "__bang_write_zero(lines, positions * plan.line - 1);", 270,
    ),
]  # fmt: skip

CALLS: Calls = {
    "psamask_collect": lambda: pymluops.psamask_forward(numbers(1, 9, 9, 25), 0, (5, 5)),
    "psamask_distribute": lambda: pymluops.psamask_forward(numbers(1, 9, 9, 25), 1, (5, 5)),
    "psamask_distribute_backward": lambda: pymluops.psamask_backward(numbers(1, 9, 9, 81), 1, (5, 5)),
}
