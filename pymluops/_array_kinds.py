"""Arrays whose memory alone does not say what they mean, and how to make plain ones of them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

__all__ = ["of_ndarray", "of_tensor", "plain"]

#: Methods with which a subclass gives arithmetic another meaning, such as that of units.
_MEANINGS = ("__array_ufunc__", "__array_function__")


def of_ndarray(array: np.ndarray[Any, Any]) -> str | None:
    """Return what would be lost of an array of a subclass, as `expected ..., got ...` without the first word."""
    kind = type(array)
    if _is_masked(array):
        return f"an array without a mask, got {kind.__name__} of {array.dtype}"
    if any(getattr(kind, name) is not getattr(np.ndarray, name) for name in _MEANINGS):
        return f"a plain array, got {kind.__name__} of {array.dtype}, whose arithmetic has a meaning of its own"
    return None


def of_tensor(tensor: Any) -> str | None:
    """Return why a tensor of torch has no values in one piece of memory, as `of_ndarray` does."""
    torch = sys.modules["torch"]
    got = f"{type(tensor).__name__} of {tensor.dtype}"
    if _is_masked_tensor(tensor):
        return f"a tensor without a mask, got {got}"
    if getattr(tensor, "is_nested", False):
        return f"a tensor of one shape, got a nested one, {got}"
    layout = getattr(tensor, "layout", None)
    if layout is not None and layout is not torch.strided:
        layout = str(layout).removeprefix("torch.")
        return f"a dense tensor, got {got} with the layout {layout}"
    if getattr(tensor, "is_quantized", False):
        return f"a tensor of numbers, got a quantized one, {got}"
    return None


def plain(array: Any, name: str) -> str:
    """Return the call that makes a plain array of one that was refused, or an empty text."""
    if issubclass(type(array), np.ndarray):
        if of_ndarray(array) is None:
            return ""
        return f"{name}.filled(value)" if _is_masked(array) else f"numpy.asarray({name})"
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(array, torch.Tensor):
        return ""
    if _is_masked_tensor(array):
        return f"{name}.to_tensor(value)"
    if array.is_nested:
        return f"{name}.to_padded_tensor(value)"
    if array.is_quantized:
        return f"{name}.dequantize()"
    return "" if of_tensor(array) is None else f"{name}.to_dense()"


def _is_masked(array: Any) -> bool:
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(array, masked.MaskedArray)


def _is_masked_tensor(tensor: Any) -> bool:
    masked = sys.modules.get("torch.masked")
    return masked is not None and isinstance(tensor, masked.MaskedTensor)
