"""masked_im2col and masked_col2im."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import masked_conv as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, SUCCESS, Raw, Tensor
from support.comparison import assert_same_bits
from support.selection import examples

NCHW = 0
LEAST, MOST = -(2**31), 2**31 - 1

drawn = given(
    channels=st.integers(1, 40),
    size=st.tuples(st.integers(1, 7), st.integers(1, 7)),
    cells=st.integers(1, 20) | st.integers(500, 1100),
    kernel=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    padding=st.tuples(st.integers(-2, 3), st.integers(-2, 3)),
    dtype=st.sampled_from([np.float16, np.float32]),
    seed=st.integers(0, 2**32 - 1),
)


def cells_of(rng: np.random.Generator, count: int, size: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns on the map and beside it, in any order, some of them twice."""
    rows, columns = (rng.integers(-3, extent + 3, count).astype(np.int32) for extent in size)
    return rows, columns


@examples(80)
@drawn
def test_windows(
    channels: int, size: tuple[int, int], cells: int, kernel: Any, padding: Any, dtype: type, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    feature, places = any_bits(rng, (1, channels, *size), dtype), cells_of(rng, cells, size)
    found = pymluops.masked_im2col_forward(feature, *places, kernel, padding)
    assert_same_bits(found, oracle.im2col(feature, *places, kernel, padding))


@examples(80)
@drawn
def test_columns_to_cells(
    channels: int, size: tuple[int, int], cells: int, kernel: Any, padding: Any, dtype: type, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    col, places = any_bits(rng, (channels, cells), dtype), cells_of(rng, cells, size)
    assert_same_bits(pymluops.masked_col2im_forward(col, *places, size), oracle.col2im(col, *places, size))


#: Channels, size, kernel, padding, type; the cells are those of the dumped cases.
DUMPED_CELLS = np.int32([-4, -1, -1, -1, 3, 3, 2, 7, 7, 7]), np.int32([-4, -1, 1, 7, -1, 3, 7, -1, 4, 7])


@pytest.mark.parametrize(("kernel", "dtype"), [(4, np.float32), (14, np.float32), (4, np.float16)])
def test_dumped_windows(kernel: int, dtype: type) -> None:
    feature = np.random.default_rng(23).uniform(1, 10, (1, 8, 8, 8)).astype(dtype)
    found = pymluops.masked_im2col_forward(feature, *DUMPED_CELLS, kernel, 1)
    assert found.shape == (8 * kernel**2, 10)
    assert_same_bits(found, oracle.im2col(feature, *DUMPED_CELLS, (kernel, kernel), (1, 1)))


@pytest.mark.parametrize(("channels", "dtype"), [(10000, np.float32), (327681, np.float16)])
def test_dumped_columns(channels: int, dtype: type) -> None:
    rng = np.random.default_rng(23)
    col = rng.uniform(1, 10, (channels, 10)).astype(dtype)
    rows, columns = np.int32([0, 0, 1, 1, 2, 2, 5, 7, 7, 7]), np.int32([0, 2, 1, 5, 7, 8, 9, 3, 4, 7])
    found = pymluops.masked_col2im_forward(col, rows, columns, (11, 10))
    assert_same_bits(found, oracle.col2im(col, rows, columns, (11, 10)))


@pytest.mark.parametrize("kernel", [1, 3])
def test_shapes_of_networks(kernel: int) -> None:
    rng = np.random.default_rng(5)
    feature, cells = rng.normal(size=(1, 256, 20, 20)).astype(np.float32), rng.permutation(400)[:200]
    rows, columns = (cells // 20).astype(np.int32), (cells % 20).astype(np.int32)
    found = pymluops.masked_im2col_forward(feature, rows, columns, kernel, kernel // 2)
    assert found.shape == (256 * kernel**2, 200)
    assert_same_bits(found, oracle.im2col(feature, rows, columns, (kernel, kernel), (kernel // 2,) * 2))
    col = np.ascontiguousarray(found[:256])
    back = pymluops.masked_col2im_forward(col, rows, columns, (20, 20))
    assert_same_bits(back, oracle.col2im(col, rows, columns, (20, 20)))


def test_a_product_with_a_filter_is_a_convolution() -> None:
    rng = np.random.default_rng(6)
    feature, weight = rng.integers(-3, 4, (1, 2, 4, 5)).astype(np.float32), rng.integers(-3, 4, (3, 2, 3, 3))
    rows, columns = (one.ravel().astype(np.int32) for one in np.mgrid[:4, :5])
    products = weight.reshape(3, -1).astype(np.float32) @ pymluops.masked_im2col_forward(feature, rows, columns, 3, 1)
    padded = np.pad(feature[0], ((0, 0), (1, 1), (1, 1)))
    for y, x in np.ndindex(4, 5):
        wanted = (padded[None, :, y : y + 3, x : x + 3] * weight).sum((1, 2, 3))
        np.testing.assert_array_equal(products[:, y * 5 + x], wanted)


def test_the_last_column_of_a_cell_stays() -> None:
    col, zeros = np.arange(2000, dtype=np.float32).reshape(2, 1000), np.zeros(1000, np.int32)
    assert pymluops.masked_col2im_forward(col, zeros, zeros, (1, 2)).ravel().tolist() == [999, 0, 1999, 0]


@pytest.mark.parametrize("row", [LEAST, LEAST + 1, -1, 3, 2**16, MOST - 1, MOST])
@pytest.mark.parametrize("padding", [LEAST, -1, 0, MOST])
def test_places_far_away(row: int, padding: int) -> None:
    feature, rows, columns = np.ones((1, 3, 3, 3), np.float32), np.int32([row, 1]), np.int32([1, row])
    found = pymluops.masked_im2col_forward(feature, rows, columns, (2, 3), (padding, 0))
    assert_same_bits(found, oracle.im2col(feature, rows, columns, (2, 3), (padding, 0)))
    assert not pymluops.masked_col2im_forward(np.ones((3, 2), np.float32), rows, columns, (3, 3)).any()


def test_without_cells(raw: Raw) -> None:
    feature, none = np.ones((1, 2, 3, 4), np.float32), np.zeros(0, np.int32)
    assert pymluops.masked_im2col_forward(feature, none, none, 3, 1).shape == (18, 0)
    col = np.zeros((2, 0), np.float32)
    assert_same_bits(pymluops.masked_col2im_forward(col, none, none, (3, 4)), np.zeros_like(feature))
    # A workspace that is missing is not looked at, nor are the cells.
    im = canary(feature.shape, np.float32)
    missing = Tensor(col, address=0), Tensor(none, address=0), Tensor(none, address=0)
    assert raw.status("mluOpMaskedCol2imForward", *missing, 8, raw.ffi.NULL, Tensor(im, NCHW)) == SUCCESS, raw.reason()
    assert not im.any()


def test_no_workspace_is_needed(raw: Raw) -> None:
    feature, cells = np.ones((1, 2, 3, 4), np.float32), np.zeros(5, np.int32)
    for size in (0, 64):
        out = canary((2, 5), np.float32)
        numbers = 1, 1, 0, 0, raw.ffi.NULL, size
        status = raw.status(
            "mluOpMaskedIm2colForward", Tensor(feature, NCHW), Tensor(cells), Tensor(cells), *numbers, Tensor(out)
        )
        assert status == (BAD_PARAM if size else SUCCESS), raw.reason()
        assert is_canary(out) == bool(size)


@pytest.mark.parametrize("kernel", [(0, 1), (1, -1), (1, 2, 3), "33", 1.5])
def test_refused_kernels(kernel: Any) -> None:
    feature, cells = np.ones((1, 2, 3, 4), np.float32), np.zeros(5, np.int32)
    with pytest.raises((pymluops.BadParamError, TypeError), match="kernel_size"):
        pymluops.masked_im2col_forward(feature, cells, cells, kernel, 0)


def test_several_images_are_refused() -> None:
    feature, cells = np.ones((2, 2, 3, 4), np.float32), np.zeros(5, np.int32)
    with pytest.raises(pymluops.BadParamError, match="feature"):
        pymluops.masked_im2col_forward(feature, cells, cells, 1, 0)
