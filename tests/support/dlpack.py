"""Producers of DLPack capsules made by hand, able to say anything: any device, type, flag, offset or version."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

CPU, CUDA = 1, 2
READ_ONLY, IS_COPIED = 1, 2
#: DLPack type code by the kind of a NumPy dtype.
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]  # fmt: skip


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p), ("deleter", _Deleter),
        ("flags", ctypes.c_uint64), ("tensor", _Tensor),
    ]  # fmt: skip


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_is_valid = ctypes.pythonapi.PyCapsule_IsValid
_is_valid.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Producer:
    """An object whose only way to show its memory is DLPack.

    ``deleted`` counts how often its deleters were called; every capsule handed out must see exactly
    one call.
    """

    def __init__(
        self, array: np.ndarray, *, versioned: bool = True, flags: int = 0, device: int = CPU, lanes: int = 1,
        offset: int = 0, packed: bool = False, shape: Sequence[int] | None = None, code: int | None = None,
        bits: int | None = None, major: int = 1, null: bool = False, no_deleter: bool = False,
        ndim: int | None = None, no_shape: bool = False, strides: Sequence[int] | None = None,
    ) -> None:  # fmt: skip
        self.array, self.versioned, self.flags, self.device = array, versioned, flags, device
        self.lanes, self.offset, self.packed, self.major = lanes, offset, packed, major
        self.shape = tuple(array.shape if shape is None else shape)
        self.code = CODES[array.dtype.kind] if code is None else code
        self.bits = 8 * array.itemsize if bits is None else bits
        self.null, self.no_deleter = null, no_deleter
        self.ndim, self.no_shape, self.strides = ndim, no_shape, strides
        self.deleted = 0
        self.requested: list[dict[str, Any]] = []
        self.capsules: list[Any] = []
        self._alive: list[Any] = []

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device, 0

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: Any = None
    ) -> Any:
        self.requested.append({"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy})
        return self._capsule(self.versioned and max_version is not None)

    def _capsule(self, versioned: bool) -> Any:
        managed = _Versioned(major=self.major, minor=0, flags=self.flags) if versioned else _Managed()
        tensor, ndim = managed.tensor, len(self.shape)
        shape = (ctypes.c_int64 * max(ndim, 1))(*self.shape)
        steps = self.strides or [stride // self.array.itemsize for stride in self.array.strides]
        strides = (ctypes.c_int64 * max(ndim, 1))(*steps[:ndim])
        deleter = _Deleter() if self.no_deleter else _Deleter(self._delete)
        tensor.data = None if self.null else self.array.ctypes.data - self.offset
        tensor.device_type, tensor.byte_offset = self.device, self.offset
        tensor.ndim = ndim if self.ndim is None else self.ndim
        tensor.code, tensor.bits, tensor.lanes = self.code, self.bits, self.lanes
        if not self.no_shape:
            tensor.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
        if not self.packed:
            tensor.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
        managed.deleter = deleter
        self._alive.append((managed, shape, strides, deleter))
        name = b"dltensor_versioned" if versioned else b"dltensor"
        capsule = _new_capsule(ctypes.addressof(managed), name, None)
        self.capsules.append((capsule, name))
        return capsule

    def _delete(self, _: int) -> None:
        self.deleted += 1

    @property
    def consumed(self) -> bool:
        """Whether every capsule was taken over, that is renamed, and deleted once."""
        untaken = [name for capsule, name in self.capsules if _is_valid(capsule, name)]
        return not untaken and self.deleted == len(self.capsules)


class OldProducer(Producer):
    """A producer from before DLPack 1.0: it knows no max_version."""

    def __dlpack__(self, stream: Any = None) -> Any:  # type: ignore[override]
        self.requested.append({"stream": stream})
        return self._capsule(False)
