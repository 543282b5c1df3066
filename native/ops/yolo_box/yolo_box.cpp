#include "ops/yolo_box/yolo_box.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument x;
  TensorArgument img_size;
  TensorArgument anchors;
  TensorArgument boxes;
  TensorArgument scores;
};

struct Numbers {
  int classes;
  double threshold;
  int downsample;
  bool clip;
  double scale;
  bool iou_aware;
  double iou_factor;
};

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.x, 4, "[N, C, H, W]"));
  MLUOPS_TRY(need_rank(entry, t.img_size, 2, "[N, 2]"));
  MLUOPS_TRY(need_rank(entry, t.anchors, 1, "[2 * S]"));
  MLUOPS_TRY(need_rank(entry, t.boxes, 4, "[N, S, 4, H * W]"));
  MLUOPS_TRY(need_rank(entry, t.scores, 4, "[N, S, class_num, H * W]"));
  MLUOPS_TRY(need_float(entry, t.x));
  for (const TensorArgument &tensor : {t.img_size, t.anchors}) MLUOPS_TRY(need_dtype(entry, tensor, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor : {t.boxes, t.scores}) MLUOPS_TRY(need_float(entry, tensor));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_numbers(const Entry &entry, const Numbers &n) {
  MLUOPS_REQUIRE(!n.iou_aware || !(n.iou_factor < 0 || n.iou_factor > 1), MLUOP_STATUS_BAD_PARAM, entry,
                 "iou_aware_factor", "0 to 1", Text::format("%.10g", n.iou_factor));
  MLUOPS_TRY(need_at_least(entry, "class_num", n.classes, 1));
  return need_at_least(entry, "downsample_ratio", n.downsample, 1);
}

mluOpStatus_t check_shapes(const Entry &entry, const Tensors &t, const Numbers &n) {
  for (const TensorArgument &tensor : {t.img_size, t.boxes, t.scores})
    MLUOPS_TRY(need_same_dim(entry, tensor, 0, t.x, 0));
  const std::int64_t numbers = t.anchors.desc->dims[0], anchors = numbers / 2;
  MLUOPS_REQUIRE(numbers % 2 == 0 && numbers > 0, MLUOP_STATUS_BAD_PARAM, entry, "anchors_desc", "[2 * S] with S > 0",
                 describe(t.anchors.desc));
  const int planes = n.iou_aware ? 6 : 5;
  MLUOPS_TRY(need_dim(entry, t.x, 1, Text::format("S * (%d + class_num=%d)", planes, n.classes).c_str(),
                      anchors * (planes + std::int64_t{n.classes})));
  MLUOPS_TRY(need_dim(entry, t.img_size, 1, "height and width", 2));
  const std::int64_t cells = t.x.desc->dims[2] * t.x.desc->dims[3];
  for (const TensorArgument &tensor : {t.boxes, t.scores}) {
    MLUOPS_TRY(need_dim(entry, tensor, 1, "S", anchors));
    MLUOPS_TRY(need_dim(entry, tensor, 3, "H * W", cells));
  }
  MLUOPS_TRY(need_dim(entry, t.boxes, 2, "the corners", 4));
  return need_dim(entry, t.scores, 2, "class_num", n.classes);
}

YoloBoxProblem problem_of(const Entry &entry, const Tensors &t, const Numbers &n) {
  YoloBoxProblem problem{};
  problem.function = entry.function;
  problem.is_double = entry.in_double;
  problem.batch = t.x.desc->dims[0];
  problem.anchors = t.anchors.desc->dims[0] / 2;
  problem.classes = n.classes;
  problem.height = t.x.desc->dims[2];
  problem.width = t.x.desc->dims[3];
  problem.threshold = n.threshold;
  problem.downsample = n.downsample;
  problem.clip = n.clip;
  problem.scale = n.scale;
  problem.iou_aware = n.iou_aware;
  problem.iou_factor = n.iou_factor;
  problem.x = t.x.data;
  problem.image_sizes = static_cast<const std::int32_t *>(t.img_size.data);
  problem.anchor_sizes = static_cast<const std::int32_t *>(t.anchors.data);
  problem.boxes = const_cast<void *>(t.boxes.data);
  problem.scores = const_cast<void *>(t.scores.data);
  return problem;
}

}  // namespace

mluOpStatus_t yolo_box(const Entry &entry, mluOpHandle_t handle, const TensorArgument &x,
                       const TensorArgument &img_size, const TensorArgument &anchors, int class_num, double conf_thresh,
                       int downsample_ratio, bool clip_bbox, double scale, bool iou_aware, double iou_aware_factor,
                       const TensorArgument &boxes, const TensorArgument &scores) {
  const Tensors t{x, img_size, anchors, boxes, scores};
  const Numbers n{class_num, conf_thresh, downsample_ratio, clip_bbox, scale, iou_aware, iou_aware_factor};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {x, img_size, anchors, boxes, scores}));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(check_numbers(entry, n));
  MLUOPS_TRY(check_shapes(entry, t, n));
  MLUOPS_TRY(need_indexable(entry, {x, img_size, anchors, boxes, scores}));
  if (x.desc->count != 0) MLUOPS_TRY(need_data(entry, {x, img_size, anchors, boxes, scores}));
  MLUOPS_TRY(need_packed(entry, {x, img_size, anchors, boxes, scores}));
  if (x.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(require_no_overlap(entry, {boxes, scores}, {x, img_size, anchors}));
  return launch_yolo_box(handle, problem_of(entry, t, n));
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(YoloBox);

mluOpStatus_t MLUOP_WIN_API mluOpYoloBox(mluOpHandle_t handle, const mluOpTensorDescriptor_t x_desc, const void *x,
                                         const mluOpTensorDescriptor_t img_size_desc, const void *img_size,
                                         const mluOpTensorDescriptor_t anchors_desc, const void *anchors,
                                         const int class_num, const float conf_thresh, const int downsample_ratio,
                                         const bool clip_bbox, const float scale, const bool iou_aware,
                                         const float iou_aware_factor, const mluOpTensorDescriptor_t boxes_desc,
                                         void *boxes, const mluOpTensorDescriptor_t scores_desc, void *scores) {
  return mluops::guarded("mluOpYoloBox", [&] {
    return mluops::yolo_box({"mluOpYoloBox"}, handle, {"x", x_desc, x}, {"img_size", img_size_desc, img_size},
                            {"anchors", anchors_desc, anchors}, class_num, static_cast<double>(conf_thresh),
                            downsample_ratio, clip_bbox, static_cast<double>(scale), iou_aware,
                            static_cast<double>(iou_aware_factor), {"boxes", boxes_desc, boxes},
                            {"scores", scores_desc, scores});
  });
}
