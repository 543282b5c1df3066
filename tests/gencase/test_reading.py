"""Reading and writing whole cases: both forms of files, every message, and what is said of broken files."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pymluops import cli, enums, gencase
from pymluops.enums import DataType, Layout
from pymluops.gencase import _messages
from pymluops.gencase._messages import node_class
from pymluops.gencase._operators import OPERATORS
from pymluops.gencase._places import line_of
from support.data_files import facts
from support.processes import python_output
from support.selection import examples

TENSOR = 'id: "x" shape { dims: 2 } layout: LAYOUT_ARRAY dtype: DTYPE_FLOAT'


def written(folder: Path, text: str, name: str = "case.prototxt") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def refusal(path: Path) -> str:
    """What is said of a file, without its folder."""
    with pytest.raises(gencase.CaseError) as error:
        gencase.read(path)
    assert "\n" not in str(error.value)
    return str(error.value).replace(f"{path.parent}/", "")


# ---- What a case says ----------------------------------------------------------------------------

WHOLE = """\
# A comment.
op_name: "roi_crop_forward"
op_type: ROI_CROP_FORWARD
input: {
  id: "input" # another
  shape: { dims: 2 dims: 3 dim_stride: 4 dim_stride: 1 }
  layout: LAYOUT_NHWC
  dtype: DTYPE_HALF
  onchip_dtype: DTYPE_FLOAT
  value_f: [1, 2, 3, 4, 5, 6, 7]
}
input { id: "a NULL tensor" shape { dims: 0 } layout: 5 dtype: 2 }
output <
  id: 'output' shape { dims: 2 dims: 3 dims: 4 } layout: LAYOUT_NCHW dtype: DTYPE_COMPLEX_FLOAT
  threshold_use: 0
  thresholds { evaluation_threshold: 0.5 evaluation_threshold_imag: 0.25 }
>
log_param { log_base: 2 }
adamw_param { lr: 1e-3 beta1: 0.5 beta2: .5 bias1: 1 bias2: 1 epsilon: 1e-8 weight_decay: 0 scale: 1 use_nesterov: 1
  need_remove_nan: true }
