// __bang_discrete_atomic_*: atomic changes of elements of GDRAM at a vector of byte offsets.
#include "check/align.h"
#include "check/init.h"
#include "intrinsics/atomic_value.h"
#include "intrinsics/shadow.h"
#include "intrinsics/words.h"
#include "mlusim/atomic.h"

namespace mlusim {
namespace {

// The elements to change, and the mask that selects from them; without a mask all are selected.
template <typename T, typename Offset>
struct Places {
  T *base;
  const Offset *offset;
  const void *bitmask;

  bool holds(std::int64_t i) const { return bitmask == nullptr || bit_at(bitmask, i); }
  T *at(std::int64_t i) const {
    return reinterpret_cast<T *>(reinterpret_cast<char *>(base) + static_cast<std::int64_t>(offset[i]));
  }
};

// Requires defined operands where they determine the memory that changes.
template <typename T, typename Offset>
void check_choice(const Call &call, const Places<T, Offset> &places, const T *values, T *dst, int count) {
  const Operand offsets = nram_source("src1_offset", places.offset, count * std::int64_t{sizeof(Offset)});
  const Operand mask = nram_source("bitmask", places.bitmask, (count + 7) / 8);
  const std::int64_t bytes = count * std::int64_t{sizeof(T)};
  const Operand operands[] = {mask, offsets, nram_source("src2", values, bytes), nram_target("dst", dst, bytes)};
  const std::size_t first = places.bitmask == nullptr ? 1 : 0;
  check_operands(call, operands + first, 4 - first, {count, bytes});
  need_initialised(call.core, offsets.region, offsets.role, call.name, call.pc);
  if (first == 0) need_initialised_bits(call.core, mask.region, count, call.name, call.pc);
}

// `one(memory, value)` changes one element.
template <typename T, typename Offset, typename One>
void discrete(const Call &call, T *dst, const Places<T, Offset> &places, const T *values, int count, const One &one) {
  if (!has_vector_work(call, count)) return;
  check_choice(call, places, values, dst, count);
  for (int i = 0; i < count; ++i) {
    if (!places.holds(i)) continue;
    T *memory = places.at(i);
    const Operand element = memory_operand("src1", memory, sizeof(T));
    align_check_element(call, memory, sizeof(T));
    check_place(call, element);
    if (g_observers.any()) tell(call, element);
    const T old = *memory;
    one(memory, values[i]);
    dst[i] = old;
    if (!g_observers.init) continue;
    shadow_set(memory, sizeof(T), true);
    shadow_set(dst + i, sizeof(T), true);
  }
}

template <typename T, typename Offset>
void discrete_change(const Call &call, Atomic op, T *dst, const Places<T, Offset> &places, const T *values, int count) {
  discrete(call, dst, places, values, count, [op](T *memory, T value) { change<T>(op, memory, {&value, false}, 1); });
}

template <typename T, typename Offset>
void discrete_swap(const Call &call, T *dst, const Places<T, Offset> &places, const T *expected, T value, int count) {
  discrete(call, dst, places, expected, count, [value](T *memory, T wanted) {
    if (equal(*memory, wanted)) *memory = value;
  });
}

// Finds the operation by the last part of the function's name.
constexpr Atomic operation_of(const char *name) {
  const char *word = name + sizeof("__bang_discrete_atomic_") - 1;
  switch (word[0]) {
    case 'a':
      return word[1] == 'd' ? Atomic::kAdd : Atomic::kAnd;
    case 'm':
      return word[1] == 'a' ? Atomic::kMax : Atomic::kMin;
    case 'o':
      return Atomic::kOr;
    case 'x':
      return Atomic::kXor;
    case 'i':
      return Atomic::kInc;
    case 'd':
      return Atomic::kDec;
    default:
      return Atomic::kExch;
  }
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_DISCRETE(T, Offset, name)                                                              \
  void name(T *dst, T *src1_base, const Offset *src1_offset, const T *src2, int size) {                      \
    mlusim::discrete_change<T, Offset>(MLUSIM_CALL(#name), mlusim::operation_of(#name), dst,                 \
                                       {src1_base, src1_offset, nullptr}, src2, size);                       \
  }                                                                                                          \
  void name(T *dst, T *src1_base, const Offset *src1_offset, const T *src2, const void *bitmask, int size) { \
    mlusim::discrete_change<T, Offset>(MLUSIM_CALL(#name), mlusim::operation_of(#name), dst,                 \
                                       {src1_base, src1_offset, bitmask}, src2, size);                       \
  }
#define MLUSIM_DEFINE_DISCRETE_CAS(T, Offset, name)                                                                  \
  void name(T *dst, T *src1_base, const Offset *src1_offset, const T *src2, T src3, int size) {                      \
    mlusim::discrete_swap<T, Offset>(MLUSIM_CALL(#name), dst, {src1_base, src1_offset, nullptr}, src2, src3, size);  \
  }                                                                                                                  \
  void name(T *dst, T *src1_base, const Offset *src1_offset, const T *src2, const void *bitmask, T src3, int size) { \
    mlusim::discrete_swap<T, Offset>(MLUSIM_CALL(#name), dst, {src1_base, src1_offset, bitmask}, src2, src3, size);  \
  }
MLUSIM_DISCRETE_SIGNED(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_add);
MLUSIM_DISCRETE_REALS(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_add);
MLUSIM_DISCRETE_WORDS(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_max);
MLUSIM_DISCRETE_REALS(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_max);
MLUSIM_DISCRETE_WORDS(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_min);
MLUSIM_DISCRETE_REALS(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_min);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_and);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_or);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_xor);
MLUSIM_DISCRETE_WORDS(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_inc);
MLUSIM_DISCRETE_WORDS(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_dec);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_exch);
MLUSIM_DISCRETE_REALS(MLUSIM_DEFINE_DISCRETE, __bang_discrete_atomic_exch);
MLUSIM_DISCRETE_SIGNED(MLUSIM_DEFINE_DISCRETE_CAS, __bang_discrete_atomic_cas);
MLUSIM_DISCRETE_REALS(MLUSIM_DEFINE_DISCRETE_CAS, __bang_discrete_atomic_cas);
