# Written by tools/families.py; do not edit.
# fmt: off
"""Types of the operators; their documentation is in the modules of the families."""

from collections.abc import Sequence
from typing import Any, overload

from numpy.typing import NDArray

from pymluops._core import DeviceArray, Handle
from pymluops._typing import Array, HostArray, Out, TorchTensor
from pymluops.ops.get_indice_pairs import IndicePairs as IndicePairs
from pymluops.ops.ms_deform_attn import MsDeformAttnGradients as MsDeformAttnGradients
from pymluops.ops.three_nn import ThreeNN as ThreeNN

__all__ = [
    "IndicePairs",
    "MsDeformAttnGradients",
    "ThreeNN",
    "ball_query",
    "border_align_backward",
    "border_align_forward",
    "get_indice_pairs",
    "indice_convolution_backward_data",
    "indice_convolution_backward_filter",
    "indice_convolution_forward",
    "ms_deform_attn_backward",
    "ms_deform_attn_forward",
    "psamask_backward",
    "psamask_forward",
    "three_interpolate_backward",
    "three_interpolate_forward",
    "three_nn_forward",
    "tin_shift_backward",
    "tin_shift_forward",
]

@overload
def ball_query(
    new_xyz: DeviceArray,
    xyz: DeviceArray,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def ball_query(  # type: ignore[overload-overlap]
    new_xyz: TorchTensor,
    xyz: HostArray,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def ball_query(
    new_xyz: HostArray,
    xyz: HostArray,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def ball_query(
    new_xyz: Array,
    xyz: Array,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def ball_query(
    new_xyz: Array,
    xyz: Array,
    min_radius: float,
    max_radius: float,
    nsample: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def border_align_forward(
    input: DeviceArray,
    boxes: DeviceArray,
    pool_size: int,
    *,
    out: None = None,
    argmax_idx: None = None,
    handle: Handle | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...
@overload
def border_align_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    boxes: HostArray,
    pool_size: int,
    *,
    out: None = None,
    argmax_idx: None = None,
    handle: Handle | None = None,
) -> tuple[TorchTensor, TorchTensor]: ...
@overload
def border_align_forward(
    input: HostArray,
    boxes: HostArray,
    pool_size: int,
    *,
    out: None = None,
    argmax_idx: None = None,
    handle: Handle | None = None,
) -> tuple[NDArray[Any], NDArray[Any]]: ...
@overload
def border_align_forward(
    input: Array,
    boxes: Array,
    pool_size: int,
    *,
    out: Any = None,
    argmax_idx: Any = None,
    handle: Handle | None = None,
) -> tuple[Any, Any]: ...
@overload
def border_align_backward(
    grad_output: DeviceArray,
    boxes: DeviceArray,
    argmax_idx: DeviceArray,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def border_align_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    boxes: HostArray,
    argmax_idx: HostArray,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def border_align_backward(
    grad_output: HostArray,
    boxes: HostArray,
    argmax_idx: HostArray,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def border_align_backward(
    grad_output: Array,
    boxes: Array,
    argmax_idx: Array,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def border_align_backward(
    grad_output: Array,
    boxes: Array,
    argmax_idx: Array,
    pool_size: int,
    feature_size: Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def get_indice_pairs(
    indices: DeviceArray,
    *,
    batch_size: int,
    spatial_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    subm: bool = False,
    out_spatial_shape: Sequence[int] | None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> IndicePairs[DeviceArray]: ...
@overload
def get_indice_pairs(  # type: ignore[overload-overlap]
    indices: TorchTensor,
    *,
    batch_size: int,
    spatial_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    subm: bool = False,
    out_spatial_shape: Sequence[int] | None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> IndicePairs[TorchTensor]: ...
@overload
def get_indice_pairs(
    indices: HostArray,
    *,
    batch_size: int,
    spatial_shape: Sequence[int],
    kernel_size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    subm: bool = False,
    out_spatial_shape: Sequence[int] | None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> IndicePairs[NDArray[Any]]: ...
@overload
def indice_convolution_forward(
    features: DeviceArray,
    filters: DeviceArray,
    indice_pairs: DeviceArray,
    indice_num: DeviceArray,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def indice_convolution_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    filters: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def indice_convolution_forward(
    features: HostArray,
    filters: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def indice_convolution_forward(
    features: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def indice_convolution_forward(
    features: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    num_act_out: int,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def indice_convolution_backward_data(
    output_grad: DeviceArray,
    filters: DeviceArray,
    indice_pairs: DeviceArray,
    indice_num: DeviceArray,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def indice_convolution_backward_data(  # type: ignore[overload-overlap]
    output_grad: TorchTensor,
    filters: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def indice_convolution_backward_data(
    output_grad: HostArray,
    filters: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def indice_convolution_backward_data(
    output_grad: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def indice_convolution_backward_data(
    output_grad: Array,
    filters: Array,
    indice_pairs: Array,
    indice_num: Array,
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def indice_convolution_backward_filter(
    features: DeviceArray,
    output_grad: DeviceArray,
    indice_pairs: DeviceArray,
    indice_num: DeviceArray,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def indice_convolution_backward_filter(  # type: ignore[overload-overlap]
    features: TorchTensor,
    output_grad: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def indice_convolution_backward_filter(
    features: HostArray,
    output_grad: HostArray,
    indice_pairs: HostArray,
    indice_num: HostArray,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def indice_convolution_backward_filter(
    features: Array,
    output_grad: Array,
    indice_pairs: Array,
    indice_num: Array,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def indice_convolution_backward_filter(
    features: Array,
    output_grad: Array,
    indice_pairs: Array,
    indice_num: Array,
    kernel_size: int | Sequence[int],
    inverse: int = 0,
    sub_m: int = 0,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def ms_deform_attn_forward(
    value: DeviceArray,
    spatial_shapes: DeviceArray,
    level_start_index: DeviceArray,
    sampling_loc: DeviceArray,
    attn_weight: DeviceArray,
    im2col_step: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def ms_deform_attn_forward(  # type: ignore[overload-overlap]
    value: TorchTensor,
    spatial_shapes: HostArray,
    level_start_index: HostArray,
    sampling_loc: HostArray,
    attn_weight: HostArray,
    im2col_step: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def ms_deform_attn_forward(
    value: HostArray,
    spatial_shapes: HostArray,
    level_start_index: HostArray,
    sampling_loc: HostArray,
    attn_weight: HostArray,
    im2col_step: int,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def ms_deform_attn_forward(
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    im2col_step: int,
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def ms_deform_attn_forward(
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    im2col_step: int,
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def ms_deform_attn_backward(
    value: DeviceArray,
    spatial_shapes: DeviceArray,
    level_start_index: DeviceArray,
    sampling_loc: DeviceArray,
    attn_weight: DeviceArray,
    grad_output: DeviceArray,
    im2col_step: int,
    *,
    grad_value: None = None,
    grad_sampling_loc: None = None,
    grad_attn_weight: None = None,
    handle: Handle | None = None,
) -> MsDeformAttnGradients[DeviceArray]: ...
@overload
def ms_deform_attn_backward(  # type: ignore[overload-overlap]
    value: TorchTensor,
    spatial_shapes: HostArray,
    level_start_index: HostArray,
    sampling_loc: HostArray,
    attn_weight: HostArray,
    grad_output: HostArray,
    im2col_step: int,
    *,
    grad_value: None = None,
    grad_sampling_loc: None = None,
    grad_attn_weight: None = None,
    handle: Handle | None = None,
) -> MsDeformAttnGradients[TorchTensor]: ...
@overload
def ms_deform_attn_backward(
    value: HostArray,
    spatial_shapes: HostArray,
    level_start_index: HostArray,
    sampling_loc: HostArray,
    attn_weight: HostArray,
    grad_output: HostArray,
    im2col_step: int,
    *,
    grad_value: None = None,
    grad_sampling_loc: None = None,
    grad_attn_weight: None = None,
    handle: Handle | None = None,
) -> MsDeformAttnGradients[NDArray[Any]]: ...
@overload
def ms_deform_attn_backward(
    value: Array,
    spatial_shapes: Array,
    level_start_index: Array,
    sampling_loc: Array,
    attn_weight: Array,
    grad_output: Array,
    im2col_step: int,
    *,
    grad_value: Any = None,
    grad_sampling_loc: Any = None,
    grad_attn_weight: Any = None,
    handle: Handle | None = None,
) -> MsDeformAttnGradients[Any]: ...
@overload
def psamask_forward(
    x: DeviceArray,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def psamask_forward(  # type: ignore[overload-overlap]
    x: TorchTensor,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def psamask_forward(
    x: HostArray,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def psamask_forward(
    x: Array,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def psamask_forward(
    x: Array,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def psamask_backward(
    dy: DeviceArray,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def psamask_backward(  # type: ignore[overload-overlap]
    dy: TorchTensor,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def psamask_backward(
    dy: HostArray,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def psamask_backward(
    dy: Array,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: Out,
    handle: Handle | None = None,
) -> Out: ...
@overload
def psamask_backward(
    dy: Array,
    psa_type: str | int,
    mask_size: int | Sequence[int],
    *,
    out: Any = None,
    handle: Handle | None = None,
) -> Any: ...
@overload
def three_interpolate_forward(
    features: DeviceArray,
    indices: DeviceArray,
    weights: DeviceArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def three_interpolate_forward(  # type: ignore[overload-overlap]
    features: TorchTensor,
    indices: HostArray,
    weights: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def three_interpolate_forward(
    features: HostArray,
    indices: HostArray,
    weights: HostArray,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def three_interpolate_forward(
    features: Array,
    indices: Array,
    weights: Array,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def three_interpolate_forward(
    features: Array,
    indices: Array,
    weights: Array,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def three_interpolate_backward(
    grad_output: DeviceArray,
    indices: DeviceArray,
    weights: DeviceArray,
    num_features: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def three_interpolate_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    indices: HostArray,
    weights: HostArray,
    num_features: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def three_interpolate_backward(
    grad_output: HostArray,
    indices: HostArray,
    weights: HostArray,
    num_features: int,
    *,
    out: None = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def three_interpolate_backward(
    grad_output: Array,
    indices: Array,
    weights: Array,
    num_features: int,
    *,
    out: Out,
    validate: bool = True,
    handle: Handle | None = None,
) -> Out: ...
@overload
def three_interpolate_backward(
    grad_output: Array,
    indices: Array,
    weights: Array,
    num_features: int,
    *,
    out: Any = None,
    validate: bool = True,
    handle: Handle | None = None,
) -> Any: ...
@overload
def three_nn_forward(
    unknown: DeviceArray,
    known: DeviceArray,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> ThreeNN[DeviceArray]: ...
@overload
def three_nn_forward(  # type: ignore[overload-overlap]
    unknown: TorchTensor,
    known: HostArray,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> ThreeNN[TorchTensor]: ...
@overload
def three_nn_forward(
    unknown: HostArray,
    known: HostArray,
    *,
    dist2: None = None,
    idx: None = None,
    handle: Handle | None = None,
) -> ThreeNN[NDArray[Any]]: ...
@overload
def three_nn_forward(
    unknown: Array,
    known: Array,
    *,
    dist2: Any = None,
    idx: Any = None,
    handle: Handle | None = None,
) -> ThreeNN[Any]: ...
@overload
def tin_shift_forward(
    input: DeviceArray,
    shifts: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def tin_shift_forward(  # type: ignore[overload-overlap]
    input: TorchTensor,
    shifts: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def tin_shift_forward(
    input: HostArray,
    shifts: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def tin_shift_forward(input: Array, shifts: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def tin_shift_forward(input: Array, shifts: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
@overload
def tin_shift_backward(
    grad_output: DeviceArray,
    shifts: DeviceArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> DeviceArray: ...
@overload
def tin_shift_backward(  # type: ignore[overload-overlap]
    grad_output: TorchTensor,
    shifts: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> TorchTensor: ...
@overload
def tin_shift_backward(
    grad_output: HostArray,
    shifts: HostArray,
    *,
    out: None = None,
    handle: Handle | None = None,
) -> NDArray[Any]: ...
@overload
def tin_shift_backward(grad_output: Array, shifts: Array, *, out: Out, handle: Handle | None = None) -> Out: ...
@overload
def tin_shift_backward(grad_output: Array, shifts: Array, *, out: Any = None, handle: Handle | None = None) -> Any: ...
