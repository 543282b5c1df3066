"""indice_convolution: refused calls of the C functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from support.arrays import canary, is_canary
from support.c_calls import ARRAY, BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw
from support.rulebooks import Product, products, random_rulebook

FUNCTIONS = ("Forward", "BackwardData", "BackwardFilter")
OUTPUT = {"Forward": "features_out", "BackwardData": "input_grad", "BackwardFilter": "filters_grad"}
each_function = pytest.mark.parametrize("function", FUNCTIONS)


def _arrays(dtype: str = "float32", cells: int = 3) -> tuple[dict[str, Any], np.ndarray]:
    book = random_rulebook(np.random.default_rng(1), cells, 5, 5)
    ones = {"features": (5, 2), "filters": (1, 1, cells, 2, 4), "output_grad": (5, 4)}
    arrays: dict[str, Any] = {name: np.ones(shape, dtype) for name, shape in ones.items()}
    arrays.update(
        indice_pairs=book.pairs,
        features_out=canary((5, 4), dtype),
        input_grad=canary((5, 2), dtype),
        filters_grad=canary((1, 1, cells, 2, 4), dtype),
    )
    return arrays, book.num


def _product(raw: Raw, function: str, dtype: str = "float32") -> Product:
    return products(raw, *_arrays(dtype))[function]


def assert_refused(product: Product, status: int, told: str, size_too: bool = True) -> None:
    """Both the call and the function for the size refuse, and nothing is written."""
    assert product.status() == status, product.raw.reason()
    assert f"{product.function}: {told}: expected" in product.raw.reason()
    output = list(product.tensors.values())[-1]
    if isinstance(output, np.ndarray) and output.flags["C_CONTIGUOUS"]:
        assert is_canary(output)
    if size_too:
        assert product.size()[0] == status


@each_function
def test_the_calls_below_differ_from_an_accepted_one(raw: Raw, function: str) -> None:
    product = _product(raw, function)
    assert product.status() == SUCCESS, raw.reason()
    assert product.size()[0] == SUCCESS


@each_function
def test_null_in_order(raw: Raw, function: str) -> None:
    n = raw.ffi.NULL
    size = raw.ffi.new("size_t *", 7)
    flags = {"Forward": (0, 0, 0), "BackwardData": (0, 0), "BackwardFilter": (0, 0)}[function]
    call = getattr(raw.lib, f"mluOpIndiceConvolution{function}")
    get = getattr(raw.lib, f"mluOpGetIndiceConvolution{function}WorkspaceSize")
    first = "output_grad_desc" if function == "BackwardData" else "features_desc"
    size_flags = (0,) if function == "BackwardData" else flags
    for handle, told in ((n, "handle"), (raw.handle, first)):
        assert call(handle, *[n] * 6, n, *flags, n, 0, n, n) == BAD_PARAM
        assert f": {told}:" in raw.reason()
        assert get(handle, n, n, n, n, n, *size_flags, size) == BAD_PARAM
        assert f": {told}:" in raw.reason()
    assert size[0] == 7
    product = _product(raw, function)
    product.numbers["indice_num"] = n
    assert_refused(product, BAD_PARAM, "indice_num")
    product = _product(raw, function)
    for name, array in product.tensors.items():
        product = _product(raw, function)
        product.tensors[name] = Descriptor(array.shape, array.dtype.name, pair=True)
        assert_refused(product, BAD_PARAM, name, size_too=False)
    product = _product(raw, function)
    product.workspace, product.workspace_size = n, 10**6
    assert_refused(product, BAD_PARAM, "workspace", size_too=False)


@each_function
def test_the_size_goes_somewhere(raw: Raw, function: str) -> None:
    product = _product(raw, function)
    descriptors = [Descriptor(a.shape, a.dtype.name) for a in product.tensors.values()]
    num = raw.ffi.cast("int64_t *", product.numbers["indice_num"].ctypes.data)
    flags = {"Forward": (5, 0, 0), "BackwardData": (0,), "BackwardFilter": (0, 0)}[function]
    name = f"mluOpGetIndiceConvolution{function}WorkspaceSize"
    assert raw.status(name, *descriptors, num, *flags, raw.ffi.NULL) == BAD_PARAM
    assert f"{name}: workspace_size: expected" in raw.reason()


@each_function
def test_a_workspace_that_is_too_small(raw: Raw, function: str) -> None:
    product = _product(raw, function)
    product.workspace_size = product.size()[1] - 1
    assert_refused(product, BAD_PARAM, "workspace_size", size_too=False)
    product.workspace_size = 0
    assert_refused(product, BAD_PARAM, "workspace_size", size_too=False)


@each_function
@pytest.mark.parametrize("offset", [1, 4, 63])
def test_a_workspace_at_any_address(raw: Raw, function: str, offset: int) -> None:
    product = _product(raw, function)
    size = product.size()[1]
    memory = np.full(size + 128, 0xA5, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    product.workspace = raw.ffi.cast("void *", memory.ctypes.data + start)
    product.workspace_size = size
    assert product.status() == SUCCESS, raw.reason()
    assert (memory[:start] == 0xA5).all()
    assert (memory[start + size :] == 0xA5).all()


@each_function
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("row", [-1, 5, 2**31 - 1, -(2**31)])
def test_pairs_of_rows_that_do_not_exist(raw: Raw, function: str, side: int, row: int) -> None:
    product = _product(raw, function)
    product.numbers["indice_num"] = np.array([5, 5, 5])
    pairs = np.tile(np.arange(5, dtype=np.int32), (3, 2, 1))
    pairs[1, side, 3] = row
    product.tensors["indice_pairs"] = pairs
    assert_refused(product, BAD_PARAM, "indice_pairs", size_too=False)
    kind = "output" if side else "input"
    assert f"expected {kind} rows from 0 to 4, got {row} at [1, {side}, 3]" in raw.reason()
    # A pair that does not count may be anything.
    product.numbers["indice_num"] = np.array([5, 3, 5])
    assert product.status() == SUCCESS, raw.reason()


@pytest.mark.parametrize("first", [3, 70_000])
def test_the_first_wrong_pair_is_named(raw: Raw, first: int) -> None:
    length = 100_000
    pairs = np.zeros((2, 2, length), np.int32)
    pairs[0, 1, first], pairs[0, 0, first + 64], pairs[0, 0, 90_000], pairs[1, 0, 0] = -7, -10, -8, -9
    for function in FUNCTIONS:
        arrays, _ = _arrays(cells=2)
        arrays.update(features=np.ones((length, 2), np.float32), input_grad=canary((length, 2), "float32"))
        arrays.update(indice_pairs=pairs, output_grad=np.ones((length, 4), np.float32))
        product = products(raw, arrays, np.array([length, 1]))[function]
        assert_refused(product, BAD_PARAM, "indice_pairs", size_too=False)
        assert f"got -7 at [0, 1, {first}]" in raw.reason()


@each_function
@pytest.mark.parametrize("wrong", [-1, 6, 2**62, -(2**63)])
def test_numbers_of_pairs(raw: Raw, function: str, wrong: int) -> None:
    product = _product(raw, function)
    product.numbers["indice_num"] = np.array([0, wrong, 2])
    assert_refused(product, BAD_PARAM, "indice_num")
    assert f"{wrong} for cell 1" in raw.reason()


@pytest.mark.parametrize(
    ("function", "flag", "value", "status"),
    [
        ("Forward", "sub_m", 2, BAD_PARAM),
        ("Forward", "inverse", -1, BAD_PARAM),
        ("Forward", "inverse", 1, NOT_SUPPORTED),
        ("Forward", "num_act_out", 4, BAD_PARAM),
        ("BackwardData", "inverse", 2, BAD_PARAM),
        ("BackwardData", "inverse", 1, NOT_SUPPORTED),
        ("BackwardFilter", "inverse", 1, BAD_PARAM),
    ],
)
def test_flags(raw: Raw, function: str, flag: str, value: int, status: int) -> None:
    product = _product(raw, function)
    product.numbers[flag] = value
    assert_refused(product, status, "features_out_desc" if flag == "num_act_out" else flag)


def test_backward_data_looks_at_sub_m(raw: Raw) -> None:
    product = _product(raw, "BackwardData")
    product.numbers.update(sub_m=3)
    assert_refused(product, BAD_PARAM, "sub_m", size_too=False)
    product.numbers.update(sub_m=1, indice_num=np.array([3, 2, 1]))
    assert_refused(product, BAD_PARAM, "indice_num", size_too=False)
    arrays, _ = _arrays(cells=2)
    product = products(raw, arrays, np.array([1, 1]))["BackwardData"]
    product.numbers["sub_m"] = 1
    assert_refused(product, BAD_PARAM, "filters_desc", size_too=False)
    arrays["output_grad"] = np.ones((6, 4), np.float32)
    product = products(raw, arrays, np.array([1, 1]))["BackwardData"]
    product.numbers["sub_m"] = 1
    assert_refused(product, BAD_PARAM, "input_grad_desc", size_too=False)


def test_backward_data_wants_as_many_rows_as_pairs(raw: Raw) -> None:
    arrays, _ = _arrays()
    arrays["output_grad"] = np.ones((2, 4), np.float32)
    arrays["indice_pairs"] = np.zeros((3, 2, 5), np.int32)
    product = products(raw, arrays, np.array([0, 3, 0]))["BackwardData"]
    assert_refused(product, BAD_PARAM, "output_grad_desc")
    product.numbers["indice_num"] = np.array([0, 2, 0])
    assert product.status() == SUCCESS, raw.reason()


@each_function
def test_dtypes_dims_and_strides(raw: Raw, function: str) -> None:
    for name, good in _product(raw, function).tensors.items():
        product = _product(raw, function)
        wrong = good.astype(np.int64 if good.dtype == np.int32 else np.float64)
        product.tensors[name] = wrong
        assert product.status() == BAD_PARAM
        assert "_desc: expected" in raw.reason()
        product.tensors[name] = good[None] if name != "filters_grad" else good[None].reshape(1, 1, 1, 3, 2, 4)
        expected = NOT_SUPPORTED if (name, function) == ("filters", "Forward") else BAD_PARAM
        assert product.status() == expected
        assert f": {name}_desc: expected" in raw.reason()
        product.tensors[name] = np.repeat(good, 2, -1)[..., ::2]
        assert product.status() == NOT_SUPPORTED
        assert f": {name}_desc: expected packed strides" in raw.reason()
        if good.dtype == np.float32:
            product.tensors[name] = good.astype(np.float16)
            assert product.status() == BAD_PARAM
            assert "expected the dtype of" in raw.reason()


#: Axes that must agree with other tensors or numbers.
AXES = [
    ("Forward", "features", (0, 1)), ("Forward", "filters", (0, 1, 2, 3, 4)), ("Forward", "indice_pairs", (0, 1, 2)),
    ("Forward", "features_out", (0, 1)), ("BackwardData", "output_grad", (1,)),
    ("BackwardData", "filters", (0, 1, 2, 3, 4)), ("BackwardData", "indice_pairs", (0, 1, 2)),
    ("BackwardData", "input_grad", (0, 1)), ("BackwardFilter", "features", (0, 1)),
    ("BackwardFilter", "output_grad", (1,)), ("BackwardFilter", "indice_pairs", (0, 1, 2)),
    ("BackwardFilter", "filters_grad", (0, 1, 2, 3, 4)),
]  # fmt: skip


@pytest.mark.parametrize(("function", "name", "axis"), [(f, name, axis) for f, name, axes in AXES for axis in axes])
def test_other_shapes(raw: Raw, function: str, name: str, axis: int) -> None:
    product = _product(raw, function)
    array = product.tensors[name]
    product.tensors[name] = np.concatenate([array, array.take([0], axis)], axis)
    assert product.status() == BAD_PARAM
    assert "_desc: expected dim" in raw.reason()


@pytest.mark.parametrize(
    ("function", "layout", "status"),
    [("Forward", 0, NOT_SUPPORTED), ("Forward", 1, NOT_SUPPORTED), ("Forward", 2, NOT_SUPPORTED),
     ("Forward", 8, NOT_SUPPORTED), ("BackwardData", 8, BAD_PARAM), ("BackwardData", 6, BAD_PARAM)],
)  # fmt: skip
def test_layouts_that_filters_cannot_have(raw: Raw, function: str, layout: int, status: int) -> None:
    product = _product(raw, function)
    product.layouts["filters"] = layout
    assert_refused(product, status, "filters_desc")


@each_function
def test_results_must_have_memory_of_their_own(raw: Raw, function: str) -> None:
    product = _product(raw, function)
    output = OUTPUT[function]
    memory = np.ones(200, np.float32)
    for name, array in product.tensors.items():
        if name != output and array.dtype == np.float32:
            changed = _product(raw, function)
            changed.tensors[name] = memory[: array.size].reshape(array.shape)
            result = changed.tensors[output]
            changed.tensors[output] = memory[: result.size].reshape(result.shape)
            assert changed.status() == BAD_PARAM
            assert f": {output}: expected memory of its own" in raw.reason()
    product.workspace_size = product.size()[1]
    product.workspace = raw.ffi.cast("void *", product.tensors[output].ctypes.data)
    assert product.status() == BAD_PARAM
    assert ": workspace: expected memory of its own" in raw.reason()
    assert is_canary(product.tensors[output])
    assert (memory == 1).all()


@each_function
def test_2_to_the_31_elements_are_not_supported(raw: Raw, function: str) -> None:
    arrays, num = _arrays()
    rows = 2**30
    arrays = {name: Descriptor(a.shape, a.dtype.name, pair=True) for name, a in arrays.items()}
    shapes: dict[str, tuple[int, ...]] = {
        "features": (rows, 2), "indice_pairs": (3, 2, rows), "input_grad": (rows, 2), "output_grad": (rows, 4),
    }  # fmt: skip
    for name, shape in shapes.items():
        arrays[name] = Descriptor(shape, arrays[name].dtype, pair=True)
    numbers = {"indice_num": num, "inverse": 0, "sub_m": 0, "num_act_out": 5}
    names = {
        "Forward": ("features", "filters", "indice_pairs", "features_out"),
        "BackwardData": ("output_grad", "filters", "indice_pairs", "input_grad"),
        "BackwardFilter": ("features", "output_grad", "indice_pairs", "filters_grad"),
    }[function]
    product = Product(raw, function, {name: arrays[name] for name in names}, numbers)
    assert product.status() == NOT_SUPPORTED
    assert "_desc: expected fewer than 2^31" in raw.reason()


@pytest.mark.parametrize(
    ("name", "onchip", "status"),
    [("features", 1, BAD_PARAM), ("output_grad", 3, BAD_PARAM), ("indice_pairs", 2, BAD_PARAM),
     ("filters_grad", 1, BAD_PARAM), ("filters_grad", 2, SUCCESS)],
)  # fmt: skip
def test_on_chip_types_of_backward_filter(raw: Raw, name: str, onchip: int, status: int) -> None:
    arrays, num = _arrays()
    lib, ffi, made = raw.lib, raw.ffi, []
    try:
        for tensor in ("features", "output_grad", "indice_pairs", "filters_grad"):
            slot = ffi.new("mluOpTensorDescriptor_t *")
            assert lib.mluOpCreateTensorDescriptor(slot) == SUCCESS
            made.append(slot[0])
            array = arrays[tensor]
            dims = ffi.new("int[]", list(array.shape))
            code = 6 if array.dtype == np.int32 else 2
            assert lib.mluOpSetTensorDescriptor(slot[0], ARRAY, code, array.ndim, dims) == SUCCESS
            if tensor == name:
                assert lib.mluOpSetTensorDescriptorOnchipDataType(slot[0], onchip) == SUCCESS
        size = ffi.new("size_t *")
        counts = ffi.cast("int64_t *", num.ctypes.data)
        found = lib.mluOpGetIndiceConvolutionBackwardFilterWorkspaceSize(raw.handle, *made, counts, 0, 0, size)
        assert found == status, raw.reason()
    finally:
        for desc in made:
            lib.mluOpDestroyTensorDescriptor(desc)


def test_the_simulator_does_not_implement_it() -> None:
    with Raw(pymluops.load("sim")) as raw:
        for function in FUNCTIONS:
            product = _product(raw, function)
            assert product.status() == NOT_SUPPORTED
            assert "not implemented by the sim library" in raw.reason()
            assert is_canary(product.tensors[OUTPUT[function]])
