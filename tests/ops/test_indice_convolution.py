"""indice_convolution forward and backward: values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import indice_convolution as oracle
from support.arrays import canary
from support.c_calls import ARRAY, SUCCESS, Raw
from support.comparison import assert_close, assert_same_bits
from support.rulebooks import Rulebook, in_layout, products, random_rulebook
from support.selection import examples

DTYPES = ("float16", "float32")
both_dtypes = pytest.mark.parametrize("dtype", DTYPES)


def convolve(features: np.ndarray, filters: np.ndarray, book: Rulebook, rows: int) -> np.ndarray:
    return pymluops.indice_convolution_forward(features, filters, book.pairs, book.num, rows)


def assert_all_directions(
    rng: np.random.Generator, book: Rulebook, rows: int, kernel: tuple[int, ...], channels: tuple[int, int], dtype: str
) -> None:
    """Compares the three operators with the oracle on random values."""
    length = book.pairs.shape[2]
    features = rng.normal(0, 1, (length, channels[0])).astype(dtype)
    filters = rng.normal(0, 1, (*kernel, *channels)).astype(dtype)
    grad = rng.normal(0, 1, (rows, channels[1])).astype(dtype)
    assert_close(convolve(features, filters, book, rows), oracle.forward(features, filters, *book, rows))
    if len(grad) >= book.num.max(initial=0):
        found = pymluops.indice_convolution_backward_data(grad, filters, *book)
        assert_close(found, oracle.backward_data(grad, filters, *book, length))
    found = pymluops.indice_convolution_backward_filter(features, grad, *book, kernel)
    assert_close(found, oracle.backward_filter(features, grad, *book).reshape(filters.shape))


# ---- values --------------------------------------------------------------------------------------


@both_dtypes
@pytest.mark.parametrize("channels", [(1, 1), (4, 16), (16, 32), (64, 64), (7, 5), (33, 47), (3, 100), (128, 17)])
def test_numbers_of_channels(dtype: str, channels: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    book = random_rulebook(rng, 27, 150, 120)
    assert_all_directions(rng, book, 120, (3, 3, 3), channels, dtype)


@both_dtypes
@pytest.mark.parametrize("subm", [False, True])
def test_rulebooks_of_voxels(dtype: str, subm: bool) -> None:
    rng = np.random.default_rng(7)
    places = rng.permutation(2 * 9 * 10 * 11)[:700]
    voxels = np.stack(np.unravel_index(places, (2, 9, 10, 11)), 1).astype(np.int32)
    stride = 1 if subm else 2
    found = pymluops.get_indice_pairs(
        voxels, batch_size=2, spatial_shape=(9, 10, 11), kernel_size=3, stride=stride, padding=1, subm=subm
    )
    book = Rulebook(found.indice_pairs, found.indice_num.astype(np.int64))
    assert_all_directions(rng, book, len(found.out_indices), (3, 3, 3), (16, 24), dtype)


@both_dtypes
@examples(200)
@given(
    kernel=st.tuples(*[st.integers(1, 3)] * 3),
    length=st.integers(1, 90),
    rows=st.integers(1, 90),
    channels=st.tuples(st.integers(1, 40), st.integers(1, 40)),
    repeats=st.booleans(),
    ascending=st.sampled_from((None, 0, 1)),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_rulebook(
    dtype: str,
    kernel: tuple[int, ...],
    length: int,
    rows: int,
    channels: tuple[int, int],
    repeats: bool,
    ascending: int | None,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    book = random_rulebook(rng, int(np.prod(kernel)), length, rows, repeats, ascending)
    assert_all_directions(rng, book, rows, kernel, channels, dtype)


def assert_exact(rng: np.random.Generator, book: Rulebook, rows: int) -> None:
    """Compares the three operators with the oracle on small integers, whose sums are exact in any order."""
    cells, _, length = book.pairs.shape
    features = rng.integers(-3, 4, (length, 2)).astype(np.float32)
    filters = rng.integers(-3, 4, (1, 1, cells, 2, 3)).astype(np.float32)
    grad = rng.integers(-3, 4, (rows, 3)).astype(np.float32)
    np.testing.assert_array_equal(
        convolve(features, filters, book, rows), oracle.forward(features, filters, *book, rows)
    )
    np.testing.assert_array_equal(
        pymluops.indice_convolution_backward_data(grad, filters, *book),
        oracle.backward_data(grad, filters, *book, length),
    )
    np.testing.assert_array_equal(
        pymluops.indice_convolution_backward_filter(features, grad, *book, (1, 1, cells))[0, 0],
        oracle.backward_filter(features, grad, *book),
    )


@pytest.mark.parametrize("ascending", [None, 0, 1])
def test_many_rows_and_segments(ascending: int | None) -> None:
    rng = np.random.default_rng(11)
    assert_exact(rng, random_rulebook(rng, 3, 40_000, 30_000, ascending=ascending), 30_000)


def test_most_blocks_have_no_pairs() -> None:
    pairs = np.array([[[5, 6, 9000], [17, 9_000, 29_999]], [[0, 9_999, 1], [0, 1, 2]]], np.int32)
    pairs = np.concatenate([pairs, np.full((2, 2, 10_000 - 3), -1, np.int32)], 2)
    assert_exact(np.random.default_rng(1), Rulebook(pairs, np.array([3, 0])), 30_000)
    assert_exact(np.random.default_rng(1), Rulebook(pairs, np.array([0, 1])), 30_000)


# Ends of the pieces and segments that are looked at together, and what is beside them.
PLACES = (0, 1, 1022, 1023, 1024, 8191, 8192, 8193, 16383, 16384, 19998)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("change", ["exchange", "repeat", "repeat the one before all"])
def test_pairs_that_ascend_but_for_one(place: int, change: str) -> None:
    rng = np.random.default_rng(place)
    side = np.arange(20_000, dtype=np.int32)
    if change == "exchange":
        side[[place, place + 1]] = side[[place + 1, place]]
    else:
        side[place + 1] = side[place if change == "repeat" else 0]
    pairs = np.stack([np.stack([side, rng.permutation(20_000)]), np.stack([rng.permutation(20_000), side])])
    assert_exact(rng, Rulebook(pairs.astype(np.int32), np.array([20_000, 20_000])), 20_000)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("place", [*PLACES, 19999])
@pytest.mark.parametrize("row", [-1, 20_000, 2**31 - 1, -(2**31)])
def test_one_wrong_row_among_ascending_ones(side: int, place: int, row: int) -> None:
    pairs = np.arange(20_000, dtype=np.int32)[None, None].repeat(2, 0).repeat(2, 1)
    pairs[1, side, place] = row
    book, values = Rulebook(pairs, np.array([20_000, 20_000])), np.ones((20_000, 1), np.float32)
    filters = np.ones((1, 1, 2, 1, 1), np.float32)
    for call in (
        lambda: convolve(values, filters, book, 20_000),
        lambda: pymluops.indice_convolution_backward_data(values, filters, *book),
        lambda: pymluops.indice_convolution_backward_filter(values, values, *book, (1, 1, 2)),
    ):
        with pytest.raises(pymluops.BadParamError, match=rf"got {row} at \[1, {side}, {place}\]"):
            call()


def test_sums_are_chains_of_multiply_adds() -> None:
    rng = np.random.default_rng(5)
    book = random_rulebook(rng, 9, 60, 50)
    features = rng.normal(0, 1, (60, 21)).astype(np.float32)
    filters = rng.normal(0, 1, (1, 3, 3, 21, 18)).astype(np.float32)
    expected = oracle.chained(features, filters.reshape(9, 21, 18), *book, 50, 0)
    assert_same_bits(convolve(features, filters, book, 50), expected)
    grad = rng.normal(0, 1, (50, 18)).astype(np.float32)
    cells = filters.reshape(9, 21, 18).transpose(0, 2, 1)
    expected = oracle.chained(grad, cells, *book, 60, 1)
    if (book.num <= 50).all():
        assert_same_bits(pymluops.indice_convolution_backward_data(grad, filters, *book), expected)


def test_half_is_rounded_once() -> None:
    # 2048 + 1 is no half: rounded after each addition the sum would stay 2048.
    features = np.array([[2048], [1], [1]], np.float16)
    pairs = np.array([[[0, 1, 2], [0, 0, 0]]], np.int32)
    found = convolve(features, np.ones((1, 1, 1, 1, 1), np.float16), Rulebook(pairs, np.array([3])), 1)
    assert found.tolist() == [[2050]]


def test_the_same_row_twice_adds_twice() -> None:
    features = np.arange(1, 41, dtype=np.float32)[:, None]
    pairs = np.stack([np.arange(40), np.zeros(40)]).astype(np.int32)[None]
    found = convolve(features, np.full((1, 1, 1, 1, 20), 2, np.float32), Rulebook(pairs, np.array([40])), 3)
    assert found.tolist() == [[1640] * 20, [0] * 20, [0] * 20]


def test_nan_and_infinity_stay_in_their_rows() -> None:
    features = np.array([[np.nan, 1], [np.inf, 1], [2, 3]], np.float32)
    filters = np.ones((1, 1, 1, 2, 2), np.float32)
    pairs = np.array([[[0, 1, 2], [2, 1, 0]]], np.int32)
    found = convolve(features, filters, Rulebook(pairs, np.array([3])), 4)
    np.testing.assert_array_equal(found, [[5, 5], [np.inf, np.inf], [np.nan, np.nan], [0, 0]])


@pytest.mark.parametrize("layout", [3, 5, ARRAY])
def test_layouts_of_forward(raw: Raw, layout: int) -> None:
    rng = np.random.default_rng(1)
    book = random_rulebook(rng, 12, 30, 30)
    features, filters = rng.normal(0, 1, (30, 5)), rng.normal(0, 1, (2, 3, 2, 5, 21))
    arrays = {"features": features.astype(np.float32), "filters": in_layout(filters.astype(np.float32), layout)}
    arrays.update(indice_pairs=book.pairs, features_out=canary((30, 21), "float32"))
    arrays.update(output_grad=arrays["features_out"], input_grad=arrays["features"], filters_grad=arrays["filters"])
    product = products(raw, arrays, book.num)["Forward"]
    product.layouts["filters"] = layout
    assert product.status() == SUCCESS, raw.reason()
    assert_close(arrays["features_out"], oracle.forward(features, filters, *book, 30))


@pytest.mark.parametrize(("layout", "rank"), [(0, 4), (1, 4), (2, 4), (3, 5), (5, 5), (ARRAY, 4), (ARRAY, 5)])
def test_layouts_of_backward_data(raw: Raw, layout: int, rank: int) -> None:
    rng = np.random.default_rng(1)
    book = random_rulebook(rng, 6, 30, 30)
    space = (1, 3, 2)[5 - rank :]
    filters, grad = rng.normal(0, 1, (*space, 5, 21)), rng.normal(0, 1, (30, 21))
    arrays = {"filters": in_layout(filters.astype(np.float32), layout), "output_grad": grad.astype(np.float32)}
    arrays.update(indice_pairs=book.pairs, input_grad=canary((30, 5), "float32"))
    arrays.update(features=arrays["input_grad"], features_out=arrays["output_grad"], filters_grad=arrays["filters"])
    product = products(raw, arrays, book.num)["BackwardData"]
    product.layouts["filters"] = layout
    assert product.status() == SUCCESS, raw.reason()
    assert_close(arrays["input_grad"], oracle.backward_data(grad, filters, *book, 30))


def test_a_filter_gradient_of_4_dims(raw: Raw) -> None:
    rng = np.random.default_rng(1)
    book = random_rulebook(rng, 6, 30, 30)
    arrays = {name: rng.normal(0, 1, (30, 4)).astype(np.float32) for name in ("features", "output_grad")}
    arrays.update(indice_pairs=book.pairs, filters_grad=canary((3, 2, 4, 4), "float32"))
    arrays.update(features_out=arrays["output_grad"], filters=arrays["filters_grad"], input_grad=arrays["features"])
    assert products(raw, arrays, book.num)["BackwardFilter"].status() == SUCCESS, raw.reason()
    expected = oracle.backward_filter(arrays["features"], arrays["output_grad"], *book)
    assert_close(arrays["filters_grad"].reshape(6, 4, 4), expected)


# ---- zero sizes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("length", "rows", "ci", "co", "kernel"),
    [(0, 4, 2, 3, (1, 1, 3)), (5, 0, 2, 3, (1, 1, 3)), (5, 4, 0, 3, (1, 1, 3)), (5, 4, 2, 0, (1, 1, 3)),
     (5, 4, 2, 3, (0, 1, 3))],
)  # fmt: skip
def test_nothing_gives_zeros(length: int, rows: int, ci: int, co: int, kernel: tuple[int, int, int]) -> None:
    cells = int(np.prod(kernel))
    book = Rulebook(np.full((cells, 2, length), -1, np.int32), np.zeros(cells, np.int64))
    features, filters = np.ones((length, ci), np.float32), np.ones((*kernel, ci, co), np.float32)
    grad = np.ones((rows, co), np.float32)
    for found, shape in (
        (convolve(features, filters, book, rows), (rows, co)),
        (pymluops.indice_convolution_backward_data(grad, filters, *book), (length, ci)),
        (pymluops.indice_convolution_backward_filter(features, grad, *book, kernel), filters.shape),
    ):
        assert found.shape == shape
        assert (found == 0).all()


def test_no_pairs_give_zeros() -> None:
    book = Rulebook(np.full((27, 2, 6), 12345, np.int32), np.zeros(27, np.int64))
    features, filters = np.ones((6, 2), np.float32), np.ones((3, 3, 3, 2, 3), np.float32)
    assert (convolve(features, filters, book, 4) == 0).all()
    assert (pymluops.indice_convolution_backward_data(np.ones((4, 3), np.float32), filters, *book) == 0).all()
    found = pymluops.indice_convolution_backward_filter(features, np.ones((4, 3), np.float32), *book, 3)
    assert (found == 0).all()
