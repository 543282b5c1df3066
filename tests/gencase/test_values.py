"""The values of tensors in cases: every type through every field and file, and what is refused."""

from __future__ import annotations

import io
import sys
import types
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymluops import gencase
from pymluops.dtypes import item_size
from pymluops.enums import DataType
from pymluops.gencase._values import encode, memory_type, per_element
from support.selection import examples

DTYPES = [dtype for dtype in DataType if dtype != DataType.INVALID]
REAL = [DataType.HALF, DataType.FLOAT, DataType.DOUBLE, DataType.COMPLEX_HALF, DataType.COMPLEX_FLOAT]


def case_text(lines: str, shape: str = "dims: 2 dims: 3", dtype: str = "FLOAT", rest: str = "") -> str:
    """A case with one input; the line of the input is 2."""
    tensor = f'id: "x"\n  shape {{ {shape} }}\n  layout: LAYOUT_ARRAY\n  dtype: DTYPE_{dtype}\n  {lines}\n'
    return f'op_name: "abs"\ninput {{\n  {tensor}}}\n{rest}'


def written(folder: Path, text: str) -> gencase.Case:
    path = folder / "case.prototxt"
    path.write_text(text)
    return gencase.read(path)


def values_of(folder: Path, lines: str, **others: str) -> Any:
    return written(folder, case_text(lines, **others)).inputs[0].values()


def listed(field: str, values: Any) -> str:
    quote = '"' if field == "value_h" else ""
    return " ".join(f"{field}: {quote}{value}{quote}" for value in values)


def refusal(folder: Path, lines: str, **others: str) -> str:
    """What is said of values, without the folder."""
    tensor = written(folder, case_text(lines, **others)).inputs[0]
    with pytest.raises(gencase.CaseError) as error:
        tensor.values()
    assert "\n" not in str(error.value)
    return str(error.value).replace(f"{folder}/", "")


# ---- There and back ------------------------------------------------------------------------------


def any_bits(dtype: DataType, count: int, seed: int) -> np.ndarray:
    """Numbers with any bits; of real ones no NaN but that of decimal text."""
    kind = np.dtype(memory_type(dtype))
    found = np.random.default_rng(seed).integers(0, 256, count * item_size(dtype), np.uint8).view(kind)
    if kind.kind == "f":
        found[np.isnan(found)] = np.inf
    return found


