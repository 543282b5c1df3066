"""Forms of the language that kernels of others use, and what is said where one is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from pymluops import bang


@pytest.mark.parametrize("source", [np.int8, np.int16])
def test_a_product_of_integers_is_scaled(source: type) -> None:
    text = f"""__nram__ {source.__name__}_t s[2 * 64]; __wram__ int8_t w[64 * 64]; __nram__ float d[2 * 64];
__mlu_entry__ void k(const {source.__name__}_t *a, const int8_t *b, float *o) {{
  __memcpy(s, a, sizeof(s), GDRAM2NRAM);
  __memcpy(w, b, sizeof(w), GDRAM2WRAM);
  __bang_matmul(d, s, w, 2, 64, 64, -2);
  __memcpy(o, d, sizeof(d), NRAM2GDRAM);
}}"""
    rng = np.random.default_rng(3)
    a, b = rng.integers(-99, 99, (2, 64)).astype(source), rng.integers(-99, 99, (64, 64)).astype(np.int8)
    out = np.zeros((2, 64), np.float32)
    bang.compile(text).kernel("k")[1](a, b, out)
    assert np.array_equal(out, a.astype(np.float32) @ b.T.astype(np.float32) / 4)


def test_barriers_of_counted_cores() -> None:
    text = r"""__mlu_entry__ void k(int *o, int extra) {
  __asm__ volatile("barrier.sync.local 1, %[cnt];\n\t" ::[cnt] "r"(coreDim + 1));
  if (__is_ipu()) o[taskId] = 1;
  __asm__ volatile("barrier.sync.global 0, %[cnt];\n\t" ::[cnt] "r"((coreDim + 1) * clusterDim));
  if (__is_ipu()) {
    const int sum = o[0] + o[taskDim - 1];
    __asm__ volatile("barrier.sync.global 2, %0;\n\t" ::"r"(coreDim * clusterDim));
    __asm__ volatile("barrier.sync.local 2, %0;\n\t" ::"r"(coreDim + extra));
    o[taskId] = sum;
  }
}"""
    kernel = bang.compile(text).kernel("k")
    out = np.zeros(8, np.int32)
    kernel[8, "union2"](out, 0)
    assert out.tolist() == [2] * 8
    with pytest.raises(Exception, match="a barrier of 7 cores; here it has 4, or 5 with memory cores"):
        kernel[8, "union2"](out, 3)


def test_a_name_that_a_macro_makes() -> None:
    module = bang.compile(
        "#define NAME(x) x##_f\n#define JOINED(x, y) x##y\nint NAME(twice)(int b) { return 2 * b; }\n"
        "__mlu_entry__ void NAME(go)(int *o) { o[0] = 7; }\n__mlu_entry__ void JOINED(a, b)(int *o) { o[0] = 8; }\n"
    )
    assert (set(module.kernels), set(module.functions)) == ({"go_f", "ab"}, {"twice_f"})
    found = [np.zeros(1, np.int32), np.zeros(1, np.int32)]
    module.kernel("go_f")[1](found[0])
    module.kernel("ab")[1](found[1])
    assert [int(one[0]) for one in found] == [7, 8]
    assert module.function("twice_f")(4) == 8


def test_other_forms_compile() -> None:
    out = np.zeros(3, np.float32)
    bang.compile(
        "void f(struct cnrtQueue *q) {}\nvoid g() { cnrtQueue_t q = nullptr; f(q); }\n"
        "__mlu_entry__ void k(float *o) {\xa0o[0]\xa0= pow(half(3), 2.0f); o[1] = pow(2.0f, half(3));"
        ' o[2] = "\xa0"[0]; }'
    ).kernel("k")[1](out)
    assert out.tolist() == [9, 8, np.int8(np.uint8(0xC2))]


@pytest.mark.parametrize("memory", ["__nram__", "__wram__", "__mlu_shared__"])
def test_an_array_of_a_size_at_run_time_is_one_error(memory: str) -> None:
    text = f"__mlu_entry__ void k(float *o) {{\n  int n = taskId + 1;\n  {memory} float a[n * 8];\n  o[0] = a[0];\n}}\n"
    with pytest.raises(bang.CompileError) as refused:
        bang.compile(text)
    errors = [line for line in str(refused.value).splitlines() if "error" in line]
    assert errors == ["<source>:3: error: the size of an array in NRAM, WRAM or SRAM must be a constant"]


def test_other_errors_stay_beside_it() -> None:
    text = "__mlu_entry__ void k(float *o, int n) {\n  __nram__ float a[n];\n  o[0] = unknown;\n}\n"
    with pytest.raises(bang.CompileError) as refused:
        bang.compile(text)
    errors = [line for line in str(refused.value).splitlines() if "error" in line]
    assert len(errors) == 2
    assert errors[0].startswith("<source>:2: error: the size")
    assert "unknown" in errors[1]


UNKNOWN = """
template <typename T> __mlu_func__ T *next(T *x) {
  if (x) { __asm__ volatile("add.gpr.ptr %[x], %[x], 4;" : [x] "+&r"(x)); }
  return x;
}
template <typename T> struct Rows { __mlu_func__ void step(T x) { __asm__("step.gpr %0;" ::"r"(x)); } };
__mlu_entry__ void k(float *x) { USE; }
"""


def test_an_unknown_instruction_in_a_template_that_nothing_uses_is_no_error() -> None:
    assert "k" in bang.compile(UNKNOWN, defines={"USE": "x[0] = 1"}).kernels
    for use, name in (("next(x)", "add.gpr.ptr"), ("Rows<float>().step(x[0])", "step.gpr")):
        with pytest.raises(bang.CompileError, match=f"the assembly instruction `{name}` is not known"):
            bang.compile(UNKNOWN, defines={"USE": use})
    with pytest.raises(bang.CompileError, match=r"<source>:1: the assembly instruction `step\.gpr` is not known"):
        bang.compile('__mlu_entry__ void k(float *x) { __asm__("step.gpr %0;" ::"r"(x)); }')


@pytest.mark.parametrize("kind", ["half", "bfloat16"])
@pytest.mark.parametrize("suffix", ["", "_rn"])
def test_numbers_are_narrowed_in_place(kind: str, suffix: str) -> None:
    c_type = "half" if kind == "half" else "bfloat16_t"
    text = f"""
    __nram__ float a[64];
    __mlu_entry__ void narrow(unsigned short *out, const float *x) {{
      __memcpy(a, x, 256, GDRAM2NRAM);
      __bang_float2{kind}{suffix}(({c_type} *)a, a, 64);
      __memcpy(out, a, 128, NRAM2GDRAM);
    }}
    """
    x = np.arange(64, dtype=np.float32)
    result = bang.check(bang.compile(text, arch="MLU590").kernel("narrow")[1], np.zeros(64, np.uint16), x)
    assert not result.findings
    expected = x.astype(np.float16).view(np.uint16) if kind == "half" else (x.view(np.uint32) >> 16).astype(np.uint16)
    np.testing.assert_array_equal(result.outputs["out"], expected)
