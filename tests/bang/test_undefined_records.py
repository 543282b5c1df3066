"""What the init checker says of records with padding, of masks with spare bits and of masks that are numbers."""

from __future__ import annotations

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim

RECORDS = """
#include <algorithm>
struct Small { float value; short index; };
struct Wide { long long key; int index; };
struct Padded { char flag; float value; char end; };
struct alignas(16) Triple { float x, y, z; };
struct Half { float value; int index; };
__nram__ Small smalls[16];
__nram__ Wide wides[16];
__nram__ Padded padded[4];
__nram__ Triple triples[8];
__nram__ Half halves[8];
__mlu_shared__ Small shared[8];

// The least first, as a heap puts it.
template <typename T, typename Less>
__mlu_func__ void put_least_first(T *records, int n, Less less) {
  for (int i = 1; i < n; ++i) {
    if (less(records[i], records[0])) {
      T first = records[0];
      records[0] = records[i];
      records[i] = first;
    }
  }
}
__mlu_entry__ void least(float *out, const float *in, int n) {
  if (__is_mpu()) return;
  for (int i = 0; i < n; ++i) {
    smalls[i].value = in[i];
    smalls[i].index = i;
    wides[i].key = (long long)in[i];
    wides[i].index = i;
  }
  put_least_first(smalls, n, [](const Small &a, const Small &b) { return a.value < b.value; });
  put_least_first(wides, n, [](const Wide &a, const Wide &b) { return a.key < b.key; });
  std::swap(smalls[1], smalls[2]);
  std::sort(wides, wides + n, [](const Wide &a, const Wide &b) { return a.key < b.key; });
  out[0] = smalls[0].value;
  out[1] = smalls[0].index;
  out[2] = wides[0].index;
}
__mlu_entry__ void assigned(float *out, Wide *work) {
  if (__is_mpu()) return;
  padded[0] = Padded{1, 2.f, 3};
  padded[1] = padded[0];
  padded[2] = padded[1];
  triples[0].x = 1; triples[0].y = 2; triples[0].z = 3;
  triples[1] = triples[0];
  work[0].key = 5; work[0].index = 6;
  work[1] = work[0];
  Wide local[2];
  local[0].key = 8; local[0].index = 9;
  local[1] = local[0];
  work[2] = local[1];
  out[0] = padded[2].value + triples[1].z + work[1].index + work[2].index;
}
__mlu_entry__ void in_sram(float *out) {
  if (__is_mpu()) return;
  if (coreId == 0) {
    shared[0].value = 7; shared[0].index = 1;
    shared[1] = shared[0];
    out[0] = shared[1].value;
  }
}
__mlu_entry__ void member(float *out) {  // a member that was never written, in a copy
  halves[0].value = 1;
  halves[1] = halves[0];
  halves[2] = halves[1];
  out[0] = halves[2].value;
  out[1] = halves[2].index;  // here
}
__mlu_entry__ void whole(float *out) {
  halves[1] = halves[0];  // nothing of it
  out[0] = halves[1].value;
}
__mlu_entry__ void part(float *out) { halves[0].value = 1; halves[1] = halves[0]; out[0] = halves[1].value; }
"""

MASKS = """
__nram__ float a[64], b[64], c[64], d[64];
__nram__ unsigned char bits[16];
__nram__ half h[64], g[64];
__nram__ int m[64], z[64];
__mlu_entry__ void bit(int *out, const float *in, int n) {
  __memcpy(a, in, n * 4, GDRAM2NRAM);
  __bang_gt_bitindex((float *)bits, a, a, 64);
  int count = 0;
  for (int i = 0; i < n; ++i) count += (bits[i / 8] >> (i % 8)) & 1;
  for (int i = 0; i < n; ++i) count += (((const unsigned *)bits)[i / 32] >> (i % 32)) & 1;
  out[0] = count;
}
__mlu_entry__ void bit_of_nothing(int *out, const float *in) {
  __memcpy(a, in, 32, GDRAM2NRAM);
  __bang_gt_bitindex((float *)bits, a, a, 64);
  out[0] = bits[1];
}
__mlu_entry__ void product(int *out, const float *in, int n) {
  __memcpy(a, in, n * 4, GDRAM2NRAM);
  __bang_write_zero(c, 64);
  __bang_write_value(c, n, 1.f);
  __bang_gt_scalar(b, a, 0.5f, 64);
  __bang_lt_scalar(d, a, 0.9f, 64);
  __bang_mul(b, b, d, 64);
  HOW
  out[0] = (int)__bang_count(b, 64);
}
__mlu_entry__ void half_product(int *out, const half *in, int n) {
  __memcpy(h, in, n * 2, GDRAM2NRAM);
  __bang_write_zero(g, 64);
  __bang_write_value(g, n, (half)1);
  __bang_gt_scalar(h, h, (half)0.5, 64);
  __bang_mul(h, h, g, 64);
  out[0] = (int)__bang_count(h, 64);
}
__mlu_entry__ void integers(int *out, const int *in, int n) {
  __memcpy(m, in, n * 4, GDRAM2NRAM);
  __bang_write_zero(z, 64);
  __bang_write_value(z, n, 1);
  __bang_mul(m, m, z, 64);
  for (int i = 0; i < 64; ++i) out[0] += m[i];
}
__mlu_entry__ void any(int *out, const float *in, int n) {  // not a mask: it may be infinite
  __memcpy(a, in, n * 4, GDRAM2NRAM);
  __bang_write_zero(c, 64);
  __bang_mul(a, a, c, 64);
  out[0] = (int)__bang_count(a, 64);
}
__mlu_entry__ void ones(int *out, const float *in, int n) {  // a mask times 1
  __memcpy(a, in, n * 4, GDRAM2NRAM);
  __bang_write_value(c, 64, 1.f);
  __bang_gt_scalar(b, a, 0.5f, 64);
  __bang_mul(b, b, c, 64);
  out[0] = (int)__bang_count(b, 64);
}
__mlu_entry__ void loaded(int *out, const float *in, int n) {  // scalar code does not take such a mask
  __memcpy(a, in, n * 4, GDRAM2NRAM);
  __bang_gt_scalar(b, a, 0.5f, 64);
  out[0] = b[63] > 0;
}
"""
#: Ways to keep the part of a mask that another one tells.
KEEP = {
    "mul": "__bang_mul(b, b, c, 64);",
    "mul reversed": "__bang_mul(b, c, b, 64);",
    "minimum": "__bang_minimum(b, b, c, 64);",
    "and": "__bang_and(b, b, c, 64);",
}


