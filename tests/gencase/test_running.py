"""Cases that run: which tensor is which argument, what is compared, what is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import Layout, functions, gencase
from pymluops.gencase._binding import bind
from pymluops.gencase._reference import reference
from support.described_calls import OPERATORS, legal_call, on

RNG = np.random.default_rng(7)
MAPS = RNG.normal(size=(2, 4, 5, 6)).astype(np.float32)


@pytest.mark.parametrize("operator", [name for name in on("cpu") if OPERATORS[name].c_function.startswith("mluOp")])
def test_dumped_calls_pass(operator: str, tmp_path: Path) -> None:
    """Also where no oracle is asked: the CPU library agrees with itself."""
    call = legal_call(operator, 11)
    with gencase.recording(tmp_path):
        getattr(functions, call.description.c_function)(*call.by_parameter().values())
    (path,) = tmp_path.rglob("*.prototxt")
    for against in ("cpu", "oracle"):
        result = gencase.read(path).run("cpu", against)
        assert result.outcome in (gencase.Outcome.PASSED, gencase.Outcome.FAILED), result
        # A sum that cancels may be far from the oracle by the criteria of the format.
        close = all(one.value < 0.01 or one.name == "DIFF1" for out in result.outputs for one in out.measures)
        assert result.passed or (against == "oracle" and close), result


@pytest.mark.parametrize("operator", [name for name in on("sim") if OPERATORS[name].c_function.startswith("mluOp")])
def test_dumped_calls_pass_on_the_simulator(operator: str, tmp_path: Path) -> None:
    call = legal_call(operator, 11)
    with gencase.recording(tmp_path):
        getattr(functions, call.description.c_function)(*call.by_parameter().values())
    (path,) = tmp_path.rglob("*.prototxt")
    result = gencase.read(path).run("sim", "oracle")
    assert result.passed, result
    assert result.io_efficiency is not None


def _numbers(*shape: int) -> np.ndarray:
    return RNG.uniform(0.1, 3, shape).astype(np.float32)


#: Calls of operators whose oracle takes other arguments, or that keep some of what was there.
OTHER_CALLS: dict[str, Callable[[], Any]] = {
    "abs": lambda: pymluops.abs(-_numbers(2, 3)),
    "abs of complex numbers": lambda: pymluops.abs(_numbers(2, 6).view(np.complex64)),
    "sqrt of integers": lambda: pymluops.sqrt(np.arange(6, dtype=np.int32)),
    "sqrt_backward": lambda: pymluops.sqrt_backward(_numbers(4), _numbers(4)),
    "log": lambda: pymluops.log(_numbers(3, 1, 2), 10),
    "div": lambda: pymluops.div(_numbers(3, 1), _numbers(2)),
    "lgamma": lambda: pymluops.lgamma(_numbers(7)),
    "mutual_information without regions": lambda: pymluops.mutual_information_forward(
        -_numbers(2, 3, 5), -_numbers(2, 4, 4)
    ),
    "logspace": lambda: pymluops.logspace(-2, 3, 9, out=np.empty(9, np.float16)),
    "prior_box": lambda: pymluops.prior_box(*(_numbers(n) for n in (2, 3, 4, 2)), 3, 5, 90, 80, 9.0, 9.0),
    "box_iou_rotated": lambda: pymluops.box_iou_rotated(_numbers(4, 5), _numbers(4, 5), aligned=True),
    "mutual_information_forward": lambda: pymluops.mutual_information_forward(
        _numbers(2, 5, 8), _numbers(2, 6, 7), np.array([[1, 2, 4, 6], [3, 0, 2, 7]]), p=_numbers(2, 6, 8)
    ),
    "mutual_information_backward": lambda: pymluops.mutual_information_backward(
        30 * _numbers(1, 5, 8), 30 * _numbers(1, 6, 7), None, _numbers(1, 6, 8), _numbers(1)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER_CALLS)
def test_calls_pass_whose_oracle_takes_other_arguments(name: str, tmp_path: Path) -> None:
    with gencase.recording(tmp_path):
        OTHER_CALLS[name]()
    (path,) = tmp_path.rglob("*.prototxt")
    result = gencase.read(path).run("cpu", "oracle")
    assert result.passed, result
    assert any(out.measures for out in result.outputs)


def focal_loss(weight: bool) -> gencase.Case:
    rng = np.random.default_rng(0)
    inputs = [("input", rng.normal(size=(5, 4)).astype(np.float32)), ("target", rng.integers(0, 4, 5).astype(np.int32))]
    inputs += [("weight", np.ones(4, np.float32))] if weight else []
    out = [("output", np.zeros((5, 4), np.float32))]
    return gencase.Case.build("focal_loss_sigmoid_forward", inputs, out, {"reduction": 0, "alpha": 0.25, "gamma": 2.0})


@pytest.mark.parametrize("weight", [False, True])
def test_optional_tensors_are_told_by_their_number(weight: bool) -> None:
    bound = bind(focal_loss(weight))
    assert ("weight" in bound.inputs) == weight
    assert focal_loss(weight).run().passed


def test_a_wrong_number_of_tensors() -> None:
    case = focal_loss(False)
    del case.node.input[1:]
    result = case.run()
    assert result.outcome is gencase.Outcome.ERROR
    assert "has no call with 1 inputs and 1 outputs; it has 2 and 1 or 3 and 1" in result.message


def dcn(names: list[str]) -> gencase.Case:
    arrays = {
        "input": MAPS,
        "offset": RNG.normal(0, 0.4, (2, 4, 5, 18)).astype(np.float32),
        "mask": RNG.random((2, 4, 5, 9)).astype(np.float32),
        "filter": RNG.normal(size=(3, 3, 3, 6)).astype(np.float32),
        "bias": RNG.normal(size=3).astype(np.float32),
    }
    parameters = {"dimnb": 4, "pad": [1, 1, 1, 1], "stride": [1, 1], "dilation": [1, 1], "im2col_step": 1}
    layouts = {name: Layout.NHWC for name in (*names, "output") if name != "bias"}
    out = [("output", np.zeros((2, 4, 5, 3), np.float32))]
    return gencase.Case.build("dcn_forward", [(n, arrays[n]) for n in names], out, parameters, layouts=layouts)


@pytest.mark.parametrize(
    "names",
    [
        ["input", "offset", "filter"],
        ["input", "offset", "mask", "filter"],
        ["input", "offset", "filter", "bias"],
        ["input", "offset", "mask", "filter", "bias"],
    ],
)
def test_mask_and_bias_are_told_apart(names: list[str]) -> None:
    case = dcn(names)
    for tensor in case.node.input:  # other ids, as the vendor's cases have
        tensor.id = "input"
    assert list(bind(case).inputs) == names
    assert case.run().passed


def test_numbers_that_follow_from_shapes() -> None:
    points, features = RNG.normal(size=(2, 9, 3)).astype(np.float32), RNG.normal(size=(2, 9, 4)).astype(np.float32)
    boxes = np.tile(np.float32([0, 0, -2, 4, 4, 4, 0.3]), (2, 3, 1))
    out = [("a", np.zeros((2, 3, 5, 7), np.float32)), ("b", np.zeros((2, 3), np.int32))]
    inputs = [("points", points), ("features", features), ("boxes", boxes)]
    case = gencase.Case.build("roipoint_pool3d", inputs, out, {"num_sampled_points": 5}, criteria=[("DIFF1", 0)])
    numbers = bind(case).numbers
    wanted = {"batch_size": 2, "pts_num": 9, "boxes_num": 3, "feature_in_len": 4, "sampled_pts_num": 5}
    assert {name: numbers[name] for name in wanted} == wanted
    assert case.run().passed


def test_an_unknown_operator() -> None:
    case = focal_loss(False)
    case.node.op_name = "soft_max"
    result = case.run()
    assert (result.outcome, result.passed) == (gencase.Outcome.ERROR, False)
    assert "no operator is called soft_max" in result.message


def test_an_input_that_the_operator_marks_in_place(tmp_path: Path) -> None:
    """The points outside the grid become -1, -1, -1 in the input itself, which is no output of the case."""
    coors = np.array([[0, 2, 1], [3, -1, 4], [0, 2, 1]], np.int32)
    with gencase.recording(tmp_path):
        pymluops.dynamic_point_to_voxel_forward(_numbers(3, 2), coors, "max", 3)
    (path,) = tmp_path.rglob("*.prototxt")
    for against in ("oracle", "cpu"):
        result = gencase.read(path).run("cpu", against)
        assert result.passed, result


def test_sizes_that_the_oracle_does_not_make(tmp_path: Path) -> None:
    boxes, scores = np.float32([[0, 0, 1, 1], [5, 5, 6, 6]]), np.float32([0.5, 0.75])
    with gencase.recording(tmp_path):
        pymluops.nms(boxes, scores, 0.5)
    for path in tmp_path.rglob("*.prototxt"):
        case = gencase.read(path)
        case.outputs[1].message.shape.dims[:] = [7]
        result = case.run("cpu", "oracle")
        assert result.outcome is gencase.Outcome.ERROR
        assert "the oracle makes [1], the case has [7]" in result.message


def test_an_oracle_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any, **__: Any) -> Any:
        raise IndexError("index 4 is out of bounds")

    monkeypatch.setattr("pymluops.gencase._run.reference", failing)
    result = tin_shift().run("cpu", "oracle")
    assert result.outcome is gencase.Outcome.ERROR
    assert "the oracle of tin_shift_forward does not take this case: IndexError: index 4" in result.message


def test_a_refused_call_says_why() -> None:
    case = focal_loss(False)
    case.node.focal_loss_sigmoid_forward_param.alpha = -1e30
    case.node.focal_loss_sigmoid_forward_param.gamma = -3
    result = case.run()
    assert result.outcome is gencase.Outcome.ERROR
    assert "mluOpFocalLossSigmoidForward: gamma: expected" in result.message


# ---- what is found -------------------------------------------------------------------------------


def tin_shift() -> gencase.Case:
    x = np.arange(1, 25, dtype=np.float32).reshape(1, 2, 4, 3)
    out = [("output", np.zeros_like(x))]
    return gencase.Case.build("tin_shift_forward", [("input", x), ("shifts", np.int32([[1, -1]]))], out)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Lets a function of the CPU library do more than it should: what "change" does with the output."""
    real, state = functions.mluOpTinShiftForward, dict[str, Any]()

    class Broken:
        positional, descriptors = real.positional, real.descriptors  # type: ignore[attr-defined]

        def __call__(self, input: Any, shifts: Any, output: Any, handle: Any) -> None:
            real(input=input, shifts=shifts, output=output, handle=handle)
            if handle.backend is pymluops.load("cpu"):
                state["change"](output[1])

    monkeypatch.setattr(functions, "mluOpTinShiftForward", Broken())
    return state


