"""``ingroup_inds_cuda`` of DSVT: the number of each element within its group."""

from __future__ import annotations

from pymluops.dropins._declarations import Row
from pymluops.mmcv._kernels import run
from pymluops.mmcv._tensors import check_shape, check_tensors, dense, extension_function
from pymluops.mmcv._torch import Tensor, load_torch
from pymluops.ops._described import described

__all__ = ["forward"]

DROP_IN = "openpcdet"
MODULES = ("pcdet.ops.ingroup_inds.ingroup_inds_cuda", "projects.DSVT.dsvt.ops.ingroup_inds.ingroup_inds_cuda")
ROWS = (Row("forward", "mluopsExtIngroupIndices", "Elements of a group are numbered in their order."),)
CHANGES = ()


@extension_function
def forward(group_inds: Tensor, out: Tensor) -> None:
    """Write for each of group_inds [N] the number of equal ones before it into out [N], both int64."""
    check_tensors("forward", ("int64",), {"group_inds": group_inds, "out": out})
    check_shape("forward", "group_inds", group_inds, (None,))
    check_shape("forward", "out", out, group_inds.shape)
    if not len(group_inds):
        return
    torch = load_torch()
    limits, groups = torch.iinfo(torch.int32), group_inds.detach()
    least, most = (int(bound) for bound in groups.aminmax())
    if least < limits.min or most > limits.max:
        groups = groups.unique(return_inverse=True)[1]
    found: Tensor = run(described("ingroup_indices"), (dense(groups, torch.int32), None))
    out.copy_(found)
