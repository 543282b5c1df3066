// __vv_store: lanes of a vector register to NRAM. Instructions on registers alone are in the
// header.
#include "mlusim/registers.h"

#include <cstring>
#include <string>

#include "intrinsics/operand.h"
#include "intrinsics/shadow.h"

namespace mlusim {
namespace {

// Stored lanes count as defined: registers are host variables without a shadow.
void store_lanes(const Call &call, void *dst, const void *lanes, int count, std::int64_t size) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * size;
  if (bytes > kRegisterBytes) {
    refuse(call, "bad-argument",
           std::to_string(count) + " lanes of a register that has " + std::to_string(kRegisterBytes / size));
  }
  check_operands(call, {nram_target("dst", dst, bytes)}, {count, bytes});
  std::memcpy(dst, lanes, static_cast<std::size_t>(bytes));
  if (g_observers.init) shadow_set(dst, bytes, true);
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_STORE(V, T, ...)                                                    \
  void __vv_store(T *dst, const V &src, int elem_count) {                                 \
    mlusim::store_lanes(MLUSIM_CALL("__vv_store"), dst, src.lane, elem_count, sizeof(T)); \
  }                                                                                       \
  void __vv_store(T *dst, const V &src) {                                                 \
    constexpr int kLanes = mlusim::kRegisterBytes / static_cast<int>(sizeof(T));          \
    mlusim::store_lanes(MLUSIM_CALL("__vv_store"), dst, src.lane, kLanes, sizeof(T));     \
  }
MLUSIM_REGISTERS(MLUSIM_DEFINE_STORE, )
