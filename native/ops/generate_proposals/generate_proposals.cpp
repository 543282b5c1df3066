#include "ops/generate_proposals/generate_proposals.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"
#include "mluops_ext/generate_proposals.h"

namespace mluops {
namespace {

constexpr const char *kScoreDims = "[N, H, W, A]";

struct Tensors {
  TensorArgument scores;
  TensorArgument bbox_deltas;
  TensorArgument im_shape;
  TensorArgument anchors;
  TensorArgument variances;
  TensorArgument rpn_rois;
  TensorArgument rpn_roi_probs;
  TensorArgument rpn_rois_num;
};

struct Numbers {
  int pre_nms_top_n;
  int post_nms_top_n;
  double nms_thresh;
  double min_size;
  double eta;
  bool pixel_offset;
};

// The size of the workspace is asked for with descriptors of float, and of double.
mluOpStatus_t workspace_size(const Entry &entry, mluOpHandle_t handle, const TensorArgument &scores,
                             std::size_t *size) {
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {scores}));
  MLUOPS_TRY(need_pointer(entry, "size", size));
  MLUOPS_TRY(need_float({entry.function, scores.desc->dtype == MLUOP_DTYPE_DOUBLE}, scores));
  MLUOPS_TRY(need_layout(entry, scores, MLUOP_LAYOUT_ARRAY));
  MLUOPS_TRY(need_rank(entry, scores, 4, kScoreDims));
  MLUOPS_TRY(need_nonzero_dim(entry, scores, 1, "H"));
  MLUOPS_TRY(need_nonzero_dim(entry, scores, 2, "W"));
  MLUOPS_TRY(need_nonzero_dim(entry, scores, 3, "A"));
  MLUOPS_TRY(need_indexable(entry, {scores}));
  *size = 0;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_types(const Entry &entry, const Tensors &t) {
  for (const TensorArgument &tensor :
       {t.scores, t.bbox_deltas, t.im_shape, t.anchors, t.variances, t.rpn_rois, t.rpn_roi_probs})
    MLUOPS_TRY(need_float(entry, tensor));
  MLUOPS_TRY(need_dtype(entry, t.rpn_rois_num, MLUOP_DTYPE_INT32));
  for (const TensorArgument &tensor :
       {t.scores, t.bbox_deltas, t.im_shape, t.anchors, t.variances, t.rpn_rois, t.rpn_roi_probs, t.rpn_rois_num})
    MLUOPS_TRY(need_layout(entry, tensor, MLUOP_LAYOUT_ARRAY));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_inputs(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.scores, 4, kScoreDims));
  MLUOPS_TRY(need_rank(entry, t.bbox_deltas, 4, "[N, H, W, 4 * A]"));
  for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(entry, t.bbox_deltas, dim, t.scores, dim));
  const std::int64_t anchors = t.scores.desc->dims[3];
  MLUOPS_TRY(need_dim(entry, t.bbox_deltas, 3, "4 * A", 4 * anchors));
  MLUOPS_TRY(need_rank(entry, t.im_shape, 2, "[N, 2]"));
  MLUOPS_TRY(need_same_dim(entry, t.im_shape, 0, t.scores, 0));
  MLUOPS_TRY(need_dim(entry, t.im_shape, 1, "height and width", 2));
  for (const TensorArgument &tensor : {t.anchors, t.variances}) {
    MLUOPS_TRY(need_rank(entry, tensor, 4, "[H, W, A, 4]"));
    for (int dim = 0; dim < 3; ++dim) MLUOPS_TRY(need_same_dim(entry, tensor, dim, t.scores, dim + 1));
    MLUOPS_TRY(need_dim(entry, tensor, 3, "the coordinates", 4));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_outputs(const Entry &entry, const Tensors &t, int post_nms_top_n) {
  // An image without boxes gets a row.
  MLUOPS_TRY(need_at_least(entry, "post_nms_top_n", post_nms_top_n, 1));
  const std::int64_t batch = t.scores.desc->dims[0], rows = batch * post_nms_top_n;
  MLUOPS_TRY(need_rank(entry, t.rpn_rois, 2, "[N * post_nms_top_n, 4]"));
  MLUOPS_TRY(need_dim(entry, t.rpn_rois, 0, "N * post_nms_top_n", rows));
  MLUOPS_TRY(need_dim(entry, t.rpn_rois, 1, "the coordinates", 4));
  MLUOPS_TRY(need_rank(entry, t.rpn_roi_probs, 2, "[N * post_nms_top_n, 1]"));
  MLUOPS_TRY(need_dim(entry, t.rpn_roi_probs, 0, "N * post_nms_top_n", rows));
  MLUOPS_TRY(need_dim(entry, t.rpn_roi_probs, 1, "the score", 1));
  MLUOPS_TRY(need_rank(entry, t.rpn_rois_num, 1, "[N]"));
  MLUOPS_TRY(need_same_dim(entry, t.rpn_rois_num, 0, t.scores, 0));
  MLUOPS_TRY(need_nonzero_dim(entry, t.scores, 1, "H"));
  MLUOPS_TRY(need_nonzero_dim(entry, t.scores, 2, "W"));
  return need_nonzero_dim(entry, t.scores, 3, "A");
}

mluOpStatus_t check_numbers(const Entry &entry, const Numbers &n, bool adaptive) {
  if (adaptive) {
    MLUOPS_REQUIRE(!(n.eta <= 0), MLUOP_STATUS_BAD_PARAM, entry, "eta", "a number > 0", Text::format("%g", n.eta));
  } else {
    MLUOPS_REQUIRE(!(n.eta < 1), MLUOP_STATUS_BAD_PARAM, entry, "eta", "a number >= 1", Text::format("%g", n.eta));
  }
  MLUOPS_REQUIRE(n.nms_thresh > 0, MLUOP_STATUS_BAD_PARAM, entry, "nms_thresh", "a number > 0",
                 Text::format("%g", n.nms_thresh));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_memory(const Entry &entry, const Tensors &t, const void *workspace, std::size_t size,
                           const void *total) {
  MLUOPS_REQUIRE(reinterpret_cast<std::uintptr_t>(total) % alignof(std::int32_t) == 0, MLUOP_STATUS_BAD_PARAM, entry,
                 "rpn_rois_batch_size", "an address aligned to 4 bytes", Text::format("%p", total));
  MLUOPS_TRY(require_no_overlap(entry, {t.rpn_rois, t.rpn_roi_probs, t.rpn_rois_num},
                                {t.scores, t.bbox_deltas, t.im_shape, t.anchors, t.variances}));
  const std::int64_t bytes = static_cast<std::int64_t>(size);
  MLUOPS_TRY(
      require_no_overlap(entry, "rpn_rois_batch_size", total, sizeof(std::int32_t), "workspace", workspace, bytes));
  for (const TensorArgument &tensor :
       {t.scores, t.bbox_deltas, t.im_shape, t.anchors, t.variances, t.rpn_rois, t.rpn_roi_probs, t.rpn_rois_num}) {
    const std::int64_t other = tensor.desc->bytes();
    MLUOPS_TRY(require_no_overlap(entry, "workspace", workspace, bytes, tensor.name, tensor.data, other));
    MLUOPS_TRY(
        require_no_overlap(entry, "rpn_rois_batch_size", total, sizeof(std::int32_t), tensor.name, tensor.data, other));
  }
  return MLUOP_STATUS_SUCCESS;
}

GenerateProposalsProblem problem_of(const Entry &entry, const Tensors &t, const Numbers &n, void *total) {
  const auto *dims = t.scores.desc->dims;
  GenerateProposalsProblem problem{};
  problem.function = entry.function;
  problem.is_double = entry.in_double;
  problem.batch = dims[0];
  problem.anchor_count = std::int64_t{dims[1]} * dims[2] * dims[3];
  const bool all = n.pre_nms_top_n <= 0 || n.pre_nms_top_n > problem.anchor_count;
  problem.most_ranked = all ? problem.anchor_count : n.pre_nms_top_n;
  problem.most_kept = n.post_nms_top_n;
  problem.nms_threshold = n.nms_thresh;
  problem.eta = n.eta;
  problem.min_size = n.min_size;
  problem.pixel_offset = n.pixel_offset;
  problem.scores = t.scores.data;
  problem.deltas = t.bbox_deltas.data;
  problem.im_shape = t.im_shape.data;
  problem.anchors = t.anchors.data;
  problem.variances = t.variances.data;
  problem.rois = const_cast<void *>(t.rpn_rois.data);
  problem.probabilities = const_cast<void *>(t.rpn_roi_probs.data);
  problem.counts = static_cast<std::int32_t *>(const_cast<void *>(t.rpn_rois_num.data));
  problem.total = static_cast<std::int32_t *>(total);
  return problem;
}

// If `adaptive`, the threshold may fall.
mluOpStatus_t propose(const Entry &entry, mluOpHandle_t handle, const Numbers &n, bool adaptive, const Tensors &t,
                      void *workspace, std::size_t workspace_size, void *rpn_rois_batch_size) {
  const TensorArgument &scores = t.scores, &bbox_deltas = t.bbox_deltas, &im_shape = t.im_shape, &anchors = t.anchors,
                       &variances = t.variances, &rpn_rois = t.rpn_rois, &rpn_roi_probs = t.rpn_roi_probs,
                       &rpn_rois_num = t.rpn_rois_num;
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {scores, bbox_deltas, im_shape, anchors, variances}));
  MLUOPS_TRY(need_pointer(entry, "rpn_rois_batch_size", rpn_rois_batch_size));
  MLUOPS_TRY(need_descriptors(entry, {rpn_rois, rpn_roi_probs, rpn_rois_num}));
  MLUOPS_TRY(check_types(entry, t));
  MLUOPS_TRY(check_inputs(entry, t));
  MLUOPS_TRY(check_outputs(entry, t, n.post_nms_top_n));
  MLUOPS_TRY(
      need_packed(entry, {scores, bbox_deltas, im_shape, anchors, variances, rpn_rois, rpn_roi_probs, rpn_rois_num}));
  if (scores.desc->dims[0] == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(
      need_data(entry, {scores, bbox_deltas, im_shape, anchors, variances, rpn_rois, rpn_roi_probs, rpn_rois_num}));
  if (workspace_size > 0) MLUOPS_TRY(need_pointer(entry, "workspace", workspace));
  MLUOPS_TRY(check_numbers(entry, n, adaptive));
  MLUOPS_TRY(need_indexable(entry, {scores, bbox_deltas, anchors, variances, rpn_rois}));
  MLUOPS_TRY(check_memory(entry, t, workspace, workspace_size, rpn_rois_batch_size));
  return launch_generate_proposals(handle, problem_of(entry, t, n, rpn_rois_batch_size));
}

}  // namespace

