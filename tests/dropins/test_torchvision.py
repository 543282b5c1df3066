"""``torch.ops.torchvision`` beside a torchvision whose compiled part does not load, each operator against its formula.

The package here has the parts of torchvision that ask for operators, in the order of its own.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import pymluops
from pymluops.oracle import aligned_regions as align_oracle
from pymluops.oracle import pooled_regions as pool_oracle
from pymluops.oracle import quadri_boxes
from support.processes import python_output

torch = pytest.importorskip("torch")

from .deformable import convolved, tensors  # noqa: E402

#: A package that takes operators for granted once its extension says that they are there.
_PACKAGE = {
    "__init__.py": "from . import extension\nfrom . import needs, ops\n",
    "extension.py": """
def _has_ops():
    return False
def _assert_has_ops():
    if not _has_ops():
        raise RuntimeError("no operators")
""",
    "needs.py": """
import torch
from torchvision import extension
@torch.library.register_fake("torchvision::nms")
def fake_nms(dets, scores, iou_threshold):
    return dets.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64)
if extension._has_ops():
    meta = torch.library.Library("torchvision", "IMPL", "Meta")
    def align(input, rois, scale, rows, columns, ratio, aligned):
        return input.new_empty(rois.shape[0], input.shape[1], rows, columns)
    meta.impl("roi_align", align)
""",
    "ops.py": """
import torch
from torchvision.extension import _assert_has_ops, _has_ops
def nms(boxes, scores, iou_threshold):
    _assert_has_ops()
    return torch.ops.torchvision.nms(boxes, scores, iou_threshold)
""",
}


def write(folder: Path, files: dict[str, str]) -> None:
    (folder / "torchvision").mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / "torchvision" / name).write_text(text)


@pytest.fixture(scope="module")
def torchvision(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("packages")
    write(folder, _PACKAGE)
    before = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "torchvision"}
    for name in before:
        del sys.modules[name]
    sys.path.insert(0, str(folder))
    assert pymluops.install("torchvision") == ("torchvision",)
    try:
        yield importlib.import_module("torchvision")
    finally:
        pymluops.uninstall("torchvision")
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[name]
        sys.modules.update(before)


@pytest.fixture
def ops(torchvision: ModuleType) -> Any:
    return torch.ops.torchvision


def output(folder: Path, code: str) -> list[str]:
    return python_output(f"import sys; sys.path.insert(0, {str(folder)!r})\nimport pymluops\n{code}").splitlines()


def test_a_failed_import_works_after_install_and_not_after_uninstall(tmp_path: Path) -> None:
    write(tmp_path, _PACKAGE)
    code = """
import torch
def told():
    try:
        import torchvision
        boxes = torch.tensor([[0.0, 0, 2, 2], [0, 0, 2, 1.9], [5, 5, 6, 6]])
        return torchvision.ops.nms(boxes, torch.tensor([0.1, 0.2, 0.3]), 0.5).tolist()
    except RuntimeError as error:
        return str(error)
print(told())
print(pymluops.install("torchvision"), told(), pymluops.install("torchvision"))
pymluops.uninstall("torchvision")
print(told())
pymluops.install()
print(told())
"""
    missing, *others = output(tmp_path, code)
    assert "torchvision::nms does not exist" in missing
    assert others == ["('torchvision',) [2, 1] ('torchvision',)", "no operators", "[2, 1]"]


@pytest.mark.thorough
def test_a_package_with_gradients_of_its_own_registers_them_also_after_a_failed_import(tmp_path: Path) -> None:
    """Parts of a package that an import left which failed are run again, since they had found no operators."""
    gradients = """
import torch
import torchvision.extension
if torchvision.extension._has_ops():
    def keep(ctx, inputs, output):
        ctx.save_for_backward(inputs[1])
        ctx.numbers, ctx.shape = inputs[2:], inputs[0].shape
    def backward(ctx, grad):
        first, last = ctx.numbers[:3], ctx.numbers[3:]
        found = torch.ops.torchvision._roi_align_backward(grad, *ctx.saved_tensors, *first, *ctx.shape, *last)
        return found * 3, None, None, None, None, None, None
    torch.library.register_autograd("torchvision::roi_align", backward, setup_context=keep)
"""
    files = {
        "__init__.py": "from . import extension\nfrom . import _autograd_registrations, needs, ops\n",
        "_autograd_registrations.py": gradients,
    }
    write(tmp_path, {**_PACKAGE, **files})
    code = """
import torch, warnings
warnings.simplefilter("error")  # no kernel is registered twice
try:
    import torchvision
