"""pymluops.torch.sparse.get_indice_pairs: pairs of 1 to 4 axes, transposed and dilated ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import general_indice_pairs as oracle
from support.selection import examples

torch = pytest.importorskip("torch")
sparse = pytest.importorskip("pymluops.torch.sparse")


@examples(300)
@given(data=st.data())
def test_any_geometry(data: st.DataObject) -> None:
    ndim = data.draw(st.integers(1, 4))

    def each(low: int, high: int) -> list[int]:
        return data.draw(st.lists(st.integers(low, high), min_size=ndim, max_size=ndim))

    subm, transpose = data.draw(st.sampled_from([(False, False), (True, False), (False, True)]))
    space, batch, kernel = each(1, 5), data.draw(st.integers(1, 3)), each(1, 3)
    window = oracle.Window(kernel, each(1, 3), each(0, 2), each(1, 2))
    extra = each(0, 1) if transpose else [0] * ndim
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    places = rng.permutation(batch * int(np.prod(space)))[:60]
    indices = np.stack(np.unravel_index(places, (batch, *space)), 1).astype(np.int32)
    used = window._replace(stride=[1] * ndim, padding=[k // 2 for k in kernel]) if subm else window
    if transpose:
        out = sparse.get_deconv_output_size(space, *used, extra)
    else:
        out = space if subm else sparse.get_conv_output_size(space, *used)
    call = (torch.from_numpy(indices), batch, space, *window, extra, subm, transpose)
    if min(out) < 1:
        with pytest.raises(ValueError, match=r"^get_indice_pairs: ksize: expected a filter that fits"):
            sparse.get_indice_pairs(*call)
        return
    expected = oracle.pairs(indices, used, out, subm, transpose)
    for got, wanted in zip(sparse.get_indice_pairs(*call), expected, strict=True):
        assert got.dtype == torch.int32
        np.testing.assert_array_equal(got.numpy(), wanted)


def test_repeated_rows_in_sub_manifold_mode_lead_to_the_first() -> None:
    indices = np.array([[0, 1, 1], [0, 0, 1], [0, 1, 1]], np.int32)
    window = oracle.Window([3, 3], [1, 1], [1, 1], [2, 2])
    expected = oracle.pairs(indices, window, [3, 3], True, False)
    found = sparse.get_indice_pairs(torch.from_numpy(indices), 1, [3, 3], 3, dilation=2, subm=True)
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got.numpy(), wanted)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("ndim", [1, 2, 3, 4])
def test_no_rows(ndim: int, transpose: bool) -> None:
    nothing = torch.zeros((0, 1 + ndim), dtype=torch.int32)
    out, pairs, num = sparse.get_indice_pairs(nothing, 2, [5] * ndim, 3, 2, 1, transpose=transpose)
    assert (out.shape, pairs.shape, num.shape) == ((0, 1 + ndim), (3**ndim, 2, 0), (3**ndim,))
    assert not num.any()


@pytest.mark.parametrize("changes", [{}, {"transpose": True}, {"subm": True, "dilation": 2}])
@pytest.mark.parametrize("row", [[2, 0, 0], [-1, 0, 0], [0, 5, 0], [0, 0, -1]])
def test_places_outside_are_refused(row: list[int], changes: dict[str, Any]) -> None:
    indices = torch.tensor([[0, 0, 0], row], dtype=torch.int32)
    with pytest.raises(pymluops.BadParamError, match=r"at row 1"):
        sparse.get_indice_pairs(indices, 2, [5, 5], 3, 2 if "subm" not in changes else 1, 1, **changes)


@pytest.mark.parametrize(
    ("indices", "arguments", "told"),
    [
        (torch.zeros(3, dtype=torch.int32), {}, "indices"),
        (torch.zeros((3, 6), dtype=torch.int32), {}, "indices"),
        (torch.zeros((3, 1), dtype=torch.int32), {}, "indices"),
        (torch.zeros((3, 3), dtype=torch.int32), {"spatial_shape": [5]}, "spatial_shape"),
        (torch.zeros((3, 3), dtype=torch.int32), {"ksize": 0}, "ksize"),
        (torch.zeros((3, 3), dtype=torch.int32), {"stride": [1, 0]}, "stride"),
        (torch.zeros((3, 3), dtype=torch.int32), {"padding": -1}, "padding"),
        (torch.zeros((3, 3), dtype=torch.int32), {"dilation": [1, 1, 1]}, "dilation"),
        (torch.zeros((3, 3), dtype=torch.int32), {"ksize": 6}, "ksize"),
        (torch.zeros((1, 3), dtype=torch.int32), {"batch_size": 0, "transpose": True}, "batch_size"),
    ],
)
def test_wrong_arguments(indices: torch.Tensor, arguments: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=rf"^get_indice_pairs: {told}: expected"):
        sparse.get_indice_pairs(indices, **{"batch_size": 1, "spatial_shape": [5, 5], **arguments})
