"""The call that turns a refused array into one that is taken, for the end of a message.

Nobody is advised to lose values: a call is named only if it keeps them, or rounds float64 to
float32 without an overflow. So complex numbers become no real ones, fractions no integers, and
numbers that int32 or float16 cannot hold are not cast to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from pymluops import _array_kinds

__all__ = ["hint", "keeps_values"]

Problem = Literal["array", "dtype", "contiguous", "host"]

_TORCH_CASTS = {
    "float32": ".float()",
    "float16": ".half()",
    "int32": ".int()",
    "complex64": ".to(torch.complex64)",
}


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
        calls = (_call(array, argument, problem, dtype) for dtype in _ordered(array, dtypes))
        call = next((one for one in calls if one), "")
    except Exception:  # an object may do anything when it is asked for an attribute, and the refusal matters more
        call = ""
    return f"; {call} would do" if call else ""


def _ordered(array: Any, dtypes: Sequence[str]) -> list[str]:
    """Return the types to convert to, the best one first: the array's own, one of its kind, float32, the others."""
    own = str(getattr(array, "dtype", "")).removeprefix("torch.").lstrip("<>=|")
    kinds = {"f4": "float32", "f2": "float16", "i4": "int32", "c8": "complex64"}
    own = kinds.get(own, own)
    kind = own.rstrip("0123456789").removeprefix("u")
    return sorted(dtypes, key=lambda one: (one != own, not one.startswith(kind or "-"), one != "float32")) or [""]


def _call(array: Any, name: str, problem: Problem, dtype: str) -> str:
    is_tensor = type(array).__module__.partition(".")[0] == "torch"
    is_ndarray = issubclass(type(array), np.ndarray)
    if problem in ("array", "dtype") and (is_tensor or is_ndarray):
        plain = _array_kinds.plain(array, name)
        if plain:
            return plain
    if is_tensor:
        return _torch_call(array, name, problem, dtype)
    if problem == "contiguous":
        return "" if hasattr(array, "mask") else f"numpy.ascontiguousarray({name})"
    if problem not in ("dtype", "array") or not dtype or not keeps_values(array, dtype):
        return ""
    if hasattr(array, "astype") and (problem == "dtype" or is_ndarray):  # or another byte order
        return f"{name}.astype(numpy.{dtype})"
    if problem == "array" and (issubclass(type(array), (list, tuple)) or hasattr(array, "__array__")):
        return f"numpy.asarray({name}, dtype=numpy.{dtype})"
    return ""


#: The largest number up to which a type holds all integers.
_EXACT = {"float32": 2**24, "float16": 2**11, "int32": 2**31 - 1}
_FITS = np.iinfo(np.int32)


def keeps_values(array: Any, dtype: str) -> bool:
    """Tell whether a cast to float32, float16 or int32 loses nothing but the places behind those of float32."""
    if hasattr(array, "mask"):  # a masked array: what is not masked would be all that remains
        return False
    values: Any = np.asarray(array)
    name, kind = values.dtype.name, values.dtype.kind
    if name.startswith(("bfloat16", "float8")):  # of ml_dtypes
        return dtype == "float32"
    if dtype == "complex64" and kind in "biufc":
        return all(keeps_values(part, "float32") for part in (values.real, values.imag))
    if kind not in "biuf" or dtype not in _EXACT:
        return bool(name == dtype)
    if kind == "b" or values.size == 0:
        return True
    if kind in "iu":
        return bool(-_EXACT[dtype] <= values.min() and values.max() <= _EXACT[dtype])
    if dtype == "int32":
        whole = values == np.trunc(values)
        return bool((whole & (values >= _FITS.min) & (values <= _FITS.max)).all())
    with np.errstate(over="ignore"):
        cast = values.astype(dtype)
    if dtype == "float32":
        return bool((np.isfinite(cast) | ~np.isfinite(values)).all())
    return bool(((cast == values) | np.isnan(values)).all())


def _torch_call(tensor: Any, name: str, problem: Problem, dtype: str) -> str:
    """Return the methods of a PyTorch tensor to call, one after another."""
    detach = ".detach()" if getattr(tensor, "requires_grad", False) is True else ""
    if problem == "dtype" and not _tensor_keeps_values(tensor, dtype):
        return ""
    methods = {
        "array": "",
        "dtype": _TORCH_CASTS.get(dtype, ""),
        "contiguous": ".contiguous()",
        "host": ".cpu()",
    }[problem]
    return f"{name}{detach}{methods}" if detach or methods else ""


def _tensor_keeps_values(tensor: Any, dtype: str) -> bool:
    """Tell the same of a tensor of PyTorch."""
    plain = tensor.detach().cpu()
    short = str(plain.dtype).removeprefix("torch.") == "bfloat16"  # which NumPy lacks
    return keeps_values((plain.float() if short else plain).numpy(), dtype)
