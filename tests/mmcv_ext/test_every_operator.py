"""Every public name of mmcv.ops on tensors on the CPU, forward and backward, under `install()`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from .calls_of_names import calls

pytest.importorskip("torch")
pytest.importorskip("mmcv.version", reason="mmcv-lite is not installed", exc_type=ImportError)

pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("ignore")]

#: Functions of integers and text, which have no tensors.
WITHOUT_TENSORS = {"get_compiler_version", "get_compiling_cuda_version"}
#: Names whose results no gradient flows through: indices, masks, overlaps, and what mmcv has no
#: gradient for.
WITHOUT_GRADIENT = {
    *("PointsSampler", "ball_query", "bbox_overlaps", "box_iou_quadri", "box_iou_rotated", "boxes_iou3d"),
    *("boxes_iou_bev", "boxes_overlap_bev", "contour_expand", "convex_giou", "convex_iou", "knn"),
    *("furthest_point_sample", "furthest_point_sample_with_dist", "min_area_polygons", "nms3d", "nms3d_normal"),
    *("nms_bev", "nms_match", "nms_normal_bev", "pixel_group", "points_in_boxes_all", "points_in_boxes_cpu"),
    *("points_in_boxes_part", "points_in_polygons", "three_nn", "voxelization", "Voxelization", "soft_nms"),
    *("RoIPointPool3d", "SparseConvTensor", "scatter_nd", "rel_roi_point_to_rel_img_point"),
    # Their backward returns None for every argument.
    *("MaskedConv2d", "masked_conv2d"),
}


@pytest.fixture(scope="module")
def ops(torch: Any) -> Iterator[Any]:
    import torch.distributed

    import pymluops.mmcv

    if not pymluops.mmcv.install():
        pytest.skip("mmcv has a compiled extension")
    import mmcv.ops

    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    torch.manual_seed(0)
    yield mmcv.ops
    torch.distributed.destroy_process_group()
    pymluops.mmcv.uninstall()


@pytest.fixture(scope="module")
def every_call(torch: Any, ops: Any) -> dict[str, tuple[Any, ...]]:
    return calls(torch, ops)


def test_there_is_a_call_of_every_name(ops: Any, every_call: dict[str, Any]) -> None:
    assert {*ops.__all__} == {*every_call} | WITHOUT_TENSORS
    assert all(isinstance(getattr(ops, name)(), str) for name in WITHOUT_TENSORS)


def test_every_name_computes_forward_and_backward(torch: Any, every_call: dict[str, tuple[Any, ...]]) -> None:
    failed: list[str] = []
    for name, (call, *given) in every_call.items():
        leaves = [tensor.clone().requires_grad_() for tensor in given]
        try:
            found = call(*leaves)
            assert found.numel() and not found.isnan().any(), "nothing, or NaN"
            if name not in WITHOUT_GRADIENT:
                assert found.requires_grad, "no gradient"
                found.square().sum().backward()
            for i, leaf in enumerate(leaves):
                assert leaf.grad is not None and leaf.grad.any() and leaf.grad.isfinite().all(), f"gradient {i}"
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__}: {error}")
    assert failed == [], "\n".join(failed)
