"""What a kernel may use up."""

from __future__ import annotations

import dataclasses
from typing import Any

from pymluops._shown import shown
from pymluops.errors import BadParamError, BadParamTypeError

__all__ = ["Limits"]

_MOST = 1 << 40


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a kernel, and the compiler before it, may use up.

    Parameters
    ----------
    seconds : float
        For all runs of a kernel on one card.
    compile_seconds : float
        For the compiler.
    memory_mib : int
        Of each process: of the compiler, and of the one in which the kernel runs.
    output_kib : int
        What the compiler, and the kernel, may print.
    threads : int
        Of the process in which the kernel runs; the simulator needs a few.

    Raises
    ------
    BadParamError
        If one of them is not above 0.
    """

    seconds: float = 10.0
    compile_seconds: float = 30.0
    memory_mib: int = 2048
    output_kib: int = 1024
    threads: int = 64

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value: Any = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise BadParamTypeError(f"Limits: {field.name}: expected a number, got {shown(value)}")
            if not 0 < value <= _MOST:
                raise BadParamError(f"Limits: {field.name}: expected a number above 0, got {shown(value)}")