@given(st.sampled_from(DTYPES), st.integers(0, 9), st.integers(0, 2**32 - 1))
@pytest.mark.parametrize("data", ["decimal", "hexadecimal", "files"])
@pytest.mark.parametrize("suffix", [".prototxt", ".pb"])
@examples(120)
def test_every_type_there_and_back(
    data: str, suffix: str, tmp_path_factory: pytest.TempPathFactory, dtype: DataType, count: int, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("case")
    values = any_bits(dtype, count, seed)
    case = written(folder, case_text("", shape=f"dims: {count}", dtype=dtype.name))
    case.inputs[0].set_values(values)
    case.write(folder / f"again{suffix}", data=data)
    found = gencase.read(folder / f"again{suffix}").inputs[0].values()
    if count == 0:
        assert found is None or not found.size
    else:
        assert found is not None
        assert (found.dtype, len(found)) == (np.dtype(memory_type(dtype)), count * per_element(dtype))
        assert found.tobytes() == values.tobytes()


@pytest.mark.parametrize("dtype", REAL)
def test_numbers_at_the_edges(dtype: DataType, tmp_path: Path) -> None:
    kind = memory_type(dtype)
    info = np.finfo(kind)
    numbers = [0.0, -0.0, 0.1, info.max, -info.max, info.tiny, info.smallest_subnormal, np.inf, -np.inf, 1 / 3]
    values = np.array(numbers, kind)
    case = written(tmp_path, case_text("", shape=f"dims: {len(numbers) // per_element(dtype)}", dtype=dtype.name))
    for data in ("decimal", "hexadecimal", "files"):
        case.inputs[0].set_values(np.append(values[:-1], kind(np.nan)))
        case.write(tmp_path / "a.prototxt", data=data)
        found = gencase.read(tmp_path / "a.prototxt").inputs[0].values()
        assert found is not None
        assert np.isnan(found[-1])
        assert found[:-1].tobytes() == values[:-1].tobytes()


def test_shortest_decimals(tmp_path: Path) -> None:
    case = written(tmp_path, case_text("value_f: 0.1", shape="dims: 1"))
    case.write(tmp_path / "b.prototxt", data="decimal")
    assert "  value_f: 0.1\n" in (tmp_path / "b.prototxt").read_text()


def test_keep_takes_files_along(tmp_path: Path) -> None:
    case = written(tmp_path, case_text(listed("value_f", range(6))))
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    case.write(tmp_path / "one" / "c.prototxt", data="files")
    name = "c_data0_input"
    assert (tmp_path / "one" / name).read_bytes() == np.arange(6, dtype="<f4").tobytes()
    gencase.read(tmp_path / "one" / "c.prototxt").write(tmp_path / "other" / "c.pb")
    (tmp_path / "one" / name).unlink()
    assert gencase.read(tmp_path / "other" / "c.pb").inputs[0].values().tolist() == [0, 1, 2, 3, 4, 5]


def test_what_set_values_takes(tmp_path: Path) -> None:
    (tensor,) = written(tmp_path, case_text("", shape="dims: 2", dtype="BFLOAT16")).inputs
    tensor.set_values(np.array([1.0, -2.0], ml_dtypes.bfloat16))
    assert tensor.values().tolist() == [0x3F80, 0xC000]
    (tensor,) = written(tmp_path, case_text("", shape="dims: 2")).inputs
    tensor.set_values(np.array([1, 2], np.int32))  # numbers, not their bits
    assert tensor.values().tolist() == [1.0, 2.0]
    (tensor,) = written(tmp_path, case_text("", shape="dims: 2", dtype="COMPLEX_FLOAT")).inputs
    tensor.set_values(np.array([1 + 2j, 3 - 4j], np.complex64))
    assert tensor.values().tolist() == [1, 2, 3, -4]
    (tensor,) = written(tmp_path, case_text("", shape="dims: 2", dtype="INT8")).inputs
    for wrong in (np.array([1, 300]), np.array([0.5, 1]), np.array(["a", "b"])):
        with pytest.raises(ValueError, match="are none of INT8"):
            encode(tensor.message, wrong, DataType.INT8)


# ---- What a reader takes -------------------------------------------------------------------------


def test_first_of_the_fields_is_taken(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(np.float32(7).tobytes())
    fields = [
        ('value_h: "3f800000"', 1.0),
        ("value_f: 2", 2.0),
        ("value_i: 1077936128", 3.0),
        ('path: "data"', 7.0),
        ("random_data { seed: 1 distribution: UNIFORM lower_bound: 8 upper_bound: 8 }", 8.0),
    ]
    for first in range(len(fields)):
        lines = " ".join(text for text, _ in reversed(fields[first:]))
        assert values_of(tmp_path, lines, shape="dims: 1").tolist() == [fields[first][1]]
    assert values_of(tmp_path, "", shape="dims: 1") is None


@pytest.mark.parametrize(
    ("dtype", "field", "values", "wanted"),
    [
        ("FLOAT", "value_i", [0x3F800000, -0x80000000], [1.0, -0.0]),
        ("HALF", "value_i", [0x3C00, 0xBC00], [1.0, -1.0]),
        ("HALF", "value_f", [0.1, 65519], [np.float16(0.1), 65504]),
        ("COMPLEX_FLOAT", "value_i", [0x3F800000, 0x40000000, 0, 0], [1, 2, 0, 0]),
        ("DOUBLE", "value_l", [0x3FF0000000000000, -(2**63)], [1.0, -0.0]),
        ("DOUBLE", "value_f", [0.5, 0.1], [0.5, float(np.float32(0.1))]),
        ("BFLOAT16", "value_h", ["3f80", "ffff"], [0x3F80, 0xFFFF]),
        ("BFLOAT16", "value_ui", [0x3F80, 1], [0x3F80, 1]),
        ("INT64", "value_i", [-1, 2], [-1, 2]),
        ("INT64", "value_l", [-(2**63), 2**63 - 1], [-(2**63), 2**63 - 1]),
        ("INT32", "value_l", [5, -6], [5, -6]),
        ("UINT64", "value_ul", [2**64 - 1, 0], [2**64 - 1, 0]),
        ("UINT8", "value_ul", [255, 0], [255, 0]),
        ("UINT16", "value_i", [65535, 0], [65535, 0]),
        ("BOOL", "value_i", [2, 0], [2, 0]),
        ("INT31", "value_i", [1, 2, 3, 4], [3, 4, 1, 2]),  # high words first; low ones are first in memory
    ],
)
def test_what_each_field_holds(dtype: str, field: str, values: Any, wanted: Any, tmp_path: Path) -> None:
    assert values_of(tmp_path, listed(field, values), shape="dims: 2", dtype=dtype).tolist() == wanted


def test_short_lists_of_inputs(tmp_path: Path) -> None:
    assert values_of(tmp_path, "value_f: 1 value_f: 2").tolist() == [1, 2, 0, 0, 0, 0]
    text = case_text("value_f: 1 value_f: 2").replace("input", "output")
    with pytest.raises(gencase.CaseError, match=r"case\.prototxt:2: x: value_f has 2 values, the tensor has 6"):
        written(tmp_path, text).outputs[0].values()


def test_strided_tensors(tmp_path: Path) -> None:
    shape = "dims: 2 dims: 3 dim_stride: 4 dim_stride: 1"
    case = written(tmp_path, case_text(listed("value_f", range(7)), shape=shape))
    assert (case.inputs[0].span, case.inputs[0].strides) == (7, (4, 1))
    assert case.inputs[0].values().tolist() == [*range(7)]
    assert refusal(tmp_path, listed("value_f", range(6)), shape=shape) == (
        "case.prototxt:2: x: value_f has 6 values, the tensor has 7"
    )
    overlapping = "dims: 10 dims: 10 dim_stride: 1 dim_stride: 4"
    random = "random_data { seed: 3 distribution: UNIFORM lower_bound: 0 upper_bound: 1 }"
    assert values_of(tmp_path, random, shape=overlapping).shape == (46,)


# ---- Random data ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "random", "wanted"),
    [
        ("FLOAT", "lower_bound: -1.5 upper_bound: 2.5", [-1.49270582, 1.09321833]),
        ("DOUBLE", "lower_bound: -1.5 upper_bound: 2.5 seed: 7", [2.1830580678611686, -0.65779630707513725]),
        ("INT32", "lower_bound: -1.5 upper_bound: 2.5", [-2, 1]),
        ("UINT8", "lower_bound: 1.5 upper_bound: 5.5", [1, 4]),
        ("UINT64", "lower_bound: -1.5 upper_bound: 2.5", [1, 1]),
        ("BOOL", "lower_bound: -1.5 upper_bound: 2.5", [255, 1]),
        ("BFLOAT16", "lower_bound: -1.5 upper_bound: 2.5", [0xBFBF, 0x3F8C]),
        ("INT8", "lower_bound: -1.5 upper_bound: 2.5 convert_dtype: true", [-2, 1]),
        ("INT8", "lower_bound: -1.5 upper_bound: 2.5", [-1, 1]),
        ("FLOAT", "lower_bound: 0 upper_bound: 1 lower_bound_double: 4 upper_bound_double: 4", [4, 4]),
    ],
)
def test_random_data_in_each_type(dtype: str, random: str, wanted: Any, tmp_path: Path) -> None:
    seed = "" if "seed" in random else "seed: 233"
    lines = f"random_data {{ {seed} distribution: UNIFORM {random} }}"
    found = values_of(tmp_path, lines, shape="dims: 2", dtype=dtype)
    assert found.tolist() == [memory_type(DataType[dtype])(value) for value in wanted]


@pytest.mark.parametrize(("mode", "wanted"), [("ROUND_TO_EVEN", 2), ("ROUND_HALF_UP", 3), ("ROUND_OFF_ZERO", 3)])
@pytest.mark.parametrize("sign", [1, -1])
def test_halves_are_rounded_as_the_handle_says(mode: str, wanted: int, sign: int, tmp_path: Path) -> None:
    bounds = f"lower_bound: {2.5 * sign} upper_bound: {2.5 * sign}"
    lines = f"random_data {{ distribution: UNIFORM {bounds} }}"
    case = written(tmp_path, case_text(lines, dtype="INT16", rest=f"handle_param {{ round_mode: {mode} }}"))
    if sign < 0 and mode == "ROUND_HALF_UP":
        wanted = 2
    assert case.inputs[0].values().tolist() == [sign * wanted] * 6


def test_seed_of_a_case_without_one(tmp_path: Path) -> None:
    bounds = "distribution: UNIFORM lower_bound: 10 upper_bound: -10"
    found = values_of(tmp_path, f"random_data {{ {bounds} }}", shape="dims: 3")
    assert found.tolist() == np.array([9.99639988, 9.49261761, 2.4215517], np.float32).tolist()


# ---- Refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "lines", "reason"),
    [
        ("FLOAT", "value_ui: 1", "value_ui has no values of type FLOAT"),
        ("FLOAT", "value_l: 1", "value_l has no values of type FLOAT"),
        ("BFLOAT16", "value_f: 1", "value_f has no values of type BFLOAT16"),
        ("DOUBLE", "value_i: 1", "value_i has no values of type DOUBLE"),
        ("INT32", "value_f: 1", "value_f has no values of type INT32"),
        ("INT32", 'value_h: "1"', "value_h has no values of type INT32"),
        ("UINT32", "value_i: 1", "value_i has no values of type UINT32"),
        ("UINT64", "value_ui: 1", "value_ui has no values of type UINT64"),
        ("INT8", "value_ul: 1", "value_ul has no values of type INT8"),
        ("INT8", "value_i: 128", "value_i has a value that INT8 cannot have"),
        ("BOOL", "value_i: -1", "value_i has a value that BOOL cannot have"),
        ("FLOAT", 'value_h: "3F800000"', "'3F800000' is no hexadecimal number of 32 bits"),
        ("FLOAT", 'value_h: "0x1"', "'0x1' is no hexadecimal number of 32 bits"),
        ("FLOAT", 'value_h: ""', "'' is no hexadecimal number of 32 bits"),
        ("HALF", 'value_h: "10000"', "'10000' is no hexadecimal number of 16 bits"),
        ("FLOAT", listed("value_f", range(7)), "value_f has 7 values, the tensor has 6"),
        ("COMPLEX_FLOAT", listed("value_f", range(13)), "value_f has 13 values, the tensor has 12"),
        ("FLOAT", "random_data { lower_bound: 0 upper_bound: 1 }", "random data need a distribution"),
        ("FLOAT", "random_data { distribution: UNIFORM lower_bound: 0 }", "random data need upper_bound"),
        ("FLOAT", "random_data { distribution: GAUSSIAN mu: 0 }", "random data need sigma"),
        (
            "FLOAT",
            "random_data { distribution: UNIFORM lower_bound_double: 0 upper_bound: 1 }",
            "random data need upper_bound_double",
        ),
        (
            "FLOAT",
            "random_data { distribution: BINOMIAL }",
            "random data of the distribution BINOMIAL are not known; there are UNIFORM and GAUSSIAN",
        ),
        (
            "INT31",
            "random_data { distribution: UNIFORM lower_bound: 0 upper_bound: 1 }",
            "random data of type INT31 are not known",
        ),
    ],
)
def test_refused_values(dtype: str, lines: str, reason: str, tmp_path: Path) -> None:
    assert refusal(tmp_path, lines, dtype=dtype) == f"case.prototxt:2: x: {reason}"


