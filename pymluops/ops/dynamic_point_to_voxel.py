"""Features of the voxels that points make: sums, means or maxima (arXiv:1910.06528)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from pymluops._core import Operator
from pymluops.enums import ReduceMode
from pymluops.ops._schema import FLOAT32, INT32, Scalar, Tensor

if TYPE_CHECKING:
    from pymluops._core import Handle
    from pymluops._typing import Array

__all__ = [
    "ScatteredPoints",
    "dynamic_point_to_voxel_backward",
    "dynamic_point_to_voxel_forward",
    "dynamic_scatter_backward",
    "dynamic_scatter_forward",
]

_Result = TypeVar("_Result")

_SUM, _MEAN, _MAX = int(ReduceMode.DSUM), int(ReduceMode.DMEAN), int(ReduceMode.DMAX)
_ANY = Scalar("reduce_type", choices={"sum": _SUM, "mean": _MEAN, "max": _MAX})

_FORWARD = Operator(
    "mluOpDynamicPointToVoxelForward",
    "dynamic_point_to_voxel_forward",
    (
        Tensor("feats", FLOAT32, "N C"),
        Tensor("coors", INT32, "N 3", in_place=True),
        Tensor("voxel_feats", "feats", "V C", output=True, any_size=True, rules=("V <= N",), zero_if="N C"),
        Tensor("voxel_coors", INT32, "V 3", output=True, any_size=True, zero_if="N C"),
        Tensor("point2voxel_map", INT32, "N", output=True, any_size=True, zero_if="N C"),
        Tensor("voxel_points_count", INT32, "V", output=True, any_size=True, zero_if="N C"),
        Tensor("voxel_num", INT32, "1", output=True, zero_if="N C"),
    ),
    (
        Scalar("reduce_type", choices={"mean": _MEAN, "max": _MAX}),
        Scalar("max_voxels", symbol="V", minimum=0),
    ),
    workspace="mluOpGetDynamicPointToVoxelForwardWorkspaceSize",
)
_BACKWARD = Operator(
    "mluOpDynamicPointToVoxelBackward",
    "dynamic_point_to_voxel_backward",
    (
        Tensor("grad_voxel_feats", FLOAT32, "V C"),
        Tensor("feats", "grad_voxel_feats", "N C", rules=("V <= N",)),
        Tensor("voxel_feats", "grad_voxel_feats", "V C", any_size=True),
        Tensor("point2voxel_map", INT32, "N", any_size=True),
        Tensor("voxel_points_count", INT32, "V", any_size=True),
        Tensor("voxel_num", INT32, "1"),
        Tensor("out", "grad_voxel_feats", "N C", output=True, any_size=True, parameter="grad_feats"),
    ),
    (Scalar("reduce_type", choices={"max": _MAX}),),
    workspace="mluOpGetDynamicPointToVoxelBackwardWorkspaceSize",
)
_SCATTER = Operator(
    "mluopsExtDynamicScatterForward",
    "dynamic_scatter_forward",
    (
        Tensor("feats", FLOAT32, "N C", positive="N C"),
        Tensor("coors", INT32, "N 3"),
        Tensor("voxel_feats", "feats", "N C", output=True),
        Tensor("voxel_coors", INT32, "N 3", output=True),
        Tensor("point2voxel_map", INT32, "N", output=True),
        Tensor("voxel_points_count", INT32, "N", output=True),
        Tensor("voxel_num", INT32, "1", output=True),
    ),
    (_ANY,),
    workspace="mluopsExtGetDynamicScatterForwardWorkspaceSize",
)
_SCATTER_BACKWARD = Operator(
    "mluopsExtDynamicScatterBackward",
    "dynamic_scatter_backward",
    (
        Tensor("grad_voxel_feats", FLOAT32, "V C", positive="V C"),
        Tensor("feats", "grad_voxel_feats", "N C", positive="N"),
        Tensor("voxel_feats", "grad_voxel_feats", "V C"),
        Tensor("point2voxel_map", INT32, "N"),
        Tensor("voxel_points_count", INT32, "V"),
        Tensor("out", "grad_voxel_feats", "N C", output=True, parameter="grad_feats"),
    ),
    (_ANY,),
    workspace="mluopsExtGetDynamicScatterBackwardWorkspaceSize",
)


class ScatteredPoints(NamedTuple, Generic[_Result]):
    """What `dynamic_point_to_voxel_forward` and `dynamic_scatter_forward` return.

    Attributes
    ----------
    voxel_feats : array, shape [V, C], like the features
        The features of each voxel; behind the voxels 0, or -infinity for maxima.
    voxel_coors : array, shape [V, 3], int32
        The place of each voxel, ascending; behind the voxels -1.
    point2voxel_map : array, shape [N], int32
        The voxel of each point, or -1.
    voxel_points_count : array, shape [V], int32
        How many points each voxel has.
    voxel_num : array, shape [1], int32
        How many voxels there are.
    """

    voxel_feats: _Result
    voxel_coors: _Result
    point2voxel_map: _Result
    voxel_points_count: _Result
    voxel_num: _Result


def dynamic_point_to_voxel_forward(
    feats: Array,
    coors: Array,
    reduce_type: str | int,
    max_voxels: int,
    *,
    voxel_feats: Any = None,
    voxel_coors: Any = None,
    point2voxel_map: Any = None,
    voxel_points_count: Any = None,
    voxel_num: Any = None,
    handle: Handle | None = None,
) -> ScatteredPoints[Any]:
    """Reduce the features of points with the same place, as mlu-ops does: `coors` are changed.

    The distinct rows of `coors` without a negative number are the voxels, in ascending order. Other
    rows become -1 three times, and their points belong to no voxel. Features are added in the order
    of the points and divided by their number, or the largest is taken, for which NaN does not
    count. `dynamic_scatter_forward` leaves `coors` as they are and has sums too.

    Parameters
    ----------
    feats : array, shape [N, C], float32
        Features of the points.
    coors : array, shape [N, 3], int32
        Places of the points, read and written.
    reduce_type : {"mean", "max"} or int
        What is computed; numbers are those of `ReduceMode`.
    max_voxels : int
        Rows of the results for voxels, V, from the number of voxels to N.
    voxel_feats : array or DeviceArray, optional
        Where to write the features, shape [V, C], like `feats`; no output may overlap another
        argument.
    voxel_coors : array or DeviceArray, optional
        Where to write the places, shape [V, 3], int32.
    point2voxel_map : array or DeviceArray, optional
        Where to write the voxel of each point, shape [N], int32.
    voxel_points_count : array or DeviceArray, optional
        Where to write the numbers of points, shape [V], int32.
    voxel_num : array or DeviceArray, optional
        Where to write the number of voxels, shape [1], int32. It is written also if V is less.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ScatteredPoints
        A named tuple: the arrays given, or new ones of the kind of the first argument. All are
        zeros if there are no features.

    Raises
    ------
    BadParamError
        If an argument is not as described, or there are more voxels than V.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    References
    ----------
    Zhou et al.: End-to-End Multi-View Fusion for 3D Object Detection in LiDAR Point Clouds. CoRL
    2019, arXiv:1910.06528.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> coors = np.array([[-3, 5, 2], [6, 7, 8], [6, 7, 8], [2, 4, 6]], np.int32)
    >>> feats = np.array([[9], [1], [3], [5]], np.float32)
    >>> found = pymluops.dynamic_point_to_voxel_forward(feats, coors, "mean", 2)
    >>> found.voxel_feats.tolist(), found.voxel_coors.tolist(), found.point2voxel_map.tolist()
    ([[5.0], [2.0]], [[2, 4, 6], [6, 7, 8]], [-1, 1, 1, 0])
    >>> coors[0].tolist()
    [-1, -1, -1]
    """
    arrays = (feats, coors, voxel_feats, voxel_coors, point2voxel_map, voxel_points_count, voxel_num)
    _, *results = _FORWARD(handle, arrays, (reduce_type, max_voxels))  # the places come first
    return ScatteredPoints(*results)


def dynamic_point_to_voxel_backward(
    grad_voxel_feats: Array,
    feats: Array,
    voxel_feats: Array,
    point2voxel_map: Array,
    voxel_points_count: Array,
    voxel_num: Array,
    reduce_type: str | int = "max",
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `dynamic_point_to_voxel_forward` with respect to the features, for maxima.

    The gradient of each feature of a voxel goes to the first of its points that has this feature.

    Parameters
    ----------
    grad_voxel_feats : array, shape [V, C], float32
        Gradient with respect to the features of the voxels.
    feats : array, shape [N, C], like `grad_voxel_feats`
        Features of the points, N >= V.
    voxel_feats : array, shape [V, C], like `grad_voxel_feats`
        Features of the voxels.
    point2voxel_map : array, shape [N], int32
        The voxel of each point. A number outside of the first `voxel_num` gives 0.
    voxel_points_count : array, shape [V], int32
        How many points each voxel has.
    voxel_num : array, shape [1], int32
        How many voxels there are.
    reduce_type : {"max"} or int
        What was computed.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `grad_voxel_feats`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described.
    NotSupportedError
        If a tensor has 2**31 elements or more.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> feats, coors = np.array([[1], [3], [3]], np.float32), np.zeros((3, 3), np.int32)
    >>> found = pymluops.dynamic_point_to_voxel_forward(feats, coors, "max", 1)
    >>> gradient = np.array([[7]], np.float32)
    >>> kept = found.voxel_feats, found.point2voxel_map, found.voxel_points_count, found.voxel_num
    >>> pymluops.dynamic_point_to_voxel_backward(gradient, feats, *kept).tolist()
    [[0.0], [7.0], [0.0]]
    """
    arrays = (grad_voxel_feats, feats, voxel_feats, point2voxel_map, voxel_points_count, voxel_num, out)
    return _BACKWARD(handle, arrays, (reduce_type,))


