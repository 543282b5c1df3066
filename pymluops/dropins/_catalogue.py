"""The drop-ins: their names, the modules that they provide, and where the contents of these come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pymluops.dropins._extensions import modules_of

__all__ = ["DROP_INS", "DropIn"]


@dataclass(frozen=True)
class DropIn:
    """What `pymluops.install` makes importable by one name.

    Attributes
    ----------
    name : str
        The name for `install`.
    modules : mapping of str to bool
        The full names of its modules, and whether each is a package.
    source : str
        A module of this package whose function ``contents(name)`` returns the attributes of a
        module.
    always : bool
        Whether `install` without names means it too: it adds only what is missing.
    about : str
        One sentence for the table.
    notes : tuple of str
        What a user still changes, and what differs.
    """

    name: str
    modules: Mapping[str, bool]
    source: str
    always: bool
    about: str
    notes: tuple[str, ...] = ()

    @property
    def contents(self) -> Callable[[str], dict[str, Any]]:
        """The function that returns the attributes of a module."""
        found: Callable[[str], dict[str, Any]] = import_module(self.source).contents
        return found

    @property
    def roots(self) -> tuple[str, ...]:
        """The names of its modules that lie in no package of its own."""
        return tuple(name for name in self.modules if name.rpartition(".")[0] not in self.modules)


def _spconv() -> DropIn:
    from pymluops.dropins.spconv._names import modules

    return DropIn(
        "spconv",
        modules(),
        "pymluops.dropins.spconv",
        always=False,
        about="spconv 2.x whole: layers, tensors, pools, voxels, on pymluops.torch.sparse",
        notes=(
            "tensors and modules stay on the CPU: leave out .cuda() and device='cuda'",
            "cumm.tensorview has from_numpy, zeros and numpy() alone, for Point2VoxelCPU3d",
            "algo, fp32_accum, large_kernel_fast_algo, benchmark, voxel_num and the flags of constants mean nothing; "
            "a max pool with ConvAlgo.Native begins at 0, others have a true maximum",
        ),
    )


def _openpcdet() -> DropIn:
    return DropIn(
        "openpcdet",
        modules_of("openpcdet"),
        "pymluops.dropins._extensions",
        always=True,
        about="the compiled extensions of OpenPCDet, and those of the same names in projects of mmdetection3d",
        notes=(
            "pcdet.version, which the build of OpenPCDet writes, has to be there: __version__ = '0.6.0'",
            "its Python code moves tensors to a GPU: .cuda() of load_data_to_gpu, of anchors, of the weights of losses "
            "and of the model is to be left out, torch.cuda.FloatTensor and IntTensor are to be torch's",
        ),
    )


def _attention() -> DropIn:
    name = "MultiScaleDeformableAttention"
    about = "the compiled extension of Deformable-DETR and its descendants, Mask2Former among them"
    return DropIn(name, modules_of(name), "pymluops.dropins._extensions", always=True, about=about)


def _pointnet2() -> DropIn:
    return DropIn(
        "pointnet2",
        modules_of("pointnet2"),
        "pymluops.dropins._extensions",
        always=True,
        about="the compiled extensions of Pointnet2.PyTorch, Pointnet2_PyTorch and VoteNet",
    )


#: All drop-ins by name, mmcv apart, which `pymluops.mmcv` installs.
DROP_INS: dict[str, DropIn] = {
    drop_in.name: drop_in for drop_in in (_spconv(), _openpcdet(), _pointnet2(), _attention())
}
