"""three_nn of mmcv."""

from __future__ import annotations

from pymluops.mmcv._binding import Row, binding, integers, result, values

__all__ = ["three_nn_forward"]

ROWS = (Row("three_nn", ("three_nn_forward",), "forward", "mluOpThreeNNForward (float16, float32)"),)

three_nn_forward = binding(
    "three_nn_forward",
    "three_nn_forward",
    values("unknown_tensor", "b n 3", "unknown"),
    values("known_tensor", "b m 3", "known"),
    result("dist2_tensor", "b n 3", "dist2"),
    result("idx_tensor", "b n 3", "idx", types=("int32",)),
    *integers("b n m"),
)
