"""``deform_conv_cuda`` of mmdetection below 2.3 and det3d: deformable convolutions."""

from __future__ import annotations

from pymluops.dropins._declarations import Row, renamed
from pymluops.mmcv import deform_conv as convolution

__all__ = [
    "deform_conv_backward_input",
    "deform_conv_backward_input_cuda",
    "deform_conv_backward_parameters",
    "deform_conv_backward_parameters_cuda",
    "deform_conv_forward",
    "deform_conv_forward_cuda",
    "modulated_deform_conv_backward",
    "modulated_deform_conv_cuda_backward",
    "modulated_deform_conv_cuda_forward",
    "modulated_deform_conv_forward",
]

DROP_IN = "deform_conv"
MODULES = (
    "det3d.ops.dcn.deform_conv_cuda",
    "mmdet.ops.dcn.deform_conv_cuda",
    "mmdet.ops.dcn.deform_conv_ext",
)
ROWS = (
    Row(
        "deform_conv_forward_cuda deform_conv_backward_input_cuda deform_conv_backward_parameters_cuda "
        "deform_conv_forward deform_conv_backward_input deform_conv_backward_parameters",
        "mluopsExtDeformConvForward, BackwardData, BackwardWeight (float16, float32, float64)",
        "im2col_step changes nothing; those without _cuda are the names in deform_conv_ext",
    ),
    Row(
        "modulated_deform_conv_cuda_forward modulated_deform_conv_cuda_backward "
        "modulated_deform_conv_forward modulated_deform_conv_backward",
        "mluopsExtDeformConvForward, Backward (float16, float32, float64)",
    ),
)
CHANGES = ("deform_conv: the functions raise NotImplementedError for a tensor that is not on a GPU",)

deform_conv_forward = renamed(convolution.deform_conv_forward, "deform_conv_forward", 1)
deform_conv_backward_input = renamed(convolution.deform_conv_backward_input, "deform_conv_backward_input", 1)
deform_conv_backward_parameters = renamed(
    convolution.deform_conv_backward_parameters, "deform_conv_backward_parameters", 1
)
modulated_deform_conv_forward = convolution.modulated_deform_conv_forward
modulated_deform_conv_backward = convolution.modulated_deform_conv_backward
deform_conv_forward_cuda = renamed(deform_conv_forward, "deform_conv_forward_cuda")
deform_conv_backward_input_cuda = renamed(deform_conv_backward_input, "deform_conv_backward_input_cuda")
deform_conv_backward_parameters_cuda = renamed(deform_conv_backward_parameters, "deform_conv_backward_parameters_cuda")
modulated_deform_conv_cuda_forward = renamed(modulated_deform_conv_forward, "modulated_deform_conv_cuda_forward")
modulated_deform_conv_cuda_backward = renamed(modulated_deform_conv_backward, "modulated_deform_conv_cuda_backward")
