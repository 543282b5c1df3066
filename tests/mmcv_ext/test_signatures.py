"""Arguments keep the names and order of mmcv's bindings: mmcv passes tensors by place and most numbers by name."""

from __future__ import annotations

import inspect

import pytest

from pymluops.mmcv._extension import IMPLEMENTED

_CONVOLUTION = "batchSize outSpatialShape spatialShape kernelSize stride padding dilation outPadding _subM _transpose"

BINDINGS = {
    "ball_query_forward": "new_xyz_tensor xyz_tensor idx_tensor b n m min_radius max_radius nsample",
    "stack_ball_query_forward": (
        "new_xyz_tensor new_xyz_batch_cnt xyz_tensor xyz_batch_cnt idx_tensor max_radius nsample"
    ),
    "border_align_forward": "input boxes output argmax_idx pool_size",
    "border_align_backward": "grad_output boxes argmax_idx grad_input pool_size",
    "ms_deform_attn_forward": (
        "value value_spatial_shapes value_level_start_index sampling_locations attention_weights im2col_step"
    ),
    "ms_deform_attn_backward": (
        "value value_spatial_shapes value_level_start_index sampling_locations attention_weights grad_output "
        "grad_value grad_sampling_loc grad_attn_weight im2col_step"
    ),
    "psamask_forward": "input output psa_type num_ h_feature w_feature h_mask w_mask half_h_mask half_w_mask",
    "psamask_backward": (
        "grad_output grad_input psa_type num_ h_feature w_feature h_mask w_mask half_h_mask half_w_mask"
    ),
    "three_interpolate_forward": "points_tensor idx_tensor weight_tensor out_tensor b c m n",
    "three_interpolate_backward": "grad_out_tensor idx_tensor weight_tensor grad_points_tensor b c n m",
    "three_nn_forward": "unknown_tensor known_tensor dist2_tensor idx_tensor b n m",
    "tin_shift_forward": "input shift output",
    "tin_shift_backward": "grad_output shift grad_input",
    "get_indice_pairs_2d_forward": f"indices {_CONVOLUTION}",
    "get_indice_pairs_3d_forward": f"indices {_CONVOLUTION}",
    "get_indice_pairs_4d_forward": f"indices {_CONVOLUTION}",
    "get_indice_pairs_2d_backward": f"indices gridOut {_CONVOLUTION}",
    "get_indice_pairs_3d_backward": f"indices gridOut {_CONVOLUTION}",
    "indice_conv_forward": "features filters indicePairs indiceNum numActOut _inverse _subM",
    "indice_conv_backward": "features filters outGrad indicePairs indiceNum _inverse _subM",
    "fused_indice_conv_forward": "features filters bias indicePairs indiceNum numActOut _inverse _subM",
    "indice_maxpool_forward": "features indicePairs indiceNum numAct",
    "indice_maxpool_backward": "features outFeatures outGrad indicePairs indiceNum",
    "get_compiler_version": "",
    "get_compiling_cuda_version": "",
}


@pytest.mark.parametrize("name", sorted(IMPLEMENTED))
def test_arguments(name: str) -> None:
    parameters = inspect.signature(IMPLEMENTED[name]).parameters.values()
    assert [parameter.name for parameter in parameters] == BINDINGS[name].split()
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty for p in parameters)


def test_every_function_is_compared() -> None:
    assert set(BINDINGS) == set(IMPLEMENTED)
