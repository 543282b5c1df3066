"""Arrays that mean more than their memory says: masks, units, layouts of torch. What would be lost is refused."""

from __future__ import annotations

import tempfile
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import functions
from support import described, families

NAMES = described.describable()


class Quantity(np.ndarray):
    """An array with units, as far as pymluops sees of it."""

    def __array_ufunc__(self, *_given: Any, **_more: Any) -> Any:
        raise TypeError("incompatible units")


class Labelled(np.ndarray):
    """An array with a name and plain arithmetic."""


def values() -> np.ndarray:
    return np.arange(6, dtype=np.float32).reshape(2, 3)


def refusal(call: Any) -> str:
    with pytest.raises(pymluops.BadParamError) as error:
        call()
    return str(error.value)


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_refuses_masked_arrays(name: str) -> None:
    made = described.make(name, np.random.default_rng(2))
    arrays = {key: value for key, value in made.arguments.items() if isinstance(value, np.ndarray)}
    for argument, array in arrays.items():
        given = made.arguments | {argument: np.ma.masked_array(array, mask=np.zeros(array.shape, bool))}
        text = refusal(lambda given=given: described.call(name, given))
        assert text.startswith(f"{name}: {argument}: expected an array without a mask, got MaskedArray of "), text


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_refuses_to_write_below_a_mask(name: str) -> None:
    made = described.make(name, np.random.default_rng(2))
    for argument, (shape, dtype) in made.outputs.items():
        kept = np.ones(shape, dtype)
        given = {argument: np.ma.masked_array(kept, mask=np.ones(shape, bool))}
        text = refusal(lambda given=given: described.call(name, made.arguments, **given))
        assert text == f"{name}: {argument}: expected an array without a mask, got MaskedArray of {kept.dtype}"
        assert (kept == 1).all()


def test_a_masked_array_is_refused_with_what_would_do() -> None:
    masked = np.ma.masked_greater(values(), 3)
    assert refusal(lambda: pymluops.abs(masked)) == (
        "abs: x: expected an array without a mask, got MaskedArray of float32; x.filled(value) would do"
    )
    assert issubclass(pymluops.BadParamTypeError, TypeError)
    with pytest.raises(TypeError):
        pymluops.abs(masked)
    assert np.array_equal(pymluops.abs(masked.filled(7)), [[0, 1, 2], [3, 7, 7]])
    assert np.array_equal(pymluops.abs(masked.data), values())


def test_functions_and_device_arrays_refuse_them_too() -> None:
    masked, out = np.ma.masked_greater(values(), 3), np.zeros((2, 3), np.float32)
    assert "x: expected an array without a mask" in refusal(lambda: functions.mluOpAbs(masked, out))
    assert "y: expected an array without a mask" in refusal(lambda: functions.mluOpAbs(values(), np.ma.array(out)))
    assert not out.any()
    array = pymluops.DeviceArray((2, 3), pymluops.DataType.FLOAT, "sim")
    assert "source: expected an array without a mask" in refusal(lambda: array.copy_from(masked))
    assert "expected an array without a mask" in refusal(lambda: pymluops.DeviceArray.from_host(masked, "sim"))
    assert "expected an array without a mask" in refusal(lambda: pymluops.TensorDescriptor.of(masked))


def test_arrays_with_an_arithmetic_of_their_own_are_refused() -> None:
    assert refusal(lambda: pymluops.abs(values().view(Quantity))) == (
        "abs: x: expected a plain array, got Quantity of float32, whose arithmetic has a meaning of its own; "
        "numpy.asarray(x) would do"
    )
    assert np.array_equal(pymluops.abs(np.asarray(values().view(Quantity))), values())


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("kind", ["labelled", "matrix", "memmap", "recarray"])
def test_subclasses_with_plain_arithmetic_are_taken(kind: str) -> None:
    with tempfile.TemporaryFile() as file:
        mapped = np.memmap(file, np.float32, "w+", shape=(2, 3))
        mapped[:] = -values()
        given = {
            "labelled": (-values()).view(Labelled),
            "matrix": np.matrix(-values()),
            "memmap": mapped,
            "recarray": (-values()).view(np.recarray),
        }[kind]
        result = pymluops.abs(given)
        assert type(result) is np.ndarray
        assert np.array_equal(result, values())


@pytest.mark.parametrize("array", [np.zeros(3, "U2"), np.zeros(3, "S2"), np.zeros(3, [("a", "f4"), ("b", "f4")])])
def test_no_cast_is_advised_for_what_is_no_number(array: np.ndarray) -> None:
    text = refusal(lambda: pymluops.abs(array))
    assert "would do" not in text
    assert text.startswith("abs: x: expected dtype float32 or float16, got ")


class Series:
    """A column of a table, as that of pandas: its `astype` returns another column."""

    dtype = np.dtype(np.float32)

    def astype(self, _dtype: Any) -> Series:
        return self

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return values().astype(dtype)

    def __repr__(self) -> str:
        return "0 1.0"


def test_columns_of_tables_are_refused_with_what_would_do() -> None:
    column = Series()
    text = refusal(lambda: pymluops.abs(column))
    assert text.endswith("(Series); numpy.asarray(x, dtype=numpy.float32) would do")
    assert np.array_equal(pymluops.abs(np.asarray(column, dtype=np.float32)), values())


# ---- Tensors of torch ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch")


def tensors(torch: Any, kind: str) -> tuple[Any, str, str]:
    """A tensor that is none of plain numbers in one piece, what is said of it, and what is advised."""
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    if kind == "nested":
        given = torch.nested.nested_tensor([x, x[:1]])
        return given, "a tensor of one shape, got a nested one", "x.to_padded_tensor(value)"
    if kind == "masked":
        from torch.masked import masked_tensor

        return masked_tensor(x, x > 3), "a tensor without a mask, got MaskedTensor", "x.to_tensor(value)"
    if kind == "quantized":
        given = torch.quantize_per_tensor(x, 0.5, 0, torch.quint8)
        return given, "a tensor of numbers, got a quantized one", "x.dequantize()"
    given = x.to_sparse() if kind == "sparse" else x.to_sparse_csr()
    return given, "a dense tensor, got Tensor of torch.float32 with the layout sparse", "x.to_dense()"


KINDS = ["nested", "masked", "quantized", "sparse", "sparse_csr"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_tensors_of_other_layouts_are_refused(torch: Any, kind: str) -> None:
    given, said, advice = tensors(torch, kind)
    text = refusal(lambda: pymluops.abs(given))
    assert text.startswith(f"abs: x: expected {said}"), text
    assert text.endswith(f"; {advice} would do"), text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore")
def test_functions_of_tensors_name_them_too(torch: Any, kind: str) -> None:
    ours = pytest.importorskip("pymluops.torch")
    given, said, advice = tensors(torch, kind)
    with pytest.raises(TypeError) as error:
        ours.roi_align(given, torch.zeros(1, 5), 2)
    assert str(error.value).startswith(f"roi_align: input: expected {said}")
    assert str(error.value).endswith(f"; {advice.replace('x.', 'input.')} would do")


def test_the_dense_form_that_is_advised_is_taken(torch: Any) -> None:
    given = torch.tensor([[-1.0, 0], [0, 2]])
    assert pymluops.abs(given.to_sparse().to_dense()).tolist() == [[1, 0], [0, 2]]
    assert set(NAMES) <= set(families.OPERATORS)
