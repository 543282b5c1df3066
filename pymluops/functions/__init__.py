"""Every function of mlu_op.h as a callable under its C name, for any library with this ABI.

Parameters are those of the header, in its order and under its names, without those that follow from
others:

- ``x_desc, x`` is one array argument ``x``: NumPy, DLPack, the buffer protocol, `DeviceArray`; None
  where the function allows NULL. Its layout is the one that the function asks for. ``(descriptor,
  array)``, with a `TensorDescriptor` or a `NativeTensorDescriptor`, describes it differently.
- ``handle`` is an optional keyword, as for the operators; functions without one have the keyword
  ``backend``.
- ``workspace, workspace_size`` are asked for and made; the keyword ``workspace`` takes an array
  instead.
- Pointers that receive a value come back as results: one value, or a tuple.

Arrays that are written are given by the caller. On a device, arrays in host memory are copied there
and back; if all are DeviceArrays and there is no workspace, the call is put into the queue of the
handle. Overlap is not looked at: several functions work in place.

Errors are those of the operators: a status other than success becomes the exception of that status,
with the reason of the library. A library that lacks a function raises `NotSupportedError`.

Examples
--------
>>> import numpy, pymluops
>>> x, shifts = numpy.ones((1, 2, 4, 3), numpy.float32), numpy.zeros((1, 2), numpy.int32)
>>> out = numpy.empty_like(x)
>>> pymluops.functions.mluOpTinShiftForward(x, shifts, out)
>>> bool((out == x).all())
True
"""

import sys
from collections.abc import Iterator
from types import ModuleType

from pymluops.functions._classes import CLASSES
from pymluops.functions._function import FUNCTIONS

#: Names for a star import and for `dir`.
_public = {**FUNCTIONS, **{kind.__name__: kind for kind in CLASSES.values()}}
globals().update(_public)
globals()["__all__"] = sorted(_public)


class _Functions(ModuleType):
    """The module, as a collection of the names of the functions."""

    def __len__(self) -> int:
        return len(FUNCTIONS)

    def __iter__(self) -> Iterator[str]:
        return iter(FUNCTIONS)

    def __contains__(self, name: object) -> bool:
        return name in FUNCTIONS

    def __dir__(self) -> list[str]:
        return list(globals()["__all__"])


sys.modules[__name__].__class__ = _Functions
