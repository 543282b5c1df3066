"""Whole operators of the stand-in for the tensor library against those of Python, and what is left when it cannot
compute."""

from __future__ import annotations

import ctypes
import shutil
from collections.abc import Callable, Iterator
from ctypes import byref, c_bool, c_float, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pymluops
from pymluops import sim
from pymluops.sim.toolchain import Simulator
from sim.numbers_of import numbers_of
from sim.tensor_library import CNNL, DTYPES, Library, Tensor
from support.processes import python_output

OPERATORS = numbers_of("cnnl_operators.h")
RNG = np.random.default_rng(11)
Make = Callable[..., Tensor]
NOTHING = (c_void_p(), c_size_t(0))


@pytest.fixture(scope="module")
def library() -> Iterator[Library]:
    with sim.checking("all"):
        made = Library()
        yield made
        made.close()


@pytest.fixture
def tensor(library: Library) -> Iterator[Make]:
    """Makes tensors of the layout NHWC or NLC, or ARRAY if there are other numbers of dims."""
    made: list[Tensor] = []

    def make(array: Any, layout: str = "") -> Tensor:
        array = np.ascontiguousarray(array)
        each = Tensor(library, array)
        made.append(each)
        number = getattr(CNNL, f"CNNL_LAYOUT_{layout or {4: 'NHWC', 3: 'NLC'}.get(array.ndim, 'ARRAY')}")
        dims = (ctypes.c_int * array.ndim)(*array.shape)
        kind = DTYPES[array.dtype]
        assert library.c.cnnlSetTensorDescriptor(each.desc, number, kind, array.ndim, dims) == 0, library.reason()
        return each

    yield make
    for each in made:
        each.close()


def normal(*shape: int) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(np.float32)


def nhwc(array: NDArray[Any]) -> NDArray[Any]:
    return np.moveaxis(array, 1, -1)


def empty(*shape: int, dtype: Any = np.float32) -> NDArray[Any]:
    return np.zeros(shape, dtype)


def ints(*values: int) -> Any:
    return (c_int * len(values))(*values)


# ---- Deformable convolution ----------------------------------------------------------------------


@pytest.fixture
def convolution() -> dict[str, NDArray[Any]]:
    """Operands: pictures of 7 x 6, kernels of 3 x 2, two deformable groups."""
    return {
        "filter": normal(4, 3, 2, 6),
        "input": normal(2, 7, 6, 6),
        "offset": normal(2, 7, 7, 2 * 2 * 6),
        "mask": RNG.random((2, 7, 7, 2 * 6)).astype(np.float32),
    }


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("biased", [True, False])
def test_deformable_convolution(
    library: Library, tensor: Make, convolution: dict[str, NDArray[Any]], masked: bool, biased: bool
) -> None:
    mask = convolution["mask"] if masked else np.ones_like(convolution["mask"])
    wanted = pymluops.deform_conv_forward(
        convolution["filter"], convolution["input"], convolution["offset"], mask, 1, 1, 1, 1, 2
    )
    x, offset, weight = (tensor(convolution[name]) for name in ("input", "offset", "filter"))
    factors = tensor(mask).pair if masked else (None, None)
    bias = normal(4)
    output = tensor(np.zeros_like(wanted))
    with library.made("DCNDescriptor") as desc:
        status = library.c.cnnlSetDCNDescriptor(
            desc, 4, ints(1, 1, 1, 1), ints(1, 1), ints(1, 1), 2, 1, 2, CNNL.CNNL_DTYPE_FLOAT
        )
        assert status == 0, library.reason()
        addend = tensor(bias).pair if biased else (None, None)
        descs = [pair[0] for pair in (x.pair, offset.pair, factors, weight.pair, addend, output.pair)]
        assert library.workspace("cnnlGetDCNForwardWorkspaceSize", desc, *descs) == 0
        library.call(
            "cnnlDCNForward", desc, *x.pair, *offset.pair, *factors, *weight.pair, *addend, *NOTHING, *output.pair
        )
    np.testing.assert_allclose(output.get(), wanted + (bias if biased else 0), rtol=1e-4, atol=1e-5)


