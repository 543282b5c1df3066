"""The functions of mmcv's extension for focal losses."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import focal_loss as oracle

from .values import any_strides, every_dtype, exact, laid, tensor

pytest.importorskip("torch")

ERRORS = {"float64": 1e-11, "float32": 1e-5, "float16": 3e-3, "bfloat16": 3e-2}


def _drawn(torch: Any, dtype: str) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(5)
    target = torch.from_numpy(rng.integers(-1, 6, 8))
    return tensor(torch, rng.normal(0, 2, (8, 5)), dtype), target, tensor(torch, rng.uniform(0, 2, 5), dtype)


@every_dtype
@any_strides
@pytest.mark.parametrize("weighted", [False, True])
def test_sigmoids(torch: Any, ext: ModuleType, dtype: str, strided: bool, weighted: bool) -> None:
    x, target, weight = _drawn(torch, dtype)
    weights = weight if weighted else torch.empty(0, dtype=x.dtype)
    for gradient, name in enumerate(("sigmoid_focal_loss_forward", "sigmoid_focal_loss_backward")):
        output = laid(torch, torch.full((8, 5), 9, dtype=x.dtype), strided)
        getattr(ext, name)(laid(torch, x, strided), target, weights, output, gamma=1.5, alpha=0.25)
        given = exact(weight) if weighted else None
        wanted = oracle.sigmoid(exact(x), target.numpy(), given, 0.25, 1.5, bool(gradient))
        np.testing.assert_allclose(exact(output), wanted, rtol=ERRORS[dtype], atol=ERRORS[dtype])


@every_dtype
@any_strides
@pytest.mark.parametrize("weighted", [False, True])
def test_softmaxes(torch: Any, ext: ModuleType, dtype: str, strided: bool, weighted: bool) -> None:
    x, target, weight = _drawn(torch, dtype)
    p = x.double().softmax(1).to(x.dtype)
    weights = weight if weighted else torch.empty(0, dtype=x.dtype)
    factors = oracle._of_rows(exact(weights), target.numpy())
    losses, buff = (torch.full((8,), 9, dtype=x.dtype) for _ in range(2))
    ext.softmax_focal_loss_forward(laid(torch, p, strided), target, weights, losses, gamma=2.0, alpha=0.25)
    wanted = oracle.softmax(exact(p), target.numpy(), True, 0.25, 2.0) * factors
    np.testing.assert_allclose(exact(losses), wanted, rtol=ERRORS[dtype], atol=ERRORS[dtype])
    gradient = laid(torch, torch.full((8, 5), 9, dtype=x.dtype), strided)
    ext.softmax_focal_loss_backward(laid(torch, p, strided), target, weights, buff, gradient, gamma=2.0, alpha=0.25)
    wanted = oracle.softmax(exact(p), target.numpy(), True, 0.25, 2.0, factors)
    np.testing.assert_allclose(exact(gradient), wanted, rtol=ERRORS[dtype], atol=ERRORS[dtype])
    own = (np.arange(5) == target.numpy()[:, None]) - exact(p)
    np.testing.assert_allclose(exact(buff)[:, None] * own, wanted, rtol=10 * ERRORS[dtype], atol=ERRORS[dtype])


def test_certain_rows_have_a_gradient(torch: Any, ext: ModuleType) -> None:
    p, target = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 0])
    buff, gradient = torch.full((2,), 9.0), torch.full((2, 2), 9.0)
    ext.softmax_focal_loss_backward(p, target, torch.empty(0), buff, gradient, gamma=0.5, alpha=0.25)
    assert buff[0] == 0 and buff.isfinite().all() and gradient.isfinite().all()


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    none, no_class = torch.rand(0, 3), torch.empty(0, dtype=torch.int64)
    ext.sigmoid_focal_loss_forward(none, no_class, torch.empty(0), none, 2.0, 0.25)
    ext.softmax_focal_loss_forward(none, no_class, torch.empty(0), torch.rand(0), 2.0, 0.25)
    ext.softmax_focal_loss_backward(none, no_class, torch.empty(0), torch.rand(0), none, 2.0, 0.25)
    x, target = torch.rand(2, 3), torch.tensor([0, 1])
    for changes, text in (
        ({"target": target.float()}, "target: expected int64"),
        ({"target": target[:1]}, r"target: expected shape \[2\]"),
        ({"weight": torch.rand(2)}, r"weight: expected shape \[3\]"),
        ({"weight": torch.rand(3).half()}, "weight: expected float32, like input"),
        ({"output": torch.rand(2, 2)}, r"output: expected shape \[2, 3\]"),
        ({"input": x.long()}, "input: expected float32"),
    ):
        given = {"input": x, "target": target, "weight": torch.empty(0), "output": torch.rand(2, 3), **changes}
        with pytest.raises(RuntimeError, match=f"^sigmoid_focal_loss_forward: {text}"):
            ext.sigmoid_focal_loss_forward(**given, gamma=2.0, alpha=0.25)
