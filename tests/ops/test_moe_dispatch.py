"""moe_dispatch: rows of experts, and gradients of samples and gates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import moe_dispatch as oracle
from support.arrays import any_bits, canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.comparison import assert_close, assert_same_bits, assert_same_values
from support.selection import examples

SHAPES = st.fixed_dictionaries(
    {
        "samples": st.integers(1, 30),
        "capacity": st.integers(1, 12),
        "hidden": st.integers(1, 70) | st.just(40_000),
        "experts": st.integers(1, 5),
        "seed": st.integers(0, 2**32 - 1),
    }
)


def problem(s: dict[str, Any], kind: str = "float32") -> dict[str, np.ndarray]:
    """All inputs of the three; experts and locations of any samples, so that some share a row."""
    rng, samples = np.random.default_rng(s["seed"]), s["samples"]
    return {
        "gates": rng.normal(size=samples).astype(kind),
        "indices": rng.integers(-1, s["experts"] + 1, samples).astype(np.int32),
        "locations": rng.integers(-1, s["capacity"] + 1, samples).astype(np.int32),
        "input": rng.normal(size=(samples, s["hidden"])).astype(kind),
        "dispatch": rng.normal(size=(s["experts"] * s["capacity"], s["hidden"])).astype(kind),
    }


def forward(p: dict[str, np.ndarray], capacity: int, experts: int, **out: Any) -> np.ndarray:
    """The rows, by the function for the type."""
    known = described("moe_dispatch_forward")
    operator = double_of(known) if p["gates"].dtype == np.float64 else known
    inputs = (p["gates"], p["indices"], p["locations"], p["input"], out.get("out"))
    found: np.ndarray = operator(None, inputs, (*p["input"].shape[:1], capacity, p["input"].shape[1], experts))
    return found


# ---- values --------------------------------------------------------------------------------------


@examples(100)
@given(s=SHAPES, kind=st.sampled_from(["float32", "float64"]))
def test_rows_have_the_bits_of_the_products(s: dict[str, Any], kind: str) -> None:
    p = problem(s, kind)
    for name in ("indices", "locations"):
        p[name] = p[name][: s["experts"] * s["capacity"]]
    p["gates"], p["input"] = p["gates"][: len(p["indices"])], p["input"][: len(p["indices"])]
    given_arrays = (p["gates"], p["indices"], p["locations"], p["input"], s["capacity"], s["experts"])
    assert_same_bits(forward(p, s["capacity"], s["experts"]), oracle.forward(*given_arrays))
    out = p["dispatch"].copy()  # rows without a sample stay
    assert forward(p, s["capacity"], s["experts"], out=out) is out
    assert_same_bits(out, oracle.forward(*given_arrays, before=p["dispatch"]))


@examples(100)
@given(s=SHAPES)
def test_gradients(s: dict[str, Any]) -> None:
    p, sizes = problem(s), (s["samples"], s["capacity"], s["hidden"], s["experts"])
    routing, places = (p["indices"], p["locations"]), (s["capacity"], s["experts"])
    found = pymluops.moe_dispatch_backward_data(p["gates"], *routing, p["dispatch"], *sizes)
    assert_same_bits(found, oracle.backward_data(p["gates"], *routing, p["dispatch"], *places))
    gate = pymluops.moe_dispatch_backward_gate(*routing, p["input"], p["dispatch"], *sizes)
    assert_close(gate, oracle.backward_gate(*routing, p["input"], p["dispatch"], *places))


def test_of_several_samples_of_a_row_the_last_one_counts() -> None:
    rng = np.random.default_rng(2)
    samples, hidden = 3000, 40
    gates, values = rng.normal(size=samples).astype(np.float32), rng.normal(size=(samples, hidden)).astype(np.float32)
    indices, locations = rng.integers(0, 3, samples).astype(np.int32), rng.integers(0, 5, samples).astype(np.int32)
    before = pymluops.get_num_threads()
    try:
        for threads in (1, 4):
            pymluops.set_num_threads(threads)
            found = pymluops.moe_dispatch_forward(gates, indices, locations, values, samples, 1000, hidden, 3)
            assert_same_bits(found, oracle.forward(gates, indices, locations, values, 1000, 3))
    finally:
        pymluops.set_num_threads(before)


#: Samples, capacity, hidden and experts: the vendor's cases, the large ones with fewer samples.
NAMED = [(33, 10, 512, 2), (8, 256, 128, 2), (35, 35, 51201, 1), (1843, 1152, 512, 2), (460, 288, 1024, 2),
         (31, 288, 10240, 2)]  # fmt: skip


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_named_shapes(case: tuple[int, ...]) -> None:
    samples, capacity, _, experts = case
    p = problem(dict(zip(("samples", "capacity", "hidden", "experts"), case, strict=True), seed=3))
    routing = p["indices"], p["locations"]
    if samples <= capacity * experts:
        found = pymluops.moe_dispatch_forward(p["gates"], *routing, p["input"], *case)
        assert_same_bits(found, oracle.forward(p["gates"], *routing, p["input"], capacity, experts))
    found = pymluops.moe_dispatch_backward_data(p["gates"], *routing, p["dispatch"], *case)
    assert_same_bits(found, oracle.backward_data(p["gates"], *routing, p["dispatch"], capacity, experts))
    found = pymluops.moe_dispatch_backward_gate(*routing, p["input"], p["dispatch"], *case)
    assert_close(found, oracle.backward_gate(*routing, p["input"], p["dispatch"], capacity, experts))


def test_results_larger_than_the_caches() -> None:
    rng = np.random.default_rng(5)
    samples, capacity, hidden, experts = 9000, 2500, 1030, 4  # 37 MB
    indices, locations = oracle.route(rng, samples, capacity, experts)
    gates, values = rng.normal(size=samples).astype(np.float32), rng.random((samples, hidden), np.float32)
    rows = np.ones((experts * capacity, hidden + 3), np.float32)[:, :hidden].copy()
    sizes = (samples, capacity, hidden, experts)
    wanted = oracle.forward(gates, indices, locations, values, capacity, experts, rows)
    assert_same_bits(pymluops.moe_dispatch_forward(gates, indices, locations, values, *sizes, out=rows), wanted)
    back = pymluops.moe_dispatch_backward_data(gates, indices, locations, rows, *sizes)
    assert_same_bits(back, oracle.backward_data(gates, indices, locations, rows, capacity, experts))


@examples(60)
@given(seed=st.integers(0, 2**32 - 1))
def test_any_bits_and_any_integers(seed: int) -> None:
    rng = np.random.default_rng(seed)
    samples, capacity, hidden, experts = 12, 4, 5, 3
    gates, values = any_bits(rng, (samples,), "float32"), any_bits(rng, (samples, hidden), "float32")
    rows = any_bits(rng, (12, hidden), "float32")
    extreme = np.array([-(2**31), 2**31 - 1, -1, 0, 1, 2, 3, 4], np.int32)
    indices, locations = rng.choice(extreme, samples), rng.choice(extreme, samples)
    sizes, places = (samples, capacity, hidden, experts), (capacity, experts)
    found = pymluops.moe_dispatch_forward(gates, indices, locations, values, *sizes)
    assert_same_values(found, oracle.forward(gates, indices, locations, values, *places))
    found = pymluops.moe_dispatch_backward_data(gates, indices, locations, rows, *sizes)
    assert_same_values(found, oracle.backward_data(gates, indices, locations, rows, *places))
    found = pymluops.moe_dispatch_backward_gate(indices, locations, values, rows, *sizes)
    wanted = oracle.backward_gate(indices, locations, values, rows, *places)
    reached = {sample for sample, _ in oracle.routes(indices, locations, *places)}
    assert not found[[i for i in range(samples) if i not in reached]].any()
    assert np.isnan(found[np.isnan(wanted)]).all()


def test_nothing_to_do() -> None:
    none, floats = np.zeros(0, np.int32), np.zeros(0, np.float32)
    rows = pymluops.moe_dispatch_forward(floats, none, none, np.zeros((0, 3), np.float32), 0, 2, 3, 2)
    assert rows.shape == (4, 3) and not rows.any()
    kept = np.ones((4, 3), np.float32)
    pymluops.moe_dispatch_forward(floats, none, none, np.zeros((0, 3), np.float32), 0, 2, 3, 2, out=kept)
    assert (kept == 1).all()
    two = np.zeros(2, np.int32)
    for capacity, experts in ((0, 3), (3, 0)):  # all samples go nowhere
        empty = np.zeros((0, 3), np.float32)
        out = np.full((2, 3), np.nan, np.float32)
        gates, values = np.ones(2, np.float32), np.ones((2, 3), np.float32)
        pymluops.moe_dispatch_backward_data(gates, two, two, empty, 2, capacity, 3, experts, out=out)
        assert not out.any()
        out = np.full(2, np.nan, np.float32)
        pymluops.moe_dispatch_backward_gate(two, two, values, empty, 2, capacity, 3, experts, out=out)
        assert not out.any()
    wide = np.zeros((2, 0), np.float32)
    out = np.full(2, np.nan, np.float32)
    assert not pymluops.moe_dispatch_backward_gate(
        two, two, wide, np.zeros((4, 0), np.float32), 2, 2, 0, 2, out=out
    ).any()


# ---- the C functions -----------------------------------------------------------------------------


def _arrays() -> dict[str, np.ndarray]:
    s = {"samples": 5, "capacity": 3, "hidden": 4, "experts": 2, "seed": 1}
    return problem(s) | {"grad_input": np.ones((5, 4), np.float32), "grad_gates": np.ones(5, np.float32)}


_CALLS = {
    "mluOpMoeDispatchForward": (("gates", "indices", "locations", "input"), "dispatch"),
    "mluOpMoeDispatchBackwardData": (("gates", "indices", "locations", "dispatch"), "grad_input"),
    "mluOpMoeDispatchBackwardGate": (("indices", "locations", "input", "dispatch"), "grad_gates"),
}
_NAMES = {
    "mluOpMoeDispatchForward": "moe_dispatch_forward",
    "mluOpMoeDispatchBackwardData": "moe_dispatch_backward_data",
    "mluOpMoeDispatchBackwardGate": "moe_dispatch_backward_gate",
}
_SIZES = {"samples": 5, "capacity": 3, "hidden": 4, "num_experts": 2}


def call(raw: Raw, function: str, arrays: dict[str, Any], sizes: dict[str, int]) -> int:
    """Status of a C function."""
    inputs, output = _CALLS[function]
    workspace = [raw.ffi.NULL, 0] if function.endswith("Gate") else []
    given_tensors = [Tensor(arrays[name]) for name in inputs]
    return raw.status(function, *given_tensors, *sizes.values(), *workspace, Tensor(arrays[output]))


@pytest.mark.parametrize("function", _CALLS)
def test_the_c_functions_write_the_same(raw: Raw, function: str) -> None:
    arrays, (inputs, output) = _arrays(), _CALLS[function]
    out = np.zeros_like(arrays[output])
    assert call(raw, function, arrays | {output: out}, _SIZES) == SUCCESS, raw.reason()
    wanted = getattr(pymluops, _NAMES[function])(*(arrays[one] for one in inputs), *_SIZES.values())
    assert_same_bits(out, wanted)


#: What replaces an array or a number, and the status.
REFUSED: list[tuple[str, Any, int]] = [
    ("gates", np.ones(4, np.float32), BAD_PARAM),
    ("gates", np.ones((5, 1), np.float32), BAD_PARAM),
    ("gates", np.ones(5, np.float16), BAD_PARAM),
    ("gates", np.ones(10, np.float32)[::2], NOT_SUPPORTED),
    ("indices", np.ones(6, np.int32), BAD_PARAM),
    ("indices", np.ones((5, 1), np.int32), BAD_PARAM),
    ("indices", np.ones(5, np.int64), BAD_PARAM),
    ("indices", np.ones(10, np.int32)[::2], NOT_SUPPORTED),
    ("locations", np.ones(6, np.int32), BAD_PARAM),
    ("locations", np.ones((5, 1), np.int32), BAD_PARAM),
    ("locations", np.ones(5, np.float32), BAD_PARAM),
    ("locations", np.ones(10, np.int32)[::2], NOT_SUPPORTED),
    ("input", np.ones((4, 4), np.float32), BAD_PARAM),
    ("input", np.ones((5, 3), np.float32), BAD_PARAM),
    ("input", np.ones(20, np.float32), BAD_PARAM),
    ("input", np.ones((5, 4), np.float64), BAD_PARAM),
    ("input", np.ones((5, 8), np.float32)[:, ::2], NOT_SUPPORTED),
    ("dispatch", np.ones((5, 4), np.float32), BAD_PARAM),
    ("dispatch", np.ones((6, 3), np.float32), BAD_PARAM),
    ("dispatch", np.ones((6, 4, 1), np.float32), BAD_PARAM),
    ("dispatch", np.ones((6, 4), np.float16), BAD_PARAM),
    ("dispatch", np.ones((6, 8), np.float32)[:, ::2], NOT_SUPPORTED),
    ("grad_input", np.ones((5, 3), np.float32), BAD_PARAM),
    ("grad_input", np.ones((5, 4), np.int32), BAD_PARAM),
    ("grad_input", np.ones((5, 8), np.float32)[:, ::2], NOT_SUPPORTED),
    ("grad_gates", np.ones(4, np.float32), BAD_PARAM),
    ("grad_gates", np.ones(5, np.int32), BAD_PARAM),
    ("grad_gates", np.ones(10, np.float32)[::2], NOT_SUPPORTED),
    ("samples", 4, BAD_PARAM),
    ("samples", -1, BAD_PARAM),
    ("capacity", 2, BAD_PARAM),
    ("capacity", -3, BAD_PARAM),
    ("hidden", 5, BAD_PARAM),
    ("hidden", -1, BAD_PARAM),
    ("num_experts", 3, BAD_PARAM),
    ("num_experts", -2, BAD_PARAM),
]


@pytest.mark.parametrize(("name", "wrong", "wanted"), REFUSED)
@pytest.mark.parametrize("function", _CALLS)
def test_refused(raw: Raw, function: str, name: str, wrong: Any, wanted: int) -> None:
    inputs, output = _CALLS[function]
    if name not in (*inputs, output, *_SIZES):
        return
    arrays, sizes = _arrays(), {**_SIZES, **({name: wrong} if name in _SIZES else {})}
    arrays[output] = canary(arrays[output].shape, np.float32)
    if name not in sizes:
        arrays[name] = wrong
    assert call(raw, function, arrays, sizes) == wanted
    assert raw.reason()
    assert name == output or is_canary(arrays[output])


def test_more_samples_than_places(raw: Raw) -> None:
    arrays = _arrays() | {"dispatch": canary((4, 4), np.float32)}
    sizes = {**_SIZES, "capacity": 2}
    assert call(raw, "mluOpMoeDispatchForward", arrays, sizes) == BAD_PARAM
    assert raw.reason().endswith("samples <= num_experts * capacity=4, got samples=5")
    assert is_canary(arrays["dispatch"])
    strided = arrays | {"input": np.ones((5, 8), np.float32)[:, ::2]}
    assert call(raw, "mluOpMoeDispatchForward", strided, sizes) == NOT_SUPPORTED  # asked before
    arrays["dispatch"] = np.ones((4, 4), np.float32)
    for function in ("mluOpMoeDispatchBackwardData", "mluOpMoeDispatchBackwardGate"):  # these take any number
        assert call(raw, function, arrays, sizes) == SUCCESS, raw.reason()


def test_empty_calls_need_no_memory(raw: Raw) -> None:
    def null(*shape: int, kind: Any = np.float32) -> Tensor:
        return Tensor(np.zeros(shape, kind), address=0)

    numbers = null(5, kind=np.int32)
    status = raw.status("mluOpMoeDispatchForward", null(5), numbers, numbers, null(5, 0), 5, 3, 0, 2, null(6, 0))
    assert status == SUCCESS, raw.reason()
    out = canary((5, 4), np.float32)
    status = raw.status("mluOpMoeDispatchBackwardData", null(5), numbers, numbers, null(0, 4), 5, 0, 4, 2, Tensor(out))
    assert status == SUCCESS and not out.any()
    out = canary((5,), np.float32)
    status = raw.status("mluOpMoeDispatchBackwardGate", numbers, numbers, null(5, 4), null(0, 4), 5, 3, 4, 0,
                        raw.ffi.NULL, 8, Tensor(out))  # fmt: skip
    assert status == SUCCESS and not out.any()
    status = raw.status("mluOpMoeDispatchBackwardGate", numbers, numbers, null(5, 4), null(0, 4), 5, 3, 4, 0,
                        raw.ffi.NULL, 0, null(5))  # fmt: skip
    assert status == BAD_PARAM


def test_the_workspace_is_empty(raw: Raw) -> None:
    size = raw.ffi.new("size_t *", 7)
    name = "mluOpGetMoeDispatchBackwardGateWorkspaceSize"
    assert raw.status(name, Descriptor((5, 4)), size) == SUCCESS and size[0] == 0
    assert raw.status(name, raw.ffi.NULL, size) == BAD_PARAM
    assert raw.status(name, Descriptor((5, 4)), raw.ffi.NULL) == BAD_PARAM


# ---- fewer places than samples -------------------------------------------------------------------


@pytest.mark.parametrize(("samples", "capacity", "experts"), [(40, 3, 4), (7, 1, 1), (9, 0, 3), (9, 2, 0), (13, 4, 3)])
def test_samples_beyond_the_places_of_their_expert_are_dropped(samples: int, capacity: int, experts: int) -> None:
    """Locations count the samples of an expert, as a router gives them; forward and both gradients."""
    rng = np.random.default_rng(samples)
    gates, values = rng.normal(size=samples).astype(np.float32), rng.normal(size=(samples, 5)).astype(np.float32)
    indices = rng.integers(0, max(experts, 1), samples).astype(np.int32)
    locations = np.array([(indices[:i] == indices[i]).sum() for i in range(samples)], np.int32)
    sizes = samples, capacity, 5, experts
    rows = pymluops.moe_dispatch_forward(gates, indices, locations, values, *sizes)
    np.testing.assert_array_equal(rows, oracle.forward(gates, indices, locations, values, capacity, experts))
    there = (locations < capacity) & (indices < experts)
    assert there.sum() < samples
    by_hand = np.zeros((experts * capacity, 5), np.float32)
    for i in np.flatnonzero(there):
        by_hand[indices[i] * capacity + locations[i]] = gates[i] * values[i]
    np.testing.assert_array_equal(rows, by_hand)
    grad = rng.normal(size=rows.shape).astype(np.float32)
    of_values = pymluops.moe_dispatch_backward_data(gates, indices, locations, grad, *sizes)
    of_gates = pymluops.moe_dispatch_backward_gate(indices, locations, values, grad, *sizes)
    assert (of_values[~there] == 0).all() and (of_gates[~there] == 0).all()
    for i in np.flatnonzero(there):
        row = grad[indices[i] * capacity + locations[i]]
        np.testing.assert_array_equal(of_values[i], gates[i] * row)
        np.testing.assert_allclose(of_gates[i], values[i] @ row, rtol=1e-4, atol=1e-5)


def test_rows_without_a_sample_stay_when_samples_are_dropped() -> None:
    out = np.full((4, 1), 7, np.float32)
    gates, values = np.float32([2, 3, 5, 7, 9]), np.ones((5, 1), np.float32)
    indices, locations = np.array([0, 0, 0, 5, -1], np.int32), np.array([0, 2, -1, 0, 0], np.int32)
    assert pymluops.moe_dispatch_forward(gates, indices, locations, values, 5, 2, 1, 2, out=out) is out
    assert out.ravel().tolist() == [2, 7, 7, 7]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"input": np.ones((4, 2), np.float32)}, r"input: expected shape \[samples=5, hidden=2\]"),
        ({"gates": np.ones(5, np.float64)}, "gates: expected dtype float32"),
        ({"capacity": -1}, "capacity: expected an integer from 0"),
        ({"capacity": 1.5}, "capacity: expected an integer"),
        ({"samples": True}, "samples: expected an integer"),
        ({"out": np.ones((3, 2), np.float32)}, r"out: expected shape \[num_experts\*capacity=2, hidden=2\]"),
    ],
)
def test_refusals_with_dropped_samples(change: dict[str, Any], text: str) -> None:
    numbers = np.zeros(5, np.int32)
    given = {
        "gates": np.ones(5, np.float32), "indices": numbers, "locations": numbers, "input": np.ones((5, 2), np.float32),
        "samples": 5, "capacity": 1, "hidden": 2, "num_experts": 2,
    }  # fmt: skip
    pymluops.moe_dispatch_forward(**given)
    with pytest.raises(pymluops.BadParamError, match=f"moe_dispatch_forward: {text}"):
        pymluops.moe_dispatch_forward(**{**given, **change})