def test_gradients_of_deformable_convolution(
    library: Library, tensor: Make, convolution: dict[str, NDArray[Any]]
) -> None:
    grad = normal(2, 7, 7, 4)
    wanted = pymluops.deform_conv_backward(
        convolution["filter"], convolution["input"], convolution["offset"], convolution["mask"], grad, 1, 1, 1, 1, 2
    )
    x, offset, mask, weight = (tensor(convolution[name]) for name in ("input", "offset", "mask", "filter"))
    dy = tensor(grad)
    dx, doffset, dmask, dweight = (tensor(empty(*each.shape)) for each in (x, offset, mask, weight))
    dbias = tensor(empty(4))
    with library.made("DCNDescriptor") as desc:
        library.c.cnnlSetDCNDescriptor(
            desc, 4, ints(1, 1, 1, 1), ints(1, 1), ints(1, 1), 2, 1, 2, CNNL.CNNL_DTYPE_FLOAT
        )
        inputs = (*x.pair, *offset.pair, *mask.pair)
        library.call("cnnlDCNBackwardWeight", desc, *inputs, *dy.pair, *NOTHING, *dweight.pair, *dbias.pair)
        outputs = (*dx.pair, *doffset.pair, *dmask.pair)
        library.call("cnnlDCNBackwardData", desc, *inputs, *weight.pair, *dy.pair, *NOTHING, *outputs)
    np.testing.assert_allclose(dbias.get(), grad.sum((0, 1, 2)), rtol=1e-4, atol=1e-4)
    for got, name in ((dx, "input"), (doffset, "offset"), (dmask, "mask"), (dweight, "filter")):
        expected = getattr(wanted, f"grad_{name}")
        np.testing.assert_allclose(got.get(), expected, rtol=1e-3, atol=1e-4, err_msg=name)


# ---- Regions -------------------------------------------------------------------------------------

ROIS = np.array([[0, 1, 1, 9, 7], [1, 0, 2, 11, 11], [1, 3, 3, 5, 9]], np.float32)


def test_aligned_averages(library: Library, tensor: Make) -> None:
    feature = normal(2, 6, 6, 3)
    wanted = pymluops.roi_align_forward(feature, ROIS, (2, 3), 0.5, 2, True)
    x, boxes, output = tensor(feature), tensor(ROIS), tensor(empty(3, 2, 3, 3))
    with library.made("RoiAlignDescriptor") as desc:
        status = library.c.cnnlSetRoiAlignDescriptor_v2(desc, 2, 3, 2, c_float(0.5), 1, c_bool(True))
        assert status == 0, library.reason()
        library.call("cnnlRoiAlign_v2", desc, *x.pair, *boxes.pair, *output.pair, None, None, None, None)
    np.testing.assert_allclose(output.get(), wanted, rtol=1e-5, atol=1e-6)

    grad = normal(3, 2, 3, 3)
    expected = pymluops.roi_align_backward(grad, ROIS, 0.5, 2, True, 2, (6, 6))
    dy = tensor(grad)
    for name in ("cnnlRoiAlignBackward", "cnnlRoiAlignBackward_v2"):
        dx = tensor(empty(2, 6, 6, 3))
        if name.endswith("v2"):
            places = (None, None, None, None)
            library.call(name, *dy.pair, *boxes.pair, *places, c_float(0.5), c_int(2), c_bool(True), c_int(1), *dx.pair)
        else:
            library.call(name, c_float(0.5), c_int(2), c_bool(True), *dy.pair, *boxes.pair, *dx.pair)
        np.testing.assert_allclose(dx.get(), expected, rtol=1e-5, atol=1e-6)


