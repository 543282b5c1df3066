"""What a schema can say: optional and in-place arrays, many arrays, rules, settings.

The C functions are those of `schema_library.cpp`, which tell what they were called with.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pymluops
from pymluops._core import Operator, SettingsDescriptor
from pymluops.enums import DataType
from pymluops.ops._schema import FLOAT32, FLOATS, INT32, Scalar, Tensor
from support.schemas import BOXES, OVERLAPS, POINTS, Library, ball

# ---- Types and shapes ----------------------------------------------------------------------------


def test_pairs_of_types(library: Library) -> None:
    half = BOXES.astype(np.float16)
    assert OVERLAPS(library.handle, (BOXES, BOXES, None), (0, 0, 0)).dtype == np.float32
    assert OVERLAPS(library.handle, (half, half, None), (0, 0, 0)).dtype == np.float16
    wide = np.zeros((2, 3), np.float32)
    assert OVERLAPS(library.handle, (half, half, wide), (0, 0, 0)) is wide
    assert library.seen[-1] == DataType.FLOAT
    message = "ious: expected dtype float32 beside float32 of bbox1, got float16"
    with pytest.raises(pymluops.BadParamError, match=message):
        OVERLAPS(library.handle, (BOXES, BOXES, wide.astype(np.float16)), (0, 0, 0))
    bytes_ = BOXES.astype(np.int8)
    with pytest.raises(pymluops.BadParamError, match="ious: expected dtype"):
        OVERLAPS(library.handle, (bytes_, bytes_, None), (0, 0, 0))


def test_a_sum_in_a_shape_and_a_rule(library: Library) -> None:
    assert OVERLAPS(library.handle, (BOXES[:1], BOXES, None), (0, 0, 0)).shape == (1, 3)
    with pytest.raises(pymluops.BadParamError, match=r"ious: expected shape \[N=2, M\+1=3\], got \[2, 2\]"):
        OVERLAPS(library.handle, (BOXES, BOXES, np.empty((2, 2), np.float32)), (0, 0, 0))
    with pytest.raises(pymluops.BadParamError, match=r"bbox2: expected shape \[M, 4\] with M >= N=2, got \[1, 4\]"):
        OVERLAPS(library.handle, (BOXES, BOXES[:1], None), (0, 0, 0))


@given(st.sampled_from(["divides", "==", "!=", "<", "<=", ">", ">="]), st.integers(0, 6), st.integers(0, 6))
def test_rules(library: Library, relation: str, left: int, right: int) -> None:
    holds = {"divides": left != 0 and right % max(left, 1) == 0, "==": left == right, "!=": left != right,
             "<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[relation]  # fmt: skip
    _expect(library, f"2*N {relation} 2*M", left, right, holds)


@given(st.integers(0, 6), st.integers(0, 6))
def test_a_rule_with_the_values_that_are_allowed(library: Library, left: int, right: int) -> None:
    _expect(library, "N+1 in 2 5", left, right, left in (1, 4))


def _expect(library: Library, rule: str, left: int, right: int, holds: bool) -> None:
    tensors = (Tensor("new_xyz", FLOATS, "B N 3"), Tensor("xyz", FLOATS, "B M 3", rules=(rule,)),
               Tensor("idx", INT32, "nsample", output=True))  # fmt: skip
    operator = Operator("mluOpBallQuery", "ruled", tensors, (Scalar("nsample"), Scalar("min_radius"),
                                                             Scalar("max_radius")))  # fmt: skip
    arrays = (np.zeros((1, left, 3), np.float32), np.zeros((1, right, 3), np.float32), None)
    if holds:
        operator(library.handle, arrays, (1, 0, 0))
    else:
        with pytest.raises(pymluops.BadParamError, match=r"ruled: xyz: expected shape .* with "):
            operator(library.handle, arrays, (1, 0, 0))


def test_an_output_that_is_written_in_part_is_made_of_zeros(library: Library) -> None:
    found = ball()(library.handle, (POINTS, POINTS, None), (1, 0, 3))
    assert found.ravel().tolist() == [7, 0, 0, 0, 0, 0]


def test_an_output_whose_shape_does_not_follow_must_be_given(library: Library) -> None:
    tensors = (Tensor("new_xyz", FLOATS, "B M 3"), Tensor("xyz", FLOATS, "B N 3"),
               Tensor("idx", INT32, "B free", output=True))  # fmt: skip
    operator = Operator("mluOpBallQuery", "open", tensors, (Scalar("nsample"), Scalar("min_radius"),
                                                            Scalar("max_radius")))  # fmt: skip
    with pytest.raises(
        pymluops.BadParamError, match=r"idx: expected an array, because its shape \[B=1, free\] does not"
    ):
        operator(library.handle, (POINTS, POINTS, None), (1, 0, 0))
    assert operator(library.handle, (POINTS, POINTS, np.empty((1, 9), np.int32)), (1, 0, 0)).shape == (1, 9)


# ---- Optional arrays -----------------------------------------------------------------------------


def focal(prefer: Scalar) -> Operator:
    return Operator(
        "mluOpFocalLossSigmoidForward",
        "focal",
        (
            Tensor("input", FLOAT32, "N C"),
            Tensor("target", INT32, "N"),
            Tensor("weight", "input", "C", optional=True),
            Tensor("output", "input", "N C", output=True),
        ),
        (prefer, Scalar("reduction", choices={"none": 0}), Scalar("alpha"), Scalar("gamma", minimum=0)),
    )


def test_an_enum_needs_choices() -> None:
    with pytest.raises(AssertionError, match="needs choices"):
        focal(Scalar("prefer"))


@pytest.mark.parametrize("weighted", [False, True])
def test_an_optional_array(library: Library, weighted: bool) -> None:
    operator = focal(Scalar("prefer", choices={"fast": 0, "high_precision": 1}))
    weight = np.ones(3, np.float32) if weighted else None
    out = operator(
        library.handle, (np.ones((2, 3), np.float32), np.zeros(2, np.int32), weight, None), ("fast", "none", 0.25, 2)
    )
    assert out.shape == (2, 3)
    expected = [3, 1] if weighted else [-1, 0]
    assert library.seen == [0, 0, 0.25, 2, 6, 1, 2, 1, *expected, 6, 1]


def test_an_optional_array_is_checked_if_it_is_given(library: Library) -> None:
    operator = focal(Scalar("prefer", choices={"fast": 0}))
    inputs, target = np.ones((2, 3), np.float32), np.zeros(2, np.int32)
    for weight, text in ((np.ones(2, np.float32), r"shape \[C=3\]"), (np.ones(3), "dtype float32"), (1.0, "an array")):
        with pytest.raises(pymluops.BadParamError, match=f"focal: weight: expected {text}"):
            operator(library.handle, (inputs, target, weight, None), (0, 0, 0.25, 2))
    with pytest.raises(pymluops.BadParamError, match="focal: target: expected an array"):
        operator(library.handle, (inputs, None, None, None), (0, 0, 0.25, 2))


PARTNERS = Operator(
    "mluOpBboxOverlaps",
    "partners",
    (
        Tensor("bbox1", FLOAT32, "N 4", optional=True),
        Tensor("bbox2", "bbox1", "N 4", given_with="bbox1"),
        Tensor("ious", "bbox1", "N", output=True, given_with="bbox1"),
    ),
    (Scalar("mode"), Scalar("aligned"), Scalar("offset")),
)


def test_arrays_that_are_given_together(library: Library) -> None:
    assert PARTNERS(library.handle, (None, None, None), (1, 1, 1)) is None
    assert library.seen[3:] == [-1, 0, -1, 0, -1, 0, 0][: len(library.seen) - 3]
    assert PARTNERS(library.handle, (BOXES, BOXES, None), (1, 1, 1)).shape == (2,)
    for arrays in ((BOXES, None, None), (None, BOXES, None), (None, None, np.empty(2, np.float32))):
        with pytest.raises(pymluops.BadParamError, match=r"partners: (bbox2|ious): expected (None|an array)"):
            PARTNERS(library.handle, arrays, (1, 1, 1))


# ---- In place, settings, many arrays -------------------------------------------------------------


class AdamW(SettingsDescriptor):
    def __init__(self, backend: Any) -> None:
        self._create("AdamW", backend)


RATES = ("lr", "beta1", "beta2", "bias1", "bias2", "epsilon")
ADAM = Operator(
    "mluOpAdamW",
    "adam",
    (
        Tensor("param", FLOAT32, "N", in_place=True),
        Tensor("paramh", (DataType.BFLOAT16,), "N", optional=True),
        Tensor("momentum", "param", "N", in_place=True),
        Tensor("velocity", "param", "N", in_place=True),
        Tensor("grad", "param", "N", in_place=True),
    ),
    tuple(Scalar(name) for name in RATES),
)


def states() -> list[np.ndarray[Any, Any]]:
    return [np.full(3, value, np.float32) for value in (1.5, 2, 3, 4)]


def test_in_place_with_settings(library: Library) -> None:
    param, momentum, velocity, grad = states()
    with AdamW(library.handle.backend) as settings:
        found = ADAM(library.handle, (param, None, momentum, velocity, grad), (0.5,) * 6, False, settings)
        assert settings.kind == "mluOpAdamWDescriptor_t"
    assert library.seen[1:] == [0.5] * 5 + [1, 3, 1, -1, 0, 3, 1, 3, 1, 3, 1]
    assert library.seen[0] == -77  # the descriptor was destroyed
    assert param.tolist() == [3, 3, 3]
    assert found[0] is param


def test_what_is_changed_in_place_must_be_given_and_writable(library: Library) -> None:
    param, momentum, velocity, grad = states()
    with AdamW(library.handle.backend) as settings:
        with pytest.raises(pymluops.BadParamError, match="adam: param: expected an array, got None"):
            ADAM(library.handle, (None, None, momentum, velocity, grad), (0.5,) * 6, False, settings)
        with pytest.raises(
            pymluops.BadParamError, match="momentum: expected memory of its own, got an array that over"
        ):
            ADAM(library.handle, (param, None, velocity, velocity, grad), (0.5,) * 6, False, settings)
        grad.setflags(write=False)
        with pytest.raises(pymluops.BadParamError, match="grad: expected a writable array"):
            ADAM(library.handle, (param, None, momentum, velocity, grad), (0.5,) * 6, False, settings)
    assert param.tolist() == [1.5] * 3


def test_settings_that_do_not_fit(library: Library) -> None:
    param, momentum, velocity, grad = states()
    arrays = (param, None, momentum, velocity, grad)
    for settings in (None, 1, pymluops.SparseConvolutionDescriptor(1, (8, 8, 8), 3, (4, 4, 4), 2, 1)):
        with pytest.raises(pymluops.BadParamError, match="settings: expected a mluOpAdamWDescriptor_t, got"):
            ADAM(library.handle, arrays, (0.5,) * 6, False, settings)  # type: ignore[arg-type]
    closed, foreign = AdamW(library.handle.backend), AdamW("cpu") if _has_adam() else None
    closed.close()
    closed.close()
    with pytest.raises(pymluops.NotInitializedError, match="AdamW: is closed"):
        ADAM(library.handle, arrays, (0.5,) * 6, False, closed)
    if foreign is not None:
        with pytest.raises(
            pymluops.BadParamError, match=r"settings: expected a descriptor of .*libschema\.so, got one of"
        ):
            ADAM(library.handle, arrays, (0.5,) * 6, False, foreign)
    with pytest.raises(TypeError, match="expected 1 descriptors, got 2"):
        ADAM(library.handle, arrays, (0.5,) * 6, False, (closed, closed))
    with pytest.raises(TypeError, match="expected 0 descriptors"):
        ball()(library.handle, (POINTS, POINTS, None), (1, 0, 1), False, closed)


def _has_adam() -> bool:
    try:
        AdamW("cpu").close()
    except pymluops.MluOpError:
        return False
    return True


ATTENTION = Operator(
    "mluOpMsDeformAttnBackward",
    "attention",
    (
        Tensor("value", FLOAT32, "B K M C", positive="B M C"),
        Tensor("spatial_shapes", INT32, "L 2"),
        Tensor("level_start_index", INT32, "L"),
        Tensor("sampling_loc", FLOAT32, "B Q M L P 2", positive="Q"),
        Tensor("attn_weight", FLOAT32, "B Q M L P"),
        Tensor("grad_output", FLOAT32, "B Q M C"),
        Tensor("grad_value", FLOAT32, "B K M C", output=True, zero_if="L P"),
        Tensor("grad_sampling_loc", FLOAT32, "B Q M L P 2", output=True),
        Tensor("grad_attn_weight", FLOAT32, "B Q M L P", output=True),
    ),
    (Scalar("im2col_step"),),
)


def attention_inputs(levels: int, points: int) -> tuple[Any, ...]:
    shapes = [
        (2, 3, 2, 4),
        (levels, 2),
        (levels,),
        (2, 5, 2, levels, points, 2),
        (2, 5, 2, levels, points),
        (2, 5, 2, 4),
    ]
    return tuple(np.ones(shape, np.int32 if i in (1, 2) else np.float32) for i, shape in enumerate(shapes))


@given(st.integers(0, 2), st.integers(0, 2), st.booleans())
def test_nine_arrays(library: Library, levels: int, points: int, given_out: bool) -> None:
    inputs = attention_inputs(levels, points)
    outs: tuple[Any, ...] = (None,) * 3
    if given_out:
        outs = tuple(np.full_like(inputs[i], 9) for i in (0, 3, 4))
    found = ATTENTION(library.handle, (*inputs, *outs), (7,))
    assert [array.shape for array in found] == [inputs[0].shape, inputs[3].shape, inputs[4].shape]
    assert library.seen[0] == 7
    assert library.seen[1::2] == [array.size for array in (*inputs, *found)]
    assert not found[0].any()  # by the function, or here where it writes nothing
    if given_out:
        assert all(a is b for a, b in zip(found, outs, strict=True))


def test_the_ninth_array_is_checked(library: Library) -> None:
    inputs, before = attention_inputs(1, 1), library.calls
    with pytest.raises(pymluops.BadParamError, match="attention: grad_attn_weight: expected memory of its own"):
        ATTENTION(library.handle, (*inputs, None, None, inputs[4]), (7,))
    with pytest.raises(pymluops.BadParamError, match=r"grad_output: expected shape \[B=2, Q=5, M=2, C=4\], got \[2\]"):
        ATTENTION(library.handle, (*inputs[:5], np.ones(2, np.float32), None, None, None), (7,))
    assert library.calls == before


# ---- 64 bits, a host array and a workspace -------------------------------------------------------

CONVOLUTION = Operator(
    "mluOpIndiceConvolutionForward",
    "convolution",
    (
        Tensor("features", FLOATS, "L Ci"),
        Tensor("filters", "features", "K Ci Co"),
        Tensor("indice_pairs", INT32, "K 2 L"),
        Tensor("indice_num", (DataType.INT64,), "K"),
        Tensor("features_out", "features", "1 Co", output=True),
    ),
    (
        Scalar("num_act_out", maximum=2**62),
        Scalar("inverse", minimum=0, maximum=2**62),
        Scalar("sub_m", minimum=-(2**40)),
    ),
    workspace="mluOpGetIndiceConvolutionForwardWorkspaceSize",
)


@given(st.integers(1, 2**62), st.integers(0, 2**62), st.integers(-(2**40), 2**63 - 1))
def test_wide_integers_and_a_workspace(library: Library, rows: int, inverse: int, sub_m: int) -> None:
    arrays = (
        np.ones((4, 2), np.float32), np.ones((3, 2, 5), np.float32), np.zeros((3, 2, 4), np.int32),
        np.array([2**40, 0, 0]),
    )  # fmt: skip
    found = CONVOLUTION(library.handle, (*arrays, None), (rows, inverse, sub_m))
    assert found.shape == (1, 5)
    assert library.seen[:4] == [float(rows), float(inverse), float(sub_m), 2**40]
    assert library.seen[4] == (rows + inverse) % 1000
    with pytest.raises(
        pymluops.BadParamError, match="sub_m: expected an integer from -1099511627776 to 92233720368547"
    ):
        CONVOLUTION(library.handle, (*arrays, None), (rows, inverse, sub_m + 2**64))
