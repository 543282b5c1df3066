"""Tensor arguments: arrays, alone or with a descriptor, and descriptors without data."""

from __future__ import annotations

from typing import Any, NamedTuple

from pymluops import _core
from pymluops._arguments import Caller, refusal, shown
from pymluops._core import ArrayArgument, Backend
from pymluops.descriptors import TensorDescriptor
from pymluops.dtypes import data_type_name, item_size
from pymluops.enums import DataType, Layout
from pymluops.errors import NotInitializedError
from pymluops.functions._objects import NativeTensorDescriptor

__all__ = ["Description", "Tensor", "bare_array", "describe", "read_array"]

_ARRAY = int(Layout.ARRAY)
_DATA_TYPES = frozenset(int(member) for member in DataType)
#: Layouts other than ARRAY, by what a function asks for and the number of dims.
_LAYOUTS = {
    ("NHWC", 4): int(Layout.NHWC),
    ("NCHW", 4): int(Layout.NCHW),
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
        The layout of arrays: ``ARRAY``, ``NHWC`` or ``NCHW`` (for four dims), or ``channels last``.
    """
    if isinstance(value, NativeTensorDescriptor):
        return _read_native(caller, argument, value, backend)
    if isinstance(value, TensorDescriptor):
        return _describe_value(caller, argument, value, backend)
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


def _describe_value(caller: Caller, argument: str, value: TensorDescriptor, backend: Backend) -> Description:
    # Read once: what is looked at here is what the library is given.
    layout, dtype = int(value.layout), DataType(value.dtype)
    shape, strides = tuple(map(int, value.shape)), tuple(map(int, value.strides))
    if 0 not in shape and any(step < 0 for step in strides):
        raise refusal(caller, argument, "a TensorDescriptor without negative strides", shown(value))
    native = NativeTensorDescriptor.unset()
    _core.describe_tensor(native, backend, caller.function, layout, int(dtype), shape, strides)
    return Description(native, shape, int(dtype), _elements_between(shape, strides) * item_size(dtype))


def _read_native(caller: Caller, argument: str, given: NativeTensorDescriptor, backend: Backend) -> Description:
    """Return what a descriptor says now, with a descriptor of the call's own: the caller's may be set at any time."""
    if given.closed:
        raise NotInitializedError(f"{caller.name}: {argument}: is closed", function=caller.function)
    if given.backend is not backend:
        raise refusal(caller, argument, f"a descriptor on {backend.name}", f"one on {given.backend.name}")
    native = NativeTensorDescriptor.unset()
    dtype, dims, steps = _core.copy_tensor_descriptor(caller, given, native)
    size = item_size(DataType(dtype)) if dtype in _DATA_TYPES else 0
    if any(step < 0 for step in steps) and 0 not in dims:
        raise refusal(caller, argument, "a descriptor without negative strides", f"strides {list(steps)}")
    return Description(native, dims, dtype, _elements_between(dims, steps) * size)


def _elements_between(dims: tuple[int, ...], steps: tuple[int, ...]) -> int:
    """Return how far the last element lies behind the first, with itself; 0 if there is none."""
    return 0 if 0 in dims else sum((dim - 1) * step for dim, step in zip(dims, steps, strict=True)) + 1
