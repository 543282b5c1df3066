// Deformable convolution on the CPU: no columns of the whole map, only those of some positions that
// the cache holds.
#include "ops/deform_conv/cpu/backward_data.h"
#include "ops/deform_conv/cpu/forward.h"

MLUOPS_BEGIN_LEVEL
namespace {

template <template <typename> class Kernel, typename Problem>
mluOpStatus_t run_in_type(const Problem &problem) {
  if (problem.geometry.dtype == MLUOP_DTYPE_DOUBLE) return Kernel<double>(problem).run();
  if (problem.geometry.dtype == MLUOP_DTYPE_HALF) return Kernel<Half>(problem).run();
  return Kernel<float>(problem).run();
}

}  // namespace

mluOpStatus_t deform_conv_forward(const DeformConvForwardProblem &problem) {
  return run_in_type<DeformConvForward>(problem);
}

mluOpStatus_t deform_conv_backward_data(const DeformConvDataProblem &problem) {
  return run_in_type<DeformConvBackwardData>(problem);
}

mluOpStatus_t deform_conv_backward_weight(const DeformConvWeightProblem &problem) {
  return run_in_type<DeformConvBackwardWeight>(problem);
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_deform_conv_forward, deform_conv_forward, DeformConvForwardProblem, problem.function);
MLUOPS_DEFINE_LAUNCH(launch_deform_conv_backward_data, deform_conv_backward_data, DeformConvDataProblem,
                     problem.function);
MLUOPS_DEFINE_LAUNCH(launch_deform_conv_backward_weight, deform_conv_backward_weight, DeformConvWeightProblem,
                     problem.function);
