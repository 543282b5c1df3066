"""Functions of a library that is not ours, in host memory and on a device: staging, workspaces, settings, results."""

from __future__ import annotations

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pymluops
from functions.changing import Exporter
from pymluops import Backend, DeviceArray, enums
from pymluops import functions as f

FLOAT = np.float32
NMS = {
    "box_mode": 0, "output_mode": enums.NmsOutputMode.TARGET_INDICES, "algo": 0, "method_mode": 0,
    "iou_threshold": 0.5, "soft_nms_sigma": 0, "max_output_size": 3, "confidence_threshold": 0.1, "offset": 0,
    "input_layout": 0, "pad_to_max_output_size": True,
}  # fmt: skip


@pytest.fixture(autouse=True)
def default(other: Backend) -> Iterator[None]:
    with pymluops.use(other):
        yield


@pytest.fixture
def live(other: Backend) -> Callable[[], int]:
    """Number of settings objects and plans of the library."""

    def count() -> int:
        gc.collect()
        return int(ctypes.CDLL(other.path).other_live())

    return count


def values(*shape: int) -> np.ndarray:
    return (np.arange(np.prod(shape)).reshape(shape) - 3).astype(FLOAT)


def test_it_is_a_library_of_its_own(other: Backend) -> None:
    assert "other" in other.path
    assert other.kind in ("cpu", "sim")


def test_elements(other: Backend) -> None:
    x, y = values(3, 4), np.empty((3, 4), FLOAT)
    assert f.mluOpAbs(x, y) is None
    np.testing.assert_array_equal(y, np.abs(x))
    f.mluOpAbs(y=x, x=x)  # in place
    np.testing.assert_array_equal(x, y)


def test_a_refusal_of_the_library_is_an_error_that_names_it(other: Backend) -> None:
    y = np.full(3, 7, FLOAT)
    with pytest.raises(pymluops.BadParamError, match="mluOpAbs: MLUOP_STATUS_BAD_PARAM") as caught:
        f.mluOpAbs(values(4), y)
    assert caught.value.function == "mluOpAbs"
    assert (y == 7).all()


def test_device_arrays_go_straight_in(on_device: Backend) -> None:
    with pymluops.use(on_device), pymluops.Queue() as queue, pymluops.Handle(queue=queue) as handle:
        x, y = DeviceArray.from_host(values(5)), DeviceArray.from_host(np.zeros(5, FLOAT))
        f.mluOpAbs(x, y, handle=handle)
        np.testing.assert_array_equal(y.to_host(), np.abs(values(5)))
        with pymluops.Queue() as another, pymluops.Handle(queue=another) as elsewhere:
            first, z = DeviceArray.from_host(np.zeros(5, FLOAT)), DeviceArray((5,), FLOAT)
            f.mluOpAbs(x, first, handle=handle)
            f.mluOpAbs(first, z, handle=elsewhere)  # waits for the other queue
            np.testing.assert_array_equal(z.to_host(), np.abs(values(5)))
        host = np.zeros(5, FLOAT)
        f.mluOpAbs(x, host, handle=handle)
        np.testing.assert_array_equal(host, np.abs(values(5)))
        x.close()
        with pytest.raises(pymluops.NotInitializedError, match="x: is closed"):
            f.mluOpAbs(x, y, handle=handle)


def test_arrays_of_another_device_are_refused(on_device: Backend) -> None:
    foreign = DeviceArray((3,), FLOAT, "sim")
    with pymluops.use(on_device), pytest.raises(pymluops.BadParamError, match="x: expected an array in host memory"):
        f.mluOpAbs(foreign, values(3))


def test_what_is_not_found_keeps_its_content(other: Backend) -> None:
    points = np.array([[[0, 0, 0], [1, 0, 0], [3, 0, 0]]], FLOAT)
    idx = np.full((1, 3, 2), 9, np.int32)
    f.mluOpBallQuery(points, points, 0.0, 1.5, 2, idx)
    np.testing.assert_array_equal(idx, [[[0, 1], [0, 1], [2, 9]]])


