// Applies a function to each element of one or two vectors, for instructions that need no fast
// loop.
#ifndef MLUSIM_INTRINSICS_MAP_H_
#define MLUSIM_INTRINSICS_MAP_H_

#include "intrinsics/operand.h"
#include "intrinsics/shadow.h"

namespace mlusim {

// dst may start at the address of a source. If its elements are longer, they are written from the
// last to the first.
template <typename To, typename From, typename Each>
void for_each_element(int count, const Each &each) {
  if constexpr (sizeof(To) > sizeof(From)) {
    for (int i = count - 1; i >= 0; --i) each(i);
  } else {
    for (int i = 0; i < count; ++i) each(i);
  }
}

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
  for_each_element<To, From>(count, [&](int i) { dst[i] = op(src[i]); });
  if (g_observers.init) shadow_elements(dst, sizeof(To), count, source_of(src, count));
}

template <typename To, typename A, typename B, typename Op>
void map_vectors(const Call &call, To *dst, const A *src0, const B *src1, int count, const Op &op) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * std::int64_t{sizeof(To)};
  check_operands(call,
                 {nram_source("src0", src0, count * std::int64_t{sizeof(A)}),
                  nram_source("src1", src1, count * std::int64_t{sizeof(B)}), nram_target("dst", dst, bytes)},
                 {count, bytes});
  for_each_element<To, A>(count, [&](int i) { dst[i] = op(src0[i], src1[i]); });
  if (g_observers.init) shadow_elements(dst, sizeof(To), count, source_of(src0, count), source_of(src1, count));
}

}  // namespace mlusim

#endif  // MLUSIM_INTRINSICS_MAP_H_
