"""A call of every name of mmcv.ops that has tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["calls"]

#: A function, and the tensors that it takes.
Call = tuple[Any, ...]


def calls(t: Any, ops: Any) -> dict[str, Call]:
    """Return for each name of mmcv.ops a function that calls it, and tensors that it takes and that want gradients."""
    maps, one = t.rand(2, 4, 8, 9), t.rand(1, 4, 8, 9)
    rois, turned = t.tensor([[0.0, 1, 2, 6, 7], [1, 0, 1, 5, 6]]), t.tensor([[0.0, 4, 4, 5, 3, 0.4]])
    points, centers, features = t.rand(2, 12, 3), t.rand(2, 4, 3), t.rand(2, 5, 12)
    near = t.randint(0, 12, (2, 4, 3), dtype=t.int32)
    boxes = t.cat([t.rand(9, 2) * 9, t.rand(9, 2) * 4 + 10], 1)
    spun = t.cat([t.rand(9, 2) * 9, t.rand(9, 2) * 4 + 1, t.rand(9, 1)], 1)
    quads = t.tensor([[0.0, 0, 4, 0, 4, 3, 0, 3], [1, 1, 5, 1, 5, 4, 1, 4]])
    solid = t.cat([t.rand(6, 3) * 3, t.rand(6, 3) + 2, t.rand(6, 1)], 1)
    scores, classes = t.rand(9), t.randint(0, 3, (9,))
    sets, scenes = t.rand(2, 18) * 5, t.stack([solid, solid])
    places = t.tensor([[0, 0, 0, 1], [0, 1, 2, 1], [1, 1, 1, 1], [1, 2, 2, 2]], dtype=t.int32)
    flat = places[:, [0, 2, 3]].contiguous()
    taps = t.tensor([1.0, 2, 1])

    def sparse(layer: Any, ndim: int) -> Callable[..., Any]:
        indices, shape = (places, [4, 4, 4]) if ndim == 3 else (flat, [4, 4])
        return lambda: layer(ops.SparseConvTensor(t.rand(4, 3, requires_grad=True), indices, shape, 2)).features

    def inverse(ndim: int) -> Callable[..., Any]:
        kinds = getattr(ops, f"SparseConv{ndim}d"), getattr(ops, f"SparseInverseConv{ndim}d")
        return sparse(
            ops.SparseSequential(kinds[0](3, 5, 3, 2, indice_key="a"), kinds[1](5, 3, 3, indice_key="a")), ndim
        )

    found: dict[str, Call] = {
        "BezierAlign": (lambda x: ops.BezierAlign((2, 3), 1.0, 2)(x, t.cat([rois[:, :1], t.rand(2, 16) * 6], 1)), maps),
        "BorderAlign": (lambda x: ops.BorderAlign(3)(x, rois[None, :, 1:].repeat(2, 1, 1)), maps),
        "CARAFE": (lambda x, m: ops.CARAFE(3, 1, 2)(x, m), maps, t.rand(2, 9, 16, 18)),
        "CARAFENaive": (lambda x, m: ops.CARAFENaive(3, 1, 2)(x, m), maps, t.rand(2, 9, 16, 18)),
        "CARAFEPack": (lambda x: ops.CARAFEPack(4, 2)(x), maps),
        "Conv2d": (lambda x: ops.Conv2d(4, 3, 3)(x), maps),
        "ConvTranspose2d": (lambda x: ops.ConvTranspose2d(4, 3, 3)(x), maps),
        "CornerPool": (lambda x: ops.CornerPool("top")(x), maps),
        "Correlation": (lambda x, y: ops.Correlation(max_displacement=2)(x, y), maps, maps + 1),
        "CrissCrossAttention": (lambda x: ops.CrissCrossAttention(16)(x), t.rand(1, 16, 4, 4)),
        "DeformConv2d": (lambda x, o: ops.DeformConv2d(4, 3, 3)(x, o), maps, t.rand(2, 18, 6, 7)),
        "DeformConv2dPack": (lambda x: ops.DeformConv2dPack(4, 3, 3)(x), maps),
        "DeformRoIPool": (lambda x, o: ops.DeformRoIPool(3, 1.0, 2)(x, rois, o), maps, t.rand(2, 2, 3, 3)),
        "DeformRoIPoolPack": (lambda x: ops.DeformRoIPoolPack(3, 4, 8, 1.0, 2)(x, rois), maps),
        "DynamicScatter": (
            lambda x: ops.DynamicScatter([1, 1, 1], [0, 0, 0, 4, 4, 4], True)(x, places[:, 1:].contiguous())[0],
            t.rand(4, 3),
        ),
        "FusedBiasLeakyReLU": (lambda x: ops.FusedBiasLeakyReLU(4)(x), maps),
        "GroupAll": (lambda x, f: ops.GroupAll()(x, None, f), points, features),
        "Linear": (lambda x: ops.Linear(3, 2)(x), points),
        "MaskedConv2d": (lambda: ops.MaskedConv2d(4, 3, 3, padding=1)(one, t.ones(1, 8, 9)),),
        "MaxPool2d": (lambda x: ops.MaxPool2d(2)(x), maps),
        "ModulatedDeformConv2d": (
            lambda x, o, m: ops.ModulatedDeformConv2d(4, 3, 3)(x, o, m),
            maps,
            t.rand(2, 18, 6, 7),
            t.rand(2, 9, 6, 7),
        ),
        "ModulatedDeformConv2dPack": (lambda x: ops.ModulatedDeformConv2dPack(4, 3, 3)(x), maps),
        "ModulatedDeformRoIPoolPack": (lambda x: ops.ModulatedDeformRoIPoolPack(3, 4, 8, 1.0, 2)(x, rois), maps),
        "MultiScaleDeformableAttention": (
            lambda q, v: ops.MultiScaleDeformableAttention(8, 2, 1, 2)(
                q,
                value=v,
                reference_points=t.rand(2, 5, 1, 2),
                spatial_shapes=t.tensor([[3, 4]]),
                level_start_index=t.tensor([0]),
            ),
            t.rand(5, 2, 8),
            t.rand(12, 2, 8),
        ),
        "PSAMask": (lambda x: ops.PSAMask("collect", (3, 3))(x), t.rand(1, 9, 4, 5)),
        "PointsSampler": (lambda: ops.PointsSampler([3], ["FS"])(points, features),),
        "PrRoIPool": (lambda x, r: ops.PrRoIPool(3)(x, r), maps, rois),
        "QueryAndGroup": (
            lambda f: t.cat([ops.QueryAndGroup(r, 3)(points, centers, f) for r in (0.5, None)], 1),
            features,
        ),
        "RiRoIAlignRotated": (lambda x: ops.RiRoIAlignRotated((2, 2), 1.0, 2)(x, turned), t.rand(1, 8, 6, 6)),
        "RoIAlign": (lambda x: t.cat([ops.RoIAlign(3, 1.0, 2, mode)(x, rois) for mode in ("avg", "max")]), maps),
        "RoIAlignRotated": (lambda x: ops.RoIAlignRotated(3, 1.0, 2)(x, turned), one),
        "RoIAwarePool3d": (
            lambda f: t.cat(
                [ops.RoIAwarePool3d(2, 8, mode)(solid, points[0] * 4, f).flatten() for mode in ("max", "avg")]
            ),
            t.rand(12, 4),
        ),
        "RoIPointPool3d": (
            lambda: ops.RoIPointPool3d(4)(points * 4, features.transpose(1, 2).contiguous(), scenes)[0],
        ),
        "RoIPool": (lambda x: ops.RoIPool(3)(x, rois), maps),
        "SAConv2d": (lambda x: ops.SAConv2d(4, 4, 3, padding=1, use_deform=True)(x), maps),
        "SigmoidFocalLoss": (lambda x: ops.SigmoidFocalLoss(2.0, 0.25)(x, classes), t.rand(9, 3)),
        "SimpleRoIAlign": (lambda x: ops.SimpleRoIAlign((2, 2), 1.0)(x, rois), maps),
        "SoftmaxFocalLoss": (lambda x: ops.SoftmaxFocalLoss(2.0, 0.25)(x, classes), t.rand(9, 3)),
        "SparseConvTensor": (lambda: ops.SparseConvTensor(t.rand(4, 3), places, [4, 4, 4], 2).dense(),),
        "SparseModule": (sparse(ops.SubMConv3d(3, 5, 3), 3),),
        "SparseSequential": (sparse(ops.SparseSequential(ops.SubMConv3d(3, 5, 3), t.nn.ReLU()), 3),),
        "SyncBatchNorm": (lambda x: ops.SyncBatchNorm(4)(x) * t.arange(4.0)[:, None, None], maps),
        "TINShift": (lambda x: ops.TINShift()(x, t.tensor([[1, -1], [0, 2]], dtype=t.int32)), t.rand(2, 4, 4, 5)),
        "Voxelization": (lambda: ops.Voxelization([1, 1, 1], [0, 0, 0, 4, 4, 4], 3, 9)(points[0] * 4)[0],),
        "active_rotated_filter": (
            lambda x: ops.active_rotated_filter(
                x, t.arange(1, 10, dtype=t.int32).reshape(1, 3, 3, 1).repeat(1, 1, 1, 8)
            ),
            t.rand(2, 2, 1, 3, 3),
        ),
        "assign_score_withk": (
            lambda s, p, c: ops.assign_score_withk(s, p, c, near.long()),
            t.rand(2, 4, 3, 2),
            t.rand(2, 12, 2, 5),
            t.rand(2, 12, 2, 5),
        ),
        "ball_query": (lambda: ops.ball_query(0, 0.5, 3, points, centers),),
        "batched_nms": (
            lambda b, s: ops.batched_nms(b, s, classes, {"type": "nms", "iou_threshold": 0.5})[0],
            boxes,
            scores,
        ),
        "bbox_overlaps": (lambda: ops.bbox_overlaps(boxes, boxes),),
        "bezier_align": (
            lambda x: ops.bezier_align(x, t.cat([rois[:, :1], t.rand(2, 16) * 6], 1), (2, 3), 1.0, 2, True),
            maps,
        ),
        "bias_act": (lambda x, b: ops.bias_act(x, b, act="lrelu"), maps, t.rand(4)),
        "border_align": (lambda x: ops.border_align(x, rois[None, :, 1:].repeat(2, 1, 1), 3), maps),
        "box_iou_quadri": (lambda: ops.box_iou_quadri(quads, quads),),
        "box_iou_rotated": (lambda: ops.box_iou_rotated(spun, spun),),
        "boxes_iou3d": (lambda: ops.boxes_iou3d(solid, solid),),
        "boxes_iou_bev": (lambda: ops.boxes_iou_bev(solid, solid),),
        "boxes_overlap_bev": (lambda: ops.boxes_overlap_bev(solid, solid),),
        "carafe": (lambda x, m: ops.carafe(x, m, 3, 1, 2), maps, t.rand(2, 9, 16, 18)),
        "carafe_naive": (lambda x, m: ops.carafe_naive(x, m, 3, 1, 2), maps, t.rand(2, 9, 16, 18)),
        "chamfer_distance": (lambda x, y: t.cat(ops.chamfer_distance(x, y)[:2]), t.rand(2, 5, 2), t.rand(2, 5, 2)),
        "contour_expand": (lambda: t.tensor(ops.contour_expand(t.ones(2, 5, 5).byte(), t.eye(5).int(), 1, 1)),),
        "conv2d": (lambda x, w: ops.conv2d(x, w), maps, t.rand(3, 4, 3, 3)),
        "conv_transpose2d": (lambda x, w: ops.conv_transpose2d(x, w), maps, t.rand(4, 3, 3, 3)),
        "convex_giou": (lambda: ops.convex_giou(sets, quads)[0],),
        "convex_iou": (lambda: ops.convex_iou(sets, quads),),
        "deform_conv2d": (lambda x, o, w: ops.deform_conv2d(x, o, w), maps, t.rand(2, 18, 6, 7), t.rand(3, 4, 3, 3)),
        "deform_roi_pool": (
            lambda x, o: ops.deform_roi_pool(x, rois, o, (3, 3), 1.0, 2, 0.1),
            maps,
            t.rand(2, 2, 3, 3),
        ),
        "diff_iou_rotated_2d": (lambda b: ops.diff_iou_rotated_2d(b, spun[None, :4] + 0.1), spun[None, :4]),
        "diff_iou_rotated_3d": (lambda b: ops.diff_iou_rotated_3d(b, solid[None] + 0.1), solid[None]),
        "dynamic_scatter": (
            lambda x: t.cat(
                [ops.dynamic_scatter(x, places[:, 1:].contiguous(), kind)[0] for kind in ("max", "mean", "sum")]
            ),
            t.rand(4, 3),
        ),
        "filter2d": (lambda x: ops.filter2d(x, t.outer(taps, taps) / 16), maps),
        "filtered_lrelu": (
            lambda x, b: ops.filtered_lrelu(x, t.outer(taps, taps), taps, b, up=2, down=2),
            maps,
            t.rand(4),
        ),
        "furthest_point_sample": (lambda: ops.furthest_point_sample(points, 4),),
        "furthest_point_sample_with_dist": (lambda: ops.furthest_point_sample_with_dist(t.cdist(points, points), 4),),
        "fused_bias_leakyrelu": (lambda x, b: ops.fused_bias_leakyrelu(x, b), maps, t.rand(4)),
        "gather_points": (lambda f: ops.gather_points(f, near[:, 0].contiguous()), features),
        "grouping_operation": (lambda f: ops.grouping_operation(f, near), features),
        "knn": (lambda: ops.knn(3, points, centers),),
        "masked_conv2d": (lambda: ops.masked_conv2d(one, t.ones(1, 8, 9), t.rand(3, 4, 3, 3), t.rand(3), 1),),
        "min_area_polygons": (lambda: ops.min_area_polygons(sets),),
        "modulated_deform_conv2d": (
            lambda x, o, m, w, b: ops.modulated_deform_conv2d(x, o, m, w, b, 1, 0, 1, 1, 1),
            maps,
            t.rand(2, 18, 6, 7),
            t.rand(2, 9, 6, 7),
            t.rand(3, 4, 3, 3),
            t.rand(3),
        ),
        "nms": (lambda b, s: ops.nms(b, s, 0.5)[0], boxes, scores),
        "nms3d": (lambda: ops.nms3d(solid, scores[:6], 0.5),),
        "nms3d_normal": (lambda: ops.nms3d_normal(solid, scores[:6], 0.5),),
        "nms_bev": (lambda: ops.nms_bev(t.cat([boxes, spun[:, 4:]], 1), scores, 0.5),),
        "nms_match": (lambda: t.cat(list(ops.nms_match(t.cat([boxes, scores[:, None]], 1), 0.5))),),
        "nms_normal_bev": (lambda: ops.nms_normal_bev(t.cat([boxes, spun[:, 4:]], 1), scores, 0.5),),
        "nms_quadri": (lambda b, s: ops.nms_quadri(b, s, 0.5)[0], quads, scores[:2]),
        "nms_rotated": (lambda b, s: ops.nms_rotated(b, s, 0.5)[0], spun, scores),
        "pixel_group": (
            lambda: t.tensor(
                ops.pixel_group(
                    t.rand(4, 4), t.ones(4, 4) > 0, t.rand(4, 4, 3), t.eye(4).int(), t.eye(4).byte(), 2, 2.0
                )[1]
            ),
        ),
        "point_sample": (lambda x: ops.point_sample(x, t.rand(2, 5, 2)), maps),
        "points_in_boxes_all": (lambda: ops.points_in_boxes_all(points * 4, scenes),),
        "points_in_boxes_cpu": (lambda: ops.points_in_boxes_cpu(points * 4, scenes),),
        "points_in_boxes_part": (lambda: ops.points_in_boxes_part(points * 4, scenes),),
        "points_in_polygons": (lambda: ops.points_in_polygons(boxes[:, :2].contiguous(), quads),),
        "prroi_pool": (lambda x, r: ops.prroi_pool(x, r, (3, 3), 1.0), maps, rois),
        "rel_roi_point_to_rel_img_point": (lambda: ops.rel_roi_point_to_rel_img_point(rois, t.rand(2, 5, 2), (8, 9)),),
        "riroi_align_rotated": (lambda x: ops.riroi_align_rotated(x, turned, (2, 2), 1.0, 2, 8), t.rand(1, 8, 6, 6)),
        "roi_align": (lambda x: ops.roi_align(x, rois, 3, 1.0, 2, "avg", True), maps),
        "roi_align_rotated": (lambda x: ops.roi_align_rotated(x, turned, 3, 1.0, 2), one),
        "roi_pool": (lambda x: ops.roi_pool(x, rois, 3, 1.0), maps),
        "rotated_feature_align": (lambda x: ops.rotated_feature_align(x, t.rand(2 * 8 * 9, 5) * 6, 1.0, 5), maps),
        "scatter_nd": (lambda: ops.scatter_nd(t.tensor([[0], [2]]), t.rand(2, 3), [4, 3]),),
        "sigmoid_focal_loss": (lambda x: ops.sigmoid_focal_loss(x, classes, 2.0, 0.25, t.rand(3)), t.rand(9, 3)),
        "soft_nms": (lambda: ops.soft_nms(boxes, scores)[0],),
        "softmax_focal_loss": (
            lambda x: ops.softmax_focal_loss(x, classes, 2.0, 0.25, t.rand(3), "mean"),
            t.rand(9, 3),
        ),
        "three_interpolate": (lambda f: ops.three_interpolate(f, near, t.rand(2, 4, 3)), features),
        "three_nn": (lambda: ops.three_nn(centers, points)[0],),
        "tin_shift": (lambda x: ops.tin_shift(x, t.tensor([[1, -1], [0, 2]], dtype=t.int32)), t.rand(2, 4, 4, 5)),
        "upfirdn2d": (lambda x: ops.upfirdn2d(x, t.outer(taps, taps), up=2, padding=1), maps),
        "upsample2d": (lambda x: ops.upsample2d(x, taps), maps),
        "voxelization": (lambda: ops.voxelization(points[0] * 4, [1, 1, 1], [0, 0, 0, 4, 4, 4], 3, 9)[0],),
    }
    kinds = {
        "SparseConv": (3, 5, 3),
        "SubMConv": (3, 5, 3),
        "SparseConvTranspose": (3, 5, 2, 2),
        "SparseMaxPool": (2, 2),
    }
    for ndim in (2, 3):
        found[f"SparseInverseConv{ndim}d"] = (inverse(ndim),)
        for kind, arguments in kinds.items():
            found[f"{kind}{ndim}d"] = (sparse(getattr(ops, f"{kind}{ndim}d")(*arguments), ndim),)
    return found
