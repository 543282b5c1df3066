"""Copies, gathers and scatters: which bytes arrive where, by which route, and when."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.host_functions import KERNEL_TRAP
from kernels.intrinsics.intrinsic_calls import Run, succeed
from support.selection import examples

SOURCE = Path(__file__).with_name("copies.mlu")
EXAMPLES = 15
SEEDS = st.integers(0, 2**32 - 1)
ARCHS = (270, 372, 592)

# ---- Shapes --------------------------------------------------------------------------------------


@st.composite
def strides(draw: st.DrawFn, size: int, inner: int, outer: int, apart: bool) -> tuple[int, int]:
    """Of one side of a copy; pieces of a target lie apart."""
    least = size if apart else 0
    first = draw(st.integers(least, size + 40)) * draw(st.sampled_from([1, -1]))
    span = (inner - 1) * abs(first) + size
    second = draw(st.integers(span if apart else 0, span + 60)) * draw(st.sampled_from([1, -1]))
    return first, second


def places(first: int, second: int, inner: int, outer: int) -> np.ndarray:
    """Where pieces start, in the order in which they are copied; the lowest place is 0."""
    at = np.add.outer(np.arange(outer) * second, np.arange(inner) * first).reshape(-1)
    return at - at.min()


@st.composite
def copies(draw: st.DrawFn, dimensions: int) -> tuple[list[int], np.ndarray, np.ndarray, int]:
    """The numbers of a copy, the places of its pieces on both sides, the size of a piece."""
    size = draw(st.one_of(st.integers(1, 100), st.sampled_from([1, 2, 4, 8, 16, 64])))
    if dimensions == 1:
        return [1, size, *[0] * 8], np.zeros(1, int), np.zeros(1, int), size
    inner = draw(st.integers(1, 6))
    outer = draw(st.integers(1, 4)) if dimensions == 3 else 1
    to = draw(strides(size, inner, outer, True))
    if dimensions == 2:
        to = (abs(to[0]), 0)
        source = (draw(st.sampled_from([0, size, size + 3])), 0)
        numbers = [2, size, to[0], inner - 1, 0, 0, source[0], inner - 1, 0, 0]
        return numbers, places(*to, inner, 1), places(*source, inner, 1), size
    # The source may be cut into rows otherwise.
    swap = draw(st.booleans())
    rows = (outer, inner) if swap else (inner, outer)
    source = draw(strides(size, *rows, False))
    numbers = [3, size, to[0], inner - 1, to[1], outer - 1, source[0], rows[0] - 1, source[1], rows[1] - 1]
    return numbers, places(*to, inner, outer), places(*source, *rows), size


def expected_copy(dst: np.ndarray, src: np.ndarray, to: np.ndarray, source: np.ndarray, size: int) -> np.ndarray:
    result = dst.copy()
    for target, start in zip(to, source):
        result[target : target + size] = src[start : start + size]
    return result


@pytest.mark.sampled("dimensions", "async_")
@pytest.mark.parametrize("async_", [0, 1])
@pytest.mark.parametrize(("dimensions", "arch"), [(1, 270), (2, 270), (1, 372), (2, 372), (3, 372), (3, 592)])
def test_shapes(dimensions: int, arch: int, async_: int, run: Run) -> None:
    @examples(EXAMPLES)
    @given(copy=copies(dimensions), seed=SEEDS)
    def check(copy: tuple[list[int], np.ndarray, np.ndarray, int], seed: int) -> None:
        numbers, to, source, size = copy
        rng = np.random.default_rng(seed)
        dst = rng.integers(0, 255, to.max() + size + 5, np.uint8)
        src = rng.integers(0, 255, source.max() + size, np.uint8)
        expected = expected_copy(dst, src, to, source, size)
        # The first piece need not be the lowest.
        firsts = int(to[0]), int(source[0])
        succeed(run(arch, "load_run", dst, src, dst.nbytes, src.nbytes, *firsts, np.array(numbers, np.int32), async_))
        assert np.array_equal(dst, expected)

    check()


@pytest.mark.parametrize(
    ("form", "arch"), [(0, 270), (1, 270), (2, 270), (0, 372), (1, 372), (2, 372), (3, 372), (4, 372), (3, 592)]
)
def test_within_nram(form: int, arch: int, run: Run) -> None:
    linear = form == 4
    size, segments = 128, 1 if linear else 5
    dst_stride, src_stride = (0, 0) if linear else (192, 256)
    numbers = [1 if linear else 2, size, dst_stride, segments - 1, 0, 0, src_stride, segments - 1, 0, 0]
    rng = np.random.default_rng(form)
    dst, src = (rng.integers(0, 255, 2048, np.uint8) for _ in range(2))
    to, source = (places(stride, 0, segments, 1) for stride in (dst_stride, src_stride))
    expected = expected_copy(dst, src, to, source, size)
    succeed(run(arch, "within_run", dst, src, 2048, 2048, 0, 0, np.array(numbers, np.int32), form))
    assert np.array_equal(dst, expected)


# ---- Routes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("route", range(9))
def test_routes(route: int, arch: int, run: Run) -> None:
    src = np.random.default_rng(route).integers(0, 255, 1024, np.uint8)
    dst = np.zeros_like(src)
    succeed(run(arch, "route_run", dst, src, route))
    assert np.array_equal(dst, src)


@pytest.mark.parametrize(("form", "arch"), [(0, 372), (1, 372), (2, 372), (3, 372), (1, 592)])
def test_between_clusters(form: int, arch: int, run: Run) -> None:
    dst = np.zeros((2, 64), np.int32)
    succeed(run(arch, "around_the_clusters_run", dst, form))
    assert (dst == ([[1], [2]] if form == 0 else [[2], [1]])).all()


def test_data_is_not_there_before_the_sync(run: Run) -> None:
    src = np.arange(128, dtype=np.uint8)
    for arch in ARCHS:
        dst = np.zeros_like(src)
        succeed(run(arch, "too_early_run", dst, src, checks="none"))
        assert np.array_equal(dst, np.concatenate([src[64:], src[:64]]))
        found = run(arch, "too_early_run", dst, src).findings
        assert {finding.checker for finding in found} == {"race"}


def test_constants_and_arguments_can_be_copied(run: Run) -> None:
    dst = np.zeros(32, np.int32)
    succeed(run(372, "from_constants_run", dst))
    assert np.array_equal(dst, np.concatenate([np.arange(1, 17), np.arange(100, 116)]))


# ---- Gather and scatter --------------------------------------------------------------------------


@pytest.mark.sampled("scatter", "masked", "far", "form")
@pytest.mark.parametrize(
    ("scatter", "masked", "far", "form"),
    [
        *product([False, True], [False, True], ["nram", "gdram"], ["sync", "async"]),
        # __bang_gather_async has one form.
        (False, True, "gdram", "by name"),
    ],
)
def test_gather_and_scatter(scatter: bool, masked: bool, far: str, form: str, run: Run) -> None:
    arch = 592 if form == "by name" else 372

    @examples(EXAMPLES)
    @given(size=st.sampled_from([1, 2, 4, 7, 16, 64]), gap=st.integers(0, 5), count=st.integers(1, 30), seed=SEEDS)
    def check(size: int, gap: int, count: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        stride = size + gap
        near = rng.integers(0, 255, stride * count, np.uint8)
        distant = rng.integers(0, 255, 60 * size, np.uint8)
        slots = rng.permutation(60)[:count] if scatter else rng.integers(0, 60, count)
        offsets = (slots * size).astype(np.uint32)
        chosen = rng.random(count) < 0.6 if masked else np.ones(count, bool)
        bits = np.packbits(chosen, bitorder="little")
        wanted_near, wanted_far = near.copy(), distant.copy()
        for i in np.flatnonzero(chosen):
            close, there = slice(i * stride, i * stride + size), slice(offsets[i], offsets[i] + size)
            if scatter:
                wanted_far[there] = near[close]
            else:
                wanted_near[close] = distant[there]
        choice = [size, stride, count, int(masked), int(far == "gdram"), ["sync", "async", "by name"].index(form)]
        choice += [near.nbytes, distant.nbytes]
        succeed(run(arch, "gather_run", near, distant, offsets, bits, np.array(choice, np.int32), int(scatter)))
        assert np.array_equal(near, wanted_near)
        assert np.array_equal(distant, wanted_far)

    check()


# ---- Mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "arch", "rule"),
    [
        (0, 372, "memory/bad-argument"),
        (1, 372, "memory/negative-count"),
        (2, 372, "memory/bad-argument"),
        (3, 372, "memory/unsupported-direction"),
        (4, 372, "align/count"),
        (5, 372, "align/stride"),
        (6, 372, "align/overlap"),
        (7, 372, "align/address"),
        (8, 372, "align/size"),
        (8, 270, "align/size"),
        (9, 372, "memory/wrong-space"),
        (10, 372, "memory/bad-argument"),
        (11, 372, "memory/unsupported-direction"),
    ],
)
def test_mistakes(number: int, arch: int, rule: str, run: Run) -> None:
    outcome = run(arch, "wrong_run", number)
    assert outcome.code == KERNEL_TRAP
    assert {f"{finding.checker}/{finding.rule}" for finding in outcome.findings} == {rule}, outcome.report
    line = SOURCE.read_text(encoding="utf-8").splitlines()[outcome.findings[0].line - 1]
    assert "__memcpy" in line
