"""Batch normalisation in steps, between which devices exchange statistics and sums (arXiv:1502.03167)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.enums import DataType
from pymluops.ops._schema import FLOAT32, FLOATS, INT32, Pairs, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = [
    "ChannelStats",
    "ChannelSums",
    "GatheredStats",
    "sync_batch_norm_backward_elemt",
    "sync_batch_norm_backward_elemt_v2",
    "sync_batch_norm_backward_reduce",
    "sync_batch_norm_elemt",
    "sync_batch_norm_gather_stats_with_counts",
    "sync_batch_norm_stats",
]

_Result = TypeVar("_Result")


def _of_channels(values: str) -> Pairs:
    """Return the types of the numbers of channels beside values."""
    types = DataType.FLOAT, DataType.HALF, DataType.DOUBLE
    return Pairs(values, tuple((one, DataType.DOUBLE if one is DataType.DOUBLE else DataType.FLOAT) for one in types))


_VALUES = "N C S"
_EPS = Scalar("eps", infinite=True, nan=True)
_CHANNEL, _CHANNEL_DZ, _CHANNEL_DY = _of_channels("x"), _of_channels("dz"), _of_channels("diff_y")

_STATS = Operator(
    "mluopsExtSyncBatchNormStats",
    "sync_batch_norm_stats",
    (
        Tensor("x", FLOATS, _VALUES, positive="N C S"),
        Tensor("mean", _CHANNEL, "C", output=True),
        Tensor("invstd", _CHANNEL, "C", output=True),
    ),
    (_EPS,),
)
_GATHER = Operator(
    "mluopsExtSyncBatchNormGatherStats",
    "sync_batch_norm_gather_stats_with_counts",
    (
        Tensor("mean_all", FLOAT32, "D C", positive="D C"),
        Tensor("invstd_all", "mean_all", "D C"),
        Tensor("count_all", "mean_all", "D"),
        Tensor("mean", "mean_all", "C", output=True),
        Tensor("invstd", "mean_all", "C", output=True),
        Tensor("var", "mean_all", "C", output=True),
    ),
    (_EPS,),
)
_ELEMT = Operator(
    "mluopsExtSyncBatchNormElemt",
    "sync_batch_norm_elemt",
    (
        Tensor("x", FLOATS, _VALUES, positive="N C S"),
        Tensor("mean", _CHANNEL, "C"),
        Tensor("invstd", _CHANNEL, "C"),
        Tensor("filter", _CHANNEL, "C", optional=True),
        Tensor("bias", _CHANNEL, "C", optional=True),
        Tensor("out", "x", _VALUES, output=True, parameter="y"),
    ),
)
_REDUCE = Operator(
    "mluopsExtSyncBatchNormBackwardReduce",
    "sync_batch_norm_backward_reduce",
    (
        Tensor("dz", FLOATS, _VALUES, positive="N C S"),
        Tensor("x", "dz", _VALUES),
        Tensor("mean", _CHANNEL_DZ, "C"),
        Tensor("invstd", _CHANNEL_DZ, "C"),
        Tensor("dfilter", _CHANNEL_DZ, "C", output=True),
        Tensor("dbias", _CHANNEL_DZ, "C", output=True),
        Tensor("sum_dy", _CHANNEL_DZ, "C", output=True),
        Tensor("sum_dy_xmu", _CHANNEL_DZ, "C", output=True),
    ),
)
_INPUTS = (
    Tensor("diff_y", FLOATS, _VALUES, positive="N C S"),
    Tensor("x", "diff_y", _VALUES),
    Tensor("mean", _CHANNEL_DY, "C"),
    Tensor("invstd", _CHANNEL_DY, "C"),
    Tensor("filter", _CHANNEL_DY, "C", optional=True),
)
_GRADIENT = Tensor("out", "diff_y", _VALUES, output=True, parameter="diff_x")
_BACKWARD = Operator(
    "mluopsExtSyncBatchNormBackwardElemt",
    "sync_batch_norm_backward_elemt",
    (*_INPUTS, Tensor("mean_dy", _CHANNEL_DY, "C"), Tensor("mean_dy_xmu", _CHANNEL_DY, "C"), _GRADIENT),
)
_BACKWARD_V2 = Operator(
    "mluopsExtSyncBatchNormBackwardElemtV2",
    "sync_batch_norm_backward_elemt_v2",
    (
        *_INPUTS,
        Tensor("sum_dy", _CHANNEL_DY, "C"),
        Tensor("sum_dy_xmu", _CHANNEL_DY, "C"),
        Tensor("count", INT32, "D", positive="D"),
        _GRADIENT,
    ),
)


class ChannelStats(NamedTuple, Generic[_Result]):
    """What `sync_batch_norm_stats` returns.

    Attributes
    ----------
    mean, invstd : array, shape [C]
        Mean, and inverse of the standard deviation.
    """

    mean: _Result
    invstd: _Result


class GatheredStats(NamedTuple, Generic[_Result]):
    """What `sync_batch_norm_gather_stats_with_counts` returns.

    Attributes
    ----------
    mean, invstd : array, shape [C]
        Mean, and inverse of the standard deviation.
    var : array, shape [C]
        Unbiased variance; NaN for a single value.
    """

    mean: _Result
    invstd: _Result
    var: _Result


class ChannelSums(NamedTuple, Generic[_Result]):
    """What `sync_batch_norm_backward_reduce` returns.

    Attributes
    ----------
    dfilter, dbias : array, shape [C]
        Gradients of filter and bias.
    sum_dy, sum_dy_xmu : array, shape [C]
        Sums of the gradient, and of its products with the distances from the mean.
    """

    dfilter: _Result
    dbias: _Result
    sum_dy: _Result
    sum_dy_xmu: _Result


def sync_batch_norm_stats(
    x: Array, eps: float = 1e-5, *, mean: Any = None, invstd: Any = None, handle: Handle | None = None
) -> ChannelStats[Any]:
    """Find mean and inverse standard deviation of each channel, ``1 / sqrt(var + eps)``.

    The variance is the biased one. The values are read once: distances from a value nearby, and
    their squares, are added in float32 over blocks of at most 128 values, and in double precision
    from there on. However far from 0 the values lie, this keeps the variance, mostly to 2**-23; to
    2**-14 where blocks begin with a value that is far from all others.
    ``mluOpSyncBatchNormStats`` computes the same for channels that come last, which are [N, C, 1]
    here.

    Parameters
    ----------
    x : array, shape [N, C, S], float32 or float16
        Values.
    eps : float
        What is added to the variance.
    mean, invstd : array or DeviceArray, optional
        Where to write, shape [C], float32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ChannelStats
        Both, float32. The order of sums does not depend on the number of threads.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Ioffe, Szegedy: Batch Normalization. ICML 2015.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> x = np.array([1, 3, 5, 9], np.float32).reshape(1, 2, 2)
    >>> found = pymluops.sync_batch_norm_stats(x, 0.0)
    >>> found.mean.tolist(), found.invstd.tolist()
    ([2.0, 7.0], [1.0, 0.5])
    """
    return ChannelStats(*_STATS(handle, (x, mean, invstd), (eps,)))


def sync_batch_norm_gather_stats_with_counts(
    mean_all: Array,
    invstd_all: Array,
    count_all: Array,
    eps: float = 1e-5,
    *,
    mean: Any = None,
    invstd: Any = None,
    var: Any = None,
    handle: Handle | None = None,
) -> GatheredStats[Any]:
    """Join the statistics of several devices.

    ``mluOpSyncBatchNormGatherStatsWithCounts`` moves running statistics as well, in place: by
    ``momentum * new + (1 - momentum) * old`` towards `mean` and `var`.

    Parameters
    ----------
    mean_all, invstd_all : array, shape [D, C], float32
        What `sync_batch_norm_stats` found on each device, with the same `eps`.
    count_all : array, shape [D], float32
        How many values a channel has there.
    eps : float
        What is added to the variance.
    mean, invstd, var : array or DeviceArray, optional
        Where to write, shape [C], float32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    GatheredStats
        Those of all values together.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Ioffe, Szegedy: Batch Normalization. ICML 2015.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> means, invstds = np.array([[1], [3]], np.float32), np.ones((2, 1), np.float32)
    >>> found = pymluops.sync_batch_norm_gather_stats_with_counts(means, invstds, np.array([2, 2], np.float32), 1.0)
    >>> [round(one.item(), 4) for one in found]
    [2.0, 0.7071, 1.3333]
    """
    return GatheredStats(*_GATHER(handle, (mean_all, invstd_all, count_all, mean, invstd, var), (eps,)))


def sync_batch_norm_elemt(
    x: Array,
    mean: Array,
    invstd: Array,
    filter: Array | None = None,
    bias: Array | None = None,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Normalise values: ``(x - mean) * invstd * filter + bias``.

    Parameters
    ----------
    x : array, shape [N, C, S], float32 or float16
        Values.
    mean, invstd : array, shape [C], float32
        Statistics of the channels.
    filter, bias : array, shape [C], float32, optional
        Factors and addends; 1 and 0 if not given.
    out : array or DeviceArray, optional
        Where to write, like `x`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `x`. float16 is computed in float32 and rounded once.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Ioffe, Szegedy: Batch Normalization. ICML 2015.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> x = np.array([1, 3], np.float32).reshape(1, 1, 2)
    >>> mean, invstd = np.array([2], np.float32), np.array([0.5], np.float32)
    >>> pymluops.sync_batch_norm_elemt(x, mean, invstd).ravel().tolist()
    [-0.5, 0.5]
    """
    return _ELEMT(handle, (x, mean, invstd, filter, bias, out))


