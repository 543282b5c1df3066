"""mluopsExtIndiceConvolution... and mluopsExtGetIndicePairs as C functions: NULL, refusals, doubles, zero sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops.oracle import indice_convolution as oracle
from support.arrays import canary, is_canary
from support.c_calls import BAD_PARAM, NOT_SUPPORTED, SUCCESS, Descriptor, Raw, Tensor
from support.processes import python_output
from support.rulebooks import digests, random_rulebook

FUNCTIONS = ("Forward", "BackwardData", "BackwardFilter")
NAMES = {
    "Forward": ("features", "filters", "indice_pairs", "features_out"),
    "BackwardData": ("output_grad", "filters", "indice_pairs", "input_grad"),
    "BackwardFilter": ("features", "output_grad", "indice_pairs", "filters_grad"),
}
each_function = pytest.mark.parametrize("function", FUNCTIONS)


class Product:
    """One of the three functions on 5 input and 4 output rows, 2 and 3 channels and 3 filter cells."""

    def __init__(self, raw: Raw, function: str, dtype: str = "float64", inverse: int = 0) -> None:
        rng = np.random.default_rng(1)
        self.raw, self.function, self.inverse, self.book = raw, function, inverse, random_rulebook(rng, 3, 5, 4)
        rows = (4, 5) if inverse else (5, 4)
        shapes = {"features": (rows[0], 2), "filters": (3, 2, 3), "output_grad": (rows[1], 3)}
        arrays = {name: rng.normal(0, 1, shape).astype(dtype) for name, shape in shapes.items()}
        arrays["indice_pairs"] = self.book.pairs
        for output, like in (("features_out", "output_grad"), ("input_grad", "features"), ("filters_grad", "filters")):
            arrays[output] = canary(shapes[like], dtype)
        self.tensors: dict[str, Any] = {name: arrays[name] for name in NAMES[function]}
        self.num: Any = raw.ffi.cast("int64_t *", self.book.num.ctypes.data)
        self.size: int | None = None

    @property
    def output(self) -> np.ndarray:
        return list(self.tensors.values())[-1]

    def needed(self, *, null: bool = False) -> tuple[int, int]:
        """Status and bytes of the workspace."""
        place = self.raw.ffi.new("size_t *", 77)
        given = [Descriptor(t.shape, t.dtype.name) if isinstance(t, np.ndarray) else Descriptor(t.shape, t.dtype)
                 for t in self.tensors.values()]  # fmt: skip
        name = f"mluopsExtGetIndiceConvolution{self.function}WorkspaceSize"
        status = self.raw.status(name, *given, self.num, self.inverse, self.raw.ffi.NULL if null else place)
        return status, int(place[0])

    def status(self) -> int:
        size = self.size if self.size is not None else self.needed()[1]
        memory = np.empty(max(size, 1), np.uint8)
        workspace = self.raw.ffi.cast("void *", memory.ctypes.data)
        given = [Tensor(t) if isinstance(t, np.ndarray) else t for t in self.tensors.values()]
        name = f"mluopsExtIndiceConvolution{self.function}"
        return self.raw.status(name, *given[:-1], self.num, self.inverse, workspace, size, given[-1])

    def expected(self) -> np.ndarray:
        arrays, (pairs, num) = list(self.tensors.values()), self.book
        if self.function == "BackwardFilter":
            return oracle.backward_filter(arrays[0], arrays[1], pairs, num, self.inverse)
        product = oracle.forward if self.function == "Forward" else oracle.backward_data
        return product(arrays[0], arrays[1], pairs, num, len(self.output), self.inverse)


@each_function
@pytest.mark.parametrize("inverse", [0, 1])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 4e-3), ("float32", 1e-6), ("float64", 1e-14)])
def test_values(raw: Raw, function: str, inverse: int, dtype: str, tolerance: float) -> None:
    product = Product(raw, function, dtype, inverse)
    assert product.status() == SUCCESS, raw.reason()
    np.testing.assert_allclose(product.output, product.expected(), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("channels", [(16, 32), (31, 8), (40, 36), (64, 70)])
def test_filter_gradients_of_many_doubles(raw: Raw, channels: tuple[int, int]) -> None:
    rng = np.random.default_rng(4)
    product = Product(raw, "BackwardFilter")
    product.book = random_rulebook(rng, 3, 200, 190)
    shapes = {"features": (200, channels[0]), "output_grad": (190, channels[1])}
    product.tensors.update({name: rng.normal(0, 1, shape) for name, shape in shapes.items()})
    product.tensors.update(indice_pairs=product.book.pairs, filters_grad=canary((3, *channels), "float64"))
    product.num = raw.ffi.cast("int64_t *", product.book.num.ctypes.data)
    assert product.status() == SUCCESS, raw.reason()
    np.testing.assert_allclose(product.output, product.expected(), rtol=1e-12, atol=1e-12)


@each_function
def test_null_and_refusals(raw: Raw, function: str) -> None:
    null = raw.ffi.NULL
    call = getattr(raw.lib, f"mluopsExtIndiceConvolution{function}")
    get = getattr(raw.lib, f"mluopsExtGetIndiceConvolution{function}WorkspaceSize")
    for handle, told in ((null, "handle"), (raw.handle, f"{NAMES[function][0]}_desc")):
        assert call(handle, *[null] * 7, 0, null, 0, null, null) == BAD_PARAM
        assert f": {told}:" in raw.reason()
        assert get(handle, *[null] * 5, 0, null) == BAD_PARAM
        assert f": {told}:" in raw.reason()
    changes: list[tuple[str, Any, str]] = [
        ("num", null, "indice_num"),
        ("inverse", 2, "inverse"),
        ("inverse", -1, "inverse"),
        ("size", 0, "workspace_size"),
    ]
    for attribute, value, told in changes:
        product = Product(raw, function)
        setattr(product, attribute, value)
        assert product.status() == BAD_PARAM
        assert f": {told}: expected" in raw.reason()
        assert is_canary(product.output)
    assert Product(raw, function).needed(null=True)[0] == BAD_PARAM


@each_function
def test_tensors_that_do_not_fit(raw: Raw, function: str) -> None:
    for name, good in Product(raw, function).tensors.items():
        wrong = [good.astype(np.complex64), good.astype(np.int64 if good.dtype == np.int32 else np.float32), good[None]]
        axes = (1,) if name == "indice_pairs" else range(1, good.ndim)  # pairs may have any length
        wrong += [np.concatenate([good, good.take([0], axis)], axis) for axis in axes]
        for array in wrong:
            product = Product(raw, function)
            product.tensors[name] = array
            product.size = 1 << 16
            assert product.status() == BAD_PARAM, (name, array.shape)
            assert "_desc: expected" in raw.reason()
        product = Product(raw, function)
        product.tensors[name], product.size = np.repeat(good, 2, -1)[..., ::2], 1 << 16
        assert product.status() == NOT_SUPPORTED
        product.tensors[name] = Descriptor(good.shape, good.dtype.name, pair=True)
        assert product.status() == BAD_PARAM
        assert f": {name}: expected a pointer" in raw.reason()


@each_function
def test_pairs_of_rows_that_do_not_exist(raw: Raw, function: str) -> None:
    for inverse in (0, 1):
        product = Product(raw, function, inverse=inverse)
        pairs = np.zeros((3, 2, 5), np.int32)
        pairs[2, 0, 1] = 5
        product.tensors["indice_pairs"] = pairs
        num = np.array([0, 0, 2])
        product.num = raw.ffi.cast("int64_t *", num.ctypes.data)
        assert product.status() == BAD_PARAM
        assert "expected input rows from 0 to 4, got 5 at [2, 0, 1]" in raw.reason()
        assert is_canary(product.output)


@each_function
def test_nothing_gives_zeros(raw: Raw, function: str) -> None:
    product = Product(raw, function)
    num = np.zeros(3, np.int64)
    product.num = raw.ffi.cast("int64_t *", num.ctypes.data)
    product.tensors["indice_pairs"] = np.zeros((3, 2, 0), np.int32)
    assert product.needed() == (SUCCESS, 0)
    assert product.status() == SUCCESS, raw.reason()
    assert (product.output == 0).all()


# ---- pairs ---------------------------------------------------------------------------------------


class Pairs:
    """mluopsExtGetIndicePairs on 3 rows of 2 axes."""

    def __init__(self, raw: Raw) -> None:
        self.raw = raw
        self.tensors: dict[str, Any] = {
            "indices": np.array([[0, 0, 0], [1, 3, 4], [0, 2, 2]], np.int32),
            "indice_pairs": canary((9, 2, 3), "int32"),
            "out_indices": canary((20, 3), "int32"),
            "indice_num": canary((9,), "int32"),
        }
        self.numbers: dict[str, Any] = {
            "batch": 2, "input_space": [4, 5], "filter_space": [3, 3], "output_space": [2, 3], "stride": [2, 2],
            "pad": [1, 1], "dilation": [1, 1], "sub_m": 0, "transpose": 0,
        }  # fmt: skip
        self.count: Any = raw.ffi.new("int64_t *", -1)

    def status(self) -> int:
        tensors = {name: Tensor(t) if isinstance(t, np.ndarray) else t for name, t in self.tensors.items()}
        numbers = [self.raw.ffi.new("int64_t[]", v) if isinstance(v, list) else v for v in self.numbers.values()]
        indices, *outputs = tensors.values()
        return self.raw.status("mluopsExtGetIndicePairs", indices, *numbers, *outputs, self.count)

    def untouched(self) -> bool:
        return all(is_canary(t) for t in list(self.tensors.values())[1:] if isinstance(t, np.ndarray))


def test_pairs_fill_what_they_say(raw: Raw) -> None:
    pairs = Pairs(raw)
    assert pairs.status() == SUCCESS, raw.reason()
    rows = int(pairs.count[0])
    assert rows == len(np.unique(pairs.tensors["out_indices"][:rows], axis=0))
    assert is_canary(pairs.tensors["out_indices"][rows:])


def test_too_few_output_rows_tell_how_many(raw: Raw) -> None:
    pairs = Pairs(raw)
    assert pairs.status() == SUCCESS
    rows = int(pairs.count[0])
    short = Pairs(raw)
    short.tensors["out_indices"] = canary((rows - 1, 3), "int32")
    assert short.status() == BAD_PARAM
    assert f"out_indices_desc: expected at least {rows} rows, got {rows - 1}" in raw.reason()
    assert short.count[0] == rows
    assert short.untouched()


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [
        ("batch", 0, BAD_PARAM), ("batch", 2**31, BAD_PARAM), ("input_space", [4, 0], BAD_PARAM),
        ("filter_space", [3, 2], BAD_PARAM), ("filter_space", [-3, -3], BAD_PARAM), ("output_space", [0, 3], BAD_PARAM),
        ("stride", [0, 1], BAD_PARAM), ("pad", [-1, 1], BAD_PARAM), ("dilation", [1, 0], BAD_PARAM),
        ("dilation", [1, 2**31], BAD_PARAM), ("sub_m", 2, BAD_PARAM), ("sub_m", 1, BAD_PARAM),
        ("transpose", -1, BAD_PARAM), ("output_space", [2**31 - 1, 2**31 - 1], NOT_SUPPORTED),
    ],
)  # fmt: skip
def test_numbers_of_pairs(raw: Raw, name: str, value: Any, status: int) -> None:
    pairs = Pairs(raw)
    pairs.numbers[name] = value
    assert pairs.status() == status
    assert "expected" in raw.reason()
    assert pairs.untouched()
    assert pairs.count[0] == -1


def test_null_in_pairs(raw: Raw) -> None:
    null = raw.ffi.NULL
    for handle in (null, raw.handle):
        assert raw.lib.mluopsExtGetIndicePairs(handle, null, null, 0, *[null] * 6, 0, 0, *[null] * 7) == BAD_PARAM
    for name in ("input_space", "filter_space", "output_space", "stride", "pad", "dilation"):
        pairs = Pairs(raw)
        pairs.numbers[name] = null
        assert pairs.status() == BAD_PARAM
        assert f": {name}: expected a pointer" in raw.reason()
    pairs = Pairs(raw)
    pairs.count = null
    assert pairs.status() == BAD_PARAM
    for name, array in pairs.tensors.items():
        pairs = Pairs(raw)
        pairs.tensors[name] = Descriptor(array.shape, "int32", pair=True)
        assert pairs.status() == BAD_PARAM
        assert f": {name}: expected a pointer" in raw.reason()
        pairs.tensors[name] = array.astype(np.int64)
        assert pairs.status() == BAD_PARAM
        assert f": {name}_desc: expected" in raw.reason()
        pairs.tensors[name] = array[None]
        assert pairs.status() == BAD_PARAM
        assert pairs.untouched() or name != "indices"


@pytest.mark.parametrize("row", [[2, 0, 0], [-1, 0, 0], [0, 4, 0], [0, 0, 5], [0, 0, -1]])
def test_rows_outside(raw: Raw, row: list[int]) -> None:
    pairs = Pairs(raw)
    pairs.tensors["indices"][1] = row
    assert pairs.status() == BAD_PARAM
    assert "another one at row 1" in raw.reason()
    assert pairs.untouched()


def test_the_simulator_has_none_of_them() -> None:
    sim = pymluops.load("sim")
    for function in FUNCTIONS:
        assert not sim.implements(f"mluopsExtIndiceConvolution{function}")
    assert not sim.implements("mluopsExtGetIndicePairs")


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("level", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_any_instruction_level_and_number_of_threads_gives_the_same_bits(level: str, threads: str) -> None:
    code = "from support import rulebooks; print(*rulebooks.digests())"
    found = python_output(code, PYMLUOPS_INSTRUCTION_LEVEL=level, PYMLUOPS_NUM_THREADS=threads)
    assert found.split() == digests()
