"""Tensor arguments: arrays, alone or with a descriptor, and descriptors without data."""

from __future__ import annotations

from typing import Any, NamedTuple

from pymluops import _core
from pymluops._arguments import Caller, refusal, shown
from pymluops._core import ArrayArgument, Backend
from pymluops.descriptors import TensorDescriptor
from pymluops.dtypes import data_type_name, item_size
from pymluops.enums import DataType, Layout
from pymluops.functions._objects import NativeTensorDescriptor
from pymluops.functions._registry import call

__all__ = ["Description", "Tensor", "bare_array", "describe", "read_array"]

_ARRAY = int(Layout.ARRAY)
#: Layouts other than ARRAY, by what a function asks for and the number of dims.
_LAYOUTS = {
    ("NHWC", 4): int(Layout.NHWC),
    ("channels last", 2): int(Layout.NC),
    ("channels last", 3): int(Layout.NLC),
    ("channels last", 4): int(Layout.NHWC),
    ("channels last", 5): int(Layout.NDHWC),
}


class Description(NamedTuple):
    """A tensor descriptor of the library, and what it says."""

    native: NativeTensorDescriptor
    shape: tuple[int, ...]
    dtype: int
    nbytes: int  # from the first to the last element


class Tensor(NamedTuple):
    """An array argument with its descriptor."""

    array: ArrayArgument
    description: Description


def describe(caller: Caller, argument: str, value: object, backend: Backend, layouts: str) -> Description:
    """Return the descriptor that an argument without data means.

    Parameters
    ----------
    caller : Caller
        Whose argument it is.
    argument : str
        Its name.
    value : array, TensorDescriptor or NativeTensorDescriptor
        What was given; an array is only looked at.
    backend : Backend
        The library of the call.
    layouts : str
        The layout of arrays: ``ARRAY``, ``NHWC`` (for four dims) or ``channels last``.
    """
    if isinstance(value, NativeTensorDescriptor):
        return _read_native(caller, argument, value, backend)
    if isinstance(value, TensorDescriptor):
        last = sum((dim - 1) * step for dim, step in zip(value.shape, value.strides, strict=True))
        if value.element_count and any(step < 0 for step in value.strides):
            raise refusal(caller, argument, "a TensorDescriptor without negative strides", shown(value))
        nbytes = (last + 1) * item_size(value.dtype) if value.element_count else 0
        native = NativeTensorDescriptor.unset()
        rest = int(value.layout), int(value.dtype), value.shape, value.strides
        _core.describe_tensor(native, backend, caller.function, *rest)
        return Description(native, value.shape, value.dtype, nbytes)
    array = ArrayArgument(caller, argument, value, False, backend)
    try:
        return _describe_array(caller, argument, array, backend, layouts)
    finally:
        array.release()


def read_array(
    caller: Caller, argument: str, value: Any, writes: bool, backend: Backend, layouts: str, held: list[Any]
) -> Tensor:
    """Return an array argument with its descriptor; what is to be released is added to `held`.

    `value` is an array, or (descriptor, array) where the array has another layout, type or strides.
    """
    described: Any = None
    if _is_described(value):
        described, value = value
    array = ArrayArgument(caller, argument, value, writes, backend)
    held.append(array)
    if described is None:
        return Tensor(array, _describe_array(caller, argument, array, backend, layouts))
    description = describe(caller, argument, described, backend, layouts)
    if array.nbytes < description.nbytes:
        raise refusal(
            caller, argument, f"an array of at least {description.nbytes} bytes, as described", f"{array.nbytes} bytes"
        )
    return Tensor(array, description)


def _is_described(value: Any) -> bool:
    descriptors = TensorDescriptor, NativeTensorDescriptor
    return issubclass(type(value), tuple) and len(value) == 2 and isinstance(value[0], descriptors)


def bare_array(caller: Caller, argument: str, array: ArrayArgument, dtype: str, count: int | None) -> None:
    """Refuse an array without a descriptor that is of another type or too small."""
    if dtype and not (array.dtype != DataType.INVALID and data_type_name(array.dtype) in (dtype, f"u{dtype}")):
        raise refusal(caller, argument, f"dtype {dtype}", array.dtype_name)
    if count is not None and array.nbytes < count * array.itemsize:
        raise refusal(caller, argument, f"at least {count} elements", f"shape {list(array.shape)}")


def _describe_array(caller: Caller, argument: str, array: ArrayArgument, backend: Backend, layouts: str) -> Description:
    if not array.dtype:  # INVALID
        raise refusal(caller, argument, "an element type of the ABI", array.dtype_name)
    shape = array.shape
    if not shape and array.on_device:
        raise refusal(caller, argument, "a scalar in host memory", "a DeviceArray without dims")
    layout = _LAYOUTS.get((layouts, len(shape)), _ARRAY)
    native = NativeTensorDescriptor.unset()
    _core.describe_tensor(native, backend, caller.function, layout, array.dtype, shape)
    return Description(native, shape, array.dtype, array.nbytes)


def _read_native(caller: Caller, argument: str, native: NativeTensorDescriptor, backend: Backend) -> Description:
    if not native.closed and native.backend is not backend:
        raise refusal(caller, argument, f"a descriptor on {backend.name}", f"one on {native.backend.name}")
    _layout, dtype, _rank, dims, steps = call("mluOpGetTensorDescriptorEx_v2", native)
    size = item_size(dtype) if dtype in {int(member) for member in DataType} else 0
    if any(step < 0 for step in steps) and 0 not in dims:
        raise refusal(caller, argument, "a descriptor without negative strides", f"strides {list(steps)}")
    last = sum((dim - 1) * step for dim, step in zip(dims, steps, strict=True))
    return Description(native, tuple(dims), dtype, 0 if 0 in dims else (last + 1) * size)
