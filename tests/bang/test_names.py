"""Variables and kernels whose names the C library has taken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import bang, sim
from pymluops.sim.translator.library_names import C_NAMES, STD_NAMES

SOURCE = """
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
using namespace std;

struct Box {
  float y0, y1;
};

#define WIDTH 64
#define SECOND y1 + WIDTH

__nram__ float y1[2 * WIDTH], gamma[WIDTH], beta[WIDTH];
namespace {
__mlu_shared__ float exp[4];
const int index = 3;
}  // namespace
__mlu_const__ float scale[2] = {2, 4}, data[2] = {1, 3};

extern "C" __mlu_entry__ void tanh(float *x, float *y0) {
  if (coreId == 0) exp[index] = 5;
  __sync_cluster();
  if (__is_mpu()) return;
  Box box = {scale[1], data[1]};
  __memcpy(gamma, x, WIDTH * sizeof(float), GDRAM2NRAM);
  __bang_write_value(beta, WIDTH, box.y0 + box.y1 + ::exp[::index]);
  __bang_add(SECOND, gamma, beta, WIDTH);
  __memcpy(y0 + taskId * WIDTH, SECOND, WIDTH * sizeof(float), NRAM2GDRAM);
}

extern "C" {
__mlu_entry__ void sqrt(float *x, float y1) { x[taskId] = std::sqrt(x[taskId]) + y1; }
double reference(double x) { return tanh(x) + std::sqrt(x) + vector<double>{1, 2}.data()[1]; }
}
"""


def test_the_library_gives_way() -> None:
    module = bang.compile(SOURCE)
    assert str(module.kernels["sqrt"]) == "sqrt(float *x, float y1)"
    x, out = np.arange(64, dtype=np.float32), np.zeros((4, 64), np.float32)
    module.kernel("tanh")[4, "union1"](x, out)
    np.testing.assert_array_equal(out, np.tile(x + 12, (4, 1)))
    x = np.full(2, 9, np.float32)
    module.kernel("sqrt")[2](x, 0.5)
    np.testing.assert_array_equal(x, [3.5, 3.5])
    assert module.function("reference")(0.25) == pytest.approx(np.tanh(0.25) + 0.5 + 2, abs=1e-12)


def test_a_header_brings_the_namespace(tmp_path: Path) -> None:
    (tmp_path / "common.h").write_text("#include <iterator>\nusing namespace std;\n")
    source = (
        '#include "common.h"\n__nram__ int data[4];\n__mlu_entry__ void f(int *x) { data[0] = 2; x[0] = data[0]; }\n'
    )
    (tmp_path / "main.mlu").write_text(source)
    out = np.zeros(1, np.int32)
    bang.compile(tmp_path / "main.mlu").kernel("f")[1](out)
    assert out[0] == 2


def test_variables_of_the_c_library_are_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the source defines one of that name."""
    text = (
        "#include <unistd.h>\nextern char **environ;\nextern int optind;\n__nram__ int optarg[4];\n"
        "__mlu_entry__ void f(int *x) { optarg[0] = 5; x[0] = optarg[0]; }\n"
        "int first() { return environ != nullptr && environ[0] != nullptr ? optind : -1; }\n"
    )
    monkeypatch.setenv("SOMETHING", "1")
    module, out = bang.compile(text), np.zeros(1, np.int32)
    module.kernel("f")[1](out)
    assert out[0] == 5
    assert module.function("first")() >= 0


def test_messages_have_the_name_of_the_source() -> None:
    with pytest.raises(bang.CompileError, match=":2:") as error:
        bang.compile("__nram__ float y1[4];\n__mlu_entry__ void f(float *x) { x[0] = y1.x; }\n")
    assert "mlusim_own" not in str(error.value)
    module = bang.compile("__nram__ float y1[4];\n__mlu_entry__ void f(float *x) { x[0] = y1[taskId + 4]; }\n")
    with sim.checking("memory"), pytest.raises(pymluops.ExecutionFailedError) as found:
        module.kernel("f")[1](np.zeros(1, np.float32))
    assert "y1" in str(found.value)


@pytest.mark.thorough
def test_many_names() -> None:
    names = [*sorted(C_NAMES)[::10], *sorted(STD_NAMES)[::3]]  # all of them take a minute
    lines = ["using namespace std;", *(f"__nram__ float {name}[1];" for name in names)]
    lines += ["__mlu_entry__ void f(float *x) {", *(f"  {name}[0] = {i};" for i, name in enumerate(names))]
    lines += [f"  x[0] = {' + '.join(f'{name}[0]' for name in names)};", "}"]
    out = np.zeros(1, np.float32)
    bang.compile("\n".join(lines)).kernel("f")[1](out)
    assert out[0] == sum(range(len(names)))
