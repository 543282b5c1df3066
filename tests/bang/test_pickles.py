"""Modules and kernels by value: the text of a source travels, and is compiled where it arrives."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

import pymluops
from pymluops import bang
from support.processes import python_output

SOURCE = """
#include "by.h"
template <typename T> __mlu_global__ void times(T *x) { if (!__is_mpu()) x[taskId] = x[taskId] * (T)BY; }
__mlu_entry__ void add(float *x, float y) { x[taskId] = x[taskId] + y + PLUS; }
int half_of(int n) { return n / 2; }
"""


@pytest.fixture(scope="module")
def headers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("headers")
    (folder / "by.h").write_text("#define BY 3\n")
    return folder


@pytest.fixture
def module(headers: Path) -> bang.Module:
    return bang.compile(SOURCE, include_dirs=[headers], defines={"PLUS": 1}, options=["-O0"])


def test_a_module_a_kernel_a_launch_and_a_function(module: bang.Module) -> None:
    again = pickle.loads(pickle.dumps(module))
    assert (again.path, again.arch, list(again.kernels)) == (module.path, module.arch, list(module.kernels))
    x = np.arange(4, dtype=np.float32)
    pickle.loads(pickle.dumps(module.kernel("add")))[4](x, 1.0)
    pickle.loads(pickle.dumps(module.kernel("times<float>")[4, "union1"]))(x)
    assert x.tolist() == [6, 9, 12, 15]
    assert pickle.loads(pickle.dumps(module.function("half_of")))(9) == 4


def test_a_source_file_may_be_gone(tmp_path: Path) -> None:
    path = tmp_path / "fill.mlu"
    path.write_text("__mlu_entry__ void fill(float *x) { x[taskId] = 7; }")
    text = pickle.dumps(bang.compile(path))
    path.unlink()
    x = np.zeros(2, np.float32)
    pickle.loads(text).kernel("fill")[2](x)
    assert x.tolist() == [7, 7]


def test_a_copy_is_the_module_itself(module: bang.Module) -> None:
    assert copy.copy(module) is copy.deepcopy(module) is module
    assert copy.deepcopy({"kernel": module.kernel("add")})["kernel"].module is module


def test_a_launch_with_a_queue_says_why_it_cannot(module: bang.Module) -> None:
    with pymluops.Queue("sim") as queue, pytest.raises(TypeError, match=r"Queue cannot be pickled.*make one"):
        pickle.dumps(module.kernel("add")[1, "block", queue])


def test_in_another_process(module: bang.Module) -> None:
    code = """
import pickle, sys, numpy as np
launch, x = pickle.loads(bytes.fromhex(sys.argv[1])), np.ones(2, np.float32)
launch(x, 2.0)
print(x.tolist())
"""
    assert python_output(code, pickle.dumps(module.kernel("add")[2]).hex()) == "[4.0, 4.0]"


def test_a_process_that_counts_lines_passes_on_a_module_that_does_not(headers: Path) -> None:
    code = f"""
import pickle
from pymluops import bang
from pymluops.bang import _coverage
_coverage.start(lambda lines: None)
module = bang.compile({SOURCE!r}, include_dirs=[{str(headers)!r}], defines={{"PLUS": 1}}, options=["-O0"])
print(pickle.dumps(module.kernel("add")).hex())
"""
    x = np.ones(2, np.float32)
    kernel = pickle.loads(bytes.fromhex(python_output(code)))
    kernel[2](x, 2.0)
    assert x.tolist() == [4.0, 4.0]
