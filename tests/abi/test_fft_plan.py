"""FFT plans: what mluOpMakeFFTPlanMany refuses, in its order, and that a refusal keeps plan and sizes."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from abi.c_objects import UNTOUCHED, RawAbi
from abi.facts import BAD_PARAM, NOT_INITIALIZED, NOT_SUPPORTED, SUCCESS
from abi.settings_calls import fft_tensors, make_fft_plan

Dims = tuple[int, ...]
REAL, COMPLEX, HALF, COMPLEX_HALF = "FLOAT", "COMPLEX_FLOAT", "HALF", "COMPLEX_HALF"


class Case(NamedTuple):
    status: int
    input: Dims
    output: Dims
    dtypes: tuple[str, str]
    n: Dims
    onchip: str | None = "FLOAT"
    blamed: str = ""


R2C, C2C, C2R = (REAL, COMPLEX), (COMPLEX, COMPLEX), (COMPLEX, REAL)

CASES = {
    "r2c": Case(SUCCESS, (10,), (6,), R2C, (10,)),
    "r2c odd": Case(SUCCESS, (2, 9), (2, 5), R2C, (9,)),
    "c2c": Case(SUCCESS, (2, 7), (2, 7), C2C, (7,), "INT31"),
    "c2r": Case(SUCCESS, (2, 6), (2, 10), C2R, (10,)),
    "rank 2": Case(SUCCESS, (2, 4, 10), (2, 4, 6), R2C, (4, 10)),
    "rank 2 without batch": Case(SUCCESS, (4, 5), (4, 5), C2C, (4, 5)),
    "shorter input": Case(SUCCESS, (3,), (6,), R2C, (10,)),
    "large prime factor": Case(SUCCESS, (4, 134), (4, 68), R2C, (4, 134)),
    "half": Case(SUCCESS, (2, 8), (2, 5), (HALF, COMPLEX_HALF), (8,), "HALF"),
    "half, int16 on chip": Case(SUCCESS, (2, 8), (2, 8), (COMPLEX_HALF, COMPLEX_HALF), (8,), "INT16"),
    "batch of 0": Case(SUCCESS, (0, 8), (0, 8), C2C, (8,)),
    "rank 0": Case(BAD_PARAM, (2,), (2,), C2C, (), blamed="rank"),
    "rank 4": Case(BAD_PARAM, (1, 1, 1, 1), (1, 1, 1, 1), C2C, (1, 1, 1, 1), blamed="rank"),
    "n of 0": Case(BAD_PARAM, (2, 8), (2, 8), C2C, (0,), blamed="n"),
    "second n negative": Case(BAD_PARAM, (2, 8), (2, 8), C2C, (2, -8), blamed="n"),
    "too few dims": Case(BAD_PARAM, (8,), (8,), C2C, (2, 8), blamed="input_desc"),
    "too many dims": Case(BAD_PARAM, (2, 2, 8), (2, 2, 8), C2C, (8,), blamed="input_desc"),
    "scalar": Case(BAD_PARAM, (), (), C2C, (8,), blamed="input_desc"),
    "other number of dims": Case(BAD_PARAM, (2, 8), (8,), C2C, (8,), blamed="output_desc"),
    "other batch": Case(BAD_PARAM, (2, 8), (3, 8), C2C, (8,), blamed="output_desc"),
    "two real": Case(BAD_PARAM, (8,), (8,), (REAL, REAL), (8,), blamed="output_desc"),
    "two precisions": Case(BAD_PARAM, (8,), (5,), (REAL, COMPLEX_HALF), (8,), blamed="output_desc"),
    "integers": Case(BAD_PARAM, (8,), (8,), ("INT32", COMPLEX), (8,), blamed="output_desc"),
    "r2c, full output": Case(BAD_PARAM, (8,), (8,), R2C, (8,), blamed="output_desc"),
    "c2c, short output": Case(BAD_PARAM, (8,), (5,), C2C, (8,), blamed="output_desc"),
    "c2r, short output": Case(BAD_PARAM, (5,), (5,), C2R, (8,), blamed="output_desc"),
    "first signal dim": Case(BAD_PARAM, (4, 8), (3, 8), C2C, (4, 8), blamed="output_desc"),
    "no on-chip dtype": Case(BAD_PARAM, (8,), (8,), C2C, (8,), None, "input_desc"),
    "on-chip dtype of half": Case(BAD_PARAM, (8,), (8,), C2C, (8,), "HALF", "input_desc"),
    "on-chip dtype of float": Case(
        BAD_PARAM, (8,), (8,), (COMPLEX_HALF, COMPLEX_HALF), (8,), "FLOAT", "input_desc"
    ),
    "rank 3": Case(NOT_SUPPORTED, (2, 3, 4, 5), (2, 3, 4, 5), C2C, (3, 4, 5), blamed="rank"),
    "rank 3 with another middle dim": Case(
        NOT_SUPPORTED, (2, 3, 4, 5), (2, 3, 7, 5), C2C, (3, 4, 5), blamed="rank"
    ),
    "rank 3 with a fault": Case(BAD_PARAM, (2, 3, 4, 5), (2, 3, 4, 6), C2C, (3, 4, 5), blamed="output_desc"),
    "half of no power of two": Case(
        NOT_SUPPORTED, (12,), (12,), (COMPLEX_HALF, COMPLEX_HALF), (12,), "HALF", "n"
    ),
}  # fmt: skip


def _arguments(abi: RawAbi, case: Case, plan: Any) -> list[Any]:
    source, result = fft_tensors(abi, (case.input, case.output), case.dtypes, case.onchip)
    sizes = abi.out("size_t"), abi.out("size_t")
    return [abi.handle(), plan, source, result, len(case.n), abi.ints(case.n), *sizes]


@pytest.mark.parametrize("name", CASES)
def test_make(abi: RawAbi, name: str) -> None:
    case, plan = CASES[name], abi.settings("FFTPlan")
    arguments = _arguments(abi, case, plan)
    assert abi.lib.mluOpMakeFFTPlanMany(*arguments) == case.status, abi.reason()
    sizes = [pointer[0] for pointer in arguments[-2:]]
    # A refused plan is still one that was never made.
    reserve = abi.lib.mluOpSetFFTReserveArea(arguments[0], plan, abi.null)
    if case.status == SUCCESS:
        assert sizes == [0, 0]
        assert reserve == SUCCESS
    else:
        assert abi.reason().startswith("mluOpSetFFTReserveArea: fft_plan: ")
        assert sizes == [UNTOUCHED, UNTOUCHED]
        assert reserve == NOT_INITIALIZED


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.blamed])
def test_blamed_argument(abi: RawAbi, name: str) -> None:
    arguments = _arguments(abi, CASES[name], abi.settings("FFTPlan"))
    abi.lib.mluOpMakeFFTPlanMany(*arguments)
    assert abi.reason().startswith(f"mluOpMakeFFTPlanMany: {CASES[name].blamed}: expected "), abi.reason()


def test_negative_innermost_stride(abi: RawAbi) -> None:
    for position, name in ((2, "input_desc"), (3, "output_desc")):
        arguments = _arguments(abi, CASES["c2c"], abi.settings("FFTPlan"))
        backwards = abi.tensor((2, 7), COMPLEX, strides=(7, -1))
        abi.lib.mluOpSetTensorDescriptorOnchipDataType(backwards, abi.dtype("FLOAT"))
        arguments[position] = backwards
        assert abi.lib.mluOpMakeFFTPlanMany(*arguments) == BAD_PARAM
        assert abi.reason().startswith(f"mluOpMakeFFTPlanMany: {name}: ")


def test_plan_is_made_again_and_outlives_its_descriptors(abi: RawAbi) -> None:
    made = make_fft_plan(abi)
    for _ in range(2):
        assert abi.lib.mluOpMakeFFTPlanMany(*made.values()) == SUCCESS
    handle, plan = made["handle"], made["fft_plan"]
    del made
    assert abi.lib.mluOpSetFFTReserveArea(handle, plan, abi.ffi.cast("void *", 0x1000)) == SUCCESS
