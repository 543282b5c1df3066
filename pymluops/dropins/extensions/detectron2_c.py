"""``_C`` of detectron2: rotated boxes and regions, deformable convolutions, COCO's evaluation.

Importing it registers ``torch.ops.detectron2``, as the compiled module does.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

from pymluops.dropins._declarations import Row, renamed
from pymluops.dropins._torch_library import TorchOperators
from pymluops.dropins.extensions._coco import (
    COCOevalAccumulate,
    COCOevalEvaluateImages,
    ImageEvaluation,
    InstanceAnnotation,
)
from pymluops.dropins.extensions._rotated import (
    box_iou_rotated,
    nms_rotated,
    roi_align_rotated_backward,
    roi_align_rotated_forward,
)
from pymluops.mmcv import deform_conv as convolution
from pymluops.mmcv._torch import load_torch

__all__ = [
    "COCOevalAccumulate",
    "COCOevalEvaluateImages",
    "ImageEvaluation",
    "InstanceAnnotation",
    "box_iou_rotated",
    "deform_conv_backward_filter",
    "deform_conv_backward_input",
    "deform_conv_forward",
    "get_compiler_version",
    "get_cuda_version",
    "has_cuda",
    "modulated_deform_conv_backward",
    "modulated_deform_conv_forward",
    "nms_rotated",
    "roi_align_rotated_backward",
    "roi_align_rotated_forward",
]

DROP_IN = "detectron2"
MODULES = ("detectron2._C",)
ROWS = (
    Row(
        "nms_rotated box_iou_rotated",
        "mluOpNmsRotated, mluOpBoxIouRotated",
        "also in torch.ops.detectron2; angles are degrees and turn counterclockwise",
    ),
    Row(
        "roi_align_rotated_forward roi_align_rotated_backward",
        "mluOpRoiAlignRotatedForward, Backward",
        "also in torch.ops.detectron2",
    ),
    Row(
        "deform_conv_forward deform_conv_backward_input deform_conv_backward_filter "
        "modulated_deform_conv_forward modulated_deform_conv_backward",
        "mluopsExtDeformConvForward, Backward",
    ),
    Row(
        "COCOevalEvaluateImages COCOevalAccumulate InstanceAnnotation ImageEvaluation",
        "NumPy",
        "COCOeval_opt, which detectron2 evaluates with",
    ),
    Row("get_compiler_version get_cuda_version has_cuda", "-", "there is no CUDA"),
)
CHANGES = (
    "layers/deform_conv: DeformConv has no gradient for tensors of the CPU, and ModulatedDeformConv refuses them; "
    "torchvision.ops.deform_conv2d has both",
)

_SIZES = "int batch_size, int channels, int height, int width"
_POOLED = "float spatial_scale, int pooled_height, int pooled_width"


def _kept(dets: Any, scores: Any, iou_threshold: float) -> Any:
    """Return numbers of boxes, whose count is not known without values."""
    return scores.new_empty(load_torch().library.get_ctx().new_dynamic_size(), dtype=load_torch().int64)


def _all_pairs(boxes1: Any, boxes2: Any) -> Any:
    return boxes1.new_empty(boxes1.shape[0], boxes2.shape[0])


def _bins(input: Any, rois: Any, _scale: float, height: int, width: int, _ratio: int) -> Any:
    return input.new_empty(rois.shape[0], input.shape[1], height, width)


def _maps(grad: Any, _rois: Any, _scale: float, _height: int, _width: int, *sizes: int) -> Any:
    return grad.new_empty(sizes[:4])


#: The operators, with what each returns for tensors without values.
OPERATORS = TorchOperators(
    "detectron2",
    "pymluops.dropins.extensions._rotated",
    {
        "nms_rotated": "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
        "box_iou_rotated": "(Tensor boxes1, Tensor boxes2) -> Tensor",
        "roi_align_rotated_forward": f"(Tensor input, Tensor rois, {_POOLED}, int sampling_ratio) -> Tensor",
        "roi_align_rotated_backward": f"(Tensor grad, Tensor rois, {_POOLED}, {_SIZES}, int sampling_ratio) -> Tensor",
    },
    {
        "nms_rotated": _kept,
        "box_iou_rotated": _all_pairs,
        "roi_align_rotated_forward": _bins,
        "roi_align_rotated_backward": _maps,
    },
)

deform_conv_forward = renamed(convolution.deform_conv_forward, "deform_conv_forward", 1)
deform_conv_backward_input = renamed(convolution.deform_conv_backward_input, "deform_conv_backward_input", 1)
deform_conv_backward_filter = renamed(convolution.deform_conv_backward_parameters, "deform_conv_backward_filter", 1)
modulated_deform_conv_forward = convolution.modulated_deform_conv_forward
modulated_deform_conv_backward = convolution.modulated_deform_conv_backward


def get_compiler_version() -> str:
    """Return what compiled Python."""
    return f"pymluops, {platform.python_compiler()}"


def get_cuda_version() -> str:
    """Return that there is no CUDA."""
    return "not available"


def has_cuda() -> bool:
    """Return False."""
    return False


def prepare(_name: str) -> Mapping[str, Any]:
    """Register ``torch.ops.detectron2``."""
    OPERATORS.register()
    return {}
