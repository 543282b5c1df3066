"""mutual_information: log-probabilities of all ways through tables, and the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import mutual_information as oracle
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_close, assert_same_bits
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "rows": st.integers(0, 40) | st.just(70),
        "columns": st.integers(0, 40) | st.just(100),
        "whole": st.booleans(),
        "kind": st.sampled_from(["float32", "float64"]),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def problem(s: dict[str, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Steps, a tenth of them impossible, and regions."""
    rng = np.random.default_rng(s["seed"])
    batch, rows, columns = s["batch"], s["rows"], s["columns"]
    px, py = rng.normal(0, 2, (batch, rows, columns + 1)), rng.normal(0, 2, (batch, rows + 1, columns))
    px[rng.random(px.shape) < 0.1] = -np.inf
    py[rng.random(py.shape) < 0.1] = -np.inf
    boundary = None if s["whole"] else oracle.draw_boundary(rng, batch, rows, columns)
    return px.astype(s.get("kind", "float32")), py.astype(s.get("kind", "float32")), boundary


def _operator(name: str, px: np.ndarray) -> Any:
    known = described(f"mutual_information_{name}")
    return double_of(known) if px.dtype == np.float64 else known


def forward(
    px: np.ndarray, py: np.ndarray, boundary: np.ndarray | None, p: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """(ans, p) by the function for the type."""
    found: tuple[np.ndarray, np.ndarray] = _operator("forward", px)(None, (px, py, boundary, None, p), ())
    return found


def backward(*given_arrays: Any, overwrite: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(ans_grad, px_grad, py_grad) by the function for the type."""
    found: tuple[np.ndarray, np.ndarray, np.ndarray] = _operator("backward", given_arrays[0])(
        None, (*given_arrays, None, None), (overwrite,)
    )
    return found


def near(found: np.ndarray, wanted: np.ndarray) -> None:
    """The same places are not finite; the others differ by rounding alone."""
    tolerance = 2e-5 if found.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance * 10)


# ---- values --------------------------------------------------------------------------------------


@examples(120)
@given(s=SHAPES)
def test_tables(s: dict[str, Any]) -> None:
    px, py, boundary = problem(s)
    before = np.random.default_rng(s["seed"]).normal(size=(len(px), s["rows"] + 1, s["columns"] + 1)).astype(px.dtype)
    p = before.copy()
    ans, same = forward(px, py, boundary, p)
    assert same is p
    wanted, table = oracle.forward(px, py, boundary, before)
    near(ans, wanted)
    near(p, table)
    for b, (top, left, bottom, right) in enumerate(oracle.regions(boundary, px, py)):
        outside = np.ones(p[b].shape, bool)
        if top <= bottom and left <= right:
            outside[top : bottom + 1, left : right + 1] = False
        assert_same_bits(p[b][outside], before[b][outside])


@examples(120)
@given(s=SHAPES, overwrite=st.booleans())
def test_gradients(s: dict[str, Any], overwrite: bool) -> None:
    px, py, boundary = problem(s)
    _, p = forward(px, py, boundary)
    start = np.random.default_rng(s["seed"]).normal(size=len(px)).astype(px.dtype)
    given_start = start.copy()
    found = backward(px, py, boundary, p, given_start, overwrite=overwrite)
    assert found[0] is given_start
    px_grad, py_grad, arrived = oracle.backward(px, py, boundary, p, start)
    near(found[1], px_grad)
    near(found[2], py_grad)
    near(given_start, arrived if overwrite and px.size + py.size else start)
    assert overwrite or given_start.tobytes() == start.tobytes()


#: Batch, rows, columns and regions: the vendor's cases.
NAMED = [
    (1, 179, 180, [[2, 3, 179, 180]]),
    (1, 178, 179, [[1, 2, 120, 130]]),
    (2, 380, 380, [[5, 2, 380, 380], [5, 2, 3, 1]]),
]


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[Any, ...]) -> None:
    batch, rows, columns, boundary = case
    rng, regions = np.random.default_rng(1), np.array(boundary)
    px = rng.uniform(-2.5, 2.5, (batch, rows, columns + 1)).astype(np.float32)
    py = rng.uniform(-2.5, 2.5, (batch, rows + 1, columns)).astype(np.float32)
    ans, p = pymluops.mutual_information_forward(px, py, regions)
    wanted, table = oracle.forward(px, py, regions)
    assert_close(ans, wanted)
    assert_close(p, table)
    px_grad, py_grad = pymluops.mutual_information_backward(px, py, regions, p, np.ones(batch, np.float32))
    wanted_px, wanted_py, _ = oracle.backward(px, py, regions, p, np.ones(batch))
    # Sums of exponentials of differences of numbers around 100.
    np.testing.assert_allclose(px_grad, wanted_px, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(py_grad, wanted_py, rtol=1e-3, atol=1e-5)


def test_ways_are_counted() -> None:
    ans, p = pymluops.mutual_information_forward(np.zeros((1, 2, 4), np.float32), np.zeros((1, 3, 3), np.float32))
    assert np.exp(p[0]).round().tolist() == [[1, 1, 1, 1], [1, 2, 3, 4], [1, 3, 6, 10]]
    assert ans[0] == p[0, 2, 3]


def test_terms_that_do_not_matter() -> None:
    """A difference above the logarithm of epsilon leaves the larger term as it is; NaN wins only from above."""
    px = np.array([[[0, 16], [0, np.nan]]], np.float32)
    py = np.array([[[0], [0], [np.nan]]], np.float32)
    p = pymluops.mutual_information_forward(px, py)[1]
    assert p[0, 1, 1] == 16  # log(exp(16) + 1) is 16.0000001
    assert np.isnan(p[0, 2, 1])
    px[0, 1, 1] = 3
    p = pymluops.mutual_information_forward(px, py)[1]
    assert p[0, 2, 1] == 19
    px[...], py[...] = -np.inf, -np.inf
    ans, p = pymluops.mutual_information_forward(px, py)
    assert ans[0] == -np.inf and p[0, 0, 0] == 0
    start = np.ones(1, np.float32)
    assert not any(one.any() for one in pymluops.mutual_information_backward(px, py, None, p, start))


def test_shares_that_are_not_finite_are_0() -> None:
    px, py = np.array([[[3, np.nan]]], np.float32), np.array([[[np.inf], [500]]], np.float32)
    p = np.zeros((1, 2, 2), np.float32)
    start = np.ones(1, np.float32)
    found = pymluops.mutual_information_backward(px, py, None, p, start)
    assert [one.ravel().tolist() for one in found] == [[0, 0], [0, 0]]
    p[0, 0, 0] = -np.inf  # counts as -1e30
    px[0, 0, 1] = np.log(np.float32(2e38))  # nearly the largest float
    py[0, 0, 0] = py[0, 1, 0] = 0
    px_grad, py_grad = pymluops.mutual_information_backward(px, py, None, p, start)
    np.testing.assert_allclose([px_grad[0, 0], py_grad[0, :, 0]], [[0, 2e38], [0, 1]], rtol=1e-5)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_many_short_pairs(threads: int) -> None:
    rng = np.random.default_rng(3)
    px, py = rng.normal(size=(700, 4, 8)).astype(np.float32), rng.normal(size=(700, 5, 7)).astype(np.float32)
    boundary = oracle.draw_boundary(rng, 700, 4, 7)
    before = pymluops.get_num_threads()
    try:
        pymluops.set_num_threads(threads)
        ans, p = pymluops.mutual_information_forward(px, py, boundary)
        found = pymluops.mutual_information_backward(px, py, boundary, p, ans.copy())
    finally:
        pymluops.set_num_threads(before)
    near(ans, oracle.forward(px, py, boundary)[0])
    for one, wanted in zip(found, oracle.backward(px, py, boundary, p, ans), strict=False):
        np.testing.assert_allclose(one, wanted, rtol=1e-4, atol=1e-5)


# ---- refusals ------------------------------------------------------------------------------------


def _arrays() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    px, py = rng.normal(size=(2, 3, 5)).astype(np.float32), rng.normal(size=(2, 4, 4)).astype(np.float32)
    return {
        "px": px, "py": py, "opt_boundary": np.array([[0, 0, 3, 4], [1, 1, 2, 2]]),
        "p": np.zeros((2, 4, 5), np.float32), "ans": np.ones(2, np.float32),
        "px_grad": np.ones((2, 3, 5), np.float32), "py_grad": np.ones((2, 4, 4), np.float32),
    }  # fmt: skip


def call(raw: Raw, function: str, arrays: dict[str, Any]) -> int:
    """Status of a C function; None stands for NULL as descriptor and data."""

    def pair(name: str) -> tuple[Any, ...]:
        given_array = arrays[name]
        if given_array is None:
            return raw.ffi.NULL, raw.ffi.NULL
        return (Tensor(given_array) if isinstance(given_array, np.ndarray) else given_array,)

    first = (*pair("px"), *pair("py"), *pair("opt_boundary"), *pair("p"))
    if function.endswith("Forward"):
        return raw.status(function, *first, raw.ffi.NULL, 0, *pair("ans"))
    ending = (*pair("px_grad"), *pair("py_grad"))
    return raw.status(function, *first, *pair("ans"), True, raw.ffi.NULL, 0, *ending)


_FUNCTIONS = ("mluOpMutualInformationForward", "mluOpMutualInformationBackward")


@pytest.mark.parametrize("whole", [False, True])
def test_the_c_functions_write_the_same(raw: Raw, whole: bool) -> None:
    arrays = _arrays()
    boundary = None if whole else arrays["opt_boundary"]
    arrays["opt_boundary"] = boundary  # type: ignore[assignment]
    assert call(raw, _FUNCTIONS[0], arrays) == SUCCESS, raw.reason()
    ans, p = pymluops.mutual_information_forward(arrays["px"], arrays["py"], boundary)
    assert_same_bits(arrays["ans"], ans)
    assert_same_bits(arrays["p"], p)
    assert call(raw, _FUNCTIONS[1], arrays) == SUCCESS, raw.reason()
    found = pymluops.mutual_information_backward(arrays["px"], arrays["py"], boundary, p, ans, True)
    assert_same_bits(arrays["ans"], ans)
    assert_same_bits(arrays["px_grad"], found[0])
    assert_same_bits(arrays["py_grad"], found[1])


#: What replaces an array, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("px", np.ones((2, 3, 4), np.float32), NOT_SUPPORTED),  # steps that change both
    ("px", np.ones((2, 2, 5), np.float32), BAD_PARAM),
    ("px", np.ones((3, 3, 5), np.float32), BAD_PARAM),
    ("px", np.ones((2, 15), np.float32), BAD_PARAM),
    ("px", np.ones((2, 3, 5), np.float64), NOT_SUPPORTED),
    ("px", np.ones((2, 3, 10), np.float32)[..., ::2], NOT_SUPPORTED),
    ("py", np.ones((2, 4, 5), np.float32), NOT_SUPPORTED),
    ("py", np.ones((2, 3, 4), np.float32), BAD_PARAM),
    ("py", np.ones((1, 4, 4), np.float32), BAD_PARAM),
    ("py", np.ones((2, 16), np.float32), BAD_PARAM),
    ("py", np.ones((2, 4, 4), np.float16), NOT_SUPPORTED),
    ("py", np.ones((2, 4, 8), np.float32)[..., ::2], NOT_SUPPORTED),
    ("opt_boundary", np.ones((1, 4), np.int64), BAD_PARAM),
    ("opt_boundary", np.ones((2, 3), np.int64), BAD_PARAM),
    ("opt_boundary", np.ones(8, np.int64), BAD_PARAM),
    ("opt_boundary", np.ones((2, 4), np.int32), NOT_SUPPORTED),
    ("opt_boundary", np.ones((2, 8), np.int64)[:, ::2], NOT_SUPPORTED),
    ("opt_boundary", Descriptor((2, 4), "int64", pair=True), BAD_PARAM),
    ("opt_boundary", np.array([[0, 0, 3, 4], [-1, 0, 2, 2]]), BAD_PARAM),
    ("opt_boundary", np.array([[0, 0, 4, 4], [0, 0, 2, 2]]), BAD_PARAM),
    ("opt_boundary", np.array([[0, 5, 3, 4], [0, 0, 2, 2]]), BAD_PARAM),
    ("opt_boundary", np.array([[0, 0, 3, 2**40], [0, 0, 2, 2]]), BAD_PARAM),
    ("opt_boundary", np.array([[2**63 - 1, 0, 3, 1], [0, -(2**63), 2, 2]]), BAD_PARAM),
    ("p", np.ones((2, 4, 4), np.float32), BAD_PARAM),
    ("p", np.ones((2, 3, 5), np.float32), BAD_PARAM),
    ("p", np.ones((3, 4, 5), np.float32), BAD_PARAM),
    ("p", np.ones((2, 20), np.float32), BAD_PARAM),
    ("p", np.ones((2, 4, 5), np.int32), NOT_SUPPORTED),
    ("p", np.ones((2, 4, 10), np.float32)[..., ::2], NOT_SUPPORTED),
    ("p", Descriptor((2, 4, 5), pair=True), BAD_PARAM),
    ("ans", np.ones(3, np.float32), BAD_PARAM),
    ("ans", np.ones((2, 1), np.float32), BAD_PARAM),
    ("ans", np.ones(2, np.float64), NOT_SUPPORTED),
    ("ans", np.ones(4, np.float32)[::2], NOT_SUPPORTED),
    ("ans", Descriptor((2,), pair=True), BAD_PARAM),
    ("px_grad", np.ones((2, 3, 4), np.float32), BAD_PARAM),
    ("px_grad", np.ones((2, 3, 5), np.float64), NOT_SUPPORTED),
    ("px_grad", np.ones((2, 3, 10), np.float32)[..., ::2], NOT_SUPPORTED),
    ("py_grad", np.ones((1, 4, 4), np.float32), BAD_PARAM),
    ("py_grad", np.ones((2, 4, 4), np.int32), NOT_SUPPORTED),
    ("py_grad", np.ones((2, 4, 8), np.float32)[..., ::2], NOT_SUPPORTED),
]


@pytest.mark.parametrize(("name", "wrong", "wanted"), REFUSED)
def test_refused(raw: Raw, name: str, wrong: Any, wanted: int) -> None:
    outputs = {_FUNCTIONS[0]: ("p", "ans"), _FUNCTIONS[1]: ("px_grad", "py_grad")}
    for function in _FUNCTIONS[name.endswith("_grad") :]:
        arrays: dict[str, Any] = _arrays()
        for output in outputs[function]:
            arrays[output] = canary(arrays[output].shape, np.float32)
        arrays[name] = wrong
        assert call(raw, function, arrays) == wanted, raw.reason()
        assert all(is_canary(arrays[output]) for output in outputs[function] if output != name)


def test_regions_beside_their_table_are_named() -> None:
    given_arrays = _arrays()
    given_arrays["opt_boundary"][1, 3] = 5
    text = r"opt_boundary: expected s_begin and s_end from 0 to S=3, .* to T=4, got \[1, 1, 2, 5\] of batch 1"
    with pytest.raises(pymluops.BadParamError, match=text):
        pymluops.mutual_information_forward(*(given_arrays[name] for name in ("px", "py", "opt_boundary")))


def test_a_boundary_is_there_with_its_descriptor(raw: Raw) -> None:
    arrays = _arrays()
    data = raw.ffi.cast("void *", arrays["opt_boundary"].ctypes.data)
    given_tensors = [Tensor(arrays[name]) for name in ("px", "py", "p", "ans")]
    px, py, p, ans = given_tensors
    status = raw.status(_FUNCTIONS[0], px, py, raw.ffi.NULL, data, p, raw.ffi.NULL, 0, ans)
    assert status == BAD_PARAM and "opt_boundary_desc" in raw.reason()


def test_a_workspace_is_not_needed(raw: Raw) -> None:
    size, arrays = raw.ffi.new("size_t *", 7), _arrays()
    tables = [Descriptor(arrays[name].shape) for name in ("px", "py", "p", "ans")]
    forms: list[tuple[str, list[Any]]] = [("Forward", []), ("Backward", [False])]
    for name, more in forms:
        given_values = [*tables[:2], raw.ffi.NULL, *tables[2:], *more]
        function = f"mluOpGetMutualInformation{name}WorkspaceSize"
        size[0] = 7
        assert raw.status(function, *given_values, size) == SUCCESS and size[0] == 0
        assert raw.status(function, *given_values, raw.ffi.NULL) == BAD_PARAM
        assert raw.status(function, raw.ffi.NULL, *given_values[1:], size) == BAD_PARAM
    one = [Tensor(arrays[name]) for name in ("px", "py", "p", "ans")]
    status = raw.status(_FUNCTIONS[0], *one[:2], raw.ffi.NULL, raw.ffi.NULL, one[2], raw.ffi.NULL, 4, one[3])
    assert status == BAD_PARAM and "workspace" in raw.reason()


def test_nothing_to_do(raw: Raw) -> None:
    none = np.zeros((0, 3, 5), np.float32)
    ans, p = pymluops.mutual_information_forward(none, np.zeros((0, 4, 4), np.float32))
    assert ans.shape == (0,) and p.shape == (0, 4, 5)
    start = np.full(2, 3, np.float32)
    point, line = np.zeros((2, 0, 1), np.float32), np.zeros((2, 1, 0), np.float32)
    ans, p = pymluops.mutual_information_forward(point, line)
    assert ans.tolist() == [0, 0] and not p.any()
    found = pymluops.mutual_information_backward(point, line, None, p, start, True)
    assert [one.shape for one in found] == [(2, 0, 1), (2, 1, 0)] and start.tolist() == [3, 3]
    # Sequences without steps need no memory.
    arrays: dict[str, Any] = {
        "px": Descriptor((2, 0, 3), pair=True), "py": np.ones((2, 1, 2), np.float32), "opt_boundary": None,
        "p": np.ones((2, 1, 3), np.float32), "ans": np.ones(2, np.float32),
        "px_grad": Descriptor((2, 0, 3), pair=True), "py_grad": np.ones((2, 1, 2), np.float32),
    }  # fmt: skip
    for function in _FUNCTIONS:
        assert call(raw, function, arrays) == SUCCESS, raw.reason()
    assert arrays["ans"].tolist() == [2, 2] and arrays["py_grad"].ravel().tolist() == [2, 2, 2, 2]
