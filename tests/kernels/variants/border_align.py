"""Changes of the kernels of border_align."""

from __future__ import annotations

import numpy as np

import pymluops
from kernels.variants import Calls, Variant, indices, numbers

SOURCE = "border_align/bang.mlu"

VARIANTS = [
    Variant(
        "samples_not_waited_for", SOURCE,
        "    if (i > 0) keep_best(pool, (int)i, count);\n    wait_for_all();",
        "    if (i > 0) keep_best(pool, (int)i, count);",
        "border_align_forward", "race/copy-in-flight",
        "__bang_mul_scalar(value + at, pixels + at, shares[4 * b], plan.slot);",
    ),
    Variant(
        "gradients_overwritten", SOURCE,
        "__bang_atomic_reduce_add(map, products, count);",
        "__memcpy(map, products, count * (int)sizeof(T), NRAM2GDRAM);",
        "border_align_backward", "race/between-cores",
        "__memcpy(map, products, count * (int)sizeof(T), NRAM2GDRAM);",
    ),
    Variant(
        "map_not_zeroed", SOURCE,
        "if (cnrtMemsetAsync(problem.grad_input, 0, static_cast<std::size_t>(bytes), handle->queue) == cnrtSuccess) {",
        "if (bytes != 0) {",
        "border_align_backward", "init/atomic",
        "__bang_atomic_reduce_add(map, products, count);",
    ),
    Variant(
        "gradients_not_waited_for", SOURCE,
        "wait_for_all();\n      spread_group(plan, group, spread);\n", "spread_group(plan, group, spread);\n",
        "border_align_backward", "race/implied-wait",
        "__bang_int2float(spread.number, spread.loaded_argmax, count, 0);",
    ),
]  # fmt: skip

BOXES = np.tile(np.array([[[1.0, 1.0, 6.0, 6.0]]], np.float32), (1, 8, 1))

CALLS: Calls = {
    "border_align_forward": lambda: pymluops.border_align_forward(numbers(1, 9, 9, 64), BOXES, 4),
    "border_align_backward": lambda: pymluops.border_align_backward(
        numbers(1, 8, 4, 16), BOXES, indices(1, 8, 4, 16, least=0, most=4), 4, (9, 9)
    ),
}