handle_param { round_mode: ROUND_HALF_UP }
test_param: { error_func: DIFF1 error_func: DIFF3_2 error_threshold: 0.003 error_threshold: 0 baseline_device: CPU }
"""


@pytest.mark.parametrize("suffix", [".prototxt", ".pb"])
def test_what_a_case_says(suffix: str, tmp_path: Path) -> None:
    first = gencase.read(written(tmp_path, WHOLE))
    first.write(tmp_path / f"again{suffix}")
    case = gencase.read(tmp_path / f"again{suffix}")
    assert case.op_name == "roi_crop_forward"
    one, null = case.inputs
    assert (one.id, one.shape, one.strides, one.span) == ("input", (2, 3), (4, 1), 7)
    assert (one.dtype, one.layout, one.onchip_dtype) == (DataType.HALF, Layout.NHWC, DataType.FLOAT)
    assert not one.is_null
    assert one.values().tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert (null.is_null, null.shape, null.span, null.layout) == (True, (0,), 0, Layout.ARRAY)
    assert null.onchip_dtype is None
    assert null.values() is None
    (output,) = case.outputs
    assert (output.dtype, output.strides, output.is_compared) == (DataType.COMPLEX_FLOAT, (12, 4, 1), False)
    assert (output.thresholds, output.imaginary_thresholds) == ((0.5,), (0.25,))
    assert one.is_compared
    assert case.round_mode == enums.QuantizeRoundMode.HALF_UP
    assert case.parameter("log_param", "log_base") == 2
    assert case.parameter("log_param", "prefer") == enums.ComputationPreference.HIGH_PRECISION
    assert case.parameter("adamw_param", "lr") == np.float32(1e-3)
    assert case.parameter("adamw_param", "use_nesterov") is True
    assert case.parameter("voxelization_param", "max_voxels") == 20000
    assert case.node == first.node


def test_case_without_handle_parameters(tmp_path: Path) -> None:
    assert gencase.read(written(tmp_path, 'op_name: "abs"')).round_mode is None


# ---- The messages --------------------------------------------------------------------------------


def filled(message: Any, number: int) -> None:
    """Give every field of a message of numbers a value of its own."""
    for field in message.DESCRIPTOR.fields:
        number += 1
        value: Any = number
        if field.enum_type is not None:
            value = field.enum_type.values[number % len(field.enum_type.values)].number
        elif field.type in (field.TYPE_FLOAT, field.TYPE_DOUBLE):
            value = float(np.float32(number / 7))
        elif field.type == field.TYPE_BOOL:
            value = number % 2 == 0
        if hasattr(getattr(message, field.name), "extend"):
            getattr(message, field.name).extend([value, value])
        else:
            setattr(message, field.name, value)


@pytest.mark.parametrize("row", OPERATORS, ids=lambda row: f"{row.name}-{row.functions[0]}")
def test_every_operator_there_and_back(row: Any, tmp_path: Path) -> None:
    node = node_class()(op_name=row.name, op_type=row.type)
    assert node.op_type == row.number
    for number, one in enumerate((*row.inputs, *row.outputs)):
        side = node.input if number < len(row.inputs) else node.output
        tensor = side.add(id=one.id, layout="LAYOUT_ARRAY", dtype="DTYPE_FLOAT")
        tensor.shape.dims.extend([2, number])
        tensor.value_f.extend(np.linspace(0, 1, 2 * number, dtype=np.float32))
    if row.message:
        filled(getattr(node, row.message), row.number % 50)
        fields = getattr(node, row.message).DESCRIPTOR.fields_by_name
        for parameter in row.parameters:
            assert parameter.name in fields
            assert hasattr(getattr(getattr(node, row.message), parameter.name), "extend") == parameter.repeated
    criteria = node.test_param
    numbers = criteria.DESCRIPTOR.fields_by_name["error_func"].enum_type.values_by_name
    for name, threshold in row.criteria:
        criteria.error_func.append(numbers[name].number)
        criteria.error_threshold.append(threshold)
    case = gencase.Case(node)
    for name in ("a.prototxt", "a.pb"):
        case.write(tmp_path / name)
        assert gencase.read(tmp_path / name).node == node


def test_required_fields_are_written() -> None:
    """A case without one of them is refused, so the table of the writer has them all."""
    node = node_class()()
    for row in OPERATORS:
        if row.message:
            message = getattr(node, row.message)
            message.SetInParent()
            written_ones = {parameter.name for parameter in row.parameters}
            missing = {name.rpartition(".")[2] for name in message.FindInitializationErrors()}
            assert missing <= written_ones, row.name


def test_bytes_of_a_case(tmp_path: Path) -> None:
    """The numbers of fields and enums, by hand."""
    tensor = bytes([0x0A, 1, ord("x"), 0x12, 2, 0x08, 2, 0x18, 2, 0x20, 19, 0x3A, 16])  # NHWC, COMPLEX_FLOAT, value_f
    tensor += np.arange(4, dtype="<f4").tobytes()
    tensor += bytes([0x68, 7, 0x80, 0x01, 0])  # onchip_dtype, threshold_use
    data = bytes([0x2A, 3]) + b"abs" + bytes([0x32, len(tensor)]) + tensor
    data += bytes([0x52, 2, 0x08, 8])  # test_param: DIFF3
    data += bytes([0xDA, 0xB9, 0x0B, 2, 0x08, 1])  # handle_param, number 23451: half up
    (tmp_path / "x.pb").write_bytes(data)
    case = gencase.read(tmp_path / "x.pb")
    (one,) = case.inputs
    assert (one.dtype, one.layout, one.onchip_dtype) == (DataType.COMPLEX_FLOAT, Layout.NHWC, DataType.BFLOAT16)
    assert one.values().tolist() == [0, 1, 2, 3]
    assert (one.is_compared, case.round_mode, list(case.node.test_param.error_func)) == (False, 1, [8])


def test_enums_that_have_the_numbers_of_the_abi() -> None:
    names = {
        "ReduceMode": "mluOpReduceMode_t",
        "ComputationPreference": "mluOpComputationPreference_t",
        "mluOpLogBase": "mluOpLogBase_t",
        "LossReduction": "mluOpLossReduction_t",
        "PoolingForwardMode": "mluOpPoolingMode_t",
        "NmsBoxMode": "mluOpNmsBoxPointMode_t",
        "NmsOutputMode": "mluOpNmsOutputMode_t",
        "NmsMethodMode": "mluOpNmsMethodMode_t",
        "NmsAlgo": "mluOpNmsAlgo_t",
        "QuantizeRoundMode": "mluOpQuantizeRoundMode_t",
    }
    known = facts("abi.json")["enums"]
    pool = node_class().DESCRIPTOR.file.pool
    for name, c_name in names.items():
        ours = sorted(pool.FindEnumTypeByName(f"mluoptest.{name}").values_by_number)
        assert ours == sorted(known[c_name].values()), name


# ---- Broken files --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('op_name: "abs"\nshape: 3', "case.prototxt:2", "shape"),
        ('op_name: "abs"\n\ninput {\n  idd: "x"\n}', "case.prototxt:4", "idd"),
        ('op_name: "abs"\nop_type: NOTHING', "case.prototxt:2", "NOTHING"),
        (f'op_name: "abs"\ninput {{ {TENSOR}\n value_f: one }}', "case.prototxt:3", "one"),
        (f'op_name: "abs"\ninput {{ {TENSOR}\n value_i: 2147483648 }}', "case.prototxt:3", "2147483648"),
        (f'op_name: "abs"\ninput {{ {TENSOR}\n', "case.prototxt:2", ""),
        ('op_name: "abs', "case.prototxt:1", ""),
        ("op_name: abs", "case.prototxt:1", ""),
        ('op_name: "abs"\ncarafe_param {\n  dimnb: 1.5\n}', "case.prototxt:3", "1.5"),
        ('op_name: "a"\nop_name: "b"', "case.prototxt:2", "op_name"),
    ],
)
def test_text_that_is_no_case(text: str, place: str, words: str, tmp_path: Path) -> None:
    said = refusal(written(tmp_path, text))
    assert said.startswith(f"{place}: ")
    assert words in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("device: GPU", "case.prototxt: the field op_name is missing"),
        (
            f'op_name: "abs"\ninput {{ {TENSOR} }}\ninput {{\n  id: "y" layout: LAYOUT_NC dtype: DTYPE_HALF\n}}',
            "case.prototxt:3: the field input[1].shape is missing",
        ),
        (
            'op_name: "abs" # input { }\n\noutput: { id: "input" shape { } layout: LAYOUT_NC }',
            "case.prototxt:3: the field output[0].dtype is missing",
        ),
        (
            'op_name: "psamask_forward"\npsamask_forward_param {\n  h_mask: 1 w_mask: 2\n}',
            "case.prototxt:2: the field psamask_forward_param.psa_type is missing",
        ),
        (
            'op_name: "abs"\n\ninput { id: "x" shape { dims: 2 } layout: LAYOUT_NC dtype: DTYPE_INT4X2 }',
            "case.prototxt:3: x: DTYPE_INT4X2 is no dtype of the ABI",
        ),
        (
            'op_name: "abs"\ninput { id: "x" shape { dims: 2 } layout: LAYOUT_NC dtype: DTYPE_UNSET }',
            "case.prototxt:2: x: DTYPE_UNSET is no dtype of the ABI",
        ),
        (
            f'op_name: "abs"\ninput {{ {TENSOR} onchip_dtype: DTYPE_FLOAT8_E5M2 }}',
            "case.prototxt:2: x: DTYPE_FLOAT8_E5M2 is no onchip_dtype of the ABI",
        ),
        (
            'op_name: "abs"\noutput { id: "y" shape { dims: 2 dim_stride: 1 dim_stride: 1 } layout: LAYOUT_NC '
            "dtype: DTYPE_HALF }",
            "case.prototxt:2: y: 2 strides for 1 dims",
        ),
        (
            'op_name: "abs"\noutput { id: "y" shape { dims: -2 } layout: LAYOUT_NC dtype: DTYPE_HALF }',
            "case.prototxt:2: y: a dim or a stride is negative",
        ),
        (
            'op_name: "abs"\noutput { id: "y" shape { dims: 2 dim_stride: -1 } layout: LAYOUT_NC dtype: DTYPE_HALF }',
            "case.prototxt:2: y: a dim or a stride is negative",
        ),
    ],
)
def test_cases_that_lack_something(text: str, said: str, tmp_path: Path) -> None:
    assert refusal(written(tmp_path, text)) == said


def test_other_files(tmp_path: Path) -> None:
    other = "case.txt: a case is a file .prototxt or .pb"
    assert refusal(written(tmp_path, WHOLE, "case.txt")) == other
    (tmp_path / "x.pb").write_bytes(b"\xff\xff")
    assert refusal(tmp_path / "x.pb").startswith("x.pb: no binary test case: ")
    (tmp_path / "empty.pb").write_bytes(b"")
    assert refusal(tmp_path / "empty.pb") == "empty.pb: the field op_name is missing"
    (tmp_path / "x.prototxt").write_bytes(b'op_name: "\xff"')
    assert refusal(tmp_path / "x.prototxt").startswith("x.prototxt: no text in UTF-8: ")
    with pytest.raises(FileNotFoundError):
        gencase.read(tmp_path / "none.prototxt")
    case = gencase.read(written(tmp_path, WHOLE))
    with pytest.raises(gencase.CaseError, match=r"case\.txt: a case is a file \.prototxt or \.pb"):
        case.write(tmp_path / "case.txt", data="files")
    assert not [*tmp_path.glob("*_data*")]
    with pytest.raises(gencase.CaseError, match="data: expected keep, decimal, hexadecimal or files, got 'raw'"):
        case.write(tmp_path / "other.pb", data="raw")
    assert not (tmp_path / "other.pb").exists()


@pytest.mark.parametrize("field", ["op_name", "input[0].id", "input[0].path", "input[0].value_h"])
@pytest.mark.parametrize("command", ["show", "run", "minimize", "to-pytest"])
def test_texts_of_binary_files_that_are_no_text(
    command: str, field: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node = gencase.read(written(tmp_path, f'op_name: "abs"\ninput {{ {TENSOR} value_h: "0" }}')).node
    tensor, name = node.input[0], field.rpartition(".")[2]
    if name == "value_h":
        tensor.value_h[:] = ["0", "marker"]
    else:
        setattr(node if name == "op_name" else tensor, name, "marker")
    path = tmp_path / "bad.pb"
    path.write_bytes(node.SerializeToString().replace(b"marker", b"mark\xffr"))
    code = cli.main(["case", command, str(path)])
    out, err = capsys.readouterr()
    assert code in (1, 2)
    assert f"{path}: the field {field} is no text in UTF-8" in out + err


def test_long_and_strange_names_are_told_in_one_short_line(tmp_path: Path) -> None:
    result = gencase.read(written(tmp_path, f'op_name: "abs\\nfoo"\ninput {{ {TENSOR} }}')).run("cpu")
    assert result.message.endswith("no operator is called 'abs\\nfoo'")
    result = gencase.read(written(tmp_path, f'op_name: "{"x" * 9999}"\ninput {{ {TENSOR} }}')).run("cpu")
    assert len(result.message) < 300
    assert len(refusal(written(tmp_path, f'op_name: "abs"\ninput {{ value_f: {"[" * 9999} }}'))) < 500


def test_binary_case_that_is_wrong_has_no_line(tmp_path: Path) -> None:
    case = gencase.read(written(tmp_path, f'op_name: "abs"\ninput {{ {TENSOR} value_ui: 1 }}'))
    case.write(tmp_path / "x.pb")
    with pytest.raises(gencase.CaseError) as error:
        gencase.read(tmp_path / "x.pb").inputs[0].values()
    assert str(error.value) == f"{tmp_path / 'x.pb'}: x: value_ui has no values of type FLOAT"


@given(st.text("{}<>#\"\n '\\ainput:[],;1.", max_size=60))
@examples(300)
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.prototxt"
    path.write_text(text)
    said = refusal(path)
    assert said.startswith("any.prototxt")


@given(st.binary(max_size=60))
@examples(300)
def test_any_bytes_are_read_or_refused_in_one_line(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "any.pb"
    path.write_bytes(data)
    try:
        gencase.read(path)
    except gencase.CaseError as error:
        assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("input {}\ninput {}", 2),
        ("input { input {} }\n# input {}\ninput {}", 3),
        ('a: \'input\' b: "\\"input"\ninput { }\n\ninput <>', 4),
        ("input {}", None),
    ],
)
def test_line_of_a_part(text: str, line: int | None) -> None:
    assert line_of(text, "input", 1) == line


# ---- Without protobuf ----------------------------------------------------------------------------


def test_package_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(importlib, "import_module", missing)
    _messages.node_class.cache_clear()
    with pytest.raises(ImportError, match=r"pip install 'pymluops\[cases\]' \(No module named 'google"):
        gencase.read(written(tmp_path, WHOLE))
    _messages.node_class.cache_clear()


def test_protobuf_is_imported_when_a_case_is_read() -> None:
    program = "import sys, pymluops.gencase; print([name for name in sys.modules if name.startswith('google')])"
    assert python_output(program).strip() == "[]"
