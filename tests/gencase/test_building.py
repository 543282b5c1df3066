"""Cases made of arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pymluops import Layout, gencase
from pymluops.enums import DataType

ROIS = np.zeros((2, 3, 3, 2), np.float32)


def tin_shift(**changes: Any) -> gencase.Case:
    given: dict[str, Any] = {
        "op_name": "tin_shift_forward",
        "inputs": [("input", np.arange(24, dtype=np.float32).reshape(1, 2, 4, 3)), ("shifts", np.int32([[1, -1]]))],
        "outputs": [("output", np.zeros((1, 2, 4, 3), np.float32))],
    }
    return gencase.Case.build(**{**given, **changes})


@pytest.mark.parametrize("suffix", [".prototxt", ".pb"])
def test_arrays_there_and_back(suffix: str, tmp_path: Path) -> None:
    tin_shift().write(tmp_path / f"a{suffix}")
    case = gencase.read(tmp_path / f"a{suffix}")
    (one, shifts), (output,) = case.inputs, case.outputs
    assert case.op_name == "tin_shift_forward"
    assert (one.shape, one.dtype, one.values().tolist()) == ((1, 2, 4, 3), DataType.FLOAT, [*range(24)])
    assert (shifts.id, shifts.dtype, shifts.values().tolist()) == ("shifts", DataType.INT32, [1, -1])
    assert (output.shape, output.values()) == ((1, 2, 4, 3), None)
    assert list(case.node.test_param.error_threshold) == [0]


def test_it_runs() -> None:
    assert tin_shift().run("cpu").outcome is gencase.Outcome.PASSED


def test_types_layouts_parameters_and_criteria() -> None:
    case = gencase.Case.build(
        "roi_crop_forward",
        [("input", ROIS.astype(ml_dtypes.bfloat16)), ("grid", ROIS.astype(np.complex64))],
        [("output", ROIS)],
        criteria=[("DIFF1", 0.5), ("DIFF4", 0)],
        layouts={"input": Layout.NHWC},
    )
    assert [tensor.dtype for tensor in case.inputs] == [DataType.BFLOAT16, DataType.COMPLEX_FLOAT]
    assert [tensor.layout for tensor in case.inputs] == [Layout.NHWC, Layout.ARRAY]
    assert (list(case.node.test_param.error_func), list(case.node.test_param.error_threshold)) == ([6, 10], [0.5, 0])
    case = gencase.Case.build("fft", [("input", ROIS)], [("output", ROIS)], {"rank": 2, "n": [3, 2], "direction": 1})
    assert (list(case.node.fft_param.n), case.parameter("fft_param", "scale_factor")) == ([3, 2], 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"op_name": "nothing"}, "no operator is called nothing"),
        ({"parameters": {"n": 1}}, "tin_shift_forward has no parameters"),
        ({"criteria": [("DIFF9", 1)]}, r"the criterion DIFF9 is not known; there are MAPE, .*"),
        ({"op_name": "fft", "parameters": {"m": 1}}, "fft has no parameter m; it has rank, n, direction, scale_factor"),
        ({"op_name": "fft", "parameters": {"rank": "two"}}, "fft: rank cannot be 'two'"),
        ({"op_name": "fft", "parameters": {"n": 3}}, "fft: n cannot be 3"),
        (
            {"op_name": "psamask_forward", "parameters": {"h_mask": 1, "w_mask": 2}},
            ".*: the parameter psa_type is missing",
        ),
        ({"outputs": [("output", np.zeros(2, np.complex128))]}, "dtype: expected a DataType or one of .*"),
    ],
)
def test_refusals(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(gencase.CaseError, match=f"^{said}$"):
        tin_shift(**changes)
