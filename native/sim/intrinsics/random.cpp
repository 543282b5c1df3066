// __bang_rand: the same numbers in every launch, different ones in every task.
#include <cstdint>

#include "intrinsics/operand.h"
#include "intrinsics/shadow.h"
#include "mlusim/activation.h"

namespace mlusim {
namespace {

// The output function of SplitMix64 (Steele, Lea and Flood, 2014).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace
}  // namespace mlusim

void __bang_rand(short *dst, int elem_count) {
  const mlusim::Call call = MLUSIM_CALL("__bang_rand");
  if (!mlusim::has_vector_work(call, elem_count)) return;
  const std::int64_t bytes = elem_count * std::int64_t{sizeof(short)};
  mlusim::check_operands(call, {mlusim::nram_target("dst", dst, bytes)}, {elem_count, bytes});
  std::uint64_t &drawn = call.core.random_numbers;  // by task, so independent of the order of the cores
  const std::uint64_t seed = mlusim::mixed(static_cast<std::uint64_t>(call.core.task_id) + 1);
  for (int i = 0; i < elem_count; ++i) {
    dst[i] = static_cast<short>(mlusim::mixed(seed + 0x9e3779b97f4a7c15u * ++drawn) >> 48);
  }
  if (mlusim::g_observers.init) mlusim::shadow_set(dst, bytes, true);
}
