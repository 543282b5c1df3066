"""The measured problems of tin_shift: what is counted, and the limits that were set."""

from __future__ import annotations

from bench.small import built, limits


def test_frames_that_are_shifted_out_are_not_counted() -> None:
    problem = built("tin_shift", "tin_shift_forward", shape=[1, 6, 6, 5], groups=3, shifts=[-1, 0, 9])
    assert problem.bytes_read == (5 + 6 + 0) * 2 * 5 * 4 + 3 * 4


def test_limits_are_those_that_were_set() -> None:
    found = limits()
    assert found["tin_shift_forward/3x15x16x45435/f16"] == {"memcpy": 1.05}
    assert found["tin_shift_backward/2x8x64x3136/f32"] == {"memcpy": 1.1}
    assert found["tin_shift_backward/2x8x64x3136/f16"] == {"memcpy": 1.3}
