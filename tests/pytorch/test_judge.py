"""References of a judge that are functions of PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from pymluops.bang.judging import Task, output, random, with_torch


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.softmax(x, -1),
        lambda x: (torch.softmax(x, -1),),
        lambda x: {"out": torch.softmax(x, -1)},
        lambda x: torch.softmax(x.requires_grad_(), -1),
        lambda x, n: torch.softmax(x, -1).to(torch.bfloat16 if n == 0 else torch.float64),
    ],
)
def test_a_function_of_torch_is_a_reference(function: Any) -> None:
    task = Task("softmax", {"x": random(3, 5), "n": 5, "out": output(3, 5)}, with_torch(function))
    values = task.values()
    powers = np.exp(values["x"])
    expected = task.expected(values)["out"]
    np.testing.assert_allclose(expected, powers / powers.sum(-1, keepdims=True), rtol=1e-6)


def test_bfloat16_becomes_float() -> None:
    arguments = {"x": random(8), "out": output(8, dtype="bfloat16")}
    task = Task("round", arguments, with_torch(lambda x: x.to(torch.bfloat16)))
    values = task.values()
    expected = task.expected(values)["out"]
    assert expected.dtype.name == "bfloat16"
    np.testing.assert_allclose(expected.astype(np.float32), values["x"], rtol=2**-8)
