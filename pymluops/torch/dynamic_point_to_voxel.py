"""DynamicPointToVoxel: features of the voxels that points make."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from pymluops.ops._described import described
from pymluops.torch._counts import known_count, need_tensors
from pymluops.torch._library import TorchOperator
from pymluops.torch._modes import TracedModule

__all__ = ["DynamicScatter", "dynamic_scatter"]

_SAMPLE = {"N": 6, "C": 3, "coors": [[4, 0, 1], [0, 2, 2], [4, 0, 1], [0, 2, 2], [-1, 3, 3], [4, 0, 1]]}
_FORWARD = TorchOperator(described("dynamic_scatter_forward"), folds=False, sample=_SAMPLE)
_BACKWARD = TorchOperator(
    described("dynamic_scatter_backward"),
    folds=False,
    autocast=False,
    sample={"V": 4, "N": 6, "C": 3, "point2voxel_map": [1, 0, 1, 0, -1, 1], "voxel_points_count": [2, 3, 1, 1]},
)
_FORWARD.differentiate(_BACKWARD, "grad_voxel_feats", {"feats": "out"})
_BACKWARD.refuse_gradient("the gradient of dynamic_scatter cannot be differentiated again")


def dynamic_scatter(feats: Tensor, coors: Tensor, reduce_type: str = "max") -> tuple[Tensor, Tensor]:
    """Reduce the features of points with the same place: `dynamic_scatter` of mmcv.

    `pymluops.dynamic_scatter_forward` has the rules. The gradient flows to `feats`. How many voxels
    there are depends on the places, so that torch.compile with ``fullgraph=True`` needs
    ``torch._dynamo.config.capture_scalar_outputs``; torch.export needs nothing.

    Parameters
    ----------
    feats : Tensor, shape [N, C]
        Features of the points; any floating type.
    coors : Tensor, shape [N, 3], int32 or int64
        Places of the points. One with a negative number makes no voxel.
    reduce_type : {"max", "sum", "mean"}
        What is computed.

    Returns
    -------
    voxel_feats : Tensor, shape [V, C]
        Features of the voxels, like `feats`.
    voxel_coors : Tensor, shape [V, 3]
        Their places, ascending, like `coors`.

    Raises
    ------
    ValueError
        If an argument is not as described.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> places = torch.tensor([[6, 7, 8], [2, 4, 6], [6, 7, 8]])
    >>> feats = torch.tensor([[1.0], [5], [3]], requires_grad=True)
    >>> found, where = pymluops.torch.dynamic_scatter(feats, places, "mean")
    >>> found.tolist(), where.tolist()
    ([[5.0], [2.0]], [[2, 4, 6], [6, 7, 8]])
    >>> found.sum().backward()
    >>> feats.grad.tolist()
    [[0.5], [1.0], [0.5]]
    """
    need_tensors("dynamic_scatter", feats=feats, coors=coors)
    if reduce_type not in _REDUCTIONS:
        raise ValueError(f"dynamic_scatter: reduce_type: expected 'max', 'sum' or 'mean', got {reduce_type!r}")
    if not feats.shape[0]:
        return feats.clone(), coors.clone()
    if not feats.shape[1]:  # the places are looked for all the same
        found, places = dynamic_scatter(feats.new_zeros((feats.shape[0], 1)), coors, reduce_type)
        return found[:, :0], places
    results = _FORWARD(feats, coors, _REDUCTIONS[reduce_type])
    number = known_count(results[4], feats.shape[0])
    return results[0][:number], results[1][:number].to(coors.dtype)


_REDUCTIONS = {"sum": 0, "mean": 1, "max": 2}


class DynamicScatter(TracedModule):
    """`dynamic_scatter` as a module, for places with a batch in front too.

    Parameters
    ----------
    voxel_size : sequence of float
        Size of a cell along x, y and z; not used.
    point_cloud_range : sequence of float
        Lowest x, y, z and highest x, y, z; not used.
    average_points : bool
        Take means, else maxima.

    Examples
    --------
    >>> import torch, pymluops.torch
    >>> layer = pymluops.torch.DynamicScatter([1, 1, 1], [0, 0, 0, 9, 9, 9], True)
    >>> places = torch.tensor([[0, 6, 7, 8], [0, 6, 7, 8], [1, 2, 4, 6]])
    >>> layer(torch.tensor([[1.0], [3], [5]]), places)[0].tolist()
    [[2.0], [5.0]]
    """

    def __init__(self, voxel_size: Sequence[float], point_cloud_range: Sequence[float], average_points: bool) -> None:
        super().__init__()
        self.voxel_size, self.point_cloud_range = voxel_size, point_cloud_range
        self.average_points = average_points

    def forward(self, points: Tensor, coors: Tensor) -> tuple[Tensor, Tensor]:
        """Return features and places of the voxels; places with four columns begin with the batch."""
        reduce_type = "mean" if self.average_points else "max"
        if coors.shape[-1] == 3:
            return dynamic_scatter(points, coors, reduce_type)
        found, places = [points[:0]], [coors[:0]]
        for batch in range(int(coors[-1, 0]) + 1 if len(coors) else 0):
            mine = coors[:, 0] == batch
            feats, voxels = dynamic_scatter(points[mine], coors[mine][:, 1:], reduce_type)
            found.append(feats)
            places.append(torch.nn.functional.pad(voxels, (1, 0), value=batch))
        return torch.cat(found), torch.cat(places)

    def extra_repr(self) -> str:
        """Return the arguments."""
        return (
            f"voxel_size={self.voxel_size}, point_cloud_range={self.point_cloud_range}, "
            f"average_points={self.average_points}"
        )
