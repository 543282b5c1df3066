// __bang_fcmpfilter: selects the elements for which a comparison holds.
#include <string>

#include "check/align.h"
#include "check/init.h"
#include "intrinsics/operand.h"
#include "intrinsics/shadow.h"
#include "mlusim/bits.h"

namespace mlusim {
namespace {

bool holds(CompareMode mode, float a, float b) {
  switch (mode) {
    case CMP_EQ:
      return a == b;
    case CMP_NE:
      return a != b;
    case CMP_LT:
      return a < b;
    case CMP_LE:
      return a <= b;
    case CMP_GT:
      return a > b;
    case CMP_GE:
      break;
  }
  return a >= b;
}

// `step` is 1 if src1 is a vector, and 0 if it is one value.
template <typename T>
void filter(const Call &call, CompareMode mode, T *dst, const T *src0, const T *src1, int step, int count) {
  if (!has_vector_work(call, count)) return;
  if (mode < CMP_EQ || mode > CMP_GE) refuse(call, "bad-argument", "a mode of " + std::to_string(mode));
  const std::int64_t bytes = count * std::int64_t{sizeof(T)};
  const Operand sources[] = {nram_source("src0", src0, bytes), nram_source("src1", src1, bytes)};
  for (int i = 0; i <= step; ++i) {
    check_place(call, sources[i]);
    if (g_observers.any()) tell(call, sources[i]);
    need_initialised(call.core, sources[i].region, sources[i].role, call.name, call.pc);
  }
  std::int64_t kept = 0;
  const auto selected = [&](std::int64_t i) {
    return holds(mode, static_cast<float>(src0[i]), static_cast<float>(src1[i * step]));
  };
  for (int i = 0; i < count; ++i) kept += selected(i) ? 1 : 0;
  const Operand target = nram_target("dst", dst, kept * std::int64_t{sizeof(T)});
  check_place(call, target);
  if (g_observers.any()) {
    const Operand operands[] = {sources[0], target, sources[1]};
    align_check(call, operands, step == 0 ? 2 : 3, {count, bytes});
    tell(call, target);
  }
  // dst may start at the address of a source: no element moves to a higher place.
  for (std::int64_t i = 0, to = 0; i < count; ++i) {
    if (selected(i)) dst[to++] = src0[i];
  }
  if (g_observers.init) shadow_set(dst, kept * std::int64_t{sizeof(T)}, true);
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_FCMPFILTER(T, name)                                             \
  void name(CompareMode mode, T *dst, const T *src0, const T *src1, int elem_count) { \
    mlusim::filter(MLUSIM_CALL(#name), mode, dst, src0, src1, 1, elem_count);         \
  }                                                                                   \
  void name(CompareMode mode, T *dst, const T *src0, T src1, int elem_count) {        \
    mlusim::filter(MLUSIM_CALL(#name), mode, dst, src0, &src1, 0, elem_count);        \
  }
MLUSIM_REALS(MLUSIM_DEFINE_FCMPFILTER, __bang_fcmpfilter);
