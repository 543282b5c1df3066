"""``spconv.pytorch.functional``: products and maxima as functions, sums of sparse tensors."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from pymluops.dropins.spconv import _ops
from pymluops.dropins.spconv._algorithms import ConvAlgo
from pymluops.dropins.spconv._tensor import rulebook
from pymluops.torch import sparse

__all__ = [
    "indice_avgpool",
    "indice_conv",
    "indice_inverse_conv",
    "indice_maxpool",
    "indice_subm_conv",
    "sparse_add",
    "sparse_add_hash_based",
]


def _convolution(inverse: bool, subm: bool) -> Any:
    def convolve(
        features: Tensor,
        filters: Tensor,
        indice_pairs: Tensor,
        indice_pair_num: Tensor,
        num_activate_out: int,
        algo: ConvAlgo = ConvAlgo.Native,
        timer: Any = None,
        bias: Tensor | None = None,
        act_alpha: float = 0.0,
        act_beta: float = 0.0,
        act_type: Any = None,
    ) -> Tensor:
        """Convolve rows by pairs; see `spconv.pytorch.ops.indice_conv`."""
        given = (features, filters, indice_pairs, indice_pair_num, num_activate_out)
        return _ops.indice_conv(*given, inverse, subm, algo, timer, bias, act_alpha, act_beta, act_type)

    return convolve


indice_conv = _convolution(inverse=False, subm=False)
indice_inverse_conv = _convolution(inverse=True, subm=False)
indice_subm_conv = _convolution(inverse=False, subm=True)
indice_maxpool = _ops.indice_maxpool


def indice_avgpool(features: Tensor, indice_pairs: Tensor, indice_pair_num: Tensor, num_activate_out: int) -> Tensor:
    """Take for each output row the mean of the rows that are paired with it."""
    return sparse.indice_avgpool(features, *rulebook(indice_pairs, indice_pair_num, False), num_activate_out)


def sparse_add(*tensors: Any) -> Any:
    """Add sparse tensors of the same space at the places of all of them, ascending by batch and place."""
    return sparse.sparse_add(*tensors)


def sparse_add_hash_based(*tensors: Any) -> Any:
    """Add sparse tensors as `sparse_add` does."""
    return sparse.sparse_add(*tensors)
