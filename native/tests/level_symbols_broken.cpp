// A kernel file that breaks the rule of check_level_symbols.py: the inline function lies outside
// the namespace of the level.
#include <cstddef>

template <typename T>
[[gnu::noinline]] inline T largest(const T *data, std::size_t count) {
  T result = data[0];
  for (std::size_t i = 1; i < count; ++i) {
    result = result < data[i] ? data[i] : result;
  }
  return result;
}

namespace mluops::MLUOPS_LEVEL {
float kernel(const float *data, std::size_t count) { return largest(data, count); }
}  // namespace mluops::MLUOPS_LEVEL
