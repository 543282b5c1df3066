"""pointwise: refused calls, and calls that have nothing to do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.pointwise_calls import IN_C, status


def pair(shape: tuple[int, ...], dtype: str = "float32") -> Descriptor:
    return Descriptor(shape, dtype, pair=True)


@pytest.mark.parametrize("name", IN_C)
def test_nothing_to_do(raw: Raw, name: str) -> None:
    count = IN_C[name][2]
    assert status(raw, name, *[pair((0, 3))] * count) == SUCCESS
    assert status(raw, name, *[pair((3, 0), "float16")] * count) == SUCCESS
    assert getattr(pymluops, name)(*[np.ones((2, 0), np.float32)] * (count - 1)).shape == (2, 0)
    if name == "div":
        assert status(raw, name, pair((0, 1)), pair((4,)), pair((0, 4))) == SUCCESS


def test_the_base_is_checked_last(raw: Raw) -> None:
    x, y = np.ones(3, np.float32), canary(3, "float32")
    empty = pair((0,))
    assert raw.status("mluOpLog", 0, 3, empty, empty) == SUCCESS
    assert raw.status("mluOpLog", 0, 3, Tensor(x), Tensor(np.ones(6, np.float32)[::2])) == NOT_SUPPORTED
    assert raw.status("mluOpLog", 0, 3, Tensor(x), Tensor(y)) == BAD_PARAM
    assert "mluOpLog: base: expected" in raw.reason()
    assert raw.status("mluOpLog", 77, 0, Tensor(x), Tensor(y)) == SUCCESS  # nobody looks at the preference
    assert y.tolist() == [0, 0, 0]


def test_the_preference_of_roots_is_checked_first(raw: Raw) -> None:
    null = raw.ffi.NULL
    assert raw.lib.mluOpSqrt(null, 2, null, null, null, null) == BAD_PARAM
    assert "mluOpSqrt: prefer: expected" in raw.reason()
    assert raw.lib.mluOpSqrt(null, 1, null, null, null, null) == BAD_PARAM
    assert "mluOpSqrt: x_desc: expected" in raw.reason()


@pytest.mark.parametrize("name", IN_C)
def test_each_null(raw: Raw, name: str) -> None:
    function, scalars, count = IN_C[name]
    good = [np.ones(3, np.float32) for _ in range(count)]
    for k in range(count):
        tensors: list[Any] = list(good)
        tensors[k] = pair((3,))
        assert status(raw, name, *tensors) == BAD_PARAM
        assert f"{function}: " in raw.reason()
    for k in range(count):
        arguments = [raw.ffi.NULL] * (2 * count)
        desc = raw.ffi.new("mluOpTensorDescriptor_t *")
        raw.lib.mluOpCreateTensorDescriptor(desc)
        for i in range(count):
            arguments[2 * i] = raw.ffi.NULL if i == k else desc[0]
        assert getattr(raw.lib, function)(raw.handle, *scalars, *arguments) == BAD_PARAM
        raw.lib.mluOpDestroyTensorDescriptor(desc[0])
        assert "_desc: expected" in raw.reason()
    assert getattr(raw.lib, function)(raw.ffi.NULL, *scalars, *[raw.ffi.NULL] * (2 * count)) == BAD_PARAM


@pytest.mark.parametrize("name", IN_C)
def test_faults_in_the_order_of_the_checks(raw: Raw, name: str) -> None:
    """Each problem has one more fault than the one before; the earliest decides."""
    count = IN_C[name][2]
    faults: list[tuple[list[Any], int, str]] = [
        ([pair((3,), "float16"), *[pair((4,))] * (count - 1)], BAD_PARAM, "the dtype of"),
        ([pair((3,), "int8"), *[pair((3, 1), "int8")] * (count - 1)], BAD_PARAM, ""),
        ([pair((3,), "int8")] * count, BAD_PARAM, "x_desc" if count == 2 else "half or float"),
        ([pair((3,)), *[pair((4,))] * (count - 1)], BAD_PARAM, "dim 0 = " if name == "div" else "the shape of"),
        ([pair((3,))] * count, BAD_PARAM, "pointer"),
    ]
    for tensors, wanted, told in faults:
        assert status(raw, name, *tensors) == wanted
        assert told in raw.reason() or "expected" in raw.reason(), (told, raw.reason())


def test_scalars_have_no_dims(raw: Raw) -> None:
    for name, (function, _, count) in IN_C.items():
        assert status(raw, name, *[np.array(4, np.float32) for _ in range(count)]) == BAD_PARAM
        assert f"{function}: " in raw.reason()
        assert "at least 1 dim" in raw.reason()


def test_pairs_of_types(raw: Raw) -> None:
    kinds = ("float16", "float32", "int32", "int8", "int64", "float64", "complex64", "bool")
    legal = {
        "abs": {("float16",) * 2, ("float32",) * 2, ("int32",) * 2, ("complex64", "float32")},
        "sqrt": {("float16",) * 2, ("float32",) * 2, ("int32", "float32")},
        "log": {("float16",) * 2, ("float32",) * 2},
        "lgamma": {("float16",) * 2, ("float32",) * 2},
    }
    for name, allowed in legal.items():
        for x in kinds:
            for y in kinds:
                found = status(raw, name, np.ones(2, x), np.ones(2, y))
                assert found == (SUCCESS if (x, y) in allowed else BAD_PARAM), (name, x, y)


def test_refused_shapes_of_quotients(raw: Raw) -> None:
    for x, y, z in (
        ((3,), (4,), (4,)), ((2, 3), (3, 1), (3, 3)), ((3,), (1, 3), (3,)), ((3, 1), (1, 4), (3, 1)),
        ((1,), (3,), (1,)), ((0,), (3,), (0,)), ((1,), (0,), (1,)),
    ):  # fmt: skip
        out = canary(z, "float32")
        assert status(raw, "div", np.ones(x, np.float32), np.ones(y, np.float32), out) == BAD_PARAM, (x, y, z)
        assert is_canary(out)


def test_python_refuses() -> None:
    x = np.ones((2, 3), np.float32)
    for call, text in (
        (lambda: pymluops.abs(x, out=np.empty((3, 2), np.float32)), r"abs: out: expected shape \[2, 3\], got \[3, 2\]"),
        (lambda: pymluops.div(x, np.ones(2, np.float32)), r"div: y: expected shape that goes together with \[2, 3\]"),
        (lambda: pymluops.div(x, np.ones(3, np.float16)), "div: y: expected dtype"),
        (lambda: pymluops.sqrt_backward(x, x[0].copy()), r"sqrt_backward: diff_y: expected shape \[2, 3\], got \[3\]"),
        (lambda: pymluops.log(x, 3), "log: base: expected 'e', 2 or 10, got 3"),
        (lambda: pymluops.log(x, 2.5), "log: base: expected 'e', 2 or 10, got 2.5"),
        (lambda: pymluops.log(x, "E"), "log: base: expected 'e', 2 or 10, got 'E'"),
        (lambda: pymluops.sqrt(x, "slow"), "sqrt: prefer: expected"),
        (lambda: pymluops.abs(x[:, ::2]), "abs: x: expected a C-contiguous array"),
        (
            lambda: pymluops.abs(x.astype(np.int64)),
            "dtype float32, float16, int32 or complex64, got int64",
        ),
        (lambda: pymluops.abs(x.astype(np.complex128)), r"got complex128; x.astype\(numpy.complex64\) would do"),
        (lambda: pymluops.sqrt(x.astype(np.int8)), "sqrt: x: expected dtype float32, float16 or int32, got int8"),
        (
            lambda: pymluops.sqrt(x + np.complex64(0)),
            "sqrt: x: expected dtype float32, float16 or int32, got complex64",
        ),
        (lambda: pymluops.abs(x.astype(">f4")), "abs: x: expected native byte order"),
        (lambda: pymluops.lgamma(x.astype(np.int32)), "lgamma: x: expected dtype"),
        (lambda: pymluops.lgamma("x"), "lgamma: x: expected an array"),
    ):
        with pytest.raises((pymluops.BadParamError, TypeError), match=text):
            call()


def test_bases_of_other_types() -> None:
    x = np.float32([1, 8])
    for base in (2, "2", np.int32(2)):
        assert pymluops.log(x, base).tolist() == [0, 3]
    for wrong in (True, 2.0, None, b"2"):
        with pytest.raises(pymluops.BadParamError, match="log: base: expected"):
            pymluops.log(x, wrong)