def test_a_wrong_value_is_named(broken: dict[str, Any]) -> None:
    broken["change"] = lambda memory: memory.view(np.float32).__setitem__(5, 100)
    result = tin_shift().run("cpu", "oracle")
    assert result.outcome is gencase.Outcome.FAILED
    (output,) = result.outputs
    assert not output.passed
    assert output.place is not None
    assert (output.place.index, output.place.found, output.place.differing) == ((0, 0, 1, 2), 100, 1)
    assert result.judgements == ()


def test_of_two_libraries_the_one_that_agrees_with_the_oracle_is_named(broken: dict[str, Any]) -> None:
    broken["change"] = lambda memory: memory.view(np.float32).__setitem__(5, 100)
    for library, against in (("cpu", "sim"), ("sim", "cpu")):
        result = tin_shift().run(library, against)
        assert result.outcome is gencase.Outcome.FAILED
        (judgement,) = result.judgements
        assert (judgement.output, judgement.agrees) == ("output", "sim")
        assert judgement.distances["sim"] == 0 < judgement.distances["cpu"]
        assert judgement.places["sim"] is None


def test_what_is_not_written_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    real = functions.mluOpTinShiftForward

    class Idle:
        positional, descriptors = real.positional, real.descriptors  # type: ignore[attr-defined]

        def __call__(self, **given: Any) -> None:
            """Leave everything as it is."""

    monkeypatch.setattr(functions, "mluOpTinShiftForward", Idle())
    result = tin_shift().run("cpu", "oracle")
    assert result.outcome is gencase.Outcome.FAILED
    assert result.outputs[0].place is not None
    assert np.isnan(result.outputs[0].place.found)


