"""Values in messages are short and on one line, and messages say what would have worked."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops._arguments import shown
from pymluops._hints import hint
from support.example import CHOOSING


def nested(depth: int) -> object:
    return 1 if depth == 0 else [nested(depth - 1)] * 8


class Raises:
    def __repr__(self) -> str:
        raise RuntimeError("no text")


class Lines:
    def __repr__(self) -> str:
        return "one\n\ttwo\x1b[0m" * 50


class NamedLikeAList(list):
    def __len__(self) -> int:
        raise RuntimeError("no length")


NamedLikeAList.__name__ = "list"  # taken for the real one by its name

HUGE = 10**5000


@pytest.mark.parametrize(
    "value",
    [
        nested(4), HUGE, -HUGE, [HUGE], {HUGE: HUGE}, Fraction(HUGE, 7), "a" * 10**6, b"a" * 10**6, bytearray(10**6),
        Raises(), [Raises()], Lines(), np.zeros((9, 9, 9)), NamedLikeAList([1]),
        type("T" * 9000, (), {})(), range(HUGE),
    ],
    ids=lambda value: type(value).__name__[:20],
)  # fmt: skip
def test_any_value_is_shown_short_and_on_one_line(value: object) -> None:
    text = shown(value)
    assert 0 < len(text) <= 130
    assert text.isprintable()


def test_what_is_shown() -> None:
    assert shown(5) == "5"
    assert shown(-(2**200)) == str(-(2**200))
    assert shown(HUGE) == "an integer of 16,610 bits"
    assert shown(True) == "True (bool)"
    assert shown([1, "a"]) == "[1, 'a'] (list)"
    assert shown(Lines()).startswith("one two\\x1b[0mone two")
    assert shown("a" * 99) == f"'{'a' * 37}...{'a' * 38}' (str)"


@pytest.mark.parametrize("value", [nested(4), [HUGE], HUGE, Raises()], ids=["nested", "ints", "int", "raises"])
def test_refusals_show_arguments_short(value: object) -> None:
    x = np.zeros((1, 4, 4, 9), np.float32)
    calls = [
        lambda: CHOOSING.run(x, value, 3),
        lambda: CHOOSING.run(x, 1, value),
        lambda: CHOOSING.run(x, 1, 3, handle=value),
        lambda: CHOOSING.run(value, 1, 3),
        lambda: pymluops.TensorDescriptor(value, "float32"),
        lambda: pymluops.TensorDescriptor((1,), value),
        lambda: pymluops.set_num_threads(value),
        lambda: pymluops.load(value),
    ]
    for call in calls:
        with pytest.raises(pymluops.MluOpError) as caught:
            call()
        assert len(str(caught.value)) < 320
        assert "\n" not in str(caught.value)


# ---- Hints ---------------------------------------------------------------------------------------


class Tensor:
    """What the hints see of a PyTorch tensor."""

    def __init__(self, dtype: str = "torch.float32", requires_grad: bool = False, values: object = (0,)) -> None:
        self.dtype = dtype
        self.requires_grad = requires_grad
        self.values = np.asarray(values, dtype.removeprefix("torch."))

    def detach(self) -> Tensor:
        return self

    cpu = detach

    def numpy(self) -> np.ndarray:
        return self.values


Tensor.__module__ = "torch"
F = ("float16", "float32")
I = ("int32",)  # noqa: E741
DO = " would do"


@pytest.mark.parametrize(
    ("array", "problem", "dtypes", "expected"),
    [
        ([[1.0]], "array", F, "; numpy.asarray(x, dtype=numpy.float32)" + DO),
        ((1, 2), "array", I, "; numpy.asarray(x, dtype=numpy.int32)" + DO),
        (5, "array", F, ""),
        (None, "array", F, ""),
        ("text", "array", F, ""),
        (Raises(), "array", F, ""),
        (np.zeros(3, ">f4"), "array", F, "; x.astype(numpy.float32)" + DO),
        (np.zeros(3, ">f2"), "array", F, "; x.astype(numpy.float16)" + DO),
        (np.zeros(3, "i8"), "dtype", I, "; x.astype(numpy.int32)" + DO),
        (np.zeros(3, "f8"), "dtype", F, "; x.astype(numpy.float32)" + DO),
        (np.zeros(3, "f8"), "dtype", ("float16",), "; x.astype(numpy.float16)" + DO),
        (memoryview(b"abcd"), "dtype", F, ""),
        (np.zeros((3, 4)).T, "contiguous", F, "; numpy.ascontiguousarray(x)" + DO),
        (Tensor(), "contiguous", F, "; x.contiguous()" + DO),
        (Tensor("torch.float64"), "dtype", F, "; x.float()" + DO),
        (Tensor("torch.int64"), "dtype", I, "; x.int()" + DO),
        (Tensor("torch.float32"), "dtype", ("float16",), "; x.half()" + DO),
        (Tensor(requires_grad=True), "array", F, "; x.detach()" + DO),
        (Tensor("torch.float64", True), "dtype", F, "; x.detach().float()" + DO),
        (Tensor(), "host", F, "; x.cpu()" + DO),
        (Tensor(), "array", F, ""),
        (np.zeros(3, "i8"), "dtype", (*F, "int32", "complex64"), "; x.astype(numpy.int32)" + DO),
        (np.zeros(3, "c16"), "dtype", (*F, "int32", "complex64"), "; x.astype(numpy.complex64)" + DO),
        (np.zeros(3, "f8"), "dtype", ("int32", "float32"), "; x.astype(numpy.float32)" + DO),
        (Tensor("torch.complex128"), "dtype", ("complex64",), "; x.to(torch.complex64)" + DO),
    ],
)
def test_hints(array: object, problem: str, dtypes: tuple[str, ...], expected: str) -> None:
    assert hint(array, "x", problem, dtypes) == expected


C = np.array([1 + 2j, 3])


@pytest.mark.parametrize(
    ("values", "dtypes"),
    [
        (C, F),  # the imaginary part
        (C, I),
        (C.astype("c8"), F),
        (C * 1e300, ("complex64",)),  # infinity
        (np.array([0.5, 1.0]), I),  # fractions
        (np.array([np.nan, 1.0]), I),
        (np.array([3e9]), I),
        (np.array([2**31, 1]), I),  # another number
        (np.array([-(2**40)]), I),
        (np.array([2**31], np.uint32), I),
        (np.array([2**64 - 1], np.uint64), I),
        (np.array([2**24 + 1]), F),  # digits of integers
        (np.array([2**11 + 1], np.int16), ("float16",)),
        (np.array([1e300, 1.0]), F),  # infinity
        (np.array([1e5], np.float32), ("float16",)),
        (np.array([0.1], np.float32), ("float16",)),  # digits of a type that holds less than the library computes in
        (np.array(["1.5"]), F),
        (np.array([1.0], object), F),
        (np.array(["2026-11-28"], "M8[D]"), F),
        (np.array([3], "m8[s]"), I),
        (np.zeros(2, [("a", "f4"), ("b", "f4")]), F),
    ],
)
def test_no_cast_that_loses_values_is_recommended(values: np.ndarray, dtypes: tuple[str, ...]) -> None:
    """Neither for an array nor for a sequence or a tensor of PyTorch."""
    assert hint(values, "x", "dtype", dtypes) == ""
    assert hint(values.tolist() if values.dtype.kind in "iuf" else values, "x", "array", dtypes) == ""
    if values.dtype.kind in "iufc":
        assert hint(Tensor(f"torch.{values.dtype.name}", True, values), "x", "dtype", dtypes) == ""


@pytest.mark.parametrize(
    ("problem", "text"),
    [("dtype", "; x.filled(value) would do"), ("array", "; x.filled(value) would do"), ("contiguous", "")],
)
def test_no_call_that_drops_a_mask_is_recommended(problem: Any, text: str) -> None:
    masked = np.ma.masked_array(np.zeros((2, 3)), mask=True).T
    assert hint(masked, "x", problem, F) == text


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (np.array([2.0, -3.0]), "int32"),
        (np.array([2**31 - 1, -(2**31) + 1]), "int32"),
        (np.array([True]), "float32"),
        (np.array([2**24, -(2**24)]), "float32"),
        (np.array([0.1, np.inf, np.nan]), "float32"),  # rounded, as the library computes in float32
        (np.array([0.5, np.nan], np.float32), "float16"),
        (np.zeros(0, np.float64), "int32"),
    ],
)
def test_a_cast_that_keeps_values_is_recommended(values: np.ndarray, dtype: str) -> None:
    assert hint(values, "x", "dtype", (dtype,)) == f"; x.astype(numpy.{dtype}){DO}"
    if values.dtype.kind != "b":
        method = {"int32": "int", "float32": "float", "float16": "half"}[dtype]
        given = Tensor(f"torch.{values.dtype.name}", values=values)
        assert hint(given, "x", "dtype", (dtype,)) == f"; x.{method}(){DO}"


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex_signals_are_led_to_what_transforms_them(dtype: type) -> None:
    """The call that is named gives the pairs that the function takes, with both parts."""
    x = np.arange(1, 5) * (1 + 2j)
    x = x.astype(dtype).reshape(1, 4, 1)
    for function, *more in ((pymluops.fft_forward,), (pymluops.fft_inverse,), (pymluops.fft_real_inverse, 4)):
        with pytest.raises(pymluops.BadParamError, match="pairs of real and imaginary parts") as caught:
            function(x, *more)
    text = str(caught.value)
    assert "pymluops.FFTPlan takes complex numbers" in text
    call = text.rpartition(" take ")[2]
    spectrum = pymluops.fft_forward(eval(call, {"numpy": np, "input": x}))
    np.testing.assert_allclose(spectrum[..., 0] + 1j * spectrum[..., 1], np.fft.fft(x, axis=1), rtol=1e-5)
    with pytest.raises(
        pymluops.BadParamError, match=r"input: expected real numbers.* fft_forward and fft_inverse take"
    ):
        pymluops.fft_real_forward(x)


def test_what_is_recommended_works() -> None:
    taken = {"numpy": np, "x": np.zeros((1, 9, 4, 4), ">f8").transpose(0, 2, 3, 1)}
    for problem in ("contiguous", "array"):
        call = hint(taken["x"], "x", problem, ("float32",)).removeprefix("; ").removesuffix(DO)
        taken["x"] = eval(call, taken)
    assert CHOOSING.run(taken["x"], 1, 3).shape == (1, 4, 4, 16)


def test_an_object_that_raises_gets_no_hint() -> None:
    class Broken:
        @property
        def dtype(self) -> str:
            raise RuntimeError("not now")

    assert hint(Broken(), "x", "dtype", F) == ""
