// Queries of the scalar unit, single elements, and printed text.
#include "mlusim/scalar.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "intrinsics/operand.h"
#include "machine/trap.h"

namespace mlusim {
namespace {

template <typename T>
const T *checked_load(const Call &call, Space space, const T *from) {
  Operand operand = {"p", Kind::kRead, space, Region::plain(from, sizeof(T))};
  operand.space = check_place(call, operand);
  if (g_observers.any()) observe({call.core, kScalar, operand.kind, operand.space, operand.region, call.name, call.pc});
  return from;
}

template <typename T>
void store(const Call &call, Space space, T *to, T value) {
  const Operand operand = {"p", Kind::kWrite, space, Region::plain(to, sizeof(T))};
  check_place(call, operand);
  if (g_observers.any()) observe({call.core, kScalar, operand.kind, space, operand.region, call.name, call.pc});
  *to = value;
}

}  // namespace
}  // namespace mlusim

bool __is_mpu() { return MLUSIM_CALL("__is_mpu").core.is_mpu(); }
bool __is_ipu() { return !MLUSIM_CALL("__is_ipu").core.is_mpu(); }
bool __is_nram(const void *ptr) { return mlusim::locate(ptr).space == mlusim::Space::kNram; }
bool __is_wram(const void *ptr) { return mlusim::locate(ptr).space == mlusim::Space::kWram; }
bool __is_sram(const void *ptr) { return mlusim::locate(ptr).space == mlusim::Space::kSram; }
bool __is_dram(const void *ptr) {
  const mlusim::Space space = mlusim::locate(ptr).space;
  return space == mlusim::Space::kGdram || space == mlusim::Space::kLdram;
}

#define MLUSIM_DEFINE_LOAD(T, name, space) \
  T name(const T *p) { return *mlusim::checked_load(MLUSIM_CALL(#name), mlusim::Space::space, p); }
#define MLUSIM_DEFINE_STORE(T, name, space) \
  void name(T *p, T value) { mlusim::store(MLUSIM_CALL(#name), mlusim::Space::space, p, value); }
MLUSIM_DEFINE_LOAD(int, __load_nram, kNram)
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_LOAD, __load_nram, kNram);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_LOAD, __load_sram, kSram);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_LOAD, __load_gdram, kGdram);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_STORE, __store_sram, kSram);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_STORE, __store_gdram, kGdram);

// ---- Text ---------------------------------------------------------------------------------------

void mlusim_assert(const char *assertion, const char *file, int line) {
  std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, assertion);
}

void mlusim_assert_fail(const char *message, const char *file, unsigned int line, const char *function) noexcept {
  std::fprintf(stderr, "%s:%u: %s: assertion failed: %s\n", file, line, function, message);
  // Host code in the same file calls it as well.
  if (mlusim::current_core() == nullptr) std::abort();
  mlusim::FindingText text = {"machine", "assert"};
  text.pc = __builtin_return_address(0);
  text.message = std::string("assertion failed: ") + message;
  mlusim::trap(std::move(text));
}
