"""Values in messages are short and on one line, and messages say what would have worked."""

from __future__ import annotations

from fractions import Fraction

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

    def __init__(self, dtype: str = "torch.float32", requires_grad: bool = False) -> None:
        self.dtype = dtype
        self.requires_grad = requires_grad


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
    ],
)
def test_hints(array: object, problem: str, dtypes: tuple[str, ...], expected: str) -> None:
    assert hint(array, "x", problem, dtypes) == expected


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
