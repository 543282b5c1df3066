"""Operators for tests that are about something else, and need some operator that has what they look at.

Only this file says which operators these are. Where any operator of a kind would do,
`families.OPERATORS` has them all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pymluops
from support.families import FAMILIES, OPERATORS, operators


@dataclass(frozen=True)
class Example:
    """An operator, by the name of its Python function."""

    name: str

    @property
    def run(self) -> Callable[..., Any]:
        """The Python function."""
        function: Callable[..., Any] = getattr(pymluops, self.name)
        return function

    @property
    def function(self) -> str:
        """The name of the C function."""
        return OPERATORS[self.name].function

    def workspace_of(self, functions: Any) -> Callable[..., Any]:
        """Return the C function that gives the size of the workspace."""
        function: Callable[..., Any] = getattr(functions, f"{self.function}WorkspaceSize")
        return function

    @property
    def double(self) -> str:
        """The name of the C function in double."""
        return f"mluopsExt{self.function.removeprefix('mluOp')}Double"

    @property
    def family(self) -> str:
        """The name of the family."""
        return next(family for family in FAMILIES if self.name in operators(family))

    @property
    def oracle(self) -> ModuleType:
        """The oracle of the family."""
        return importlib.import_module(f"pymluops.oracle.{self.family}")

    def in_torch(self, ops: Any) -> Callable[..., Any]:
        """Return the function of the family in `pymluops.torch` or `mmcv.ops`."""
        function: Callable[..., Any] = getattr(ops, self.family)
        return function

    @property
    def module(self) -> str:
        """The name of the family's module in `pymluops.torch`."""
        names = importlib.import_module(f"pymluops.torch.{self.family}").__all__
        return next(name for name in names if name[0].isupper())

    def of(self, functions: Any) -> Callable[..., Any]:
        """Return the C function of a library's raw layer, or the callable of `pymluops.functions`."""
        function: Callable[..., Any] = getattr(functions, self.function)
        return function


#: Moves values of [B, T, C, HW], bit by bit and quickly, by shifts [B, G]. Both directions do the
#: same.
MOVING, MOVING_BACK = Example("tin_shift_forward"), Example("tin_shift_backward")

#: Has an enumerator and a pair of sizes among its arguments.
CHOOSING, CHOOSING_BACK = Example("psamask_forward"), Example("psamask_backward")

#: Has two results, and takes as long as its number of samples asks for.
SAMPLING, SAMPLING_BACK = Example("border_align_forward"), Example("border_align_backward")

#: Looks at the values of its indices before it computes.
GATHERING, GATHERING_BACK = Example("three_interpolate_forward"), Example("three_interpolate_backward")

#: Has arguments that a whole batch shares.
SHARING = Example("ms_deform_attn_forward")

#: Has settings, a workspace, and results whose sizes depend on values.
PAIRING = Example("get_indice_pairs")
