"""The stand-in for the tensor library, called from Python: descriptors of NumPy arrays, and their device memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_size_t, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pymluops
from pymluops.sim.toolchain import Simulator
from sim.numbers_of import numbers_of

CNNL = numbers_of("cnnl.h")
DTYPES = {
    np.dtype(name): getattr(CNNL, f"CNNL_DTYPE_{other}")
    for name, other in {
        "float16": "HALF", "float32": "FLOAT", "float64": "DOUBLE", "int8": "INT8", "int16": "INT16", "int32": "INT32",
        "int64": "INT64", "uint8": "UINT8", "uint16": "UINT16", "uint32": "UINT32", "uint64": "UINT64", "bool": "BOOL",
        "complex64": "COMPLEX_FLOAT",
    }.items()
}  # fmt: skip


class Library:
    """The library with one handle, whose queue is `queue`."""

    def __init__(self) -> None:
        path = Simulator.installed().library.with_name("libmlusim_cnnl.so")
        self.c = ctypes.CDLL(str(path))
        self.c.cnnlStandInGetLastReason.restype = ctypes.c_char_p
        self.c.cnnlStandInVersion.restype = ctypes.c_char_p
        self.c.cnnlGetErrorString.restype = ctypes.c_char_p
        self.c.cnnlGetTensorElementNum.restype = c_size_t
        self.queue = pymluops.Queue("sim")
        self.handle = c_void_p()
        assert self.c.cnnlCreate(byref(self.handle)) == 0
        assert self.c.cnnlSetQueue(self.handle, c_void_p(self.queue.address)) == 0

    def close(self) -> None:
        assert self.c.cnnlDestroy(self.handle) == 0
        self.queue.close()

    def reason(self) -> str:
        return str(self.c.cnnlStandInGetLastReason().decode())

    def call(self, name: str, *arguments: Any) -> None:
        """Call a function with the handle, which must succeed, and wait."""
        status = getattr(self.c, name)(self.handle, *arguments)
        assert status == 0, self.reason()
        self.queue.sync()

    @contextmanager
    def made(self, kind: str) -> Iterator[c_void_p]:
        """A descriptor: cnnlCreate<kind> and cnnlDestroy<kind>."""
        desc = c_void_p()
        assert getattr(self.c, f"cnnlCreate{kind}")(byref(desc)) == 0
        yield desc
        assert getattr(self.c, f"cnnlDestroy{kind}")(desc) == 0

    def workspace(self, name: str, *arguments: Any) -> int:
        size = c_size_t(77)
        assert getattr(self.c, name)(self.handle, *arguments, byref(size)) == 0
        return size.value


class Tensor:
    """An array in device memory, with its descriptor. `strides` in elements are those of the device."""

    def __init__(self, library: Library, array: NDArray[Any], strides: Sequence[int] | None = None) -> None:
        self.library, self.shape, self.dtype = library, array.shape, array.dtype
        if strides is None:
            self.strides = tuple(stride // array.itemsize for stride in np.empty(array.shape, array.dtype).strides)
        else:
            self.strides = tuple(strides)
        reach = 1 + sum((dim - 1) * stride for dim, stride in zip(self.shape, self.strides, strict=True))
        self.base = np.zeros(max(reach, 1), array.dtype)
        self.view(self.base)[...] = array
        kind = "uint8" if array.dtype == bool else array.dtype
        kind = "int64" if array.dtype.kind == "c" else kind
        self.device = pymluops.DeviceArray.from_host(self.base.view(kind), "sim")
        self.desc = c_void_p()
        assert library.c.cnnlCreateTensorDescriptor(byref(self.desc)) == 0
        dims = (ctypes.c_int64 * len(self.shape))(*self.shape)
        steps = (ctypes.c_int64 * len(self.shape))(*self.strides)
        status = library.c.cnnlSetTensorDescriptorEx_v2(
            self.desc, CNNL.CNNL_LAYOUT_ARRAY, DTYPES[array.dtype], len(self.shape), dims, steps
        )
        assert status == 0, library.reason()

    def view(self, base: NDArray[Any]) -> NDArray[Any]:
        steps = [stride * base.itemsize for stride in self.strides]
        return np.lib.stride_tricks.as_strided(base, self.shape, steps)

    @property
    def data(self) -> c_void_p:
        return c_void_p(self.device.address)

    @property
    def pair(self) -> tuple[c_void_p, c_void_p]:
        return self.desc, self.data

    def get(self) -> NDArray[Any]:
        """What is in device memory now."""
        return self.view(self.device.to_host().view(self.dtype)).copy()

    def close(self) -> None:
        assert self.library.c.cnnlDestroyTensorDescriptor(self.desc) == 0
