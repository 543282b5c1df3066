"""The functions of mmcv's extension for assign_score_withk."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from pymluops.oracle import assign_score_withk as oracle

from .values import any_strides, every_dtype, exact, laid, near, tensor

pytest.importorskip("torch")

_SIZES = {"B": 2, "N0": 8, "N1": 2, "M": 2, "K": 4, "O": 4}


def _case(torch: Any, dtype: str) -> dict[str, Any]:
    rng, s = np.random.default_rng(3), _SIZES
    bank, scores = (s["B"], s["N0"], s["M"], s["O"]), (s["B"], s["N1"], s["K"], s["M"])
    shapes = {"grad_out": (s["B"], s["O"], s["N1"], s["K"]), "points": bank, "centers": bank, "scores": scores}
    values = {name: tensor(torch, rng.integers(-3, 4, shape), dtype) for name, shape in shapes.items()}
    numbers = rng.integers(-1, s["N0"] + 1, scores[:3])
    numbers[0, 0, 1:] = [2**40, -(2**40), 2**32]  # what int32 would take for other numbers
    return {**values, "knn_idx": torch.from_numpy(numbers)}


@every_dtype
@any_strides
@pytest.mark.parametrize("aggregate", [0, 1, 2])
def test_both_directions(torch: Any, ext: ModuleType, dtype: str, strided: bool, aggregate: int) -> None:
    case = _case(torch, dtype)
    laid_out = {name: laid(torch, value, strided) for name, value in case.items()}
    inputs = [laid_out[name] for name in ("points", "centers", "scores", "knn_idx")]
    arrays = [exact(case[name]) for name in ("points", "centers", "scores")]
    numbers = np.clip(case["knn_idx"].numpy(), -1, 8)
    output = laid(torch, torch.full_like(case["grad_out"], 9), strided)
    ext.assign_score_withk_forward(*inputs, output, **_SIZES, aggregate=aggregate)
    near(torch, output, oracle.forward(*arrays, numbers), dtype)
    results = [laid(torch, torch.full_like(case[name], 9), strided) for name in ("points", "centers", "scores")]
    ext.assign_score_withk_backward(laid_out["grad_out"], *inputs, *results, **_SIZES, aggregate=aggregate)
    wanted = oracle.backward(exact(case["grad_out"]), *arrays, numbers)
    for found, values in zip(results, wanted, strict=True):
        near(torch, found, values, dtype)


def test_empty_and_refused(torch: Any, ext: ModuleType) -> None:
    case = _case(torch, "float32")
    inputs = [case[name] for name in ("points", "centers", "scores", "knn_idx")]
    none = [torch.zeros(2, 0, 2, 4), torch.zeros(2, 0, 2, 4), *inputs[2:]]
    output = torch.full_like(case["grad_out"], 9)
    ext.assign_score_withk_forward(*none, output, **{**_SIZES, "N0": 0}, aggregate=0)
    assert not output.any()
    for changes, text in (
        ({"K": 5}, r"scores: expected shape \[2, 2, 5, 2\], got shape \[2, 2, 4, 2\]"),
        ({"aggregate": 3}, "aggregate: expected 0 "),
        ({"knn_idx": case["knn_idx"].int()}, "knn_idx: expected int64, got int32"),
        ({"scores": case["scores"].double()}, "scores: expected float32, like points, got float64"),
    ):
        given = {**dict(zip(("points", "centers", "scores", "knn_idx"), inputs, strict=True)), "output": output}
        arguments = {**given, **_SIZES, "aggregate": 0, **changes}
        with pytest.raises(RuntimeError, match=f"^assign_score_withk_forward: {text}"):
            ext.assign_score_withk_forward(**arguments)
