"""The measured problems of three_interpolate: what is counted, and the limits that were set."""

from __future__ import annotations

import numpy as np

from bench.small import built, limits
from benchmarks.cases import load_cases


def test_the_shapes_of_the_interpolation_document_are_all_there() -> None:
    ours = {
        tuple(case.parameters[name] for name in ("batch", "channels", "points", "features"))
        for case in load_cases(["three_interpolate"])
    }
    assert {(16, 512, 64, 16), (16, 1, 128, 1024), (1, 1, 1, 1), (25, 1029, 1025, 1027), (29, 2047, 999, 2033)} <= ours
    assert len(ours) == 15


def test_columns_that_no_point_names_are_not_counted() -> None:
    problem = built("three_interpolate", "three_interpolate_forward", batch=1, channels=4, points=2, features=500)
    named = len(np.unique(problem.inputs["indices"]))
    assert named <= 6
    assert problem.bytes_read == named * 4 * 4 + 2 * 2 * 3 * 4


def test_limits_are_those_that_were_set() -> None:
    found = limits()
    assert found["three_interpolate_backward/16x1024x4096-128/f32"] == {"memcpy": 1.8}
    assert "three_interpolate_backward/16x1024x4096-128/f16" not in found
