"""Enums, the exception classes, and what an exception carries."""

from __future__ import annotations

import builtins
import enum
import pickle

import numpy as np
import pytest

import pymluops
from pymluops._finding import Finding
from support import families
from support.example import MOVING

STATUS = {
    "SUCCESS": 0, "NOT_INITIALIZED": 1, "ALLOC_FAILED": 2, "BAD_PARAM": 3, "INTERNAL_ERROR": 4, "ARCH_MISMATCH": 5,
    "EXECUTION_FAILED": 6, "NOT_SUPPORTED": 7, "NUMERICAL_OVERFLOW": 8,
}  # fmt: skip
DATA_TYPE = {
    "INVALID": 0, "HALF": 1, "FLOAT": 2, "INT8": 3, "INT16": 4, "INT31": 5, "INT32": 6, "UINT8": 7, "BOOL": 8,
    "INT64": 9,
    "UINT32": 11, "UINT64": 12, "UINT16": 13, "DOUBLE": 14, "COMPLEX_HALF": 15, "COMPLEX_FLOAT": 16, "BFLOAT16": 17,
}  # fmt: skip
LAYOUT = {
    "NCHW": 0, "NHWC": 1, "HWCN": 2, "NDHWC": 3, "ARRAY": 4, "NCDHW": 5, "TNC": 6, "NTC": 7, "NC": 8,
    "NLC": 9, "NCL": 10,
}  # fmt: skip
ERRORS = {
    "NotInitializedError": ("NOT_INITIALIZED", Exception),
    "AllocFailedError": ("ALLOC_FAILED", MemoryError),
    "BadParamError": ("BAD_PARAM", ValueError),
    "BadParamTypeError": ("BAD_PARAM", TypeError),
    "InternalError": ("INTERNAL_ERROR", Exception),
    "ArchMismatchError": ("ARCH_MISMATCH", Exception),
    "ExecutionFailedError": ("EXECUTION_FAILED", Exception),
    "NotSupportedError": ("NOT_SUPPORTED", NotImplementedError),
    "ExportError": ("NOT_SUPPORTED", BufferError),
    "NumericalOverflowError": ("NUMERICAL_OVERFLOW", OverflowError),
}


@pytest.mark.parametrize(("name", "values"), [("Status", STATUS), ("DataType", DATA_TYPE), ("Layout", LAYOUT)])
def test_enums_have_the_values_of_the_abi(name: str, values: dict[str, int]) -> None:
    found = getattr(pymluops, name)
    assert issubclass(found, enum.IntEnum)
    assert {member.name: int(member) for member in found} == values


def test_enums_agree_with_the_raw_library() -> None:
    lib = pymluops.load("cpu").lib
    for name, value in STATUS.items():
        assert getattr(lib, f"MLUOP_STATUS_{name}") == value
    for name, value in DATA_TYPE.items():
        assert getattr(lib, f"MLUOP_DTYPE_{name}") == value


@pytest.mark.parametrize("name", ERRORS)
def test_one_error_class_for_each_status(name: str) -> None:
    error = getattr(pymluops, name)
    assert issubclass(error, pymluops.MluOpError)
    assert issubclass(error, ERRORS[name][1])
    assert issubclass(pymluops.MluOpError, Exception)
    assert not issubclass(pymluops.MluOpError, ValueError)


def _refused() -> pymluops.BadParamError:
    with pytest.raises(pymluops.BadParamError) as caught:
        MOVING.run(np.zeros((1, 2, 3, 4), np.float32), np.zeros((1, 2), np.int32))
    return caught.value


def test_what_an_error_carries() -> None:
    error = _refused()
    assert error.status is pymluops.Status.BAD_PARAM
    assert error.function == MOVING.function
    assert "shifts" in error.detail
    assert error.detail in str(error)
    assert "\n" not in str(error)


def test_errors_can_be_pickled() -> None:
    error = _refused()
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert (again.status, again.function, again.detail) == (error.status, error.function, error.detail)


def test_a_failed_execution_has_findings() -> None:
    error = pymluops.ExecutionFailedError("two\nlines", function="cnrtQueueSync")
    assert error.findings == ()
    places = ("", 0, "", 0, 0, 0, 0, "", 0, 0, "", "wrong", 1, "error", 1)
    findings = tuple(Finding("memory", rule, "k", *places) for rule in ("out-of-bounds", "double-free"))
    found = pymluops.ExecutionFailedError("report", findings=findings)
    assert found.__notes__[1] == "next: memory/double-free: free it once"
    assert pymluops.ExecutionFailedError("report", findings=findings[1:]).__notes__ == ["next: free it once"]
    for one in (error, found):
        again = pickle.loads(pickle.dumps(one))
        assert getattr(again, "__notes__", []) == getattr(one, "__notes__", [])
        assert type(again) is pymluops.ExecutionFailedError
        assert (str(again), again.findings, again.function) == (str(one), one.findings, one.function)
        assert again.status is pymluops.Status.EXECUTION_FAILED


def test_an_error_of_the_library_has_its_reason() -> None:
    # Python hands a Set to C as it is here, so the refusal is the library's.
    backend = pymluops.load("cpu")
    assert backend.lib.mluOpSetTensorDescriptor(backend.ffi.NULL, 4, 2, 0, backend.ffi.NULL) == STATUS["BAD_PARAM"]
    reason = backend.ffi.string(backend.lib.mluopsExtGetLastReason()).decode()
    assert reason.startswith("mluOpSetTensorDescriptor: desc: expected ")
    assert "got" in reason


def test_public_names() -> None:
    names = {
        *ERRORS, "Status", "DataType", "Layout", "MluOpError", "Handle", "TensorDescriptor",
        "SparseConvolutionDescriptor",
        "backends", "load", "use", "get_num_threads", "set_num_threads", "Backend", "BackendInfo", "DeviceArray",
        "Queue", *families.OPERATORS, "IndicePairs",
    }  # fmt: skip
    assert names - {"abs"} <= set(pymluops.__all__)
    assert not set(pymluops.__all__) & set(dir(builtins))
    assert names <= set(dir(pymluops))
    assert all(hasattr(pymluops, name) for name in pymluops.__all__)
