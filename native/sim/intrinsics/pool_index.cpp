// Pools that return the place of the extreme element in its window; __extension.
#include <cstring>

#include "check/init.h"
#include "intrinsics/shadow.h"
#include "intrinsics/vector.h"
#include "intrinsics/windows.h"
#include "mlusim/reduce.h"

namespace mlusim {
namespace {

template <typename T>
struct Pool {
  const T *src;
  Windows windows;
  bool smallest;
};

// Returns the first place of the extreme; the place of a NaN only if all values are NaN.
template <typename T>
std::int64_t find_place(const Pool<T> &pool, std::int64_t result) {
  std::int64_t best = 0;
  float kept = 0;
  for (std::int64_t i = 0; i < pool.windows.places(); ++i) {
    const float value = static_cast<float>(pool.src[pool.windows.element(result, i)]);
    const bool better = (pool.smallest ? value < kept : value > kept) || (kept != kept && value == value);
    if (i != 0 && !better) continue;
    best = i;
    kept = value;
  }
  return best;
}

template <typename T>
bool window_defined(const Pool<T> &pool, std::int64_t result) {
  for (std::int64_t i = 0; i < pool.windows.places(); ++i) {
    if (!shadow_defined(pool.src + pool.windows.element(result, i), sizeof(T))) return false;
  }
  return true;
}

// The targets of values, if they are wanted, and of places. Either may be the source.
struct Results {
  void *values;  // null: none
  void *places;
};

template <typename T, typename Index>
void pool_one(const Pool<T> &pool, const Results &to, std::int64_t result) {
  const std::int64_t place = find_place(pool, result);
  const T value = pool.src[pool.windows.element(result, place)];
  const bool defined = !g_observers.init || window_defined(pool, result);
  const Index index = static_cast<Index>(place);
  const std::int64_t target = pool.windows.target(result);
  char *at = static_cast<char *>(to.places) + target * std::int64_t{sizeof index};
  std::memcpy(at, &index, sizeof index);
  if (g_observers.init) shadow_set(at, sizeof index, defined);
  if (to.values == nullptr) return;
  T *kept = static_cast<T *>(to.values) + target;
  std::memcpy(kept, &value, sizeof value);
  if (g_observers.init) shadow_set(kept, sizeof value, defined);
}

Operand results_of(const char *role, const void *base, const Windows &w, std::int64_t size) {
  if (w.out_height == 1 && w.out_width == 1) return nram_target(role, base, w.results() * size);
  Operand operand = nram_target(role, base, w.results() == 0 ? 0 : w.channel * size);
  operand.region.count0 = w.columns();
  operand.region.stride0 = w.out_width * w.channel * size;
  operand.region.count1 = w.rows();
  operand.region.stride1 = w.target(w.columns() * w.channel) * size;
  return operand;
}

template <typename T, typename Index>
void vector_pool(const Call &call, const Pool<T> &pool, const Results &to) {
  const Windows &w = pool.windows;
  if (!has_windows(call, w)) return;
  const std::int64_t size = sizeof(T);
  const Amount amount = {w.channel, w.channel * size, w.operations()};
  const Operand source = nram_source("src", pool.src, w.height * w.width * w.channel * size);
  const Operand places = results_of("index", to.places, w, sizeof(Index));
  if (to.values == nullptr) {
    check_operands(call, {source, places}, amount);
  } else {
    check_operands(call, {source, results_of("dst", to.values, w, size), places}, amount);
  }
  for (std::int64_t i = 0; i < w.results(); ++i) pool_one<T, Index>(pool, to, i);
}

// ---- __extension --------------------------------------------------------------------------------

void extend(const Call &call, char *dst, const char *src, const unsigned char *counts, int size, int num) {
  if (!has_vector_work(call, num) || !has_work(call, size)) return;
  const Operand operands[] = {nram_source("counts", counts, num), nram_source("src", src, std::int64_t{num} * size)};
  for (const Operand &operand : operands) check_place(call, operand);
  need_initialised(call.core, operands[0].region, "counts", call.name, call.pc);
  std::int64_t pieces = 0;
  for (int i = 0; i < num; ++i) pieces += counts[i];
  check_operands(call, {operands[0], operands[1], nram_target("dst", dst, pieces * size)},
                 {num, std::int64_t{num} * size});
  const std::size_t bytes = static_cast<std::size_t>(size);
  for (int i = 0; i < num; ++i) {
    for (int k = 0; k < counts[i]; ++k, dst += size) {
      std::memcpy(dst, src + std::int64_t{i} * size, bytes);
      if (g_observers.init) std::memcpy(init_shadow(dst), init_shadow(src + std::int64_t{i} * size), bytes);
    }
  }
}

}  // namespace
}  // namespace mlusim

