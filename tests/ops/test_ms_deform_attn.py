"""ms_deform_attn forward and backward."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pymluops
from oracle import ms_deform_attn as oracle
from oracle.ms_deform_attn import Inputs
from raw import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support import assert_close, assert_same_values, canary, is_canary, python_output

INPUTS = ("value", "spatial_shapes", "level_start_index", "sampling_loc", "attn_weight")
GRADIENTS = ("grad_value", "grad_sampling_loc", "grad_attn_weight")


def ms_deform_attn_forward(*inputs: np.ndarray, im2col_step: int) -> np.ndarray:
    """The operator: data_col."""
    arrays = dict(zip(INPUTS, inputs, strict=True))
    value, weight = arrays["value"], arrays["attn_weight"]
    out = canary((*weight.shape[:3], value.shape[3]), "float32")
    with Raw(pymluops.load("cpu")) as raw:
        assert forward_status(raw, {**arrays, "data_col": out}, im2col_step) == SUCCESS, raw.reason()
    return out


def ms_deform_attn_backward(*inputs: np.ndarray, im2col_step: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The operator for the five inputs and grad_output: gradients of value, sampling_loc and attn_weight."""
    arrays = dict(zip((*INPUTS, "grad_output"), inputs, strict=True))
    outputs = [canary(arrays[name.removeprefix("grad_")].shape, "float32") for name in GRADIENTS]
    with Raw(pymluops.load("cpu")) as raw:
        all_arrays = {**arrays, **dict(zip(GRADIENTS, outputs, strict=True))}
        assert backward_status(raw, all_arrays, im2col_step) == SUCCESS, raw.reason()
    return outputs[0], outputs[1], outputs[2]


def _tensors(arrays: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    return [Tensor(arrays[name]) if isinstance(arrays[name], np.ndarray) else arrays[name] for name in names]


def forward_status(raw: Raw, arrays: dict[str, Any], im2col_step: int = 1) -> int:
    """Status of the C function; arrays stand for packed tensors."""
    column = _tensors(arrays, ("data_col",))
    return raw.status("mluOpMsDeformAttnForward", *_tensors(arrays, INPUTS), im2col_step, *column)


def backward_status(raw: Raw, arrays: dict[str, Any], im2col_step: int = 1) -> int:
    """Status of the C function; arrays stand for packed tensors."""
    inputs, outputs = _tensors(arrays, (*INPUTS, "grad_output")), _tensors(arrays, GRADIENTS)
    return raw.status("mluOpMsDeformAttnBackward", *inputs, im2col_step, *outputs)


# ---- inputs ----------------------------------------------------------------------------------------------------------


def make_inputs(
    rng: np.random.Generator,
    batch: int,
    queries: int,
    heads: int,
    channels: int,
    levels: list[tuple[int, int]],
    points: int,
    spread: float = 0.0,
) -> Inputs:
    """Levels one behind another; locations from -spread to 1 + spread."""
    shapes = np.array(levels, np.int32).reshape(-1, 2)
    sizes = shapes.prod(1, dtype=np.int32)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)[: len(levels)]
    samples = (batch, queries, heads, len(levels), points)
    value = rng.normal(size=(batch, int(sizes.sum()), heads, channels)).astype(np.float32)
    locations = rng.uniform(-spread, 1 + spread, (*samples, 2)).astype(np.float32)
    return Inputs(value, shapes, starts, locations, rng.random(samples, np.float32))


def make_grad(rng: np.random.Generator, inputs: Inputs) -> np.ndarray:
    shape = (*inputs.attn_weight.shape[:3], inputs.value.shape[3])
    return rng.normal(size=shape).astype(np.float32)


def assert_forward(inputs: Inputs) -> None:
    """The order of operations is the documented one: the same bits as computing so in float32."""
    assert_same_values(ms_deform_attn_forward(*inputs, im2col_step=1), oracle.forward(inputs, np.float32))


def assert_backward(inputs: Inputs, grad: np.ndarray) -> None:
    """Sums over channels are in an order of their own, so they are compared with those in float64."""
    found = ms_deform_attn_backward(*inputs, grad, im2col_step=1)
    assert_same_values(found[0], oracle.backward(inputs, grad, np.float32)[0])
    for got, name, exact in zip(found, GRADIENTS, oracle.backward(inputs, grad), strict=True):
        assert np.isfinite(got).all(), name
        # A sum whose terms cancel is as wrong as its terms are large; locations decide on the weights of corners.
        scale = np.abs(exact).max(initial=0) + 1e-30
        np.testing.assert_allclose(got / scale, exact / scale, rtol=0, atol=3e-5, err_msg=name)