@pytest.mark.parametrize("given", [False, True])
def test_workspace(other: Backend, given: bool) -> None:
    unknown, known = values(2, 4, 3), values(2, 5, 3) * 2
    dist2, idx = np.empty((2, 4, 3), FLOAT), np.empty((2, 4, 3), np.int32)
    workspace = np.zeros(known.nbytes, np.uint8) if given else None
    f.mluOpThreeNNForward(unknown, known, dist2, idx, workspace=workspace)
    np.testing.assert_array_equal(idx, np.broadcast_to(np.arange(3), (2, 4, 3)))
    expected = ((unknown[:, :, None] - known[:, None, :3]) ** 2).sum(-1)
    np.testing.assert_allclose(dist2, expected, rtol=1e-6)
    if workspace is not None:
        np.testing.assert_array_equal(workspace.view(FLOAT), known.ravel())
    assert f.mluOpGetThreeNNForwardWorkspaceSize(known) == known.nbytes
    described = pymluops.TensorDescriptor((2, 5, 3), "float32")
    assert f.mluOpGetThreeNNForwardWorkspaceSize(described) == known.nbytes


def test_a_workspace_that_is_too_small(other: Backend) -> None:
    arrays = values(1, 4, 3), values(1, 4, 3), np.empty((1, 4, 3), FLOAT), np.empty((1, 4, 3), np.int32)
    with pytest.raises(pymluops.BadParamError):
        f.mluOpThreeNNForward(*arrays, workspace=np.zeros(8, np.uint8))


def test_settings_and_a_result_count(other: Backend, live: Callable[[], int]) -> None:
    before = live()
    boxes, output, number = values(6, 4), np.empty(6, np.int32), np.zeros(1, np.int32)
    with pymluops.NmsDescriptor(**NMS) as settings:
        assert live() == before + 1
        assert f.mluOpGetNmsWorkspaceSize(settings, boxes, values(6)) == 24
        f.mluOpNms(settings, boxes, values(6), output, number)
        assert (output.tolist(), number.tolist()) == ([0, 1, 2, 0, 0, 0], [3])
        f.mluOpNms(settings, boxes, None, output, number)
        assert (output.tolist(), number.tolist()) == ([0] * 6, [0])
        f.mluOpSetNmsDescriptor(settings, *{**NMS, "max_output_size": 1}.values())
        f.mluOpNms(settings, boxes, values(6), output, number)
        assert number.tolist() == [1]
    assert live() == before
    assert settings.closed
    for use in (lambda: f.mluOpNms(settings, boxes, None, output, number), settings.__enter__, lambda: settings.cdata):
        with pytest.raises(pymluops.NotInitializedError, match="closed"):
            use()
    settings.close()


def test_an_array_for_a_count_must_fit(other: Backend) -> None:
    settings = pymluops.NmsDescriptor(**NMS)
    for number, word in ((np.zeros(1, np.int64), "dtype int32"), (np.zeros(0, np.int32), "at least 1 elements")):
        with pytest.raises(pymluops.BadParamError, match=f"mluOpNms: output_size: expected {word}"):
            f.mluOpNms(settings, values(6, 4), None, np.empty(6, np.int32), number)
    f.mluOpNms(settings, values(6, 4), None, np.empty(6, np.int32), np.zeros(1, np.uint32))


def test_settings_that_are_refused_leave_nothing(other: Backend, live: Callable[[], int]) -> None:
    before = live()
    for wrong in ({"max_output_size": -1}, {"algo": 7}, {"iou_threshold": "much"}):
        with pytest.raises(pymluops.BadParamError, match="mluOpSetNmsDescriptor"):
            pymluops.NmsDescriptor(**{**NMS, **wrong})
    assert live() == before
    made = f.mluOpCreateNmsDescriptor()
    assert isinstance(made, pymluops.NmsDescriptor)
    assert live() == before + 1
    f.mluOpDestroyNmsDescriptor(made)
    with pytest.raises(pymluops.NotInitializedError):
        f.mluOpDestroyNmsDescriptor(made)
    kept = pymluops.NmsDescriptor(**NMS)
    del kept, made
    assert live() == before