@pytest.fixture(scope="module", params=["-O2", "-O0"])
def records(request: pytest.FixtureRequest) -> bang.Module:
    return bang.compile(RECORDS, options=[request.param])


def rules_of(launch: bang.Launch, *arguments: object) -> list[tuple[str, int]]:
    try:
        with sim.checking("all"):
            launch(*arguments)
    except pymluops.ExecutionFailedError as error:
        return [(f"{found.checker}/{found.rule}", found.line) for found in error.findings]
    return []


def test_padding_moves_with_its_record(records: bang.Module) -> None:
    out, values = np.zeros(4, np.float32), np.array([5, 3, 8, 1, 9, 2], np.float32)
    assert rules_of(records.kernel("least")[1], out, values, 6) == []
    assert out[:3].tolist() == [1, 3, 3]
    with pymluops.DeviceArray((96,), "int8", backend="sim") as work:
        assert rules_of(records.kernel("assigned")[1], out, work) == []
    assert out[0] == 2 + 3 + 6 + 9
    assert rules_of(records.kernel("in_sram")[4, "union1"], out) == []
    assert out[0] == 7


def test_a_member_that_was_never_written_stays_so_in_copies(records: bang.Module) -> None:
    line = 1 + RECORDS.split("// here")[0].count("\n")
    assert rules_of(records.kernel("member")[1], np.zeros(2, np.float32)) == [("init/scalar-load", line)]
    assert rules_of(records.kernel("part")[1], np.zeros(2, np.float32)) == []
    assert [rule for rule, _ in rules_of(records.kernel("whole")[1], np.zeros(1, np.float32))] == ["init/scalar-load"]


def test_a_rule_tells_of_loads_of_a_part() -> None:
    module = bang.compile(RECORDS)
    with sim.checking("all", {"init/partial-load": "record"}):
        sim.clear_findings()
        module.kernel("part")[1](np.zeros(2, np.float32))
        assert [f"{found.checker}/{found.rule}" for found in sim.findings()] == ["init/partial-load"]


@pytest.fixture(scope="module")
def masks() -> bang.Module:
    return bang.compile(MASKS.replace("HOW", "__bang_mul(b, b, c, 64);"))


def test_bits_behind_the_last_are_no_finding(masks: bang.Module) -> None:
    out, values = np.zeros(1, np.int32), np.zeros(64, np.float32)
    for count in (4, 13, 37):
        assert rules_of(masks.kernel("bit")[1], out, values, count) == []
    assert rules_of(masks.kernel("bit_of_nothing")[1], out, values)[0][0] == "init/scalar-load"


@pytest.mark.parametrize("how", KEEP)
def test_a_mask_times_nothing_is_nothing(how: str) -> None:
    kernel = bang.compile(MASKS.replace("HOW", KEEP[how])).kernel("product")
    out, values = np.zeros(1, np.int32), np.random.default_rng(7).random(64, dtype=np.float32)
    assert rules_of(kernel[1], out, values, 50) == []
    assert out[0] == np.count_nonzero((values[:50] > 0.5) & (values[:50] < 0.9))


def test_products_with_a_known_zero(masks: bang.Module) -> None:
    out, values = np.zeros(1, np.int32), np.random.default_rng(7).random(64)
    assert rules_of(masks.kernel("half_product")[1], out, values.astype(np.float16), 50) == []
    assert out[0] == np.count_nonzero(values[:50].astype(np.float16) > 0.5)
    out[0] = 0
    assert rules_of(masks.kernel("integers")[1], out, np.ones(64, np.int32), 50) == []
    assert out[0] == 50


@pytest.mark.parametrize(
    ("kernel", "rule"),
    [("any", "init/operand"), ("ones", "init/operand"), ("loaded", "init/scalar-load")],
)
def test_what_is_not_known_stays_undefined(masks: bang.Module, kernel: str, rule: str) -> None:
    out, values = np.zeros(1, np.int32), np.ones(64, np.float32)
    assert [found for found, _ in rules_of(masks.kernel(kernel)[1], out, values, 50)][:1] == [rule]
