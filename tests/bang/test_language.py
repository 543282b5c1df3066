"""What kernels write without calling an intrinsic, and how intrinsics treat operands that lie over each other."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pymluops
from pymluops import bang, sim


def test_min_and_max_need_no_namespace() -> None:
    """What a source declares by these names goes before those of the device."""
    module = bang.compile("""
namespace own {
template <typename T> __mlu_func__ T min(T a, T b) { return a - b; }
__mlu_func__ int best(int a) { return min(a, 1); }
}
__mlu_func__ int max(int a, int b) { return 100 + a + b; }
template <typename T> __mlu_func__ T min(const T &a, const T &b) { return a < b ? a : b; }
__mlu_entry__ void f(float *x, half *h, int n) {
  x[0] = min(n, 2) + max(1, 2);
  x[1] = max(h[0], h[1]);
  x[2] = min(2.5f, n);
  x[3] = own::best(7);
  x[4] = std::max(x[1], 9.f) + max(1u, 2u);
}
""")
    out = np.zeros(5, np.float32)
    module.kernel("f")[1](out, np.array([3, -4], np.float16), 5)
    assert out.tolist() == [105, 3, 2.5, 6, 11]


def test_bfloat16_counts_like_other_numbers() -> None:
    module = bang.compile("""
template <typename T> __mlu_func__ T total(const T *x, int n) {
  T sum = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] > T(1.5) && x[i] * 2 < 100) sum += x[i];
  }
  return n > 1 ? sum / n : sum;
}
__mlu_entry__ void f(bfloat16_t *x, float *out, int n) {
  out[0] = total(x, n);
  x[0] = -INFINITY;
  x[1] *= 3;
  x[2] = __float2bfloat16_rn(x[3] + 0.25f) - 1;
  out[1] = __bfloat162float(x[1]);
}
""")
    x, out = np.array([1, 2, 3, 60], ml_dtypes.bfloat16), np.zeros(2, np.float32)
    module.kernel("f")[1](x, out, 4)
    assert out.tolist() == [1.25, 6]
    assert x.astype(np.float32).tolist() == [-np.inf, 6, 59.25, 60]


def test_longer_results_over_their_source() -> None:
    module = bang.compile("""
__nram__ char buffer[512];
__mlu_entry__ void widen(const char *x, bfloat16_t *out, int shift) {
  __memcpy(buffer + shift, x, 256, GDRAM2NRAM);
  __bang_int82bfloat16((bfloat16_t *)buffer, (signed char *)buffer + shift, 256, 0);
  __memcpy(out, buffer, 512, NRAM2GDRAM);
}
""")
    x, out = np.arange(-128, 128, dtype=np.int8), np.zeros(256, ml_dtypes.bfloat16)
    for shift in (0, 100, 256):
        with sim.checking("all"):
            module.kernel("widen")[1](x, out, shift)
        np.testing.assert_array_equal(out, x.astype(ml_dtypes.bfloat16))


def test_bfloat16_fills_as_many_bytes_as_it_has() -> None:
    module = bang.compile("""
__nram__ bfloat16_t x[64];
__mlu_entry__ void fill(bfloat16_t *out, bfloat16_t value) {
  __bang_write_zero(x, 64);
  __bang_write_value(x, 8, value);
  __memset_nram(x + 8, 8, value);
  __memcpy(out, x, sizeof(x), NRAM2GDRAM);
}
""")
    out = np.zeros(64, ml_dtypes.bfloat16)
    with sim.checking("all"):
        module.kernel("fill")[1](out, 1.5)
    assert out.astype(np.float32).tolist() == [1.5] * 16 + [0] * 48


def test_gathers_by_short_offsets() -> None:
    module = bang.compile("""
