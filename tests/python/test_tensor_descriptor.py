"""TensorDescriptor: an immutable value."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import pymluops
from pymluops import DataType, Layout, TensorDescriptor


def test_what_it_holds() -> None:
    desc = TensorDescriptor((2, 3, 4), DataType.HALF, Layout.NHWC)
    assert desc.shape == (2, 3, 4)
    assert desc.dtype is DataType.HALF
    assert desc.layout is Layout.NHWC
    assert desc.strides == (12, 4, 1)
    assert desc.element_count == 24
    assert desc.nbytes == 48


def test_defaults() -> None:
    desc = TensorDescriptor([5], "float32")
    assert desc.layout is Layout.ARRAY
    assert desc.shape == (5,)
    assert desc.strides == (1,)


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        (np.float16, DataType.HALF), (np.dtype("float32"), DataType.FLOAT), ("int32", DataType.INT32),
        (2, DataType.FLOAT),
        (ml_dtypes.bfloat16, DataType.BFLOAT16), (np.dtype(ml_dtypes.bfloat16), DataType.BFLOAT16),
        (DataType.INT31, DataType.INT31), (np.bool_, DataType.BOOL), (np.complex64, DataType.COMPLEX_FLOAT),
        (np.uint64, DataType.UINT64), (float, DataType.DOUBLE),
    ],
    ids=str,
)  # fmt: skip
def test_spellings_of_a_dtype(spelling: Any, expected: DataType) -> None:
    assert TensorDescriptor((1,), spelling).dtype is expected


@pytest.mark.parametrize("dtype", [None, "float128x", 0, 99, -1, object, "O", "complex128", ">f4", 1.5, True], ids=str)
def test_dtypes_that_are_refused(dtype: Any) -> None:
    with pytest.raises((pymluops.BadParamError, TypeError)):
        TensorDescriptor((1,), dtype)


SIZES = {
    DataType.BOOL: 1, DataType.INT8: 1, DataType.UINT8: 1, DataType.INT16: 2, DataType.UINT16: 2, DataType.HALF: 2,
    DataType.BFLOAT16: 2, DataType.INT31: 4, DataType.INT32: 4, DataType.UINT32: 4, DataType.FLOAT: 4,
    DataType.COMPLEX_HALF: 4, DataType.INT64: 8, DataType.UINT64: 8, DataType.DOUBLE: 8, DataType.COMPLEX_FLOAT: 8,
}  # fmt: skip


@pytest.mark.parametrize("dtype", SIZES)
def test_bytes_of_every_dtype(dtype: DataType) -> None:
    assert TensorDescriptor((3, 5), dtype).nbytes == 15 * SIZES[dtype]


def test_empty_and_scalar_shapes() -> None:
    assert TensorDescriptor((), "float32").element_count == 1
    empty = TensorDescriptor((2, 0, 3), "float32")
    assert empty.element_count == 0
    assert empty.nbytes == 0


@pytest.mark.parametrize(
    "shape", [(-1,), (2, -3), (1,) * 9, (2**40, 2**40), (1.5,), "ab", None, (2**63,), ("2",)], ids=str
)
def test_shapes_that_are_refused(shape: Any) -> None:
    with pytest.raises((pymluops.BadParamError, TypeError)):
        TensorDescriptor(shape, "float32")


@pytest.mark.parametrize("strides", [(1,), (1, 2, 3), ("a", "b"), (1.5, 1), (2**63, 1)], ids=str)
def test_strides_that_are_refused(strides: Any) -> None:
    with pytest.raises((pymluops.BadParamError, TypeError)):
        TensorDescriptor((2, 3), "float32", strides=strides)


def test_strides_are_kept_as_given() -> None:
    assert TensorDescriptor((2, 3), "float32", strides=(1, 2)).strides == (1, 2)
    assert TensorDescriptor((2, 3), "float32", strides=[-3, 0]).strides == (-3, 0)


def test_equality_and_hash() -> None:
    one, same = TensorDescriptor((2, 3), "float32"), TensorDescriptor([2, 3], DataType.FLOAT, strides=(3, 1))
    assert one == same
    assert hash(one) == hash(same)
    assert len({one, same}) == 1
    others = [
        TensorDescriptor((3, 2), "float32"), TensorDescriptor((2, 3), "float16"),
        TensorDescriptor((2, 3, 1), "float32"),
        TensorDescriptor((2, 3), "float32", Layout.NHWC), TensorDescriptor((2, 3), "float32", strides=(1, 2)),
    ]  # fmt: skip
    assert all(one != other for other in others)
    assert len({one, *others}) == 6
    assert one != (2, 3)
    assert one != "float32"


@pytest.mark.parametrize("field", ["shape", "dtype", "layout", "strides", "element_count", "nbytes", "anything_else"])
def test_it_is_immutable(field: str) -> None:
    desc = TensorDescriptor((2, 3), "float32")
    with pytest.raises(AttributeError):
        setattr(desc, field, (1,))
    assert desc == TensorDescriptor((2, 3), "float32")
    with pytest.raises((AttributeError, TypeError)):
        delattr(desc, field)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickle_and_copy(protocol: int) -> None:
    desc = TensorDescriptor((2, 3), DataType.BFLOAT16, Layout.NC, strides=(1, 2))
    assert pickle.loads(pickle.dumps(desc, protocol)) == desc
    assert copy.copy(desc) == desc
    assert copy.deepcopy(desc) == desc


def test_repr_says_it_all_and_can_be_evaluated() -> None:
    for desc in (TensorDescriptor((2, 3), "float16", Layout.NHWC), TensorDescriptor((2, 3), "float16", strides=(1, 2))):
        text = repr(desc)
        assert text.startswith("TensorDescriptor(")
        assert "2, 3" in text
        names = {"TensorDescriptor": TensorDescriptor, "DataType": DataType, "Layout": Layout}
        assert eval(text, names) == desc


@pytest.mark.parametrize(
    "array", [np.zeros((2, 3), "f2"), np.zeros((4, 6), "i4")[::2, ::3], np.zeros((2, 0), "c8"), np.zeros((), "f8")]
)
def test_of_an_array(array: np.ndarray) -> None:
    desc = TensorDescriptor.of(array, layout=Layout.NC)
    assert desc.shape == array.shape
    assert desc.layout is Layout.NC
    assert desc.dtype == TensorDescriptor((), array.dtype).dtype
    if array.size:
        assert desc.strides == tuple(s // array.itemsize for s in array.strides)
    assert TensorDescriptor.of(array).layout is Layout.ARRAY


def test_of_a_memoryview_and_of_what_is_no_array() -> None:
    assert TensorDescriptor.of(memoryview(b"abc")) == TensorDescriptor((3,), "uint8")
    for thing in (3, "text", [1, 2], np.zeros(2, "O"), np.zeros(2, ">f4")):
        with pytest.raises((pymluops.BadParamError, TypeError)):
            TensorDescriptor.of(thing)


def test_bind_makes_a_c_descriptor() -> None:
    backend = pymluops.load("cpu")
    desc = TensorDescriptor((2, 3), "float16", Layout.NHWC, strides=(1, 2))
    bound, ffi = desc.bind(backend), backend.ffi
    layout, dtype, rank = ffi.new("mluOpTensorLayout_t *"), ffi.new("mluOpDataType_t *"), ffi.new("int *")
    dims, strides = ffi.new("int64_t[8]"), ffi.new("int64_t[8]")
    assert backend.lib.mluOpGetTensorDescriptorEx_v2(bound, layout, dtype, rank, dims, strides) == 0
    assert (layout[0], dtype[0], rank[0], list(dims[0:2]), list(strides[0:2])) == (
        Layout.NHWC,
        DataType.HALF,
        2,
        [2, 3],
        [1, 2],
    )
    assert backend.lib.mluOpGetTensorElementNum(bound) == 6
