"""The sizes of a get_indice_pairs problem, as the peers need them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.families.get_indice_pairs import output_space, strides
from benchmarks.problem import Problem


class Geometry:
    """Filter, spaces and, for each axis, which output a coordinate meets under each filter cell."""

    def __init__(self, problem: Problem) -> None:
        facts = problem.case.parameters
        self.indices = problem.inputs["indices"]
        self.rows = len(self.indices)
        self.batch = int(facts["batch"])
        self.space = tuple(int(size) for size in facts["space"])
        self.out_space = tuple(int(size) for size in output_space(facts))
        self.kernel, self.strides = int(facts["kernel"]), strides(facts)
        self.padding = tuple(int(pad) for pad in facts["padding"])
        self.submanifold = bool(facts["submanifold"])
        self.cells = self.batch * math.prod(self.out_space)
        self.volume = self.kernel**3

    @property
    def symmetric(self) -> bool:
        """Whether filter cell k of one row is cell ``volume - 1 - k`` of the other: an odd filter in its middle."""
        return self.submanifold and self.kernel % 2 == 1 and self.padding == (self.kernel // 2,) * 3

    def tables(self) -> list[npt.NDArray[np.int32]]:
        """Return for each axis the output [kernel, size] of a coordinate, or -1."""
        found: list[Any] = []
        for size, out, pad, stride in zip(self.space, self.out_space, self.padding, self.strides, strict=True):
            top = np.arange(size)[None] + pad - np.arange(self.kernel)[:, None]
            valid = (top >= 0) & (top % stride == 0) & (top // stride < out)
            found.append(np.where(valid, top // stride, -1).astype(np.int32))
        return found
