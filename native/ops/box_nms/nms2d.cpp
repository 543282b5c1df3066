#include "ops/box_nms/box_nms.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/box_nms.h"

namespace mluops {
namespace {

mluOpStatus_t need_float_or_double(const char *function, const TensorArgument &tensor) {
  return need_float({function, tensor.desc->dtype == MLUOP_DTYPE_DOUBLE}, tensor);
}

mluOpStatus_t need_number(const char *function, const std::int32_t *result_num) {
  MLUOPS_TRY(need_pointer(function, "result_num", result_num));
  MLUOPS_REQUIRE(reinterpret_cast<std::uintptr_t>(result_num) % alignof(std::int32_t) == 0, MLUOP_STATUS_BAD_PARAM,
                 function, "result_num", "an address aligned to 4 bytes",
                 Text::format("%p", static_cast<const void *>(result_num)));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t need_apart(const char *function, const std::int32_t *result_num, const TensorArgument &tensor) {
  return require_no_overlap(function, "result_num", result_num, sizeof *result_num, tensor.name, tensor.data,
                            tensor.desc->bytes());
}

// The arguments that both kinds of suppression have.
struct Suppressed {
  TensorArgument boxes;
  TensorArgument scores;
  TensorArgument output;
};

// `dets` only soft suppression has.
mluOpStatus_t check(const char *function, const Suppressed &t, const TensorArgument *dets = nullptr) {
  MLUOPS_TRY(need_rank(function, t.boxes, 2, "[N, 4]"));
  MLUOPS_TRY(need_dim(function, t.boxes, 1, "x1, y1, x2 and y2", 4));
  for (const TensorArgument &tensor : {t.scores, t.output}) {
    MLUOPS_TRY(need_rank(function, tensor, 1, "[N]"));
    MLUOPS_TRY(need_same_dim(function, tensor, 0, t.boxes, 0));
  }
  if (dets != nullptr) {
    MLUOPS_TRY(need_rank(function, *dets, 2, "[N, 5]"));
    MLUOPS_TRY(need_dim(function, *dets, 1, "x1, y1, x2, y2 and score", 5));
    MLUOPS_TRY(need_same_dim(function, *dets, 0, t.boxes, 0));
    MLUOPS_TRY(need_packed(function, {*dets}));
  }
  MLUOPS_TRY(need_packed(function, {t.boxes, t.scores, t.output}));
  MLUOPS_TRY(need_float_or_double(function, t.boxes));
  MLUOPS_TRY(need_same_dtype(function, t.scores, t.boxes));
  if (dets != nullptr) MLUOPS_TRY(need_same_dtype(function, *dets, t.boxes));
  MLUOPS_TRY(need_dtype(function, t.output, MLUOP_DTYPE_INT32));
  if (dets != nullptr) MLUOPS_TRY(need_indexable(function, {*dets}));
  return need_indexable(function, {t.boxes});
}

mluOpStatus_t keep_boxes(mluOpHandle_t handle, double iou_threshold, int offset, const Suppressed &t,
                         std::int32_t *result_num) {
  constexpr const char *kFunction = "mluopsExtNms2d";
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(need_descriptors(kFunction, {t.boxes, t.scores, t.output}));
  MLUOPS_TRY(need_between(kFunction, "offset", offset, 0, 1));
  MLUOPS_TRY(check(kFunction, t));
  MLUOPS_TRY(need_number(kFunction, result_num));
  const std::int64_t count = t.boxes.desc->dims[0];
  if (count == 0) {
    *result_num = 0;
    return MLUOP_STATUS_SUCCESS;
  }
  MLUOPS_TRY(need_data(kFunction, {t.boxes, t.scores, t.output}));
  MLUOPS_TRY(require_no_overlap(kFunction, {t.output}, {t.boxes, t.scores}));
  for (const TensorArgument &tensor : {t.boxes, t.scores, t.output})
    MLUOPS_TRY(need_apart(kFunction, result_num, tensor));
  const bool is_double = t.boxes.desc->dtype == MLUOP_DTYPE_DOUBLE;
  const Nms2dProblem problem{kFunction,
                             iou_threshold,
                             static_cast<double>(offset),
                             is_double,
                             count,
                             t.boxes.data,
                             t.scores.data,
                             static_cast<std::int32_t *>(const_cast<void *>(t.output.data)),
                             result_num};
  return launch_nms2d(handle, problem);
}

mluOpStatus_t match_boxes(mluOpHandle_t handle, double iou_threshold, const TensorArgument &dets,
                          const TensorArgument &matches, const TensorArgument &order) {
  constexpr const char *kFunction = "mluopsExtNmsMatch";
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(need_descriptors(kFunction, {dets, matches, order}));
  MLUOPS_TRY(need_rank(kFunction, dets, 2, "[N, 5]"));
  MLUOPS_TRY(need_dim(kFunction, dets, 1, "x1, y1, x2, y2 and score", 5));
  for (const TensorArgument &tensor : {matches, order}) {
    MLUOPS_TRY(need_rank(kFunction, tensor, 1, "[N]"));
    MLUOPS_TRY(need_same_dim(kFunction, tensor, 0, dets, 0));
  }
  MLUOPS_TRY(need_packed(kFunction, {dets, matches, order}));
  MLUOPS_TRY(need_float_or_double(kFunction, dets));
  for (const TensorArgument &tensor : {matches, order}) MLUOPS_TRY(need_dtype(kFunction, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_indexable(kFunction, {dets}));
  if (dets.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(kFunction, {dets, matches, order}));
  MLUOPS_TRY(require_no_overlap(kFunction, {matches, order}, {dets}));
  const bool is_double = dets.desc->dtype == MLUOP_DTYPE_DOUBLE;
  const NmsMatchProblem problem{kFunction,
                                iou_threshold,
                                is_double,
                                dets.desc->dims[0],
                                dets.data,
                                static_cast<std::int32_t *>(const_cast<void *>(matches.data)),
                                static_cast<std::int32_t *>(const_cast<void *>(order.data))};
  return launch_nms_match(handle, problem);
}

// How scores are lowered.
struct Lowering {
  double iou_threshold, sigma, min_score;
  int method, offset;
};

mluOpStatus_t lower_scores(mluOpHandle_t handle, const Lowering &how, const Suppressed &t, const TensorArgument &dets,
                           std::int32_t *result_num) {
  constexpr const char *kFunction = "mluopsExtSoftNms";
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(need_descriptors(kFunction, {t.boxes, t.scores, dets, t.output}));
  MLUOPS_TRY(need_between(kFunction, "method", how.method, 0, 2));
  MLUOPS_TRY(need_between(kFunction, "offset", how.offset, 0, 1));
  MLUOPS_TRY(check(kFunction, t, &dets));
  MLUOPS_TRY(need_number(kFunction, result_num));
  const std::int64_t count = t.boxes.desc->dims[0];
  if (count == 0) {
    *result_num = 0;
    return MLUOP_STATUS_SUCCESS;
  }
  MLUOPS_TRY(need_data(kFunction, {t.boxes, t.scores, dets, t.output}));
  MLUOPS_TRY(require_no_overlap(kFunction, {dets, t.output}, {t.boxes, t.scores}));
  for (const TensorArgument &tensor : {t.boxes, t.scores, dets, t.output})
    MLUOPS_TRY(need_apart(kFunction, result_num, tensor));
  SoftNmsProblem problem;
  problem.function = kFunction;
  problem.iou_threshold = how.iou_threshold;
  problem.sigma = how.sigma;
  problem.min_score = how.min_score;
  problem.method = static_cast<SoftNms>(how.method);
  problem.offset = how.offset;
  problem.is_double = t.boxes.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.count = count;
  problem.boxes = t.boxes.data;
  problem.scores = t.scores.data;
  problem.dets = const_cast<void *>(dets.data);
  problem.kept = static_cast<std::int32_t *>(const_cast<void *>(t.output.data));
  problem.kept_count = result_num;
  return launch_soft_nms(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtNms2d(mluOpHandle_t handle, const double iou_threshold, const int offset,
                                           const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                           const mluOpTensorDescriptor_t scores_desc, const void *scores,
                                           const mluOpTensorDescriptor_t output_desc, void *output,
                                           int32_t *result_num) {
  return mluops::guarded("mluopsExtNms2d", [&] {
    return mluops::keep_boxes(
        handle, iou_threshold, offset,
        {{"boxes", boxes_desc, boxes}, {"scores", scores_desc, scores}, {"output", output_desc, output}}, result_num);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtNmsMatch(mluOpHandle_t handle, const double iou_threshold,
                                              const mluOpTensorDescriptor_t dets_desc, const void *dets,
                                              const mluOpTensorDescriptor_t matches_desc, void *matches,
                                              const mluOpTensorDescriptor_t order_desc, void *order) {
  return mluops::guarded("mluopsExtNmsMatch", [&] {
    return mluops::match_boxes(handle, iou_threshold, {"dets", dets_desc, dets}, {"matches", matches_desc, matches},
                               {"order", order_desc, order});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtSoftNms(mluOpHandle_t handle, const double iou_threshold, const double sigma,
                                             const double min_score, const int method, const int offset,
                                             const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                             const mluOpTensorDescriptor_t scores_desc, const void *scores,
                                             const mluOpTensorDescriptor_t dets_desc, void *dets,
                                             const mluOpTensorDescriptor_t output_desc, void *output,
                                             int32_t *result_num) {
  return mluops::guarded("mluopsExtSoftNms", [&] {
    return mluops::lower_scores(
        handle, {iou_threshold, sigma, min_score, method, offset},
        {{"boxes", boxes_desc, boxes}, {"scores", scores_desc, scores}, {"output", output_desc, output}},
        {"dets", dets_desc, dets}, result_num);
  });
}
