"""deform_conv in all directions, and mluOpDCN*, which take their numbers from a descriptor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.ops._described import described
from pymluops.ops._double import double_of
from pymluops.oracle import deform_conv as oracle
from pymluops.oracle.deform_conv import Inputs, Numbers
from support.arrays import any_bits, canary, is_canary
from support.c_calls import ARRAY, BAD_PARAM, NHWC, NOT_SUPPORTED, SUCCESS, Raw, Tensor
from support.comparison import assert_same_bits
from support.selection import examples

_TWO = st.tuples(st.integers(1, 3), st.integers(1, 3))
SHAPES = st.fixed_dictionaries(
    {
        "batch": st.integers(1, 2),
        "size": st.tuples(st.integers(1, 6), st.integers(1, 6)),
        "out": st.tuples(st.integers(1, 5), st.integers(1, 5)),
        "kernel": _TWO,
        "numbers": st.builds(
            Numbers, _TWO, st.tuples(st.integers(0, 2), st.integers(0, 2)), _TWO, st.integers(1, 3), st.integers(1, 3)
        ),
        "channels": st.integers(1, 3),  # of a group, times the deformable groups
        "outputs": st.integers(1, 20),  # of a group
        "seed": st.integers(0, 2**32 - 1),
    }
)
_TOLERANCE = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-13}


def make(s: dict[str, Any], dtype: str = "float32") -> tuple[Inputs, np.ndarray]:
    """Arrays of normal numbers, and the gradient of the result."""
    rng, numbers = np.random.default_rng(s["seed"]), s["numbers"]
    group_channels = s["channels"] * numbers.deformable_group
    outputs, places = s["outputs"] * numbers.conv_group, numbers.deformable_group * s["kernel"][0] * s["kernel"][1]
    out = (s["batch"], *s["out"])
    arrays = (
        rng.normal(size=(outputs, *s["kernel"], group_channels)),
        rng.normal(size=(s["batch"], *s["size"], group_channels * numbers.conv_group)),
        rng.normal(0, 2, (*out, 2 * places)),
        rng.normal(size=(*out, places)),
    )
    return Inputs(*(array.astype(dtype) for array in arrays)), rng.normal(size=(*out, outputs)).astype(dtype)


def near(found: Any, expected: np.ndarray, dtype: str) -> None:
    assert found.dtype == dtype
    scale = max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0, atol=_TOLERANCE[dtype] * scale)


def all_of(inputs: Inputs, numbers: Numbers, grad: np.ndarray) -> list[Any]:
    """The result, and the gradients of input, offset, mask and filter."""
    return [pymluops.deform_conv_forward(*inputs, *numbers), *pymluops.deform_conv_backward(*inputs, grad, *numbers)]


# ---- values --------------------------------------------------------------------------------------


@examples(60)
@given(s=SHAPES, dtype=st.sampled_from(["float32", "float16"]))
def test_values_are_those_of_the_formula(s: dict[str, Any], dtype: str) -> None:
    inputs, grad = make(s, dtype)
    numbers = s["numbers"]
    real = np.float32 if dtype == "float16" else np.float64  # places of halves are those of float32
    expected = [oracle.forward(inputs, numbers, real), *oracle.backward(inputs, numbers, grad, real)]
    found = all_of(inputs, numbers, grad)
    for one, wanted in zip(found, expected, strict=True):
        near(one, wanted, dtype)
    for one, other in zip(pymluops.deform_conv_backward_data(*inputs, grad, *numbers), found[1:4], strict=True):
        assert_same_bits(one, other)
    channels, kernel = inputs.filter.shape[3], inputs.filter.shape[1:3]
    weight = pymluops.deform_conv_backward_weight(*inputs[1:], grad, kernel, channels, *numbers)
    assert_same_bits(weight, found[4])


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_wide_layers(dtype: str) -> None:
    """Channels beyond a tile and a whole number of vectors, and more positions than a block."""
    cases = (
        {"size": (5, 4), "out": (7, 20), "kernel": (2, 1), "channels": 35, "outputs": 19, "batch": 1, "groups": (2, 1)},
        {"size": (3, 3), "out": (2, 3), "kernel": (1, 2), "channels": 300, "outputs": 70, "batch": 2, "groups": (1, 1)},
        {"size": (4, 4), "out": (9, 9), "kernel": (3, 3), "channels": 1, "outputs": 1, "batch": 2, "groups": (5, 1)},
    )
    for seed, case in enumerate(cases):
        numbers = Numbers((1, 2), (1, 0), (1, 1), *case["groups"])  # type: ignore[misc]
        inputs, grad = make({**case, "numbers": numbers, "seed": seed}, dtype)
        real = np.float32 if dtype == "float16" else np.float64
        expected = [oracle.forward(inputs, numbers, real), *oracle.backward(inputs, numbers, grad, real)]
        values = *numbers.stride, *numbers.padding, *numbers.dilation, *numbers[3:]
        if dtype == "float64":
            forward, backward = (double_of(described(f"deform_conv_{way}")) for way in ("forward", "backward"))
            found = [forward(None, (*inputs, None), values)]
            found += backward(None, (*inputs, grad, None, None, None, None), values)
        else:
            found = all_of(inputs, numbers, grad)
        for one, wanted in zip(found, expected, strict=True):
            near(one, wanted, dtype)


def test_offsets_of_zero_give_a_convolution() -> None:
    rng = np.random.default_rng(1)
    maps, filters = rng.integers(-4, 5, (1, 5, 6, 2)), rng.integers(-4, 5, (3, 3, 2, 2))
    offset, mask = np.zeros((1, 5, 5, 12), np.float32), np.ones((1, 5, 5, 6), np.float32)
    padded = np.pad(maps, ((0, 0), (1, 1), (0, 0), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 2), (1, 2))
    expected = np.einsum("nijcab,oabc->nijo", windows, filters)
    found = pymluops.deform_conv_forward(
        filters.astype(np.float32), maps.astype(np.float32), offset, mask, padding=(1, 0)
    )
    assert found.tolist() == expected.tolist()


def test_places_that_do_not_count() -> None:
    """At -1 and at the size of the map, farther away, at NaN and at infinity: whatever the mask is."""
    nothing = [-1, 3, -5, 99, np.nan, np.inf, -np.inf, 3e38]
    maps = np.full((1, 3, 3, 1), 2, np.float32)
    for axis in (0, 1):
        offset = np.zeros((1, len(nothing), 1, 2), np.float32)
        offset[0, :, 0, axis] = nothing
        offset[0, :, 0, 0] -= np.arange(len(nothing), dtype=np.float32)  # each position begins in a row of its own
        mask = np.full((1, len(nothing), 1, 1), np.nan, np.float32)
        one, grad = np.ones((1, 1, 1, 1), np.float32), np.ones((1, len(nothing), 1, 1), np.float32)
        found = all_of(Inputs(one, maps, offset, mask), Numbers(), grad)
        assert not any(part.any() for part in found)


def test_half_a_pixel_beside_the_map_counts_half() -> None:
    maps, one = np.full((1, 1, 1, 1), 8, np.float32), np.ones((1, 1, 1, 1), np.float32)
    offset = np.array([-0.5, -0.75, 0.5, 0.75], np.float32).reshape(1, 1, 4, 1) - np.arange(4).reshape(1, 1, 4, 1)
    places = np.concatenate([np.zeros_like(offset), offset], 3).astype(np.float32)
    found = pymluops.deform_conv_forward(one, maps, places, np.ones((1, 1, 4, 1), np.float32))
    assert found.ravel().tolist() == [4, 2, 4, 2]


def test_the_slope_at_a_pixel_is_the_one_behind_it() -> None:
    maps = np.array([1, 3, 7], np.float32).reshape(1, 1, 3, 1)
    one, ones = np.ones((1, 1, 1, 1), np.float32), np.ones((1, 1, 3, 1), np.float32)
    offset = np.zeros((1, 1, 3, 2), np.float32)
    found = pymluops.deform_conv_backward_data(one, maps, offset, ones, ones)
    assert found.grad_offset[..., 1].ravel().tolist() == [2, 4, -7]
    assert found.grad_offset[..., 0].ravel().tolist() == [-1, -3, -7]


@examples(30)
@given(s=SHAPES)
def test_any_bits_do_no_harm(s: dict[str, Any]) -> None:
    inputs, grad = make(s)
    rng = np.random.default_rng(s["seed"])
    wild = Inputs(*(any_bits(rng, array.shape, np.float32) for array in inputs))
    first = all_of(wild, s["numbers"], grad)
    for one, other in zip(first, all_of(wild, s["numbers"], grad), strict=True):
        assert_same_bits(one, other)


def test_threads_change_nothing() -> None:
    numbers = Numbers((1, 1), (1, 1), (1, 1), 1, 2)
    case = {"size": (9, 8), "out": (9, 8), "kernel": (3, 3), "channels": 20, "outputs": 33, "batch": 2}
    inputs, grad = make({**case, "numbers": numbers, "seed": 5})
    before = pymluops.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 5):
            pymluops.set_num_threads(threads)
            results.append(all_of(inputs, numbers, grad))
    finally:
        pymluops.set_num_threads(before)
    for one in results[1:]:
        for array, first in zip(one, results[0], strict=True):
            assert_same_bits(array, first)


# ---- mluOpDCN* -----------------------------------------------------------------------------------


class Dcn:
    """Calls of the functions of mlu_op.h; arrays are packed NHWC, None is NULL."""

    def __init__(self, raw: Raw, numbers: Numbers, step: int = 1, pad: tuple[int, int, int, int] | None = None) -> None:
        self.raw = raw
        slot = raw.ffi.new("mluOpDCNDescriptor_t *")
        assert raw.lib.mluOpCreateDCNDescriptor(slot) == SUCCESS
        self.desc = raw.ffi.gc(slot[0], raw.lib.mluOpDestroyDCNDescriptor)
        (top, left), ints = numbers.padding, self._ints
        status = raw.lib.mluOpSetDCNDescriptor(
            self.desc, 4, ints(pad or (top, top, left, left)), ints(numbers.stride), ints(numbers.dilation),
            numbers.deformable_group, numbers.conv_group, step, 2,
        )  # fmt: skip
        assert status == SUCCESS, raw.reason()

    def _ints(self, values: Any) -> Any:
        return self.raw.ffi.new("int[]", list(values))

    def _tensors(self, *arrays: Any) -> list[Any]:
        found: list[Any] = []
        for array in arrays:
            if array is None:
                found += [self.raw.ffi.NULL, self.raw.ffi.NULL]
            elif isinstance(array, np.ndarray):
                found.append(Tensor(array, NHWC if array.ndim == 4 else ARRAY))
            else:
                found.append(array)
        return found

    def forward(self, t: dict[str, Any]) -> int:
        arrays = self._tensors(*(t[key] for key in ("input", "offset", "mask", "filter", "bias")))
        return self.raw.status("mluOpDCNForward", self.desc, *arrays, self.raw.ffi.NULL, 0, *self._tensors(t["output"]))

    def backward_data(self, t: dict[str, Any]) -> int:
        arrays = self._tensors(*(t[key] for key in ("input", "offset", "mask", "filter", "output")))
        results = self._tensors(*(t[key] for key in ("grad_input", "grad_offset", "grad_mask")))
        return self.raw.status("mluOpDCNBackwardData", self.desc, *arrays, self.raw.ffi.NULL, 0, *results)

    def backward_weight(self, t: dict[str, Any]) -> int:
        arrays = self._tensors(*(t[key] for key in ("input", "offset", "mask", "output")))
        results = self._tensors(t["grad_filter"], t["grad_bias"])
        return self.raw.status("mluOpDCNBackwardWeight", self.desc, *arrays, self.raw.ffi.NULL, 0, *results)


#: What each function writes.
WRITTEN = {
    "forward": ("output",),
    "backward_data": ("grad_input", "grad_offset", "grad_mask"),
    "backward_weight": ("grad_filter", "grad_bias"),
}
_NUMBERS = Numbers((2, 1), (1, 0), (1, 2), 2, 2)


def dcn_arrays(way: str, dtype: str = "float32") -> dict[str, Any]:
    """Arrays of a call that is accepted; what it writes is a canary."""
    case = {"batch": 2, "size": (6, 5), "out": (3, 3), "kernel": (3, 2), "channels": 1, "outputs": 3, "seed": 3}
    inputs, grad = make({**case, "numbers": _NUMBERS}, dtype)
    bias = np.arange(6).astype(dtype)
    found: dict[str, Any] = {**inputs._asdict(), "bias": bias, "output": grad}
    like = {f"grad_{name}": array for name, array in found.items() if name != "output"}
    found |= {name: np.zeros_like(array) for name, array in like.items()}
    return {key: canary(value.shape, dtype) if key in WRITTEN[way] else value for key, value in found.items()}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("modulated", [True, False])
def test_dcn_functions_compute_the_same(raw: Raw, modulated: bool, dtype: str) -> None:
    dcn = Dcn(raw, _NUMBERS, 2)
    for way, written in WRITTEN.items():
        t = dcn_arrays(way, dtype)
        given_mask = t["mask"] if modulated else np.ones_like(t["mask"])
        if not modulated:
            t |= {"mask": None, "grad_mask": None, "bias": None, "grad_bias": None}
        inputs = Inputs(t["filter"], t["input"], t["offset"], given_mask)
        assert getattr(dcn, way)(t) == SUCCESS, raw.reason()
        if way == "forward":
            plain = pymluops.deform_conv_forward(*inputs, *_NUMBERS)
            if modulated:
                exact = oracle.forward(inputs, _NUMBERS, np.float64) + t["bias"].astype(np.float64)
                near(t["output"], exact, dtype)
            else:
                assert_same_bits(t["output"], plain)
        elif way == "backward_data":
            expected = pymluops.deform_conv_backward_data(*inputs, t["output"], *_NUMBERS)
            for name, array in zip(written, expected, strict=True):
                if t[name] is not None:
                    assert_same_bits(t[name], array)
        else:
            kernel = inputs.filter.shape[1:3]
            expected = pymluops.deform_conv_backward_weight(
                *inputs[1:], t["output"], kernel, inputs.filter.shape[3], *_NUMBERS
            )
            assert_same_bits(t["grad_filter"], expected)
            if modulated:
                near(t["grad_bias"], t["output"].astype(np.float64).sum((0, 1, 2)), dtype)


def test_padding_at_the_end_only_changes_the_size(raw: Raw) -> None:
    maps = np.arange(3, dtype=np.float32).reshape(1, 1, 3, 1)
    t: dict[str, Any] = {"input": maps, "filter": np.ones((1, 1, 1, 1), np.float32), "mask": None, "bias": None}
    t |= {"offset": np.zeros((1, 1, 5, 2), np.float32), "output": np.empty((1, 1, 5, 1), np.float32)}
    assert Dcn(raw, Numbers(), pad=(0, 0, 0, 2)).forward(t) == SUCCESS, raw.reason()
    assert t["output"].ravel().tolist() == [0, 1, 2, 0, 0]


def _changed(array: np.ndarray, dim: int) -> np.ndarray:
    shape = list(array.shape)
    shape[dim] += 1
    return np.ones(shape, array.dtype)


def test_refused_dcn_calls_write_nothing(raw: Raw) -> None:
    """Each tensor with another number of dims, size, type, layout or strides, empty, or without data."""
    dcn = Dcn(raw, _NUMBERS, 2)
    uses = {
        "forward": ("input", "offset", "mask", "filter", "bias", "output"),
        "backward_data": ("input", "offset", "mask", "filter", "output", "grad_input", "grad_offset", "grad_mask"),
        "backward_weight": ("input", "offset", "mask", "output", "grad_filter", "grad_bias"),
    }
    for way, names in uses.items():
        for name in names:
            array = dcn_arrays(way)[name]
            wrong: list[tuple[Any, int]] = [
                (array[None], BAD_PARAM),
                (array.astype(np.float64), BAD_PARAM),
                (array.astype(np.float16), BAD_PARAM),
                (np.repeat(array, 2, -1)[..., ::2], NOT_SUPPORTED),
                *((_changed(array, dim), BAD_PARAM) for dim in range(array.ndim)),
                (Tensor(array, NHWC if array.ndim == 4 else ARRAY, 0), BAD_PARAM),
            ]
            if array.ndim == 4:
                wrong += [(Tensor(array, ARRAY), BAD_PARAM), (np.ones((0, *array.shape[1:]), np.float32), BAD_PARAM)]
            if name not in ("mask", "bias", "grad_mask", "grad_bias"):
                wrong.append((None, BAD_PARAM))
            elif way == "backward_data":
                wrong.append((None, BAD_PARAM))  # one of mask and its gradient alone
            for replacement, status in wrong:
                t = {**dcn_arrays(way), name: replacement}
                assert getattr(dcn, way)(t) == status, (way, name, np.shape(replacement), raw.reason())
                assert raw.reason().startswith(f"mluOpDCN{''.join(part.title() for part in way.split('_'))}: ")
                assert all(is_canary(t[key]) for key in WRITTEN[way] if key != name)


def test_refused_descriptors_and_overlap(raw: Raw) -> None:
    for way in WRITTEN:
        unset = Dcn(raw, _NUMBERS)
        slot = raw.ffi.new("mluOpDCNDescriptor_t *")
        assert raw.lib.mluOpCreateDCNDescriptor(slot) == SUCCESS
        unset.desc = slot[0]
        assert getattr(unset, way)(dcn_arrays(way)) == BAD_PARAM
        assert "never set" in raw.reason()
        assert raw.lib.mluOpDestroyDCNDescriptor(slot[0]) == SUCCESS
        unset.desc = raw.ffi.NULL
        assert getattr(unset, way)(dcn_arrays(way)) == BAD_PARAM
        for numbers, step in (
            (_NUMBERS, 3), (_NUMBERS._replace(conv_group=3), 1), (_NUMBERS._replace(deformable_group=3), 1),
            (_NUMBERS._replace(stride=(1, 1)), 1), (_NUMBERS._replace(dilation=(9, 1)), 1),
        ):  # fmt: skip
            assert getattr(Dcn(raw, numbers, step), way)(dcn_arrays(way)) == BAD_PARAM
        t = dcn_arrays(way)
        t[WRITTEN[way][0]] = {"forward": t["output"], "backward_data": t["input"], "backward_weight": t["input"]}[way]
        if way == "forward":
            t["input"] = t["output"][..., :4].reshape(-1)[: 2 * 6 * 5 * 4].reshape(-1)
        assert getattr(Dcn(raw, _NUMBERS), way)(t) == BAD_PARAM


def test_no_workspace_is_needed(raw: Raw) -> None:
    dcn, t, size = Dcn(raw, _NUMBERS), dcn_arrays("forward"), raw.ffi.new("size_t *", 77)
    null = raw.ffi.NULL
    with_descriptor = [dcn.desc]
    from support.c_calls import Descriptor

    def desc(name: str) -> Descriptor:
        return Descriptor(t[name].shape, layout=NHWC)

    calls = {
        "mluOpGetDCNForwardWorkspaceSize": [desc("input"), desc("offset"), null, desc("filter"), null, desc("output")],
        "mluOpGetDCNBackwardWeightWorkspaceSize": [null] * 6,
        "mluOpGetDCNBakcwardDataWorkspaceSize": [
            desc("input"), desc("offset"), null, desc("filter"), desc("output"), desc("input"), desc("offset"), null
        ],
    }  # fmt: skip
    for name, arguments in calls.items():
        size[0] = 77
        assert raw.status(name, *with_descriptor, *arguments, size) == SUCCESS, raw.reason()
        assert size[0] == 0
        size[0] = 77
        assert raw.status(name, null, *arguments, size) == BAD_PARAM
        assert raw.status(name, *with_descriptor, *arguments, null) == BAD_PARAM
        if arguments[0] is not null:
            assert raw.status(name, *with_descriptor, null, *arguments[1:], size) == BAD_PARAM
        foreign = raw.ffi.cast("mluOpTensorDescriptor_t", raw.handle)
        for place in range(len(arguments)):  # also of those that may be NULL
            given = [*arguments[:place], foreign, *arguments[place + 1 :]]
            assert raw.status(name, *with_descriptor, *given, size) == BAD_PARAM
        assert size[0] == 77
