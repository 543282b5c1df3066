"""assign_score_withk forward and backward."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import assign_score_withk as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_same_bits, assert_same_values
from support.selection import examples

SIZES = st.fixed_dictionaries({
    "B": st.integers(1, 2), "N0": st.integers(0, 6), "N1": st.integers(0, 4), "K": st.integers(0, 5) | st.just(18),
    "M": st.integers(0, 4) | st.just(17), "O": st.integers(0, 6) | st.just(131),
})  # fmt: skip


def _case(rng: np.random.Generator, s: dict[str, int], dtype: str, wrong: bool) -> list[np.ndarray]:
    """grad_output, points, centers, scores and numbers, some of which are none of a point if `wrong`."""
    bank, scores = (s["B"], s["N0"], s["M"], s["O"]), (s["B"], s["N1"], s["K"], s["M"])
    shapes = (s["B"], s["O"], s["N1"], s["K"]), bank, bank, scores
    values = [rng.normal(size=shape).astype(dtype) for shape in shapes]
    low, high = (-1, s["N0"] + 1) if wrong or not s["N0"] else (0, s["N0"])
    return [*values, rng.integers(low, high, scores[:3]).astype(np.int32)]


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@examples(60)
@given(s=SIZES, wrong=st.booleans(), seed=st.integers(0, 2**32 - 1))
def test_sums_in_their_order(dtype: str, s: dict[str, int], wrong: bool, seed: int) -> None:
    arguments = _case(np.random.default_rng(seed), s, dtype, wrong)
    output = pymluops.assign_score_withk_forward(*arguments[1:], validate=False)
    assert_same_bits(output, oracle.forward(*arguments[1:], real=np.float32).astype(dtype))
    found = pymluops.assign_score_withk_backward(*arguments, validate=False)
    for array, wanted in zip(found, oracle.backward(*arguments, real=np.float32), strict=True):
        assert_same_bits(array, wanted.astype(dtype))


@examples(30)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_bits(seed: int) -> None:
    rng = np.random.default_rng(seed)
    arguments = _case(rng, {"B": 1, "N0": 3, "N1": 2, "K": 3, "M": 2, "O": 3}, "float32", False)
    for array in arguments[:4]:
        odd = rng.random(array.shape) < 0.2
        array[odd] = any_bits(rng, array.shape, np.float32)[odd]
    output = pymluops.assign_score_withk_forward(*arguments[1:])
    assert_same_values(output, oracle.forward(*arguments[1:], real=np.float32))
    found = pymluops.assign_score_withk_backward(*arguments)
    for array, wanted in zip(found, oracle.backward(*arguments, real=np.float32), strict=True):
        assert_same_values(array, wanted)


def test_a_centre_that_is_none_silences_its_neighbours() -> None:
    s = {"B": 1, "N0": 4, "N1": 3, "K": 5, "M": 2, "O": 3}
    arguments = _case(np.random.default_rng(1), s, "float32", False)
    arguments[4][0, 1, 0] = 4
    output = pymluops.assign_score_withk_forward(*arguments[1:], validate=False)
    assert not output[0, :, 1].any() and output[0, :, [0, 2]].any()
    assert not pymluops.assign_score_withk_backward(*arguments, validate=False).grad_scores[0, 1].any()
    with pytest.raises(pymluops.BadParamError, match=r"knn_idx: expected 0 <= value < N0=4, got 4 at batch 0"):
        pymluops.assign_score_withk_forward(*arguments[1:])


def test_any_number_of_threads_gives_the_same_bits() -> None:
    s = {"B": 2, "N0": 40, "N1": 60, "K": 17, "M": 5, "O": 140}
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 2, 7):
            pymluops.set_num_threads(threads)
            arguments = _case(np.random.default_rng(2), s, "float32", True)
            output = pymluops.assign_score_withk_forward(*arguments[1:], validate=False)
            gradients = pymluops.assign_score_withk_backward(*arguments, validate=False)
            found.append([array.tobytes() for array in (output, *gradients)])
    finally:
        pymluops.set_num_threads(before)
    assert found[0] == found[1] == found[2]


# ---- refusals ------------------------------------------------------------------------------------


def _arrays(backward: bool) -> dict[str, Any]:
    bank, scores = (2, 4, 3, 5), (2, 6, 7, 3)
    inputs: dict[str, Any] = {
        "points": np.ones(bank, np.float32), "centers": np.ones(bank, np.float32),
        "scores": np.ones(scores, np.float32), "knn_idx": np.zeros(scores[:3], np.int32),
    }  # fmt: skip
    if not backward:
        return {**inputs, "output": canary((2, 5, 6, 7), np.float32)}
    grads = {f"grad_{name}": canary(inputs[name].shape, np.float32) for name in ("points", "centers", "scores")}
    return {"output": np.ones((2, 5, 6, 7), np.float32), **inputs, **grads}


def _status(raw: Raw, arrays: dict[str, Any]) -> int:
    way = "Backward" if "grad_points" in arrays else "Forward"
    tensors = [Tensor(a) if isinstance(a, np.ndarray) else a for a in arrays.values()]
    return raw.status(f"mluopsExtAssignScoreWithk{way}", *tensors)


#: What replaces one array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("points", np.ones((2, 4, 3), np.float32), BAD_PARAM),
    ("points", np.ones((2, 5, 3, 5), np.float32), BAD_PARAM),
    ("points", np.ones((2, 4, 3, 5), np.int32), BAD_PARAM),
    ("points", np.ones((2, 4, 3, 10), np.float32)[..., ::2], NOT_SUPPORTED),
    ("centers", np.ones((2, 4, 3, 5), np.float16), BAD_PARAM),
    ("centers", np.ones((2, 4, 3, 6), np.float32), BAD_PARAM),
    ("scores", np.ones((2, 6, 7, 4), np.float32), BAD_PARAM),
    ("scores", Descriptor((2, 6, 7, 3), "float32", pair=True), BAD_PARAM),
    ("knn_idx", np.ones((2, 6, 7), np.int64), BAD_PARAM),
    ("knn_idx", np.ones((2, 6, 8), np.int32), BAD_PARAM),
    ("output", np.ones((2, 5, 7, 6), np.float32), BAD_PARAM),
    ("output", np.ones((2, 5, 6, 7), np.float64), BAD_PARAM),
]


@pytest.mark.parametrize("backward", [False, True])
def test_refused_tensors(raw: Raw, backward: bool) -> None:
    others = [("grad_points", np.ones((2, 4, 3, 6), np.float32), BAD_PARAM),
              ("grad_scores", np.ones((2, 6, 7, 3), np.float16), BAD_PARAM)]  # fmt: skip
    for name, array, wanted in [*REFUSED, *(others if backward else [])]:
        arrays = {**_arrays(backward), name: array}
        assert _status(raw, arrays) == wanted, name
        assert raw.reason()
        outputs = {"grad_points", "grad_centers", "grad_scores"} if backward else {"output"}
        assert all(is_canary(arrays[output]) for output in outputs - {name})


def test_results_have_memory_of_their_own(raw: Raw) -> None:
    arrays = _arrays(True)
    arrays["grad_points"] = arrays["points"]
    assert _status(raw, arrays) == BAD_PARAM
    arrays["grad_points"] = arrays["grad_centers"]
    assert _status(raw, arrays) == BAD_PARAM
    assert "memory of its own" in raw.reason()


def test_the_c_functions_write_the_same(raw: Raw) -> None:
    s = {"B": 2, "N0": 4, "N1": 6, "K": 7, "M": 3, "O": 5}
    case = _case(np.random.default_rng(3), s, "float32", False)
    forward, backward = _arrays(False), _arrays(True)
    for arrays in (forward, backward):
        arrays |= dict(zip(("points", "centers", "scores", "knn_idx"), case[1:], strict=True))
    backward["output"] = case[0]
    assert _status(raw, forward) == _status(raw, backward) == SUCCESS, raw.reason()
    assert_same_bits(forward["output"], pymluops.assign_score_withk_forward(*case[1:]))
    for name, wanted in pymluops.assign_score_withk_backward(*case)._asdict().items():
        assert_same_bits(backward[name], wanted)
