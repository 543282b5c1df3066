"""ms_deform_attn forward and backward: values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import ms_deform_attn as oracle
from pymluops.oracle.ms_deform_attn import Inputs
from support.attention import GRADIENTS, make_grad, make_inputs, ms_deform_attn_backward, ms_deform_attn_forward
from support.comparison import assert_close, assert_same_values
from support.processes import python_output
from support.selection import examples


def assert_forward(inputs: Inputs) -> None:
    """The order of operations is the documented one: the same bits as computing so in float32."""
    assert_same_values(ms_deform_attn_forward(*inputs, im2col_step=1), oracle.forward(inputs, np.float32))


def assert_backward(inputs: Inputs, grad: np.ndarray) -> None:
    """Sums over channels are in an order of their own, so they are compared with those in float64."""
    found = ms_deform_attn_backward(*inputs, grad, im2col_step=1)
    assert_same_values(found[0], oracle.backward(inputs, grad, np.float32)[0])
    for got, name, exact in zip(found, GRADIENTS, oracle.backward(inputs, grad), strict=True):
        assert np.isfinite(got).all(), name
        # A sum whose terms cancel is as wrong as its terms are large; locations decide on the
        # weights of corners.
        scale = np.abs(exact).max(initial=0) + 1e-30
        np.testing.assert_allclose(got / scale, exact / scale, rtol=0, atol=3e-5, err_msg=name)


# ---- named shapes --------------------------------------------------------------------------------


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


@pytest.mark.parametrize("points", [1, 2, 3, 11])
@pytest.mark.parametrize("channels", [8, 12, 16, 24, 28, 40, 64, 72, 136])
def test_more_samples_than_keys(channels: int, points: int) -> None:
    """Heads are copied, and samples of several queries are placed together, of which some are left at the end."""
    rng = np.random.default_rng(channels + points)
    inputs = make_inputs(rng, 2, 31, 2, channels, [(3, 2), (2, 1)], points)
    assert_forward(inputs)
    assert_backward(inputs, make_grad(rng, inputs))


@pytest.mark.thorough
def test_a_network_in_small() -> None:
    rng = np.random.default_rng(3)
    inputs = make_inputs(rng, 2, 60, 8, 32, [(20, 30), (10, 15), (5, 8), (3, 4)], 8, spread=0.05)
    assert_forward(inputs)
    assert_backward(inputs, make_grad(rng, inputs))


# ---- values --------------------------------------------------------------------------------------

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


@examples(100)
@given(sizes=SIZES, seed=st.integers(0, 2**32 - 1))
def test_random_shapes(sizes: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    inputs = make_inputs(rng, **sizes)
    assert_forward(inputs)
    assert_backward(inputs, make_grad(rng, inputs))


@examples(100)
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
        # Whether 1e38 overflows in a sum depends on its order: only what had no infinity or NaN
        # anywhere is compared.
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
    # In the last vector of channels, lanes behind the last one must not make 0 * inf of what is not
    # there.
    inputs = make_inputs(np.random.default_rng(7), 1, 1, 1, 5, [(2, 2)], 1)
    inputs.value[...] = np.arange(4, dtype=np.float32)[None, :, None, None]
    inputs.attn_weight[...] = np.inf
    inputs.sampling_loc[...] = 0.5
    grad = np.ones((1, 1, 1, 5), np.float32)
    grad_value, grad_loc, grad_weight = ms_deform_attn_backward(*inputs, grad, im2col_step=1)
    assert np.isposinf(grad_value).all()
    assert np.isposinf(grad_loc).all()
    assert grad_weight.item() == 5 * 1.5


# ---- threads and instruction levels --------------------------------------------------------------


def digests() -> list[str]:
    """Results of both directions, in a form that goes through JSON."""
    results = []
    for channels, heads, points in ((37, 1, 4), (32, 4, 4), (200, 1, 4), (8, 4, 4), (24, 4, 1), (4, 2, 3), (72, 2, 9)):
        rng = np.random.default_rng(channels)
        inputs = make_inputs(rng, 1, 120, heads, channels, [(7, 9), (4, 5)], points, spread=0.1)
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
