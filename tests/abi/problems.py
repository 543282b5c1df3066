"""One small legal call for each operator function, and a way to spoil it field by field.

A `Problem` says what the arguments of a call are; `edited` gives a copy with some fields changed; `Call` turns it into
descriptors and guarded buffers, makes the call and looks afterwards what it touched.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import families
from abi.facts import DTYPE_BYTES, DTYPE_NAMES, FUNCTIONS, SUCCESS
from abi.raw import RawAbi

#: `(argument, field) -> value`; fields of a tensor are those of `Tensor`, a plain argument has the field "value".
Edits = Mapping[tuple[str, str], Any]

#: The functions that tell the size of the workspace, by operator.
WORKSPACES = {known.function: known.workspace for known in families.OPERATORS.values() if known.workspace is not None}

#: Buffers above this are never allocated: the call must be refused before it reads them.
LARGEST_BUFFER = 1 << 20
LARGEST_WORKSPACE = 1 << 26
GUARD = 64
FILL = 0xA5


@dataclass
class Tensor:
    """A tensor argument: the pair `<name>_desc, <name>`."""

    dims: tuple[int, ...] | None
    dtype: str | int = "FLOAT"
    layout: str | int = "ARRAY"
    output: bool = False
    strides: tuple[int, ...] | None = None
    #: "ok", "null", "handle" (a foreign object) or "destroyed"
    desc: str = "ok"
    #: "ok", "null", "misaligned", or (other tensor, byte offset into it)
    data: str | tuple[str, int] = "ok"
    content: Any = None

    @property
    def elements(self) -> int:
        return 0 if self.dims is None else math.prod(self.dims)

    @property
    def item_size(self) -> int:
        name = DTYPE_NAMES.get(self.dtype, "INVALID") if isinstance(self.dtype, int) else self.dtype
        return DTYPE_BYTES.get(name, 0)

    @property
    def nbytes(self) -> int:
        return self.elements * self.item_size


@dataclass
class Problem:
    """A call of an operator function."""

    function: str
    tensors: dict[str, Tensor]
    values: dict[str, Any] = field(default_factory=dict)
    #: geometry for `RawAbi.set_sparse`, or None where the function takes no such descriptor
    sparse: dict[str, Any] | None = None

    def edited(self, edits: Edits) -> Problem:
        new = copy.copy(self)
        new.tensors = {name: copy.copy(tensor) for name, tensor in self.tensors.items()}
        new.values = dict(self.values)
        new.sparse = None if self.sparse is None else dict(self.sparse)
        for (argument, name), value in edits.items():
            if argument in new.tensors:
                assert hasattr(new.tensors[argument], name), (argument, name)
                setattr(new.tensors[argument], name, value)
            elif argument == "sparse":
                assert new.sparse is not None
                new.sparse[name] = value
            else:
                assert (argument in new.values, name) == (True, "value"), (argument, name)
                new.values[argument] = value
        return new


def buffer_of(tensor: Tensor) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Bytes for a tensor with a guard zone on both sides, the tensor aligned to 64 bytes."""
    size = tensor.nbytes if tensor.nbytes <= LARGEST_BUFFER else 0
    raw = np.full(size + 3 * GUARD + 64, FILL, np.uint8)
    start = GUARD + (-(raw.ctypes.data + GUARD)) % 64
    view = raw[start - GUARD : start + size + GUARD]
    if not tensor.output:
        content = tensor.content
        body = np.zeros(size, np.uint8)
        if content is not None and content.nbytes == size:
            body = np.frombuffer(content.tobytes(), np.uint8)
        view[GUARD : GUARD + size] = body
    return view


