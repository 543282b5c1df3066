"""Every Python function of an operator leaves the case of the vendor's operator, or a warning with the reason."""

from __future__ import annotations

import fnmatch
import re
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops import _core, functions, gencase
from pymluops.gencase._stand_ins import STAND_INS
from support import described, families
from support.processes import run_python

PAGE = Path(__file__).parents[2] / "docs" / "cases.md"
CONVOLUTION: dict[str, Any] = {
    "H": 5, "W": 6, "kh": 3, "kw": 2, "Ho": 3, "Wo": 3, "stride_h": 2, "stride_w": 2, "pad_h": 1, "pad_w": 0,
    "dilation_h": 1, "dilation_w": 1,
}  # fmt: skip
#: Values with which the vendor's operators compute the same.
GIVEN: dict[str, dict[str, Any]] = {
    "carafe_forward": {"kernel_size": 3},
    "carafe_backward": {"kernel_size": 3},
    "roi_pool_forward": {"rounded": True},
    "fft_forward": {"N": 4},
    "fft_inverse": {"N": 4},
    "fft_real_forward": {"weight": 1.0, "N": 4, "frequencies": 3},
    "fft_real_inverse": {"weight": 2.0, "N": 4, "frequencies": 3},
    "dynamic_scatter_forward": {"reduce_type": "max"},
    "dynamic_scatter_backward": {"reduce_type": "max", "V": 2, "N": 3},
    "nms2d": {"offset": 0},
    "deform_conv_forward": CONVOLUTION,
    "deform_conv_backward_data": CONVOLUTION,
    "deform_conv_backward": CONVOLUTION,
    "deform_conv_backward_weight": CONVOLUTION | {"kernel_h": 3, "kernel_w": 2},
}


def places_of_a_sparse_convolution() -> Any:
    indices = np.array([[0, 0, 1, 2], [0, 1, 1, 1]], np.int32)
    return pymluops.get_indice_pairs(indices, batch_size=1, spatial_shape=(2, 3, 4), kernel_size=3, padding=1)


def boxes_of_a_grid() -> Any:
    sizes, ratios = np.array([4.0], np.float32), np.array([1.0], np.float32)
    variances = np.full(4, 0.1, np.float32)
    return pymluops.prior_box(sizes, ratios, variances, np.array([8.0], np.float32), 2, 3, 20, 30, 10.0, 10.0)


#: Functions whose Python arguments are not those of their description.
OTHERS: dict[str, Callable[[], Any]] = {
    "get_indice_pairs": places_of_a_sparse_convolution,
    "prior_box": boxes_of_a_grid,
}


#: For numbers that are not a hundred times smaller than those that they are sums of.
SEED = 4


def sample(name: str, seed: int = SEED) -> Callable[[], Any]:
    """A call of a function, as the vendor's operator has it if there is one."""
    if name in OTHERS:
        return OTHERS[name]
    made = described.make(name, np.random.default_rng(seed), dtype="float32", given=GIVEN.get(name)).arguments
    if name == "sigmoid_focal_loss_backward":
        made["grad_output"] = np.ones_like(made["grad_output"])
    if name == "points_in_boxes_part":
        made.update(margin=1e-5, centred=True)
    if name == "nms2d":
        made["scores"] = np.abs(made["scores"])
    return lambda: described.call(name, made) or tuple(made[one.name] for one in in_place(name))


def in_place(name: str) -> list[Any]:
    return [tensor for tensor in families.OPERATORS[name].tensors if tensor.in_place]


def recorded(call: Callable[[], Any], folder: Path, *, outputs: bool = False) -> tuple[list[Path], list[str], Any]:
    """The cases and the warnings of a call, and what it returned."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with gencase.recording(folder, outputs=outputs) as directory:
            result = call()
    return sorted(directory.rglob("*.prototxt")), [str(one.message) for one in said], result


def listed_on_the_page() -> list[str]:
    """The functions that docs/cases.md says to have no operator of the vendor's."""
    text = PAGE.read_text(encoding="utf-8").partition("The vendor has no operator for ")[2].partition(".\n")[0]
    return re.findall(r"`([\w*]+)`", text)