def test_a_call_holds_its_settings_and_not_the_interpreter(other: Backend) -> None:
    settings, before = (
        pymluops.NmsDescriptor(**{**NMS, "iou_threshold": 0.75}),
        ctypes.CDLL(other.path).other_slow_calls(),
    )
    number = np.zeros(1, np.int32)
    worker = threading.Thread(target=f.mluOpNms, args=(settings, values(6, 4), None, np.empty(6, np.int32), number))
    worker.start()
    while ctypes.CDLL(other.path).other_slow_calls() == before:
        time.sleep(0.001)
    with pytest.raises(pymluops.BadParamError, match="cannot be closed while a call uses it"):
        settings.close()
    with pytest.raises(pymluops.BadParamError, match="NmsDescriptor: cannot be changed while another call uses it"):
        f.mluOpSetNmsDescriptor(settings, *NMS.values())
    worker.join()
    f.mluOpSetNmsDescriptor(settings, *NMS.values())
    settings.close()


def test_settings_that_an_argument_changes(other: Backend) -> None:
    settings, number = pymluops.NmsDescriptor(**NMS), np.zeros(1, np.int32)

    def change() -> None:
        with pytest.raises(pymluops.BadParamError, match="cannot be changed"):
            f.mluOpSetNmsDescriptor(settings, *{**NMS, "max_output_size": 4000}.values())

    f.mluOpNms(settings, values(6, 4), values(6), Exporter(np.empty(6, np.int32), change), number)
    assert number == NMS["max_output_size"]


def test_a_queue_that_is_closed_while_its_handle_is_waited_for(on_device: Backend) -> None:
    settings, before = (
        pymluops.NmsDescriptor(**{**NMS, "iou_threshold": 0.75}, backend=on_device),
        ctypes.CDLL(on_device.path).other_slow_calls(),
    )
    with pymluops.Handle(on_device) as handle:
        queue, caught = pymluops.Queue(on_device), []

        def work() -> None:
            f.mluOpNms(settings, values(6, 4), None, np.empty(6, np.int32), np.zeros(1, np.int32), handle=handle)

        def set_queue() -> None:
            with pytest.raises(pymluops.NotInitializedError, match="mluOpSetQueue: queue: is closed") as error:
                f.mluOpSetQueue(queue, handle=handle)
            caught.append(error)

        threads = [threading.Thread(target=work)]
        threads[0].start()
        while ctypes.CDLL(on_device.path).other_slow_calls() == before:
            time.sleep(0.001)
        threads.append(threading.Thread(target=set_queue))
        threads[1].start()
        time.sleep(0.05)
        queue.close()
        for thread in threads:
            thread.join()
        assert len(caught) == 1
        y = np.zeros(3, FLOAT)
        f.mluOpAbs(values(3), y, handle=handle)  # with the queue of before
        assert y.tolist() == [3, 2, 1]


def test_layout_and_optional_arrays(other: Backend) -> None:
    settings = pymluops.RoiAlignForwardDescriptor(
        pooled_height=2, pooled_width=3, sampling_ratio=4, spatial_scale=0.25, pool_mode=1, aligned=True
    )
    image, boxes, output = values(1, 4, 4, 2), values(1, 5), np.zeros((1, 2, 3, 2), FLOAT)
    f.mluOpRoiAlignForward_v2(settings, image, boxes, output, None, None)
    assert output.ravel()[:7].tolist() == [2, 3, 4, 1, 0.25, 1, 0]
    argmax = np.zeros_like(output), np.zeros_like(output)
    f.mluOpRoiAlignForward_v2(settings, image, boxes, output, *argmax)
    assert output.ravel()[6] == 1
    wrong = pymluops.TensorDescriptor((1, 4, 4, 2), "float32", pymluops.Layout.NCHW)
    with pytest.raises(pymluops.BadParamError):
        f.mluOpRoiAlignForward_v2(settings, (wrong, image), boxes, output, None, None)
    with pytest.raises(pymluops.BadParamError, match="boxes: expected an array"):
        f.mluOpRoiAlignForward_v2(settings, image, None, output, None, None)


