"""The modules with mmcv's names against independent formulas: states, results, gradients, representations."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import conv2d

import pymluops.torch as ours

F64 = torch.float64


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    torch.manual_seed(0)


def close(found: Tensor, wanted: Tensor) -> None:
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-9)


# ---- Deformable convolutions ---------------------------------------------------------------------


def test_deform_conv_with_whole_steps_is_a_convolution_of_moved_maps() -> None:
    layer = ours.DeformConv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 2), dilation=(1, 2), groups=2).double()
    maps = torch.randn(2, 4, 7, 8, dtype=F64, requires_grad=True)
    plain = conv2d(maps, layer.weight, None, (2, 1), (1, 2), (1, 2), 2)
    offset = torch.zeros(2, 12, *plain.shape[2:], dtype=F64)
    close(layer(maps, offset), plain)
    offset[:, 0::2], offset[:, 1::2] = 1, -2  # a place (y + 1, x - 2) is the place (y, x) of maps moved by that
    moved = torch.zeros(2, 4, 7 + 4, 8 + 8, dtype=F64)
    moved[:, :, 1:8, 6:14] = maps.detach()  # at row 2 - 1, column 4 + 2, with a border of 2 rows and 4 columns
    wanted = conv2d(moved, layer.weight, None, (2, 1), (1, 2), (1, 2), 2)[:, :, 1:-1, 4:-4]
    close(layer(maps, offset), wanted[:, :, : plain.shape[2], : plain.shape[3]])


def test_deform_conv_pads_maps_smaller_than_its_filter() -> None:
    layer = ours.DeformConv2d(1, 1, 3, padding=1).double()
    maps = torch.randn(1, 1, 2, 5, dtype=F64)
    found = layer(maps, torch.zeros(1, 18, 2, 5, dtype=F64))
    close(found, conv2d(maps, layer.weight, None, padding=1))


def test_packs_begin_as_convolutions() -> None:
    maps = torch.randn(2, 4, 6, 7, dtype=F64, requires_grad=True)
    arguments: dict[str, Any] = {"stride": 2, "padding": 1, "deform_groups": 2}
    pack = ours.DeformConv2dPack(4, 3, 3, **arguments).double()
    close(pack(maps), conv2d(maps, pack.weight, None, 2, 1))
    weighted = ours.ModulatedDeformConv2dPack(4, 3, 3, **arguments).double()
    torch.nn.init.normal_(weighted.bias)
    close(weighted(maps), 0.5 * conv2d(maps, weighted.weight, None, 2, 1) + weighted.bias[:, None, None])
    layer = ours.ModulatedDeformConv2d(4, 3, 3, stride=2, padding=1).double()
    torch.nn.init.normal_(layer.bias)
    steps, weights = torch.zeros(2, 18, 3, 4, dtype=F64), torch.ones(2, 9, 3, 4, dtype=F64)
    close(layer(maps, steps, weights), conv2d(maps, layer.weight, layer.bias, 2, 1))


@pytest.mark.parametrize("kind", ["DeformConv2dPack", "ModulatedDeformConv2dPack"])
def test_packs_train_their_offsets(kind: str) -> None:
    pack = getattr(ours, kind)(2, 2, 3, padding=1).double()
    for parameter in pack.parameters():
        torch.nn.init.uniform_(parameter, -0.3, 0.3)
    maps = torch.randn(1, 2, 4, 5, dtype=F64, requires_grad=True)
    names = [name for name, _ in pack.named_parameters()]

    def call(maps: Tensor, *parameters: Tensor) -> Any:
        return torch.func.functional_call(pack, dict(zip(names, parameters, strict=True)), (maps,))

    assert torch.autograd.gradcheck(call, (maps, *pack.parameters()), fast_mode=True)
    pack(maps).sum().backward()
    assert pack.conv_offset.weight.grad.count_nonzero() > 0


def test_states_of_deformable_convolutions() -> None:
    sizes = {name: [*value.shape] for name, value in ours.DeformConv2dPack(4, 6, 3, groups=2).state_dict().items()}
    assert sizes == {"weight": [6, 2, 3, 3], "conv_offset.weight": [18, 4, 3, 3], "conv_offset.bias": [18]}
    weighted = ours.ModulatedDeformConv2dPack(4, 6, (1, 3), deform_groups=2, bias="auto")
    sizes = {name: [*value.shape] for name, value in weighted.state_dict().items()}
    assert sizes == {
        "weight": [6, 4, 1, 3], "bias": [6], "conv_offset.weight": [18, 4, 1, 3], "conv_offset.bias": [18],
    }  # fmt: skip
    assert [*ours.ModulatedDeformConv2d(1, 1, 1, bias=False).state_dict()] == ["weight"]


def test_filters_begin_as_those_of_mmcv() -> None:
    weight = ours.DeformConv2d(8, 64, 3).weight
    bound = (6 / (8 * 9)) ** 0.5
    assert 0.95 * bound < weight.abs().max() <= bound
    layer = ours.ModulatedDeformConv2d(8, 64, 3)
    bound = (8 * 9) ** -0.5
    assert 0.95 * bound < layer.weight.abs().max() <= bound and not layer.bias.any()


# ---- Regions -------------------------------------------------------------------------------------

ROIS = torch.tensor([[0.0, 2, 3, 14, 12], [1, 0, 1, 9, 13]], dtype=F64)


def test_deform_roi_pools_begin_as_roi_align() -> None:
    maps = torch.randn(2, 3, 8, 9, dtype=F64, requires_grad=True)
    still = ours.roi_align(maps, ROIS, (2, 3), 0.5, 2)
    close(ours.DeformRoIPool((2, 3), 0.5, 2)(maps, ROIS), still)
    pack = ours.DeformRoIPoolPack((2, 3), 3, 5, 0.5, 2).double()
    close(pack(maps, ROIS), still)
    weighted = ours.ModulatedDeformRoIPoolPack((2, 3), 3, 5, 0.5, 2).double()
    close(weighted(maps, ROIS), 0.5 * still)


def test_deform_roi_pools_move_bins_by_their_layers() -> None:
    maps = torch.randn(2, 3, 8, 9, dtype=F64)
    weighted = ours.ModulatedDeformRoIPoolPack(2, 3, 5, 0.5, 2, 0.3).double()
    for parameter in weighted.parameters():
        torch.nn.init.uniform_(parameter, -0.5, 0.5)
    still = ours.roi_align(maps, ROIS, 2, 0.5, 2).reshape(2, -1)
    hidden, state = still, weighted.state_dict()
    for layer in ("offset_fc.0", "offset_fc.2"):
        hidden = (hidden @ state[f"{layer}.weight"].T + state[f"{layer}.bias"]).clamp(min=0)
    steps = (hidden @ state["offset_fc.4.weight"].T + state["offset_fc.4.bias"]).reshape(2, 2, 2, 2)
    hidden = (still @ state["mask_fc.0.weight"].T + state["mask_fc.0.bias"]).clamp(min=0)
    weights = 1 / (1 + (-(hidden @ state["mask_fc.2.weight"].T + state["mask_fc.2.bias"])).exp())
    moved = ours.deform_roi_pool(maps, ROIS, steps, 2, 0.5, 2, 0.3)
    close(weighted(maps, ROIS), moved * weights.reshape(2, 1, 2, 2))
    assert len(state) == 10


def test_pools_are_their_functions() -> None:
    maps, turned = torch.randn(2, 8, 8, 9, dtype=F64), torch.cat([ROIS, torch.tensor([[0.3], [2.0]], dtype=F64)], 1)
    curves = torch.cat([ROIS[:, :1], torch.rand(2, 16, dtype=F64) * 12], 1)
    for found, wanted in (
        (ours.PrRoIPool(3, 0.5)(maps, ROIS), ours.prroi_pool(maps, ROIS, 3, 0.5)),
        (
            ours.RoIAlignRotated(3, 0.5, 2, False, True)(maps, turned),
            ours.roi_align_rotated(maps, turned, 3, 0.5, 2, False, True),
        ),
        (
            ours.RiRoIAlignRotated((3, 2), 0.5, 2, 4, True)(maps, turned),
            ours.riroi_align_rotated(maps, turned, (3, 2), 0.5, 2, 4, True),
        ),
        (ours.BezierAlign((3, 2), 0.5, 2, False)(maps, curves), ours.bezier_align(maps, curves, (3, 2), 0.5, 2, False)),
        (ours.RoIAlign(3, 0.5, 2, "max", False)(maps, ROIS), ours.roi_align(maps, ROIS, 3, 0.5, 2, "max", False)),
        (ours.roi_align(maps, ROIS, 3, 0.5, 2, False, "max"), ours.roi_align(maps, ROIS, 3, 0.5, 2, "max", False)),
        (ours.roi_align(maps, ROIS, 3, 0.5, 2, "avg"), ours.roi_align(maps, ROIS, 3, 0.5, 2, True, "avg")),
    ):
        assert torch.equal(found, wanted) and found.any()


def test_a_whole_region_is_the_mean_of_its_pixels() -> None:
    maps = torch.randn(1, 8, 4, 4, dtype=F64)
    # Pixels 1 and 2 of both axes; the centre lies between them, and the sides end half a pixel
    # outside.
    upright = torch.tensor([[0.0, 2, 2, 2, 2, 0]], dtype=F64)
    mean = maps[0, :, 1:3, 1:3].mean((1, 2))
    close(ours.RoIAlignRotated(1, 1.0, 2)(maps, upright)[0, :, 0, 0], mean)
    close(ours.RiRoIAlignRotated(1, 1.0, 2, 8)(maps, upright - torch.tensor([0, 0.5, 0.5, 0, 0, 0]))[0, :, 0, 0], mean)
    edges = torch.tensor([[0.0, 1, 1, 2, 2]], dtype=F64)  # the integral of a bilinear cell
    close(ours.PrRoIPool(1)(maps, edges)[0, :, 0, 0], mean)


def test_representations_are_those_of_mmcv() -> None:
    assert repr(ours.PrRoIPool(7, 0.25)) == "PrRoIPool(output_size=(7, 7), spatial_scale=0.25)"
    rest = "spatial_scale=0.5, sampling_ratio=0"
    assert repr(ours.RoIAlignRotated((7, 8), 0.5)) == (
        f"RoIAlignRotated(output_size=(7, 8), {rest}, aligned=True, clockwise=False)"
    )
    assert repr(ours.RoIAlign(7, 0.5)) == (
        f"RoIAlign(output_size=(7, 7), {rest}, pool_mode=avg, aligned=True, use_torchvision=False)"
    )
    assert repr(ours.DeformConv2dPack(2, 4, 3)) == (
        "DeformConv2dPack(in_channels=2,\nout_channels=4,\nkernel_size=(3, 3),\nstride=(1, 1),\npadding=(0, 0),\n"
        "dilation=(1, 1),\ngroups=1,\ndeform_groups=1,\nbias=False)"
    )


# ---- CARAFE --------------------------------------------------------------------------------------


def test_carafe_pack_mixes_windows_by_normal_weights() -> None:
    pack = ours.CARAFEPack(4, 2, up_kernel=3, up_group=2, compressed_channels=5).double()
    for parameter in pack.parameters():
        torch.nn.init.normal_(parameter)
    maps = torch.randn(1, 4, 3, 5, dtype=F64, requires_grad=True)
    state = pack.state_dict()
    assert {name: [*value.shape] for name, value in state.items()} == {
        "channel_compressor.weight": [5, 4, 1, 1], "channel_compressor.bias": [5],
        "content_encoder.weight": [72, 5, 3, 3], "content_encoder.bias": [72],
    }  # fmt: skip
    inner = conv2d(maps, state["channel_compressor.weight"], state["channel_compressor.bias"])
    codes = conv2d(inner, state["content_encoder.weight"], state["content_encoder.bias"], padding=1)
    found, padded = pack(maps), torch.nn.functional.pad(maps, (1, 1, 1, 1))
    for y, x in ((0, 0), (1, 2), (5, 9), (3, 4)):
        for group in range(2):
            # Channel c * 4 + 2 * (y % 2) + x % 2 of the codes is channel c of this pixel.
            logits = codes[0, 36 * group + 2 * (y % 2) + x % 2 : 36 * group + 36 : 4, y // 2, x // 2]
            weights = logits.softmax(0).reshape(3, 3)
            window = padded[0, 2 * group : 2 * group + 2, y // 2 : y // 2 + 3, x // 2 : x // 2 + 3]
            close(found[0, 2 * group : 2 * group + 2, y, x], (window * weights).sum((1, 2)))


def test_the_naive_carafe_is_the_same() -> None:
    maps = torch.randn(1, 4, 3, 5, dtype=F64, requires_grad=True)
    masks = torch.randn(1, 18, 6, 10, dtype=F64, requires_grad=True)
    assert torch.equal(ours.CARAFENaive(3, 2, 2)(maps, masks), ours.carafe(maps, masks, 3, 2, 2))
    assert torch.autograd.gradcheck(lambda *given: ours.carafe_naive(*given, 3, 2, 2), (maps, masks), fast_mode=True)


# ---- Points --------------------------------------------------------------------------------------


def test_groups_have_positions_relative_to_their_centre() -> None:
    points = torch.tensor([[[0.0, 0, 0], [1, 0, 0], [5, 0, 0], [0, 2, 0]]], dtype=F64)
    centers = torch.tensor([[[0.5, 0, 0], [5, 0, 1]]], dtype=F64)
    features = torch.tensor([[[10.0, 11, 12, 13]]], dtype=F64, requires_grad=True)
    group = ours.QueryAndGroup(2.0, 2, normalize_xyz=True, return_grouped_xyz=True, return_grouped_idx=True)
    found, positions, indices = group(points, centers, features)
    assert indices.tolist() == [[[0, 1], [2, 2]]]
    assert found[0, :, 0].tolist() == [[-0.25, 0.25], [0, 0], [0, 0], [10, 11]]
    assert found[0, :, 1].tolist() == [[0, 0], [0, 0], [-0.5, -0.5], [12, 12]]
    assert positions[0, 0].tolist() == [[0, 1], [5, 5]]
    found[:, 3].sum().backward()
    assert features.grad.tolist() == [[[1, 1, 2, 0]]]
    assert ours.QueryAndGroup(2.0, 2, use_xyz=False)(points, centers, features).tolist() == [[[[10, 11], [12, 12]]]]
    nearest = ours.QueryAndGroup(None, 3, return_grouped_idx=True)(points, centers)[1]
    assert [sorted(row) for row in nearest[0].tolist()] == [[0, 1, 3], [0, 1, 2]]


def test_uniform_samples_are_points_of_the_group() -> None:
    points = torch.tensor([[[0.0, 0, 0], [1, 0, 0], [5, 0, 0]]])
    group = ours.QueryAndGroup(2.0, 8, uniform_sample=True, return_unique_cnt=True, return_grouped_idx=True)
    _, counts, indices = group(points, points[:, :1])
    assert counts.tolist() == [[2]] and set(indices.flatten().tolist()) == {0, 1}
    assert indices[0, 0, :2].tolist() == [0, 1]


def test_everything_is_one_group() -> None:
    points, features = torch.randn(2, 5, 3), torch.randn(2, 4, 5)
    wanted = torch.cat([points.transpose(1, 2), features], 1).unsqueeze(2)
    assert torch.equal(ours.GroupAll()(points, None, features), wanted)
    assert torch.equal(ours.GroupAll(use_xyz=False)(points, None, features), features.unsqueeze(2))
    assert torch.equal(ours.GroupAll()(points, None), points.transpose(1, 2).unsqueeze(2))


def furthest(distances: Tensor, number: int) -> list[int]:
    found, least = [0], distances[0].clone()
    while len(found) < number:
        found.append(int(least.argmax()))
        least = torch.minimum(least, distances[found[-1]])
    return found


def test_samples_are_the_furthest_points_of_each_range() -> None:
    points, features = torch.randn(2, 12, 3), torch.randn(2, 4, 12)
    sampler = ours.PointsSampler([3, 2], ["D-FPS", "FS"], [7, -1])
    found = sampler(points, features)
    for batch in range(2):
        first = ((points[batch, :7, None] - points[batch, None, :7]) ** 2).sum(-1)
        rest = ((points[batch, 7:, None] - points[batch, None, 7:]) ** 2).sum(-1)
        codes = features[batch, :, 7:].T
        both = rest + ((codes[:, None] - codes[None]) ** 2).sum(-1)
        own = [i + 7 for i in (*furthest(both, 2), *furthest(rest, 2))]
        assert found[batch].tolist() == [*furthest(first, 3), *own]


# ---- Suppression within classes ------------------------------------------------------------------


def made(count: int = 40) -> tuple[Tensor, Tensor, Tensor]:
    corners = torch.rand(count, 2, dtype=F64) * 6 - 8  # negative coordinates too
    boxes = torch.cat([corners, corners + 1 + torch.rand(count, 2, dtype=F64) * 3], 1)
    return boxes, torch.rand(count, dtype=F64), torch.randint(0, 3, (count,))


@pytest.mark.parametrize("split", [10000, 5])
def test_classes_are_suppressed_by_themselves(split: int) -> None:
    boxes, scores, classes = made()
    dets, keep = ours.batched_nms(boxes, scores, classes, {"type": "nms", "iou_threshold": 0.3, "split_thr": split})
    wanted = []
    for one in range(3):
        rows = (classes == one).nonzero().view(-1)
        wanted += rows[ours.nms(boxes[rows], scores[rows], 0.3)[1]].tolist()
    wanted.sort(key=lambda row: -float(scores[row]))
    assert keep.tolist() == wanted
    assert torch.equal(dets, torch.cat([boxes[keep], scores[keep, None]], 1))
    few = ours.batched_nms(boxes, scores, classes, {"iou_threshold": 0.3, "split_thr": split, "max_num": 4})[1]
    assert few.tolist() == wanted[:4]


def test_without_classes_or_suppression() -> None:
    boxes, scores, classes = made()
    options = {"iou_threshold": 0.3, "class_agnostic": True}
    assert torch.equal(ours.batched_nms(boxes, scores, classes, options)[1], ours.nms(boxes, scores, 0.3)[1])
    assert torch.equal(
        ours.batched_nms(boxes, scores, classes, {"iou_threshold": 0.3}, True)[1], ours.nms(boxes, scores, 0.3)[1]
    )
    dets, keep = ours.batched_nms(boxes, scores, classes, None)
    assert torch.equal(keep, scores.argsort(descending=True)) and torch.equal(dets[:, 4], scores[keep])
    dets, keep = ours.batched_nms(boxes[:0], scores[:0], classes[:0], {"iou_threshold": 0.3})
    assert dets.shape == (0, 5) and keep.shape == (0,)


def test_other_suppressions_within_classes() -> None:
    boxes, scores, classes = made()
    turned = torch.cat([boxes[:, :2], boxes[:, 2:] - boxes[:, :2], torch.rand(40, 1, dtype=F64)], 1)
    for kind, given in (("soft_nms", boxes), ("nms_rotated", turned)):
        options = {"iou_threshold": 0.2, **({"min_score": 0.05} if kind == "soft_nms" else {})}
        dets, keep = ours.batched_nms(given, scores, classes, {"type": kind, **options})
        wanted: list[tuple[float, int]] = []
        for one in range(3):
            rows = (classes == one).nonzero().view(-1)
            own, kept = getattr(ours, kind)(given[rows], scores[rows], **options)
            wanted += [(float(score), int(row)) for score, row in zip(own[:, -1], rows[kept], strict=True)]
        wanted.sort(reverse=True)
        assert keep.tolist() == [row for _, row in wanted]
        torch.testing.assert_close(dets[:, -1], torch.tensor([score for score, _ in wanted], dtype=F64))
    assert ours.batched_nms(boxes, scores, classes, {"type": ours.nms, "iou_threshold": 0.3})[1].numel()


def test_boxes_from_above() -> None:
    boxes, scores, _ = made()
    above = torch.cat([boxes, torch.rand(40, 1, dtype=F64)], 1)
    assert torch.equal(ours.nms_normal_bev(above, scores, 0.2), ours.nms(boxes, scores, 0.2)[1])
    middle = torch.cat([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2], above[:, 4:]], 1)
    kept = ours.nms_rotated(middle, scores, 0.2)[1]
    assert torch.equal(ours.nms_bev(above, scores, 0.2), kept)
    best = scores.argsort(descending=True)[:10]
    few = best[ours.nms_rotated(middle[best], scores[best], 0.2)[1]][:3]
    assert torch.equal(ours.nms_bev(above, scores, 0.2, pre_max_size=10, post_max_size=3), few)


# ---- Functions with mmcv's further arguments -----------------------------------------------------


def test_counts_make_stacked_calls() -> None:
    points, centers = torch.randn(9, 3), torch.randn(4, 3)
    counts, places = torch.tensor([5, 4], dtype=torch.int32), torch.tensor([1, 3], dtype=torch.int32)
    found = ours.ball_query(0, 1.5, 3, points, centers, counts, places)
    assert torch.equal(found, ours.stack_ball_query(1.5, 3, points, centers, counts, places))
    features = torch.arange(18.0).reshape(9, 2)
    grouped = ours.grouping_operation(features, found.clamp(min=0), counts, places)
    assert torch.equal(grouped[0, :, 0], features[found[0, 0].clamp(min=0)])
    assert torch.equal(grouped[3, :, 1], features[5 + found[3, 1].clamp(min=0)])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ours.DeformConv2d(4, 6, 3, bias=True), "DeformConv2d: bias: expected False, got True"),
        (lambda: ours.DeformConv2d(4, 6, 3, groups=3), "groups: expected a divisor of in_channels, got 3"),
        (lambda: ours.ModulatedDeformConv2d(4, 6, 3, groups=4), "groups: expected a divisor of out_channels, got 4"),
        (lambda: ours.DeformConv2dPack(4, 6, 3, im2col_step=0), "im2col_step: expected at least 1, got 0"),
        (lambda: ours.DeformConv2d(4, 6, 3, stride=0), "DeformConv2d: stride: "),
        (lambda: ours.PrRoIPool((1, 2, 3)), "PrRoIPool: output_size: expected an integer, or two"),
        (
            lambda: ours.DeformRoIPoolPack(2, 3)(torch.rand(1, 4, 5, 5), ROIS.float()),
            "DeformRoIPoolPack: input: expected 3 channels, got 4",
        ),
        (lambda: ours.QueryAndGroup(1.0, 2, return_unique_cnt=True), "return_unique_cnt: expected uniform_sample"),
        (lambda: ours.QueryAndGroup(None, 2, normalize_xyz=True), "normalize_xyz: expected a max_radius"),
        (
            lambda: ours.QueryAndGroup(1.0, 2, use_xyz=False)(torch.rand(1, 4, 3), torch.rand(1, 2, 3)),
            "features: expected a tensor without use_xyz",
        ),
        (lambda: ours.PointsSampler([1, 2]), "of one length"),
        (lambda: ours.PointsSampler([1], ["FPS"]), "fps_mod_list: expected some of .*, got 'FPS'"),
        (lambda: ours.PointsSampler([1], ["F-FPS"])(torch.rand(1, 4, 3), None), "features: expected a tensor"),
        (lambda: ours.PointsSampler([1], ["D-FPS"], [4])(torch.rand(1, 4, 3), None), "expected less than 4, got 4"),
        (lambda: ours.batched_nms(*made(), {"type": "weighted"}), "expected a type of nms, .*, got 'weighted'"),
        (lambda: ours.nms_bev(made()[0], made()[1], 0.5), r"nms_bev: boxes: expected shape \[N, 5\]"),
        (lambda: ours.nms_normal_bev(made()[0], made()[1], 0.5), r"nms_normal_bev: boxes: expected shape \[N, 5\]"),
        (lambda: ours.roi_align(torch.rand(1, 1, 3, 3), ROIS.float(), 2, 1.0, 0, "mean"), "pool_mode: expected"),
        (
            lambda: ours.ball_query(
                0.5, 1, 2, torch.rand(2, 3), torch.rand(2, 3), torch.tensor([2]), torch.tensor([2])
            ),
            "min_radius: expected 0 with counts",
        ),
        (
            lambda: ours.ball_query(0, 1, 2, torch.rand(2, 3), torch.rand(2, 3), torch.tensor([2])),
            "expected both xyz_batch_cnt and center_xyz_batch_cnt",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


@pytest.mark.thorough
def test_modules_are_compiled_and_exported() -> None:
    maps = torch.rand(2, 4, 6, 7)
    for module, given in (
        (ours.DeformConv2dPack(4, 3, 3, padding=1), (maps,)),
        (ours.ModulatedDeformConv2dPack(4, 3, 3, padding=1), (maps,)),
        (ours.CARAFEPack(4, 2, 3), (maps,)),
        (ours.DeformRoIPoolPack(2, 4, 5, 0.5), (maps, ROIS.float())),
        (ours.RoIAlignRotated(2, 0.5), (maps, torch.cat([ROIS.float(), torch.rand(2, 1)], 1))),
        (ours.QueryAndGroup(0.5, 4), (torch.rand(2, 9, 3), torch.rand(2, 3, 3), torch.rand(2, 2, 9))),
    ):
        wanted = module(*given)
        torch.testing.assert_close(torch.compile(module, backend="aot_eager", fullgraph=True)(*given), wanted)
        torch.testing.assert_close(torch.export.export(module, given).module()(*given), wanted)
        with pytest.raises(RuntimeError, match=f"{type(module).__name__}: torch.jit.script does not compile it"):
            torch.jit.script(module)
