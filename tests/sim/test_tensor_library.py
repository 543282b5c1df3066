"""The stand-in for the tensor library against NumPy."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from ctypes import byref, c_bool, c_float, c_int, c_void_p
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from pymluops import ExecutionFailedError, sim
from sim.tensor_library import CNNL, DTYPES, Library, Tensor
from support.selection import examples

RNG = np.random.default_rng(5)
ALL = sorted(DTYPES, key=str)
NUMBERS = [np.dtype(name) for name in ("float16", "float32", "float64", "int8", "int32", "int64")]


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    with sim.checking("all"):
        made = Library()
        yield made
        made.close()


@pytest.fixture
def tensor(library: Library) -> Iterator[Callable[..., Tensor]]:
    """Makes tensors, whose descriptors are destroyed."""
    made: list[Tensor] = []

    def make(array: Any, strides: Any = None) -> Tensor:
        made.append(Tensor(library, np.asarray(array), strides))
        return made[-1]

    yield make
    for each in made:
        each.close()


def values(shape: Any, dtype: Any) -> NDArray[Any]:
    """Any values of a type; floats have few bits, so that sums are exact."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return RNG.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return RNG.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return (RNG.integers(-8, 9, shape) / 4).astype(dtype)


# ---- Moving elements -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_fill(library: Library, tensor: Callable[..., Tensor], dtype: np.dtype[Any]) -> None:
    out, value = tensor(values((3, 4), dtype), (10, 2)), values((1,), dtype)
    library.call("cnnlFill_v3", CNNL.CNNL_POINTER_MODE_HOST, value.ctypes.data_as(c_void_p), *out.pair)
    np.testing.assert_array_equal(out.get(), np.full((3, 4), value[0]))
    one, other = tensor(values((1,), dtype)), tensor(values((2, 5), dtype))
    library.call("cnnlFill_v3", CNNL.CNNL_POINTER_MODE_DEVICE, one.data, *other.pair)
    np.testing.assert_array_equal(other.get(), np.full((2, 5), one.get()[0]))


def test_what_lies_between_strides_stays(library: Library, tensor: Callable[..., Tensor]) -> None:
    out = tensor(np.ones((2, 3), np.float32), (8, 2))
    library.call("cnnlFill_v3", CNNL.CNNL_POINTER_MODE_HOST, byref(c_float(5)), *out.pair)
    assert out.device.to_host().tolist() == [5, 0, 5, 0, 5, 0, 0, 0, 5, 0, 5, 0, 5]


@st.composite
def shapes_with_strides(draw: Any) -> tuple[tuple[int, ...], list[int]]:
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=4)))
    strides, step = [], draw(st.integers(1, 3))
    for dim in draw(st.permutations(range(len(shape)))):
        strides.append((dim, step))
        step = step * max(shape[dim], 1) + draw(st.integers(0, 2))
    return shape, [stride for _, stride in sorted(strides)]


@given(given_shape=shapes_with_strides(), data=st.data())
@examples(100)
def test_copy_and_transpose(library: Library, given_shape: Any, data: Any) -> None:
    shape, strides = given_shape
    array = values(shape, data.draw(st.sampled_from(ALL)))
    permute = list(data.draw(st.permutations(range(len(shape)))))
    source = Tensor(library, array, strides)
    target = Tensor(library, np.zeros_like(array))
    turned = Tensor(library, np.zeros_like(array.transpose(permute)))
    assert library.workspace("cnnlGetCopyWorkspaceSize", source.desc, target.desc) == 0
    library.call("cnnlCopy_v2", *source.pair, *target.pair, None, ctypes.c_size_t(0))
    np.testing.assert_array_equal(target.get(), array)
    library.call("cnnlCopy", *target.pair, *source.pair)
    with library.made("TransposeDescriptor") as desc:
        order = (c_int * len(permute))(*permute)
        assert library.c.cnnlSetTransposeDescriptor(desc, len(permute), order) == 0
        assert library.workspace("cnnlGetTransposeWorkspaceSize", source.desc, desc) == 0
        library.call("cnnlTranspose_v2", desc, *source.pair, *turned.pair, None, ctypes.c_size_t(0))
        np.testing.assert_array_equal(turned.get(), array.transpose(permute))
        library.call("cnnlTranspose", desc, *source.pair, *turned.pair)
    for each in (source, target, turned):
        each.close()


