// IndiceConvolution on the CPU.
#include "ops/indice_convolution/cpu/filter_gradient.h"
#include "ops/indice_convolution/cpu/product.h"

MLUOPS_BEGIN_LEVEL

mluOpStatus_t indice_product(const IndiceProductProblem &problem) {
  const ProductPlan plan = plan_product(problem);
  switch (problem.type) {
    case RealType::kFloat:
      return IndiceProduct<float>(problem, plan).run();
    case RealType::kHalf:
      return IndiceProduct<Half>(problem, plan).run();
    case RealType::kDouble:
      break;
  }
  return IndiceProduct<double>(problem, plan).run();
}

mluOpStatus_t filter_gradient(const FilterGradientProblem &problem) {
  const GradientPlan plan = plan_gradient(problem);
  switch (problem.type) {
    case RealType::kFloat:
      return FilterGradient<float>(problem, plan).run();
    case RealType::kHalf:
      return FilterGradient<Half>(problem, plan).run();
    case RealType::kDouble:
      break;
  }
  return FilterGradient<double>(problem, plan).run();
}

MLUOPS_END_LEVEL
MLUOPS_DEFINE_LAUNCH(launch_indice_product, indice_product, IndiceProductProblem, problem.function);
MLUOPS_DEFINE_LAUNCH(launch_filter_gradient, filter_gradient, FilterGradientProblem, problem.function);