mluOpStatus_t generate_proposals_v2(const Entry &entry, mluOpHandle_t handle, int pre_nms_top_n, int post_nms_top_n,
                                    double nms_thresh, double min_size, double eta, bool pixel_offset,
                                    const TensorArgument &scores, const TensorArgument &bbox_deltas,
                                    const TensorArgument &im_shape, const TensorArgument &anchors,
                                    const TensorArgument &variances, void *workspace, std::size_t workspace_size,
                                    const TensorArgument &rpn_rois, const TensorArgument &rpn_roi_probs,
                                    const TensorArgument &rpn_rois_num, void *rpn_rois_batch_size) {
  return propose(entry, handle, {pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, eta, pixel_offset}, false,
                 {scores, bbox_deltas, im_shape, anchors, variances, rpn_rois, rpn_roi_probs, rpn_rois_num}, workspace,
                 workspace_size, rpn_rois_batch_size);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(GenerateProposalsV2);

mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize(mluOpHandle_t handle,
                                                                     const mluOpTensorDescriptor_t scores_desc,
                                                                     size_t *size) {
  constexpr const char *kFunction = "mluOpGetGenerateProposalsV2WorkspaceSize";
  return mluops::guarded(
      kFunction, [&] { return mluops::workspace_size({kFunction}, handle, {"scores", scores_desc, nullptr}, size); });
}

mluOpStatus_t MLUOP_WIN_API mluOpGetGenerateProposalsV2WorkspaceSize_v2(mluOpHandle_t handle,
                                                                        const mluOpTensorDescriptor_t scores_desc,
                                                                        const int32_t /*pre_nms_top_n*/, size_t *size) {
  constexpr const char *kFunction = "mluOpGetGenerateProposalsV2WorkspaceSize_v2";
  return mluops::guarded(
      kFunction, [&] { return mluops::workspace_size({kFunction}, handle, {"scores", scores_desc, nullptr}, size); });
}

mluOpStatus_t MLUOP_WIN_API mluOpGenerateProposalsV2(
    mluOpHandle_t handle, const int pre_nms_top_n, const int post_nms_top_n, const float nms_thresh,
    const float min_size, const float eta, bool pixel_offset, const mluOpTensorDescriptor_t scores_desc,
    const void *scores, const mluOpTensorDescriptor_t bbox_deltas_desc, const void *bbox_deltas,
    const mluOpTensorDescriptor_t im_shape_desc, const void *im_shape, const mluOpTensorDescriptor_t anchors_desc,
    const void *anchors, const mluOpTensorDescriptor_t variances_desc, const void *variances, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t rpn_rois_desc, void *rpn_rois,
    const mluOpTensorDescriptor_t rpn_roi_probs_desc, void *rpn_roi_probs,
    const mluOpTensorDescriptor_t rpn_rois_num_desc, void *rpn_rois_num, void *rpn_rois_batch_size) {
  return mluops::guarded("mluOpGenerateProposalsV2", [&] {
    return mluops::generate_proposals_v2(
        {"mluOpGenerateProposalsV2"}, handle, pre_nms_top_n, post_nms_top_n, static_cast<double>(nms_thresh),
        static_cast<double>(min_size), static_cast<double>(eta), pixel_offset, {"scores", scores_desc, scores},
        {"bbox_deltas", bbox_deltas_desc, bbox_deltas}, {"im_shape", im_shape_desc, im_shape},
        {"anchors", anchors_desc, anchors}, {"variances", variances_desc, variances}, workspace, workspace_size,
        {"rpn_rois", rpn_rois_desc, rpn_rois}, {"rpn_roi_probs", rpn_roi_probs_desc, rpn_roi_probs},
        {"rpn_rois_num", rpn_rois_num_desc, rpn_rois_num}, rpn_rois_batch_size);
  });
}

mluOpStatus_t MLUOP_WIN_API mluopsExtGenerateProposals(
    mluOpHandle_t handle, const int pre_nms_top_n, const int post_nms_top_n, const double nms_thresh,
    const double min_size, const double eta, const bool pixel_offset, const mluOpTensorDescriptor_t scores_desc,
    const void *scores, const mluOpTensorDescriptor_t bbox_deltas_desc, const void *bbox_deltas,
    const mluOpTensorDescriptor_t im_shape_desc, const void *im_shape, const mluOpTensorDescriptor_t anchors_desc,
    const void *anchors, const mluOpTensorDescriptor_t variances_desc, const void *variances, void *workspace,
    size_t workspace_size, const mluOpTensorDescriptor_t rpn_rois_desc, void *rpn_rois,
    const mluOpTensorDescriptor_t rpn_roi_probs_desc, void *rpn_roi_probs,
    const mluOpTensorDescriptor_t rpn_rois_num_desc, void *rpn_rois_num, void *rpn_rois_batch_size) {
  constexpr const char *kFunction = "mluopsExtGenerateProposals";
  return mluops::guarded(kFunction, [&] {
    const bool in_double = mluops::alive(scores_desc) && scores_desc->dtype == MLUOP_DTYPE_DOUBLE;
    return mluops::propose({kFunction, in_double}, handle,
                           {pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, eta, pixel_offset}, true,
                           {{"scores", scores_desc, scores},
                            {"bbox_deltas", bbox_deltas_desc, bbox_deltas},
                            {"im_shape", im_shape_desc, im_shape},
                            {"anchors", anchors_desc, anchors},
                            {"variances", variances_desc, variances},
                            {"rpn_rois", rpn_rois_desc, rpn_rois},
                            {"rpn_roi_probs", rpn_roi_probs_desc, rpn_roi_probs},
                            {"rpn_rois_num", rpn_rois_num_desc, rpn_rois_num}},
                           workspace, workspace_size, rpn_rois_batch_size);
  });
}
