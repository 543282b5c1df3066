"""What the numba peers share. Without numba this module can be imported and its functions are plain, slow Python."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

numba: Any = importlib.import_module("numba") if importlib.util.find_spec("numba") is not None else None

#: ``numba.prange``, or ``range`` without numba.
prange: Any = numba.prange if numba is not None else range


def parallel(function: Callable[..., Any]) -> Any:
    """Compile a function whose ``prange`` loops run on several threads."""
    return function if numba is None else numba.njit(parallel=True, fastmath=False, error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function that others call, inside the caller where LLVM wants it."""
    return function if numba is None else numba.njit(error_model="numpy")(function)


def contracting(function: Callable[..., Any]) -> Any:
    """Compile like `parallel`, and let a product and a sum become one instruction and sums be regrouped."""
    if numba is None:
        return function
    return numba.njit(parallel=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")(function)


def _copy(target: Any, source: Any, parts: int) -> None:
    size = source.size
    for part in prange(parts):
        start, stop = part * size // parts, (part + 1) * size // parts
        target[start:stop] = source[start:stop]


parallel_copy = parallel(_copy)


def _half_conversions() -> tuple[Any, Any]:
    """Return functions between the bits of a float16 and float32. numba has no float16 on the CPU, but LLVM has."""
    if numba is None:
        import numpy as np

        return (
            lambda bits: np.float32(np.uint16(bits).view(np.float16)),
            lambda value: np.float16(value).view(np.uint16),
        )
    ir: Any = importlib.import_module("llvmlite.ir")
    extending: Any = importlib.import_module("numba.extending")

    def to_float(typing_context: Any, bits: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.fpext(builder.bitcast(arguments[0], ir.HalfType()), ir.FloatType())

        return numba.float32(numba.uint16), emit

    def to_half(typing_context: Any, value: Any) -> Any:
        def emit(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.bitcast(builder.fptrunc(arguments[0], ir.HalfType()), ir.IntType(16))

        return numba.uint16(numba.float32), emit

    return extending.intrinsic(to_float), extending.intrinsic(to_half)


half_to_float, float_to_half = _half_conversions()