except RuntimeError as error:
    print(type(error).__name__)
pymluops.install("torchvision")
import torchvision
maps = torch.ones(1, 1, 4, 4, requires_grad=True)
torch.ops.torchvision.roi_align(maps, torch.tensor([[0.0, 0, 0, 4, 4]]), 1.0, 1, 1, 2, True).sum().backward()
print(round(float(maps.grad.sum()), 4))
"""
    assert output(tmp_path, code) == ["RuntimeError", "3.0"]


def test_operators_that_load_stay_in_use(tmp_path: Path) -> None:
    loads = """
import torch
library = torch.library.Library("torchvision", "DEF")
library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
library.impl("nms", lambda dets, scores, iou_threshold: torch.full((1,), -7), "CPU")
def _has_ops():
    return True
def _assert_has_ops():
    pass
"""
    write(tmp_path, {**_PACKAGE, "extension.py": loads, "needs.py": ""})
    code = """
import torch
print(pymluops.install("torchvision"))
import torchvision
print(torchvision.ops.nms(torch.zeros(1, 4), torch.zeros(1), 0.5).tolist(), hasattr(torch.ops.torchvision, "roi_pool"))
print(pymluops.install("torchvision"), pymluops.install("torchvision", force=True))
"""
    assert output(tmp_path, code) == ["('torchvision',)", "[-7] False", "() ()"]


def random_rois(count: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    corner, size = rng.uniform(-3, 14, (count, 2)), rng.uniform(-2, 12, (count, 2))
    return np.concatenate([rng.integers(0, 2, (count, 1)), corner, corner + size], 1)


MAPS = np.random.default_rng(0).normal(size=(2, 12, 7, 9))
ROIS = np.concatenate([random_rois(12, 1), [[1, 0, 0, 17, 13], [0, 3, 3, 3, 3], [0, 30, 30, 40, 40]]])


def last(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(np.moveaxis(array, 1, -1))


def first(array: np.ndarray) -> np.ndarray:
    return np.moveaxis(array, -1, 1)


def check_gradient(call: Any, *tensors: Any) -> None:
    leaves = [tensor.clone().requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(call, leaves, nondet_tol=0.0, fast_mode=True)


@pytest.mark.parametrize("ratio", [-1, 2])
@pytest.mark.parametrize("aligned", [False, True])
def test_roi_align(ops: Any, ratio: int, aligned: bool) -> None:
    maps, rois = torch.from_numpy(MAPS), torch.from_numpy(ROIS)
    settings = align_oracle.Settings((3, 2), 0.5, max(0, ratio), aligned)
    wanted = first(align_oracle.forward(last(MAPS), ROIS, settings))
    np.testing.assert_allclose(ops.roi_align(maps, rois, 0.5, 3, 2, ratio, aligned), wanted, rtol=1e-12, atol=1e-12)
    half = ops.roi_align(maps.half(), rois.half(), 0.5, 3, 2, ratio, aligned)
    assert half.dtype is torch.float16
    assert ops.roi_align(maps, rois[:0], 0.5, 3, 2, ratio, aligned).shape == (0, 12, 3, 2)
    check_gradient(lambda m: ops.roi_align(m, rois, 0.5, 3, 2, ratio, aligned), maps[:, :4])
    with torch.autocast("cpu", torch.bfloat16):
        mixed = ops.roi_align(maps.bfloat16(), rois.float(), 0.5, 3, 2, ratio, aligned)
    assert mixed.dtype is torch.bfloat16
    for wrong, text in (
        ((maps, rois.float()), "expected .* one type|float"),
        ((maps, rois[:, :4]), r"rois: expected shape \[any, 5\]"),
        ((maps[0], rois), "input: expected shape"),
    ):
        with pytest.raises(RuntimeError, match=text):
            ops.roi_align(*wrong, 0.5, 3, 2, ratio, aligned)
    with pytest.raises(RuntimeError, match=r"^roi_align: pooled_height: expected at least 1, got 0"):
        ops.roi_align(maps, rois, 0.5, 0, 2, ratio, aligned)


@pytest.mark.thorough
def test_roi_align_is_compiled_and_has_no_values_on_meta(torchvision: ModuleType, ops: Any) -> None:
    maps, rois = torch.from_numpy(MAPS), torch.from_numpy(ROIS)
    assert ops.roi_align(maps.to("meta"), rois.to("meta"), 0.5, 3, 2, 2, True).shape == (15, 12, 3, 2)
    compiled = torch.compile(lambda m, r: ops.roi_align(m, r, 0.5, 3, 2, 2, True) * 2, backend="aot_eager")
    torch.testing.assert_close(compiled(maps, rois), ops.roi_align(maps, rois, 0.5, 3, 2, 2, True) * 2)


def test_roi_pool(ops: Any) -> None:
    maps, rois = torch.from_numpy(MAPS), torch.from_numpy(ROIS)
    out, places = ops.roi_pool(maps, rois, 0.5, 3, 2)
    wanted, argmax = (first(array) for array in pool_oracle.forward(last(MAPS), ROIS, (3, 2), 0.5, True))
    np.testing.assert_array_equal(out, wanted)
    np.testing.assert_array_equal(places, argmax)
    assert places.dtype is torch.int32
    assert (places == -1).any()
    flat = maps.flatten(2)[rois[:, 0].long()]
    picked = flat.gather(2, places.clamp(min=0).long().flatten(2)).view(out.shape)
    torch.testing.assert_close(out, picked.where(places >= 0, 0))
    leaf = maps.clone().requires_grad_()
    pooled, _ = ops.roi_pool(leaf, rois, 0.5, 3, 2)
    weights = torch.linspace(-1, 1, pooled.numel(), dtype=torch.float64).view(pooled.shape)
    (pooled * weights).sum().backward()
    right = first(pool_oracle.backward(last(weights.numpy()), ROIS, last(argmax), (2, 7, 9)))
    np.testing.assert_allclose(leaf.grad, right)
    check_gradient(lambda m: ops.roi_pool(m, rois, 0.5, 3, 2)[0], maps)
    with pytest.raises(RuntimeError, match="_roi_pool_backward: argmax: expected shape"):
        ops._roi_pool_backward(weights, rois, places[:3], 0.5, 3, 2, 2, 12, 7, 9)


@pytest.mark.parametrize("bins", [(2, 2), (3, 2)])
def test_position_sensitive_align(ops: Any, bins: tuple[int, int]) -> None:
    maps, rois = torch.from_numpy(MAPS), torch.from_numpy(ROIS)
    out, channels = ops.ps_roi_align(maps, rois, 0.5, *bins, 2)
    every = first(align_oracle.forward(last(MAPS), ROIS, align_oracle.Settings(bins, 0.5, 2, True)))
    depth = 12 // (bins[0] * bins[1])
    assert out.shape == channels.shape == (15, depth, *bins)
    for d, i, j in np.ndindex(depth, *bins):
        channel = (d * bins[0] + i) * bins[1] + j
        np.testing.assert_allclose(out[:, d, i, j], every[:, channel, i, j], rtol=1e-12, atol=1e-12)
        assert (channels[:, d, i, j] == channel).all()
    check_gradient(lambda m: ops.ps_roi_align(m, rois, 0.5, *bins, 2)[0], maps)
    with pytest.raises(RuntimeError, match=r"^ps_roi_align: input: expected channels that are a multiple of 5 x 2"):
        ops.ps_roi_align(maps, rois, 0.5, 5, 2, 2)


@pytest.mark.parametrize("bins", [(2, 2), (3, 2)])
def test_position_sensitive_pool(ops: Any, bins: tuple[int, int]) -> None:
    """Corners are rounded after they are scaled, unlike those of `pymluops.ps_roi_pool`."""
    maps, rois = torch.from_numpy(MAPS), torch.from_numpy(ROIS)
    out, channels = ops.ps_roi_pool(maps, rois, 0.5, *bins)
    wanted = np.zeros(out.shape)
    for r, row in enumerate(ROIS):
        x1, y1, x2, y2 = (int(math.copysign(math.floor(abs(v) * 0.5 + 0.5), v)) for v in row[1:])
        height, width = max(y2 - y1, 1), max(x2 - x1, 1)
        for d, i, j in np.ndindex(*out.shape[1:]):
            rows = slice(*(min(max(v + y1, 0), 7) for v in (i * height // bins[0], -(-(i + 1) * height // bins[0]))))
            columns = slice(*(min(max(v + x1, 0), 9) for v in (j * width // bins[1], -(-(j + 1) * width // bins[1]))))
            pixels = MAPS[int(row[0]), (d * bins[0] + i) * bins[1] + j, rows, columns]
            wanted[r, d, i, j] = pixels.mean() if pixels.size else 0
    np.testing.assert_allclose(out, wanted, rtol=1e-12, atol=1e-12)
    assert channels[0].flatten().tolist() == list(range(12))
    check_gradient(lambda m: ops.ps_roi_pool(m, rois, 0.5, *bins)[0], maps)


def test_deformable_convolution(ops: Any) -> None:
    input, offset, mask, weight, bias = tensors()
    numbers = (2, 2, 1, 1, 1, 1, 1, 1)
    out = ops.deform_conv2d(input, weight, offset, mask, bias, *numbers, True)
    torch.testing.assert_close(out, convolved(input, offset, mask, weight, bias))
    plain = ops.deform_conv2d(input, weight, offset, mask.new_zeros(0), bias, *numbers, False)
    torch.testing.assert_close(plain, convolved(input, offset, torch.ones_like(mask), weight, bias))

    def call(*given: Any) -> Any:
        return ops.deform_conv2d(given[0], given[3], given[1], given[2], given[4], *numbers, True)

    check_gradient(call, input, offset, mask, weight, bias)
    with pytest.raises(RuntimeError, match=r"^deform_conv2d: mask: expected shape \[2, 9, 3, 3\]"):
        ops.deform_conv2d(input, weight, offset, mask[:, :3], bias, *numbers, True)


def test_suppression(ops: Any) -> None:
    rng = np.random.default_rng(3)
    corner = rng.uniform(0, 10, (60, 2))
    boxes = np.concatenate([corner, corner + rng.uniform(0.5, 5, (60, 2))], 1)
    scores = rng.normal(size=60)
    kept: list[int] = []
    for i in np.argsort(-scores):
        area = np.prod(boxes[i, 2:] - boxes[i, :2])
        for j in kept:
            sides = np.minimum(boxes[i, 2:], boxes[j, 2:]) - np.maximum(boxes[i, :2], boxes[j, :2])
            common = np.prod(sides.clip(0))
            if common / (area + np.prod(boxes[j, 2:] - boxes[j, :2]) - common) > 0.3:
                break
        else:
            kept.append(int(i))
    given = torch.from_numpy(boxes), torch.from_numpy(scores)
    assert ops.nms(*given, 0.3).tolist() == kept
    assert ops.nms(given[0].float(), given[1].float(), 0.3).tolist() == kept
    assert ops.nms(given[0][:0], given[1][:0], 0.3).tolist() == []
    assert ops.nms(*given, 0.3).dtype is torch.int64
    whole = torch.round(given[0] * 8).int(), torch.round(given[1] * 50).int()
    assert ops.qnms(*whole, 0.3).tolist() == ops.nms(*(one.double() for one in whole), 0.3).tolist()
    with pytest.raises(RuntimeError, match=r"^nms: scores: expected shape \[60\]"):
        ops.nms(given[0], given[1][:5], 0.3)


def test_quantized_regions(ops: Any) -> None:
    maps, rois = torch.from_numpy(MAPS).float(), torch.from_numpy(ROIS[:10]).float()
    whole = (maps / 0.05).round().clamp(-100, 100).to(torch.int8)
    corners = (rois / 0.25).round().clamp(-120, 120).to(torch.int8)
    found = ops.qroi_align(whole, corners, 0.05, 3, 0.25, 0, 0.5, 3, 2, 2, True)
    exact = ops.roi_align((whole.float() - 3) * 0.05, corners.float() * 0.25, 0.5, 3, 2, 2, True)
    assert found.dtype is torch.int8
    assert ((found.float() - 3) * 0.05 - exact).abs().max() <= 0.0251


def turned(row: np.ndarray) -> np.ndarray:
    """The corners of a box whose angle in degrees turns counterclockwise in an image, whose y points down."""
    x, y, width, height, degrees = row
    sine, cosine = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    corners = [(width / 2 * a, height / 2 * b) for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    return np.array([(x + cosine * u + sine * v, y - sine * u + cosine * v) for u, v in corners]).ravel()


def test_overlaps_of_rotated_boxes(ops: Any) -> None:
    rng = np.random.default_rng(4)
    boxes = np.concatenate(
        [rng.uniform(0, 6, (20, 2)), rng.uniform(1, 5, (20, 2)), rng.uniform(-500, 500, (20, 1))], 1
    )  # fmt: skip
    wanted = np.array([[quadri_boxes.overlap(turned(a), turned(b)) for b in boxes[7:]] for a in boxes[:7]])
    found = ops.box_iou_rotated(torch.from_numpy(boxes[:7]), torch.from_numpy(boxes[7:]))
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert (wanted > 0.05).sum() > 10
    with pytest.raises(RuntimeError, match=r"^box_iou_rotated: boxes2: expected shape \[any, 5\]"):
        ops.box_iou_rotated(torch.from_numpy(boxes), torch.zeros(2, 4, dtype=torch.float64))