@pytest.mark.parametrize("index_type", [np.int32, np.int64])
@pytest.mark.parametrize(("shape", "depth"), [((7, 3), 1), ((4, 5), 2), ((3, 4, 2), 2), ((6,), 1)])
def test_gather_and_scatter(
    library: Library, tensor: Callable[..., Tensor], shape: tuple[int, ...], depth: int, index_type: Any
) -> None:
    indices = np.stack([RNG.integers(-1, dim + 1, 9) for dim in shape[:depth]], -1).astype(index_type)
    inside = ((indices >= 0) & (indices < shape[:depth])).all(-1)
    params, rows = values(shape, np.float32), (9, *shape[depth:])
    wanted = np.zeros(rows, np.float32)
    for i in np.flatnonzero(inside):
        wanted[i] = params[tuple(indices[i])]
    at, out = tensor(indices), tensor(np.ones(rows, np.float32))
    library.call("cnnlGatherNd_v2", 0, *tensor(params).pair, *at.pair, *out.pair)
    np.testing.assert_array_equal(out.get(), wanted)
    updates = values(rows, np.float32)
    for mode in ("UPDATE", "ADD"):
        for start in (params, None):
            wanted = np.zeros(shape, np.float32) if start is None else params.copy()
            for i in np.flatnonzero(inside):
                place = tuple(indices[i])
                wanted[place] = updates[i] + (wanted[place] if mode == "ADD" else 0)
            target = tensor(np.ones(shape, np.float32) if start is None else params)
            given = (None, None) if start is None else target.pair
            number = getattr(CNNL, f"CNNL_SCATTERND_{mode}")
            library.call("cnnlScatterNd_v2", number, *at.pair, *tensor(updates).pair, *given, *target.pair)
            np.testing.assert_array_equal(target.get(), wanted)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concat(library: Library, tensor: Callable[..., Tensor], axis: int) -> None:
    shapes = [[2, 3, 4] for _ in range(3)]
    for i, shape in enumerate(shapes):
        shape[axis] = i + 1
    arrays = [values(shape, np.int16) for shape in shapes]
    wanted = np.concatenate(arrays, axis)
    parts, out = [tensor(array) for array in arrays], tensor(np.zeros_like(wanted))
    descs = (c_void_p * 3)(*(part.desc.value for part in parts))
    data = (c_void_p * 3)(*(part.data.value for part in parts))
    assert library.workspace("cnnlGetConcatWorkspaceSize", 3) == 0
    library.call("cnnlConcat", 3, axis, descs, data, None, ctypes.c_size_t(0), *out.pair)
    np.testing.assert_array_equal(out.get(), wanted)


def test_pad(library: Library, tensor: Callable[..., Tensor]) -> None:
    array, paddings, value = values((3, 4), np.float32), np.int32([[1, 2], [0, 3]]), np.float32([7])
    wanted = np.pad(array, paddings, constant_values=7)
    out = tensor(np.zeros_like(wanted))
    pointers = [each.ctypes.data_as(c_void_p) for each in (paddings, value)]
    library.call("cnnlPad", *tensor(array).pair, *pointers, *out.pair)
    np.testing.assert_array_equal(out.get(), wanted)


# ---- Sorting -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("dim", [-1, 0])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_unique(
    library: Library, tensor: Callable[..., Tensor], dtype: np.dtype[Any], dim: int, is_sorted: bool
) -> None:
    array = RNG.integers(-1, 2, (12, 2)).astype(dtype)
    found = np.unique(array, True, True, True, axis=None if dim < 0 else dim)
    wanted, first, inverse, counts = (np.asarray(part) for part in found)
    if not is_sorted:
        order = np.argsort(first)
        wanted, counts, inverse = wanted[order], counts[order], np.argsort(order)[inverse.reshape(-1)]
    rows = array.size if dim < 0 else len(array)
    out, number = tensor(np.zeros_like(array)), tensor(np.zeros(1, np.int32))
    at, times = tensor(np.zeros(rows, np.int32)), tensor(np.zeros(rows, np.int32))
    mode = CNNL.CNNL_SORT_ASCEND if is_sorted else CNNL.CNNL_UNSORT_FORWARD
    source = tensor(array)
    with library.made("UniqueDescriptor") as desc:
        assert library.c.cnnlSetUniqueDescriptor(desc, mode, dim, c_bool(True), c_bool(True)) == 0
        assert library.workspace("cnnlGetUniqueWorkspaceSize", desc, source.desc) == 0
        outputs = (number.data, *out.pair, *at.pair, *times.pair)
        library.call("cnnlUnique_v2", desc, *source.pair, None, ctypes.c_size_t(0), *outputs)
        count = int(number.get()[0])
        assert count == len(wanted)
        np.testing.assert_array_equal(out.get().reshape(-1)[: wanted.size], wanted.reshape(-1))
        np.testing.assert_array_equal(at.get(), inverse.reshape(-1))
        np.testing.assert_array_equal(times.get()[:count], counts)
        assert library.c.cnnlSetUniqueDescriptor(desc, mode, dim, c_bool(False), c_bool(False)) == 0
        none = (None,) * 4
        library.call("cnnlUnique_v2", desc, *source.pair, None, ctypes.c_size_t(0), number.data, *out.pair, *none)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize(("largest", "lower"), [(True, True), (False, True), (True, False)])