def test_aligned_maxima(library: Library, tensor: Make) -> None:
    feature, grad = normal(2, 6, 6, 3), normal(3, 2, 2, 3)
    wanted = pymluops.roi_align_max_forward(feature, ROIS, 2, 0.5, 2, True)
    x, boxes = tensor(feature), tensor(ROIS)
    output, at_x, at_y = (tensor(empty(3, 2, 2, 3)) for _ in range(3))
    with library.made("RoiAlignDescriptor") as desc:
        library.c.cnnlSetRoiAlignDescriptor_v2(desc, 2, 2, 2, c_float(0.5), 0, c_bool(True))
        library.call("cnnlRoiAlign_v2", desc, *x.pair, *boxes.pair, *output.pair, *at_x.pair, *at_y.pair)
    for got, expected in zip((output, at_y, at_x), wanted, strict=True):
        np.testing.assert_allclose(got.get(), expected, rtol=1e-5, atol=1e-6)
    dy, dx = tensor(grad), tensor(empty(2, 6, 6, 3))
    last = (c_float(0.5), c_int(2), c_bool(True), c_int(0), *dx.pair)
    library.call("cnnlRoiAlignBackward_v2", *dy.pair, *boxes.pair, *at_x.pair, *at_y.pair, *last)
    gradient = pymluops.roi_align_max_backward(grad, ROIS, *wanted[1:], 0.5, 2, True, 2, (6, 6))
    np.testing.assert_allclose(dx.get(), gradient, rtol=1e-5, atol=1e-6)


def test_largest_pixels(library: Library, tensor: Make) -> None:
    feature, grad = normal(2, 6, 6, 3), normal(3, 2, 2, 3)
    wanted = pymluops.roi_pool_forward(feature, ROIS, 2, 0.5)
    x, boxes, output = tensor(feature), tensor(ROIS), tensor(empty(3, 2, 2, 3))
    places = tensor(empty(3, 2, 2, 3, dtype=np.int32))
    library.call("cnnlRoiPoolingForward", 0, *x.pair, *boxes.pair, c_float(0.5), *output.pair, places.data)
    np.testing.assert_array_equal(output.get(), wanted[0])
    np.testing.assert_array_equal(places.get(), wanted[1])
    dy, dx = tensor(grad), tensor(empty(2, 6, 6, 3))
    library.call("cnnlRoiPoolingBackward", 0, *dy.pair, *boxes.pair, *places.pair, c_float(0.5), *dx.pair)
    np.testing.assert_allclose(dx.get(), pymluops.roi_pool_backward(grad, ROIS, wanted[1], 2, (6, 6)), rtol=1e-6)


# ---- Suppression ---------------------------------------------------------------------------------


