#include "ops/text_regions/text_regions.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mluops_ext/text_regions.h"

namespace mluops {
namespace {

struct Contours {
  TensorArgument mask;
  TensorArgument label;
  TensorArgument output;
};

mluOpStatus_t expand(mluOpHandle_t handle, int min_kernel_area, int label_count, const Contours &t) {
  constexpr const char *kFunction = "mluopsExtContourExpand";
  MLUOPS_TRY(need_handle(kFunction, handle));
  MLUOPS_TRY(need_descriptors(kFunction, {t.mask, t.label, t.output}));
  MLUOPS_TRY(need_at_least(kFunction, "label_count", label_count, 1));
  MLUOPS_TRY(need_rank(kFunction, t.mask, 3, "[K, H, W]"));
  for (const TensorArgument &tensor : {t.label, t.output}) {
    MLUOPS_TRY(need_rank(kFunction, tensor, 2, "[H, W]"));
    MLUOPS_TRY(need_same_dim(kFunction, tensor, 0, t.mask, 1));
    MLUOPS_TRY(need_same_dim(kFunction, tensor, 1, t.mask, 2));
  }
  MLUOPS_TRY(need_packed(kFunction, {t.mask, t.label, t.output}));
  MLUOPS_TRY(need_dtype(kFunction, t.mask, MLUOP_DTYPE_BOOL));
  for (const TensorArgument &tensor : {t.label, t.output}) MLUOPS_TRY(need_dtype(kFunction, tensor, MLUOP_DTYPE_INT32));
  MLUOPS_TRY(need_nonzero_dim(kFunction, t.mask, 0, "K"));
  MLUOPS_TRY(need_indexable(kFunction, {t.mask, t.label}));
  if (t.label.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(kFunction, {t.mask, t.label, t.output}));
  MLUOPS_TRY(require_no_overlap(kFunction, {t.output}, {t.mask, t.label}));
  ContourExpandProblem problem;
  problem.function = kFunction;
  problem.least_area = min_kernel_area;
  problem.labels = label_count;
  problem.masks = t.mask.desc->dims[0];
  problem.height = t.label.desc->dims[0];
  problem.width = t.label.desc->dims[1];
  problem.mask = static_cast<const unsigned char *>(t.mask.data);
  problem.label = static_cast<const std::int32_t *>(t.label.data);
  problem.output = static_cast<std::int32_t *>(const_cast<void *>(t.output.data));
  return launch_contour_expand(handle, problem);
}

struct Pixels {
  TensorArgument score;
  TensorArgument mask;
  TensorArgument embedding;
  TensorArgument label;
  TensorArgument contour;
  TensorArgument output;
  TensorArgument scores;
  TensorArgument counts;
};

constexpr const char *kPixelGroup = "mluopsExtPixelGroup";

mluOpStatus_t check_shapes(const Pixels &t, int label_count) {
  MLUOPS_TRY(need_rank(kPixelGroup, t.score, 2, "[H, W]"));
  for (const TensorArgument &tensor : {t.mask, t.label, t.contour, t.output}) {
    MLUOPS_TRY(need_rank(kPixelGroup, tensor, 2, "[H, W]"));
    MLUOPS_TRY(need_same_shape(kPixelGroup, tensor, t.score));
  }
  MLUOPS_TRY(need_rank(kPixelGroup, t.embedding, 3, "[H, W, C]"));
  MLUOPS_TRY(need_same_dim(kPixelGroup, t.embedding, 0, t.score, 0));
  MLUOPS_TRY(need_same_dim(kPixelGroup, t.embedding, 1, t.score, 1));
  for (const TensorArgument &tensor : {t.scores, t.counts}) {
    MLUOPS_TRY(need_rank(kPixelGroup, tensor, 1, "[label_count]"));
    MLUOPS_TRY(need_dim(kPixelGroup, tensor, 0, "label_count", label_count));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_types(const Pixels &t) {
  MLUOPS_TRY(need_float({kPixelGroup, t.score.desc->dtype == MLUOP_DTYPE_DOUBLE}, t.score));
  for (const TensorArgument &tensor : {t.embedding, t.scores})
    MLUOPS_TRY(need_same_dtype(kPixelGroup, tensor, t.score));
  for (const TensorArgument &tensor : {t.mask, t.contour})
    MLUOPS_TRY(need_dtype(kPixelGroup, tensor, MLUOP_DTYPE_BOOL));
  for (const TensorArgument &tensor : {t.label, t.output, t.counts})
    MLUOPS_TRY(need_dtype(kPixelGroup, tensor, MLUOP_DTYPE_INT32));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t group(mluOpHandle_t handle, int label_count, double distance_threshold, const Pixels &t) {
  MLUOPS_TRY(need_handle(kPixelGroup, handle));
  MLUOPS_TRY(
      need_descriptors(kPixelGroup, {t.score, t.mask, t.embedding, t.label, t.contour, t.output, t.scores, t.counts}));
  MLUOPS_TRY(need_at_least(kPixelGroup, "label_count", label_count, 1));
  MLUOPS_TRY(check_shapes(t, label_count));
  MLUOPS_TRY(
      need_packed(kPixelGroup, {t.score, t.mask, t.embedding, t.label, t.contour, t.output, t.scores, t.counts}));
  MLUOPS_TRY(check_types(t));
  for (const TensorArgument &tensor : {t.score, t.embedding}) MLUOPS_TRY(need_elements(kPixelGroup, tensor));
  MLUOPS_TRY(need_indexable(kPixelGroup, {t.score, t.embedding}));
  MLUOPS_TRY(need_data(kPixelGroup, {t.score, t.mask, t.embedding, t.label, t.contour, t.output, t.scores, t.counts}));
  MLUOPS_TRY(require_no_overlap(kPixelGroup, {t.output, t.scores, t.counts},
                                {t.score, t.mask, t.embedding, t.label, t.contour}));
  PixelGroupProblem problem;
  problem.function = kPixelGroup;
  problem.distance = distance_threshold;
  problem.labels = label_count;
  problem.height = t.score.desc->dims[0];
  problem.width = t.score.desc->dims[1];
  problem.channels = t.embedding.desc->dims[2];
  problem.is_double = t.score.desc->dtype == MLUOP_DTYPE_DOUBLE;
  problem.score = t.score.data;
  problem.mask = static_cast<const unsigned char *>(t.mask.data);
  problem.embedding = t.embedding.data;
  problem.label = static_cast<const std::int32_t *>(t.label.data);
  problem.contour = static_cast<const unsigned char *>(t.contour.data);
  problem.output = static_cast<std::int32_t *>(const_cast<void *>(t.output.data));
  problem.means = const_cast<void *>(t.scores.data);
  problem.counts = static_cast<std::int32_t *>(const_cast<void *>(t.counts.data));
  return launch_pixel_group(handle, problem);
}

}  // namespace
}  // namespace mluops

mluOpStatus_t MLUOP_WIN_API mluopsExtContourExpand(mluOpHandle_t handle, const int min_kernel_area,
                                                   const int label_count,
                                                   const mluOpTensorDescriptor_t kernel_mask_desc,
                                                   const void *kernel_mask,
                                                   const mluOpTensorDescriptor_t internal_kernel_label_desc,
                                                   const void *internal_kernel_label,
                                                   const mluOpTensorDescriptor_t output_desc, void *output) {
  return mluops::guarded("mluopsExtContourExpand", [&] {
    return mluops::expand(handle, min_kernel_area, label_count,
                          {{"kernel_mask", kernel_mask_desc, kernel_mask},
                           {"internal_kernel_label", internal_kernel_label_desc, internal_kernel_label},
                           {"output", output_desc, output}});
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtPixelGroup(
    mluOpHandle_t handle, const int label_count, const double distance_threshold,
    const mluOpTensorDescriptor_t score_desc, const void *score, const mluOpTensorDescriptor_t mask_desc,
    const void *mask, const mluOpTensorDescriptor_t embedding_desc, const void *embedding,
    const mluOpTensorDescriptor_t kernel_label_desc, const void *kernel_label,
    const mluOpTensorDescriptor_t kernel_contour_desc, const void *kernel_contour,
    const mluOpTensorDescriptor_t output_desc, void *output, const mluOpTensorDescriptor_t scores_desc, void *scores,
    const mluOpTensorDescriptor_t counts_desc, void *counts) {
  return mluops::guarded("mluopsExtPixelGroup", [&] {
    return mluops::group(handle, label_count, distance_threshold,
                         {{"score", score_desc, score},
                          {"mask", mask_desc, mask},
                          {"embedding", embedding_desc, embedding},
                          {"kernel_label", kernel_label_desc, kernel_label},
                          {"kernel_contour", kernel_contour_desc, kernel_contour},
                          {"output", output_desc, output},
                          {"scores", scores_desc, scores},
                          {"counts", counts_desc, counts}});
  });
}