def test_dcn_and_carafe_settings(other: Backend, live: Callable[[], int]) -> None:
    before = live()
    dcn = pymluops.DCNDescriptor([1, 2, 3, 4], [5, 6], [7, 8], 9, 1, 3)
    tensor = pymluops.TensorDescriptor((1, 2, 2, 2), "float32")
    assert f.mluOpGetDCNForwardWorkspaceSize(dcn, tensor, tensor, None, tensor, tensor, tensor) == 12345678913201
    assert f.mluOpGetDCNForwardWorkspaceSize(dcn, tensor, tensor, tensor, tensor, None, tensor) == 12345678913210
    for wrong in ([1, 2, 3], [1, 2, 3, 4, 5], None):
        with pytest.raises(pymluops.BadParamError, match="pad: expected a sequence of dimNb=4 numbers"):
            pymluops.DCNDescriptor(wrong, [5, 6], [7, 8], 9, 1, 3)
    carafe, output = pymluops.CarafeDescriptor(3, 1, 2), np.zeros((1, 2, 2, 1), FLOAT)
    f.mluOpCarafeForward(carafe, values(1, 1, 1, 1), values(1, 2, 2, 9), output)
    assert output.ravel().tolist() == [4, 3, 1, 2]
    dcn.close()
    carafe.close()
    assert live() == before


def test_attributes_and_arrays_in_place(other: Backend) -> None:
    settings = pymluops.AdamWDescriptor(weight_decay=0.5, grad_scale=2.0, use_nesterov=True)
    param, grad, rest = values(4), np.ones(4, FLOAT), np.zeros(4, FLOAT)
    f.mluOpAdamW(settings, param, rest, rest.copy(), rest.copy(), grad, 1.0, 0.9, 0.99, 0.1, 0.1, 1e-8)
    np.testing.assert_array_equal(param, values(4) - 1)
    f.mluOpSetAdamWDescAttr(settings, enums.AdamWDescAttribute.GRAD_SCALE, 1)
    with pytest.raises(pymluops.BadParamError, match="buf: expected a bool"):
        f.mluOpSetAdamWDescAttr(settings, enums.AdamWDescAttribute.USE_NESTEROV, 0.5)


def test_fft_plan_keeps_its_memory(other: Backend, live: Callable[[], int]) -> None:
    before = live()
    x, y = values(2, 8), np.zeros((2, 8), FLOAT)
    with pymluops.FFTPlan(x, y, [8]) as plan:
        assert (plan.reservespace_size, plan.workspace_size) == (16, 64)
        gc.collect()
        f.mluOpExecFFT(plan, x, 0.5, y, 0)
        np.testing.assert_array_equal(y, x * 1.5)
        f.mluOpExecFFT(plan, x, 2, y, 0, workspace=np.zeros(64, np.uint8))
        np.testing.assert_array_equal(y, x * 6)
        with pytest.raises(pymluops.BadParamError, match="output: expected at least 64 bytes"):
            f.mluOpExecFFT(plan, x, 0.5, np.zeros(3, FLOAT), 0)
        with pytest.raises(pymluops.BadParamError, match="reservespace: expected"):
            f.mluOpSetFFTReserveArea(plan, np.zeros(3, np.uint8))
    assert live() == before
    with pytest.raises(pymluops.BadParamError):
        pymluops.FFTPlan(values(2, 8), y, [2, 4])
    assert live() == before


def on_chip(*dims: int) -> f.NativeTensorDescriptor:
    """A descriptor of float32 that is computed with as such."""
    made = f.NativeTensorDescriptor()
    f.mluOpSetTensorDescriptor(made, 4, enums.DataType.FLOAT, len(dims), dims)
    f.mluOpSetTensorDescriptorOnchipDataType(made, enums.DataType.FLOAT)
    return made


def test_a_plan_keeps_what_was_planned_during_a_call(other: Backend) -> None:
    """A call was told how large its arrays must be, so no argument of it may plan anew or change the reserve area."""
    x, y, large = values(8), np.zeros(8, FLOAT), values(4000)
    plan, refused = pymluops.FFTPlan(x, y, [8]), []

    def refuse(change: Callable[..., Any], *arguments: Any) -> Callable[[], None]:
        def action() -> None:
            with pytest.raises(pymluops.BadParamError, match="FFTPlan: cannot be") as caught:
                change(*arguments)
            refused.append(str(caught.value))

        return action

    plan_anew = refuse(f.mluOpMakeFFTPlanMany, plan, large, large, 1, [4000])
    f.mluOpExecFFT(plan, Exporter(x, plan_anew), 1, y, 0)
    f.mluOpExecFFT(plan, x, 1, y, 0, workspace=Exporter(np.zeros(32, np.uint8), plan_anew))
    f.mluOpExecFFT(plan, Exporter(x, refuse(f.mluOpSetFFTReserveArea, plan)), 1, y, 0)
    f.mluOpExecFFT(plan, Exporter(x, refuse(plan.close)), 1, y, 0)
    f.mluOpExecFFT(plan, Exporter(x, lambda: f.mluOpExecFFT(plan, x, 1, np.zeros(8, FLOAT), 0)), 1, y, 0)
    np.testing.assert_array_equal(y, x * 3)
    f.mluOpMakeFFTPlanMany(plan, on_chip(8), Exporter(x, refuse(f.mluOpExecFFT, plan, x, 1, y, 0)), 1, [8])
    assert [message.partition(":")[0] for message in refused] == [
        "mluOpMakeFFTPlanMany", "mluOpMakeFFTPlanMany", "mluOpSetFFTReserveArea", "FFTPlan", "mluOpExecFFT",
    ]  # fmt: skip
    f.mluOpSetFFTReserveArea(plan)
    f.mluOpExecFFT(plan, x, 1, y, 0)
    plan.close()