__nram__ unsigned char bytes[64], bits[8];
__nram__ unsigned short words[64];
__nram__ float a[64], b[64];
__mlu_entry__ void move(const float *x, float *out) {
  for (int i = 0; i < 64; i++) bytes[i] = 4 * (63 - i), words[i] = 8 * i;
  for (int i = 0; i < 8; i++) bits[i] = 0x55;
  __gather(a, x, bytes, 4, GDRAM2NRAM, 4, 64);
  __scatter(out, a, words, 4, NRAM2GDRAM, 4, 64);
  __bang_write_zero(b, 64);
  __sync_compute();
  __gather_async(b, x, words, bits, 4, GDRAM2NRAM, 4, 32);
  __sync();
  __memcpy(out + 128, b, 256, NRAM2GDRAM);
}
""")
    x, out = np.arange(1, 65, dtype=np.float32), np.zeros(192, np.float32)
    with sim.checking("all"):
        module.kernel("move")[1](x, out)
    np.testing.assert_array_equal(out[:128:2], x[::-1])
    np.testing.assert_array_equal(out[128:160], np.where(np.arange(32) % 2 == 0, x[::2], 0))
    assert not out[1:128:2].any()
    assert not out[160:].any()


RETURNS_OBJECTS = """
struct Pair { float a, b; };
struct Wide { float v[6]; };
struct Complex {
  float re, im;
  __mlu_func__ Complex operator*(const Complex &o) const { return {re * o.re - im * o.im, re * o.im + im * o.re}; }
  __mlu_func__ Complex operator()(int turns) const { return turns == 0 ? *this : (*this)(turns - 1); }
};
__mlu_func__ Pair pair_of(float x) { return Pair{x, 2 * x}; }
template <typename T> __mlu_func__ Wide wide_of(T x) {
  Wide wide;
  for (int i = 0; i < 6; ++i) wide.v[i] = x + i;
  return wide;
}
__mlu_func__ Pair after(float x, int steps) { return steps == 0 ? pair_of(x) : after(x + 1, steps - 1); }
__nram__ Pair pairs[32];
__nram__ Wide wides[8];
__nram__ bfloat16_t narrow[64];
__mlu_entry__ void f(float *sum, Complex *numbers, bfloat16_t *out) {
  for (int i = 0; i < 32; ++i) pairs[i] = pair_of(i);
  for (int i = 0; i < 8; ++i) wides[i] = wide_of(i);
  for (int i = 0; i < 64; i += 2) narrow[i] = bfloat16_t((float)i) + bfloat16_t(1.0f);
  for (int i = 1; i < 64; i += 2) narrow[i] = __float2bfloat16_rn((float)i);
  const Pair last = after(0, 3);
  float total = last.b;
  for (int i = 0; i < 32; ++i) total += pairs[i].a + pairs[i].b;
  for (int i = 0; i < 8; ++i) total += wides[i].v[5];
  sum[0] = total;
  for (int i = 0; i < 8; ++i) numbers[i] = numbers[i] * numbers[i](1);
  __memcpy(out, narrow, sizeof narrow, NRAM2GDRAM);
}
"""


@pytest.mark.parametrize("options", [(), ("-O0",), ("-Og",)])
def test_results_that_are_objects_are_stores_like_others(options: tuple[str, ...]) -> None:
    module = bang.compile(RETURNS_OBJECTS, options=options)
    total, numbers, out = np.zeros(1, np.float32), np.ones(16, np.float32), np.zeros(64, ml_dtypes.bfloat16)
    with sim.checking("all"):
        module.kernel("f")[1](total, numbers, out)
    assert total[0] == 6 + sum(3 * i for i in range(32)) + sum(i + 5 for i in range(8))
    assert numbers.tolist() == [0, 2] * 8
    assert out.astype(int).tolist() == [i if i % 2 else i + 1 for i in range(64)]


@pytest.mark.parametrize("options", [(), ("-O0",)])
def test_functions_of_the_c_library_store_like_kernels(options: tuple[str, ...]) -> None:
    module = bang.compile(
        """
#include <cstring>
#include <string.h>
#include <vector>
struct Row { float v[6]; };
__nram__ float a[64], b[64];
__nram__ Row rows[4];
__mlu_entry__ void f(float *out, const float *in, int n) {
  memset(a, 0, sizeof a);
  std::memcpy(b, in, n * sizeof(float));
  memmove(a, b + 8, 32);
  const Row row = {};
  memcpy(&rows[0], &row, sizeof(Row));
  std::memset(rows + 1, 0, 3 * sizeof(Row));
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += a[i] + b[i];
  for (int i = 0; i < 24; ++i) sum += rows[i / 6].v[i % 6];
  int bits;
  memcpy(&bits, &sum, sizeof bits);
  memcpy(&sum, &bits, sizeof bits);
  out[0] = sum;
  memcpy(out + 1, b, 24);
}
__mlu_entry__ void before(float *out) {
  float sums[6];
  memcpy(sums, a, sizeof sums);
  out[0] = sums[5];
}
""",
        options=options,
    )
    out = np.zeros(7, np.float32)
    with sim.checking("all"):
        module.kernel("f")[1](out, np.arange(64, dtype=np.float32), 64)
        with pytest.raises(pymluops.ExecutionFailedError, match="scalar load reads undefined bytes: 24 bytes"):
            module.kernel("before")[1](out)
    assert out.tolist() == [sum(range(8, 16)) + sum(range(64)), *range(6)]