@pytest.mark.parametrize("by_attributes", [True, False])
def test_suppression(library: Library, tensor: Make, by_attributes: bool) -> None:
    corners = RNG.integers(0, 20, (40, 2)).astype(np.float32)
    boxes = np.concatenate([corners, corners + RNG.integers(4, 12, (40, 2))], 1).astype(np.float32)
    scores = RNG.permutation(40).astype(np.float32) / 40
    wanted = pymluops.nms(boxes, scores, 0.4, 12, 0.1)
    x, y = tensor(boxes), tensor(scores)
    output, count = tensor(np.full(12, -7, np.int32)), tensor(empty(1, dtype=np.int32))
    with library.made("NmsDescriptor") as desc:
        if by_attributes:
            for name, value in (
                ("IOU_THRESHOLD", c_float(0.4)), ("INPUT_LAYOUT", c_int(0)), ("MAX_OUTPUT_SIZE", c_int(12)),
                ("CONFIDENCE_THRESHOLD", c_float(0.1)), ("OUTPUT_MODE", c_int(0)), ("OFFSET", c_float(0)),
                ("BOX_MODE", c_int(0)), ("PAD_TO_MAX_OUTPUT_SIZE", c_bool(False)),
            ):  # fmt: skip
                number = getattr(OPERATORS, f"CNNL_NMS_DESC_{name}")
                size = c_size_t(ctypes.sizeof(value))
                assert library.c.cnnlSetNmsDescAttr(desc, number, byref(value), size) == 0, library.reason()
            assert library.c.cnnlSetNmsDescAttr(desc, 0, byref(c_int(1)), c_size_t(8)) == CNNL.CNNL_STATUS_BAD_PARAM
            assert library.reason() == "cnnlSetNmsDescAttr: bytes: expected 4, got 8"
        else:
            floats = (c_float(0.4), c_float(0), c_int(12), c_float(0.1), c_float(0))
            status = library.c.cnnlSetNmsDescriptor_v5(desc, 0, 0, 0, 0, *floats, c_int(0), c_bool(False))
            assert status == 0, library.reason()
        assert library.workspace("cnnlGetNmsWorkspaceSize_v4", desc, x.desc, y.desc) == 0
        assert library.workspace("cnnlGetNmsWorkspaceSize_v3", x.desc, y.desc) == 0
        library.call("cnnlNms_v2", desc, *x.pair, *y.pair, *NOTHING, *output.pair, count.data)
    picked = int(count.get()[0])
    assert picked == len(wanted)
    assert output.get()[:picked].tolist() == np.asarray(wanted).tolist()
    assert set(output.get()[picked:]) <= {-7}


# ---- Batch normalisation -------------------------------------------------------------------------


