"""What would have worked: the call that turns a refused array into one that is taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from pymluops import _array_kinds

__all__ = ["hint"]

Problem = Literal["array", "dtype", "contiguous", "host"]

#: Kinds of NumPy's types that are no numbers: texts, bytes, records, and times.
_NO_NUMBERS = ("U", "S", "V", "M", "m")
_TORCH_CASTS = {"float32": ".float()", "float16": ".half()", "int32": ".int()"}


def hint(array: object, argument: str, problem: Problem, dtypes: Sequence[str]) -> str:
    """Return a text for the end of a message, or an empty one where there is nothing to recommend.

    Parameters
    ----------
    array
        What was given.
    argument
        The name of the parameter, which the text uses as the name of the array.
    problem
        What is wrong with it: it is no ``array`` that can be read, has another ``dtype``, is not
        ``contiguous``, or is not in ``host`` memory.
    dtypes
        The names of the types that the parameter takes, as NumPy has them.

    Returns
    -------
    str
        ``"; numpy.ascontiguousarray(x) would do"``, for example.
    """
    try:
        call = _call(array, argument, problem, _preferred(array, dtypes))
    except Exception:  # an object may do anything when it is asked for an attribute, and the refusal matters more
        call = ""
    return f"; {call} would do" if call else ""


def _preferred(array: Any, dtypes: Sequence[str]) -> str:
    """Return the type to convert to: the array's own if it is taken, else float32 if it is, else the first."""
    own = str(getattr(array, "dtype", "")).removeprefix("torch.").lstrip("<>=|")
    kinds = {"f4": "float32", "f2": "float16", "i4": "int32"}
    own = kinds.get(own, own)
    if own in dtypes:
        return own
    return "float32" if "float32" in dtypes else next(iter(dtypes), "")


def _call(array: Any, name: str, problem: Problem, dtype: str) -> str:
    is_tensor = type(array).__module__.partition(".")[0] == "torch"
    if problem in ("array", "dtype") and (is_tensor or isinstance(array, np.ndarray)):
        plain = _array_kinds.plain(array, name)
        if plain:
            return plain
    if is_tensor:
        return _torch_call(array, name, problem, dtype)
    if problem == "contiguous":
        return f"numpy.ascontiguousarray({name})"
    if getattr(getattr(array, "dtype", None), "kind", "") in _NO_NUMBERS:
        return ""
    if problem == "dtype" and dtype and hasattr(array, "astype"):
        return f"{name}.astype(numpy.{dtype})"
    if problem == "array" and dtype:
        if isinstance(array, np.ndarray):  # of another byte order
            return f"{name}.astype(numpy.{dtype})"
        if isinstance(array, (list, tuple)) or hasattr(array, "__array__"):
            return f"numpy.asarray({name}, dtype=numpy.{dtype})"
    return ""


def _torch_call(tensor: Any, name: str, problem: Problem, dtype: str) -> str:
    """Return the methods of a PyTorch tensor to call, one after another."""
    detach = ".detach()" if getattr(tensor, "requires_grad", False) is True else ""
    methods = {
        "array": "",
        "dtype": _TORCH_CASTS.get(dtype, ""),
        "contiguous": ".contiguous()",
        "host": ".cpu()",
    }[problem]
    return f"{name}{detach}{methods}" if detach or methods else ""