def without_operator() -> list[str]:
    return [
        name
        for name, known in families.OPERATORS.items()
        if known.function.startswith("mluopsExt") and known.function not in STAND_INS
    ]


@pytest.mark.parametrize("name", sorted(set(families.OPERATORS) - set(without_operator())))
def test_a_call_leaves_the_case_of_the_vendors_operator(name: str, tmp_path: Path) -> None:
    paths, said, _ = recorded(sample(name), tmp_path)
    assert said == []
    assert len(paths) == (2 if name == "deform_conv_backward" else 1)
    for path in paths:
        result = gencase.read(path).run("cpu")
        assert result.outcome is gencase.Outcome.PASSED, result


@pytest.mark.parametrize("name", sorted(without_operator()))
def test_a_function_without_an_operator_says_so(name: str, tmp_path: Path) -> None:
    assert any(fnmatch.fnmatch(name, pattern) for pattern in listed_on_the_page()), name
    paths, said, _ = recorded(sample(name), tmp_path)
    assert paths == []
    assert said == [f"{name}: no test case is written: the vendor's library has no such operator"]


def test_the_page_lists_no_function_that_leaves_a_case() -> None:
    patterns = listed_on_the_page()
    others = set(families.OPERATORS) - set(without_operator())
    assert len(patterns) > 10
    assert [name for name in sorted(others) if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)] == []
    assert [one for one in patterns if not fnmatch.filter(without_operator(), one)] == []


#: Outputs of the Python function that the vendor's operator does not have, or leaves alone in part.
NOT_COMPARED = {"var", "voxel_coors", "voxel_points_count", "result_num", "out"}


@pytest.mark.parametrize(
    "name", sorted(name for name, known in families.OPERATORS.items() if known.function in STAND_INS)
)
def test_the_operator_of_the_case_computes_what_the_function_does(name: str, tmp_path: Path) -> None:
    paths, _, result = recorded(sample(name, 5), tmp_path, outputs=True)
    tensors = [tensor for path in paths for tensor in gencase.read(path).outputs if tensor.has_values]
    written = [np.asarray(tensor.values()) for tensor in tensors]
    results = [np.asarray(one) for one in (result if isinstance(result, tuple) else (result,)) if one is not None]
    several = len(results) > 1
    assert results
    for field, one in enumerate(results):
        kept = getattr(result, "_fields", ("result",) * len(results))[field] if several else "result"
        if kept in NOT_COMPARED:
            continue
        numbers = np.sort(one.ravel().astype(np.float64))
        found = [np.sort(numbers_of(values)) for values in written if numbers_of(values).size == numbers.size]
        assert any(np.allclose(numbers, values, rtol=1e-6, atol=1e-6) for values in found), (name, kept)


def numbers_of(values: np.ndarray) -> np.ndarray:
    """All real numbers of an array."""
    return np.ascontiguousarray(values).view(np.float32 if values.dtype.kind == "c" else values.dtype).ravel()


# ---- The file is the one of the header's function ------------------------------------------------

RNG = np.random.default_rng(5)
MAPS = RNG.random((1, 5, 6, 4), np.float32)
ROIS = np.array([[0, 1, 1, 3, 4]], np.float32)
VALUES = RNG.random((2, 3, 4), np.float32)


def zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, np.float32)


def transform(values: np.ndarray) -> None:
    complex_values, output = values.view(np.complex64)[..., 0], np.zeros((2, 4), np.complex64)
    plan = functions.FFTPlan(complex_values, output, [4])
    functions.mluOpExecFFT(plan, complex_values, 0.5, output, 0)


