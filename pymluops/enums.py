# Generated from native/include/mlu_op.h by native/abi/generate.py; do not edit.
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


class SeqDataLayout(IntEnum):
    """Meaning of the dimensions of sequence data."""

    TNC = 0
    TNC_PACKED = 1
    NTC = 2
    NC = 3
    TNBC = 4
    TBNC = 5
    NBTC = 6
    NTBC = 7
    BNTC = 8
    BTNC = 9
    TN = 10
    NT = 11


class ComputationPreference(IntEnum):
    """Whether speed or precision matters more."""

    FAST = 0
    HIGH_PRECISION = 1
    ULTRAHIGH_PRECISION = 2


class AtomicsMode(IntEnum):
    """Whether an operator may use device atomics."""

    NOT_ALLOWED = 1
    ALLOWED = 2


class QuantizeRoundMode(IntEnum):
    """How quantisation rounds."""

    HALF_TO_EVEN = 0
    HALF_UP = 1
    HALF_OFF_ZERO = 2


class LogBase(IntEnum):
    """Base of a logarithm."""

    LOG_E = 0
    LOG_2 = 1
    LOG_10 = 2


class PointerMode(IntEnum):
    """Whether a tensor is in host or in device memory."""

    HOST = 0
    DEVICE = 1


class NmsBoxPointMode(IntEnum):
    """How a box is written."""

    DIAGONAL = 0
    CENTER = 1


class NmsOutputMode(IntEnum):
    """What non-maximum suppression returns."""

    TARGET_INDICES = 0
    TARGET_CONFIDENCE_AND_POS_1 = 1
    TARGET_CONFIDENCE_AND_POS_2 = 2
    TARGET_BATCH_AND_CLASS = 3


class NmsMethodMode(IntEnum):
    """Kind of non-maximum suppression."""

    HARD_NMS = 0
    SOFT_NMS_LINEAR = 1
    SOFT_NMS_GAUSSIAN = 2


class NmsAlgo(IntEnum):
    """Whether the boundary of a box belongs to it."""

    EXCLUDE_BOUNDARY = 0
    INCLUDE_BOUNDARY = 1


class LossReduction(IntEnum):
    """Reduction of a loss."""

    NONE = 0
    SUM = 1
    MEAN = 2


class ReduceMode(IntEnum):
    """Reduction of points to voxels."""

    DSUM = 0
    DMEAN = 1
    DMAX = 2


class PoolingMode(IntEnum):
    """Kind of pooling."""

    MAX = 0
    AVERAGE_COUNT_INCLUDE_PADDING = 1
    AVERAGE_COUNT_EXCLUDE_PADDING = 2
    FIXED = 3


class AdamWDescAttribute(IntEnum):
    """Attribute of an AdamW descriptor."""

    WEIGHT_DECAY = 0
    GRAD_SCALE = 1
    USE_NESTEROV = 2
    NEED_REMOVE_NAN = 3
