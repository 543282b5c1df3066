"""The drop-ins: their names, the modules that they provide, and where the contents of these come from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pymluops.dropins._extensions import last_names, modules_of, place

__all__ = ["DROP_INS", "DropIn", "all_of", "placed"]


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
    actor : str
        A module of this package that does more than provide modules: its ``activate`` returns
        whether there was something to do, ``deactivate`` undoes it.
    place : bool
        Whether a program has named the place of its module; the table has it not.
    """

    name: str
    modules: Mapping[str, bool]
    source: str
    always: bool
    about: str
    notes: tuple[str, ...] = ()
    actor: str = ""
    place: bool = False

    @property
    def contents(self) -> Callable[[str], dict[str, Any]]:
        """The function that returns the attributes of a module."""
        found: Callable[[str], dict[str, Any]] = import_module(self.source).contents
        return found

    @property
    def roots(self) -> tuple[str, ...]:
        """The names of its modules that lie in no package of its own."""
        return tuple(name for name in self.modules if name.rpartition(".")[0] not in self.modules)

    def activate(self) -> bool:
        """Do what is to be done beyond the modules; return whether the drop-in is provided."""
        return not self.actor or bool(import_module(self.actor).activate())

    def deactivate(self) -> None:
        """Undo it."""
        if self.actor:
            import_module(self.actor).deactivate()


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


_EXTENSIONS = "pymluops.dropins._extensions"
_GPU = "its Python code moves tensors to a GPU: .cuda(), torch.cuda.FloatTensor and IntTensor"


def _of_extensions(name: str, about: str, *notes: str, always: bool = True) -> DropIn:
    """Return a drop-in whose modules are extensions."""
    return DropIn(name, modules_of(name), _EXTENSIONS, always=always, about=about, notes=notes)


def _openpcdet() -> DropIn:
    return _of_extensions(
        "openpcdet",
        "the compiled extensions of OpenPCDet, and those that projects of mmdetection3d and CenterPoint have of it",
        "pcdet.version, which the build of OpenPCDet writes, has to be there: __version__ = '0.6.0'",
        "its Python code moves tensors to a GPU: .cuda() of load_data_to_gpu, of anchors, of the weights of losses "
        "and of the model is to be left out, torch.cuda.FloatTensor and IntTensor are to be torch's",
    )


def _torchvision() -> DropIn:
    return DropIn(
        "torchvision",
        {},
        _EXTENSIONS,
        always=True,
        about="the operators of torch.ops.torchvision, where its own compiled part does not load",
        notes=(
            "nms, roi_align, roi_pool, ps_roi_align, ps_roi_pool, deform_conv2d and their gradients; box_iou_rotated",
            "the operators stay registered in the process after uninstall(); a compiled part that loads stays in use",
        ),
        actor="pymluops.dropins._torchvision",
    )


def placed(names: Sequence[str], at: str) -> str:
    """Make a module the extension of a last name; return the name of the drop-in for it."""
    last = last_names()
    if len(names) != 1 or names[0] not in last:
        given = ", ".join(repr(name) for name in names) or "none"
        raise ValueError(f"install: names: with at expected one of {', '.join(sorted(last))}, got {given}")
    if not all(part.isidentifier() for part in str(at).split(".")):
        raise ValueError(f"install: at: expected the full name of a module, got {at!r}")
    name = f"{names[0]} at {at}"
    about = f"an extension at the place that a program named, {at}"
    DROP_INS[name] = DropIn(name, place(names[0], at), _EXTENSIONS, always=False, about=about, place=True)
    return name


def all_of(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of drop-ins: for the last name of an extension all modules that it was installed at."""
    found: list[str] = []
    for name in names:
        own = [key for key in tuple(DROP_INS) if key.startswith(f"{name} at ")]
        known = name in DROP_INS or name not in last_names()
        found += [name, *own] if known else own
    return tuple(found)


#: All drop-ins by name, mmcv apart, which `pymluops.mmcv` installs.
DROP_INS: dict[str, DropIn] = {
    drop_in.name: drop_in
    for drop_in in (
        _spconv(),
        _openpcdet(),
        _of_extensions("mmdet3d", "the extensions of mmdetection3d below 1.0 and of BEVFusion, mmdet3d.ops", _GPU),
        _of_extensions("pointnet2", "the compiled extensions of Pointnet2.PyTorch, Pointnet2_PyTorch and VoteNet"),
        _of_extensions("pointops", "the compiled extensions of Pointcept and of the first Point Transformer", _GPU),
        _of_extensions(
            "MultiScaleDeformableAttention",
            "the compiled extension of Deformable-DETR and its descendants, Mask2Former among them",
        ),
        _of_extensions("deform_conv", "the extensions for deformable convolutions of mmdetection below 2.3 and det3d"),
        _of_extensions(
            "chamfer",
            "the extension for Chamfer distances of ChamferDistancePytorch",
            "by name only: without it, that package compiles its own where there is a GPU",
            always=False,
        ),
        _of_extensions("detectron2", "the compiled module of detectron2, and torch.ops.detectron2"),
        _torchvision(),
    )
}
