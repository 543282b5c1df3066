// A function of each element of one vector or two, written as such: for instructions that need no fast loop.
#ifndef MLUSIM_INTRINSICS_MAP_H_
#define MLUSIM_INTRINSICS_MAP_H_

#include "intrinsics/operand.h"
#include "intrinsics/shadow.h"

namespace mlusim {

template <typename T>
ShadowSource source_of(const T *base, int count) {
  return {base, sizeof(T), count};
}

template <typename To, typename From, typename Op>
void map_vector(const Call &call, To *dst, const From *src, int count, const Op &op) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * std::int64_t{sizeof(To)};
  check_operands(call, {nram_source("src", src, count * std::int64_t{sizeof(From)}), nram_target("dst", dst, bytes)},
                 {count, bytes});
  for (int i = 0; i < count; ++i) dst[i] = op(src[i]);
  if (g_observers.init) shadow_elements(dst, sizeof(To), count, source_of(src, count));
}

template <typename T, typename Op>
void map_vectors(const Call &call, T *dst, const T *src0, const T *src1, int count, const Op &op) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * std::int64_t{sizeof(T)};
  check_operands(call,
                 {nram_source("src0", src0, bytes), nram_source("src1", src1, bytes), nram_target("dst", dst, bytes)},
                 {count, bytes});
  for (int i = 0; i < count; ++i) dst[i] = op(src0[i], src1[i]);
  if (g_observers.init) shadow_elements(dst, sizeof(T), count, source_of(src0, count), source_of(src1, count));
}

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_MAP_H_
