"""The measured problems of border_align: what is counted, and the limits that were set."""

from __future__ import annotations

import numpy as np

from bench.small import built, limits


def test_pixels_that_no_sample_needs_are_not_counted() -> None:
    """A pixel counts for a border if the result changes with it."""
    problem = built("border_align", "border_align_forward", batch=1, size=[6, 7], channels=1, boxes=2, pool=3)
    features, boxes = problem.inputs["input"], problem.inputs["boxes"]
    features.fill(0)
    touched = 0
    for place in np.ndindex(features.shape):
        features[place] = 1.0
        touched += bool(problem.run(problem.buffers())["out"].any())
        features[place] = 0.0
    assert problem.bytes_read == touched * 4 + boxes.nbytes


def test_limits_are_those_that_were_set() -> None:
    found = limits()
    assert found["border_align_forward/2x950x4x256-pool10/f32"] == {"peer": 0.25}