def test_a_write_beside_the_output_fails(broken: dict[str, Any]) -> None:
    def beside(memory: np.ndarray) -> None:
        view = np.lib.stride_tricks.as_strided(memory.view(np.uint8), (memory.nbytes + 1,), (1,))
        view[-1] = 7

    broken["change"] = beside
    result = tin_shift().run("cpu", "oracle")
    assert result.outcome is gencase.Outcome.FAILED
    assert result.message == "memory beside output was written"


@pytest.mark.parametrize("library", ["cpu", "sim"])
def test_a_write_between_the_elements_of_an_output_fails(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The vendor's evaluator compares the whole span of an output with strides."""
    real, change = functions.mluOpAbs, [True]

    class Broken:
        positional, descriptors = real.positional, real.descriptors  # type: ignore[attr-defined]

        def __call__(self, x: Any, y: Any, handle: Any) -> None:
            functions_of_cpu = pymluops.Handle("cpu") if handle.backend.name == "sim" else handle
            real(x=x, y=y, handle=functions_of_cpu)
            if change[0]:
                y[1].view(np.float32)[1] = 42

    monkeypatch.setattr(functions, "mluOpAbs", Broken())
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    case = gencase.Case.build("abs", [("x", x)], [("y", x)])
    case.outputs[0].message.shape.dim_stride.extend((8, 2))
    result = case.run(library, "oracle")
    assert result.outcome is gencase.Outcome.FAILED
    assert result.message == "memory between the elements of y was written"
    change[0] = False
    assert case.run(library, "oracle").passed


def test_outputs_that_are_left_out(broken: dict[str, Any]) -> None:
    broken["change"] = lambda memory: memory.view(np.float32).__setitem__(5, 100)
    case = tin_shift()
    case.node.output[0].threshold_use = 0
    result = case.run()
    assert result.passed
    assert result.message.startswith("nothing was compared")


def test_the_outputs_in_the_file() -> None:
    case = tin_shift()
    assert "the file has no values of output" in case.run(against="file").message
    expected = pymluops.tin_shift_forward(np.arange(1, 25, dtype=np.float32).reshape(1, 2, 4, 3), np.int32([[1, -1]]))
    case.outputs[0].set_values(expected.reshape(-1))
    assert case.run(against="file").passed
    case.outputs[0].set_values(expected.reshape(-1) + 1)
    assert case.run(against="file").outcome is gencase.Outcome.FAILED


def test_no_oracle_for_some_settings() -> None:
    from pymluops.gencase._operators import OPERATORS as ROWS

    row = next(row for row in ROWS if row.name == "nms")
    settings = {"output_mode": 2, "method_mode": 0, "offset": 0, "input_layout": 0}
    with pytest.raises(LookupError, match="no oracle for nms with these settings"):
        reference(row, {"boxes": np.zeros((3, 4))}, {f"nms_desc.{name}": value for name, value in settings.items()})


def test_json_has_numbers_or_texts() -> None:
    import json

    case = tin_shift()
    case.inputs[0].set_values(np.full(24, np.nan, np.float32))
    found = case.run().to_json()
    assert json.loads(json.dumps(found, allow_nan=False))["outcome"] == "passed"