class Call:
    """A problem turned into C arguments. Make it, `run` it, then ask what happened."""

    def __init__(self, abi: RawAbi, problem: Problem, handle: Any = None) -> None:
        self.abi = abi
        self.problem = problem
        self.handle = abi.handle() if handle is None else handle
        if problem.values.get("handle") == "null":
            self.handle = abi.null
        self._foreign: list[Any] = []
        self.buffers = {name: buffer_of(tensor) for name, tensor in problem.tensors.items()}
        # A destroyed descriptor's place is free for the next new one, so those come last.
        self.sparse = self._sparse()
        ordered = sorted(problem.tensors.items(), key=lambda item: item[1].desc == "destroyed")
        self.descs = {name: self._desc(tensor) for name, tensor in ordered}
        self.workspace = np.zeros(0, np.uint8)
        self.size_out = abi.out("size_t")
        self._before = self._snapshot()

    # -- building ------------------------------------------------------------------------------------------------------

    def _desc(self, tensor: Tensor) -> Any:
        abi = self.abi
        if tensor.desc == "null":
            return abi.null
        if tensor.desc == "handle":
            self._foreign.append(abi.handle())
            return abi.ffi.cast("mluOpTensorDescriptor_t", self._foreign[-1])
        if tensor.desc == "destroyed":
            raw = abi.new_tensor()
            abi.lib.mluOpDestroyTensorDescriptor(raw)
            return raw
        return abi.tensor(tensor.dims, tensor.dtype, tensor.layout, tensor.strides)

    def _sparse(self) -> Any:
        geometry = self.problem.sparse
        if geometry is None:
            return None
        state = geometry.get("desc", "ok")
        if state == "null":
            return self.abi.null
        if state == "tensor":
            self._foreign.append(self.abi.tensor((1,)))
            return self.abi.ffi.cast("mluOpSparseConvolutionDescriptor_t", self._foreign[-1])
        if state == "unset":
            return self.abi.sparse()
        return self.abi.sparse(**{key: value for key, value in geometry.items() if key != "desc"})

    def pointer(self, name: str) -> Any:
        data = self.problem.tensors[name].data
        if data == "null":
            return self.abi.null
        offset = 1 if data == "misaligned" else 0
        if isinstance(data, tuple):
            name, offset = data
        return self.abi.ffi.cast("char *", self.buffers[name].ctypes.data + GUARD + offset)

    def _workspace(self) -> None:
        """`workspace_size` is a number, or "need" (ask the library) plus an offset as ("need", -1)."""
        size = self.problem.values["workspace_size"]
        if size == "need" or isinstance(size, tuple):
            asked = needed_workspace(self)
            size = max(0, asked + (size[1] if isinstance(size, tuple) else 0))
        self.workspace_size = size
        self.workspace = np.full((size if size <= LARGEST_WORKSPACE else 0) + GUARD, FILL, np.uint8)

    def arguments(self) -> list[Any]:
        values: list[Any] = []
        for param in FUNCTIONS[self.problem.function]["params"]:
            values.append(self._argument(param["name"]))
        return values

    def _argument(self, name: str) -> Any:
        problem, abi = self.problem, self.abi
        if name == "handle":
            return self.handle
        if name == "sparse_conv_desc":
            return self.sparse
        if name in problem.tensors:
            return self.pointer(name)
        if name.endswith("_desc"):
            return self.descs[name.removesuffix("_desc")]
        if name == "workspace":
            self._workspace()
            if problem.values["workspace"] == "null":
                return abi.null
            return abi.ffi.cast("void *", self.workspace.ctypes.data)
        if name == "workspace_size":
            out_pointer = problem.function == "mluOpGetIndicePairsWorkspaceSize"
            if out_pointer:
                return abi.null if problem.values["workspace_size"] == "null" else self.size_out
            return self.workspace_size
        return problem.values[name]

    # -- calling and looking -------------------------------------------------------------------------------------------

    def run(self) -> int:
        return getattr(self.abi.lib, self.problem.function)(*self.arguments())

    def _snapshot(self) -> tuple[Any, ...]:
        buffers = {name: buffer.tobytes() for name, buffer in self.buffers.items()}
        usable = [name for name, tensor in self.problem.tensors.items() if tensor.desc == "ok"]
        states = {name: self.abi.state(self.descs[name]) for name in usable if self._rank_is_readable(name)}
        sparse = None
        if self.sparse is not None and self.problem.sparse and self.problem.sparse.get("desc", "ok") in ("ok", "unset"):
            sparse = self.abi.num_act_out(self.sparse)
        return buffers, states, sparse, self.size_out[0]

    def _rank_is_readable(self, name: str) -> bool:
        dims = self.problem.tensors[name].dims
        return dims is None or len(dims) <= 8

    def assert_untouched(self, num_act_out: int | None = None) -> None:
        """A refused call has written to no buffer, no descriptor and no out pointer; to `num_act_out` only if given."""
        after = self._snapshot()
        if num_act_out is not None:
            assert after[2] == num_act_out
            after = (*after[:2], self._before[2], after[3])
        for name in self.buffers:
            assert self._before[0][name] == after[0][name], f"{name} was written"
        assert self._before[1:] == after[1:]

    def assert_only_outputs_touched(self) -> None:
        """A successful call has written to its outputs alone, and not past their ends."""
        buffers, states, *_ = self._snapshot()
        for name, tensor in self.problem.tensors.items():
            if not tensor.output:
                assert self._before[0][name] == buffers[name], f"{name} was written"
            else:
                assert set(buffers[name][:GUARD] + buffers[name][-GUARD:]) == {FILL}, f"{name}: out of bounds"
        assert self._before[1] == states

    def result(self, name: str) -> np.ndarray[Any, Any]:
        """A tensor's data after the call, shaped; half and float as NumPy knows them, everything else int32."""
        tensor = self.problem.tensors[name]
        kind = {"HALF": np.float16, "FLOAT": np.float32}.get(str(tensor.dtype), np.int32)
        body = self.buffers[name][GUARD : GUARD + tensor.nbytes]
        return np.frombuffer(body.tobytes(), kind).reshape(tensor.dims or ())