def test_refused_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "case.prototxt:2: " in refusal(tmp_path, 'path: "none"')
    assert "No such file" in refusal(tmp_path, 'path: "none"')
    (tmp_path / "short").write_bytes(b"123")
    assert refusal(tmp_path, 'path: "short"') == "case.prototxt:2: short has 3 bytes, the tensor has 24"
    (tmp_path / "data.zst").write_bytes(b"123")
    monkeypatch.setitem(sys.modules, "zstandard", None)
    said = "case.prototxt:2: data.zst: compressed data are read with the package zstandard"
    assert refusal(tmp_path, 'path: "data.zst"') == said

    class Decompressor:
        """Gives numbers for the right bytes, as the package does."""

        def stream_reader(self, data: bytes, *, read_across_frames: bool) -> io.BytesIO:
            assert read_across_frames
            if data != b"123":
                raise module.ZstdError("not compressed")
            return io.BytesIO(np.arange(6, dtype="<f4").tobytes())

    module: Any = types.ModuleType("zstandard")
    module.ZstdDecompressor, module.ZstdError = Decompressor, type("ZstdError", (Exception,), {})
    monkeypatch.setitem(sys.modules, "zstandard", module)
    assert values_of(tmp_path, 'path: "data.zst"').tolist() == [0, 1, 2, 3, 4, 5]
    (tmp_path / "data.zst").write_bytes(b"124")
    assert refusal(tmp_path, 'path: "data.zst"') == "case.prototxt:2: data.zst: not compressed"


@pytest.mark.parametrize("dims", ["dims: 4611686018427387904", "dims: 4611686018427387904 dims: 4611686018427387904"])
def test_more_elements_than_there_is_memory_for(dims: str, tmp_path: Path) -> None:
    lines = "random_data { distribution: UNIFORM lower_bound: 0 upper_bound: 1 }"
    assert refusal(tmp_path, lines, shape=dims).startswith("case.prototxt:2: ")
    assert refusal(tmp_path, "value_f: 1", shape=dims).startswith("case.prototxt:2: ")


@pytest.mark.parametrize(
    ("shape", "strides", "packed"),
    [
        ([2, 3], [], True),
        ([2, 3], [3, 1], True),
        ([2, 3], [1, 2], False),  # no gaps, but another order
        ([2, 3], [4, 1], False),
        ([2, 1, 3], [3, 99, 1], True),
        ([0, 3], [7, 7], True),
        ([], [], True),
    ],
)
def test_packed_tensors(shape: list[int], strides: list[int], packed: bool, tmp_path: Path) -> None:
    text = " ".join([*(f"dims: {dim}" for dim in shape), *(f"dim_stride: {step}" for step in strides)])
    assert written(tmp_path, case_text("", shape=text)).inputs[0].is_packed == packed
