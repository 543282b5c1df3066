"""The functions of mmcv's extension for get_indice_pairs: values of every type, any strides, gradients."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from .gradcheck import check_gradient


@pytest.mark.parametrize(("subm", "inverse"), [(False, False), (True, False), (False, True)])
def test_gradients_of_indice_conv(torch: Any, ext: ModuleType, subm: bool, inverse: bool) -> None:
    rng = np.random.default_rng(5)
    places = np.unique(rng.integers(0, 4, (12, 4)) * [0, 1, 1, 1], axis=0).astype(np.int32)
    lists = [[4] * 3, [4] * 3, [3] * 3, [1] * 3, [1] * 3, [1] * 3, [0] * 3]
    found = ext.get_indice_pairs_3d_forward(torch.from_numpy(places), 1, *lists, int(subm), 0)
    read, written = (len(found[0]), len(places)) if inverse else (len(places), len(found[0]))
    flags = int(inverse), int(subm)

    def forward(features: Any, filters: Any) -> Any:
        return ext.indice_conv_forward(features, filters, found[1], found[2], written, *flags)

    def backward(grad: Any, features: Any, filters: Any) -> Any:
        return tuple(ext.indice_conv_backward(features, filters, grad, found[1], found[2], *flags))

    check_gradient(torch, forward, backward, rng.standard_normal((read, 2)), rng.standard_normal((3, 3, 3, 2, 2)))


def test_gradients_of_indice_maxpool(torch: Any, ext: ModuleType) -> None:
    rng = np.random.default_rng(6)
    places = np.unique(rng.integers(0, 4, (20, 4)) * [0, 1, 1, 1], axis=0).astype(np.int32)
    lists = [[2] * 3, [4] * 3, [2] * 3, [2] * 3, [0] * 3, [1] * 3, [0] * 3]
    out_indices, pairs, counts = ext.get_indice_pairs_3d_forward(torch.from_numpy(places), 1, *lists, 0, 0)

    def forward(features: Any) -> Any:
        return ext.indice_maxpool_forward(features, pairs, counts, len(out_indices))

    def backward(grad: Any, features: Any) -> Any:
        return ext.indice_maxpool_backward(features, forward(features), grad, pairs, counts)

    check_gradient(torch, forward, backward, rng.standard_normal((len(places), 3)))