def test_statistics_and_values(library: Library, tensor: Make) -> None:
    x, scale, shift = normal(2, 3, 20), normal(3), normal(3)
    wanted = pymluops.sync_batch_norm_stats(x, 1e-3)
    given, mean, invstd = tensor(nhwc(x)), tensor(empty(3)), tensor(empty(3))
    library.call("cnnlSyncBatchNormStats_v2", *given.pair, *NOTHING, c_float(1e-3), *mean.pair, *invstd.pair)
    np.testing.assert_allclose(mean.get(), wanted.mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(invstd.get(), wanted.invstd, rtol=1e-4)
    library.call("cnnlSyncBatchNormStats", *given.pair, c_float(1e-3), *mean.pair, *invstd.pair)
    np.testing.assert_allclose(invstd.get(), wanted.invstd, rtol=1e-4)
    y = tensor(np.zeros_like(nhwc(x)))
    library.call(
        "cnnlSyncBatchNormElemt",
        *given.pair, *mean.pair, *invstd.pair, *tensor(scale).pair, *tensor(shift).pair, *y.pair,
    )  # fmt: skip
    expected = pymluops.sync_batch_norm_elemt(x, wanted.mean, wanted.invstd, scale, shift)
    np.testing.assert_allclose(y.get(), nhwc(expected), rtol=1e-3, atol=1e-5)


def test_statistics_of_several_devices(library: Library, tensor: Make) -> None:
    means, inverses, counts = normal(3, 4), RNG.random((3, 4)).astype(np.float32) + 0.5, np.array([5, 7, 2], np.float32)
    wanted = pymluops.sync_batch_norm_gather_stats_with_counts(means, inverses, counts, 1e-3)
    running, variance = tensor(np.ones(4, np.float32)), tensor(np.ones(4, np.float32))
    mean, invstd = tensor(empty(4)), tensor(empty(4))
    library.call(
        "cnnlSyncBatchNormGatherStatsWithCounts",
        *tensor(means, "NC").pair, *tensor(inverses, "NC").pair, *running.pair, *variance.pair, c_float(0.25),
        c_float(1e-3), *tensor(counts).pair, *mean.pair, *invstd.pair,
    )  # fmt: skip
    np.testing.assert_allclose(mean.get(), wanted.mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(invstd.get(), wanted.invstd, rtol=1e-4)
    np.testing.assert_allclose(running.get(), 0.25 * wanted.mean + 0.75, rtol=1e-4)
    assert np.all(variance.get() != 1)


def test_gradients_of_batch_normalisation(library: Library, tensor: Make) -> None:
    x, dy, scale = normal(2, 3, 20), normal(2, 3, 20), normal(3)
    stats = pymluops.sync_batch_norm_stats(x)
    sums = pymluops.sync_batch_norm_backward_reduce(dy, x, stats.mean, stats.invstd)
    inputs = [tensor(each) for each in (nhwc(dy), nhwc(x), stats.mean, stats.invstd)]
    pairs = [item for each in inputs for item in each.pair]
    needs = (c_bool(True), c_bool(True), c_bool(True))
    for name in ("cnnlSyncBatchnormBackwardReduce_v2", "cnnlSyncBatchNormBackwardReduce"):
        outputs = [tensor(empty(3)) for _ in range(4)]
        workspace = NOTHING if name.endswith("v2") else ()
        library.call(name, *pairs, *workspace, *(item for each in outputs for item in each.pair), *needs)
        for each, field in zip(outputs, ("dfilter", "dbias", "sum_dy", "sum_dy_xmu"), strict=True):
            np.testing.assert_allclose(each.get(), getattr(sums, field), rtol=1e-3, atol=1e-4, err_msg=field)
    dx = tensor(np.zeros_like(nhwc(x)))
    count = np.array([40], np.int32)
    library.call(
        "cnnlSyncBatchNormBackwardElemtV2",
        *pairs, *tensor(scale).pair, *tensor(sums.sum_dy).pair, *tensor(sums.sum_dy_xmu).pair, *tensor(count).pair,
        *dx.pair,
    )  # fmt: skip
    expected = pymluops.sync_batch_norm_backward_elemt_v2(
        dy, x, stats.mean, stats.invstd, scale, sums.sum_dy, sums.sum_dy_xmu, count
    )
    np.testing.assert_allclose(dx.get(), nhwc(expected), rtol=1e-3, atol=1e-4)
    means = [tensor(each / np.float32(40)) for each in (sums.sum_dy, sums.sum_dy_xmu)]
    dx = tensor(np.zeros_like(nhwc(x)))
    library.call(
        "cnnlSyncBatchNormBackwardElemt",
        *pairs, *tensor(scale).pair, *(item for each in means for item in each.pair), *dx.pair,
    )  # fmt: skip
    np.testing.assert_allclose(dx.get(), nhwc(expected), rtol=1e-3, atol=1e-4)


# ---- Matrices and slices -------------------------------------------------------------------------


@pytest.mark.parametrize(("left", "right"), [((3, 2, 4), (3, 4, 5)), ((1, 2, 4), (3, 4, 5)), ((2, 3, 2, 4), (4, 5))])
def test_many_products(library: Library, tensor: Make, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    a, b = normal(*left), normal(*right)
    wanted = a.astype(np.float64) @ b
    product = tensor(np.ones(wanted.shape, np.float32), "ARRAY")
    with library.made("MatMulDescriptor") as desc, library.made("MatMulAlgo") as algo:
        for number in (CNNL.CNNL_MATMUL_DESC_TRANSB, CNNL.CNNL_MATMUL_USE_BETA):
            assert library.c.cnnlSetMatMulDescAttr(desc, number, byref(c_int(1)), c_size_t(4)) == 0
        turned = tensor(b.swapaxes(-1, -2), "ARRAY")
        library.call(
            "cnnlBatchMatMulEx", desc, algo, byref(c_float(2)), *tensor(a, "ARRAY").pair, *turned.pair,
            byref(c_float(3)), *product.pair, *NOTHING,
        )  # fmt: skip
    np.testing.assert_allclose(product.get(), 2 * wanted + 3, rtol=1e-5, atol=1e-5)


def test_a_product_of_other_batches_is_refused(library: Library, tensor: Make) -> None:
    with library.made("MatMulDescriptor") as desc:
        status = library.c.cnnlBatchMatMulEx(
            library.handle, desc, None, None, *tensor(normal(2, 2, 2)).pair, *tensor(normal(3, 2, 2)).pair, None,
            *tensor(normal(3, 2, 2)).pair, *NOTHING,
        )  # fmt: skip
    assert status == CNNL.CNNL_STATUS_BAD_PARAM
    assert library.reason() == "cnnlBatchMatMulEx: a: expected dims (3, 2, 2), got (2, 2, 2)"


@pytest.mark.parametrize("name", ["cnnlStridedSlice", "cnnlStridedSlice_v2"])
@pytest.mark.parametrize(
    "slices",
    [
        (slice(0, 5, 2), slice(1, 4, 1)),
        (slice(4, 0, -2), slice(-3, -1, 1)),
        (slice(-2, -5, -1), slice(0, 99, 3)),
        (slice(3, 3, 1), slice(0, 4, 1)),
    ],
)
def test_slices(library: Library, tensor: Make, name: str, slices: tuple[slice, slice]) -> None:
    array = normal(5, 4)
    output = tensor(np.zeros_like(array[slices]))
    kind = ctypes.c_int64 if name.endswith("v2") else c_int
    numbers = [(kind * 2)(*(getattr(each, part) for each in slices)) for part in ("start", "stop", "step")]
    library.call(name, *tensor(array).pair, *numbers, *output.pair)
    np.testing.assert_array_equal(output.get(), array[slices])


# ---- Refusals ------------------------------------------------------------------------------------


def test_the_status_is_that_of_the_operator(library: Library, tensor: Make) -> None:
    x, boxes, output = tensor(normal(2, 6, 6, 3)), tensor(ROIS), tensor(empty(3, 2, 2, 3))
    with library.made("RoiAlignDescriptor") as desc:  # never set
        places = (None, None, None, None)
        status = library.c.cnnlRoiAlign_v2(library.handle, desc, *x.pair, *boxes.pair, *output.pair, *places)
    assert status == CNNL.CNNL_STATUS_BAD_PARAM
    assert "cnnlRoiAlign_v2: mluOpRoiAlignForward_v2 of the CPU library refuses these arguments" in library.reason()
    status = library.c.cnnlRoiPoolingForward(library.handle, 0, *x.pair, *boxes.pair, c_float(1), *output.pair, None)
    assert status == CNNL.CNNL_STATUS_BAD_PARAM
    assert library.reason() == "cnnlRoiPoolingForward: argmax: expected a pointer, got NULL"


def test_undefined_operands_are_found(library: Library, tensor: Make) -> None:
    feature = tensor(normal(1, 4, 4, 2))
    never_written = pymluops.DeviceArray((1, 5), np.float32, "sim")
    boxes, output = tensor(ROIS[:1]), tensor(empty(1, 2, 2, 2))
    places = tensor(empty(1, 2, 2, 2, dtype=np.int32))
    undefined = c_void_p(never_written.address)
    status = library.c.cnnlRoiPoolingForward(
        library.handle, 0, *feature.pair, boxes.desc, undefined, c_float(1), *output.pair, places.data
    )
    assert status == CNNL.CNNL_STATUS_EXECUTION_FAILED
    assert "cnnlRoiPoolingForward" in library.reason()


WITHOUT = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.cnnlStandInGetLastReason.restype = ctypes.c_char_p
desc = ctypes.c_void_p()
print(library.cnnlCreateDCNDescriptor(ctypes.byref(desc)), library.cnnlStandInGetLastReason().decode())
"""


def test_without_the_library_of_operators(tmp_path: Path) -> None:
    folder = Simulator.installed().library.parent
    for name in ("libmlusim_cnnl.so", "libmlusim.so"):
        shutil.copy(folder / name, tmp_path)
    told = python_output(WITHOUT, str(tmp_path / "libmlusim_cnnl.so"))
    assert told.startswith("7 cnnlCreateDCNDescriptor: expected libmluops_cpu.so")