# ---- named shapes ----------------------------------------------------------------------------------------------------


def test_the_vendors_forward_case() -> None:
    rng = np.random.default_rng(1)
    inputs = make_inputs(rng, 1, 2, 2, 2, [(6, 4), (3, 2)], 2)
    assert_forward(inputs._replace(value=inputs.value * np.float32(0.01)))
    same = ms_deform_attn_forward(*inputs, im2col_step=2)
    assert_close(same, oracle.forward(inputs))


def test_the_vendors_backward_case_has_all_samples_on_the_rim() -> None:
    rng = np.random.default_rng(2)
    inputs = make_inputs(rng, 1, 2, 2, 2, [(1, 2), (3, 4)], 2)
    inputs = inputs._replace(sampling_loc=rng.integers(0, 2, inputs.sampling_loc.shape).astype(np.float32))
    assert_forward(inputs)
    assert_backward(inputs, rng.uniform(-10, 10, (1, 2, 2, 2)).astype(np.float32))


@pytest.mark.parametrize("channels", [4, 30, 32, 64, 71, 1025])
def test_the_channels_of_mmcv(channels: int) -> None:
    rng = np.random.default_rng(channels)
    inputs = make_inputs(rng, 1, 2, 2, channels, [(3, 2), (2, 1)], 2)
    assert_forward(inputs)
    assert_backward(inputs, make_grad(rng, inputs))


def test_a_network_in_small() -> None:
    rng = np.random.default_rng(3)
    inputs = make_inputs(rng, 2, 60, 8, 32, [(20, 30), (10, 15), (5, 8), (3, 4)], 8, spread=0.05)
    assert_forward(inputs)
    assert_backward(inputs, make_grad(rng, inputs))


# ---- values ----------------------------------------------------------------------------------------------------------

SIZES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 3),
        "queries": st.integers(1, 5),
        "heads": st.integers(1, 3),
        "channels": st.integers(1, 70),
        "levels": st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=3),
        "points": st.integers(1, 3) | st.just(20),
        "spread": st.sampled_from([0.0, 0.4, 3.0]),
    }
)


