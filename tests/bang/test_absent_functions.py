"""A file out of a library: host functions that nothing defines matter only if they are called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pymluops import bang
from pymluops.bang import CompileError

OUT_OF_A_LIBRARY = """
struct Status { int code; };
Status check_things(const char *name, int value);
namespace lib { template <typename T> int policy(T); }
extern "C" int helper_of_another_file(int);
__mlu_func__ float twice(float x) { return 2 * x; }
__mlu_entry__ void k(float *o) { o[taskId] = twice(taskId); }
extern "C" int run(int n) {
  if (n < 0) return helper_of_another_file(n);
  return check_things("a", n).code + lib::policy(1.f);
}
"""

CALL = """
import ctypes, sys
from pymluops import bang
module = bang.compile(open(sys.argv[1]).read())
print("compiled", flush=True)
ctypes.CDLL(str(module.path)).run(int(sys.argv[2]))
"""


@pytest.mark.compiler
def test_kernels_of_one_file_run() -> None:
    out = np.zeros(4, np.float32)
    bang.compile(OUT_OF_A_LIBRARY).kernel("k")[4](out)
    assert out.tolist() == [0, 2, 4, 6]


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("argument", "name"), [("-1", "helper_of_another_file"), ("1", "check_things(char const*, int)")]
)
def test_a_call_of_one_ends_with_its_name(tmp_path: Path, argument: str, name: str) -> None:
    source = tmp_path / "part.mlu"
    source.write_text(OUT_OF_A_LIBRARY)
    ended = subprocess.run(
        [sys.executable, "-c", CALL, source, argument], capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.stdout == "compiled\n"
    assert ended.returncode < 0
    assert f"pymluops: {name} was called, which the source declares and nothing defines" in ended.stderr


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("o[taskId] = twice(taskId);", "o[taskId] = lib::policy(1.f);"),  # a kernel needs it
        ("return 2 * x;", 'return check_things("x", 1).code;'),  # and over a function
        ("check_things(const char *name, int value);", "check_things(const char *name, int value); extern int other;"),
        ("if (n < 0)", "if (n < *(volatile int *)&helper_of_another_file)"),
    ],
)
def test_other_lacks_stay_errors(before: str, behind: str) -> None:
    text = OUT_OF_A_LIBRARY.replace(before, behind)
    assert text != OUT_OF_A_LIBRARY
    if "extern int other" in text:
        text = text.replace("if (n < 0)", "if (n < other)")
    with pytest.raises(CompileError, match="undefined reference"):
        bang.compile(text)
