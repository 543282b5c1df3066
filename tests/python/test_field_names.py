"""Names: every function of the header, and the words of the field where the header has others."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import pymluops
import pymluops.bang
from pymluops.bang import judging

_HEADER = Path(__file__).resolve().parents[2] / "native" / "include" / "mlu_op.h"


def test_every_function_of_the_header_has_its_name() -> None:
    names = set(re.findall(r"\b(mluOp\w+)\s*\(", _HEADER.read_text(encoding="utf-8")))
    assert len(names) == 189
    assert [name for name in names if not callable(getattr(pymluops.functions, name, None))] == []


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("roi_pool_forward", "mluOpRoiPoolingForward"),
        ("roi_pool_backward", "mluOpRoiPoolingBackward"),
        ("deform_conv_forward", "mluOpDCNForward"),
        ("deform_conv_backward_data", "mluOpDCNBackwardData"),
        ("deform_conv_backward_weight", "mluOpDCNBackwardWeight"),
        ("fft_forward", "mluOpExecFFT"),
        ("fft_inverse", "mluOpExecFFT"),
    ],
)
def test_words_of_the_field(name: str, function: str) -> None:
    assert callable(getattr(pymluops, name)) and callable(getattr(pymluops.functions, function))


def test_the_judge() -> None:
    assert [*inspect.signature(judging.Task).parameters][:3] == ["name", "arguments", "reference"]
    assert {"outputs", "cost", "kind", "message", "findings"} <= {
        one.name for one in dataclasses.fields(judging.Verdict)
    }
    assert dataclasses.is_dataclass(judging.Limits) and callable(pymluops.bang.judge)