def test_top_k(
    library: Library, tensor: Callable[..., Tensor], dtype: np.dtype[Any], dim: int, largest: bool, lower: bool
) -> None:
    array, k = RNG.integers(-3, 4, (5, 6, 4)).astype(dtype), 3
    places = np.arange(array.shape[dim])
    places = places.reshape([-1 if d == dim % 3 else 1 for d in range(3)])
    keys = array.astype(np.float64) * (-1 if largest else 1)
    if dtype.kind == "f":
        array[1, 2, 3] = np.nan  # the greatest
        keys[1, 2, 3] = -np.inf if largest else np.inf
    order = np.lexsort((np.broadcast_to(places if lower else -places, array.shape), keys), axis=dim)
    wanted = np.take(order, range(k), dim)
    source = tensor(array)
    out, index = tensor(np.zeros(wanted.shape, dtype)), tensor(np.zeros(wanted.shape, np.int32))
    flags = [c_bool(flag) for flag in (largest, True, lower)]
    size = library.workspace("cnnlGetTopKTensorWorkspaceSize", source.desc, k, dim, flags[0], out.desc, index.desc)
    assert size == 0
    library.call("cnnlTopKTensor_v3", *source.pair, k, dim, *flags, None, ctypes.c_size_t(0), *out.pair, *index.pair)
    np.testing.assert_array_equal(index.get(), wanted)
    np.testing.assert_array_equal(out.get(), np.take_along_axis(array, wanted, dim))


# ---- Arithmetic ----------------------------------------------------------------------------------

REDUCTIONS: dict[str, Callable[..., NDArray[Any]]] = {
    "ADD": np.sum, "AVG": np.mean, "MUL": np.prod, "MAX": np.max, "MIN": np.min, "AND": np.all, "OR": np.any,
    "NORM1": lambda a, axis: np.abs(a).sum(axis), "NORM2": lambda a, axis: np.sqrt((a * a).sum(axis)),
}  # fmt: skip


def reduce(library: Library, source: Tensor, out: Tensor, op: str, axes: tuple[int, ...], *factors: Any) -> None:
    with library.made("ReduceDescriptor") as desc:
        arguments = (getattr(CNNL, f"CNNL_REDUCE_{op}"), DTYPES[source.dtype], 0, 0, 0)
        given = (c_int * len(axes))(*axes)
        assert library.c.cnnlSetReduceDescriptor_v2(desc, given, len(axes), *arguments, c_float(0)) == 0
        assert library.c.cnnlSetReduceDescriptor(desc, given, len(axes), *arguments) == 0
        assert library.workspace("cnnlGetReduceOpWorkspaceSize", source.desc, out.desc, desc) == 0
        assert library.workspace("cnnlGetReduceOpWorkspaceSize_v2", source.desc, out.desc, None, desc) == 0
        pointers = factors or (None, None)
        rest = (None, ctypes.c_size_t(0), *out.pair, None, None)
        library.call("cnnlReduce_v2", desc, *source.pair, *pointers, *rest)


