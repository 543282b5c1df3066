"""``polyiou`` of the DOTA devkit: the overlap of two quadrilaterals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from pymluops.dropins._declarations import Row
from pymluops.mmcv._tensors import refuse
from pymluops.mmcv._torch import load_torch, operators

__all__ = ["VectorDouble", "iou_poly"]

DROP_IN = ""
MODULES = ()
LAST_NAMES = ("polyiou",)
ROWS = (Row("iou_poly VectorDouble", "mluopsExtBoxIouQuadri (float64)"),)
CHANGES = ()

#: Numbers, as the compiled module takes them.
VectorDouble: TypeAlias = list[float]


def iou_poly(p: Sequence[float], q: Sequence[float]) -> float:
    """Return the quotient of common and joint area of quadrilaterals x1, y1, ..., x4, y4."""
    both = [[float(number) for number in corners] for corners in (p, q)]
    for argument, corners in zip("pq", both, strict=True):
        if len(corners) != 8:
            raise refuse("iou_poly", argument, "8 numbers", len(corners))
    boxes = load_torch().from_numpy(np.array(both, np.float64))
    return float(operators.box_iou_quadri(boxes[:1], boxes[1:])[0, 0])
