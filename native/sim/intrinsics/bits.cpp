// __bang_maskmove, __bang_bexpand, __bang_breduce.
#include "mlusim/bits.h"

#include <string>

#include "intrinsics/operand.h"
#include "intrinsics/shadow.h"
#include "intrinsics/words.h"

namespace mlusim {
namespace {

// Marks a byte as undefined where its mask bit is undefined.
void move_masked(const Call &call, void *dst, const void *src, const void *mask, int count, std::int64_t size) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * size;
  check_operands(
      call,
      {nram_source("mask", mask, (bytes + 7) / 8), nram_source("src", src, bytes), nram_target("dst", dst, bytes)},
      {count, bytes});
  char *to = static_cast<char *>(dst);
  const char *from = static_cast<const char *>(src);
  for (std::int64_t i = 0; i < bytes; ++i) {
    const bool selected = bit_at(mask, i);
    if (g_observers.init) {
      if (!bit_at(init_shadow(mask), i)) {
        shadow_set(to + i, 1, false);
      } else if (selected) {
        shadow_copy(to + i, from + i, 1);
      }
    }
    if (selected) to[i] = from[i];
  }
}

struct Box {
  int n, h, w, bytes;
};

// Returns the number of elements; ends the launch if such a box is impossible.
std::int64_t elements_of(const Call &call, const Box &box, std::int64_t size) {
  for (const int side : {box.n, box.h, box.w, box.bytes}) {
    if (side < 0) refuse(call, "negative-count", "a side of " + std::to_string(side));
  }
  if (box.bytes % size != 0) {
    refuse(call, "bad-argument",
           "the innermost side has " + std::to_string(box.bytes) + " bytes, which are no whole elements of " +
               std::to_string(size));
  }
  return std::int64_t{box.n} * box.h * box.w * (box.bytes / size);
}

template <typename T>
void expand(const Call &call, T *dst, const unsigned char *src, const Box &box) {
  const std::int64_t size = sizeof(T);
  const std::int64_t count = elements_of(call, box, size);
  if (!has_vector_work(call, count)) return;
  check_operands(call, {nram_source("src", src, (count + 7) / 8), nram_target("dst", dst, count * size)},
                 {count, count * size});
  for (std::int64_t i = count - 1; i >= 0; --i) {
    if (g_observers.init) shadow_set(dst + i, size, bit_at(init_shadow(src), i));
    dst[i] = bit_at(src, i) ? 1 : 0;
  }
}

void put_bit(unsigned char *bits, std::int64_t i, bool value) {
  const unsigned bit = 1u << (i % 8);
  bits[i / 8] = static_cast<unsigned char>(value ? bits[i / 8] | bit : bits[i / 8] & ~bit);
}

template <typename T>
void reduce(const Call &call, unsigned char *dst, const T *src, const Box &box) {
  const std::int64_t size = sizeof(T);
  const std::int64_t count = elements_of(call, box, size);
  if (!has_vector_work(call, count)) return;
  check_operands(call, {nram_source("src", src, count * size), nram_target("dst", dst, (count + 7) / 8)},
                 {count, count * size});
  for (std::int64_t i = 0; i < count; ++i) {
    const bool value = src[i] != 0;
    const bool defined = shadow_defined(src + i, size);
    if (g_observers.init) put_bit(init_shadow(dst), i, defined);
    put_bit(dst, i, value);
  }
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_MASKMOVE(T, name)                                             \
  void name(T *dst, const T *src, const T *mask, int elem_count) {                  \
    mlusim::move_masked(MLUSIM_CALL(#name), dst, src, mask, elem_count, sizeof(T)); \
  }
MLUSIM_REALS(MLUSIM_DEFINE_MASKMOVE, __bang_maskmove);

#define MLUSIM_DEFINE_BEXPAND(T, name)                                                                              \
  void name(T *dst, const unsigned char *src, int dst_dim_n, int dst_dim_h, int dst_dim_w, int byte_of_dst_dim_c) { \
    mlusim::expand(MLUSIM_CALL(#name), dst, src, {dst_dim_n, dst_dim_h, dst_dim_w, byte_of_dst_dim_c});             \
  }
#define MLUSIM_DEFINE_BREDUCE(T, name)                                                                              \
  void name(unsigned char *dst, const T *src, int src_dim_n, int src_dim_h, int src_dim_w, int byte_of_src_dim_c) { \
    mlusim::reduce(MLUSIM_CALL(#name), dst, src, {src_dim_n, src_dim_h, src_dim_w, byte_of_src_dim_c});             \
  }
MLUSIM_DEFINE_BEXPAND(char, __bang_bexpand)
MLUSIM_DEFINE_BEXPAND(short, __bang_bexpand)
MLUSIM_DEFINE_BEXPAND(int, __bang_bexpand)
MLUSIM_DEFINE_BREDUCE(char, __bang_breduce)
MLUSIM_DEFINE_BREDUCE(short, __bang_breduce)
MLUSIM_DEFINE_BREDUCE(int, __bang_breduce)
