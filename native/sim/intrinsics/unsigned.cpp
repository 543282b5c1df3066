// __bang_add_scalar and __bang_sub_scalar of unsigned numbers of 64 bits, which wrap.
#include "intrinsics/map.h"
#include "mlusim/elementwise.h"

#define MLUSIM_DEFINE_UNSIGNED(T, name, sign)                                                                        \
  void name(T *dst, const T *src, T value, int elem_count) {                                                         \
    mlusim::map_vector(MLUSIM_CALL(#name), dst, src, elem_count, [value](T element) { return element sign value; }); \
  }
MLUSIM_DEFINE_UNSIGNED(std::uint64_t, __bang_add_scalar, +)
MLUSIM_DEFINE_UNSIGNED(std::uint64_t, __bang_sub_scalar, -)
