"""Types that offer DLPack's C exchange API, made in Python, and a stand-in for torch that is one of them."""

from __future__ import annotations

import ctypes
import subprocess
import sysconfig
import types
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from support.dlpack import Producer, _Versioned

DTYPES = {(2, 32): "f4", (2, 16): "f2", (0, 32): "i4"}


def build(compiler: str, folder: Path) -> ctypes.PyDLL:
    """Compile ``exchange.c``."""
    made = folder / "exchange.so"
    include = sysconfig.get_path("include")
    subprocess.run(
        [
            compiler,
            "-x",
            "c",
            "-shared",
            "-fPIC",
            "-I",
            include,
            str(Path(__file__).with_suffix(".c")),
            "-o",
            str(made),
        ],
        check=True,
    )
    library = ctypes.PyDLL(str(made))
    library.exchange_capsule.restype = ctypes.py_object
    library.exchange_capsule.argtypes = [ctypes.c_uint, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.py_object]
    return library


class Exchanged(Producer):
    """An array whose type offers the exchange API; subclasses set ``__dlpack_c_exchange_api__``."""

    def __init__(self, array: np.ndarray, *, fails: BaseException | None = None, silent: bool = False, **lies: Any):
        super().__init__(array, **lies)
        self.fails, self.silent = fails, silent
        self.exports: list[str] = []

    def __dlpack__(self, **_: Any) -> Any:
        raise AssertionError("the exchange API was to be used")

    def export_managed(self) -> int:
        return self._export("managed")

    def export_borrowed(self) -> int:
        return self._export("borrowed")

    def _export(self, way: str) -> int:
        self.exports.append(way)
        if self.fails is not None:
            raise self.fails
        if self.silent:
            return 0
        self._capsule(True)
        self.capsules.pop()
        managed = self._alive[-1][0]
        return ctypes.addressof(managed if way == "managed" else managed.tensor)


def exchanged_type(
    library: ctypes.PyDLL, *, major: int = 1, linked: bool = False, borrows: bool = True, **members: Any
) -> type[Exchanged]:
    """Return a new type with the exchange API."""
    capsule = library.exchange_capsule(major, linked, borrows, 1, list)
    return type("Exporter", (Exchanged,), {"__dlpack_c_exchange_api__": capsule, **members})


def stand_in_for_torch(library: ctypes.PyDLL, *, exchange: bool = True, imports: bool = True) -> Any:
    """Return a module with a `Tensor` that behaves as that of torch does towards DLPack."""
    torch: Any = types.ModuleType("torch")

    class Tensor(Exchanged):
        requires_grad = False

        def __init__(self, array: np.ndarray, **state: Any) -> None:
            self.requires_grad = state.pop("requires_grad", False)
            self.negated, self.conjugated = state.pop("negated", False), state.pop("conjugated", False)
            super().__init__(array, **state)

        @property
        def dtype(self) -> Any:
            return self.array.dtype

        def __setitem__(self, index: Any, value: Any) -> None:
            self.array[index] = value

        def is_neg(self) -> bool:
            return self.negated

        def is_conj(self) -> bool:
            return self.conjugated

        if not exchange:

            def __dlpack__(self, **keywords: Any) -> Any:
                return Producer.__dlpack__(self, **keywords)

    def import_managed(address: int) -> Tensor:
        managed = _Versioned.from_address(address)
        tensor = managed.tensor
        shape = tuple(tensor.shape[axis] for axis in range(tensor.ndim))
        count = int(np.prod(shape))
        memory = (ctypes.c_char * (count * tensor.bits // 8)).from_address(tensor.data)
        array = np.frombuffer(memory, DTYPES[tensor.code, tensor.bits]).reshape(shape)
        steps = [stride // array.itemsize for stride in array.strides]
        assert count == 0 or steps == list(tensor.strides[: tensor.ndim])
        assert (managed.major, tensor.device_type, tensor.lanes, tensor.byte_offset) == (1, 1, 1, 0)
        made = Tensor(array)
        weakref.finalize(made, managed.deleter, address)
        torch.imported += 1
        return made

    if exchange:
        Tensor.__dlpack_c_exchange_api__ = library.exchange_capsule(1, 0, 1, imports, import_managed)  # type: ignore[attr-defined]
    torch.Tensor, torch.imported = Tensor, 0
    torch.from_numpy = Tensor
    torch.from_dlpack = lambda array: ("from_dlpack", array)
    return torch
