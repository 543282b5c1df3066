"""generate_proposals_v2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops.oracle import generate_proposals as oracle
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.selection import examples

WORKSPACES = ["mluOpGetGenerateProposalsV2WorkspaceSize", "mluOpGetGenerateProposalsV2WorkspaceSize_v2"]


def problem(rng: np.random.Generator, batch: int, height: int, width: int, anchors: int) -> list[np.ndarray]:
    """Arrays of a call."""
    shape = (height, width, anchors, 4)
    made: dict[str, Any] = {
        "scores": np.empty((batch, height, width, anchors), np.float32),
        "bbox_deltas": np.empty((batch, height, width, 4 * anchors), np.float32),
        "im_shape": np.empty((batch, 2), np.float32),
        "anchors": np.empty(shape, np.float32),
        "variances": np.empty(shape, np.float32),
    }
    arrays = list(made.values())
    oracle.prepare(made, rng)
    return arrays


def same(arrays: list[np.ndarray], *numbers: Any) -> tuple[np.ndarray, ...]:
    """The function gives the results of the oracle, which it returns."""
    found, wanted = pymluops.generate_proposals_v2(*arrays, *numbers), oracle.proposals(*arrays, *numbers)
    for one, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, expected)
    return wanted


@examples(120)
@given(
    batch=st.integers(1, 3),
    height=st.integers(1, 5),
    width=st.integers(1, 12),
    anchors=st.integers(1, 4),
    pre=st.sampled_from([-1, 0, 1, 7, 30, 10**6]),
    post=st.sampled_from([1, 2, 9, 500]),
    threshold=st.sampled_from([0.1, 0.5, 0.9, 2.0]),
    min_size=st.sampled_from([0.1, 5.0, 20.0, float("nan")]),
    pixel_offset=st.booleans(),
    odd=st.sampled_from([0.0, 0.05]),
    seed=st.integers(0, 2**32 - 1),
)
def test_values_of_the_formula(
    batch: int, height: int, width: int, anchors: int, pre: int, post: int, threshold: float, min_size: float,
    pixel_offset: bool, odd: float, seed: int,
) -> None:  # fmt: skip
    rng = np.random.default_rng(seed)
    arrays = problem(rng, batch, height, width, anchors)
    for array in arrays:
        places = rng.random(array.shape) < odd
        array[places] = rng.choice(np.float32([np.nan, np.inf, -np.inf, -0.0, 1e30]), places.sum())
    same(arrays, pre, post, threshold, min_size, 1.0, pixel_offset)


def test_the_vendors_shapes() -> None:
    rng = np.random.default_rng(5)
    for shape, numbers in (((5, 3, 2), (1200, 1000, 0.5, 0.1)), ((15, 13, 2), (150, 100, 0.18, 0.4))):
        wanted = same(problem(rng, 1, *shape), *numbers, 1.0, True)
        assert wanted[3].item() > 1


def test_many_boxes() -> None:
    same(problem(np.random.default_rng(8), 2, 40, 40, 3), 2000, 300, 0.7, 1.0, 1.0, True)


def test_an_image_without_boxes_has_a_row_of_zeros() -> None:
    arrays = problem(np.random.default_rng(1), 3, 2, 2, 2)
    arrays[2][1] = 0  # nothing of it is left
    rois, probs = canary((12, 4), "float32"), canary((12, 1), "float32")
    _, _, counts, total = pymluops.generate_proposals_v2(
        *arrays, 0, 4, 0.5, 1.0, 1.0, False, rpn_rois=rois, rpn_roi_probs=probs
    )
    first = counts[0]
    assert counts[1] == 1
    assert not rois[first].any()
    assert probs[first] == 0
    assert total.item() == counts.sum() < 12
    assert is_canary(rois[total.item() :].copy())
    assert is_canary(probs[total.item() :].copy())


def test_scores_without_a_number_come_first() -> None:
    arrays = problem(np.random.default_rng(1), 1, 1, 4, 1)
    arrays[3][...] = [[[[0, 0, 9, 9]], [[20, 0, 29, 9]], [[0, 20, 9, 29]], [[20, 20, 29, 29]]]]
    arrays[1][...] = 0
    arrays[0][...] = np.float32([1, -np.nan, np.inf, np.nan]).reshape(1, 1, 4, 1)
    arrays[0][0, 0, 1, 0] = np.copysign(np.float32(np.nan), np.float32(-1))
    rois, probs, _, _ = pymluops.generate_proposals_v2(*arrays, 3, 4)
    assert rois[:3, :2].tolist() == [[20, 0], [20, 20], [0, 20]]
    np.testing.assert_array_equal(probs[:3, 0], np.float32([np.nan, np.nan, np.inf]))


def test_any_number_of_threads_gives_the_same_bits() -> None:
    arrays = problem(np.random.default_rng(4), 2, 30, 30, 3)
    before, found = pymluops.get_num_threads(), []
    try:
        for threads in (1, 3):
            pymluops.set_num_threads(threads)
            found.append(pymluops.generate_proposals_v2(*arrays, 1500, 200))
    finally:
        pymluops.set_num_threads(before)
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one, other)


# ---- zero elements and refusals ------------------------------------------------------------------


def _arrays() -> dict[str, Any]:
    names = ("scores", "bbox_deltas", "im_shape", "anchors", "variances")
    arrays: dict[str, Any] = dict(zip(names, problem(np.random.default_rng(0), 2, 3, 4, 2), strict=True))
    return arrays | {
        "rpn_rois": canary((10, 4), "float32"),
        "rpn_roi_probs": canary((10, 1), "float32"),
        "rpn_rois_num": canary((2,), "int32"),
    }


def _status(raw: Raw, arrays: dict[str, Any], total: Any = None, workspace: int = 0, **numbers: Any) -> int:
    given = {"pre": 0, "post": 5, "threshold": 0.5, "min_size": 1.0, "eta": 1.0, "pixel_offset": True}
    tensors = [Tensor(one) if isinstance(one, np.ndarray) else one for one in arrays.values()]
    pointer = raw.ffi.new("int32_t *", 77) if total is None else total
    values = ({**given, **numbers}).values()
    return raw.status("mluOpGenerateProposalsV2", *values, *tensors[:5], raw.ffi.NULL, workspace, *tensors[5:], pointer)


def test_nothing_to_do(raw: Raw) -> None:
    total = raw.ffi.new("int32_t *", 77)
    assert _status(raw, _arrays(), total) == SUCCESS, raw.reason()
    assert total[0] >= 2
    shapes = {"scores": (0, 3, 4, 2), "bbox_deltas": (0, 3, 4, 8), "im_shape": (0, 2), "rpn_rois": (0, 4)}
    shapes |= {"rpn_roi_probs": (0, 1), "rpn_rois_num": (0,)}
    null = {
        name: Descriptor(shape, "int32" if name == "rpn_rois_num" else "float32", pair=True)
        for name, shape in shapes.items()
    }
    total[0] = 77
    assert _status(raw, {**_arrays(), **null}, total, eta=0.0) == SUCCESS, raw.reason()
    assert total[0] == 77


def _wrong(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.ones(shape, dtype)


REFUSED: list[tuple[str, Any, int, str]] = [
    ("scores", _wrong(2, 3, 4, 3), BAD_PARAM, "bbox_deltas_desc"),
    ("scores", _wrong(2, 3, 8), BAD_PARAM, "scores_desc"),
    ("scores", _wrong(2, 3, 4, 2, dtype=np.float16), BAD_PARAM, "scores_desc"),
    ("scores", _wrong(2, 3, 4, 4)[..., ::2], NOT_SUPPORTED, "scores_desc"),
    ("bbox_deltas", _wrong(2, 3, 4, 9), BAD_PARAM, "bbox_deltas_desc"),
    ("im_shape", _wrong(2, 3), BAD_PARAM, "im_shape_desc"),
    ("im_shape", _wrong(3, 2), BAD_PARAM, "im_shape_desc"),
    ("anchors", _wrong(3, 4, 2, 5), BAD_PARAM, "anchors_desc"),
    ("variances", _wrong(3, 4, 3, 4), BAD_PARAM, "variances_desc"),
    ("variances", _wrong(4), BAD_PARAM, "variances_desc"),
    ("rpn_rois", _wrong(9, 4), BAD_PARAM, "rpn_rois_desc"),
    ("rpn_roi_probs", _wrong(10, 2), BAD_PARAM, "rpn_roi_probs_desc"),
    ("rpn_rois_num", _wrong(3, dtype=np.int32), BAD_PARAM, "rpn_rois_num_desc"),
    ("rpn_rois_num", _wrong(2), BAD_PARAM, "rpn_rois_num_desc"),
]
OUTPUTS = ("rpn_rois", "rpn_roi_probs", "rpn_rois_num")


@pytest.mark.parametrize(("name", "array", "wanted", "told"), REFUSED)
def test_refused_tensors(raw: Raw, name: str, array: Any, wanted: int, told: str) -> None:
    arrays = {**_arrays(), name: array}
    assert _status(raw, arrays) == wanted
    assert f"mluOpGenerateProposalsV2: {told}: expected" in raw.reason()
    assert all(is_canary(arrays[one]) for one in OUTPUTS if one != name)


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"eta": 0.5}, "eta"), ({"threshold": 0.0}, "nms_thresh"), ({"threshold": float("nan")}, "nms_thresh"),
        ({"post": 0}, "post_nms_top_n"), ({"post": -5}, "post_nms_top_n"), ({"workspace": 8}, "workspace"),
    ],
)  # fmt: skip
def test_refused_numbers(raw: Raw, numbers: dict[str, Any], told: str) -> None:
    arrays = _arrays()
    assert _status(raw, arrays, **numbers) == BAD_PARAM
    assert f"mluOpGenerateProposalsV2: {told}: expected" in raw.reason()
    assert all(is_canary(arrays[one]) for one in OUTPUTS)
    assert _status(raw, arrays, eta=float("nan")) == SUCCESS


def test_a_row_for_each_image_is_needed(raw: Raw) -> None:
    arrays = _arrays() | {"rpn_rois": _wrong(0, 4), "rpn_roi_probs": _wrong(0, 1)}
    assert _status(raw, arrays, post=0) == BAD_PARAM
    assert "post_nms_top_n: expected" in raw.reason()
    assert _status(raw, _arrays(), raw.ffi.NULL) == BAD_PARAM
    assert "rpn_rois_batch_size: expected" in raw.reason()


@pytest.mark.parametrize("function", WORKSPACES)
def test_workspaces_are_empty(raw: Raw, function: str) -> None:
    more = (100,) if function.endswith("_v2") else ()
    size = raw.ffi.new("size_t *", 77)
    assert raw.status(function, Descriptor((0, 3, 4, 2), "float32"), *more, size) == SUCCESS, raw.reason()
    assert size[0] == 0
    size[0] = 77
    for wrong in (Descriptor((2, 0, 4, 2), "float32"), Descriptor((2, 4, 2), "float32"),
                  Descriptor((2, 3, 4, 2), "int32")):  # fmt: skip
        assert raw.status(function, wrong, *more, size) == BAD_PARAM
        assert raw.reason().startswith(f"{function}: scores_desc: expected")
    assert size[0] == 77


# ---- adaptive suppression ------------------------------------------------------------------------


@examples(60)
@given(
    eta=st.sampled_from([0.99, 0.9, 0.7, 0.3]),
    threshold=st.sampled_from([0.4, 0.5, 0.6, 0.8, 0.95]),
    post=st.integers(1, 60),
    pixel_offset=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_threshold_that_falls(eta: float, threshold: float, post: int, pixel_offset: bool, seed: int) -> None:
    arrays = problem(np.random.default_rng(seed), 2, 3, 4, 6)
    same(arrays, 0, post, threshold, 1.0, eta, pixel_offset)


def _row_of_boxes(xs: list[float]) -> list[np.ndarray]:
    """Boxes of 10 x 10 at these places, the first with the highest score."""
    boxes = np.array([[x, 0, x + 10, 10] for x in xs], np.float32).reshape(1, 1, len(xs), 4)
    scores = np.linspace(0.9, 0.1, len(xs), dtype=np.float32).reshape(1, 1, 1, -1)
    return [scores, np.zeros((1, 1, 1, 4 * len(xs)), np.float32), np.float32([[50, 200]]), boxes, np.ones_like(boxes)]


def _kept(xs: list[float], threshold: float, eta: float) -> list[float]:
    rois, _, counts, _ = pymluops.generate_proposals_v2(*_row_of_boxes(xs), 0, 10, threshold, 1.0, eta, False)
    return rois[: counts[0], 0].tolist()


def test_the_threshold_falls_after_each_box_that_is_kept() -> None:
    """The boxes at 0 and 2 overlap by 2/3, those at 0 and 3 by 7/13 = 0.538."""
    assert _kept([0, 2], 0.7, 1.0) == [0, 2]
    assert _kept([0, 2], 0.7, 0.9) == [0]  # 0.63
    assert _kept([0, 3], 0.7, 0.9) == [0, 3]
    assert _kept([0, 100, 3], 0.7, 0.9) == [0, 100, 3]  # 0.567 after two
    assert _kept([0, 100, 120, 3], 0.7, 0.9) == [0, 100, 120]  # 0.51 after three
    # Boxes kept long ago are compared by the threshold of now; one that is dropped changes nothing.
    assert _kept([0, 0, 0, 0, 3], 0.7, 0.9) == [0, 3]


def test_the_threshold_stays_from_a_half_on() -> None:
    """Boxes at 0 and 4 overlap by 6/14 = 0.43."""
    assert _kept([0, 4], 0.5, 0.5) == [0, 4]
    assert _kept([0, 4], 0.51, 0.5) == [0]  # 0.255
    assert _kept([0, 100, 120, 4], 0.45, 0.1) == [0, 100, 120, 4]


def test_numbers_of_an_adaptive_call(raw: Raw) -> None:
    """Python computes; the function of the header refuses, as mlu-ops does."""
    arrays = problem(np.random.default_rng(1), 1, 2, 2, 3)
    for eta in (0.0, -1.0, float("-inf")):
        with pytest.raises(pymluops.BadParamError, match="generate_proposals_v2: eta: expected a float"):
            pymluops.generate_proposals_v2(*arrays, eta=eta)
    with pytest.raises(TypeError, match=r"generate_proposals_v2: eta: expected a number, got '0\.5'"):
        pymluops.generate_proposals_v2(*arrays, eta="0.5")
    same(arrays, 0, 5, 0.8, 1.0, float("inf"), True)
    outputs = [canary(shape, kind) for shape, kind in (((5, 4), "float32"), ((5, 1), "float32"), ((1,), "int32"))]
    with pytest.raises(pymluops.BadParamError):
        pymluops.generate_proposals_v2(*arrays, 0, 5, -1.0, 1.0, 0.9, rpn_rois=outputs[0])
    assert is_canary(outputs[0])


def test_tensors_of_pytorch_and_adaptive_suppression() -> None:
    torch = pytest.importorskip("torch", reason="an optional package")
    arrays = problem(np.random.default_rng(2), 2, 3, 4, 6)
    found = pymluops.generate_proposals_v2(*map(torch.from_numpy, arrays), 0, 20, 0.8, 1.0, 0.9, True)
    for one, wanted in zip(found, oracle.proposals(*arrays, 0, 20, 0.8, 1.0, 0.9, True), strict=True):
        np.testing.assert_array_equal(one.numpy(), wanted)


def test_any_number_of_threads_and_many_boxes() -> None:
    arrays = problem(np.random.default_rng(3), 1, 10, 10, 8)
    for threads in (1, 3):
        pymluops.set_num_threads(threads)
        same(arrays, 0, 300, 0.9, 1.0, 0.95, True)
