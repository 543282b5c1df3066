"""Looks at the calls of Python functions while cases are written, so that each leaves a case or a warning.

The libraries write the operators of the header themselves. For functions of mluops_ext.h the
header's operator is called, as `_stand_ins` says.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from pymluops._cache.notices import warn_at_caller
from pymluops._core import Backend, Handle, Operator

__all__ = ["SWITCHES", "before", "say_again"]

#: The function that tells whether a library writes cases.
SWITCHES = "mluopsExtGetGenCaseSwitches"
_NO_OPERATOR = "the vendor's library has no such operator"
_NO_DOUBLE = "the vendor's operators compute nothing in float64"

_lock = threading.Lock()
_said: set[str] = set()
_inside = threading.local()


def say_again() -> None:
    """Let each function warn once more."""
    with _lock:
        _said.clear()


def _is_on(backend: Backend) -> bool:
    if not backend.exports(SWITCHES):
        return False
    numbers = [backend.ffi.new("int *") for _ in range(4)]
    getattr(backend.lib, SWITCHES)(*numbers)
    return int(numbers[0][0]) != 0


def before(
    operator: Operator, handle: Handle, tensors: tuple[Any, ...], scalars: tuple[Any, ...]
) -> Callable[[], object] | None:
    """Write the case of a call, and return what says that it has none, once it has succeeded."""
    if operator.function.startswith("mluOp") or getattr(_inside, "call", False) or not _is_on(handle.backend):
        return None
    _inside.call = True
    try:
        reason = _write(operator, handle, tensors, scalars)
    finally:
        _inside.call = False
    return None if reason is None else lambda: _say(operator.name, reason)


def _write(operator: Operator, handle: Handle, tensors: tuple[Any, ...], scalars: tuple[Any, ...]) -> str | None:
    """Call the header's operator, which writes the case; return why there is none."""
    # Imported here: it needs the functions of the header, which no call without cases does.
    from pymluops.gencase._stand_ins import STAND_INS

    stand_in = STAND_INS.get(operator.function)
    if stand_in is None:
        return _NO_DOUBLE if operator.function.endswith("Double") else _NO_OPERATOR
    try:
        arrays = {
            tensor.name: None if array is None else _copy(array)
            for tensor, array in zip(operator.tensors, tensors, strict=True)
            if not tensor.output or tensor.in_place
        }
        if any(array is not None and array.dtype == np.float64 for array in arrays.values()):
            return _NO_DOUBLE
        stand_in(arrays, _numbers(operator, scalars), handle)
    except Exception as error:
        # Whatever it is, the call itself decides about its arguments.
        return str(error) or type(error).__name__
    return None


def _copy(array: Any) -> np.ndarray[Any, Any]:
    """Return a packed copy of an array argument in host memory."""
    if hasattr(array, "detach"):  # a tensor of torch
        array = array.detach().cpu().numpy()
    elif not hasattr(array, "__array__") and hasattr(array, "__dlpack__"):
        array = np.from_dlpack(array)
    return np.array(array, order="C", copy=True)


def _numbers(operator: Operator, scalars: tuple[Any, ...]) -> dict[str, Any]:
    """Return the scalars of a call by the names of the C parameters and by their symbols."""
    numbers: dict[str, Any] = {}
    for scalar, value in zip(operator.scalars, scalars, strict=True):
        number = scalar.choices[value] if isinstance(value, str) else value
        numbers[scalar.c_name] = numbers[scalar.symbol or scalar.name] = number
    return numbers


def _say(name: str, reason: str) -> None:
    """Warn that a function has no case, once in a recording; not if the environment names other operators."""
    if os.environ.get("MLUOP_GEN_CASE_OP_NAME"):
        return
    with _lock:
        if name in _said:
            return
        _said.add(name)
    warn_at_caller(f"{name}: no test case is written: {reason}")
