"""A thin hold on the raw C ABI: objects that free themselves, and their state as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from abi.facts import DTYPE_NAMES, DTYPES, LAYOUTS, SUCCESS

#: What an out pointer holds before a call, to see whether it was written.
UNTOUCHED = 0x5A5A5A5A


class TensorState(NamedTuple):
    """Everything that can be read back from a tensor descriptor."""

    layout: int
    dtype: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    elements: int
    onchip_dtype: int
    pointer_mode: int
    position: int
    scale: float
    offset: int


#: State of a new or reset descriptor.
NEW_STATE = TensorState(LAYOUTS["ARRAY"], DTYPES["FLOAT"], (), (), 0, DTYPES["INVALID"], 1, 0, 1.0, 0)


class SettingsKind(NamedTuple):
    """Names of a descriptor that carries settings."""

    type_name: str
    create: str
    destroy: str
    parameter: str  # of the create and destroy functions


SETTINGS = {
    kind: SettingsKind(f"mluOp{kind}_t", f"mluOpCreate{kind}", f"mluOpDestroy{kind}", parameter)
    for kind, parameter in {
        "CarafeDescriptor": "carafe_desc",
        "NmsDescriptor": "desc",
        "RoiAlignForwardDescriptor": "desc",
        "AdamWDescriptor": "adamw_desc",
        "DCNDescriptor": "dcn_desc",
        "FFTPlan": "fft_plan",
    }.items()
}


class RawAbi:
    """`Backend.lib` and `Backend.ffi` with short names for what nearly every test needs."""

    def __init__(self, backend: Any) -> None:
        self.lib: Any = backend.lib
        self.ffi: Any = backend.ffi
        self.null: Any = self.ffi.NULL

    # -- values ------------------------------------------------------------------------------------

    def enum(self, type_name: str, value: int) -> Any:
        """An enum argument of any number, negative and unknown ones included."""
        return self.ffi.cast(type_name, value)

    def dtype(self, dtype: str | int) -> Any:
        return self.enum("mluOpDataType_t", DTYPES[dtype] if isinstance(dtype, str) else dtype)

    def layout(self, layout: str | int) -> Any:
        return self.enum("mluOpTensorLayout_t", LAYOUTS[layout] if isinstance(layout, str) else layout)

    def ints(self, values: Sequence[int], type_name: str = "int") -> Any:
        """A C array, never of length 0 so that the pointer is valid."""
        return self.ffi.new(f"{type_name}[]", [*values, 0])

    def longs(self, values: Sequence[int]) -> Any:
        return self.ints(values, "int64_t")

    def out(self, type_name: str, value: int = UNTOUCHED) -> Any:
        """A variable for an out pointer, filled with a mark."""
        return self.ffi.new(f"{type_name} *", value)

    def reason(self) -> str:
        return self.ffi.string(self.lib.mluopsExtGetLastReason()).decode("utf-8")

    # -- objects -----------------------------------------------------------------------------------

    def create(self, function: str, type_name: str, *arguments: Any) -> Any:
        """Call a create function and return the object, not freed by anybody yet."""
        slot = self.ffi.new(f"{type_name} *")
        status = getattr(self.lib, function)(slot, *arguments)
        assert status == SUCCESS, self.reason()
        assert slot[0] != self.null
        return slot[0]

    def new_handle(self) -> Any:
        return self.create("mluOpCreate", "mluOpHandle_t")

    def new_tensor(self) -> Any:
        return self.create("mluOpCreateTensorDescriptor", "mluOpTensorDescriptor_t")

    def new_seq_data(self) -> Any:
        return self.create("mluOpCreateSeqDataDescriptor", "mluOpSeqDataDescriptor_t")

    def new_sparse(self) -> Any:
        return self.create("mluOpCreateSparseConvolutionDescriptor", "mluOpSparseConvolutionDescriptor_t")

    def new_set(self, dims: Sequence[int]) -> Any:
        return self.create("mluOpCreateTensorSetDescriptor", "mluOpTensorSetDescriptor_t", len(dims), self.ints(dims))

    def settings(self, kind: str) -> Any:
        """A settings descriptor as it is created; `kind` is one of `SETTINGS`."""
        names = SETTINGS[kind]
        return self.ffi.gc(self.new_settings(kind), getattr(self.lib, names.destroy))

    def new_settings(self, kind: str) -> Any:
        return self.create(SETTINGS[kind].create, SETTINGS[kind].type_name)

    def handle(self) -> Any:
        return self.ffi.gc(self.new_handle(), self.lib.mluOpDestroy)

    def seq_data(self) -> Any:
        return self.ffi.gc(self.new_seq_data(), self.lib.mluOpDestroySeqDataDescriptor)

    def sparse(self, **geometry: Any) -> Any:
        """A sparse convolution descriptor; set if a geometry is given, see `set_sparse`."""
        desc = self.ffi.gc(self.new_sparse(), self.lib.mluOpDestroySparseConvolutionDescriptor)
        if geometry:
            assert self.set_sparse(desc, **geometry) == SUCCESS, self.reason()
        return desc

    def tensor_set(self, dims: Sequence[int]) -> Any:
        return self.ffi.gc(self.new_set(dims), self.lib.mluOpDestroyTensorSetDescriptor)

    def tensor(
        self,
        dims: Sequence[int] | None = None,
        dtype: str | int = "FLOAT",
        layout: str | int = "ARRAY",
        strides: Sequence[int] | None = None,
    ) -> Any:
        """A tensor descriptor; `dims=None` leaves it as created, `()` makes it a scalar."""
        desc = self.ffi.gc(self.new_tensor(), self.lib.mluOpDestroyTensorDescriptor)
        if dims is None:
            return desc
        if len(dims) == 0:
            self.lib.mluOpSetTensorDescriptorPointerMode(desc, self.lib.MLUOP_POINTER_MODE_HOST)
        code, order, sizes = self.dtype(dtype), self.layout(layout), self.longs(dims)
        if strides is None:
            status = self.lib.mluOpSetTensorDescriptor_v2(desc, order, code, len(dims), sizes)
        else:
            steps = self.longs(strides)
            status = self.lib.mluOpSetTensorDescriptorEx_v2(desc, order, code, len(dims), sizes, steps)
        assert status == SUCCESS, self.reason()
        return desc

    def set_sparse(self, desc: Any, **changes: Any) -> int:
        """Set a sparse convolution descriptor; what is not named is a plain legal value."""
        values: dict[str, Any] = {
            "dimNb": 5, "batch_size": 1, "pad": (0, 0, 0), "stride": (1, 1, 1), "dilation": (1, 1, 1),
            "input_space": (4, 4, 4), "filter_space": (1, 1, 1), "output_space": (4, 4, 4),
            "sub_m": 0, "transpose": 0, "inverse": 0,
        }  # fmt: skip
        assert changes.keys() <= values.keys()
        values.update(changes)
        arguments = [value if isinstance(value, int) else self.ints(value) for value in values.values()]
        return self.lib.mluOpSetSparseConvolutionDescriptor(desc, *arguments)

    # -- state -------------------------------------------------------------------------------------

    def num_act_out(self, sparse: Any) -> int:
        number = self.out("int")
        assert self.lib.mluOpGetSparseConvolutionNumActOut(sparse, number) == SUCCESS
        return number[0]

    def state(self, desc: Any) -> TensorState:
        """Read back everything that a tensor descriptor holds."""
        lib = self.lib
        layout, dtype, rank = self.out("mluOpTensorLayout_t"), self.out("mluOpDataType_t"), self.out("int")
        dims, strides = self.longs([0] * 8), self.longs([0] * 8)
        onchip, mode = self.out("mluOpDataType_t"), self.out("mluOpPointerMode_t")
        position, scale, offset = self.out("int"), self.out("float"), self.out("int")
        for status in (
            lib.mluOpGetTensorDescriptorEx_v2(desc, layout, dtype, rank, dims, strides),
            lib.mluOpGetTensorDescriptorOnchipDataType(desc, onchip),
            lib.mluOpGetTensorDescriptorPointerMode(desc, mode),
            lib.mluOpGetTensorDescriptorPositionScaleAndOffset(desc, position, scale, offset),
        ):
            assert status == SUCCESS, self.reason()
        size = rank[0]
        elements = lib.mluOpGetTensorElementNum(desc)
        return TensorState(
            int(layout[0]), int(dtype[0]), tuple(dims[0:size]), tuple(strides[0:size]), elements,
            int(onchip[0]), int(mode[0]), position[0], scale[0], offset[0],
        )  # fmt: skip

    def describe(self, desc: Any) -> str:
        """One line for messages of tests."""
        state = self.state(desc)
        return f"{DTYPE_NAMES.get(state.dtype, state.dtype)} {list(state.dims)} layout {state.layout}"


def packed(dims: Sequence[int]) -> tuple[int, ...]:
    """Strides of a tensor without gaps."""
    strides = [1] * len(dims)
    for axis in range(len(dims) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * dims[axis + 1]
    return tuple(strides)