@pytest.mark.sampled("op", "dtype")
@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("axes", [(0,), (1,), (-1, 0), (0, 1, 2)])
def test_reduce(
    library: Library, tensor: Callable[..., Tensor], op: str, axes: tuple[int, ...], dtype: np.dtype[Any]
) -> None:
    if op.startswith("NORM") and dtype.kind != "f":
        return
    array = RNG.integers(-2, 3, (3, 4, 2)).astype(dtype)
    # In double, rounded once; integer means are cut toward zero.
    exact = REDUCTIONS[op](array.astype(np.float64 if dtype.kind == "f" else np.int64), axis=axes)
    with np.errstate(over="ignore"):
        wanted = (np.trunc(exact).astype(np.int64) if dtype.kind == "i" else np.asarray(exact)).astype(dtype)
    kept = [1 if d in {axis % 3 for axis in axes} else dim for d, dim in enumerate(array.shape)]
    source = tensor(array, (30, 7, 2))
    for shape in (wanted.shape or (1,), kept):
        out = tensor(np.zeros(shape, dtype))
        reduce(library, source, out, op, axes)
        np.testing.assert_array_equal(out.get(), wanted.reshape(shape))


def test_reduce_with_factors(library: Library, tensor: Callable[..., Tensor]) -> None:
    array, before = values((3, 5), np.float32), values((3,), np.float32)
    out = tensor(before)
    reduce(library, tensor(array), out, "ADD", (1,), byref(c_float(2)), byref(c_float(-0.5)))
    np.testing.assert_array_equal(out.get(), 2 * array.sum(1) - before / 2)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32], ids=str)
@pytest.mark.parametrize("op", ["ADD", "SUB", "MUL"])
@pytest.mark.parametrize(("a", "b"), [((3, 4), (3, 4)), ((3, 4), (4,)), ((1, 4), (3, 1))])
def test_op_tensor(library: Library, tensor: Callable[..., Tensor], op: str, dtype: Any, a: Any, b: Any) -> None:
    x, y, z = (RNG.integers(-9, 9, shape).astype(dtype) for shape in (a, b, (3, 4)))
    function = {"ADD": np.add, "SUB": np.subtract, "MUL": np.multiply}[op]
    out, tensors = tensor(z), (tensor(x), tensor(y))
    with library.made("OpTensorDescriptor") as desc:
        number = getattr(CNNL, f"CNNL_OP_TENSOR_{op}")
        assert library.c.cnnlSetOpTensorDescriptor(desc, number, CNNL.CNNL_DTYPE_FLOAT, 0) == 0
        assert library.workspace("cnnlGetOpTensorWorkspaceSize", tensors[0].desc, tensors[1].desc, out.desc) == 0
        factors = [byref(c_float(factor)) for factor in (2, 3, -1)]
        middle = (factors[1], *tensors[1].pair, None, ctypes.c_size_t(0), factors[2])
        library.call("cnnlOpTensor", desc, factors[0], *tensors[0].pair, *middle, *out.pair)
    np.testing.assert_array_equal(out.get(), function(2 * x, 3 * y) - z)


def test_transform_and_sum(library: Library, tensor: Callable[..., Tensor]) -> None:
    x = tensor(values((4, 3), np.float32), (5, 1))
    out = tensor(np.zeros((4, 3), np.float32))
    library.call("cnnlTransform_v2", 0, byref(c_float(0.5)), *x.pair, byref(c_float(3)), *out.pair)
    np.testing.assert_array_equal(out.get(), x.get() / 2 + 3)
    whole, result = tensor(np.int32([[5, -6]])), tensor(np.int32([[0, 0]]))
    library.call("cnnlTransform_v2", 0, byref(c_int(7)), *whole.pair, byref(c_int(1)), *result.pair)
    assert result.get().tolist() == [[36, -41]]
    parts = [tensor(values((4, 3), np.float16)) for _ in range(3)]
    total = tensor(np.zeros((4, 3), np.float16))
    descs = (c_void_p * 3)(*(part.desc.value for part in parts))
    data = (c_void_p * 3)(*(part.data.value for part in parts))
    assert library.workspace("cnnlGetAddNWorkspaceSize", descs, 3, total.desc) == 0
    library.call("cnnlAddN_v2", descs, data, 3, *total.pair, None, ctypes.c_size_t(0))
    np.testing.assert_array_equal(total.get(), sum(part.get() for part in parts))