@settings(max_examples=100)
@given(sizes=SIZES, seed=st.integers(0, 2**32 - 1))
def test_random_shapes(sizes: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = make_inputs(rng, **sizes)
    assert_forward(inputs)
    assert_backward(inputs, make_grad(rng, inputs))


@settings(max_examples=100)
@given(sizes=SIZES, seed=st.integers(0, 2**32 - 1))
def test_values_and_locations_that_are_not_finite(sizes: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    specials = np.array([np.nan, np.inf, -np.inf, -0.0, 1e38, 1e-44], np.float32)
    inputs = make_inputs(rng, **sizes)
    value, locations, weights, grad = (
        np.where(rng.random(a.shape) < 0.1, rng.choice(specials, a.shape), a)
        for a in (inputs.value, inputs.sampling_loc, inputs.attn_weight, make_grad(rng, inputs))
    )
    inputs = inputs._replace(value=value, sampling_loc=locations, attn_weight=weights)
    assert_forward(inputs)
    found = ms_deform_attn_backward(*inputs, grad, im2col_step=1)
    expected = oracle.backward(inputs, grad, np.float32)
    assert_same_values(found[0], expected[0])
    for got, wanted in zip(found[1:], expected[1:], strict=True):
        # Whether 1e38 overflows in a sum depends on its order: only what had no infinity or NaN anywhere is compared.
        assert ((got == 0) | (wanted != 0) | (np.abs(got) < 1e-30)).all()
        assert (np.isnan(wanted) <= ~np.isfinite(got)).all()


def test_the_oracles_gradients_are_differences_of_its_results() -> None:
    rng = np.random.default_rng(9)
    inputs = Inputs(*(a.astype(np.float64) if a.dtype == np.float32 else a for a in make_inputs(
        rng, 1, 2, 2, 3, [(3, 4), (2, 2)], 2, spread=0.1)))  # fmt: skip
    grad = rng.normal(size=(1, 2, 2, 3))
    gradients = oracle.backward(inputs, grad)
    for name, gradient in zip(("value", "sampling_loc", "attn_weight"), gradients, strict=True):
        array = getattr(inputs, name)
        for place in np.ndindex(array.shape):
            moved = [array.copy(), array.copy()]
            moved[0][place] += 1e-6
            moved[1][place] -= 1e-6
            above, below = (oracle.forward(inputs._replace(**{name: a})) for a in moved)
            difference = ((above - below) * grad).sum() / 2e-6
            assert gradient[place] == pytest.approx(difference, rel=1e-5, abs=1e-6), (name, place)


@pytest.mark.parametrize("location", [np.nan, np.inf, -np.inf, -0.25, 1.25, 1e30, -3e38])
def test_samples_outside_add_nothing(location: float) -> None:
    # On a map of 2 x 2, x of -0.25 is -1 and x of 1.25 is 2: the rim itself does not count.
    rng = np.random.default_rng(4)
    inputs = make_inputs(rng, 1, 3, 2, 5, [(2, 2)], 1)
    for axis in (0, 1):
        inputs.sampling_loc[..., axis] = location
        inputs.attn_weight[...] = np.nan
        assert (ms_deform_attn_forward(*inputs, im2col_step=1) == 0).all()
        for gradient in ms_deform_attn_backward(*inputs, make_grad(rng, inputs), im2col_step=1):
            assert (gradient == 0).all()
        inputs.sampling_loc[..., axis] = 0.5


def test_what_lies_beside_a_map_is_not_read() -> None:
    rng = np.random.default_rng(5)
    inputs = make_inputs(rng, 1, 4, 1, 3, [(2, 2)], 2, spread=0.2)
    value = np.full((1, 12, 1, 3), np.nan, np.float32)
    value[:, 4:8] = inputs.value
    inside = inputs._replace(value=value, level_start_index=np.array([4], np.int32))
    found = ms_deform_attn_forward(*inside, im2col_step=1)
    np.testing.assert_array_equal(found, ms_deform_attn_forward(*inputs, im2col_step=1))
    gradients = ms_deform_attn_backward(*inside, make_grad(rng, inputs), im2col_step=1)
    assert all(np.isfinite(gradient).all() for gradient in gradients)
    assert (gradients[0][:, :4] == 0).all()
    assert (gradients[0][:, 8:] == 0).all()


def test_levels_may_overlap_and_leave_gaps() -> None:
    rng = np.random.default_rng(6)
    inputs = make_inputs(rng, 2, 5, 2, 7, [(3, 3), (2, 4), (1, 5)], 3)
    inputs = inputs._replace(level_start_index=np.array([13, 3, 4], np.int32))
    assert_forward(inputs)
    assert_backward(inputs, make_grad(rng, inputs))


def test_levels_without_pixels() -> None:
    rng = np.random.default_rng(8)
    inputs = make_inputs(rng, 1, 4, 2, 3, [(0, 3), (2, 2), (2, 0), (0, 0)], 2)
    assert_forward(inputs)
    assert_backward(inputs, make_grad(rng, inputs))


def test_infinite_weights_reach_only_their_channels() -> None:
    # In the last vector of channels, lanes behind the last one must not make 0 * inf of what is not there.
    inputs = make_inputs(np.random.default_rng(7), 1, 1, 1, 5, [(2, 2)], 1)
    inputs.value[...] = np.arange(4, dtype=np.float32)[None, :, None, None]
    inputs.attn_weight[...] = np.inf
    inputs.sampling_loc[...] = 0.5
    grad = np.ones((1, 1, 1, 5), np.float32)
    grad_value, grad_loc, grad_weight = ms_deform_attn_backward(*inputs, grad, im2col_step=1)
    assert np.isposinf(grad_value).all()
    assert np.isposinf(grad_loc).all()
    assert grad_weight.item() == 5 * 1.5


# ---- zero elements ---------------------------------------------------------------------------------------------------


def _arrays(**sizes: int) -> dict[str, Any]:
    """All arrays of both directions for B, Q, M, C, L, P and K, which are small if not given."""
    b, q, m, c, levels, p, k = ({"b": 2, "q": 3, "m": 2, "c": 4, "l": 2, "p": 2, "k": 5} | sizes).values()
    samples = (b, q, m, levels, p)
    shapes = np.array([[2, 2], [1, 1]], np.int32)[:levels] if k else np.zeros((levels, 2), np.int32)
    ones = {"value": (b, k, m, c), "sampling_loc": (*samples, 2), "attn_weight": samples, "grad_output": (b, q, m, c)}
    arrays = {name: np.full(shape, 0.5, np.float32) for name, shape in ones.items()}
    arrays["spatial_shapes"] = shapes
    arrays["level_start_index"] = np.array([0, 4], np.int32)[:levels] if k else np.zeros(levels, np.int32)
    arrays["data_col"] = canary((b, q, m, c), "float32")
    for name in GRADIENTS:
        arrays[name] = canary(arrays[name.removeprefix("grad_")].shape, "float32")
    return arrays


def _without_memory(arrays: dict[str, Any], kept: tuple[str, ...]) -> dict[str, Any]:
    return {
        name: a if name in kept else Descriptor(a.shape, a.dtype.name, pair=True) for name, a in arrays.items()
    }  # fmt: skip


@pytest.mark.parametrize("size", ["l", "p"])
def test_forward_without_samples_gives_zeros(raw: Raw, size: str) -> None:
    arrays = _arrays(**{size: 0})
    assert forward_status(raw, _without_memory(arrays, ("data_col",)), -1) == SUCCESS, raw.reason()
    assert (arrays["data_col"] == 0).all()
    assert forward_status(raw, _without_memory(arrays, ()), 1) == BAD_PARAM
    assert ": data_col: expected a pointer" in raw.reason()


@pytest.mark.parametrize("size", ["b", "m", "c", "q"])
def test_sizes_that_must_not_be_zero(raw: Raw, size: str) -> None:
    arrays = _arrays(**{size: 0})
    assert forward_status(raw, arrays) == BAD_PARAM
    assert "data_col_desc: expected at least one element" in raw.reason()
    assert backward_status(raw, arrays) == BAD_PARAM
    assert ("im2col_step" if size == "b" else "grad_output_desc: expected at least one element") in raw.reason()


@pytest.mark.parametrize(
    ("sizes", "zeros"),
    [
        ({"l": 0}, ()),
        ({"l": 0, "k": 0, "p": 0}, ()),
        ({"k": 0, "p": 0}, ()),
        ({"p": 0}, ("grad_value",)),
        ({"k": 0}, ("grad_sampling_loc", "grad_attn_weight")),
    ],
)
def test_backward_without_samples_or_keys(raw: Raw, sizes: dict[str, int], zeros: tuple[str, ...]) -> None:
    arrays = _arrays(**sizes)
    assert backward_status(raw, _without_memory(arrays, zeros)) == SUCCESS, raw.reason()
    assert backward_status(raw, arrays) == SUCCESS
    for name in GRADIENTS:
        assert (arrays[name] == 0).all() if name in zeros else is_canary(arrays[name])
    for name in zeros:
        assert backward_status(raw, _without_memory(arrays, tuple(set(zeros) - {name}))) == BAD_PARAM
        assert f": {name}: expected a pointer" in raw.reason()


def test_forward_without_keys_adds_zeros(raw: Raw) -> None:
    arrays = _arrays(k=0)
    assert forward_status(raw, arrays) == SUCCESS, raw.reason()
    assert (arrays["data_col"] == 0).all()


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("batch", "step"), [(2, 0), (2, -1), (6, 4), (6, 5), (2, -(2**31))])
def test_steps_that_are_refused(raw: Raw, batch: int, step: int) -> None:
    arrays = _arrays(b=batch)
    for status in (forward_status, backward_status):
        assert status(raw, arrays, step) == BAD_PARAM
        assert ": im2col_step: expected" in raw.reason()
    assert is_canary(arrays["data_col"])
    assert is_canary(arrays["grad_value"])


@pytest.mark.parametrize("step", [1, 2, 3, 6, 7, 2**31 - 1])
def test_a_step_changes_nothing(raw: Raw, step: int) -> None:
    arrays = _arrays(b=6)
    assert forward_status(raw, arrays, step) == SUCCESS
    assert backward_status(raw, arrays, step) == SUCCESS
    once = _arrays(b=6)
    assert forward_status(raw, once, 1) == SUCCESS
    assert arrays["data_col"].tobytes() == once["data_col"].tobytes()


@pytest.mark.parametrize(
    ("shapes", "starts", "told"),
    [
        ([[2, 2], [1, -1]], [0, 4], "spatial_shapes"),
        ([[-1, -1], [1, 1]], [0, 4], "spatial_shapes"),
        ([[2, 2], [1, 1]], [0, 5], "level_start_index"),
        ([[2, 2], [1, 1]], [-1, 4], "level_start_index"),
        ([[2, 3], [1, 1]], [0, 4], "level_start_index"),
        ([[2**31 - 1, 2**31 - 1], [1, 1]], [2**31 - 1, 4], "level_start_index"),
        ([[2, 2], [0, 0]], [0, 6], "level_start_index"),
    ],
)
def test_levels_outside_of_the_keys(raw: Raw, shapes: list[list[int]], starts: list[int], told: str) -> None:
    arrays = _arrays()
    arrays["spatial_shapes"], arrays["level_start_index"] = np.array(shapes, np.int32), np.array(starts, np.int32)
    assert forward_status(raw, arrays) == BAD_PARAM
    assert f": data_{told}: expected" in raw.reason()
    assert backward_status(raw, arrays) == BAD_PARAM
    assert f": {told}: expected" in raw.reason()
    assert all(is_canary(arrays[name]) for name in ("data_col", *GRADIENTS))


def test_null_in_order(raw: Raw) -> None:
    null = raw.ffi.NULL
    for function, count in (("mluOpMsDeformAttnForward", 5), ("mluOpMsDeformAttnBackward", 6)):
        outputs = [null] * (2 if count == 5 else 6)
        call = getattr(raw.lib, function)
        assert call(null, *[null] * 2 * count, 0, *outputs) == BAD_PARAM
        assert ": handle:" in raw.reason()
        assert call(raw.handle, *[null] * 2 * count, 0, *outputs) == BAD_PARAM
        assert "value_desc:" in raw.reason()
    arrays = _arrays()
    orders = {
        forward_status: ("", (*INPUTS, "data_col")),
        backward_status: (None, (*INPUTS, "grad_output", *GRADIENTS)),
    }
    for status, (prefix, names) in orders.items():
        for name in names:
            assert status(raw, _without_memory(arrays, tuple(set(arrays) - {name}))) == BAD_PARAM
            told = name if prefix is None or name == "data_col" else f"data_{name}"
            assert f": {told}: expected a pointer" in raw.reason()


def _extra(array: np.ndarray, axis: int) -> np.ndarray:
    """The array with one more place along an axis."""
    return np.concatenate([array, array.take([0], axis)], axis)


#: Axes that must agree with those of other tensors, for each tensor; one that differs is refused.
AXES = {
    "value": (0, 2, 3),
    "spatial_shapes": (0, 1),
    "level_start_index": (0,),
    "sampling_loc": (0, 1, 2, 3, 4, 5),
    "attn_weight": (0, 1, 2, 3, 4),
}
FORWARD_AXES = [(name, axis) for name, axes in {**AXES, "data_col": (0, 1, 2, 3)}.items() for axis in axes]
BACKWARD_AXES = [
    (name, axis)
    for name, axes in {
        **AXES,
        "value": (0, 1, 2, 3),
        "grad_output": (0, 1, 2, 3),
        "grad_value": (0, 1, 2, 3),
        "grad_sampling_loc": (0, 1, 2, 3, 4, 5),
        "grad_attn_weight": (0, 1, 2, 3, 4),
    }.items()
    for axis in axes
]


def _intact(arrays: dict[str, Any], changed: str, outputs: tuple[str, ...]) -> bool:
    return all(is_canary(arrays[name]) for name in outputs if name != changed)


@pytest.mark.parametrize(("name", "axis"), FORWARD_AXES)
def test_forward_refuses_other_shapes(raw: Raw, name: str, axis: int) -> None:
    arrays = _arrays()
    arrays[name] = _extra(arrays[name], axis)
    assert forward_status(raw, arrays) == BAD_PARAM
    assert "_desc: expected dim" in raw.reason()
    assert _intact(arrays, name, ("data_col",))


@pytest.mark.parametrize(("name", "axis"), BACKWARD_AXES)
def test_backward_refuses_other_shapes(raw: Raw, name: str, axis: int) -> None:
    arrays = _arrays()
    arrays[name] = _extra(arrays[name], axis)
    assert backward_status(raw, arrays) == BAD_PARAM
    assert "_desc: expected" in raw.reason()
    assert _intact(arrays, name, GRADIENTS)


@pytest.mark.parametrize("name", [*INPUTS, "data_col", "grad_output", *GRADIENTS])
def test_dtypes_dims_and_strides(raw: Raw, name: str) -> None:
    status = forward_status if name == "data_col" else backward_status
    both = (forward_status, backward_status) if name in INPUTS else (status,)
    for call in both:
        arrays = _arrays()
        told = f": data_{name}_desc:" if call is forward_status and name != "data_col" else f": {name}_desc:"
        good = arrays[name]
        arrays[name] = good.astype(np.int64 if good.dtype == np.int32 else np.float16)
        assert call(raw, arrays) == BAD_PARAM
        assert told in raw.reason()
        arrays[name] = good[None]
        assert call(raw, arrays) == BAD_PARAM
        assert told in raw.reason()
        assert "expected" in raw.reason()
        arrays[name] = np.repeat(good, 2, -1)[..., ::2]
        assert call(raw, arrays) == NOT_SUPPORTED
        assert told in raw.reason()


@pytest.mark.parametrize("huge", ["value", "sampling_loc"])
def test_2_to_the_31_elements_are_not_supported(raw: Raw, huge: str) -> None:
    arrays = _arrays()
    shapes = {name: array.shape for name, array in arrays.items()}
    if huge == "value":
        shapes["value"] = shapes["grad_value"] = (2, 2**27, 2, 4)
    else:
        shapes["sampling_loc"] = shapes["grad_sampling_loc"] = (2, 3, 2, 2, 2**27, 2)
        shapes["attn_weight"] = shapes["grad_attn_weight"] = (2, 3, 2, 2, 2**27)
    tensors: dict[str, Any] = {
        name: Descriptor(shape, arrays[name].dtype.name, pair=True) for name, shape in shapes.items()
    }
    for status, prefix in ((forward_status, "data_"), (backward_status, "")):
        assert status(raw, tensors) == NOT_SUPPORTED
        assert f": {prefix}{huge}_desc: expected fewer than 2^31" in raw.reason()


def test_results_must_have_memory_of_their_own(raw: Raw) -> None:
    arrays = _arrays()
    shared = {**arrays, "data_col": arrays["value"].reshape(-1)[:48].reshape(2, 3, 2, 4)}
    assert forward_status(raw, shared) == BAD_PARAM
    assert ": data_col: expected memory of its own" in raw.reason()
    for name in GRADIENTS:
        assert backward_status(raw, {**arrays, name: arrays[name.removeprefix("grad_")]}) == BAD_PARAM
        assert f": {name}: expected memory of its own" in raw.reason()
    assert (arrays["value"] == 0.5).all()


def test_the_simulator_does_not_implement_it() -> None:
    arrays = _arrays()
    with Raw(pymluops.load("sim")) as raw:
        for status in (forward_status, backward_status):
            assert status(raw, arrays) == NOT_SUPPORTED
            assert "not implemented by the sim library" in raw.reason()
    assert all(is_canary(arrays[name]) for name in ("data_col", *GRADIENTS))


# ---- threads and instruction levels ----------------------------------------------------------------------------------


def digests() -> list[str]:
    """Results of both directions, in a form that goes through JSON."""
    results = []
    for channels, heads in ((37, 1), (32, 4), (200, 1)):
        rng = np.random.default_rng(channels)
        inputs = make_inputs(rng, 1, 120, heads, channels, [(7, 9), (4, 5)], 4, spread=0.1)
        results.append(ms_deform_attn_forward(*inputs, im2col_step=1).tobytes().hex())
        gradients = ms_deform_attn_backward(*inputs, make_grad(rng, inputs), im2col_step=1)
        results += [gradient.tobytes().hex() for gradient in gradients]
    return results


@pytest.fixture
def threads_as_before() -> Iterator[None]:
    before = pymluops.get_num_threads()
    yield
    pymluops.set_num_threads(before)


@pytest.mark.usefixtures("threads_as_before")
def test_any_number_of_threads_gives_the_same_bits() -> None:
    found = []
    for threads in (1, 2, 3, 16):
        pymluops.set_num_threads(threads)
        found.append(digests())
    assert all(one == found[0] for one in found)


@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_any_instruction_level_gives_the_same_bits(level: str) -> None:
    code = "import json; from ops.test_ms_deform_attn import digests; print(json.dumps(digests()))"
    assert json.loads(python_output(code, PYMLUOPS_INSTRUCTION_LEVEL=level)) == digests()
