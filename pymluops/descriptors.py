"""`TensorDescriptor`: shape, element type and layout of a tensor, as a value."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pymluops import library
from pymluops._arguments import Names, as_numbers, is_integer, refusal, shown
from pymluops._core import check, describe
from pymluops.dtypes import as_data_type, item_size
from pymluops.enums import DataType, Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pymluops._typing import Array

__all__ = ["TensorDescriptor"]

_NAMES = Names("TensorDescriptor", "mluOpSetTensorDescriptorEx_v2")
_MAX_DIMS = 8
_INT64_MAX = 2**63 - 1


class TensorDescriptor:
    """Shape, element type, layout and strides of a tensor; immutable.

    Operators make what they need themselves. This class describes a tensor to functions of the raw
    layer: see `bind`.

    Parameters
    ----------
    shape : sequence of int
        At most 8 dims, each >= 0.
    dtype : DataType, str, numpy.dtype or type
        Element type.
    layout : Layout
        Meaning of the dims.
    strides : sequence of int, optional
        Counted in elements, outermost first; packed (C order) if not given.

    Raises
    ------
    BadParamError
        If an argument is out of range, or the number of elements or bytes passes 2**63 - 1.

    Examples
    --------
    >>> from pymluops import TensorDescriptor
    >>> descriptor = TensorDescriptor((2, 3, 4), "float16")
    >>> descriptor.strides, descriptor.element_count, descriptor.nbytes
    ((12, 4, 1), 24, 48)
    """

    __slots__ = ("__weakref__", "_dtype", "_layout", "_shape", "_strides")

    _shape: tuple[int, ...]
    _dtype: DataType
    _layout: Layout
    _strides: tuple[int, ...]

    def __init__(
        self, shape: Sequence[int], dtype: Any, layout: Layout = Layout.ARRAY, strides: Sequence[int] | None = None
    ) -> None:
        dims = _numbers("shape", shape, 0)
        steps = _packed(dims) if strides is None else _numbers("strides", strides, -_INT64_MAX - 1)
        if len(steps) != len(dims):
            raise refusal(_NAMES, "strides", f"{len(dims)} numbers like shape", shown(strides))
        try:
            order = Layout(layout)
        except ValueError:
            raise refusal(_NAMES, "layout", "a Layout", shown(layout), wrong_type=not is_integer(layout)) from None
        for name, value in zip(self.__slots__[1:], (as_data_type(dtype), order, dims, steps), strict=True):
            object.__setattr__(self, name, value)
        if self.element_count * max(item_size(self._dtype), 1) > _INT64_MAX:
            raise refusal(_NAMES, "shape", "at most 2**63 - 1 elements and bytes", str(list(dims)))

    @classmethod
    def of(cls, array: Array, layout: Layout = Layout.ARRAY) -> TensorDescriptor:
        """Describe an array.

        Parameters
        ----------
        array : array
            Any array that an operator would take; it need not be contiguous.
        layout : Layout
            Meaning of its dims.

        Returns
        -------
        TensorDescriptor
        """
        given: Any = array
        if isinstance(given, np.ndarray) and cast("Any", given).dtype.kind == "V":
            # A type of ml_dtypes: neither the buffer protocol nor DLPack of NumPy can carry it.
            known = cast("np.ndarray[Any, np.dtype[Any]]", given)
            return cls(known.shape, known.dtype, layout, [stride // known.itemsize for stride in known.strides])
        shape, strides, dtype = describe(array)
        return cls(shape, dtype, layout, strides)

    @property
    def shape(self) -> tuple[int, ...]:
        """The dims."""
        return self._shape

    @property
    def dtype(self) -> DataType:
        """The element type."""
        return self._dtype

    @property
    def layout(self) -> Layout:
        """The meaning of the dims."""
        return self._layout

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides, counted in elements."""
        return self._strides

    @property
    def element_count(self) -> int:
        """Product of the dims."""
        return math.prod(self._shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements; strides do not count."""
        return self.element_count * item_size(self._dtype)

    def bind(self, backend: library.Backend | str | os.PathLike[str] | None = None) -> Any:
        """Make the C descriptor.

        Parameters
        ----------
        backend : Backend, str or os.PathLike, optional
            The library that makes it; the default backend if not given.

        Returns
        -------
        cffi pointer
            A ``mluOpTensorDescriptor_t`` for functions of ``Backend.lib``, destroyed when Python
            lets go of it.
        """
        owner = library.current() if backend is None else library.load(backend)
        ffi, lib = owner.ffi, owner.lib
        slot = ffi.new("mluOpTensorDescriptor_t *")
        check(owner, "mluOpCreateTensorDescriptor", int(lib.mluOpCreateTensorDescriptor(slot)))
        descriptor = ffi.gc(slot[0], lib.mluOpDestroyTensorDescriptor)
        if not self._shape:  # only a scalar that lies in host memory has no dims
            mode = lib.MLUOP_POINTER_MODE_HOST
            check(
                owner, "mluOpSetTensorDescriptorPointerMode", lib.mluOpSetTensorDescriptorPointerMode(descriptor, mode)
            )
        dims, steps = ffi.new("int64_t[]", self._shape or [0]), ffi.new("int64_t[]", self._strides or [0])
        status = lib.mluOpSetTensorDescriptorEx_v2(
            descriptor, int(self._layout), int(self._dtype), len(self._shape), dims, steps
        )
        check(owner, "mluOpSetTensorDescriptorEx_v2", int(status))
        return descriptor

    def _key(self) -> tuple[object, ...]:
        return self._shape, self._dtype, self._layout, self._strides

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, TensorDescriptor) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a TensorDescriptor cannot be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a TensorDescriptor cannot be changed: {name}")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._shape, self._dtype, self._layout, self._strides)

    def __repr__(self) -> str:
        strides = "" if self._strides == _packed(self._shape) else f", strides={self._strides}"
        return f"TensorDescriptor({self._shape}, DataType.{self._dtype.name}, Layout.{self._layout.name}{strides})"


def _numbers(argument: str, values: Sequence[int], minimum: int) -> tuple[int, ...]:
    numbers = as_numbers(values)
    if numbers is None or len(numbers) > _MAX_DIMS or not all(minimum <= number <= _INT64_MAX for number in numbers):
        kind = "non-negative integers" if minimum == 0 else "integers"
        expected = f"at most {_MAX_DIMS} {kind} of 64 bits"
        raise refusal(_NAMES, argument, expected, shown(values), wrong_type=numbers is None)
    return numbers


def _packed(dims: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1] * len(dims)
    for axis in range(len(dims) - 2, -1, -1):
        stride = strides[axis + 1] * dims[axis + 1]
        # Only beside a dim of 0 can this happen; the library writes 0 too.
        strides[axis] = stride if stride <= _INT64_MAX else 0
    return tuple(strides)