@pytest.mark.parametrize("turned", [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_products_of_matrices(library: Library, tensor: Callable[..., Tensor], turned: Any, dtype: Any) -> None:
    a, b, c = values((3, 5), dtype), values((5, 4), dtype), values((3, 4), dtype)
    tensors = [tensor(m.T if flag else m) for m, flag in zip((a, b), turned, strict=True)]
    out, addend = tensor(np.zeros((3, 4), dtype)), tensor(c)
    with (
        library.made("MatMulDescriptor") as desc,
        library.made("MatMulAlgo") as algo,
        library.made("MatMulHeuristicResult") as result,
    ):
        for name, flag in (("DESC_TRANSA", turned[0]), ("DESC_TRANSB", turned[1]), ("USE_BETA", True)):
            number = getattr(CNNL, f"CNNL_MATMUL_{name}")
            assert library.c.cnnlSetMatMulDescAttr(desc, number, byref(c_int(flag)), ctypes.c_size_t(4)) == 0
        found, size, count = (c_void_p * 1)(result.value), ctypes.c_size_t(9), c_int()
        descs = (tensors[0].desc, tensors[1].desc, addend.desc, out.desc)
        library.call("cnnlGetMatMulAlgoHeuristic", desc, *descs, None, 1, found, byref(count))
        assert library.c.cnnlGetMatMulHeuristicResult(result, algo, byref(size)) == 0
        assert (count.value, size.value) == (1, 0)
        factors = byref(c_float(2)), byref(c_float(-1))
        left, right = tensors[0].pair, tensors[1].pair
        rest = (None, ctypes.c_size_t(0), *out.pair)
        library.call("cnnlMatMul_v2", desc, algo, factors[0], *left, *right, factors[1], *addend.pair, *rest)
    exact = 2 * a.astype(np.float64) @ b.astype(np.float64) - c
    np.testing.assert_array_equal(out.get(), exact.astype(dtype))


# ---- Order, findings and refusals ----------------------------------------------------------------


def test_work_is_done_in_the_order_of_the_queue(library: Library, tensor: Callable[..., Tensor]) -> None:
    x, y = tensor(np.zeros(100, np.float32)), tensor(np.zeros(100, np.float32))
    for i in range(20):
        fill = library.c.cnnlFill_v3(library.handle, 0, byref(c_float(i)), *x.pair)
        assert fill == library.c.cnnlCopy(library.handle, *x.pair, *y.pair) == 0
    library.queue.sync()
    assert y.get().tolist() == [19] * 100


def test_accesses_outside_are_found(library: Library, tensor: Callable[..., Tensor]) -> None:
    small, large = tensor(np.zeros(4, np.float32)), tensor(np.zeros(4000, np.float32))
    assert library.c.cnnlCopy(library.handle, large.desc, small.data, *large.pair) == 0
    with pytest.raises(ExecutionFailedError, match="cnnlCopy") as caught:
        library.queue.sync()
    (finding,) = caught.value.findings
    assert (finding.checker, finding.rule) == ("memory", "out-of-bounds")
    assert finding.file.endswith("native/cnnl/tensor.cpp")


def test_descriptors_tell_what_they_were_set_to(library: Library) -> None:
    dims, strides = (c_int * 2)(3, 4), (c_int * 2)(4, 1)
    wide = (ctypes.c_int64 * 2)(3, 4)
    with library.made("TensorDescriptor") as desc:
        assert library.c.cnnlGetTensorElementNum(desc) == 0
        for status in (
            library.c.cnnlSetTensorDescriptor(desc, 4, 2, 2, dims),
            library.c.cnnlSetTensorDescriptor_v2(desc, 4, 2, 2, wide),
            library.c.cnnlSetTensorDescriptorEx(desc, 4, 2, 2, dims, strides),
        ):
            layout, dtype, count, found = c_int(), c_int(), c_int(), (c_int * 8)()
            pointers = (byref(layout), byref(dtype), byref(count), found)
            assert status == library.c.cnnlGetTensorDescriptor(desc, *pointers) == 0
            assert (layout.value, dtype.value, count.value, list(found[:2])) == (4, 2, 2, [3, 4])
            assert library.c.cnnlGetTensorElementNum(desc) == 12
        assert library.c.cnnlSetTensorDescriptorOnchipDataType(desc, 2) == 0
        assert library.c.cnnlSetTensorDescriptorOnchipDataType(desc, 3) == CNNL.CNNL_STATUS_NOT_SUPPORTED
        assert library.c.cnnlSetTensorDescriptorPointerMode(desc, 1) == 0
        assert library.c.cnnlSetTensorDescriptorPointerMode(desc, 0) == CNNL.CNNL_STATUS_NOT_SUPPORTED
    size = ctypes.c_size_t()
    for dtype_, number in DTYPES.items():
        assert library.c.cnnlGetSizeOfDataType(number, byref(size)) == 0
        assert size.value == dtype_.itemsize
    assert library.c.cnnlGetSizeOfDataType(99, byref(size)) == CNNL.CNNL_STATUS_BAD_PARAM


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((11, 2, 2, (3, 4)), "layout: expected 0 to 10, got 11"),
        ((4, 77, 2, (3, 4)), "dtype: no type has the number 77"),
        ((4, 2, 9, (1,) * 9), "dim_count: expected 0 to 8, got 9"),
        ((4, 2, -1, ()), "dim_count: expected 0 to 8, got -1"),
        ((4, 2, 2, (3, -4)), "dims: expected no negative number, got (3, -4)"),
        ((4, 2, 3, (2**31 - 1,) * 3), "dims: expected a tensor of less than 2^63 bytes"),
        ((4, 2, 2, None), "dims: expected a pointer, got NULL"),
    ],
)
def test_wrong_descriptors(library: Library, arguments: Any, said: str) -> None:
    *numbers, dims = arguments
    given = None if dims is None else (c_int * len(dims))(*dims)
    with library.made("TensorDescriptor") as desc:
        assert library.c.cnnlSetTensorDescriptor(desc, *numbers, given) == CNNL.CNNL_STATUS_BAD_PARAM
    assert library.reason() == f"cnnlSetTensorDescriptor: {said}"


