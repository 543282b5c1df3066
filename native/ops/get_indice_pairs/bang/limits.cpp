#include "ops/get_indice_pairs/limits.h"
#include "bang/policy.h"

namespace mluops {
namespace {

constexpr int kFirstArch = 372;
constexpr std::int64_t kRows = 1000000;
constexpr std::int64_t kVolume = 4096;

}  // namespace

// The limits are production's. The architecture is that of the current device.
const IndicePairsLimits &indice_pairs_limits() {
  static constexpr IndicePairsLimits kWith = {kRows, kVolume, true};
  static constexpr IndicePairsLimits kWithout = {kRows, kVolume, false};
  Card card = {};
  if (read_card("mluOpCreate", &card) != MLUOP_STATUS_SUCCESS) return kWithout;
  return card.arch >= kFirstArch ? kWith : kWithout;
}

}  // namespace mluops
