"""What the kernels of the puzzles are to compute."""

from pathlib import Path

import numpy as np
import pytest

from pymluops.bang.testing import assert_close, random_shape

FOLDER = Path(__file__).parent


def solve(mlu, puzzle, kernel, launch, *arguments):
    """Compile a puzzle and run its kernel: the checkers watch, and what they find fails the test."""
    mlu.compile(FOLDER / f"{puzzle}.mlu").kernel(kernel)[launch](*arguments)


def test_01_number(mlu):
    out = np.full(8, -1, np.int32)
    solve(mlu, "01_number", "number", 8, out)
    assert out.tolist() == [0, 10, 20, 30, 40, 50, 60, 70]


def test_02_copy(mlu, mlu_rng):
    x = mlu_rng.standard_normal(4 * 64, dtype=np.float32)
    out = np.zeros_like(x)
    solve(mlu, "02_copy", "copy", 4, x, out)
    assert_close(out, x, diff3_2=0)


def test_03_scale(mlu, mlu_rng):
    x = mlu_rng.standard_normal(4 * 64, dtype=np.float32)
    out = np.zeros_like(x)
    solve(mlu, "03_scale", "scale", 4, x, 2.5, out)
    assert_close(out, x * np.float32(2.5), diff3_2=0)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
def test_04_tail(mlu, mlu_rng, n):
    x = mlu_rng.standard_normal(n, dtype=np.float32)
    out = np.zeros_like(x)
    solve(mlu, "04_tail", "tail", 4, x, out, n)
    assert_close(out, x + x, diff3_2=0)


def test_05_bias(mlu, mlu_rng):
    (rows,) = random_shape(mlu_rng, (1, 32))
    x = mlu_rng.standard_normal((rows, 64), dtype=np.float32)
    bias = mlu_rng.standard_normal(64, dtype=np.float32)
    out = np.zeros_like(x)
    solve(mlu, "05_bias", "bias", 1, x, bias, out, rows)
    assert_close(out, x + bias, diff3_2=0)


def test_06_column(mlu, mlu_rng):
    x = mlu_rng.standard_normal((64, 8), dtype=np.float32)
    out = np.zeros((8, 64), np.float32)
    solve(mlu, "06_column", "column_to_row", 8, x, out, 8)
    assert_close(out, x.T, diff3_2=0)


def test_07_dot(mlu, mlu_rng):
    x, y = mlu_rng.standard_normal((2, 8, 256), dtype=np.float32)
    out = np.zeros(8, np.float32)
    solve(mlu, "07_dot", "dot", 8, x, y, out)
    assert_close(out, (x * y).sum(1), diff1=1e-5, diff2=1e-5)


def test_08_neighbour(mlu, mlu_rng):
    x = mlu_rng.standard_normal((8, 64), dtype=np.float32)
    out = np.zeros_like(x)
    solve(mlu, "08_neighbour", "neighbour", (8, "union1"), x, out)
    assert_close(out, np.concatenate([np.roll(x[:4], 1, 0), np.roll(x[4:], 1, 0)]), diff3_2=0)


def test_09_histogram(mlu, mlu_rng):
    x = mlu_rng.integers(0, 10, 8 * 64, dtype=np.int32)
    counts = np.zeros(10, np.int32)
    solve(mlu, "09_histogram", "histogram", 8, x, counts)
    assert counts.tolist() == np.bincount(x, minlength=10).tolist()


@pytest.mark.parametrize("pieces", [1, 2, 5])
def test_10_pipeline(mlu, mlu_rng, pieces):
    x = mlu_rng.standard_normal(pieces * 256, dtype=np.float32)
    out = np.zeros_like(x)
    solve(mlu, "10_pipeline", "pipeline", 1, x, out, pieces)
    assert_close(out, x * x, diff3_2=0)


def test_11_transpose(mlu, mlu_rng):
    x = mlu_rng.standard_normal((4, 32, 64)).astype(np.float16)
    out = np.zeros((4, 64, 32), np.float16)
    solve(mlu, "11_transpose", "transpose", 4, x, out)
    assert_close(out, x.transpose(0, 2, 1), diff3_2=0)


def test_12_softmax(mlu, mlu_rng):
    x = mlu_rng.standard_normal((6, 128), dtype=np.float32) * 20
    out = np.zeros_like(x)
    solve(mlu, "12_softmax", "softmax", 6, x, out)
    e = np.exp(x - x.max(1, keepdims=True))
    assert_close(out, e / e.sum(1, keepdims=True), diff1=1e-5, diff2=1e-5)