def test_a_plan_needs_its_memory(other: Backend) -> None:
    x, y = values(8), np.zeros(8, FLOAT)
    plan = pymluops.FFTPlan(x, y, [8])
    with pytest.raises(pymluops.BadParamError, match="workspace: expected at least 32 bytes, as planned, got 31"):
        f.mluOpExecFFT(plan, x, 1, y, 0, workspace=np.zeros(31, np.uint8))
    f.mluOpMakeFFTPlanMany(plan, on_chip(8), y, 1, [8])
    with pytest.raises(pymluops.BadParamError, match="fft_plan: expected a plan whose reserve area was set"):
        f.mluOpExecFFT(plan, x, 1, y, 0)
    f.mluOpSetFFTReserveArea(plan)
    f.mluOpExecFFT(plan, x, 1, y, 0)
    np.testing.assert_array_equal(y, x * 3)


def test_a_plan_needs_its_memory_on_the_device(on_device: Backend) -> None:
    with pymluops.use(on_device):
        x, y = DeviceArray.from_host(values(8)), DeviceArray((8,), FLOAT)
        plan = pymluops.FFTPlan(x, y, [8])
        plan.reservespace.close()
        with pytest.raises(pymluops.NotInitializedError, match="reservespace: is closed"):
            f.mluOpExecFFT(plan, x, 1.0, y, 0)
        f.mluOpSetFFTReserveArea(plan)
        f.mluOpExecFFT(plan, x, 1.0, y, 0)
        np.testing.assert_array_equal(y.to_host(), values(8) * 3)


def test_fft_of_a_native_descriptor(other: Backend) -> None:
    native = f.mluOpCreateTensorDescriptor()
    f.mluOpSetTensorDescriptor(native, 4, enums.DataType.FLOAT, 1, [8])
    with pytest.raises(pymluops.BadParamError):  # the type used on the chip is the caller's here
        pymluops.FFTPlan(native, values(8), [8])
    f.mluOpSetTensorDescriptorOnchipDataType(native, enums.DataType.FLOAT)
    pymluops.FFTPlan(native, values(8), [8]).close()
    assert not native.closed
    for wrong in (None, 8, ["x"]):
        with pytest.raises(pymluops.BadParamError, match="n"):
            pymluops.FFTPlan(native, values(8), wrong)


def test_fft_on_a_device_queue(on_device: Backend) -> None:
    with pymluops.use(on_device), pymluops.Queue() as queue, pymluops.Handle(queue=queue) as handle:
        x, y = DeviceArray.from_host(values(8)), DeviceArray((8,), FLOAT)
        plan = pymluops.FFTPlan(x, y, [8], handle=handle)
        assert isinstance(plan.reservespace, DeviceArray)
        f.mluOpExecFFT(plan, x, 1.0, y, 0, handle=handle, workspace=DeviceArray((32,), np.uint8))
        np.testing.assert_array_equal(y.to_host(), values(8) * 3)


def test_numbers_reach_the_function(other: Backend) -> None:
    res = np.zeros(4, FLOAT)
    f.mluOpLogspace(np.float64(0.5), -2, np.int64(5), float("inf"), res)
    assert res.tolist() == [0.5, -2.0, 5.0, float("inf")]


