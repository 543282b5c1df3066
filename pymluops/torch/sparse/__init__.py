"""Sparse convolutions for PyTorch on the CPU, with the names and arguments of mmcv.

Features are rows [L, C], places are rows [L, 1 + ndim] of int32: batch, then one coordinate for
each axis. Filters are [*kernel_size, in_channels, out_channels]; those of spconv load as well.

Examples
--------
>>> import torch
>>> from pymluops.torch import sparse
>>> voxels = torch.tensor([[0, 1, 2, 3], [0, 1, 2, 4], [1, 7, 7, 7]])  # batch, then three coordinates
>>> scene = sparse.SparseConvTensor(torch.randn(3, 4), voxels, spatial_shape=[8, 8, 8], batch_size=2)
>>> network = sparse.SparseSequential(
...     sparse.SubMConv3d(4, 16, 3, indice_key="fine"),
...     torch.nn.ReLU(),
...     sparse.SparseConv3d(16, 32, 3, stride=2, padding=1, indice_key="down"),
...     sparse.SparseInverseConv3d(32, 16, 3, indice_key="down"),
... )
>>> network(scene)
SparseConvTensor([3, 16] at places of [8, 8, 8], batch_size=2)
>>> network(scene).dense().shape
torch.Size([2, 16, 8, 8, 8])
"""

from __future__ import annotations

from pymluops.torch.sparse._combine import sparse_add, sparse_cat, sparse_collate
from pymluops.torch.sparse._convolutions import SparseConvolution
from pymluops.torch.sparse._filters import filters_from_spconv, filters_to_spconv, load_state_dict
from pymluops.torch.sparse._functions import indice_conv, indice_inverse_conv, indice_subm_conv
from pymluops.torch.sparse._kinds import (
    SparseConv1d,
    SparseConv2d,
    SparseConv3d,
    SparseConv4d,
    SparseConvTranspose1d,
    SparseConvTranspose2d,
    SparseConvTranspose3d,
    SparseConvTranspose4d,
    SparseInverseConv1d,
    SparseInverseConv2d,
    SparseInverseConv3d,
    SparseInverseConv4d,
    SubMConv1d,
    SubMConv2d,
    SubMConv3d,
    SubMConv4d,
)
from pymluops.torch.sparse._modules import SparseModule, SparseSequential, ToDense
from pymluops.torch.sparse._pairs import get_conv_output_size, get_deconv_output_size, get_indice_pairs
from pymluops.torch.sparse._places import check_invariants
from pymluops.torch.sparse._pool import (
    SparseAvgPool,
    SparseAvgPool1d,
    SparseAvgPool2d,
    SparseAvgPool3d,
    SparseAvgPool4d,
    SparseGlobalAvgPool,
    SparseGlobalMaxPool,
    SparseMaxPool,
    SparseMaxPool1d,
    SparseMaxPool2d,
    SparseMaxPool3d,
    SparseMaxPool4d,
)
from pymluops.torch.sparse._pool_functions import indice_avgpool, indice_maxpool
from pymluops.torch.sparse._tensor import SparseConvTensor

__all__ = [
    "SparseAvgPool",
    "SparseAvgPool1d",
    "SparseAvgPool2d",
    "SparseAvgPool3d",
    "SparseAvgPool4d",
    "SparseConv1d",
    "SparseConv2d",
    "SparseConv3d",
    "SparseConv4d",
    "SparseConvTensor",
    "SparseConvTranspose1d",
    "SparseConvTranspose2d",
    "SparseConvTranspose3d",
    "SparseConvTranspose4d",
    "SparseConvolution",
    "SparseGlobalAvgPool",
    "SparseGlobalMaxPool",
    "SparseInverseConv1d",
    "SparseInverseConv2d",
    "SparseInverseConv3d",
    "SparseInverseConv4d",
    "SparseMaxPool",
    "SparseMaxPool1d",
    "SparseMaxPool2d",
    "SparseMaxPool3d",
    "SparseMaxPool4d",
    "SparseModule",
    "SparseSequential",
    "SubMConv1d",
    "SubMConv2d",
    "SubMConv3d",
    "SubMConv4d",
    "ToDense",
    "check_invariants",
    "filters_from_spconv",
    "filters_to_spconv",
    "get_conv_output_size",
    "get_deconv_output_size",
    "get_indice_pairs",
    "indice_avgpool",
    "indice_conv",
    "indice_inverse_conv",
    "indice_maxpool",
    "indice_subm_conv",
    "load_state_dict",
    "sparse_add",
    "sparse_cat",
    "sparse_collate",
]
