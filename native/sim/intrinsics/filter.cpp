// __bang_filter, __bang_collect, __bang_select: the elements that a mask selects, with the same
// bits and in the same order.
#include <cstring>

#include "check/align.h"
#include "check/init.h"
#include "intrinsics/operand.h"
#include "intrinsics/shadow.h"
#include "intrinsics/words.h"
#include "machine/model.h"
#include "mlusim/bits.h"
#include "mlusim/reduce.h"

namespace mlusim {
namespace {

// Selects the elements with a nonzero mask element, or with a set mask bit.
struct Mask {
  const void *base;
  bool is_bits;
};

template <typename Word>
bool selects(const Mask &mask, std::int64_t i) {
  return mask.is_bits ? bit_at(mask.base, i) : is_nonzero(static_cast<const Word *>(mask.base)[i]);
}

template <typename Word>
std::int64_t count_selected(const Mask &mask, std::int64_t count) {
  std::int64_t selected = 0;
  for (std::int64_t i = 0; i < count; ++i) selected += selects<Word>(mask, i) ? 1 : 0;
  return selected;
}

// Filters through a buffer, because the CPU mispredicts most branches on masks. `dst` may be `src`,
// but not the mask.
template <typename Word>
void pack(Word *dst, const Word *src, const Mask &mask, std::int64_t count) {
  constexpr std::int64_t kBlock = 256;
  Word kept[kBlock];
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t block = count - first < kBlock ? count - first : kBlock;
    std::int64_t number = 0;
    for (std::int64_t i = 0; i < block; ++i) {
      kept[number] = src[first + i];
      number += selects<Word>(mask, first + i) ? 1 : 0;
    }
    std::memcpy(dst, kept, static_cast<std::size_t>(number) * sizeof(Word));
    dst += number;
  }
}

template <typename Word>
Word *shadow_of(Word *data) {
  return reinterpret_cast<Word *>(init_shadow(data));
}

template <typename Word>
void pack_all(Word *dst, const Word *src, const Mask &mask, std::int64_t count) {
  if (g_observers.init) pack(shadow_of(dst), shadow_of(const_cast<Word *>(src)), mask, count);
  pack(dst, src, mask, count);
}

Operand mask_operand(const Mask &mask, std::int64_t size, std::int64_t count) {
  return nram_source(mask.is_bits ? "bitmask" : "mask", mask.base, mask.is_bits ? (count + 7) / 8 : count * size);
}

// Checks the sources and announces their reads; returns the number of selected elements.
template <typename Word>
std::int64_t examine(const Call &call, const Word *src, const Mask &mask, std::int64_t count) {
  const Operand sources[] = {nram_source("src", src, count * std::int64_t{sizeof(Word)}),
                             mask_operand(mask, sizeof(Word), count)};
  for (const Operand &source : sources) {
    check_place(call, source);
    if (g_observers.any()) tell(call, source);
  }
  if (mask.is_bits) {
    need_initialised_bits(call.core, sources[1].region, count, call.name, call.pc);
  } else {
    need_initialised(call.core, sources[1].region, sources[1].role, call.name, call.pc);
  }
  return count_selected<Word>(mask, count);
}

// The same for the target, whose size depends on the mask.
template <typename Word>
void check_target(const Call &call, const Word *src, const Mask &mask, std::int64_t count, const Operand &target) {
  check_place(call, target);
  if (!g_observers.any()) return;
  const std::int64_t bytes = count * std::int64_t{sizeof(Word)};
  const Operand operands[] = {nram_source("src", src, bytes), mask_operand(mask, sizeof(Word), count), target};
  announce(call, operands, 3, {count, bytes});
  tell(call, target);
}

// Writes the selected elements to dst; bytes behind them do not change.
template <typename Word>
int vector_filter(const Call &call, Word *dst, const Word *src, const Mask &mask, int count) {
  if (!has_scalar_result(call, count)) return 0;
  const std::int64_t selected = examine(call, src, mask, count);
  check_target(call, src, mask, count, nram_target("dst", dst, selected * std::int64_t{sizeof(Word)}));
  pack_all(dst, src, mask, count);
  return static_cast<int>(selected);
}

// Writes the number first, and the elements from byte 128 on. Devices of the 2xx family write whole
// lines of 128 bytes.
template <typename Word>
void vector_select(const Call &call, Word *dst, const Word *src, const Mask &mask, int count) {
  constexpr std::int64_t kLine = 128;
  if (!has_vector_work(call, count)) return;
  const std::int64_t selected = examine(call, src, mask, count);
  const std::int64_t size = sizeof(Word);
  const bool lines = device().arch < 300;
  const std::int64_t packed = lines ? (selected * size + kLine - 1) / kLine * kLine : selected * size;
  char *elements = reinterpret_cast<char *>(dst) + kLine;
  const std::int64_t head = lines ? kLine : 4;
  check_target(call, src, mask, count, nram_target("dst", dst, head));
  check_target(call, src, mask, count, nram_target("dst", elements, packed));
  pack_all(reinterpret_cast<Word *>(elements), src, mask, count);
  const std::uint32_t number = static_cast<std::uint32_t>(selected);
  std::memset(dst, 0, static_cast<std::size_t>(head));
  std::memcpy(dst, &number, sizeof number);
  std::memset(elements + selected * size, 0, static_cast<std::size_t>(packed - selected * size));
  if (!g_observers.init) return;
  shadow_set(dst, head, true);
  shadow_set(elements + selected * size, packed - selected * size, true);
}

template <typename T>
struct WordOf;
template <>
struct WordOf<half> {
  typedef std::uint16_t Type;
};
template <>
struct WordOf<float> {
  typedef std::uint32_t Type;
};

template <>
struct WordOf<bfloat16_t> {
  typedef std::uint16_t Type;
};

template <typename T>
auto words(T *elements) {
  using Word = typename WordOf<std::remove_const_t<T>>::Type;
  return reinterpret_cast<std::conditional_t<std::is_const<T>::value, const Word, Word> *>(elements);
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_FILTER(T, name, Mask, is_bits)                                                          \
  int name(T *dst, const T *src, const Mask *mask, int elem_count) {                                          \
    return mlusim::vector_filter(MLUSIM_CALL(#name), mlusim::words(dst), mlusim::words(src), {mask, is_bits}, \
                                 elem_count);                                                                 \
  }
#define MLUSIM_DEFINE_COLLECT(T, name, Mask, is_bits)                                                               \
  void name(T *dst, const T *src, const Mask *mask, int elem_count) {                                               \
    mlusim::vector_filter(MLUSIM_CALL(#name), mlusim::words(dst), mlusim::words(src), {mask, is_bits}, elem_count); \
  }
#define MLUSIM_DEFINE_SELECT(T, name, Mask, is_bits)                                                                \
  void name(T *dst, const T *src, const Mask *mask, int elem_count) {                                               \
    mlusim::vector_select(MLUSIM_CALL(#name), mlusim::words(dst), mlusim::words(src), {mask, is_bits}, elem_count); \
  }
MLUSIM_DEFINE_FILTER(half, __bang_filter, half, false)
MLUSIM_DEFINE_FILTER(float, __bang_filter, float, false)
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_FILTER, __bang_filter_bitindex, void, true);
MLUSIM_DEFINE_COLLECT(half, __bang_collect, half, false)
MLUSIM_DEFINE_COLLECT(float, __bang_collect, float, false)
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_COLLECT, __bang_collect_bitindex, void, true);
MLUSIM_REALS(MLUSIM_DEFINE_COLLECT, __bang_maskmove_bitindex, void, true);
MLUSIM_DEFINE_SELECT(half, __bang_select, half, false)
MLUSIM_DEFINE_SELECT(float, __bang_select, float, false)
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_SELECT, __bang_select_bitindex, void, true);