def test_arrays_of_numbers_have_their_length(other: Backend) -> None:
    grad, filters, out = values(3, 2), values(1, 1, 2, 2, 2), np.zeros((3, 2), FLOAT)
    pairs = np.zeros((2, 2, 3), np.int32)
    f.mluOpIndiceConvolutionBackwardData(grad, filters, pairs, [5, 2**33], 0, 1, out)
    assert (out == FLOAT(5 + 2**33 + 1)).all()
    for wrong in ([5], [5, 6, 7], [5, 2**63], [5, 0.5], None, "56", 5):
        with pytest.raises(pymluops.BadParamError, match="indice_num"):
            f.mluOpIndiceConvolutionBackwardData(grad, filters, pairs, wrong, 0, 1, out)


def test_an_array_without_descriptor_is_as_large_as_another(other: Backend) -> None:
    output, argmax = np.zeros((1, 2, 2, 3), FLOAT), np.zeros((1, 2, 2, 3), np.int32)
    arguments = enums.PoolingMode.MAX, values(1, 4, 4, 3), values(1, 5), 1.0, output
    f.mluOpRoiPoolingForward(*arguments, argmax)
    assert (output == 2).all()
    assert (argmax == 5).all()
    with pytest.raises(pymluops.BadParamError, match="argmax: expected at least 12 elements"):
        f.mluOpRoiPoolingForward(*arguments, argmax[:, :1])


def test_paths(other: Backend) -> None:
    for path in ("/tmp/x y", "/" + "long" * 3000):
        f.mluOpSetGenCaseDirectory(path)
        assert f.mluOpGetGenCaseDirectory() == path
    for wrong in (b"a\0b", 5, None):
        with pytest.raises(pymluops.BadParamError, match="path: expected a path"):
            f.mluOpSetGenCaseDirectory(wrong)


def test_a_described_array_must_be_large_enough(other: Backend) -> None:
    x, y = values(4), np.zeros(6, FLOAT)
    with pytest.raises(pymluops.BadParamError, match="x: expected an array of at least 24 bytes"):
        f.mluOpAbs((pymluops.TensorDescriptor((6,), "float32"), x), y)
    with pytest.raises(pymluops.BadParamError, match="x: expected an array of at least 28 bytes"):
        f.mluOpAbs((pymluops.TensorDescriptor((4,), "float32", strides=(2,)), x), y)
    native = f.mluOpCreateTensorDescriptor()
    f.mluOpSetTensorDescriptor(native, enums.Layout.ARRAY, enums.DataType.FLOAT, 1, [6])
    with pytest.raises(pymluops.BadParamError, match="x: expected an array of at least 24 bytes"):
        f.mluOpAbs((native, x), y)
    with pytest.raises(pymluops.BadParamError, match="without negative strides"):
        f.mluOpAbs((pymluops.TensorDescriptor((4,), "float32", strides=(-1,)), x), y)
    f.mluOpAbs((pymluops.TensorDescriptor((4,), "float32"), x), y[:4])
    np.testing.assert_array_equal(y[:4], np.abs(x))


def test_types_that_numpy_has_not_are_described(other: Backend) -> None:
    size = f.mluOpGetThreeNNForwardWorkspaceSize(pymluops.TensorDescriptor((2, 3), "bfloat16"))
    assert size == 24


@pytest.mark.parametrize("threads", [4])
def test_threads(other: Backend, threads: int) -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            settings = pymluops.NmsDescriptor(**NMS)
            for i in range(40):
                x, y = values(50) * seed, np.empty(50, FLOAT)
                f.mluOpAbs(x, y)
                np.testing.assert_array_equal(y, np.abs(x))
                output, number = np.empty(6, np.int32), np.zeros(1, np.int32)
                f.mluOpNms(settings, values(6, 4), values(6) if i % 2 else None, output, number)
                assert number[0] == (3 if i % 2 else 0)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(1, threads + 1)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []


def test_objects_belong_to_one_library(other: Backend) -> None:
    settings: Any = pymluops.NmsDescriptor(**NMS)
    with pymluops.Handle("cpu") as handle, pytest.raises(pymluops.MluOpError):
        f.mluOpGetNmsWorkspaceSize(settings, values(6, 4), None, handle=handle)
    with pytest.raises(pymluops.BadParamError, match="adamw_desc: expected a AdamWDescriptor"):
        f.mluOpSetAdamWDescAttr(settings, 0, 1.0)
