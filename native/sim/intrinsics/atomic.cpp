// __bang_atomic_*, __bang_atomic_reduce_*: changes of GDRAM that are indivisible for other cores.
#include "mlusim/atomic.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "check/align.h"
#include "intrinsics/atomic_value.h"
#include "intrinsics/shadow.h"

namespace mlusim {
namespace {

template <typename T>
void reduce(const Call &call, Atomic op, T *memory, const Values<T> &values, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
  const Operand target = memory_operand("dst", memory, bytes);
  align_check_element(call, memory, sizeof(T));
  if (values.is_vector) {
    check_operands(call, {nram_source("src1", values.base, bytes), target}, {count, bytes});
  } else {
    check_operands(call, {target}, {count, bytes});
  }
  change(op, memory, values, count);
  if (g_observers.init) shadow_set(memory, bytes, true);
}

// Copies the old elements to dst in blocks, because dst may be the second operand.
template <typename T>
void fetch(const Call &call, Atomic op, T *dst, T *memory, const Values<T> &values, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
  const Operand operands[] = {values.is_vector ? nram_source("src2", values.base, bytes) : Operand{},
                              memory_operand("src1", memory, bytes), nram_target("dst", dst, bytes)};
  const std::size_t first_operand = values.is_vector ? 0 : 1;
  align_check_element(call, memory, sizeof(T));
  check_operands(call, operands + first_operand, 3 - first_operand, {count, bytes});
  constexpr std::int64_t kBlock = 256;
  T old[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t block = std::min(count - first, kBlock);
    const std::size_t block_bytes = static_cast<std::size_t>(block) * sizeof(T);
    std::memcpy(old, memory + first, block_bytes);
    change(op, memory + first, {values.is_vector ? values.base + first : values.base, values.is_vector}, block);
    std::memcpy(dst + first, old, block_bytes);
  }
  if (!g_observers.init) return;
  shadow_set(memory, bytes, true);
  shadow_set(dst, bytes, true);
}

// The old value goes to `dst`, which may be null.
template <typename T>
void compare_and_swap(const Call &call, T *dst, T *memory, T expected, T value) {
  if (call.core.is_mpu()) return;
  const Operand operands[] = {memory_operand(dst != nullptr ? "src1" : "dst", memory, sizeof(T)),
                              nram_target("dst", dst, sizeof(T))};
  align_check_element(call, memory, sizeof(T));
  check_operands(call, operands, dst != nullptr ? 2 : 1, {1, sizeof(T)});
  const T old = *memory;
  if (equal(old, expected)) *memory = value;
  if (g_observers.init) shadow_set(memory, sizeof(T), true);
  if (dst == nullptr) return;
  *dst = old;
  if (g_observers.init) shadow_set(dst, sizeof(T), true);
}

struct Segments {
  int segnum1, segnum2;
  int dst_stride1, dst_stride2, src_stride1, src_stride2;
};

Region segment_region(const void *base, int count, const Segments &segments, int stride1, int stride2) {
  Region region = Region::plain(base, static_cast<std::size_t>(count) * sizeof(float));
  region.stride0 = stride1;
  region.count0 = std::int64_t{segments.segnum1} + 1;
  region.stride1 = stride2;
  region.count1 = std::int64_t{segments.segnum2} + 1;
  return region;
}

void reduce_segments(const Call &call, float *memory, const float *src, int count, const Segments &segments) {
  if (!has_vector_work(call, count)) return;
  if (segments.segnum1 < 0 || segments.segnum2 < 0) refuse(call, "bad-argument", "a negative segnum");
  const Region source = segment_region(src, count, segments, segments.src_stride1, segments.src_stride2);
  const Region target = segment_region(memory, count, segments, segments.dst_stride1, segments.dst_stride2);
  align_check_element(call, memory, sizeof(float));
  check_operands(call, {{"src", Kind::kRead, Space::kNram, source}, {"dst", Kind::kAtomic, Space::kGdram, target}},
                 {count, count * std::int64_t{sizeof(float)}});
  for (std::int64_t i = 0; i < target.pieces(); ++i) {
    float *to = reinterpret_cast<float *>(target.piece(i));
    change<float>(Atomic::kAdd, to, {reinterpret_cast<const float *>(source.piece(i)), true}, count);
  }
  if (g_observers.init) fill_pieces(target.moved(init_delta()), 0xff);
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_ATOMIC(T, name, op)                                                      \
  void name(T *dst, T *src1, T src2, int size) {                                               \
    mlusim::fetch<T>(MLUSIM_CALL(#name), mlusim::Atomic::op, dst, src1, {&src2, false}, size); \
  }                                                                                            \
  void name(T *dst, T *src1, const T *src2, int size) {                                        \
    mlusim::fetch<T>(MLUSIM_CALL(#name), mlusim::Atomic::op, dst, src1, {src2, true}, size);   \
  }
#define MLUSIM_DEFINE_ATOMIC_REDUCE(T, name, op)                                          \
  void name(T *dst, T src1, int size) {                                                   \
    mlusim::reduce<T>(MLUSIM_CALL(#name), mlusim::Atomic::op, dst, {&src1, false}, size); \
  }                                                                                       \
  void name(T *dst, const T *src1, int size) {                                            \
    mlusim::reduce<T>(MLUSIM_CALL(#name), mlusim::Atomic::op, dst, {src1, true}, size);   \
  }
#define MLUSIM_DEFINE_ATOMIC_CAS(T, name) \
  void name(T *dst, T *src1, T src2, T src3) { mlusim::compare_and_swap(MLUSIM_CALL(#name), dst, src1, src2, src3); }
#define MLUSIM_DEFINE_ATOMIC_REDUCE_CAS(T, name) \
  void name(T *dst, T src1, T src2) { mlusim::compare_and_swap<T>(MLUSIM_CALL(#name), nullptr, dst, src1, src2); }

MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_add, kAdd);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_max, kMax);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_min, kMin);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_and, kAnd);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_or, kOr);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_xor, kXor);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_inc, kInc);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_dec, kDec);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_exch, kExch);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_add, kAdd);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_max, kMax);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_min, kMin);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC, __bang_atomic_exch, kExch);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC_CAS, __bang_atomic_cas);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC_CAS, __bang_atomic_cas);

MLUSIM_ATOMIC_INTEGERS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_add, kAdd);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_max, kMax);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_min, kMin);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_and, kAnd);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_or, kOr);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_xor, kXor);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_inc, kInc);
MLUSIM_WORDS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_dec, kDec);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_exch, kExch);
MLUSIM_ATOMIC_INTEGERS(MLUSIM_DEFINE_ATOMIC_REDUCE_CAS, __bang_atomic_reduce_cas);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_add, kAdd);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_max, kMax);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_min, kMin);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC_REDUCE, __bang_atomic_reduce_exch, kExch);
MLUSIM_REALS(MLUSIM_DEFINE_ATOMIC_REDUCE_CAS, __bang_atomic_reduce_cas);

void __bang_atomic_reduce_add(float *dst, const float *src, int elem_count, int segnum1, int segnum2, int dst_stride1,
                              int dst_stride2, int src_stride1, int src_stride2) {
  mlusim::reduce_segments(MLUSIM_CALL("__bang_atomic_reduce_add"), dst, src, elem_count,
                          {segnum1, segnum2, dst_stride1, dst_stride2, src_stride1, src_stride2});
}
