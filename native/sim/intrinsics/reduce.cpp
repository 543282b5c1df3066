// __bang_count, __bang_findfirst1, __bang_max, __bang_argmax, __bang_sum and others: few values out
// of a vector.
#include "mlusim/reduce.h"

#include <algorithm>
#include <cstring>

#include "check/init.h"
#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"
#include "intrinsics/words.h"
#include "machine/model.h"

namespace mlusim {
namespace {

constexpr std::int64_t kLine = 128;  // bytes that devices of the 2xx family write together

// ---- Counting and finding -----------------------------------------------------------------------

enum class Search {
  kCount,
  kFirst,
  kLast
};

template <typename Word>
unsigned int search(Search kind, const Word *src, std::int64_t count) {
  if (kind == Search::kCount) {
    unsigned int number = 0;
    for (std::int64_t i = 0; i < count; ++i) number += is_nonzero(src[i]) ? 1u : 0u;
    return number;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t place = kind == Search::kFirst ? i : count - 1 - i;
    if (is_nonzero(src[place])) return static_cast<unsigned int>(place);
  }
  return ~0u;
}

unsigned int search(Search kind, std::int64_t size, const void *src, std::int64_t count) {
  if (size == 2) return search(kind, static_cast<const std::uint16_t *>(src), count);
  return search(kind, static_cast<const std::uint32_t *>(src), count);
}

// The result goes to dst[0]; the rest of its line is cleared on 2xx.
void vector_search(const Call &call, Search kind, std::int64_t size, unsigned int *dst, const void *src, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = count * size;
  const std::int64_t written = is_2xx() ? kLine : 4;
  check_operands(call, {nram_source("src", src, bytes), nram_target("dst", dst, written)}, {count, bytes});
  const bool defined = shadow_defined(src, bytes);
  const unsigned int found = search(kind, size, src, count);
  std::memset(dst, 0, static_cast<std::size_t>(written));
  dst[0] = found;
  if (!g_observers.init) return;
  shadow_set(dst, written, true);
  shadow_set(dst, 4, defined);
}

// Counts bits, from the first on.
void vector_count_bits(const Call &call, unsigned int *dst, const void *src, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t bytes = (std::int64_t{count} + 7) / 8;
  check_operands(call, {nram_source("src", src, bytes), nram_target("dst", dst, sizeof *dst)}, {count, bytes});
  bool defined = shadow_defined(src, count / 8);
  unsigned int found = 0;
  for (std::int64_t i = 0; i < count; ++i) found += bit_at(src, i) ? 1u : 0u;
  if (g_observers.init && count % 8 != 0) {
    const unsigned rest = (1u << (count % 8)) - 1;
    defined = defined && (*init_shadow(static_cast<const char *>(src) + count / 8) & rest) == rest;
  }
  *dst = found;
  if (g_observers.init) shadow_set(dst, sizeof *dst, defined);
}

// Reads a vector for a result that scalar code gets, so the vector must be defined.
bool read_for_scalar(const Call &call, const char *role, const void *src, std::int64_t count, std::int64_t size) {
  if (!has_scalar_result(call, count)) return false;
  const Operand operand = nram_source(role, src, count * size);
  check_operands(call, {operand}, {count, count * size});
  if (g_observers.init) need_initialised(call.core, operand.region, role, call.name, call.pc);
  return true;
}

unsigned int scalar_search(const Call &call, Search kind, std::int64_t size, const void *src, int count) {
  if (!read_for_scalar(call, "src", src, count, size)) return kind == Search::kCount ? 0u : ~0u;
  return search(kind, size, src, count);
}

template <typename Word>
int count_bits(const Call &call, const Word *src, int count) {
  if (!read_for_scalar(call, "src", src, count, sizeof(Word))) return 0;
  int bits = 0;
  for (int i = 0; i < count; ++i) bits += __builtin_popcount(src[i]);
  return bits;
}

// ---- Sums ---------------------------------------------------------------------------------------

// Adds from the first to the last, in float.
float sum_of(Type type, const void *src, std::int64_t count) {
  constexpr std::int64_t kBlock = 512;
  float buffer[kBlock];
  float sum = 0;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t block = std::min(count - first, kBlock);
    const float *values = floats_of(type, static_cast<const char *>(src) + first * size_of(type), buffer, block);
    for (std::int64_t i = 0; i < block; ++i) sum = first + i == 0 ? values[i] : sum + values[i];
  }
  return sum;
}

// Writes the sum of each line to the line's first element. The other elements become 0 on 2xx and
// stay unchanged on newer families, which therefore write nothing behind the last sum.
void vector_reduce_sum(const Call &call, Type type, void *dst, const void *src, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t size = size_of(type);
  const std::int64_t bytes = count * size;
  const std::int64_t written = is_2xx() ? bytes : (bytes - 1) / kLine * kLine + size;
  check_operands(call, {nram_source("src", src, bytes), nram_target("dst", dst, written)}, {count, bytes});
  for (std::int64_t first = 0; first < bytes; first += kLine) {
    const std::int64_t line = std::min(bytes - first, kLine);
    const char *from = static_cast<const char *>(src) + first;
    char *to = static_cast<char *>(dst) + first;
    const float sum = sum_of(type, from, line / size);
    const bool defined = shadow_defined(from, line);
    if (is_2xx()) std::memset(to, 0, static_cast<std::size_t>(line));
    round_floats(type, &sum, to, 1);
    drop_zero_signs(type, to, 1);
    if (!g_observers.init) continue;
    if (is_2xx()) shadow_set(to, line, true);
    shadow_set(to, size, defined);
  }
}

template <typename T>
T vector_sum(const Call &call, const T *src, int count) {
  T result = {};
  if (!read_for_scalar(call, "src", src, count, sizeof(T))) return result;
  const float sum = sum_of(type_of<T>(), src, count);
  round_floats(type_of<T>(), &sum, &result, 1);
  return result;
}

// ---- Extremes -----------------------------------------------------------------------------------

struct Extreme {
  bool smallest;
  bool magnitude;   // compares absolute values
  bool long_index;  // 8 bytes after the value; else as many as the value has
};

// Returns the first place of the extreme; the place of a NaN only if all values are NaN.
std::int64_t find_extreme(const Extreme &kind, Type type, const void *src, std::int64_t count, float *value) {
  constexpr std::int64_t kBlock = 512;
  float buffer[kBlock];
  std::int64_t place = 0;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t block = std::min(count - first, kBlock);
    const float *values = floats_of(type, static_cast<const char *>(src) + first * size_of(type), buffer, block);
    for (std::int64_t i = 0; i < block; ++i) {
      const float candidate = kind.magnitude ? __builtin_fabsf(values[i]) : values[i];
      const bool replaces = (kind.smallest ? candidate < *value : candidate > *value) || *value != *value;
      if (first + i != 0 && (!replaces || candidate != candidate)) continue;
      *value = candidate;
      place = first + i;
    }
  }
  return place;
}