def dynamic_scatter_forward(
    feats: Array,
    coors: Array,
    reduce_type: str | int,
    *,
    voxel_feats: Any = None,
    voxel_coors: Any = None,
    point2voxel_map: Any = None,
    voxel_points_count: Any = None,
    voxel_num: Any = None,
    handle: Handle | None = None,
) -> ScatteredPoints[Any]:
    """Reduce the features of points with the same place.

    The distinct rows of `coors` without a negative number are the voxels, in ascending order; the
    points of other rows belong to no voxel. Features are added in the order of the points, and
    divided by their number for means, or the largest is taken, for which NaN does not count.

    Parameters
    ----------
    feats : array, shape [N, C], float32
        Features of the points.
    coors : array, shape [N, 3], int32
        Places of the points.
    reduce_type : {"sum", "mean", "max"} or int
        What is computed; numbers are those of `ReduceMode`.
    voxel_feats : array or DeviceArray, optional
        Where to write the features, shape [N, C], like `feats`; no output may overlap another
        argument.
    voxel_coors : array or DeviceArray, optional
        Where to write the places, shape [N, 3], int32.
    point2voxel_map : array or DeviceArray, optional
        Where to write the voxel of each point, shape [N], int32.
    voxel_points_count : array or DeviceArray, optional
        Where to write the numbers of points, shape [N], int32.
    voxel_num : array or DeviceArray, optional
        Where to write the number of voxels, shape [1], int32.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    ScatteredPoints
        A named tuple: the arrays given, or new ones of the kind of the first argument, with room
        for a voxel of each point.

    Raises
    ------
    BadParamError
        If an argument is not as described, or there are no features.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is not that for the CPU.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> coors = np.array([[6, 7, 8], [6, 7, 8], [2, 4, 6]], np.int32)
    >>> found = pymluops.dynamic_scatter_forward(np.array([[1], [3], [5]], np.float32), coors, "sum")
    >>> found.voxel_feats.tolist(), found.voxel_num.tolist()
    ([[5.0], [4.0], [0.0]], [2])
    """
    arrays = (feats, coors, voxel_feats, voxel_coors, point2voxel_map, voxel_points_count, voxel_num)
    return ScatteredPoints(*_SCATTER(handle, arrays, (reduce_type,)))


