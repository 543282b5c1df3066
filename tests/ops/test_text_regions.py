"""contour_expand and pixel_group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import text_regions as oracle
from support.selection import examples

drawn = given(
    height=st.integers(1, 20),
    width=st.integers(1, 20),
    count=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
)


@examples(60)
@drawn
def test_kernels_that_grow_in_a_mask(height: int, width: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    masks = rng.random((rng.integers(1, 4), height, width)) < 0.7
    labels, least = oracle.kernels(rng, height, width, count), int(rng.integers(-1, 5))
    found = pymluops.contour_expand(masks, labels, least, count)
    assert found.dtype == np.int32
    np.testing.assert_array_equal(found, oracle.expand(masks, labels, least, count))


@examples(60)
@drawn
def test_kernels_that_grow_by_embeddings(height: int, width: int, count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    score, embedding = rng.random((height, width), np.float32), rng.normal(size=(height, width, rng.integers(1, 5)))
    embedding = embedding.astype(np.float32)
    embedding[rng.random(embedding.shape) < 0.01] = np.nan
    mask, contour = (rng.random((height, width)) < part for part in (0.8, 0.6))
    labels = oracle.kernels(rng, height, width, count)
    arguments = score, mask, embedding, labels, contour, count, float(rng.uniform(0.3, 3))
    for found, wanted in zip(pymluops.pixel_group(*arguments), oracle.group(*arguments), strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def test_values_that_mmcv_expects() -> None:
    masks = np.zeros((3, 10, 10), bool)
    masks[:, 3:7, 2:9] = True
    labels = np.zeros((10, 10), np.int32)
    labels[3:7, 2:4], labels[3:7, 8] = 1, 2
    wanted = np.zeros((10, 10), np.int32)
    wanted[3:7] = [0, 0, 1, 1, 1, 1, 2, 2, 2, 0]
    assert pymluops.contour_expand(masks, labels, 1, 4).tolist() == wanted.tolist()
    assert pymluops.contour_expand(masks[:1].copy(), labels, 1, 4).tolist() == labels.tolist()  # one mask: no growth
    small = pymluops.contour_expand(masks, labels, 5, 4)
    assert set(small.ravel().tolist()) == {0, 1}


def test_large_maps() -> None:
    rng = np.random.default_rng(4)
    masks = rng.random((2, 150, 170)) < 0.8
    labels = oracle.kernels(rng, 150, 170, 30)
    np.testing.assert_array_equal(pymluops.contour_expand(masks, labels, 2, 30), oracle.expand(masks, labels, 2, 30))


def test_labels_that_are_none() -> None:
    masks, labels = np.ones((2, 1, 4), bool), np.int32([[7, 1, 0, -3]])
    with pytest.raises(pymluops.BadParamError, match=r"contour_expand: internal_kernel_label: .*7"):
        pymluops.contour_expand(masks, labels, 0, 3)
    assert pymluops.contour_expand(masks, labels, 0, 3, validate=False).tolist() == [[1, 1, 1, 1]]
    score, embedding = np.ones((1, 4), np.float32), np.zeros((1, 4, 1), np.float32)
    found = pymluops.pixel_group(score, masks[0], embedding, labels, masks[1], 3, 1.0, validate=False)
    assert [one.tolist() for one in found] == [[[1, 1, 1, 1]], [0, 1, 0], [0, 4, 0]]


def test_empty_and_refused() -> None:
    assert pymluops.contour_expand(np.ones((2, 0, 4), bool), np.ones((0, 4), np.int32), 0, 3).shape == (0, 4)
    masks, labels = np.ones((2, 3, 4), bool), np.zeros((3, 4), np.int32)
    for arguments, text in (
        ((masks[:0], labels, 0, 3), "kernel_mask: "),
        ((masks.astype(np.uint8), labels, 0, 3), "kernel_mask: "),
        ((masks, labels[:2].copy(), 0, 3), "internal_kernel_label: "),
        ((masks, labels, 0, 0), "label_count: "),
    ):
        with pytest.raises(pymluops.BadParamError, match=f"contour_expand: {text}"):
            pymluops.contour_expand(*arguments)
