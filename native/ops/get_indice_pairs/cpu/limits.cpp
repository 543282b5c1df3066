#include <limits>

#include "ops/get_indice_pairs/limits.h"

namespace mluops {

// Rows and filter cells are counted in int32; nothing else bounds them.
const IndicePairsLimits &indice_pairs_limits() {
  static constexpr IndicePairsLimits kLimits = {std::numeric_limits<std::int32_t>::max(),
                                                std::numeric_limits<std::int32_t>::max(), true};
  return kLimits;
}

}  // namespace mluops