SIGNAL = RNG.random((2, 4, 1, 2), np.float32)
MASK = RNG.random((1, 10, 12, 9), np.float32)
SAME: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "roi_align": (
        lambda: pymluops.roi_align_forward(MAPS, ROIS, (2, 3), 0.5, 2),
        lambda: functions.mluOpRoiAlignForward_v2(
            functions.RoiAlignForwardDescriptor(2, 3, 2, 0.5, 1, True), MAPS, ROIS, zeros(1, 2, 3, 4), None, None
        ),
    ),
    "roi_pool": (
        lambda: pymluops.roi_pool_forward(MAPS, ROIS, (2, 3), 0.5, rounded=True),
        lambda: functions.mluOpRoiPoolingForward(
            0, MAPS, ROIS, 0.5, zeros(1, 2, 3, 4), np.zeros((1, 2, 3, 4), np.int32)
        ),
    ),
    "carafe": (
        lambda: pymluops.carafe_forward(MAPS, MASK, 3, 1, 2),
        lambda: functions.mluOpCarafeForward(functions.CarafeDescriptor(3, 1, 2), MAPS, MASK, zeros(1, 10, 12, 4)),
    ),
    "sync_batch_norm_stats": (
        lambda: pymluops.sync_batch_norm_stats(VALUES, 1e-3),
        lambda: functions.mluOpSyncBatchNormStats_v2(
            np.ascontiguousarray(VALUES.transpose(0, 2, 1)), 1e-3, zeros(3), zeros(3)
        ),
    ),
    "fft": (lambda: pymluops.fft_forward(SIGNAL, 0.5), lambda: transform(SIGNAL[:, :, 0].copy())),
}


@pytest.mark.parametrize("name", SAME)
def test_the_file_is_that_of_the_function_of_the_header(name: str, tmp_path: Path) -> None:
    texts = []
    for number, call in enumerate(SAME[name]):
        (path,), said, _ = recorded(call, tmp_path / str(number))
        assert said == []
        texts.append(path.read_text())
    assert texts[0] == texts[1]


# ---- What cannot be written ----------------------------------------------------------------------

REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "rounded": (lambda: pymluops.roi_pool_forward(MAPS, ROIS, 2, 1.0, rounded=False), "rounded=True"),
    "even": (
        lambda: pymluops.carafe_forward(MAPS, zeros(1, 10, 12, 16), 4, 1, 2),
        "kernel_size: expected an odd number of at least 1, got 4",
    ),
    "weight": (lambda: pymluops.fft_real_forward(zeros(1, 4, 1), weight=0.5), "weight=1"),
    "gradient": (
        lambda: pymluops.sigmoid_focal_loss_backward(zeros(2, 3) + 2, zeros(2, 3), np.zeros(2, np.int32), 2.0, 0.25),
        "grad_output",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_call_that_the_operator_lacks_warns_once(name: str, tmp_path: Path) -> None:
    call, reason = REFUSED[name]
    paths, said, _ = recorded(lambda: (call(), call()), tmp_path)
    assert paths == []
    (text,) = said
    assert "no test case is written: " in text
    assert reason in text
    _, again, _ = recorded(call, tmp_path)
    assert again == said


def test_the_warning_is_about_the_line_of_the_caller(tmp_path: Path) -> None:
    with gencase.recording(tmp_path), pytest.warns(RuntimeWarning, match="knn") as said:
        pymluops.knn(zeros(1, 4, 3), zeros(1, 4, 3), 2)
    assert said[0].filename == __file__


def test_a_refused_or_empty_call_neither_writes_nor_warns(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gencase.recording(tmp_path):
            with pytest.raises(pymluops.BadParamError):
                pymluops.roi_align_forward(MAPS, ROIS[:, :4], 2, 1.0)
            with pytest.raises(pymluops.BadParamError):
                pymluops.knn(zeros(1, 4, 3), zeros(1, 4, 2), 2)
            pymluops.nms2d(zeros(0, 4), zeros(0), 0.5)
    assert list(tmp_path.rglob("*.prototxt")) == []


def test_arguments_are_not_changed(tmp_path: Path) -> None:
    param, grad = RNG.random(5, np.float32), RNG.random(5, np.float32)
    once, twice, moments = param.copy(), param.copy(), [zeros(5) for _ in range(4)]
    pymluops.adam_w(once, moments[0], moments[1], grad, 1, 0.1)
    _, said, _ = recorded(lambda: pymluops.adam_w(twice, moments[2], moments[3], grad, 1, 0.1), tmp_path)
    assert said == []
    assert np.array_equal(once, twice)
    assert np.array_equal(moments[:2], moments[2:])
    (path,) = tmp_path.rglob("*.prototxt")
    given = gencase.read(path).inputs[0].values()
    assert given is not None
    assert np.array_equal(given, param)


def test_other_recordings_and_calls_see_nothing_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr("pymluops._case_writer.set_case_writer", lambda writer: seen.append(writer))
    with gencase.recording(tmp_path):
        assert len(seen) == 1
    assert seen[1:] == [None]
    monkeypatch.undo()
    _core.set_case_writer(None)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pymluops.knn(zeros(1, 4, 3), zeros(1, 4, 3), 2)


def test_calls_of_another_library_are_not_written(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gencase.recording(tmp_path, "sim"):
            pymluops.roi_align_forward(MAPS, ROIS, 2, 1.0)
            pymluops.knn(zeros(1, 4, 3), zeros(1, 4, 3), 2)
    assert list(tmp_path.rglob("*.prototxt")) == []


def test_threads_write_cases_of_their_own(tmp_path: Path) -> None:
    def work() -> None:
        for _ in range(5):
            pymluops.roi_align_forward(MAPS, ROIS, 2, 1.0)

    with gencase.recording(tmp_path):
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(list(tmp_path.rglob("*.prototxt"))) == 20


# ---- The switches of the library -----------------------------------------------------------------

CALL = """
import numpy, pymluops
maps, rois = numpy.ones((1, 5, 5, 4), numpy.float32), numpy.array([[0, 1, 1, 3, 3]], numpy.float32)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.parent.name for path in folder.rglob("*.prototxt"))


def test_the_environment_variable_writes_them_too(tmp_path: Path) -> None:
    code = (
        CALL + "pymluops.roi_align_forward(maps, rois, 2, 1.0)\npymluops.knn(maps[0, :, :, :3], maps[0, :, :, :3], 1)"
    )
    code = code.replace("maps[0, :, :, :3]", "maps[0, :, :, :3].copy()")
    done = run_python(code, MLUOP_GEN_CASE="1", MLUOP_GEN_CASE_DIR=str(tmp_path))
    assert names(tmp_path) == ["roialign_forward"]
    assert "knn: no test case is written" in done.stderr


def test_named_operators_alone_are_written_and_nothing_else_is_said(tmp_path: Path) -> None:
    code = CALL + "pymluops.roi_align_forward(maps, rois, 2, 1.0)\npymluops.roi_pool_forward(maps, rois, 2, 1.0)"
    settings = {"MLUOP_GEN_CASE": "2", "MLUOP_GEN_CASE_DIR": str(tmp_path)}
    done = run_python(code, **settings, MLUOP_GEN_CASE_OP_NAME="roi_pooling_forward")
    assert names(tmp_path) == ["roi_pooling_forward"]
    assert done.stderr == ""


def test_the_mode_of_a_program_counts(tmp_path: Path) -> None:
    code = (
        CALL
        + f"""
pymluops.functions.mluOpSetGenCaseDirectory({str(tmp_path)!r})
for mode in (0, 2, 0):
    pymluops.functions.mluOpSetGenCaseMode(mode)
    pymluops.roi_align_forward(maps, rois, 2, 1.0)
"""
    )
    run_python(code)
    assert names(tmp_path) == ["roialign_forward"]
