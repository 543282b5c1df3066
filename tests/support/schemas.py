"""The library of `python/schema_library.cpp`, and schemas of its functions."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np

import pymluops
from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import FLOATS, INT32, Pairs, Scalar, Tensor


class Library:
    """The compiled library: a handle, and what its functions saw."""

    def __init__(self, path: Path) -> None:
        self.handle = pymluops.Handle(path)
        self._lib = ctypes.CDLL(str(path))

    @property
    def calls(self) -> int:
        return ctypes.c_int.in_dll(self._lib, "schema_calls").value

    @property
    def seen(self) -> list[float]:
        count = ctypes.c_int.in_dll(self._lib, "schema_count").value
        return list((ctypes.c_double * 64).in_dll(self._lib, "schema_seen"))[:count]


def ball(*scalars: Scalar, function: str = "mluOpBallQuery") -> Operator:
    tensors = (
        Tensor("new_xyz", FLOATS, "B M 3"),
        Tensor("xyz", "new_xyz", "B N 3"),
        Tensor("idx", INT32, "B M nsample", output=True, zeroed=True),
    )
    names = {"min_radius", "max_radius", "nsample"} - {scalar.c_name for scalar in scalars}
    return Operator(function, "ball", tensors, (*scalars, *(Scalar(name, minimum=0) for name in sorted(names))))


POINTS = np.zeros((1, 2, 3), np.float32)
OVERLAPS = Operator(
    "mluOpBboxOverlaps",
    "overlaps",
    (
        Tensor("bbox1", (*FLOATS, DataType.INT8), "N 4"),
        Tensor("bbox2", "bbox1", "M 4", rules=("M >= N",)),
        Tensor(
            "ious",
            Pairs("bbox1", ((DataType.HALF, DataType.HALF), (DataType.HALF, DataType.FLOAT),
                            (DataType.FLOAT, DataType.FLOAT))),
            "N M+1",
            output=True,
        ),
    ),
    (Scalar("mode", choices={"iou": 0, "iof": 1}), Scalar("aligned"), Scalar("offset", minimum=-3, maximum=3)),
)  # fmt: skip
BOXES = np.zeros((2, 4), np.float32)