def needed_workspace(call: Call) -> int:
    """What the function that tells the size of the workspace answers for the descriptors of a call; 0 if it refuses."""
    function = WORKSPACES[call.problem.function]
    size = call.abi.out("size_t", 0)
    given = {"handle": call.handle, "sparse_conv_desc": call.sparse, "workspace_size": size}
    given |= {f"{name}_desc": desc for name, desc in call.descs.items()}
    arguments = [given[param["name"]] for param in FUNCTIONS[function]["params"]]
    return int(size[0]) if getattr(call.abi.lib, function)(*arguments) == SUCCESS else 0


# ---- the legal calls -------------------------------------------------------------------------------------------------


def _floats(dims: tuple[int, ...], seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.random.default_rng(seed).uniform(-1, 1, dims).astype(np.float32)


def tin_shift(function: str, first: str, last: str) -> Problem:
    dims = (2, 3, 4, 5)
    shifts = np.array([[1, -1], [0, 2]], np.int32)
    return Problem(
        function,
        {
            first: Tensor(dims, content=_floats(dims, 1)),
            "shifts": Tensor((2, 2), "INT32", content=shifts),
            last: Tensor(dims, output=True),
        },
        {"handle": "ok"},
    )


def psamask(function: str, first: str, last: str) -> Problem:
    mask_side, map_side = (2, 3, 4, 15), (2, 3, 4, 12)
    dims = (mask_side, map_side) if first == "x" else (map_side, mask_side)
    return Problem(
        function,
        {
            first: Tensor(dims[0], layout="NHWC", content=_floats(dims[0], 2)),
            last: Tensor(dims[1], layout="NHWC", output=True),
        },
        {"handle": "ok", "psa_type": 0, "h_mask": 3, "w_mask": 5},
    )


def _boxes() -> np.ndarray[Any, np.dtype[np.float32]]:
    corners = np.random.default_rng(3).uniform(0, 3, (2, 5, 2)).astype(np.float32)
    return np.concatenate([corners, corners + 1], axis=2)


def border_align_forward() -> Problem:
    return Problem(
        "mluOpBorderAlignForward",
        {
            "input": Tensor((2, 3, 4, 8), layout="NHWC", content=_floats((2, 3, 4, 8), 4)),
            "boxes": Tensor((2, 5, 4), content=_boxes()),
            "output": Tensor((2, 5, 4, 2), layout="NHWC", output=True),
            "argmax_idx": Tensor((2, 5, 4, 2), "INT32", "NHWC", output=True),
        },
        {"handle": "ok", "pool_size": 3},
    )


def border_align_backward() -> Problem:
    argmax = np.random.default_rng(5).integers(0, 4, (2, 5, 4, 2), dtype=np.int32)
    return Problem(
        "mluOpBorderAlignBackward",
        {
            "grad_output": Tensor((2, 5, 4, 2), layout="NHWC", content=_floats((2, 5, 4, 2), 6)),
            "boxes": Tensor((2, 5, 4), content=_boxes()),
            "argmax_idx": Tensor((2, 5, 4, 2), "INT32", "NHWC", content=argmax),
            "grad_input": Tensor((2, 3, 4, 8), layout="NHWC", output=True),
        },
        {"handle": "ok", "pool_size": 3},
    )


def three_interpolate(function: str, first: str, last: str) -> Problem:
    source, target = ((2, 3, 6), (2, 3, 5)) if first == "features" else ((2, 3, 5), (2, 3, 6))
    indices = np.random.default_rng(7).integers(0, 6, (2, 5, 3), dtype=np.int32)
    return Problem(
        function,
        {
            first: Tensor(source, content=_floats(source, 8)),
            "indices": Tensor((2, 5, 3), "INT32", content=indices),
            "weights": Tensor((2, 5, 3), content=_floats((2, 5, 3), 9)),
            last: Tensor(target, output=True),
        },
        {"handle": "ok"},
    )


#: Four voxels of a 4 x 5 x 6 grid, batch 2.
VOXELS = np.array([[0, 0, 0, 0], [0, 1, 2, 3], [1, 3, 4, 5], [1, 3, 4, 4]], np.int32)


def get_indice_pairs(function: str = "mluOpGetIndicePairs") -> Problem:
    """Kernel 3, stride 1, padding 1: K = 27 cells, output space as the input's, default mode."""
    values: dict[str, Any] = {"handle": "ok", "workspace": "ok", "workspace_size": "need"}
    if function != "mluOpGetIndicePairs":
        values = {"handle": "ok", "workspace_size": "ok"}
    return Problem(
        function,
        {
            "indices": Tensor((4, 4), "INT32", content=VOXELS),
            "indice_pairs": Tensor((27, 2, 4), "INT32", output=True),
            "out_indices": Tensor((100, 4), "INT32", output=True),
            "indice_num": Tensor((27,), "INT32", output=True),
        },
        values,
        {
            "batch_size": 2,
            "pad": (1, 1, 1),
            "stride": (1, 1, 1),
            "dilation": (1, 1, 1),
            "input_space": (4, 5, 6),
            "filter_space": (3, 3, 3),
            "output_space": (4, 5, 6),
            "sub_m": 0,
        },
    )


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "mluOpTinShiftForward": lambda: tin_shift("mluOpTinShiftForward", "input", "output"),
    "mluOpTinShiftBackward": lambda: tin_shift("mluOpTinShiftBackward", "grad_output", "grad_input"),
    "mluOpPsamaskForward": lambda: psamask("mluOpPsamaskForward", "x", "y"),
    "mluOpPsamaskBackward": lambda: psamask("mluOpPsamaskBackward", "dy", "dx"),
    "mluOpBorderAlignForward": border_align_forward,
    "mluOpBorderAlignBackward": border_align_backward,
    "mluOpThreeInterpolateForward": lambda: three_interpolate("mluOpThreeInterpolateForward", "features", "output"),
    "mluOpThreeInterpolateBackward": lambda: three_interpolate(
        "mluOpThreeInterpolateBackward", "grad_output", "grad_features"
    ),
    "mluOpGetIndicePairs": get_indice_pairs,
    "mluOpGetIndicePairsWorkspaceSize": lambda: get_indice_pairs("mluOpGetIndicePairsWorkspaceSize"),
}

#: The parameters that hold an element type of the operator's own choice, half or float.
REAL_TENSORS: dict[str, tuple[str, ...]] = {
    "mluOpTinShiftForward": ("input", "output"),
    "mluOpTinShiftBackward": ("grad_output", "grad_input"),
    "mluOpBorderAlignForward": ("input", "boxes", "output"),
    "mluOpBorderAlignBackward": ("grad_output", "boxes", "grad_input"),
    "mluOpThreeInterpolateForward": ("features", "weights", "output"),
    "mluOpThreeInterpolateBackward": ("grad_output", "weights", "grad_features"),
}