def dynamic_scatter_backward(
    grad_voxel_feats: Array,
    feats: Array,
    voxel_feats: Array,
    point2voxel_map: Array,
    voxel_points_count: Array,
    reduce_type: str | int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any:
    """Gradient of `dynamic_scatter_forward` with respect to the features.

    The gradient of a sum goes to all points of the voxel, that of a mean divided by their number,
    that of a maximum to the first point that has it.

    Parameters
    ----------
    grad_voxel_feats : array, shape [V, C], float32
        Gradient with respect to the features of the voxels.
    feats : array, shape [N, C], like `grad_voxel_feats`
        Features of the points.
    voxel_feats : array, shape [V, C], like `grad_voxel_feats`
        Features of the voxels.
    point2voxel_map : array, shape [N], int32
        The voxel of each point. One outside of 0 to V-1 gives 0.
    voxel_points_count : array, shape [V], int32
        How many points each voxel has.
    reduce_type : {"sum", "mean", "max"} or int
        What was computed.
    out : array or DeviceArray, optional
        Where to write, shape [N, C], like `grad_voxel_feats`; it must not overlap an input.
    handle : Handle, optional
        The handle to run with; the thread's own for the default backend if not given.

    Returns
    -------
    array or DeviceArray
        `out`, or a new array of shape [N, C] of the kind of the first argument.

    Raises
    ------
    BadParamError
        If an argument is not as described, or a tensor is empty.
    NotSupportedError
        If a tensor has 2**31 elements or more, or the library is not that for the CPU.

    Examples
    --------
    >>> import numpy as np, pymluops
    >>> feats, coors = np.array([[1], [3]], np.float32), np.zeros((2, 3), np.int32)
    >>> found = pymluops.dynamic_scatter_forward(feats, coors, "mean")
    >>> kept = found.voxel_feats, found.point2voxel_map, found.voxel_points_count
    >>> pymluops.dynamic_scatter_backward(np.array([[8], [0]], np.float32), feats, *kept, "mean").tolist()
    [[4.0], [4.0]]
    """
    arrays = (grad_voxel_feats, feats, voxel_feats, point2voxel_map, voxel_points_count, out)
    return _SCATTER_BACKWARD(handle, arrays, (reduce_type,))