#define MLUSIM_DEFINE_POOL_INDEX(T, Index, name, smallest)                                                       \
  void name(Index *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width) { \
    mlusim::vector_pool<T, Index>(                                                                               \
        MLUSIM_CALL(#name),                                                                                      \
        {src, {channel, height, width, kernel_height, kernel_width, kernel_height, kernel_width}, smallest},     \
        {nullptr, dst});                                                                                         \
  }                                                                                                              \
  void name(Index *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width,   \
            int stride_width, int stride_height) {                                                               \
    mlusim::vector_pool<T, Index>(                                                                               \
        MLUSIM_CALL(#name),                                                                                      \
        {src, {channel, height, width, kernel_height, kernel_width, stride_height, stride_width}, smallest},     \
        {nullptr, dst});                                                                                         \
  }
#define MLUSIM_DEFINE_POOL_BOTH(T, Index, name, smallest)                                                             \
  void name(T *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width,            \
            int stride_width, int stride_height, int value_index_stride) {                                            \
    mlusim::vector_pool<T, Index>(                                                                                    \
        MLUSIM_CALL(#name),                                                                                           \
        {src, {channel, height, width, kernel_height, kernel_width, stride_height, stride_width}, smallest},          \
        {dst, reinterpret_cast<char *>(dst) + value_index_stride});                                                   \
  }                                                                                                                   \
  void name(T *dst, const T *src, int channel, int height, int width, int kernel_height, int kernel_width,            \
            int stride_width, int stride_height, int value_index_stride, int in_dilation_height,                      \
            int in_dilation_width, int out_dilation_height, int out_dilation_width) {                                 \
    mlusim::vector_pool<T, Index>(MLUSIM_CALL(#name),                                                                 \
                                  {src,                                                                               \
                                   {channel, height, width, kernel_height, kernel_width, stride_height, stride_width, \
                                    in_dilation_height, in_dilation_width, out_dilation_height, out_dilation_width},  \
                                   smallest},                                                                         \
                                  {dst, reinterpret_cast<char *>(dst) + value_index_stride});                         \
  }
MLUSIM_DEFINE_POOL_INDEX(half, unsigned short, __bang_maxpool_index, false)
MLUSIM_DEFINE_POOL_INDEX(float, unsigned int, __bang_maxpool_index, false)
MLUSIM_DEFINE_POOL_INDEX(bfloat16_t, unsigned short, __bang_maxpool_index, false)
MLUSIM_DEFINE_POOL_INDEX(bfloat16_t, unsigned short, __bang_minpool_index, true)
MLUSIM_DEFINE_POOL_INDEX(half, unsigned short, __bang_minpool_index, true)
MLUSIM_DEFINE_POOL_INDEX(float, unsigned int, __bang_minpool_index, true)
MLUSIM_DEFINE_POOL_BOTH(half, unsigned short, __bang_maxpool_value_index, false)
MLUSIM_DEFINE_POOL_BOTH(float, unsigned int, __bang_maxpool_value_index, false)
MLUSIM_DEFINE_POOL_BOTH(bfloat16_t, unsigned short, __bang_maxpool_value_index, false)
MLUSIM_DEFINE_POOL_BOTH(half, unsigned short, __bang_minpool_value_index, true)
MLUSIM_DEFINE_POOL_BOTH(float, unsigned int, __bang_minpool_value_index, true)
MLUSIM_DEFINE_POOL_BOTH(bfloat16_t, unsigned short, __bang_minpool_value_index, true)

void __extension(void *dst, const void *src, const unsigned char *counts, int size, mluMemcpyDirection_t dir, int num) {
  const mlusim::Call call = MLUSIM_CALL("__extension");
  if (dir != NRAM2NRAM) mlusim::refuse(call, "unsupported-direction", "there is only NRAM2NRAM");
  mlusim::extend(call, static_cast<char *>(dst), static_cast<const char *>(src), counts, size, num);
}
