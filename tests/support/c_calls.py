"""C functions called the way a C program calls them, NumPy arrays standing for tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

ARRAY, NHWC = 4, 1
SUCCESS, BAD_PARAM, NOT_SUPPORTED = 0, 3, 7

#: Enumerators of mluOpDataType_t by NumPy dtype.
DATA_TYPES = {
    "float16": 1, "float32": 2, "int8": 3, "int16": 4, "int32": 6, "uint8": 7, "bool": 8, "int64": 9, "uint32": 11,
    "uint64": 12, "uint16": 13, "float64": 14, "complex64": 16, "bfloat16": 17,
}  # fmt: skip


@dataclass(frozen=True)
class Tensor:
    """A tensor argument, that is the pair of descriptor and pointer. ``address`` replaces the array's own."""

    array: np.ndarray
    layout: int = ARRAY
    address: int | None = None

    @property
    def pointer(self) -> int:
        return self.array.__array_interface__["data"][0] if self.address is None else self.address


@dataclass(frozen=True)
class Descriptor:
    """A tensor argument that is a descriptor alone, or a pair with a NULL pointer if ``pair``."""

    shape: Sequence[int]
    dtype: str = "float32"
    layout: int = ARRAY
    pair: bool = False


class Raw:
    """One backend's C functions with a handle of its own; closes with the ``with`` block."""

    def __init__(self, backend: Any) -> None:
        self.ffi, self.lib = backend.ffi, backend.lib
        slot = self.ffi.new("mluOpHandle_t *")
        assert self.lib.mluOpCreate(slot) == SUCCESS, self.reason()
        self.handle = slot[0]

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        self.lib.mluOpDestroy(self.handle)

    def reason(self) -> str:
        """Why the last refused call was refused."""
        return self.ffi.string(self.lib.mluopsExtGetLastReason()).decode()

    def status(self, function: str, *arguments: Any) -> int:
        """Calls ``function(handle, ...)``; a descriptor that cannot be set gives the status of setting it."""
        made, values = [], []
        try:
            for argument in arguments:
                if not isinstance(argument, (Tensor, Descriptor)):
                    values.append(argument)
                    continue
                status, desc = self._describe(argument)
                made.append(desc)
                if status != SUCCESS:
                    return int(status)
                values.append(desc)
                if isinstance(argument, Tensor):
                    values.append(self.ffi.cast("void *", argument.pointer))
                elif argument.pair:
                    values.append(self.ffi.NULL)
            return int(getattr(self.lib, function)(self.handle, *values))
        finally:
            for desc in made:
                self.lib.mluOpDestroyTensorDescriptor(desc)

    def _describe(self, tensor: Tensor | Descriptor) -> tuple[int, Any]:
        slot = self.ffi.new("mluOpTensorDescriptor_t *")
        assert self.lib.mluOpCreateTensorDescriptor(slot) == SUCCESS
        desc = slot[0]
        if isinstance(tensor, Descriptor):
            shape, code = tuple(tensor.shape), DATA_TYPES[tensor.dtype]
            strides = [int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape))]
        else:
            shape, code = tensor.array.shape, DATA_TYPES[tensor.array.dtype.name]
            strides = [stride // tensor.array.itemsize for stride in tensor.array.strides]
        if not shape:  # a scalar is a host value
            self.lib.mluOpSetTensorDescriptorPointerMode(desc, 0)
        dims, steps = self.ffi.new("int64_t[]", [*shape, 0]), self.ffi.new("int64_t[]", [*strides, 0])
        return self.lib.mluOpSetTensorDescriptorEx_v2(desc, tensor.layout, code, len(shape), dims, steps), desc

    def sparse(self, geometry: Any, **changes: int) -> Any:
        """A set sparse convolution descriptor, freed with its last reference."""
        slot = self.ffi.new("mluOpSparseConvolutionDescriptor_t *")
        assert self.lib.mluOpCreateSparseConvolutionDescriptor(slot) == SUCCESS
        desc = self.ffi.gc(slot[0], self.lib.mluOpDestroySparseConvolutionDescriptor)
        assert self.set_sparse(desc, geometry, **changes) == SUCCESS, self.reason()
        return desc

    def set_sparse(self, desc: Any, geometry: Any, *, dims: int = 5, transpose: int = 0, inverse: int = 0) -> int:
        """Status of setting a sparse convolution descriptor."""
        g = geometry
        triples = [self.ffi.new("int[]", list(t)) for t in (g.padding, g.stride, g.dilation, g.space, g.kernel, g.out)]
        return int(
            self.lib.mluOpSetSparseConvolutionDescriptor(desc, dims, g.batch, *triples, int(g.subm), transpose, inverse)
        )

    def num_act_out(self, desc: Any) -> int:
        """Number of output rows that the descriptor holds."""
        value = self.ffi.new("int *", -12345)
        assert self.lib.mluOpGetSparseConvolutionNumActOut(desc, value) == SUCCESS
        return int(value[0])

    def workspace_size(self, desc: Any, *tensors: Tensor | Descriptor) -> tuple[int, int]:
        """Status and bytes of mluOpGetIndicePairsWorkspaceSize for (indices, pairs, out_indices, indice_num)."""
        size = self.ffi.new("size_t *", 0)
        bare = [
            Descriptor(t.array.shape, t.array.dtype.name, t.layout) if isinstance(t, Tensor) else t for t in tensors
        ]
        status = self.status("mluOpGetIndicePairsWorkspaceSize", desc, *bare, size)
        return status, int(size[0])

    def get_indice_pairs(
        self, desc: Any, indices: Tensor, pairs: Tensor, out: Tensor, num: Tensor, workspace_size: int | None = None
    ) -> int:
        """Status of mluOpGetIndicePairs with a workspace as large as asked for, or of the given size."""
        status, need = self.workspace_size(desc, indices, pairs, out, num)
        if status != SUCCESS:
            need = 0
        room = need if workspace_size is None else workspace_size
        memory = np.empty(max(room, 1), np.uint8)
        pointer = self.ffi.cast("void *", memory.ctypes.data)
        return self.status("mluOpGetIndicePairs", desc, indices, pointer, room, pairs, out, num)
