#include "ops/prior_box/prior_box.h"

#include "core/check.h"
#include "core/exception_guard.h"
#include "mlu_op.h"

namespace mluops {
namespace {

struct Tensors {
  TensorArgument min_sizes;
  TensorArgument aspect_ratios;
  TensorArgument variances;
  TensorArgument max_sizes;
  TensorArgument output;
  TensorArgument var;
};

mluOpStatus_t check_ranks(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_rank(entry, t.min_sizes, 1, "[Nm]"));
  MLUOPS_TRY(need_rank(entry, t.aspect_ratios, 1, "[Na]"));
  MLUOPS_TRY(need_rank(entry, t.variances, 1, "[4]"));
  MLUOPS_TRY(need_rank(entry, t.max_sizes, 1, "[Nm] or [0]"));
  MLUOPS_TRY(need_rank(entry, t.output, 4, "[height, width, P, 4]"));
  return need_rank(entry, t.var, 4, "[height, width, P, 4]");
}

mluOpStatus_t check_sizes(const Entry &entry, const Tensors &t, int height, int width) {
  MLUOPS_TRY(need_dim(entry, t.variances, 0, "the coordinates", 4));
  MLUOPS_TRY(need_dim(entry, t.output, 0, "height", height));
  MLUOPS_TRY(need_dim(entry, t.output, 1, "width", width));
  for (const TensorArgument &tensor : {t.output, t.var}) MLUOPS_TRY(need_dim(entry, tensor, 3, "the coordinates", 4));
  MLUOPS_TRY(need_at_least(entry, "height", height, 0));
  return need_at_least(entry, "width", width, 0);
}

mluOpStatus_t check_step(const Entry &entry, const char *name, double step) {
  MLUOPS_REQUIRE(step > 0, MLUOP_STATUS_BAD_PARAM, entry, name, "a number > 0", Text::format("%g", step));
  return MLUOP_STATUS_SUCCESS;
}

mluOpStatus_t check_counts(const Entry &entry, const Tensors &t) {
  MLUOPS_TRY(need_same_shape(entry, t.var, t.output));
  const std::int64_t least = t.min_sizes.desc->dims[0], most = t.max_sizes.desc->dims[0];
  if (most != 0) MLUOPS_TRY(need_same_dim(entry, t.max_sizes, 0, t.min_sizes, 0));
  return need_dim(entry, t.output, 2, "Nm * Na + Nx", least * t.aspect_ratios.desc->dims[0] + most);
}

PriorBoxProblem problem_of(const Entry &entry, const Tensors &t) {
  PriorBoxProblem problem{};
  problem.function = entry.function;
  problem.is_double = entry.in_double;
  problem.min_count = t.min_sizes.desc->dims[0];
  problem.ratio_count = t.aspect_ratios.desc->dims[0];
  problem.has_maxima = t.max_sizes.desc->dims[0] != 0;
  problem.boxes = t.output.desc->dims[2];
  problem.height = t.output.desc->dims[0];
  problem.width = t.output.desc->dims[1];
  problem.min_sizes = t.min_sizes.data;
  problem.aspect_ratios = t.aspect_ratios.data;
  problem.variances = t.variances.data;
  problem.max_sizes = t.max_sizes.data;
  problem.output = const_cast<void *>(t.output.data);
  problem.var = const_cast<void *>(t.var.data);
  return problem;
}

}  // namespace

mluOpStatus_t prior_box(const Entry &entry, mluOpHandle_t handle, const TensorArgument &min_sizes,
                        const TensorArgument &aspect_ratios, const TensorArgument &variances,
                        const TensorArgument &max_sizes, int height, int width, int im_height, int im_width,
                        double step_h, double step_w, double offset, bool clip, bool min_max_aspect_ratios_order,
                        const TensorArgument &output, const TensorArgument &var) {
  const Tensors t{min_sizes, aspect_ratios, variances, max_sizes, output, var};
  MLUOPS_TRY(need_handle(entry, handle));
  MLUOPS_TRY(need_descriptors(entry, {min_sizes, aspect_ratios, variances, max_sizes, output, var}));
  MLUOPS_TRY(check_ranks(entry, t));
  MLUOPS_TRY(check_sizes(entry, t, height, width));
  for (const TensorArgument &tensor : {min_sizes, aspect_ratios, variances, max_sizes, output, var})
    MLUOPS_TRY(need_float(entry, tensor));
  MLUOPS_TRY(check_step(entry, "step_h", step_h));
  MLUOPS_TRY(check_step(entry, "step_w", step_w));
  MLUOPS_TRY(need_packed(entry, {min_sizes, aspect_ratios, variances, max_sizes, output, var}));
  MLUOPS_TRY(check_counts(entry, t));
  MLUOPS_TRY(need_indexable(entry, {min_sizes, aspect_ratios, max_sizes, output, var}));
  for (const TensorArgument &tensor : {min_sizes, aspect_ratios}) MLUOPS_TRY(need_elements(entry, tensor));
  if (output.desc->count == 0) return MLUOP_STATUS_SUCCESS;
  MLUOPS_TRY(need_data(entry, {min_sizes, aspect_ratios, variances, output, var}));
  if (max_sizes.desc->count != 0) MLUOPS_TRY(need_data(entry, {max_sizes}));
  MLUOPS_TRY(require_no_overlap(entry, {output, var}, {min_sizes, aspect_ratios, variances, max_sizes}));
  PriorBoxProblem problem = problem_of(entry, t);
  problem.im_height = im_height;
  problem.im_width = im_width;
  problem.step_h = step_h;
  problem.step_w = step_w;
  problem.offset = offset;
  problem.clip = clip;
  problem.squares_first = min_max_aspect_ratios_order;
  return launch_prior_box(handle, problem);
}

}  // namespace mluops

MLUOPS_IN_DOUBLE(PriorBox);

mluOpStatus_t MLUOP_WIN_API mluOpPriorBox(mluOpHandle_t handle, const mluOpTensorDescriptor_t min_sizes_desc,
                                          const void *min_sizes, const mluOpTensorDescriptor_t aspect_ratios_desc,
                                          const void *aspect_ratios, const mluOpTensorDescriptor_t variances_desc,
                                          const void *variances, const mluOpTensorDescriptor_t max_sizes_desc,
                                          const void *max_sizes, const int height, const int width, const int im_height,
                                          const int im_width, const float step_h, const float step_w,
                                          const float offset, const bool clip, const bool min_max_aspect_ratios_order,
                                          const mluOpTensorDescriptor_t output_desc, void *output,
                                          const mluOpTensorDescriptor_t var_desc, void *var) {
  return mluops::guarded("mluOpPriorBox", [&] {
    return mluops::prior_box({"mluOpPriorBox"}, handle, {"min_sizes", min_sizes_desc, min_sizes},
                             {"aspect_ratios", aspect_ratios_desc, aspect_ratios},
                             {"variances", variances_desc, variances}, {"max_sizes", max_sizes_desc, max_sizes}, height,
                             width, im_height, im_width, static_cast<double>(step_h), static_cast<double>(step_w),
                             static_cast<double>(offset), clip, min_max_aspect_ratios_order,
                             {"output", output_desc, output}, {"var", var_desc, var});
  });
}