def test_wrong_arguments(library: Library, tensor: Callable[..., Tensor]) -> None:
    bad, x, y = CNNL.CNNL_STATUS_BAD_PARAM, tensor(np.zeros((2, 3), np.float32)), tensor(np.zeros((3, 2), np.float32))
    whole, nowhere = tensor(np.zeros((2, 3), np.int32)), c_void_p(64)
    copy = library.c.cnnlCopy
    for arguments, said in (
        ((nowhere, *x.pair, *x.pair), "handle: expected a living object"),
        ((library.handle, None, x.data, *x.pair), "input: expected a living object"),
        ((library.handle, x.desc, None, *x.pair), "input: expected a pointer, got NULL"),
        ((library.handle, *x.pair, *y.pair), "output: expected dims (2, 3), got (3, 2)"),
        ((library.handle, *x.pair, *whole.pair), "output: expected the data type 2, got 6"),
    ):
        assert copy(*arguments) == bad
        assert library.reason().startswith(f"cnnlCopy: {said}")
    with library.made("TensorDescriptor") as unset:
        assert copy(library.handle, unset, x.data, *x.pair) == bad
        assert "expected a descriptor that was set" in library.reason()
    assert copy(library.handle, unset, x.data, *x.pair) == bad
    gather = library.c.cnnlGatherNd_v2
    assert gather(library.handle, 1, *x.pair, *whole.pair, *x.pair) == CNNL.CNNL_STATUS_NOT_SUPPORTED
    assert gather(library.handle, 0, *x.pair, *x.pair, *x.pair) == bad
    assert library.reason() == "cnnlGatherNd_v2: indices: expected int32 or int64, got the data type 2"
    assert library.c.cnnlSetQueue(library.handle, nowhere) == 0
    assert copy(library.handle, *x.pair, *x.pair) == CNNL.CNNL_STATUS_EXECUTION_FAILED
    assert library.c.cnnlSetQueue(library.handle, c_void_p(library.queue.address)) == 0
    assert library.c.cnnlDestroy(nowhere) == library.c.cnnlCreate(None) == bad


def test_it_says_what_it_is(library: Library) -> None:
    assert library.c.cnnlStandInVersion().startswith(b"stand-in for CNNL")
    version = (c_int * 3)()
    library.c.cnnlGetLibVersion(*(byref(version, 4 * i) for i in range(3)))
    assert tuple(version) == (CNNL.CNNL_MAJOR, CNNL.CNNL_MINOR, CNNL.CNNL_PATCHLEVEL)
    assert library.c.cnnlGetErrorString(CNNL.CNNL_STATUS_BAD_PARAM) == b"CNNL_STATUS_BAD_PARAM"
    assert library.c.cnnlGetErrorString(99) == b"CNNL_STATUS_UNKNOWN"
