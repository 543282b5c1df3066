# Generated from native/include/mlu_op.h, native/include/mluops_ext.h by native/abi/generate.py; do not edit.
"""The enums of the C ABI that Python code uses."""

from enum import IntEnum


class Status(IntEnum):
    """Status of a call."""

    SUCCESS = 0
    NOT_INITIALIZED = 1
    ALLOC_FAILED = 2
    BAD_PARAM = 3
    INTERNAL_ERROR = 4
    ARCH_MISMATCH = 5
    EXECUTION_FAILED = 6
    NOT_SUPPORTED = 7
    NUMERICAL_OVERFLOW = 8


class DataType(IntEnum):
    """Type of an element. The numbers are those of the C ABI."""

    INVALID = 0
    HALF = 1
    FLOAT = 2
    DOUBLE = 14
    INT8 = 3
    INT16 = 4
    INT31 = 5
    INT32 = 6
    INT64 = 9
    UINT8 = 7
    UINT16 = 13
    UINT32 = 11
    UINT64 = 12
    BOOL = 8
    COMPLEX_HALF = 15
    COMPLEX_FLOAT = 16
    BFLOAT16 = 17


class Layout(IntEnum):
    """Meaning of the dimensions of a tensor."""

    NCHW = 0
    NHWC = 1
    HWCN = 2
    NDHWC = 3
    ARRAY = 4
    NCDHW = 5
    TNC = 6
    NTC = 7
    NC = 8
    NLC = 9
    NCL = 10