def sync_batch_norm_backward_reduce(
    dz: Array,
    x: Array,
    mean: Array,
    invstd: Array,
    *,
    dfilter: Any = None,
    dbias: Any = None,
    sum_dy: Any = None,
    sum_dy_xmu: Any = None,
    handle: Handle | None = None,
) -> ChannelSums[Any]:
    """Sum up what the gradients of `sync_batch_norm_elemt` need: ``dz``, and ``dz * (x - mean)``.

    Parameters
    ----------
    dz : array, shape [N, C, S], float32 or float16
        Gradient of the normalised values.
    x : array, shape [N, C, S], like `dz`
        Values.
    mean, invstd : array, shape [C], float32
        Statistics of the channels.
    dfilter, dbias, sum_dy, sum_dy_xmu : array or DeviceArray, optional
        Where to write, shape [C], float32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ChannelSums
        The sums, and the gradients ``dfilter = sum_dy_xmu * invstd`` and ``dbias = sum_dy``. They
        are added in float32 over blocks of at most 128 values, in double precision from there on,
        in an order that does not depend on the number of threads.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Ioffe, Szegedy: Batch Normalization. ICML 2015.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> x, dz = (np.array(row, np.float32).reshape(1, 1, 2) for row in ([1, 3], [1, 2]))
    >>> mean, invstd = np.array([2], np.float32), np.array([0.5], np.float32)
    >>> [sum.tolist() for sum in pymluops.sync_batch_norm_backward_reduce(dz, x, mean, invstd)]
    [[0.5], [3.0], [3.0], [1.0]]
    """
    return ChannelSums(*_REDUCE(handle, (dz, x, mean, invstd, dfilter, dbias, sum_dy, sum_dy_xmu)))


