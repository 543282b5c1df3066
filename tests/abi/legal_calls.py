"""A legal call of every function, of the core and of operators, as `parameter -> value`: tests replace one value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from abi.c_objects import RawAbi
from abi.checks import OPERATORS, refusals
from abi.derived import PROBLEMS
from abi.facts import BAD_PARAM, DEPRECATED, EXECUTION_FAILED, NOT_INITIALIZED, PROTOTYPES, SUCCESS
from abi.operator_call import Call
from abi.settings_calls import SETTINGS_CALLS

Arguments = dict[str, Any]


def _handle(abi: RawAbi, **rest: Any) -> Arguments:
    return {"handle": abi.handle(), **rest}


def _filled(abi: RawAbi) -> Any:
    return abi.tensor((2, 3, 4), "HALF", "NHWC")


def _dims(abi: RawAbi) -> Any:
    return abi.ints((2, 3))


def _set(abi: RawAbi, wide: bool, strided: bool) -> Arguments:
    make = abi.longs if wide else abi.ints
    arguments = {
        "desc": abi.tensor(), "layout": abi.layout("NHWC"), "dtype": abi.dtype("HALF"),
        "dimNb": 2, "dimSize": make((2, 3)),
    }  # fmt: skip
    return {**arguments, "dimStride": make((3, 1))} if strided else arguments


def _get(abi: RawAbi, wide: bool, strided: bool) -> Arguments:
    make = abi.longs if wide else abi.ints
    arguments = {
        "desc": _filled(abi), "layout": abi.out("mluOpTensorLayout_t"), "dtype": abi.out("mluOpDataType_t"),
        "dimNb": abi.out("int"), "dimSize": make([0] * 8),
    }  # fmt: skip
    return {**arguments, "dimStride": make([0] * 8)} if strided else arguments


def _group_slots(abi: RawAbi, filled: bool) -> Any:
    """An array of two pointers to descriptor variables; the variables live in `group_storage`."""
    storage = abi.ffi.new("mluOpTensorDescriptor_t[2]")
    if filled:
        storage[0], storage[1] = abi.new_tensor(), abi.new_tensor()
    group = abi.ffi.new("mluOpTensorDescriptor_t *[2]", [storage + 0, storage + 1])
    _KEPT_ALIVE.append(storage)
    return group


_KEPT_ALIVE: list[Any] = []


def _set_group(abi: RawAbi) -> Arguments:
    return {
        "group_desc": _group_slots(abi, filled=True),
        "group_layout": abi.ffi.new("mluOpTensorLayout_t[]", [4, 1]),
        "group_dtype": abi.ffi.new("mluOpDataType_t[]", [2, 1]),
        "group_dimNb": abi.ints((1, 2)),
        "group_dimSize": abi.ints((7, 2, 3)),
        "desc_num": 2,
    }


def _set_member(abi: RawAbi) -> Arguments:
    return {
        "tensorSetDesc": abi.tensor_set((2, 3)), "setDimNb": 2, "tensorIndex": abi.ints((1, 2)),
        "layout": abi.layout("ARRAY"), "dtype": abi.dtype("FLOAT"), "dimNb": 2, "dimSize": _dims(abi),
    }  # fmt: skip


def _set_seq_data(abi: RawAbi) -> Arguments:
    return {
        "seq_data_desc": abi.seq_data(), "layout": abi.enum("mluOpSeqDataLayout_t", 2), "dtype": abi.dtype("FLOAT"),
        "dimNb": 3, "dimSize": abi.longs((2, 3, 4)), "seqLengthArraySize": 2, "seqLengthArray": abi.ints((3, 1)),
        "paddingFill": abi.ffi.cast("void *", _kept(abi.ffi.new("float *", 0.5))),
    }  # fmt: skip


def _get_seq_data(abi: RawAbi) -> Arguments:
    filled = _set_seq_data(abi)
    assert abi.lib.mluOpSetSeqDataDescriptor_v2(*filled.values()) == SUCCESS
    return {
        "seq_data_desc": filled["seq_data_desc"], "layout": abi.out("mluOpSeqDataLayout_t"),
        "dtype": abi.out("mluOpDataType_t"), "dimNb": abi.out("int"), "dimSize": abi.longs([0] * 8),
        "seqLengthArraySize": abi.out("int64_t"), "seqLengthArray": abi.longs([0] * 8),
        "paddingFill": abi.ffi.cast("void *", _kept(abi.ffi.new("float *"))),
    }  # fmt: skip


def _set_sparse(abi: RawAbi) -> Arguments:
    arrays = {
        "pad": (0, 0, 0), "stride": (1, 1, 1), "dilation": (1, 1, 1),
        "input_space": (4, 4, 4), "filter_space": (3, 3, 3), "output_space": (2, 2, 2),
    }  # fmt: skip
    return {
        "desc": abi.sparse(), "dimNb": 5, "batch_size": 2, **{name: abi.ints(three) for name, three in arrays.items()},
        "sub_m": 0, "transpose": 0, "inverse": 0,
    }  # fmt: skip


def _data_from_set(abi: RawAbi) -> Arguments:
    return {
        "tensorSetDesc": abi.tensor_set((2, 3)), "setDimNb": 2, "tensorIndex": abi.ints((1, 2)),
        "data": abi.ffi.cast("void *", _kept(abi.ints([0] * 8))),
        "tensorDesc": abi.out("mluOpTensorDescriptor_t", abi.null),
        "dataAddrInDevice": abi.ffi.new("void **"),
    }  # fmt: skip


def _kept(value: Any) -> Any:
    _KEPT_ALIVE.append(value)
    return value


def _operator(name: str) -> Callable[[RawAbi], Arguments]:
    def arguments(abi: RawAbi) -> Arguments:
        call = _kept(Call(abi, PROBLEMS[name]()))
        names = [param["name"] for param in PROTOTYPES[name]["params"]]
        return dict(zip(names, call.arguments(), strict=True))

    return arguments


CALLS: dict[str, Callable[[RawAbi], Arguments]] = {
    "mluOpCreate": lambda abi: {"handle": abi.ffi.new("mluOpHandle_t *")},
    "mluOpUpdateContextInformation": _handle,
    "mluOpDestroy": lambda abi: {"handle": abi.new_handle()},
    "mluOpSetQueue": lambda abi: _handle(abi, queue=abi.ffi.cast("cnrtQueue_t", 0x1000)),
    "mluOpGetQueue": lambda abi: _handle(abi, queue=abi.ffi.new("cnrtQueue_t *")),
    "mluOpGetErrorString": lambda abi: {"status": abi.enum("mluOpStatus_t", 3)},
    "mluOpSetAtomicsMode": lambda abi: _handle(abi, atomics_mode=abi.enum("mluOpAtomicsMode_t", 2)),
    "mluOpGetAtomicsMode": lambda abi: _handle(abi, atomics_mode=abi.out("mluOpAtomicsMode_t")),
    "mluOpGetLibVersion": lambda abi: {name: abi.out("int") for name in ("major", "minor", "patch")},
    "mluOpSetQuantizeRoundMode": lambda abi: _handle(abi, round_mode=abi.enum("mluOpQuantizeRoundMode_t", 2)),
    "mluOpGetQuantizeRoundMode": lambda abi: _handle(abi, round_mode=abi.out("mluOpQuantizeRoundMode_t")),
    "mluOpGetSizeOfDataType": lambda abi: {"data_type": abi.dtype("FLOAT"), "size": abi.out("size_t")},
    "mluOpCreateTensorDescriptor": lambda abi: {"desc": abi.ffi.new("mluOpTensorDescriptor_t *")},
    "mluOpCreateGroupTensorDescriptors": lambda abi: {"group_desc": _group_slots(abi, filled=False), "desc_num": 2},
    "mluOpSetTensorDescriptor": lambda abi: _set(abi, wide=False, strided=False),
    "mluOpSetTensorDescriptor_v2": lambda abi: _set(abi, wide=True, strided=False),
    "mluOpSetTensorDescriptorEx": lambda abi: _set(abi, wide=False, strided=True),
    "mluOpSetTensorDescriptorEx_v2": lambda abi: _set(abi, wide=True, strided=True),
    "mluOpSetTensorDescriptorDim": lambda abi: {"desc": abi.tensor(), "dimNb": 2, "dimSize": _dims(abi)},
    "mluOpSetTensorDescriptorDim_v2": lambda abi: {"desc": abi.tensor(), "dimNb": 2, "dimSize": abi.longs((2, 3))},
    "mluOpSetTensorDescriptorPointerMode": lambda abi: {
        "desc": abi.tensor(), "pointer_mode": abi.enum("mluOpPointerMode_t", 0)
    },
    "mluOpGetTensorDescriptorPointerMode": lambda abi: {
        "desc": abi.tensor(), "pointer_mode": abi.out("mluOpPointerMode_t")
    },
    "mluOpSetGroupTensorDescriptors": _set_group,
    "mluOpResetTensorDescriptor": lambda abi: {"desc": _filled(abi)},
    "mluOpSetTensorDescriptorOnchipDataType": lambda abi: {"desc": _filled(abi), "onchip_dtype": abi.dtype("INT8")},
    "mluOpSetTensorDescriptorPosition": lambda abi: {"desc": _filled(abi), "position": -3},
    "mluOpSetTensorDescriptorPositionAndScale": lambda abi: {"desc": _filled(abi), "position": -3, "scale": 0.5},
    "mluOpSetTensorDescriptorPositionScaleAndOffset": lambda abi: {
        "desc": _filled(abi), "position": -3, "scale": 0.5, "offset": 9
    },
    "mluOpGetTensorDescriptor": lambda abi: _get(abi, wide=False, strided=False),
    "mluOpGetTensorDescriptor_v2": lambda abi: _get(abi, wide=True, strided=False),
    "mluOpGetTensorDescriptorEx": lambda abi: _get(abi, wide=False, strided=True),
    "mluOpGetTensorDescriptorEx_v2": lambda abi: _get(abi, wide=True, strided=True),
    "mluOpGetTensorElementNum": lambda abi: {"desc": _filled(abi)},
    "mluOpGetTensorDescriptorOnchipDataType": lambda abi: {
        "desc": _filled(abi), "onchip_dtype": abi.out("mluOpDataType_t")
    },
    "mluOpGetTensorDescriptorPosition": lambda abi: {"desc": _filled(abi), "position": abi.out("int")},
    "mluOpGetTensorDescriptorPositionAndScale": lambda abi: {
        "desc": _filled(abi), "position": abi.out("int"), "scale": abi.out("float")
    },
    "mluOpGetTensorDescriptorPositionScaleAndOffset": lambda abi: {
        "desc": _filled(abi), "position": abi.out("int"), "scale": abi.out("float"), "offset": abi.out("int")
    },
    "mluOpDestroyTensorDescriptor": lambda abi: {"desc": abi.new_tensor()},
    "mluOpDestroyGroupTensorDescriptors": lambda abi: {"group_desc": _group_slots(abi, filled=True), "desc_num": 2},
    "mluOpCreateTensorSetDescriptor": lambda abi: {
        "tensorSetDesc": abi.ffi.new("mluOpTensorSetDescriptor_t *"), "setDimNb": 2, "setDimSize": _dims(abi)
    },
    "mluOpGetTensorSetDescriptor": lambda abi: {
        "tensorSetDesc": abi.tensor_set((2, 3)), "setDimNb": abi.out("int"), "setDimSize": abi.ints([0] * 4)
    },
    "mluOpDestroyTensorSetDescriptor": lambda abi: {"tensorSetDesc": abi.new_set((2, 3))},
    "mluOpInitTensorSetMemberDescriptor": _set_member,
    "mluOpInitTensorSetMemberDescriptorPositionAndScale": lambda abi: {
        "tensorSetDesc": abi.tensor_set((2, 3)), "setDimNb": 2, "tensorIndex": abi.ints((1, 2)),
        "position": 4, "scale": 2.0,
    },
    "mluOpGetTensorSetDescriptorSize": lambda abi: {
        "tensorSetDesc": abi.tensor_set((2, 3)), "sizeInBytes": abi.out("int")
    },
    "mluOpGetTensorAndDataFromTensorSet": _data_from_set,
    "mluOpCreateSeqDataDescriptor": lambda abi: {"seq_data_desc": abi.ffi.new("mluOpSeqDataDescriptor_t *")},
    "mluOpSetSeqDataDescriptor_v2": _set_seq_data,
    "mluOpDestroySeqDataDescriptor": lambda abi: {"seq_data_desc": abi.new_seq_data()},
    "mluOpSetSeqDataDescriptorPositionAndScale": lambda abi: {
        "seq_data_desc": abi.seq_data(), "position": 4, "scale": 2.0
    },
    "mluOpGetSeqDataDescriptor_v2": _get_seq_data,
    "mluOpCreateSparseConvolutionDescriptor": lambda abi: {"desc": abi.ffi.new("mluOpSparseConvolutionDescriptor_t *")},
    "mluOpDestroySparseConvolutionDescriptor": lambda abi: {"desc": abi.new_sparse()},
    "mluOpSetSparseConvolutionDescriptor": _set_sparse,
    "mluOpGetSparseConvolutionNumActOut": lambda abi: {"desc": abi.sparse(), "num_act_out": abi.out("int")},
    **{name: _operator(name) for name in PROBLEMS},
    **{old: _operator(name) for old, name in DEPRECATED.items() if name in PROBLEMS},
}  # fmt: skip

CALLS.update(SETTINGS_CALLS)

_READ_OUTPUTS = ("layout", "dtype", "dimNb", "dimSize")

#: `(function, parameter) -> status` where a NULL is not BAD_PARAM.
NULL_STATUS: dict[tuple[str, str], int] = {
    ("mluOpSetQueue", "queue"): SUCCESS,
    **{("mluOpGetTensorDescriptor", name): SUCCESS for name in _READ_OUTPUTS},
    **{("mluOpGetTensorDescriptor_v2", name): SUCCESS for name in _READ_OUTPUTS},
    ("mluOpGetTensorSetDescriptor", "setDimNb"): SUCCESS,
    ("mluOpGetTensorSetDescriptor", "setDimSize"): SUCCESS,
    ("mluOpSetSeqDataDescriptor_v2", "paddingFill"): SUCCESS,
    **{
        ("mluOpGetSeqDataDescriptor_v2", name): SUCCESS
        for name in ("layout", "dimNb", "dimSize", "seqLengthArraySize", "seqLengthArray", "paddingFill")
    },
    ("mluOpMakeFFTPlanMany", "fft_plan"): NOT_INITIALIZED,
    ("mluOpSetFFTReserveArea", "reservespace"): SUCCESS,
    ("mluOpExecFFT", "workspace"): SUCCESS,
    ("mluOpCreateSparseConvolutionDescriptor", "desc"): NOT_INITIALIZED,
    ("mluOpGetSparseConvolutionNumActOut", "desc"): NOT_INITIALIZED,
    ("mluOpGetSparseConvolutionNumActOut", "num_act_out"): NOT_INITIALIZED,
    ("mluOpDestroySparseConvolutionDescriptor", "desc"): EXECUTION_FAILED,
}

#: Status with every pointer NULL, where it is not BAD_PARAM.
ALL_NULL_STATUS: dict[str, int] = {
    "mluOpCreateSparseConvolutionDescriptor": NOT_INITIALIZED,
    "mluOpGetSparseConvolutionNumActOut": NOT_INITIALIZED,
    "mluOpDestroySparseConvolutionDescriptor": EXECUTION_FAILED,
}


def is_unlooked(function: str, parameter: str) -> bool:
    """Whether a legal call does not look at a descriptor, or a workspace: one that is not needed, or not given."""
    name = DEPRECATED.get(function, function)
    if name not in PROBLEMS:
        return False
    order = refusals(name).order.split()
    if parameter == "workspace":
        return "workspace" not in order and not refusals(name).needs_workspace
    if not parameter.endswith("_desc"):
        return False
    if _is_optional(name, parameter):
        return False
    tensor = parameter.removesuffix("_desc")
    return not {"objects", f"objects:{tensor}", f"optional:{tensor}"} & {*order}


def _is_optional(name: str, parameter: str) -> bool:
    return any(t.optional and f"{t.parameter or t.name}_desc" == parameter for t in OPERATORS[name].tensors)


def _may_be_null(function: str, parameter: str) -> bool:
    name = DEPRECATED.get(function, function)
    if name not in PROBLEMS or not parameter.endswith("_desc"):
        return False
    order = refusals(name).order.split()
    if _is_optional(name, parameter):
        return "pairs" not in order
    return f"optional:{parameter.removesuffix('_desc')}" in order


def null_status(function: str, parameter: str) -> int:
    if is_unlooked(function, parameter) or _may_be_null(function, parameter):
        return SUCCESS
    return NULL_STATUS.get((function, parameter), BAD_PARAM)
