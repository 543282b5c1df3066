#include "ops/box_nms/box_nms.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "core/settings.h"

namespace mluops {
namespace {

constexpr const char *kBoxes = "[N, 4], [4, N], [B, N, 4], [B, 4, N], [N, 7] or [7, N]";

struct Tensors {
  TensorArgument boxes;
  TensorArgument confidence;
  TensorArgument output;
};

// What the dims of the boxes say.
struct Sizes {
  bool space;
  std::int64_t batches, classes, count, room;
};

bool of_values(const NmsSettings &s) {
  return s.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_1 ||
         s.output_mode == MLUOP_NMS_OUTPUT_TARGET_CONFIDENCE_AND_POS_2;
}

mluOpStatus_t read_boxes(const Entry &entry, const Tensors &t, const NmsSettings &s, Sizes *sizes) {
  MLUOPS_TRY(need_float_or_half(entry, t.boxes));
  const int rank = t.boxes.desc->rank;
  MLUOPS_REQUIRE(rank == 2 || rank == 3, MLUOP_STATUS_BAD_PARAM, entry, "boxes_desc", kBoxes, describe(t.boxes.desc));
  const std::int64_t *const dims = t.boxes.desc->dims;
  const std::int64_t numbers = dims[s.input_layout == 0 ? rank - 1 : rank - 2];
  sizes->space = rank == 2 && numbers == 7;
  MLUOPS_REQUIRE(numbers == 4 || sizes->space, MLUOP_STATUS_BAD_PARAM, entry, "boxes_desc",
                 Text::format("%s, with input_layout=%d", kBoxes, s.input_layout), describe(t.boxes.desc));
  sizes->count = dims[s.input_layout == 0 ? rank - 2 : rank - 1];
  sizes->batches = rank == 3 ? dims[0] : 1;
  sizes->classes = 1;
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_confidence(const Entry &entry, const Tensors &t, Sizes *sizes) {
  if (sizes->space) {
    MLUOPS_REQUIRE(t.confidence.desc == nullptr, MLUOP_STATUS_BAD_PARAM, entry, "confidence_desc",
                   "NULL for boxes of 7 numbers", describe(t.confidence.desc));
    return MLUOP_STATUS_SUCCESS;
  }
  MLUOPS_TRY(need_descriptors(entry, {t.confidence}));
  const mluOpDataType_t boxes = t.boxes.desc->dtype, type = t.confidence.desc->dtype;
  const bool half_scores = t.boxes.desc->rank == 2 && boxes == MLUOP_DTYPE_FLOAT && type == MLUOP_DTYPE_HALF;
  if (!half_scores) MLUOPS_TRY(need_same_dtype(entry, t.confidence, t.boxes));
  if (t.boxes.desc->rank == 3) {
    MLUOPS_TRY(need_rank(entry, t.confidence, 3, "[B, C, N]"));
    MLUOPS_TRY(need_dim(entry, t.confidence, 0, "B", sizes->batches));
    sizes->classes = t.confidence.desc->dims[1];
    return need_dim(entry, t.confidence, 2, "N", sizes->count);
  }
  MLUOPS_TRY(need_rank(entry, t.confidence, 1, "[N]"));
  return need_dim(entry, t.confidence, 0, "N", sizes->count);
}

mluOpStatus_t check_output(const Entry &entry, const Tensors &t, const NmsSettings &s, Sizes *sizes) {
  if (of_values(s)) {
    MLUOPS_TRY(need_same_dtype(entry, t.output, t.boxes));
  } else if (t.output.desc->dtype != MLUOP_DTYPE_UINT32) {
    MLUOPS_TRY(need_dtype(entry, t.output, MLUOP_DTYPE_INT32));
  }
  const int mode = s.output_mode, across = mode == 0 ? 0 : mode == 3 ? 3 : 5, along = mode == 2 ? 1 : 0;
  static const char *const kShapes[] = {"[M]", "[M, 5]", "[5, M]", "[M, 3]"};
  MLUOPS_TRY(need_rank(entry, t.output, across == 0 ? 1 : 2, kShapes[mode]));
  if (across != 0)
    MLUOPS_TRY(need_dim(entry, t.output, 1 - along, mode == 3 ? "batch, class, box" : "score, box", across));
  sizes->room = t.output.desc->dims[along];
  const std::int64_t all = sizes->batches * sizes->classes;
  std::int64_t most = s.pad_to_max_output_size || s.max_output_size < sizes->count ? s.max_output_size : sizes->count;
  if (sizes->space) most = sizes->count;
  MLUOPS_REQUIRE(all == 0 || sizes->room / all >= most, MLUOP_STATUS_BAD_PARAM, entry, "output_desc",
                 Text::format("room for %lld picks", static_cast<long long>(all * most)), describe(t.output.desc));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_modes(const Entry &entry, const NmsSettings &s, const Sizes &sizes) {
  const int mode = s.output_mode;
  if (sizes.space) {
    MLUOPS_REQUIRE(mode == 0, MLUOP_STATUS_BAD_PARAM, entry, "nms_desc", "output_mode=0 for boxes of 7 numbers",
                   Text::format("output_mode=%d", mode));
  } else if (mode != MLUOP_NMS_OUTPUT_TARGET_BATCH_AND_CLASS) {
    MLUOPS_REQUIRE(sizes.batches == 1 && sizes.classes == 1, MLUOP_STATUS_BAD_PARAM, entry, "nms_desc",
                   "output_mode=3 for several batches or classes", Text::format("output_mode=%d", mode));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_memory(const Entry &entry, const Tensors &t, bool has_scores, const void *picks) {
  MLUOPS_TRY(need_data(entry, {t.boxes, t.output}));
  if (has_scores) MLUOPS_TRY(need_data(entry, {t.confidence}));
  MLUOPS_TRY(require_no_overlap(entry, {t.output}, {t.boxes}));
  if (has_scores) MLUOPS_TRY(require_no_overlap(entry, {t.output}, {t.confidence}));
  for (const TensorArgument &tensor : {t.boxes, t.confidence, t.output}) {
    if (tensor.desc == nullptr) continue;
    MLUOPS_TRY(require_no_overlap(entry, "output_size", picks, sizeof(std::int32_t), tensor.name, tensor.data,
                                  tensor.desc->bytes()));
  }
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check(const Entry &entry, const Tensors &t, const NmsSettings &settings, const void *output_size,
                    Sizes *sizes) {
  MLUOPS_TRY(read_boxes(entry, t, settings, sizes));
  MLUOPS_TRY(check_confidence(entry, t, sizes));
  MLUOPS_TRY(check_modes(entry, settings, *sizes));
  MLUOPS_TRY(check_output(entry, t, settings, sizes));
  MLUOPS_TRY(need_pointer(entry, "output_size", output_size));
  MLUOPS_REQUIRE(reinterpret_cast<std::uintptr_t>(output_size) % alignof(std::int32_t) == 0, MLUOP_STATUS_BAD_PARAM,
                 entry, "output_size", "an address aligned to 4 bytes", Text::format("%p", output_size));
  MLUOPS_TRY(need_packed(entry, {t.boxes, t.output}));
  MLUOPS_TRY(need_indexable(entry, {t.boxes, t.output}));
  if (!sizes->space) {
    MLUOPS_TRY(need_packed(entry, {t.confidence}));
    MLUOPS_TRY(need_indexable(entry, {t.confidence}));
  }
  MLUOPS_REQUIRE(settings.method_mode == MLUOP_NMS_HARD_NMS, MLUOP_STATUS_NOT_SUPPORTED, entry, "nms_desc",
                 "method_mode=0, or mluopsExtSoftNms", Text::format("method_mode=%d", settings.method_mode));
  return MLUOP_STATUS_SUCCESS;
}

NmsProblem problem_of(const Entry &entry, const Tensors &t, const NmsSettings &settings, const Sizes &sizes) {
  NmsProblem problem;
  problem.function = entry.function;
  problem.box_type = t.boxes.desc->dtype;
  problem.score_type = sizes.space ? problem.box_type : t.confidence.desc->dtype;
  problem.space = sizes.space;
  problem.columns_first = settings.input_layout == 1;
  problem.centred = settings.box_mode == 1;
  problem.pad = settings.pad_to_max_output_size;
  problem.output_mode = static_cast<NmsOutput>(settings.output_mode);
  problem.iou_threshold = settings.iou_threshold;
  problem.least_score = settings.confidence_threshold;
  problem.offset = settings.offset;
  problem.batches = sizes.batches;
  problem.classes = sizes.classes;
  problem.count = sizes.count;
  problem.most = settings.max_output_size;
  problem.room = sizes.room;
  problem.boxes = t.boxes.data;
  problem.scores = t.confidence.data;
  problem.output = const_cast<void *>(t.output.data);
  return problem;
}

}  // namespace

mluOpStatus_t nms(const Entry &entry, mluOpHandle_t handle, mluOpNmsDescriptor_t nms_desc, const TensorArgument &boxes,
                  const TensorArgument &confidence, void *, std::size_t, const TensorArgument &output,
                  void *output_size) {
  const Tensors t{boxes, confidence, output};
  NmsSettings settings{};
  Sizes sizes{};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {boxes}));
  MLUOPS_TRY(read_settings(entry, "nms_desc", nms_desc, &settings));
  MLUOPS_TRY(need_descriptors(entry, {output}));
  MLUOPS_TRY(check(entry, t, settings, output_size, &sizes));
  NmsProblem problem = problem_of(entry, t, settings, sizes);
  problem.picks = static_cast<std::int32_t *>(output_size);
  const bool empty = boxes.desc->count == 0 || sizes.classes == 0;
  const bool none = empty || (!sizes.space && settings.max_output_size == 0);
  const bool writes = !none || (problem.pad && output.desc->count > 0);
  // Settings that select no box excuse no wrong address.
  if (!empty || writes) MLUOPS_TRY(check_memory(entry, t, !sizes.space, output_size));
  if (!writes) {
    *problem.picks = 0;
    return MLUOP_STATUS_SUCCESS;
  }
  return launch_nms(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(Nms);

mluOpStatus_t MLUOP_WIN_API mluOpGetNmsWorkspaceSize(mluOpHandle_t handle, mluOpNmsDescriptor_t,
                                                     const mluOpTensorDescriptor_t boxes_desc,
                                                     const mluOpTensorDescriptor_t confidence_desc, size_t *size) {
  return mluops::guarded("mluOpGetNmsWorkspaceSize", [&] {
    constexpr const char *kFunction = "mluOpGetNmsWorkspaceSize";
    MLUOPS_TRY(mluops::need_handle(kFunction, handle));
    MLUOPS_TRY(mluops::need_descriptors(kFunction, {{"boxes", boxes_desc, nullptr}}));
    MLUOPS_TRY(mluops::need_descriptors_or_null(kFunction, {{"confidence", confidence_desc, nullptr}}));
    MLUOPS_TRY(mluops::need_pointer(kFunction, "size", size));
    *size = 0;
    return MLUOP_STATUS_SUCCESS;
  });
}

mluOpStatus_t MLUOP_WIN_API mluOpNms(mluOpHandle_t handle, const mluOpNmsDescriptor_t nms_desc,
                                     const mluOpTensorDescriptor_t boxes_desc, const void *boxes,
                                     const mluOpTensorDescriptor_t confidence_desc, const void *confidence,
                                     void *workspace, size_t workspace_size, const mluOpTensorDescriptor_t output_desc,
                                     void *output, void *output_size) {
  return mluops::guarded("mluOpNms", [&] {
    return mluops::nms({"mluOpNms"}, handle, nms_desc, {"boxes", boxes_desc, boxes},
                       {"confidence", confidence_desc, confidence}, workspace, workspace_size,
                       {"output", output_desc, output}, output_size);
  });
}
