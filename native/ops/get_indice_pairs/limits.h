// The limits of mluOpGetIndicePairs, which depend on the target.
#ifndef MLUOPS_OPS_GET_INDICE_PAIRS_LIMITS_H_
#define MLUOPS_OPS_GET_INDICE_PAIRS_LIMITS_H_

#include <cstdint>

namespace mluops {

struct IndicePairsLimits {
  std::int64_t rows;    // largest L
  std::int64_t volume;  // largest number of filter cells
  bool supported;       // whether the kernels can run on the architecture
};

// Each library links one definition: cpu/limits.cpp or bang/limits.cpp.
const IndicePairsLimits &indice_pairs_limits();

}  // namespace mluops

#endif  // MLUOPS_OPS_GET_INDICE_PAIRS_LIMITS_H_
