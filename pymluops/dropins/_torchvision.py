"""``torch.ops.torchvision`` where torchvision's compiled part does not load.

A wheel of torchvision for GPUs beside a PyTorch for CPUs is such a case: then ``import
torchvision`` fails, as its Python code takes the operators for granted. They are registered as soon
as torchvision has found that its compiled part does not load, before it looks for them.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from pymluops._replacements import Replacement, Replacements
from pymluops.dropins._torch_library import TorchOperators

__all__ = ["OPERATORS", "activate", "deactivate"]

_MODULE = "torchvision.extension"
_BINS = "Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width"
_SIZES = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_WINDOW = (
    "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, "
    "SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, "
    "bool use_mask"
)
_GRAD_BINS = "float spatial_scale, SymInt pooled_height, SymInt pooled_width"

OPERATORS = TorchOperators(
    "torchvision",
    "pymluops.dropins._torch_regions",
    {
        "_cuda_version": "() -> int",
        "nms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "qnms": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "box_iou_rotated": "(Tensor boxes1, Tensor boxes2) -> Tensor",
        "roi_align": f"(Tensor input, {_BINS}, int sampling_ratio, bool aligned) -> Tensor",
        "qroi_align": (
            "(Tensor input, Tensor rois, float input_scale, int input_zero_point, float rois_scale, "
            "int rois_zero_point, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
            "int sampling_ratio, bool aligned) -> Tensor"
        ),
        "_roi_align_backward": f"(Tensor grad, {_BINS}, {_SIZES}, int sampling_ratio, bool aligned) -> Tensor",
        "roi_pool": f"(Tensor input, {_BINS}) -> (Tensor, Tensor)",
        "_roi_pool_backward": f"(Tensor grad, Tensor rois, Tensor argmax, {_GRAD_BINS}, {_SIZES}) -> Tensor",
        "ps_roi_align": f"(Tensor input, {_BINS}, int sampling_ratio) -> (Tensor, Tensor)",
        "_ps_roi_align_backward": (
            f"(Tensor grad, Tensor rois, Tensor channel_mapping, {_GRAD_BINS}, int sampling_ratio, {_SIZES}) -> Tensor"
        ),
        "ps_roi_pool": f"(Tensor input, {_BINS}) -> (Tensor, Tensor)",
        "_ps_roi_pool_backward": (
            f"(Tensor grad, Tensor rois, Tensor channel_mapping, {_GRAD_BINS}, {_SIZES}) -> Tensor"
        ),
        "deform_conv2d": f"({_WINDOW}) -> Tensor",
        "_deform_conv2d_backward": f"(Tensor grad, {_WINDOW}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    },
    {},
)


def _register(package: Path) -> None:
    """Register the operators, and what a release of torchvision without Python code for gradients leaves out."""
    first = not OPERATORS.registered
    library = OPERATORS.register()
    if first and not (package / "_autograd_registrations.py").exists():
        from pymluops.dropins import _torchvision_gradients

        _torchvision_gradients.register(library)


def _find(module: ModuleType) -> list[Replacement]:
    """Replace the question whether there are operators, if the answer is no."""
    has_ops: Any = getattr(module, "_has_ops", None)
    if not callable(has_ops) or has_ops():
        return []
    _register(Path(str(module.__file__)).parent)
    return [Replacement("_has_ops", lambda _original: _yes)]


def _yes() -> bool:
    """Say that there are operators."""
    return True


_replacements = Replacements(lambda name: name == _MODULE, _find)
deactivate = _replacements.deactivate


def activate() -> bool:
    """Provide the operators when torchvision finds that it has none; return False if it has them already."""
    if "torchvision" not in sys.modules:  # parts that an import has left which failed without the operators
        for name in [name for name in sys.modules if name.startswith("torchvision.")]:
            del sys.modules[name]
    _replacements.activate()
    loaded: Any = sys.modules.get(_MODULE)
    return loaded is None or getattr(loaded, "_has_ops", None) is _yes
