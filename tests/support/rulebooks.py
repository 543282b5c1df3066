"""Rulebooks of sparse convolutions, and the C functions that use them."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np

import pymluops
from support.c_calls import ARRAY, SUCCESS, Descriptor, Raw, Tensor


class Rulebook(NamedTuple):
    """Pairs [K, 2, L] and their numbers [K]."""

    pairs: np.ndarray
    num: np.ndarray


def random_rulebook(
    rng: np.random.Generator, cells: int, length: int, rows: int, repeats: bool = False, ascending: int | None = None
) -> Rulebook:
    """Random pairs of `length` input rows and `rows` output rows; with `repeats` a cell may have the same row twice.

    The rows of side `ascending` ascend in each cell.
    """
    pairs, num = np.full((cells, 2, length), -1, np.int32), np.zeros(cells, np.int64)
    for k in range(cells):
        num[k] = rng.integers(0, (length if repeats else min(length, rows)) + 1)
        for side, count in enumerate((length, rows)):
            chosen = rng.integers(0, count, num[k]) if repeats else rng.permutation(count)[: num[k]]
            pairs[k, side, : num[k]] = np.sort(chosen) if side == ascending else chosen
    return Rulebook(pairs, num)


def in_layout(filters: np.ndarray, layout: int) -> np.ndarray:
    """Filters [(D,) H, W, Ci, Co] as the layout has them."""
    last = filters.ndim - 1
    orders = {
        0: (last, last - 1, *range(last - 1)),  # NCHW
        1: (last, *range(last)),  # NHWC
        2: tuple(range(last + 1)),  # HWCN
        3: (last, *range(last)),  # NDHWC
        ARRAY: tuple(range(last + 1)),
        5: (last, last - 1, *range(last - 1)),  # NCDHW
    }
    return np.ascontiguousarray(filters.transpose(orders[layout]))


class Product:
    """One of the three C functions with its arguments, some of which a test replaces."""

    def __init__(self, raw: Raw, function: str, tensors: dict[str, Any], numbers: dict[str, Any]) -> None:
        self.raw, self.function, self.tensors, self.numbers = raw, f"mluOpIndiceConvolution{function}", tensors, numbers
        self.layouts: dict[str, int] = {}
        self.workspace: Any = None
        self.workspace_size: int | None = None

    def _tensor(self, name: str, bare: bool) -> Any:
        tensor, layout = self.tensors[name], self.layouts.get(name, ARRAY)
        if not isinstance(tensor, np.ndarray):
            return Descriptor(tensor.shape, tensor.dtype, tensor.layout) if bare else tensor
        if not bare:
            return Tensor(tensor, layout)
        return Descriptor(tensor.shape, tensor.dtype.name, layout)

    def _num(self) -> Any:
        num = self.numbers["indice_num"]
        return num if num is None or not isinstance(num, np.ndarray) else self.raw.ffi.cast(
            "int64_t *", num.ctypes.data
        )  # fmt: skip

    def _flags(self, size: bool) -> list[Any]:
        names = {"Forward": ("num_act_out", "inverse", "sub_m"), "BackwardFilter": ("inverse", "sub_m")}
        used = names.get(
            self.function.removeprefix("mluOpIndiceConvolution"), ("inverse",) if size else ("inverse", "sub_m")
        )
        return [self.numbers[name] for name in used]

    def size(self) -> tuple[int, int]:
        """Status and bytes of the workspace."""
        size = self.raw.ffi.new("size_t *", 0)
        *inputs, output = (self._tensor(name, True) for name in self.tensors)
        arguments = [*inputs, output, self._num(), *self._flags(True), size]
        function = self.function.replace("mluOp", "mluOpGet") + "WorkspaceSize"
        return self.raw.status(function, *arguments), int(size[0])

    def status(self) -> int:
        """Status of the call, with a workspace as large as asked for if none is given."""
        null = self.raw.ffi.NULL
        need = self.workspace_size
        if need is None:
            found, need = self.size()
            need = need if found == SUCCESS else 0
        memory = np.empty(max(need, 1), np.uint8)
        workspace = self.raw.ffi.cast("void *", memory.ctypes.data) if self.workspace is None else self.workspace
        *inputs, output = (self._tensor(name, False) for name in self.tensors)
        num = self._num()
        return self.raw.status(
            self.function, *inputs, null if num is None else num, *self._flags(False), workspace, need, output
        )


def products(raw: Raw, arrays: dict[str, np.ndarray], num: np.ndarray) -> dict[str, Product]:
    """All three functions on the arrays of one convolution."""
    numbers = {"indice_num": num, "inverse": 0, "sub_m": 0, "num_act_out": len(arrays["features_out"])}
    names = {
        "Forward": ("features", "filters", "indice_pairs", "features_out"),
        "BackwardData": ("output_grad", "filters", "indice_pairs", "input_grad"),
        "BackwardFilter": ("features", "output_grad", "indice_pairs", "filters_grad"),
    }
    return {
        function: Product(raw, function, {name: arrays[name] for name in used}, dict(numbers))
        for function, used in names.items()
    }


def digests() -> list[str]:
    """What all functions give for rulebooks of some thousand pairs, in all types, as hashes."""
    found = []
    for channels, ascending in (((37, 51), None), ((32, 48), 1), ((16, 32), 0)):
        rng = np.random.default_rng(6)
        book = random_rulebook(rng, 9, 900, 800, ascending=ascending)
        found += _digests_of(rng, book, channels)
    return found


def _digests_of(rng: np.random.Generator, book: Rulebook, channels: tuple[int, int]) -> list[str]:
    found = []
    values = [rng.normal(0, 1, shape) for shape in ((900, channels[0]), (9, *channels), (800, channels[1]))]
    with Raw(pymluops.load("cpu")) as raw:
        num = raw.ffi.cast("int64_t *", book.num.ctypes.data)
        for dtype in ("float16", "float32", "float64"):
            features, filters, grad = (array.astype(dtype) for array in values)
            memory = np.empty(1 << 24, np.uint8)
            workspace = raw.ffi.cast("void *", memory.ctypes.data)
            for function, first, second, like in (
                ("Forward", features, filters, grad),
                ("BackwardData", grad, filters, features),
                ("BackwardFilter", features, grad, filters),
            ):
                out = np.empty_like(like)
                arguments = (Tensor(first), Tensor(second), Tensor(book.pairs), num, 0, workspace, memory.nbytes)
                status = raw.status(f"mluopsExtIndiceConvolution{function}", *arguments, Tensor(out))
                assert status == SUCCESS, raw.reason()
                found.append(hashlib.sha256(out.tobytes()).hexdigest())
    return found