void vector_extreme(const Call &call, const Extreme &kind, Type type, void *dst, const void *src, int count) {
  if (!has_vector_work(call, count)) return;
  const std::int64_t size = size_of(type);
  const std::int64_t bytes = count * size;
  const std::int64_t index = kind.long_index ? 8 : size;
  check_operands(call, {nram_source("src", src, bytes), nram_target("dst", dst, size + index)}, {count, bytes});
  const bool defined = shadow_defined(src, bytes);
  float value = 0;
  const std::int64_t place = find_extreme(kind, type, src, count, &value);
  round_floats(type, &value, dst, 1);
  std::memcpy(static_cast<char *>(dst) + size, &place, static_cast<std::size_t>(index));
  if (g_observers.init) shadow_set(dst, size + index, defined);
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_FIND(T, name, kind)                                                             \
  void name(unsigned int *dst, const T *src, int elem_count) {                                        \
    mlusim::vector_search(MLUSIM_CALL(#name), mlusim::Search::kind, sizeof(T), dst, src, elem_count); \
  }
#define MLUSIM_DEFINE_FOUND(T, name, kind)                                                              \
  unsigned int name(const T *src, int elem_count) {                                                     \
    return mlusim::scalar_search(MLUSIM_CALL(#name), mlusim::Search::kind, sizeof(T), src, elem_count); \
  }
MLUSIM_REALS(MLUSIM_DEFINE_FIND, __bang_count, kCount);
MLUSIM_REALS(MLUSIM_DEFINE_FIND, __bang_findfirst1, kFirst);
MLUSIM_REALS(MLUSIM_DEFINE_FIND, __bang_findlast1, kLast);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_FOUND, __bang_count, kCount);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_FOUND, __bang_findfirst1, kFirst);
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_FOUND, __bang_findlast1, kLast);

#define MLUSIM_DEFINE_POPCNT(T)                                               \
  int __bang_popcnt(const T *src, int elem_count) {                           \
    return mlusim::count_bits(MLUSIM_CALL("__bang_popcnt"), src, elem_count); \
  }
MLUSIM_DEFINE_POPCNT(unsigned int)
MLUSIM_DEFINE_POPCNT(unsigned short)
MLUSIM_DEFINE_POPCNT(unsigned char)

#define MLUSIM_DEFINE_REDUCE_SUM(T, name)                                                      \
  void name(T *dst, const T *src, int elem_count) {                                            \
    mlusim::vector_reduce_sum(MLUSIM_CALL(#name), mlusim::type_of<T>(), dst, src, elem_count); \
  }
#define MLUSIM_DEFINE_SUM(T, name) \
  T name(const T *src, int elem_count) { return mlusim::vector_sum(MLUSIM_CALL(#name), src, elem_count); }
MLUSIM_HALF_FLOAT(MLUSIM_DEFINE_REDUCE_SUM, __bang_reduce_sum);
MLUSIM_REALS(MLUSIM_DEFINE_SUM, __bang_sum);

#define MLUSIM_DEFINE_EXTREME(T, name, smallest, magnitude, long_index)                                           \
  void name(T *dst, const T *src, int elem_count) {                                                               \
    mlusim::vector_extreme(MLUSIM_CALL(#name), {smallest, magnitude, long_index}, mlusim::type_of<T>(), dst, src, \
                           elem_count);                                                                           \
  }
MLUSIM_REALS(MLUSIM_DEFINE_EXTREME, __bang_max, false, false, false);
MLUSIM_REALS(MLUSIM_DEFINE_EXTREME, __bang_min, true, false, false);
MLUSIM_REALS(MLUSIM_DEFINE_EXTREME, __bang_argmax, false, false, true);
MLUSIM_REALS(MLUSIM_DEFINE_EXTREME, __bang_argmin, true, false, true);
MLUSIM_REALS(MLUSIM_DEFINE_EXTREME, __bang_fabsmax, false, true, true);
MLUSIM_REALS(MLUSIM_DEFINE_EXTREME, __bang_fabsmin, true, true, true);

#define MLUSIM_DEFINE_COUNT_BITS(T, name)                                \
  void name(unsigned int *dst, const T *src, int elem_count) {           \
    mlusim::vector_count_bits(MLUSIM_CALL(#name), dst, src, elem_count); \
  }
MLUSIM_REALS(MLUSIM_DEFINE_COUNT_BITS, __bang_count_bitindex);