def sync_batch_norm_backward_elemt(
    diff_y: Array,
    x: Array,
    mean: Array,
    invstd: Array,
    filter: Array | None,
    mean_dy: Array,
    mean_dy_xmu: Array,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find the gradient of the values: ``(diff_y - mean_dy - (x - mean) * invstd**2 * mean_dy_xmu) * invstd * filter``.

    Parameters
    ----------
    diff_y : array, shape [N, C, S], float32 or float16
        Gradient of the normalised values.
    x : array, shape [N, C, S], like `diff_y`
        Values.
    mean, invstd : array, shape [C], float32
        Statistics of the channels.
    filter : array, shape [C], float32, or None
        Factors; 1 if None.
    mean_dy, mean_dy_xmu : array, shape [C], float32
        The sums of `sync_batch_norm_backward_reduce`, added over the devices, divided by the
        number of values of a channel.
    out : array or DeviceArray, optional
        Where to write, like `diff_y`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `diff_y`. float16 is computed in float32 and rounded once.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Ioffe, Szegedy: Batch Normalization. ICML 2015.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> x, dy = (np.array(row, np.float32).reshape(1, 1, 2) for row in ([1, 3], [1, 2]))
    >>> mean, half = np.array([2], np.float32), np.array([0.5], np.float32)
    >>> pymluops.sync_batch_norm_backward_elemt(dy, x, mean, half, None, mean, half).ravel().tolist()
    [-0.4375, -0.0625]
    """
    return _BACKWARD(handle, (diff_y, x, mean, invstd, filter, mean_dy, mean_dy_xmu, out))


def sync_batch_norm_backward_elemt_v2(
    diff_y: Array,
    x: Array,
    mean: Array,
    invstd: Array,
    filter: Array | None,
    sum_dy: Array,
    sum_dy_xmu: Array,
    count: Array,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Find the gradient of the values as `sync_batch_norm_backward_elemt` does, from sums and counts.

    Parameters
    ----------
    diff_y, x, mean, invstd, filter : array
        As in `sync_batch_norm_backward_elemt`.
    sum_dy, sum_dy_xmu : array, shape [C], float32
        The sums of `sync_batch_norm_backward_reduce`, added over the devices.
    count : array, shape [D], int32
        How many values a channel has on each device. The sums are divided by their total.
    out : array or DeviceArray, optional
        Where to write, like `diff_y`.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array like `diff_y`.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Ioffe, Szegedy: Batch Normalization. ICML 2015.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> x, dy = (np.array(row, np.float32).reshape(1, 1, 2) for row in ([1, 3], [1, 2]))
    >>> sums, half, count = np.array([4], np.float32), np.array([0.5], np.float32), np.array([2], np.int32)
    >>> pymluops.sync_batch_norm_backward_elemt_v2(dy, x, half * 4, half, None, sums, half * 2, count).ravel().tolist()
    [-0.4375, -0.0625]
    """
    return _BACKWARD_V2(handle, (diff_y, x, mean, invstd, filter, sum_dy, sum_dy_xmu, count, out))
