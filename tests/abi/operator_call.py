"""Calls of operator functions whose arguments can be spoilt field by field.

A `Problem` says what the arguments of a call are; `edited` gives a copy with some fields changed;
`Call` turns it into descriptors and guarded buffers, makes the call and looks afterwards what it
touched.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from abi.c_objects import RawAbi
from abi.facts import DTYPE_BYTES, DTYPE_NAMES, PROTOTYPES, SUCCESS
from support import families

#: `(argument, field) -> value`; fields of a tensor are those of `Tensor`, those of a descriptor
#: with settings the parameters of the function that sets it, and a plain argument has the field
#: "value".
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
    """A tensor argument: the pair `<name>_desc, <name>`, or an array in host memory without a descriptor."""

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
    bare: bool = False  # without a descriptor
    in_place: bool = False  # read and written

    @property
    def written(self) -> bool:
        return self.output or self.in_place

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
    """A call of an operator function, or of the function that tells the size of its workspace."""

    function: str
    tensors: dict[str, Tensor]
    values: dict[str, Any] = field(default_factory=dict)
    #: By C parameter: what a descriptor is set to, by the parameters of its function; and "desc",
    #: which is "ok", "null", "tensor" (a foreign object) or "unset"
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)

    def edited(self, edits: Edits) -> Problem:
        new = copy.copy(self)
        new.tensors = {name: copy.copy(tensor) for name, tensor in self.tensors.items()}
        new.values = dict(self.values)
        new.settings = {name: dict(values) for name, values in self.settings.items()}
        for (argument, name), value in edits.items():
            if argument in new.tensors:
                assert hasattr(new.tensors[argument], name), (argument, name)
                setattr(new.tensors[argument], name, value)
            elif argument in new.settings:
                assert name in new.settings[argument] or name == "desc", (argument, name)
                new.settings[argument][name] = value
            else:
                assert (argument in new.values, name) == (True, "value"), (argument, name)
                new.values[argument] = value
        return new


def buffer_of(tensor: Tensor, more: int = 0) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Bytes for a tensor with a guard zone on both sides, the tensor aligned to 64 bytes, and `more` behind."""
    size = tensor.nbytes if tensor.nbytes <= LARGEST_BUFFER else 0
    raw = np.full(size + more + 3 * GUARD + 64, FILL, np.uint8)
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
        # A tensor inside a shorter one must not reach into a third.
        inside = {t.data[0]: t.nbytes for t in problem.tensors.values() if isinstance(t.data, tuple)}
        rooms = {name: min(inside.get(name, 0), LARGEST_BUFFER) for name in problem.tensors}
        self.buffers = {name: buffer_of(tensor, rooms[name]) for name, tensor in problem.tensors.items()}
        # A destroyed descriptor's place is free for the next new one, so those come last.
        self.settings = {name: self._settings(name, values) for name, values in problem.settings.items()}
        ordered = sorted(problem.tensors.items(), key=lambda item: item[1].desc == "destroyed")
        self.descs = {name: self._desc(tensor) for name, tensor in ordered if not tensor.bare}
        self.workspace = np.zeros(0, np.uint8)
        self.size_out = abi.out("size_t")
        self._before = self._snapshot()

    # -- building ----------------------------------------------------------------------------------

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

    def _settings(self, parameter: str, values: dict[str, Any]) -> Any:
        """A descriptor that carries settings, made, set and destroyed by the functions of its type."""
        abi, state = self.abi, values.get("desc", "ok")
        if state == "null":
            return abi.null
        kind = next(p["type"] for p in PROTOTYPES[self.problem.function]["params"] if p["name"] == parameter)
        plain = kind.removeprefix("const ").removesuffix("_t")
        if state == "tensor":
            self._foreign.append(abi.tensor((1,)))
            return abi.ffi.cast(f"{plain}_t", self._foreign[-1])
        stem = plain.removeprefix("mluOp")
        desc = abi.ffi.gc(abi.create(f"mluOpCreate{stem}", f"{plain}_t"), getattr(abi.lib, f"mluOpDestroy{stem}"))
        if state == "ok":
            parameters = PROTOTYPES[f"mluOpSet{stem}"]["params"][1:]
            arguments = [_value(abi, values[p["name"]]) for p in parameters]
            assert getattr(abi.lib, f"mluOpSet{stem}")(desc, *arguments) == SUCCESS, abi.reason()
        return desc

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
        if "workspace" in self.problem.values:
            self._workspace()
        return [self._argument(param["name"], param["type"]) for param in PROTOTYPES[self.problem.function]["params"]]

    def _argument(self, name: str, kind: str) -> Any:
        problem, abi = self.problem, self.abi
        if name == "handle":
            return self.handle
        if name in problem.settings:
            return self.settings[name]
        if name in problem.tensors:
            return abi.ffi.cast(kind, self.pointer(name))
        if name.endswith("_desc"):
            return self.descs[name.removesuffix("_desc")]
        if name == "workspace":
            if problem.values["workspace"] == "null":
                return abi.null
            return abi.ffi.cast("void *", self.workspace.ctypes.data)
        if name in ("workspace_size", "size"):
            if "*" in kind:
                return abi.null if problem.values["workspace_size"] == "null" else self.size_out
            return self.workspace_size
        value = problem.values[name]
        # An enum has no negative numbers for cffi.
        return value & 0xFFFFFFFF if kind.removeprefix("const ").startswith("mluOp") else value

    # -- calling and looking -----------------------------------------------------------------------

    def run(self) -> int:
        return getattr(self.abi.lib, self.problem.function)(*self.arguments())

    def _snapshot(self) -> tuple[Any, ...]:
        buffers = {name: buffer.tobytes() for name, buffer in self.buffers.items()}
        usable = [name for name, tensor in self.problem.tensors.items() if tensor.desc == "ok" and not tensor.bare]
        states = {name: self.abi.state(self.descs[name]) for name in usable if self._rank_is_readable(name)}
        return buffers, states, self._num_act_out(), self.size_out[0]

    def _num_act_out(self) -> int | None:
        """What a descriptor of a sparse convolution tells, if there is one."""
        for name, desc in self.settings.items():
            made = self.problem.settings[name].get("desc", "ok") in ("ok", "unset")
            if made and "SparseConvolution" in self.abi.ffi.typeof(desc).cname:
                return self.abi.num_act_out(desc)
        return None

    def _rank_is_readable(self, name: str) -> bool:
        dims = self.problem.tensors[name].dims
        return dims is None or len(dims) <= 8

    def assert_untouched(self, num_act_out: int | None = None) -> None:
        """A refused call has written to no buffer, no descriptor and no out pointer; to `num_act_out` only if given."""
        after = self._snapshot()
        told = ""
        if num_act_out is not None and after[2] is not None:
            assert after[2] == num_act_out
            after = (*after[:2], self._before[2], after[3])
        elif num_act_out is not None:  # the last output has the number
            told = [name for name, tensor in self.problem.tensors.items() if tensor.output][-1]
            assert self.result(told).tolist() == [num_act_out]
        for name in self.buffers:
            assert name == told or self._before[0][name] == after[0][name], f"{name} was written"
        assert self._before[1:] == after[1:]

    def assert_only_outputs_touched(self) -> None:
        """A successful call has written to its outputs alone, and not past their ends."""
        buffers, states, *_ = self._snapshot()
        for name, tensor in self.problem.tensors.items():
            if not tensor.written:
                assert self._before[0][name] == buffers[name], f"{name} was written"
            else:
                assert set(buffers[name][:GUARD] + buffers[name][-GUARD:]) == {FILL}, f"{name}: out of bounds"
        assert self._before[1] == states

    def result(self, name: str) -> np.ndarray[Any, Any]:
        """A tensor's data after the call, shaped; half and float as NumPy knows them, everything else int32."""
        tensor = self.problem.tensors[name]
        kind = {"HALF": np.float16, "FLOAT": np.float32, "INT64": np.int64}.get(str(tensor.dtype), np.int32)
        body = self.buffers[name][GUARD : GUARD + tensor.nbytes]
        return np.frombuffer(body.tobytes(), kind).reshape(tensor.dims or ())


def needed_workspace(call: Call) -> int:
    """What the function that tells the size of the workspace answers for the descriptors of a call; 0 if it refuses."""
    function = WORKSPACES[call.problem.function]
    size = call.abi.out("size_t", 0)
    given = {**call.problem.values, **call.settings, "handle": call.handle, "workspace_size": size, "size": size}
    given |= {f"{name}_desc": desc for name, desc in call.descs.items()}
    parameters = {param["name"]: param["type"] for param in PROTOTYPES[function]["params"]}
    given |= {
        name: call.abi.ffi.cast(parameters[name], call.pointer(name))
        for name, tensor in call.problem.tensors.items()
        if tensor.bare and name in parameters
    }
    status = getattr(call.abi.lib, function)(*(given[name] for name in parameters))
    return int(size[0]) if status == SUCCESS else 0


def _value(abi: RawAbi, value: float | Sequence[int]) -> Any:
    return value if isinstance(value, int | float) else abi.ints(value)
